"""Shapes of payloads as hooks recorded them (SQL), by client and version: fields, frequencies, types."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from sqlite3 import Connection

SESSIONS = 2_000
"""Newest sessions that are looked at; all of them when asked to look deep."""


@dataclass(frozen=True)
class Shape:
    """One shape with how many payloads of one version, in one project, had it."""

    client: str
    version: str
    project: int
    event: str
    tool: str
    fields: str
    payloads: int
    first_at: int

    @cached_property
    def types(self) -> dict[str, str]:
        """Known fields, each with its letter."""
        pairs = (one.rpartition(":") for one in self.fields.split() if one[0] != "+")
        return {name: letter for name, _, letter in pairs}

    @cached_property
    def unknown(self) -> frozenset[str]:
        """Fields that the adapter did not know."""
        return frozenset(one[1:] for one in self.fields.split() if one[0] == "+")


def read(db: Connection, deep: bool = False) -> dict[str, list[list[Shape]]]:
    """Of each client its versions in their order, each with its shapes. Raises sqlite3.Error."""
    since = 0 if deep else _since(db)
    rows = db.execute(
        "SELECT p.client, coalesce(s.client_version, ''), coalesce(s.project_id, 0), p.event, p.tool, p.fields,"
        " sum(x.payloads), min(x.first_at) FROM session_shapes x JOIN payload_shapes p ON p.id = x.shape_id"
        " LEFT JOIN sessions s ON s.id = x.session_id WHERE x.last_at >= ?"
        " GROUP BY p.id, s.client_version, s.project_id",
        (since,),
    ).fetchall()
    found: dict[str, dict[str, list[Shape]]] = {}
    for row in rows:
        one = Shape(*tuple(row))
        found.setdefault(one.client, {}).setdefault(one.version, []).append(one)
    return {client: _ordered(by) for client, by in sorted(found.items())}


def _since(db: Connection) -> int:
    row = db.execute("SELECT last_at FROM sessions ORDER BY last_at DESC LIMIT 1 OFFSET ?", (SESSIONS,)).fetchone()
    return int(row[0]) if row else 0


def _ordered(by: dict[str, list[Shape]]) -> list[list[Shape]]:
    """Versions in their order. Payloads of an unknown one are counted to the newest version known before them."""
    strays = by.pop("", [])
    lists = sorted(by.values(), key=lambda mine: version_order(mine[0].version, first(mine)))
    if not lists:
        return [strays] if strays else []
    for one in strays:
        before = [mine for mine in lists if first(mine) <= one.first_at]
        (before[-1] if before else lists[0]).append(one)
    return lists


def first(shapes: Iterable[Shape]) -> int:
    """When the first of them came."""
    return min(one.first_at for one in shapes)


def payloads(shapes: Iterable[Shape]) -> int:
    """How many there were."""
    return sum(one.payloads for one in shapes)


def letters(shapes: Sequence[Shape], name: str) -> dict[str, int]:
    """How often a field came as which type; null is as good as absent."""
    out: dict[str, int] = {}
    for one in shapes:
        letter = one.types.get(name, "-")
        if letter != "-":
            out[letter] = out.get(letter, 0) + one.payloads
    return out


_NUMBERS = re.compile(r"\d+")


def version_order(version: str, first_at: int) -> tuple[tuple[int, ...], int]:
    """A key to sort by; a version that nobody told comes where its first session was."""
    return tuple(int(one) for one in _NUMBERS.findall(version)[:4]), first_at


def version_told(client: str, version: str) -> str:
    """A client and its version, in words."""
    from capture.install.targets import title

    return f"{title(client)} {version or '(version unknown)'}"
