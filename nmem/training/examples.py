"""Picks few-shot examples for a model from a person's corrections (SQL: decided prompts, renamed episodes).

A line says of two prompts that follow each other whether they are one unit of work, or what the person calls a unit.
Only ids are kept in the history; lines are made of what is stored at the time of asking, so that what was purged, taken
back or decided otherwise since is not told.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from sqlite3 import Connection
from typing import Any

from nmem.episodes.narrate.prose import clip

SUBJECT = "question"
NEW, SAME, TITLE = "new", "same", "title"
MOST = 3
"""Examples of each kind that are shown."""
WORDS = 56
"""Characters of a prompt or title in an example."""
_POOL = 200
_DECIDED = """
SELECT p.id, p.session_id, p.content, w.first_prompt_id = p.id, (SELECT b.content FROM prompts b
  WHERE b.session_id = p.session_id AND b.source = 'user' AND b.agent_id IS NULL AND b.kind = 'prompt'
  AND (b.at, b.id) < (p.at, p.id) ORDER BY b.at DESC, b.id DESC LIMIT 1)
FROM unit_prompts u JOIN prompts p ON p.id = u.prompt_id JOIN work_units w ON w.id = u.unit_id
WHERE u.decided_by = 'person' AND p.kind = 'prompt' ORDER BY u.reason NOT LIKE '%by hand', p.at DESC, p.id DESC LIMIT ?
"""
_RENAMED = """
SELECT w.id, w.session_id, p.content, w.title FROM work_units w JOIN prompts p ON p.id = w.first_prompt_id
WHERE w.title <> '' AND EXISTS (SELECT 1 FROM corrections c WHERE c.kind = 'rename' AND c.target = 'episode/' || w.id)
ORDER BY w.started_at DESC, w.id DESC LIMIT ?
"""


@dataclass(frozen=True, slots=True)
class Example:
    """One line, of what, and what the person did there."""

    kind: str
    number: int
    """The prompt; of a title the episode."""
    session_id: str
    line: str
    title: str = ""
    """What the person calls the episode."""


def pool(db: Connection) -> list[Example]:
    """All that could be shown: what was cut or joined by hand before what was confirmed, the newest first."""
    out = []
    for number, session_id, text, opens, before in db.execute(_DECIDED, (_POOL,)):
        if before and text.strip():
            end = "another unit" if opens else "the same unit"
            line = f"after “{_short(before)}” came “{_short(text)}”: {end}"
            out.append(Example(NEW if opens else SAME, number, session_id, line))
    for number, session_id, text, title in db.execute(_RENAMED, (_POOL,)):
        line = f"what began with “{_short(text)}” is called “{_short(title)}”"
        out.append(Example(TITLE, number, session_id, line, title))
    return out


def chosen(found: Iterable[Example], without: Collection[str] = ()) -> list[Example]:
    """At most `MOST` of each kind, of no session in `without`; none that says the same as another."""
    out: dict[str, Example] = {}
    counts = {NEW: 0, SAME: 0, TITLE: 0}
    for one in found:
        if one.session_id not in without and counts[one.kind] < MOST and one.line not in out:
            out[one.line] = one
            counts[one.kind] += 1
    return list(out.values())


def lines(found: Sequence[Example]) -> tuple[str, ...]:
    """As they are shown."""
    return tuple(one.line for one in found)


def in_force(db: Connection) -> tuple[str, ...]:
    """The lines that are shown now: those adopted last, as far as they still hold. Raises sqlite3.Error."""
    kept = adopted(db)
    return lines([one for one in pool(db) if one.number in kept.get(one.kind, ())]) if kept else ()


def adopted(db: Connection) -> dict[str, list[int]]:
    """The ids of the examples adopted last, by kind; empty when none are."""
    row = db.execute("SELECT after FROM tuning_history WHERE subject = ? ORDER BY id DESC LIMIT 1",
                     (SUBJECT,)).fetchone()  # fmt: skip
    found: Any = json.loads(row[0]) if row else {}
    return {kind: ids for kind, ids in found.items() if ids} if isinstance(found, dict) else {}


def note(db: Connection, now: int, after: dict[str, list[int]], reason: str, metrics: dict[str, Any]) -> None:
    """Add to the history, and thereby put `after` in force; inside the caller's transaction."""
    db.execute(
        "INSERT INTO tuning_history (at, subject, before, after, reason, metrics) VALUES (?, ?, ?, ?, ?, ?)",
        (now, SUBJECT, json.dumps(adopted(db)), json.dumps(after), reason, json.dumps(metrics)),
    )


def _short(text: str) -> str:
    """The beginning of a text on one line, cut between words."""
    return clip(" ".join(text.split()), WORDS)
