"""SQL: what a person decided on boundaries, titles and labels, and the history of fits (`tuning_history`)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from sqlite3 import Connection
from typing import Any

_CORRECTED = (
    "SELECT p.session_id FROM unit_prompts u JOIN prompts p ON p.id = u.prompt_id WHERE u.decided_by = 'person'"
    " GROUP BY p.session_id ORDER BY max(p.at) DESC, p.session_id LIMIT ?"
)
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


def corrected(db: Connection, most: int) -> list[str]:
    """The newest sessions in which a person decided something."""
    return [session_id for (session_id,) in db.execute(_CORRECTED, (most,))]


def decisions(db: Connection) -> int:
    """How many prompts a person has decided."""
    return int(db.execute("SELECT count(*) FROM unit_prompts WHERE decided_by = 'person'").fetchone()[0])


def decided(db: Connection, most: int) -> list[tuple[int, str, str, int, str | None]]:
    """(prompt, session, text, whether it opens a unit, the text before): by hand first, then the newest."""
    return db.execute(_DECIDED, (most,)).fetchall()


def renamed(db: Connection, most: int) -> list[tuple[int, str, str, str]]:
    """(episode, session, its first prompt, what the person calls it), the newest first."""
    return db.execute(_RENAMED, (most,)).fetchall()


def labelled(db: Connection, most: int) -> list[tuple[Any, ...]]:
    """The newest calls of which a person decided a label: number, session, giver, kind, text, five scores."""
    found = db.execute(
        "SELECT id, session_id, label_model, obs_type, substr(content, 1, 200), phase, scope, locus, novelty, friction"
        " FROM observations WHERE instr(label_model, '+') ORDER BY at DESC, id DESC LIMIT ?", (most,)
    ).fetchall()  # fmt: skip
    return list(map(tuple, found))


@dataclass(frozen=True, slots=True)
class Fitting:
    """One entry of the history."""

    at: int
    before: dict[str, Any]
    after: dict[str, Any]
    reason: str
    metrics: dict[str, Any]


def latest(db: Connection, subject: str) -> dict[str, Any]:
    """What was adopted last of a subject; empty when nothing was."""
    row = db.execute("SELECT after FROM tuning_history WHERE subject = ? ORDER BY id DESC LIMIT 1",
                     (subject,)).fetchone()  # fmt: skip
    found = json.loads(row[0]) if row else {}
    return found if isinstance(found, dict) else {}


def note(db: Connection, subject: str, told: Fitting) -> None:
    """Add to the history, and thereby put `after` in force; inside the caller's transaction."""
    db.execute(
        "INSERT INTO tuning_history (at, subject, before, after, reason, metrics) VALUES (?, ?, ?, ?, ?, ?)",
        (told.at, subject, json.dumps(told.before), json.dumps(told.after), told.reason, json.dumps(told.metrics)),
    )
