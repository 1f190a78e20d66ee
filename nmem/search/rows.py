"""Loads the rows behind ids, in one form for all tables, for ranking and lists, and counts them by kind and place."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from sqlite3 import Connection

from nmem.search import kinds, store
from nmem.search.clock import Clock
from nmem.search.store import TEXT
from nmem.text import from_json

_LEAST = 12
"""Rows of a table that are read even when time is over: a busy machine still shows something of everything."""


@dataclass(frozen=True, slots=True)
class Row:
    """One thing that may be shown."""

    table: str
    number: int
    kind: str
    ref: str
    """The id within its kind."""
    type: str
    """Observation type, kind of saying, kind of learning."""
    at: int
    session_id: str
    project: str
    client: str
    title: str
    """What stands in the list's first place: path, intent, name."""
    text: str
    path: str = ""
    outcome: str = ""
    pinned: bool = False
    project_id: int = 0
    left: str = ""
    """Of a story the part of its text that says what was left then; it may be closed by now."""

    @property
    def id(self) -> str:
        """For good: `obs/12`."""
        return kinds.identity(self.kind, self.ref)


Raw = Sequence[object]
Place = tuple[str, str, int]
"""Project and client of a session, and the project's id."""


def rows(db: Connection, table: str, wanted: Sequence[int], clock: Clock) -> list[Row]:
    """The rows of these ids, the highest first; few when time is over."""
    raw: list[Raw] = []
    for row in store.raw(db, table, wanted):
        raw.append(row)
        if len(raw) >= _LEAST and clock.over():
            break
    places = store.places(db, {str(row[2]) for row in raw if row[2]})
    build = _BUILD[table]
    return [build(row, places.get(str(row[2]), ("", "", 0))) for row in raw]


def _observation(row: Raw, place: Place) -> Row:
    number, at, session, kind, outcome, pinned, path, content, response = row
    text = f"{content}\n{str(response)[:TEXT]}" if response else str(content)
    sort = kinds.MARKER if kind == "marker" else kinds.OBSERVATION
    return Row("observations", _int(number), sort, str(number), str(kind), _int(at), str(session), *place[:2],
               title=str(path or content)[:300], text=text, path=str(path or ""), outcome=str(outcome),
               pinned=bool(pinned), project_id=place[2])  # fmt: skip


def _said(row: Raw, place: Place) -> Row:
    number, at, session, source, kind, content, pinned = row
    sort = kinds.PROMPT if source == "user" else kinds.REASONING
    return Row("prompts", _int(number), sort, str(number), str(kind), _int(at), str(session), *place[:2],
               title=str(content)[:300], text=str(content), pinned=bool(pinned), project_id=place[2])  # fmt: skip


def _story(row: Raw, place: Place) -> Row:
    number, at, session, pinned, title, state, *told = row
    text = "\n".join(piece for piece in map(_plain, told) if piece)
    return Row("work_units", _int(number), kinds.EPISODE, str(number), "episode", _int(at), str(session), *place[:2],
               title=str(title)[:300], text=text, outcome=str(state), pinned=bool(pinned),
               project_id=place[2], left=_plain(told[4]))  # fmt: skip


def _listed(body: str) -> str:
    """A text that ends in a list of files as JSON, with the files as words."""
    if body.endswith("[]"):
        return body[:-2].rstrip()
    told, sign, files = body.rpartition('["')
    with suppress(ValueError):
        return told + " ".join(map(str, json.loads(sign + files)))
    return body


def _doc(row: Raw, place: Place) -> Row:
    number, at, session, kind, ref, title, body, project, project_id, pinned, client, state = row
    if kind == kinds.TASK:  # its title is the name of its project, recorded or not
        return Row("search_docs", _int(number), kinds.TASK, str(ref), kinds.TASK, _int(at), str(session),
                   str(project or title), str(client or ""), title=str(title), text=str(body),
                   outcome="failed" if state in ("failed", "timed-out") else "",
                   project_id=_int(project_id))  # fmt: skip
    return Row("search_docs", _int(number), str(kind), str(ref), str(kind), _int(at), str(session),
               str(project or place[0]), place[1], title=str(title)[:300], text=f"{title}\n{_listed(str(body))}",
               pinned=bool(pinned), project_id=_int(project_id))  # fmt: skip


_BUILD: dict[str, Callable[[Raw, Place], Row]] = {
    "observations": _observation, "prompts": _said, "work_units": _story, "search_docs": _doc,
}  # fmt: skip


def _int(value: object) -> int:
    return int(str(value))


def _plain(value: object) -> str:
    """A column of a narrative: a text, or a JSON list of texts."""
    text = str(value or "")
    if not text.startswith("["):
        return text
    listed = from_json(text)
    return "\n".join(map(str, listed)) if isinstance(listed, list) else text


_COUNTED = 12


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
        _count("type", (row.kind for row in found)),
        _count("type", (row.type for row in found if row.kind == "obs")),
        _count("project", (row.project for row in found)), _count("client", (row.client for row in found)), whole,
    )  # fmt: skip


def _count(name: str, values: Iterable[str]) -> tuple[Facet, ...]:
    counts = Counter(value for value in values if value)
    return tuple(Facet(value, count, _filter(name, value)) for value, count in
                 sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:_COUNTED])  # fmt: skip


def _filter(name: str, value: str) -> str:
    return f'{name}:"{value}"' if " " in value or "," in value else f"{name}:{value}"
