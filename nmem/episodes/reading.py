"""Reads an episode's records from the database for the narrators."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from sqlite3 import Connection
from typing import Any

from nmem.episodes.narrate.records import Action, Episode, Saying
from nmem.episodes.unit import BROKEN_OFF

_FAR = 1 << 62
_SPANS = """
SELECT p.at, u.unit_id = ? FROM prompts p JOIN unit_prompts u ON u.prompt_id = p.id
WHERE p.session_id = ? AND p.source = 'user' ORDER BY p.at, p.id
"""
_SAID = f"""
SELECT at, kind, content FROM prompts WHERE session_id = ? AND source IN ('agent', 'machine') AND at >= ? AND at < ?
AND (source = 'agent' OR {BROKEN_OFF}) ORDER BY at, id
"""  # noqa: S608 - our word
_STOP = "notification"
_ASKED = """
SELECT p.at, p.kind, p.content FROM unit_prompts u JOIN prompts p ON p.id = u.prompt_id WHERE u.unit_id = ?
ORDER BY p.at, p.id
"""
_DONE = """
SELECT o.at, o.obs_type, o.content, o.outcome, o.tool_name, o.file_path, o.exit_code, o.metadata FROM observations o
WHERE o.session_id = ? AND o.prompt_id IN (SELECT prompt_id FROM unit_prompts WHERE unit_id = ?) ORDER BY o.seq
"""
_BEFORE = """
SELECT content FROM prompts WHERE session_id = ? AND source = 'agent' AND kind = 'closing' AND agent_id IS NULL
AND at < ? ORDER BY at DESC, id DESC LIMIT 1
"""
_ROOT = """
SELECT coalesce(f.root, p.root) FROM sessions s JOIN projects p ON p.id = s.project_id
LEFT JOIN project_folders f ON f.folder = s.cwd WHERE s.id = ?
"""


@dataclass(frozen=True, slots=True)
class Told:
    """An episode's records, and what they are: equal texts mean that nothing has come or gone since."""

    unit_id: int
    session_id: str
    of: str
    episode: Episode


OF = (
    "u.first_prompt_id || '.' || u.last_prompt_id || '.' || u.turn_count || '.' || u.obs_count || '.'"
    " || u.annotated_seq || '.' || u.annotated_prompt || iif(u.state = 'open', '.open', '')"
)
"""What an episode holds, as SQL over work_units `u`: a text that changes when prompts or records come or go."""


def turns_of(of: str) -> int:
    """The turns of an episode in such a text; 0 where it is none."""
    number = of.split(".")[2:3]
    return int(number[0]) if number and number[0].isdigit() else 0


def read(db: Connection, unit_id: int) -> Told | None:
    """An episode's records, or None when it is gone."""
    row = db.execute(f"SELECT session_id, started_at, {OF}, state FROM work_units u WHERE id = ?",  # noqa: S608
                     (unit_id,)).fetchone()  # fmt: skip
    if row is None:
        return None
    session_id, started_at, of, state = row
    prompts = tuple(Saying(*one) for one in db.execute(_ASKED, (unit_id,)))
    said = [
        Saying(*one)
        for start, end in _spans(db, unit_id, session_id)
        for one in db.execute(_SAID, (session_id, start, end))
    ]
    sayings = tuple(one for one in said if one.kind != _STOP)
    stops = tuple(one.at for one in said if one.kind == _STOP)
    actions = tuple(action(tuple(one)) for one in db.execute(_DONE, (session_id, unit_id)))
    before = db.execute(_BEFORE, (session_id, started_at)).fetchone()
    root = db.execute(_ROOT, (session_id,)).fetchone()
    episode = Episode(prompts, sayings, actions, root[0] if root else "", before[0] if before else "",
                      going_on=state == "open", stops=stops)  # fmt: skip
    return Told(unit_id, session_id, of, episode)


def _spans(db: Connection, unit_id: int, session_id: str) -> Iterator[tuple[int, int]]:
    """When the episode was worked on: from each of its prompts until the next prompt of another episode."""
    start: int | None = None
    for at, mine in db.execute(_SPANS, (unit_id, session_id)).fetchall():
        if mine and start is None:
            start = at
        elif not mine and start is not None:
            yield start, at
            start = None
    if start is not None:
        yield start, _FAR


def action(row: tuple[Any, ...]) -> Action:
    """A row (at, obs_type, content, outcome, tool_name, file_path, exit_code, metadata) as an action."""
    at, obs_type, content, outcome, tool, path, code, metadata = row
    return Action(at, obs_type, content, outcome, tool or "", path or "", code, _object(metadata))


def _object(stored: str | None) -> Mapping[str, object]:
    try:
        value = json.loads(stored) if stored else {}
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
