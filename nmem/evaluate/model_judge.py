"""The configured language model as a judge of boundaries; its cost counts in the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING

from capture import paths
from nmem.episodes.segmenter import Segmenter
from nmem.errors import NmemError
from nmem.llm.connect import connect

if TYPE_CHECKING:
    from nmem.episodes.detect import Judge


def judge() -> Judge | None:
    """A judge, or None when no model is configured or found. Raises NmemError when the settings are wrong."""
    found = connect(paths.database(), look=True)
    if found.problem:
        raise NmemError(found.problem)
    return Segmenter(found.desk) if found.desk else None
