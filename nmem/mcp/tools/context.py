"""`context`: returns the stored items that matter to the current work, selected as for a new session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nmem.mcp.reply import line, name
from nmem.mcp.tool import NUMBER, PROJECT, Answer, Param, Tool

if TYPE_CHECKING:
    from nmem.mcp.tool import Ask


def run(ask: Ask) -> Answer:
    """Items with id and reason; also those that the session has been told already."""
    from nmem.context import candidates, config, decide, present  # on use: start-up stays short

    session_id = ask.session_here()
    now = present.read(ask.db, session_id, ask.now, ask.text("about"))
    assert now is not None
    if why := decide.silent(ask.db, now, config.load()):
        return {"items": [], "note": f"the person switched context off here: {why}"}
    now.given = now.given_files = frozenset()
    ask.db.row_factory = None  # as in a hook: rows are compared there
    items = candidates.select(ask.db, now, ask.number("tokens"))
    shown = [{"id": line(each.id, 240), "text": line(each.text, 1200), "why": line(each.reason, 160)} for each in items]
    if not shown:
        return {"items": [], "note": "no record bears on it strongly enough: search finds more"}
    return {"project": name(now.project, 80), "items": shown}


TOOL = Tool(
    "context",
    "What bears on the work at hand: earlier tasks, learnings, likely files, open steps.",
    (
        Param("about", says="the task; default: the session as it is"),
        Param("tokens", NUMBER, default=800, low=100, high=2400),
        PROJECT,
    ),
    run,
)
