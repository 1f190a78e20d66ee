"""`current_stance`: returns how a session moves between thinking and acting, with advice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nmem.errors import NmemError
from nmem.mcp import tool
from nmem.mcp.reply import line, name, some, when
from nmem.mcp.tool import PROJECT, Answer, Param, Tool
from nmem.sanitize import quoted

if TYPE_CHECKING:
    from nmem.mcp.tool import Ask
    from nmem.stance.model import Stance

_FEW = 5


def run(ask: Ask) -> Answer:
    """In a few figures, with their words."""
    from nmem.stance import read  # on use: start-up stays short

    session_id = _session(ask)
    found = read.of_session(ask.db, session_id, ask.now)
    assert found is not None
    return _told(found)


def _session(ask: Ask) -> str:
    named = ask.text("session")
    if named:
        ref = tool.parse(ask.db, named if "/" in named else f"session/{named}")
        if ref.kind != tool.SESSION:
            raise NmemError(f"{ref} is not a session: get {ref} names its session")
        return ref.key
    return ask.session_here()


def _told(found: Stance) -> Answer:
    from nmem.stance.words import needs, stands  # on use: start-up stays short

    shares = found.signs if found.few else found.quadrants
    worth = [f"{line(each.text, 300)} ({line(each.reason, 200).rstrip('.')})" for each in found.guidance]
    return some({
        "session": f"session/{line(found.session_id, 80)}", "project": name(found.project, 80),
        "calls": found.observations, "labelled": found.count, "failed": found.failed, "quadrant": stands(found),
        "think-/act+": _axis(found.phase_5, found.phase_20, found.phase_direction),
        "diverge-/converge+": _axis(found.scope_5, found.scope_20, found.scope_direction),
        "shares": {which: f"{each.share:.0%}" for which, each in shares.items() if each.number},
        "worth_knowing": worth,
        "shifts": [f"{when(each.at)} {each.from_} to {each.to}: {quoted(each.prompt, 100)}"
                   for each in found.shifts[-_FEW:]],
        "stuck": [f"{quoted(each.key, 120)}: failed {each.failures}x{'' if each.over else ', not over'}"
                  for each in found.stuck[-_FEW:]],
        "note": "its calls are not labelled yet" if not found.count
                else needs(found) if found.few else "",
    })  # fmt: skip


def _axis(five: float | None, twenty: float | None, direction: str) -> dict[str, object]:
    known = {"last_5": five, "last_20": twenty}
    return {name: round(value, 2) for name, value in known.items() if value is not None} | (
        {"direction": direction} if five is not None else {}
    )


TOOL = Tool("current_stance",
            "How a session (default: the newest here) moves: thinking or acting, wide or narrow; where stuck.",
            (Param("session"), PROJECT), run)  # fmt: skip
