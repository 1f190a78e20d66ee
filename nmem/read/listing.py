"""Looks up episodes, sessions, prompts and calls for the command line, by id, project or time.

Takes a connection of `nmem.database.reader`. Text is as stored: whoever prints it passes it through `printable`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import Connection

from capture.project import resolve
from nmem import tables
from nmem.episodes import open_ends
from nmem.errors import NmemError
from nmem.read import stream, views
from nmem.read.episodes import EpisodeRow, present, rows
from nmem.read.views import StreamRow, metadata, outcome_words
from nmem.store.project import here, named, unknown
from nmem.tables import NOW
from nmem.text import ELLIPSIS, fit, printable, width

_CHUNK = 400
_DIGITS = 19
_NAME = 80
LAST = "last"
"""What stands for the newest session or episode."""


@dataclass(frozen=True, slots=True)
class PromptStory:
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


@dataclass(frozen=True, slots=True)
class SessionSummary:
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
    if not present(db):
        return []
    where, values = ["u.last_at >= ?"], [since]
    if project:
        where.append("? IN (p.name, p.key, p.root)")
    if thread is not None:
        where.append("u.thread_id = ?")
    found = db.execute(
        "SELECT u.id FROM work_units u JOIN sessions s ON s.id = u.session_id JOIN projects p ON p.id = s.project_id"  # noqa: S608
        f" WHERE {' AND '.join(where)} ORDER BY u.last_at > {NOW}, u.last_at DESC, u.id DESC LIMIT ?",
        [*values, *([project] if project else []), *([thread] if thread is not None else []), limit],
    ).fetchall()
    return _rows(db, [row[0] for row in found])


def of_session(db: Connection, session_id: str) -> list[EpisodeRow]:
    """The episodes of a session, the oldest first."""
    if not present(db):
        return []
    found = db.execute("SELECT id FROM work_units WHERE session_id = ? ORDER BY started_at, id", (session_id,))
    return _rows(db, [row[0] for row in found.fetchall()])


def _rows(db: Connection, ids: list[int]) -> list[EpisodeRow]:
    known: dict[int, EpisodeRow] = {}
    for begin in range(0, len(ids), _CHUNK):
        known |= rows(db, ids[begin : begin + _CHUNK])
    return [known[each] for each in ids if each in known]


def sessions_like(db: Connection, beginning: str, limit: int = 5) -> list[str]:
    """Sessions whose id is, or begins with, a text (`session/` before it is as it is printed); the exact one alone."""
    beginning = beginning.removeprefix("session/")
    if not beginning:
        return []
    found = db.execute(
        "SELECT id FROM sessions WHERE substr(id, 1, length(?1)) = ?1 ORDER BY id = ?1 DESC, last_at DESC LIMIT ?2",
        (beginning, limit),
    ).fetchall()
    ids = [str(row[0]) for row in found]
    return ids[:1] if beginning in ids else ids


def summary(db: Connection, session_id: str) -> SessionSummary | None:
    """What was told of a session, or None when nothing was yet."""
    if not present(db):
        return None
    row = db.execute(
        "SELECT intent, learned, completed, next_steps, notes, narrator FROM session_summaries WHERE session_id = ?",
        (session_id,),
    ).fetchone()
    if row is None:
        return None
    last = db.execute("SELECT last_at FROM sessions WHERE id = ?", (session_id,)).fetchone()
    steps = tuple(open_ends.left(db, session_id, last[0], _texts(row[3]))) if last else ()
    return SessionSummary(row[0], _texts(row[1]), _texts(row[2]), steps, "\n".join(_texts(row[4])), row[5])


def _texts(stored: str | None) -> tuple[str, ...]:
    """A JSON list; a plain text is a list of one."""
    try:
        found = json.loads(stored or "[]")
    except ValueError:
        return (str(stored),)
    return tuple(str(each) for each in found) if isinstance(found, list) else (str(stored),)


def prompt(db: Connection, prompt_id: int) -> PromptStory | None:
    """One prompt with what was done after it, or None when there is none."""
    row = db.execute(
        "SELECT id, session_id, at, source, kind, content FROM prompts WHERE id = ?", (prompt_id,)
    ).fetchone()
    if row is None:
        return None
    place = None
    if present(db):
        place = db.execute(
            "SELECT x.unit_id, u.first_prompt_id = x.prompt_id, x.label, x.score, x.reason, x.decided_by, x.offered"
            " FROM unit_prompts x JOIN work_units u ON u.id = x.unit_id WHERE x.prompt_id = ?",
            (prompt_id,),
        ).fetchone()
    unit_id, opens, label, score, reason, by, offered = place or (None, False, "", None, "", "", False)
    number, session_id, at, source, kind, content = row
    return PromptStory(
        number,
        session_id,
        at,
        source,
        kind,
        content,
        unit_id,
        bool(opens),
        label,
        score,
        reason,
        by,
        bool(offered),
        _done(db, prompt_id),
    )


def _done(db: Connection, prompt_id: int) -> tuple[StreamRow, ...]:
    found = db.execute(
        "SELECT id * 2 + 1 FROM observations WHERE prompt_id = ? ORDER BY at, id LIMIT 2000", (prompt_id,)
    )
    keys = [row[0] for row in found.fetchall()]
    known: dict[int, StreamRow] = {}
    for begin in range(0, len(keys), _CHUNK):
        known |= stream.rows(db, keys[begin : begin + _CHUNK])
    return tuple(known[key] for key in keys if key in known)


_WAY = re.compile(r"""(?:cd\s+(?:"[^"]*"|'[^']*'|[^\s;&|"']+)\s*(?:&&|;)\s*)+(?=\S)""")


def fitted(command: str, cells: int) -> str:
    """A printable command in at most `cells` cells; one that begins by going to a folder loses that first."""
    if command.startswith("cd ") and width(command) > cells and (way := _WAY.match(command)):
        command = f"{ELLIPSIS} {command[way.end() :]}"
    return fit(command, cells)


@dataclass(frozen=True, slots=True)
class Slot:
    """Where a session stands in the list."""

    session_id: str
    last_at: int
    number: int
    """Its row: tells two of the same moment apart."""


def summary_page(db: Connection, project_id: int | None, before: tuple[int, int] | None, limit: int) -> list[Slot]:
    """The newest `limit` sessions before (last_at, number), of a project or of all."""
    where, values = ("s.project_id = ? AND", [project_id]) if project_id is not None else ("", list[int]())
    found = db.execute(
        f"SELECT s.id, s.last_at, s.rowid FROM sessions s WHERE {where} (s.last_at, s.rowid) < (?, ?)"  # noqa: S608 -- our words
        " AND EXISTS (SELECT 1 FROM prompts p WHERE p.session_id = s.id AND p.source = 'user')"
        " ORDER BY s.last_at DESC, s.rowid DESC LIMIT ?",
        (*values, *(before or (2**62, 2**62)), limit),
    )
    return [Slot(*row) for row in found.fetchall()]


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
    found = here(db, str(Path.cwd()))
    row = db.execute(
        "SELECT p.id, p.name FROM sessions s JOIN projects p ON p.id = s.project_id WHERE s.id = ?", (session_id,)
    ).fetchone()
    return "" if row is None or (found and found.id == row[0]) else str(row[1])


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
        row = db.execute("SELECT session_id FROM work_units WHERE id = ?", (int(number),)).fetchone()
        if row is None:
            raise NmemError(f"there is no episode {number}: `nmem episodes` lists them")
        return str(row[0])
    found = sessions_like(db, beginning)
    if not found and kind not in ("session", beginning):
        raise NmemError(f"there is no session {printable(beginning)}: name one by its id, by episode/12 or by last")
    if not found:
        raise NmemError(f"there is no session {printable(beginning)}: `nmem sessions` lists them")
    if len(found) > 1:
        raise NmemError(f"{printable(beginning)} matches several sessions: {', '.join(map(printable, found))}")
    return found[0]


@dataclass(frozen=True, slots=True)
class Observation:
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
    row = db.execute("SELECT * FROM observations WHERE id = ?", (number,)).fetchone()
    if row is None:
        return None
    unit = None
    if row["prompt_id"] and tables.version(db):
        unit = db.execute("SELECT unit_id FROM unit_prompts WHERE prompt_id = ?", (row["prompt_id"],)).fetchone()
    meta = metadata(row["metadata"])
    return Observation(
        row["id"], row["at"], row["session_id"], row["prompt_id"], unit[0] if unit else None, row["obs_type"],
        str(meta.get("kind") or "") if row["obs_type"] == "marker" else "", row["tool_name"] or "",
        row["file_path"] or "", row["content"], str(meta.get("response") or ""),
        outcome_words(row["outcome"], row["exit_code"], meta), row["lines_added"], row["lines_removed"],
        row["repeats"], bool(row["pinned"]),
    )  # fmt: skip
