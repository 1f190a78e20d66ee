"""Reads what of a shared project may leave (SQL), and only what is settled: as it is stored, before redaction.

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
from typing import Any

from capture import project
from nmem.decisions import store as said
from nmem.episodes import titles
from nmem.errors import NmemError
from nmem.recall import config, corpus, folder
from nmem.recall.corpus import Corpus, Entry
from nmem.team.local import Shared, digest
from nmem.text import json_object, texts

_PAGE = 500
_TEXTS = (
    "u.heading", "u.intent", "u.summary", "u.learned", "u.completed", "u.next_steps", "u.notes", "u.files_edited",
    "n.outcome", "n.obstacle", "u.outcomes",
)  # fmt: skip
_TITLE = "coalesce(u.title, u.agent_title)"
_EPISODES = f"""
SELECT u.id, u.session_id, p.at, u.last_at, {_TITLE}, {", ".join(_TEXTS)}
FROM work_units u JOIN sessions s ON s.id = u.session_id JOIN narrations n ON n.unit_id = u.id
JOIN prompts p ON p.id = u.first_prompt_id
WHERE s.project_id = ? AND u.id > ? AND u.state = 'closed' AND u.narrated_at IS NOT NULL ORDER BY u.id LIMIT ?
"""  # noqa: S608 - names of columns
_LEARNINGS = """
SELECT id, kind, key, title, rule, files, coalesce(state_at, last_at) FROM learnings
WHERE project_id = ? AND id > ? AND state = 'accepted' ORDER BY id LIMIT ?
"""
_SEEN_EPISODES = f"""
SELECT count(*), total(u.id), total(u.first_prompt_id), total(u.last_at), total(u.narrated_at),
  total(u.state = 'closed'), count(n.unit_id), {", ".join(f"total(length({each}))" for each in (_TITLE, *_TEXTS))}
FROM work_units u JOIN sessions s ON s.id = u.session_id LEFT JOIN narrations n ON n.unit_id = u.id
WHERE s.project_id = ?
"""  # noqa: S608 - names of columns
_SEEN_DECISIONS = """
SELECT count(*), total(d.id), total(d.said_from), total(d.said_to), total(d.state = 'dismissed'),
  total(d.superseded_by), total(length(d.wording)), total(d.asked_id), total(d.restated_id)
FROM said_decisions d JOIN sessions s ON s.id = d.session_id WHERE s.project_id = ?
"""
_SEEN_LEARNINGS = """
SELECT count(*), total(id), total(state = 'accepted'), total(coalesce(state_at, last_at)), total(length(title)),
  total(length(rule)), total(length(files)) FROM learnings WHERE project_id = ?
"""
_SEEN_CHANGES = "SELECT ?, (SELECT max(id) FROM purges), max(id), count(undone_at) FROM corrections"
_SEEN = (_SEEN_EPISODES, _SEEN_DECISIONS, _SEEN_LEARNINGS, _SEEN_CHANGES)
"""Sums that tell whether something of a project changed, without reading its texts into this process."""


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
    for page in _pages(db, _EPISODES, shared.project_id):
        yield from map(_episode, page)
        yield from map(_decision, said.of_units(db, [int(str(row[0])) for row in page]))
    for number, kind, key, title, rule, files, when in chain.from_iterable(_pages(db, _LEARNINGS, shared.project_id)):
        yield Material("learning", ("learning", shared.shared_as, kind, key), f"learning/{number}", None, int(when),
                       title, rule or "", texts(files), {"kind": kind})  # fmt: skip
    yield from _entries(shared)


def stamp(db: Connection, shared: Shared) -> str:
    """A digest that changes when something changes that `of` reads of a project; a hundredth of the work of reading.

    A text that is changed in place, keeps its length and leaves no correction does not change the digest.
    """
    sums = [str(tuple(db.execute(sql, (shared.project_id,)).fetchone())) for sql in _SEEN]
    said = [str((one.key, one.at, one.body)) for one in _entries(shared)]
    return digest(str((shared.shared_as, shared.at, shared.key, shared.root)), *sums, *said)


def _pages(db: Connection, sql: str, project_id: int) -> Iterator[list[tuple[Any, ...]]]:
    """Rows by their first column, some at a time."""
    last = 0
    while page := [tuple(row) for row in db.execute(sql, (project_id, last, _PAGE)).fetchall()]:
        yield page
        last = int(page[-1][0])


def unsettled(db: Connection, shared: Shared) -> Iterator[tuple[str, ...]]:
    """Keys of episodes that go on again or are told anew, and of their decisions: what was said of them stands."""
    numbers = []
    for row in db.execute(
        "SELECT u.id, u.session_id, p.at FROM work_units u JOIN sessions s ON s.id = u.session_id"
        " JOIN prompts p ON p.id = u.first_prompt_id LEFT JOIN narrations n ON n.unit_id = u.id"
        " WHERE s.project_id = ? AND (u.state != 'closed' OR u.narrated_at IS NULL OR n.unit_id IS NULL)",
        (shared.project_id,),
    ).fetchall():
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
        titles.shown(str(given) if given else None, str(heading) if heading else None, str(intent)), summary,
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
