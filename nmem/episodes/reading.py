"""Reads an episode's records from the database for the narrators."""

from __future__ import annotations

from dataclasses import dataclass
from sqlite3 import Connection
from typing import Any

from nmem.episodes import store
from nmem.episodes.narrate.records import Action, Episode, Saying
from nmem.text import json_object

_STOP = "notification"


@dataclass(frozen=True, slots=True)
class Told:
    """An episode's records, and what they are: equal texts mean that nothing has come or gone since."""

    unit_id: int
    session_id: str
    of: str
    episode: Episode


def read(db: Connection, unit_id: int) -> Told | None:
    """An episode's records, or None when it is gone."""
    row = store.held(db, unit_id)
    if row is None:
        return None
    session_id, started_at, of, state, root = row
    prompts = tuple(Saying(*one) for one in store.asked_in(db, unit_id))
    said = [
        Saying(*one)
        for start, end in store.spans(db, unit_id, session_id)
        for one in store.said_between(db, session_id, start, end)
    ]
    sayings = tuple(one for one in said if one.kind != _STOP)
    stops = tuple(one.at for one in said if one.kind == _STOP)
    actions = tuple(action(tuple(row)) for _, *row in store.done_in(db, session_id, unit_id))
    before = store.newest_said(db, session_id, "closing", before=started_at)
    episode = Episode(prompts, sayings, actions, root or "", before or "",
                      going_on=state == "open", stops=stops)  # fmt: skip
    return Told(unit_id, session_id, of, episode)


def action(row: tuple[Any, ...]) -> Action:
    """A row (at, obs_type, content, outcome, tool_name, file_path, exit_code, metadata) as an action."""
    at, obs_type, content, outcome, tool, path, code, metadata = row
    return Action(at, obs_type, content, outcome, tool or "", path or "", code, json_object(metadata))
