"""`search`: searches everything recorded, and returns one line per hit."""

from __future__ import annotations

from time import perf_counter_ns
from typing import TYPE_CHECKING

from nmem.errors import NmemError
from nmem.mcp.reply import code, line, name, some, when
from nmem.mcp.tool import CURSOR, PROJECT, Answer, Param, Tool, Usage, limit

if TYPE_CHECKING:
    from nmem.mcp.tool import Ask
    from nmem.search.search import Hit, Results

_SECONDS = 1.0
_BACK = 200_000_000
"""Nanoseconds in which is found what a compaction dropped."""
_QUOTED = 5
"""Hits of which it is told who said it, and what was answered: an answer stays short."""
_FIXES = 3
_ORDERS = ("relevance", "newest")


def run(ask: Ask) -> Answer:
    """The best hits, or the newest, and what to know about them."""
    from nmem.mcp.told import hit  # on use: start-up stays short
    from nmem.search.search import search  # on use: start-up stays short

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
        "hits": [_hit(each, place.name, hit(ask.db, each.id) if at < _QUOTED else {})
                 for at, each in enumerate(found.hits)],
        "dropped": _dropped(ask, text) if not ask.text("cursor") else [],
        "fixes": _fixes(ask, text, place.id) if not ask.text("cursor") else [],
        "team": _others(ask, found, place.id) if not ask.text("cursor") else [],
        "remarks": [line(each, 200) for each in found.remarks], "next": found.next,
    })  # fmt: skip


def _dropped(ask: Ask, text: str) -> list[Answer]:
    """What the session that asks knew before its compaction, the summary left out, and the query speaks of."""
    from nmem.context import giveback  # on use: start-up stays short
    from nmem.context.present import Present  # on use: start-up stays short

    try:
        present = Present(0, ask.session_here(), ask.now, text)
    except NmemError:
        return []  # nothing is recorded of the folder yet
    present.until = perf_counter_ns() + _BACK
    return [some({"id": each.id, "text": each.text, "why": each.reason})
            for each in giveback.spoken_of(ask.db, present)]  # fmt: skip


def _fixes(ask: Ask, text: str, project_id: int | None) -> list[Answer]:
    """What put it right, where the query is an error or a command that failed before."""
    from nmem.learn.fixes import fixes  # on use: start-up stays short

    return [
        some({"id": line(each.id, 80), "error": line(each.title, 160), "fix": line(each.fix, 240),
              "helped": f"in {each.times} of {each.sessions} sessions"})
        for each in fixes(ask.db, text, ask.now, project_id, _FIXES).fixes
    ]  # fmt: skip


def _others(ask: Ask, found: Results, project_id: int | None) -> list[Answer]:
    """What other members of a team said of it."""
    from nmem.search import others  # on use: few share a project with a team

    within = None if project_id is None else (project_id,)
    return [
        some({"id": each.id, "at": when(each.at), "what": each.kind, "author": name(each.who, 80),
              "text": line(each.title, 240), "more": line(each.body, 240)})
        for each in others.found(ask.db, found.query, _FIXES, within)
    ]  # fmt: skip


def _hit(one: Hit, here: str, said: Answer) -> Answer:
    path = "" if one.path and one.path in one.snippet.text else name(one.path, 120)
    return some({
        "id": one.id, "at": when(one.at), "what": one.type if one.kind == "obs" else one.kind, "path": path,
        "text": code(one.snippet.text, 240), **said, "failed": one.outcome == "failed", "pinned": one.pinned,
        "times": one.times if one.times > 1 else 0,
        "superseded_by": line(one.superseded, 120), "project": name(one.project, 80) if one.project != here else "",
    })  # fmt: skip


TOOL = Tool("search",
    "Before deciding how something should behave, or when it fails: what was said, decided, what fixed it.", (
    Param("query", says="words; type:test file:x since:7d client:x is:failed is:pinned narrow it", required=True),
    PROJECT, Param("order", choices=_ORDERS, default="relevance"), limit(12, 50), CURSOR,
), run)  # fmt: skip
