"""Looks up episodes, sessions, prompts and calls for the command line, by id, project or time.

Takes a connection of `nmem.database.reader`. Text is as stored: whoever prints it passes it through `printable`.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from sqlite3 import Connection
from typing import NamedTuple

from capture.project import resolve
from capture.storage.store import called_by
from nmem import tables
from nmem.episodes import open_ends, units
from nmem.errors import NmemError
from nmem.read import episode_store, store, stream, views
from nmem.read.episodes import EpisodeRow, in_order, present, rows
from nmem.read.views import StreamRow, metadata, outcome_words
from nmem.store.project import here, named, unknown
from nmem.text import ELLIPSIS, fit, printable, width

_DIGITS = 19
_NAME = 80
LAST = "last"
"""What stands for the newest session or episode."""


class PromptStory(NamedTuple):
    """One prompt: what was said, where it belongs and why, and what was done after it."""

    id: int
    session_id: str
    at: int
    source: str
    kind: str
    text: str
    unit_id: int | None
    opens: bool
    """It is the first of its episode."""
    label: str
    score: float | None
    """The detector's probability that something new begins here."""
    reason: str
    decided_by: str
    offered: bool
    done: tuple[StreamRow, ...]


class SessionSummary(NamedTuple):
    """What was told of a whole session."""

    intent: str
    learned: tuple[str, ...]
    completed: tuple[str, ...]
    next_steps: tuple[str, ...]
    notes: str
    narrator: str


def listed(
    db: Connection, *, project: str = "", thread: int | None = None, since: int = 0, limit: int = 30
) -> list[EpisodeRow]:
    """Episodes, the most recently active first; `project` is a name, key or root, `since` in milliseconds."""
    return in_order(db, episode_store.newest(db, project, thread, since, limit)) if present(db) else []


def of_session(db: Connection, session_id: str) -> list[EpisodeRow]:
    """The episodes of a session, the oldest first."""
    return in_order(db, episode_store.of_session(db, session_id)) if present(db) else []


def summary(db: Connection, session_id: str) -> SessionSummary | None:
    """What was told of a session, or None when nothing was yet."""
    row = store.summary(db, session_id) if present(db) else None
    if row is None:
        return None
    intent, learned, completed, left, notes, narrator, last = row
    steps = tuple(open_ends.left(db, session_id, last, _texts(left)))
    return SessionSummary(intent, _texts(learned), _texts(completed), steps, "\n".join(_texts(notes)), narrator)


def _texts(stored: str | None) -> tuple[str, ...]:
    """A JSON list; a plain text is a list of one."""
    try:
        found = json.loads(stored or "[]")
    except ValueError:
        return (str(stored),)
    return tuple(str(each) for each in found) if isinstance(found, list) else (str(stored),)


def prompt(db: Connection, prompt_id: int) -> PromptStory | None:
    """One prompt with what was done after it, or None when there is none."""
    row = store.prompt(db, prompt_id)
    if row is None:
        return None
    place = (present(db) and episode_store.place(db, prompt_id)) or (None, False, "", None, "", "", False)
    unit_id, opens, label, score, reason, by, offered = place
    done = tuple(stream.in_order(db, stream.done(db, prompt_id)))
    return PromptStory(*row, unit_id, bool(opens), label, score, reason, by, bool(offered), done)


_WAY = re.compile(r"""(?:cd\s+(?:"[^"]*"|'[^']*'|[^\s;&|"']+)\s*(?:&&|;)\s*)+(?=\S)""")


def fitted(command: str, cells: int) -> str:
    """A printable command in at most `cells` cells; one that begins by going to a folder loses that first."""
    if command.startswith("cd ") and width(command) > cells and (way := _WAY.match(command)):
        command = f"{ELLIPSIS} {command[way.end() :]}"
    return fit(command, cells)


