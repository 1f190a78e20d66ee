"""Parses stable ids such as obs/12 or session/abc, and lists the existing ones if an id is unknown (SQL)."""

from __future__ import annotations

from dataclasses import dataclass
from sqlite3 import Connection

from nmem import tables
from nmem.errors import NmemError
from nmem.mcp.ask import Usage
from nmem.mcp.reply import line

OBS, PROMPT, EPISODE, SESSION, THREAD, LEARNING = "obs", "prompt", "episode", "session", "thread", "learning"
TASK, DECISION = "task", "decision"
KINDS = (OBS, PROMPT, EPISODE, SESSION, THREAD, LEARNING, TASK, DECISION)
_TABLES = {OBS: "observations", PROMPT: "prompts", EPISODE: "work_units", THREAD: "threads", LEARNING: "learnings",
           TASK: "tasks", DECISION: "said_decisions"}  # fmt: skip
_ALIASES = {"observation": OBS, "marker": OBS, "reasoning": PROMPT, "next": EPISODE, "unit": EPISODE}
_FORMS = "obs/12, prompt/5, episode/3, session/abc, thread/4, learning/2, task/7 or decision/4"
_FEW = 3


class Unknown(NmemError):
    """An id that names nothing; the text says what there is."""


@dataclass(frozen=True, slots=True)
class Ref:
    """What an id names; of a session `key` is its whole id, of anything else `number` counts."""

    kind: str
    number: int = 0
    key: str = ""

    def __str__(self) -> str:
        return f"{self.kind}/{self.key or self.number}"


def parse(db: Connection, text: str) -> Ref:
    """What an id names; a session may be named by the beginning of its id. Raises Usage or Unknown."""
    kind, slash, rest = text.strip().removeprefix("pin/").partition("/")
    kind = _ALIASES.get(kind, kind)
    if kind == "file" and rest:
        raise Usage(f"{line(text, 80)} is a file: file_history tells of it")
    if kind not in KINDS or not slash or not rest:
        raise Usage(f"{line(text, 80) or 'nothing'} is not an id: {_FORMS}")
    if kind == SESSION:
        return Ref(SESSION, key=_session(db, rest))
    if not (rest.isascii() and rest.isdecimal() and len(rest) < 19):
        raise Usage(f"{line(text, 80)} is not an id: {kind}/ and a number")
    ref = Ref(kind, int(rest))
    if not _there(db, ref):
        raise unknown(db, ref)
    return ref


def _session(db: Connection, beginning: str) -> str:
    from nmem.read.listing import sessions_like

    found = sessions_like(db, beginning)
    if len(found) == 1:
        return found[0]
    if found:
        named = ", ".join(f"session/{line(each, 60)}" for each in found)
        raise Unknown(f"session/{line(beginning, 60)} matches several sessions: {named}")
    newest = db.execute("SELECT id FROM sessions ORDER BY last_at DESC LIMIT ?", (_FEW,)).fetchall()
    there = ", ".join(f"session/{line(row[0], 60)}" for row in newest)
    raise Unknown(f"there is no session/{line(beginning, 60)}: the newest are {there or 'none at all'}")


def _there(db: Connection, ref: Ref) -> bool:
    if ref.kind not in (OBS, PROMPT) and not tables.version(db):
        return False
    return db.execute(f"SELECT 1 FROM {_TABLES[ref.kind]} WHERE id = ?", (ref.number,)).fetchone() is not None  # noqa: S608 -- our names


def unknown(db: Connection, ref: Ref) -> Unknown:
    """What to say of a number that names nothing."""
    if ref.kind not in (OBS, PROMPT) and not tables.version(db):
        return Unknown(f"there is no {ref}: nothing was settled yet, so there are prompts, obs and sessions only")
    low, high = db.execute(f"SELECT min(id), max(id) FROM {_TABLES[ref.kind]}").fetchone()  # noqa: S608 -- our names
    if high is None:
        return Unknown(f"there is no {ref}: no {ref.kind} is recorded yet")
    if low < ref.number < high:
        return Unknown(f"there is no {ref}: it was forgotten, or never there; ids go up to {ref.kind}/{high}")
    return Unknown(f"there is no {ref}: they are {ref.kind}/{low} to {ref.kind}/{high}")
