"""`file_history`: lists the episodes that touched a file, with their outcomes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from capture.project import resolve
from nmem.mcp.reply import line, name, some, when
from nmem.mcp.tool import CURSOR, PROJECT, Answer, Param, Tool, limit
from nmem.names import cited
from nmem.sanitize import quoted

if TYPE_CHECKING:
    from nmem.mcp.tool import Ask
    from nmem.read.file_history import Touch

_NAMES = 6


def run(ask: Ask) -> Answer:
    """An index of episodes, the newest first."""
    from nmem.read.file_history import beside, history  # on use: start-up stays short

    place = ask.place
    path = beside(ask.text("path").removeprefix("file/"), ask.cwd, resolve(ask.cwd).root)
    found = history(ask.db, path, place.id, ask.number("limit"), ask.cursor())
    if not found.total:
        where = f"of {cited(place.name, 80)}" if place.key else "of any project"
        said = f"no {cited(path, 120)} is recorded {where}: search file:{cited(path.rpartition('/')[2], 60)}"
        return {"path": name(path, 300), "episodes": [], "remarks": [said]}
    out: Answer = {"path": name(path, 300), "episodes": [_touch(one, place.name) for one in found.touches]}
    out |= {"known_as": [name(each, 300) for each in found.names[:_NAMES]]} if len(found.names) > 1 else {}
    if found.forgotten:
        out["remarks"] = [f"{found.forgotten} older calls are known by their trace only"]
    if found.more:
        out["next"] = f"{found.touches[-1].last_at}.{found.touches[-1].newest}"
    return out


def _touch(one: Touch, here: str) -> Answer:
    from nmem.mcp.told import ended  # on use: start-up stays short

    episode = one.episode
    return some({
        "id": f"episode/{one.unit_id}" if one.unit_id else f"session/{line(one.session_id, 80)}",
        "at": when(one.last_at), "name": line(episode.name, 120) if episode else "",
        "outcome": ended(episode) if episode else "", "reads": one.reads, "edits": one.edits, "failures": one.failures,
        "named": one.others, "decisions": [f"obs/{each.id} {quoted(each.text, 200)}" for each in one.decisions],
        "client": one.client, "project": name(one.project, 80) if one.project != here else "",
    })  # fmt: skip


TOOL = Tool("file_history", "Who read, changed or failed on a file: episodes, outcomes, decisions, newest first.",
            (Param("path", required=True), PROJECT, limit(12, 60), CURSOR), run)  # fmt: skip
