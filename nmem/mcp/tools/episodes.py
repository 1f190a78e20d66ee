"""`episodes`: lists episodes of work, or the episodes of one theme."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nmem.mcp.reply import line, name, some, when
from nmem.mcp.told import episode_line
from nmem.mcp.tool import CURSOR, PROJECT, Answer, Param, Tool, limit
from nmem.read.episode_store import Filter

if TYPE_CHECKING:
    from nmem.mcp.tool import Ask


def run(ask: Ask) -> Answer:
    """An index, the newest first."""
    return _themes(ask) if ask.text("by") else _episodes(ask)


def _themes(ask: Ask) -> Answer:
    """What the work is about: a line a theme, its `id` a query for its episodes."""
    from nmem import themes  # on use: start-up stays short

    place, many = ask.place, ask.number("limit")
    found = themes.themes(ask.db, place.key, limit=many + 1)
    shown = [
        some({"id": f"theme:{each.id}", "about": line(": ".join(filter(None, (each.label, each.example))), 120),
              "episodes": each.episodes, "sessions": each.sessions, "at": when(each.last_at),
              "project": name(each.project, 80) if each.project != place.name else ""})
        for each in found[:many]
    ]  # fmt: skip
    out: Answer = {"project": name(place.name, 80) or "all", "themes": shown}
    if len(found) > many:
        out["left"] = "more themes: a larger limit"
    return out


def _episodes(ask: Ask) -> Answer:
    from nmem.read import episodes  # on use: start-up stays short

    place, many = ask.place, ask.number("limit")
    cursor = ask.cursor()
    before = episodes.Slot(*cursor, None) if cursor else None
    page = episodes.page(ask.db, before, Filter(ask.text("query")), many + 1, place.key)
    slots = page.slots[:many]
    known = episodes.rows(ask.db, [slot.id for slot in slots])
    shown = [episode_line(known[slot.id], place.name) for slot in slots if slot.id in known]
    out: Answer = {"project": name(place.name, 80) or "all", "episodes": shown}
    if len(page.slots) > many:
        out["next"] = f"{slots[-1].last_at}.{slots[-1].id}"
    return out


TOOL = Tool("episodes", "Tasks worked on, newest first: name, outcome, thread.", (
    Param("query", says="words, file:x, thread:x, theme:1, is:failed, is:committed, is:open"),
    Param("by", choices=("themes",)), PROJECT, limit(15, 60), CURSOR,
), run)  # fmt: skip