def session_of(db: Connection, named_by: str | None = None, project: str = "") -> str:
    """The whole id of a session, by its beginning, or by an episode of it (episode/12).

    None or `last`: the newest of the project, or of the folder's, or of all. Raises NmemError.
    """
    if named_by is not None and named_by != LAST:
        return _named(db, named_by)
    key = named(db, project).key if project else resolve(str(Path.cwd())).key
    found = views.sessions(db, 1, key) or ([] if project else views.sessions(db, 1))
    if not found:
        raise unknown(db, key) if project else NmemError("no session is recorded yet")
    return found[0].id


def elsewhere(db: Connection, session_id: str) -> str:
    """The name of a session's project where it is not that of the current folder; else empty."""
    found, project = here(db, str(Path.cwd())), store.project_of(db, session_id)
    row = called_by(db, project) if project is not None else ()
    return "" if not row or (found and found.id == project) else row[0]


def newest_episode(db: Connection) -> int:
    """The newest episode of the current folder's project, else of all. Raises NmemError."""
    known = here(db, str(Path.cwd()))
    found = (listed(db, project=known.key, limit=1) if known else []) or listed(db, limit=1)
    if not found:
        raise NmemError("no episodes yet: the next session or `nmem settle` makes the first")
    return found[0].id


def own_newest_episode(db: Connection, project: str = "") -> int:
    """The newest episode of a project, else of the current folder's, and of no other. Raises NmemError."""
    known = named(db, project) if project else here(db, str(Path.cwd()))
    if found := listed(db, project=known.key, limit=1) if known else []:
        return found[0].id
    newest = newest_episode(db)
    theirs = fit(printable(rows(db, [newest])[newest].project), _NAME)
    whose = f"project {fit(printable(project), _NAME)}" if project else "this folder"
    raise NmemError(
        f"no episode is recorded of {whose}: the newest of all is episode/{newest} of {theirs}; name it if you mean it"
    )


def _named(db: Connection, beginning: str) -> str:
    kind, _, number = beginning.partition("/")
    if kind == "episode" and number.isascii() and number.isdigit() and len(number) < _DIGITS:
        session_id = episode_store.session_of(db, int(number))
        if session_id is None:
            raise NmemError(f"there is no episode {number}: `nmem episodes` lists them")
        return session_id
    found = store.sessions_like(db, beginning)
    if not found and kind not in ("session", beginning):
        raise NmemError(f"there is no session {printable(beginning)}: name one by its id, by episode/12 or by last")
    if not found:
        raise NmemError(f"there is no session {printable(beginning)}: `nmem sessions` lists them")
    if len(found) > 1:
        raise NmemError(f"{printable(beginning)} matches several sessions: {', '.join(map(printable, found))}")
    return found[0]


def unit_of(db: Connection, prompt_id: int | None) -> int | None:
    """The episode of a prompt."""
    return units.of_prompt(db, prompt_id) if prompt_id and tables.version(db) else None


class Observation(NamedTuple):
    """What was done, and what came of it. Text is as stored; times are milliseconds."""

    id: int
    at: int
    session_id: str
    prompt_id: int | None
    unit_id: int | None
    type: str
    mark: str
    """Of a marker: note, decision or rollback."""
    tool: str
    path: str
    text: str
    answer: str
    """What a failing call answered."""
    outcome: str
    added: int | None
    removed: int | None
    repeats: int
    pinned: bool


def observation(db: Connection, number: int) -> Observation | None:
    """The observation of an id, on a connection whose rows answer to names."""
    row = store.observation(db, number)
    if row is None:
        return None
    meta = metadata(row["metadata"])
    return Observation(
        row["id"], row["at"], row["session_id"], row["prompt_id"], unit_of(db, row["prompt_id"]), row["obs_type"],
        str(meta.get("kind") or "") if row["obs_type"] == "marker" else "", row["tool_name"] or "",
        row["file_path"] or "", row["content"], str(meta.get("response") or ""),
        outcome_words(row["outcome"], row["exit_code"], meta), row["lines_added"], row["lines_removed"],
        row["repeats"], bool(row["pinned"]),
    )  # fmt: skip
