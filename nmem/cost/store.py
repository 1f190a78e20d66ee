"""Takes in what the clients' transcripts say of used tokens since the last time (SQL): background work and commands.

Each file has a place of its own (`usage_places`), so that sessions which were recorded before are read as well. A
session that was purged is not looked at; one whose transcript is gone keeps what was stored.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from sqlite3 import Connection

from capture.storage import store
from capture.storage.store import transaction
from capture.transcript.cursor import LIVE, fingerprint
from nmem import tables
from nmem.cost import usage
from nmem.cost.usage import Known, Usage
from nmem.database import exists
from nmem.importing import discover
from nmem.sessions.copies import within

_WAIT = 3.0
_AT_ONCE = 1_000
"""Answers that are stored in one transaction: a hook waits for a quarter of a second."""
_STORE = """
INSERT INTO model_usage (key, session_id, at, model, inner, input, output, cache_read, cache_write, cache_write_1h)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET model = excluded.model,
input = excluded.input, output = excluded.output, cache_read = excluded.cache_read,
cache_write = excluded.cache_write, cache_write_1h = excluded.cache_write_1h
WHERE excluded.input + excluded.output + excluded.cache_read + excluded.cache_write + excluded.cache_write_1h
  > input + output + cache_read + cache_write + cache_write_1h
"""
"""A streamed answer grows: the most is the last, in whatever order files are read. Its time is when it began."""


@dataclass(slots=True)
class _Place:
    """How far a file was read."""

    path: str
    session_id: str
    began: int
    offset: int = 0
    head: str = ""
    known: Known | None = None


def take_in(db: Connection, stopped: Callable[[], bool] = lambda: False) -> int:
    """Store what is new; how many answers were read. A file that cannot be read is passed over.

    Call it outside a transaction. Raises sqlite3.Error.
    """
    sessions = {str(row[0]) for row in db.execute("SELECT id FROM sessions").fetchall()}
    taken = 0
    found: list[tuple[Usage, str, int]] = []
    read: list[_Place] = []
    for client, place in list(_new(db)):
        if stopped():
            break
        try:
            answers = _answers(client, place)
        except OSError:
            continue
        found += [(one, one.session_id if one.session_id in sessions else place.session_id, place.began)
                  for one in answers]  # fmt: skip
        read.append(place)
        if len(found) >= _AT_ONCE:
            taken += _keep(db, found, read)
            found, read = [], []
    return taken + _keep(db, found, read)


def fresh(path: str) -> int:
    """`take_in` before somebody reads; nothing where nothing is recorded yet. Raises as `take_in`, and OSError."""
    if not exists(path):
        return 0
    with closing(store.connect(path, timeout=_WAIT)) as db:
        tables.ensure(db)
        return take_in(db)


def _answers(client: str, place: _Place) -> list[Usage]:
    """The new answers of a file, each once, from when it began; the place moves behind them. Raises OSError."""
    known = place.known or Known()
    out: dict[int, Usage] = {}
    for end, one in usage.read(client, place.path, place.offset, known):
        place.offset = end
        if one is None:
            continue
        before = out.get(one.key)
        if before is None:
            out[one.key] = one
        elif one.tokens > before.tokens:
            out[one.key] = replace(one, at=before.at)
    place.head, place.known = fingerprint(place.path), known
    return list(out.values())


def _keep(db: Connection, found: list[tuple[Usage, str, int]], read: list[_Place]) -> int:
    """Answers and the places up to which their files were read; of sessions that are still there."""
    if not read:
        return 0
    with transaction(db):
        there = {row[0] for row in db.execute("SELECT id FROM sessions").fetchall()}
        db.executemany(_STORE, (
            (one.key, session_id, one.at or began, one.model, one.inner, one.input, one.output, one.cache_read,
             one.cache_write, one.cache_write_1h) for one, session_id, began in found if session_id in there
        ))  # fmt: skip
        db.executemany(
            "INSERT INTO usage_places VALUES (?, ?, ?, ?, ?) ON CONFLICT (path) DO UPDATE SET"
            " session_id = excluded.session_id, offset = excluded.offset, head = excluded.head, state = excluded.state",
            [(one.path, one.session_id, one.offset, one.head, one.known and one.known.dumps()) for one in read],
        )
    return len(found)


def _new(db: Connection) -> Iterator[tuple[str, _Place]]:
    """The files that have grown, with the clients that wrote them."""
    places = {row[0]: row for row in db.execute("SELECT path, offset, head, state FROM usage_places").fetchall()}
    for client, session_id, began, path in _files(db):
        try:
            size = os.stat(path).st_size  # noqa: PTH116 - thousands of paths
        except OSError:
            continue
        _, offset, head, state = places.get(path, ("", 0, "", ""))
        if size == offset:
            continue
        place = _Place(path, session_id, began)
        bytes_, _, _ = head.partition(".")
        if offset and size > offset and bytes_.isdigit() and fingerprint(path, int(bytes_)) == head:
            place.offset, place.head, place.known = offset, head, Known.loads(state or "")
        yield client, place


def _files(db: Connection) -> Iterator[tuple[str, str, int, str]]:
    """(client, session, when it began, path): the transcripts that hooks and imports named, the oldest first."""
    marks = ", ".join("?" for _ in usage.CLIENTS)
    rows = db.execute(
        "SELECT s.client, s.id, s.started_at, s.transcript_path FROM sessions s WHERE s.transcript_path <> ''"  # noqa: S608 - marks only
        f" AND s.client IN ({marks}) UNION ALL SELECT s.client, s.id, s.started_at, c.path FROM transcript_cursors c"
        f" JOIN sessions s ON s.id = c.session_id WHERE s.client IN ({marks}) ORDER BY 3, 2, 4",
        (*usage.CLIENTS, *usage.CLIENTS),
    ).fetchall()
    seen: set[str] = set()
    for client, session_id, began, named in rows:
        path = named.removeprefix(LIVE)
        inner = usage.inner_folder(path) if client == "claude" and path not in seen else ""
        for one in (path, *(usage.subagents(inner) if _claudes(inner) else ())):
            if one not in seen and os.path.isabs(one):  # noqa: PTH117 - thousands of paths
                seen.add(one)
                yield client, session_id, began, one


def _claudes(folder: str) -> bool:
    """Whether Claude keeps sessions there: a path comes from a hook's payload, and elsewhere nothing is searched."""
    return os.path.isdir(folder) and any(within(folder, str(each)) for each in discover.folders("claude"))  # noqa: PTH112
