"""Adds to search hits for agents: the speaker, the reply, and the decision that superseded it (SQL)."""

from __future__ import annotations

from sqlite3 import Connection

from nmem.decisions import read
from nmem.mcp.ids import PROMPT
from nmem.mcp.reply import line, some

_ANSWER = 240
_SAID_BY = {"user": "the person", "agent": "the agent", "machine": "the client"}

Quoted = dict[str, object]


def of(db: Connection, hit: str) -> Quoted:
    """Of what a person said: that they did, and the agent's closing words to it; of another's, whose words they are.

    Of any hit whose decision holds no more: the words that hold instead. Else nothing of a hit that is no saying.
    """
    return some({**_said(db, hit), "holds_now": line(superseded(db, hit), _ANSWER)})


def _said(db: Connection, hit: str) -> Quoted:
    kind, _, number = hit.partition("/")
    if kind not in (PROMPT, "reasoning") or not number.isdecimal():
        return {}
    row = db.execute("SELECT session_id, source, at FROM prompts WHERE id = ?", (int(number),)).fetchone()
    if row is None:
        return {}
    session_id, source, at = tuple(row)
    answer = _answer(db, session_id, at) if source == "user" else ""
    return {"by": _SAID_BY.get(source, source), "answered": line(answer, _ANSWER)}


def _answer(db: Connection, session_id: str, at: int) -> str:
    """What the agent said last before the person spoke again."""
    row = db.execute(
        "SELECT content FROM prompts WHERE session_id = ?1 AND source = 'agent' AND kind = 'closing' AND at >= ?2"
        " AND agent_id IS NULL AND at < coalesce((SELECT min(at) FROM prompts WHERE session_id = ?1"
        " AND source = 'user' AND at > ?2), 1 << 62) ORDER BY at DESC, id DESC LIMIT 1",
        (session_id, at),
    ).fetchone()
    return str(row[0]) if row else ""


def superseded(db: Connection, hit: str) -> str:
    """The decision that holds instead of the one said there, in the person's words; empty where nothing replaced it."""
    later = read.superseded(db, [hit]).get(hit)
    found = read.get(db, later.id) if later else None
    return found.text if found else ""
