"""Counts hits by kind, type, project and client."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from nmem.search.rows import Row

_MOST = 12


@dataclass(frozen=True, slots=True)
class Facet:
    """One value and how many of the hits have it; `filter` narrows a query to them."""

    value: str
    count: int
    filter: str


@dataclass(frozen=True, slots=True)
class Facets:
    """Of the hits that were looked at, the commonest values first."""

    kinds: tuple[Facet, ...] = ()
    types: tuple[Facet, ...] = ()
    projects: tuple[Facet, ...] = ()
    clients: tuple[Facet, ...] = ()
    whole: bool = True
    """All hits were looked at; else the counts are of those that were."""


def facets(rows: Iterable[Row], *, whole: bool) -> Facets:
    """Count hits."""
    found = list(rows)
    return Facets(
        _counted("type", (row.kind for row in found)),
        _counted("type", (row.type for row in found if row.kind == "obs")),
        _counted("project", (row.project for row in found)), _counted("client", (row.client for row in found)), whole,
    )  # fmt: skip


def _counted(name: str, values: Iterable[str]) -> tuple[Facet, ...]:
    counts = Counter(value for value in values if value)
    return tuple(Facet(value, count, _filter(name, value)) for value, count in
                 sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:_MOST])  # fmt: skip


def _filter(name: str, value: str) -> str:
    return f'{name}:"{value}"' if " " in value or "," in value else f"{name}:{value}"
