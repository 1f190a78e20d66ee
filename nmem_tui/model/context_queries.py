"""Queries of the screen Context: a preview of the next injection, past injections, and whether they help."""

from __future__ import annotations

from dataclasses import dataclass
from sqlite3 import Connection
from typing import NamedTuple

from nmem.context import config, past, present, preview
from nmem.context.past import Effect, Past, effect
from nmem.context.preview import Asked, Preview
from nmem.read import views
from nmem.read.views import SessionRow
from nmem_tui.model.now_queries import Whose, pick

START, PROMPT, RESET, PAST = "start", "prompt", "reset", "past"
MODES = (START, PROMPT, RESET, PAST)
LIMIT = 200


class Wanted(NamedTuple):
    """Whose context, what is asked, and how long it may be; `budget` 0: as configured."""

    mode: str
    whose: Whose
    prompt: str = ""
    budget: int = 0


@dataclass(frozen=True, slots=True)
class Shown:
    """What would be told; `found` is None while nothing is asked yet."""

    wanted: Wanted
    session: SessionRow
    found: Preview | None
    configured: int
    """The budget that the configuration names, in tokens."""


@dataclass(frozen=True, slots=True)
class Told:
    """What was told in the project of a session."""

    session: SessionRow
    past: Past


def session(db: Connection, wanted: Wanted) -> SessionRow | None:
    """The session that the screen is about; None where nothing is recorded."""
    number = pick(db, wanted.whose)
    return views.session(db, number) if number else None


def shown(db: Connection, wanted: Wanted) -> Shown | None:
    """What would be told."""
    row = session(db, wanted)
    if row is None:
        return None
    configured = budget(wanted.mode)
    most = wanted.budget or configured
    db.row_factory = None
    found: Preview | None = None
    if wanted.mode == RESET:
        found = preview.after_reset(db, row.id, wanted.whose.at, most)
    elif wanted.mode == START or wanted.prompt:
        found = preview.of(db, Asked(prompt=wanted.prompt, now=wanted.whose.at, like=row.id), most)
    return Shown(wanted, row, found, configured)


def budget(mode: str) -> int:
    """The tokens that the configuration allows."""
    known = config.load()
    return {START: known.start_tokens, PROMPT: known.prompt_tokens, RESET: known.recovery_tokens}.get(mode, 0)


def told(db: Connection, wanted: Wanted) -> Told | None:
    """What was told, the newest first."""
    row = session(db, wanted)
    return None if row is None else Told(row, past.past(db, _project(db, row), LIMIT))


def worth(db: Connection, row: SessionRow) -> Effect:
    """Whether telling helps in the project of a session."""
    return effect(db, _project(db, row))


def after_reset(db: Connection, session_id: str, at: int) -> Preview:
    """What one session would be told after a reset, as configured."""
    db.row_factory = None
    return preview.after_reset(db, session_id, at, budget(RESET))


def _project(db: Connection, row: SessionRow) -> int:
    known = present.read(db, row.id, row.last_at)
    return known.project_id if known else 0
