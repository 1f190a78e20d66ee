"""Reads the current state of a session: episode, newest rows, stance, and what would be injected next."""

from __future__ import annotations

from dataclasses import dataclass
from sqlite3 import Connection

from nmem.context import config, preview
from nmem.context.preview import Preview
from nmem.read import episodes, stream, views
from nmem.read.episodes import CurrentUnit
from nmem.read.stream import Query
from nmem.read.views import NowView, StreamRow
from nmem.stance import read as stances
from nmem.stance.model import Stance


@dataclass(frozen=True, slots=True)
class Standing:
    """One session; its rows are the newest, oldest first."""

    view: NowView
    unit: CurrentUnit | None
    stance: Stance | None
    told: Preview
    """What it would be told after a reset."""
    rows: tuple[StreamRow, ...]
    more: bool
    """Whether there are older rows than these."""


def standing(
    db: Connection, session_id: str, at: int, limit: int, query: Query | None = None, *, whole: bool = False
) -> Standing | None:
    """None when there is no such session; `whole`: texts of rows as long as they are."""
    view = views.now(db, session_id, at)
    if view is None:
        return None
    slots = stream.page(db, session_id, None, query or Query(), limit + 1)
    rows = tuple(stream.in_order(db, slots.key[-limit:], whole=whole))
    one = stances.follow(db, session_id, at)
    stance = stances.advance(db, one, at) if one else None
    unit, names, db.row_factory = episodes.current(db, session_id), db.row_factory, None
    told = preview.after_reset(db, session_id, at, config.load().recovery_tokens)
    db.row_factory = names
    return Standing(view, unit, stance, told, rows, len(slots) > limit)


def row_id(row: StreamRow) -> str:
    """Its id, as commands take it."""
    return f"{'obs' if row.key % 2 else 'prompt'}/{row.key // 2}"
