"""`search`: one query over everything that is recorded, as an index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nmem.mcp.reply import code, line, some, when
from nmem.mcp.tool import CURSOR, PROJECT, Answer, Param, Tool, Usage, limit

if TYPE_CHECKING:
    from nmem.mcp.ask import Ask
    from nmem.search.search import Hit

_SECONDS = 1.0
_ORDERS = ("relevance", "newest")


def run(ask: Ask) -> Answer:
    """The best hits, or the newest, and what to know about them."""
    from nmem.search.search import search

    text, place = ask.text("query"), ask.place
    try:
        found = search(
            ask.db, text, ask.now, order=ask.text("order"), limit=ask.number("limit"), cursor=ask.text("cursor"),
            seconds=_SECONDS, outer=ask.over,
            projects=(place.id,) if place.id is not None else (),
        )  # fmt: skip
    except ValueError as error:
        raise Usage(line(error, 200)) from None
    return some({
        "found": f"{found.found}+" if found.more else str(found.found),
        "hits": [_hit(each, place.name) for each in found.hits],
        "remarks": [line(each, 200) for each in found.remarks], "next": found.next,
    })  # fmt: skip


def _hit(one: Hit, here: str) -> Answer:
    path = "" if one.path and one.path in one.snippet.text else line(one.path, 120)
    return some({
        "id": one.id, "at": when(one.at), "what": one.type if one.kind == "obs" else one.kind, "path": path,
        "text": code(one.snippet.text, 240), "failed": one.outcome == "failed", "pinned": one.pinned,
        "times": one.times if one.times > 1 else 0, "project": line(one.project, 80) if one.project != here else "",
    })  # fmt: skip


TOOL = Tool(
    "search",
    "Find in past sessions: prompts, reasoning, calls, errors, files, tasks, learnings, notes. Gives ids.",
    (
        Param("query", says="words; type:test file:x since:7d client:x is:failed is:pinned narrow it", required=True),
        PROJECT,
        Param("order", choices=_ORDERS, default="relevance"),
        limit(12, 50),
        CURSOR,
    ),
    run,
)
