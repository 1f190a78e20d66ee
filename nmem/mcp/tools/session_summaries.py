"""`session_summaries`: returns the goals, results, lessons and open ends of recent sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nmem.mcp import told
from nmem.mcp.reply import line, name, some, when
from nmem.mcp.tool import CURSOR, PROJECT, Answer, Tool, limit

if TYPE_CHECKING:
    from nmem.mcp.tool import Ask


def run(ask: Ask) -> Answer:
    """The newest first; one that was not summed up yet tells its last prompt."""
    from nmem.read import listing, store, views  # on use: start-up stays short

    place, many = ask.place, ask.number("limit")
    found = store.summary_page(ask.db, place.id, ask.cursor(), many + 1)
    shown: list[object] = []
    for session_id, *_ in found[:many]:
        row, summary = views.session(ask.db, session_id), listing.summary(ask.db, session_id)
        if row is not None:
            shown.append(some({
                "id": f"session/{line(row.id, 80)}", "at": when(row.last_at), "client": line(row.client, 40),
                "branch": name(row.branch, 80), "project": name(row.project, 80) if row.project != place.name else "",
                **(told.summary(summary) if summary else {"asked_last": line(row.intent, 200)}),
            }))  # fmt: skip
    out: Answer = {"project": name(place.name, 80) or "all", "sessions": shown}
    if len(found) > many:
        out["next"] = ".".join(map(str, found[many - 1][1:]))
    return out


TOOL = Tool(
    "session_summaries",
    "What the last sessions wanted, did, learned and left to do.",
    (PROJECT, limit(5, 30), CURSOR),
    run,
)
