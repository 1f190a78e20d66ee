"""The configured language model as a judge of boundaries; what an evaluation spends is counted for itself."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from capture import paths
from capture.redaction import redact
from nmem.errors import NmemError
from nmem.llm.ask import desk
from nmem.llm.config import Settings, from_table

if TYPE_CHECKING:
    from nmem.episodes.detect import Judge


class Spent:
    """A ledger that lasts as long as the evaluation."""

    def __init__(self) -> None:
        self.tokens = 0

    def spent_today(self) -> int:
        """Tokens spent so far."""
        return self.tokens

    def record(self, *, purpose: str, label: str, tokens: int, outcome: str) -> None:  # noqa: ARG002 - the protocol's
        """Count one call."""
        self.tokens += tokens


def settings() -> Settings:
    """The `[llm]` table of the person's config. Raises NmemError when it cannot be read."""
    path = Path(paths.config())
    try:
        table = tomllib.loads(path.read_text("utf-8")).get("llm", {}) if path.is_file() else {}
    except (OSError, ValueError) as error:
        raise NmemError(f"{path} cannot be read: {error}") from None
    return from_table(table if isinstance(table, dict) else {}, os.environ)


def judge() -> Judge | None:
    """A judge, or None when no model is configured or found on loopback."""
    from nmem.episodes.judge import by_model

    found = desk(settings(), Spent(), redact)
    return by_model(found) if found else None
