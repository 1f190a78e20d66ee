"""Reads what of a shared project may leave, and only what is settled: as it is stored, before redaction.

Episodes that are over and told, decisions of such episodes, learnings that a person accepted, and the entries of the
project's own decision files. Each has a key that stays the same when its words change.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from sqlite3 import Connection

from capture import project
from nmem.decisions import store as said
from nmem.episodes.unit import shown
from nmem.errors import NmemError
from nmem.recall import config, corpus, folder
from nmem.recall.corpus import Corpus, Entry
from nmem.team import local
from nmem.team.wire import Shared, digest
from nmem.text import json_object, texts

_PAGE = 500


@dataclass(frozen=True, slots=True)
class Material:
    """One thing to share, as it is stored: nothing of it has been redacted for others yet."""

    kind: str
    key: tuple[str, ...]
    """What makes it the same thing in all its versions."""
    source: str
    """episode/12, decision/5, learning/7, recall/when/NAME"""
    session_id: str | None
    at: int
    title: str
    body: str = ""
    files: tuple[str, ...] = ()
    data: dict[str, str | tuple[str, ...]] = field(default_factory=dict)


def of(db: Connection, shared: Shared) -> Iterator[Material]:
    """All of a project; no read is open while one of it is looked at, so whoever asks may write in between."""
    for page in local.pages(db, local.EPISODES, shared.project_id):
        yield from map(_episode, page)
        yield from map(_decision, said.of_units(db, [int(str(row[0])) for row in page]))
    for number, kind, key, title, rule, files, when in chain.from_iterable(
        local.pages(db, local.LEARNINGS, shared.project_id)
    ):
        yield Material("learning", ("learning", shared.shared_as, kind, key), f"learning/{number}", None, int(when),
                       title, rule or "", texts(files), {"kind": kind})  # fmt: skip
    yield from _entries(shared)


def stamp(db: Connection, shared: Shared) -> str:
    """A digest that changes when something changes that `of` reads of a project; a hundredth of the work of reading.

    A text that is changed in place, keeps its length and leaves no correction does not change the digest.
    """
    said = [str((one.key, one.at, one.body)) for one in _entries(shared)]
    known = str((shared.shared_as, shared.at, shared.key, shared.root))
    return digest(known, *local.sums(db, shared.project_id), *said)


def unsettled(db: Connection, shared: Shared) -> Iterator[tuple[str, ...]]:
    """Keys of episodes that go on again or are told anew, and of their decisions: what was said of them stands."""
    numbers = []
    for row in local.open_episodes(db, shared.project_id):
        numbers.append(int(row[0]))
        yield "episode", str(row[1]), str(row[2])
    for at in range(0, len(numbers), _PAGE):
        for one in said.of_units(db, numbers[at : at + _PAGE]):
            yield "decision", one.session_id, str(one.at)


def readable(shared: Shared) -> bool:
    """Whether the project's folder is there and still is what it was when the project was chosen."""
    return os.path.isdir(shared.root) and project.resolve(shared.root).key == shared.key  # noqa: PTH112


def _episode(row: tuple[object, ...]) -> Material:
    number, session, began, last, given, heading, intent, *told, files, outcome, obstacle, outcomes = row
    summary, learned, completed, next_steps, notes = (str(each or "") for each in told)
    lists = {"learned": learned, "completed": completed, "next": next_steps, "notes": notes}
    marks = tuple(key for key, value in sorted(json_object(outcomes).items()) if value is True)
    data: dict[str, str | tuple[str, ...]] = {"outcome": str(outcome or ""), "obstacle": str(obstacle or "")}
    data |= {name: texts(stored) for name, stored in lists.items()} | {"marks": marks}
    return Material(
        "episode", ("episode", str(session), str(began)), f"episode/{number}", str(session), int(str(last)),
        shown(str(given) if given else None, str(heading) if heading else None, str(intent)), summary,
        texts(files), {key: value for key, value in data.items() if value},
    )  # fmt: skip


def _decision(one: said.Decision) -> Material:
    data: dict[str, str | tuple[str, ...]] = {"kind": one.kind, "question": one.question, "restated": one.restated}
    if one.superseded:
        data["superseded"] = "yes"
    return Material(
        "decision", ("decision", one.session_id, str(one.at)), f"decision/{one.id}", one.session_id, one.at,
        one.text, "", (), {key: value for key, value in data.items() if value},
    )  # fmt: skip


def _entries(shared: Shared) -> Iterator[Material]:
    if not readable(shared):
        return
    try:
        found = corpus.read(folder.find(shared.root, *config.load()))
    except NmemError:
        return  # there are none, or they cannot be read: `nmem recall check` says so
    for entry in found.entries:
        if entry.file >= 0 and entry.heading >= 0:
            yield _entry(shared, found, entry)


def _entry(shared: Shared, found: Corpus, entry: Entry) -> Material:
    file = found.files[entry.file]
    heading = file.headings[entry.heading]
    changed = 0
    with suppress(OSError):
        changed = int(os.stat(os.path.join(found.place.folder, file.name)).st_mtime * 1000)  # noqa: PTH116, PTH118
    inside = os.path.relpath(os.path.join(found.place.folder, file.name), shared.root)  # noqa: PTH118
    named = f"/{entry.operator} {entry.trigger}"
    return Material(
        "recall", ("recall", shared.shared_as, entry.operator, entry.trigger), f"recall{named}", None, changed, named,
        "\n".join(file.lines[heading.line + 1 : heading.end]).strip(), (inside.replace(os.sep, "/"),),
        {"heading": heading.text, "operator": entry.operator},
    )  # fmt: skip
