"""Finds the line of each key in a TOML text, for error messages."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator

Path = tuple[str, ...]
_LONGEST = 500
"""Lines of one value that are put together before it counts as no value."""


def lines(text: str) -> dict[Path, int]:
    """Line numbers, from 1, of the keys of a readable document; those of a list's items are where the list begins."""
    out: dict[Path, int] = {}
    table: Path = ()
    rows = text.split("\n")
    at = 0
    while at < len(rows):
        row = rows[at].strip()
        size = 1
        if row.startswith("["):
            table = _header(row) or table
            out.setdefault(table, at + 1)
        elif row and not row.startswith("#"):
            size, found = _value(rows, at)
            for path in _paths(found):
                out.setdefault(table + path, at + 1)
        at += size
    return out


def _header(row: str) -> Path:
    try:
        found: object = tomllib.loads(row)
    except tomllib.TOMLDecodeError:
        return ()
    path: Path = ()
    while found:
        found = found[0] if isinstance(found, list) else found
        if not isinstance(found, dict) or not found:
            break
        (name, found), *_ = found.items()
        path += (name,)
    return path


def _value(rows: list[str], at: int) -> tuple[int, dict[str, object]]:
    """How many lines a key and its value take, and what they say."""
    for size in range(1, min(_LONGEST, len(rows) - at) + 1):
        try:
            return size, tomllib.loads("\n".join(rows[at : at + size]))
        except tomllib.TOMLDecodeError:
            continue
    return 1, {}


def _paths(found: dict[str, object], above: Path = ()) -> Iterator[Path]:
    for name, value in found.items():
        yield (*above, name)
        if isinstance(value, dict):
            yield from _paths(value, (*above, name))
