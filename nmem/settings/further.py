"""Checks of tables that only a higher layer can do, registered here by name."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping

CHECKS = {("tui", "keys"): "nmem_tui.keymap"}
"""Table -> a module whose `said(table)` gives what is wrong: the key, and the rest of the sentence."""
Path = tuple[str, ...]


def wrong(document: Mapping[str, object]) -> Iterator[tuple[Path, str]]:
    """What is wrong with a document although each value may be what it is."""
    for path, module in CHECKS.items():
        found: object = document
        for part in path:
            found = found.get(part) if isinstance(found, Mapping) else None
        if isinstance(found, Mapping) and found:
            for key, said in importlib.import_module(module).said(found):
                yield (*path, key), said
