"""`timeline`: returns the prompts and calls of a session around a moment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nmem.errors import NmemError
from nmem.mcp import tool
from nmem.mcp.reply import line
from nmem.mcp.told import index
from nmem.mcp.tool import NUMBER, PROJECT, Answer, Param, Tool
from nmem.read import stream

if TYPE_CHECKING:
    from nmem.mcp.tool import Ask

_MOST = 50


def run(ask: Ask) -> Answer:
    """The rows in order; `around` any of them goes on from there."""
    session_id, at = _moment(ask)
    found = stream.around(ask.db, session_id, at, ask.number("before"), ask.number("after"))
    return {"session": f"session/{line(session_id, 80)}", "rows": [index(row) for row in found]}


def _moment(ask: Ask) -> tuple[str, tuple[int, int]]:
    named = ask.text("around")
    session_id = ""
    if named:
        ref = tool.parse(ask.db, named)
        if ref.kind in (tool.THREAD, tool.LEARNING):
            raise NmemError(f"{ref} has no single moment: get {ref} lists its sessions and obs")
        if ref.kind == tool.TASK:
            raise NmemError(f"{ref} is not a moment: get {ref} names its session")
        if ref.kind == tool.EPISODE:
            from nmem.read.stories import story  # on use: start-up stays short

            found = story(ask.db, ref.number)
            assert found is not None
            first = min(found.prompts, default=0)
            ref = tool.Ref(tool.PROMPT, first) if first else tool.Ref(tool.SESSION, key=found.row.session_id)
        if ref.kind != tool.SESSION:
            key = ref.number * 2 + (ref.kind == tool.OBS)
            place = stream.place(ask.db, key)
            assert place is not None
            return place[0], (place[1], key)
        session_id = ref.key
    else:
        session_id = ask.session_here()
    at = stream.last(ask.db, session_id)
    if at is None:
        raise NmemError(f"nothing was said or done in session/{line(session_id, 80)} yet")
    return session_id, at


TOOL = Tool("timeline", "What was said and done around an id, in order; else at the end of the newest session.", (
    Param("around", says="id"), Param("before", NUMBER, default=10, high=_MOST),
    Param("after", NUMBER, default=10, high=_MOST), PROJECT,
), run)  # fmt: skip
