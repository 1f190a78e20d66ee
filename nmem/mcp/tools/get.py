"""`get`: returns the full records of the given ids, such as obs/12 or episode/3."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nmem.errors import NmemError
from nmem.mcp import told, tool
from nmem.mcp.reply import MOST, size
from nmem.mcp.tool import NUMBER, TEXTS, Answer, Param, Tool

if TYPE_CHECKING:
    from nmem.mcp.tool import Ask, Ref

_IDS = 20
_ROOM = MOST - 2_000


def run(ask: Ask) -> Answer:
    """Each id's record in the order asked; what does not fit is named, to be asked for again."""
    wanted = list(dict.fromkeys(ask.texts("ids")))
    found: list[object] = []
    left: list[str] = []
    wrong: list[str] = []
    room = _ROOM
    for each in wanted:
        if left or len(found) == _IDS:
            left.append(each)
            continue
        try:
            record = _record(ask, tool.parse(ask.db, each))
        except NmemError as error:
            wrong.append(str(error))
            continue
        if (room := room - size(record)) < 0 and found:
            left.append(each)
        else:
            found.append(record)
    if not found:
        raise NmemError("; ".join(wrong))
    out: Answer = {"found": found}
    if left:
        out["left"] = left
    if wrong:
        out["wrong"] = wrong
    return out


def _record(ask: Ask, ref: Ref) -> dict[str, object]:
    db, most = ask.db, ask.number("chars")
    if ref.kind in (tool.OBS, tool.PROMPT):
        return told.record(db, ref, most)
    if ref.kind == tool.EPISODE:
        return told.episode(db, ref.number, most)
    if ref.kind == tool.SESSION:
        return told.session(db, ref.key)
    if ref.kind == tool.THREAD:
        return told.thread(db, ref.number, ask.now)
    if ref.kind == tool.TASK:
        return told.task(db, ref.number, most, ask.now)
    if ref.kind == tool.DECISION:
        return told.decided(db, ref.number)
    return told.learning(db, ref.number, ask.now)


TOOL = Tool("get", "Ids of other tools in full.", (
    Param("ids", TEXTS, "obs/1 prompt/5 episode/3 session/a thread/4 learning/2 task/7 decision/1", required=True),
    Param("chars", NUMBER, "of each text", default=3000, low=100, high=30_000),
), run)  # fmt: skip
