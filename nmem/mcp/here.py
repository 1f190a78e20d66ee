"""Finds the session in which the server runs: the one its client named, else the project's newest."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from nmem.errors import NmemError
from nmem.names import cited

if TYPE_CHECKING:
    from nmem.mcp.ask import Ask

_SESSION = "CLAUDE_CODE_SESSION_ID"
"""Where a client tells the programs that it starts which session is theirs."""


def named(ask: Ask) -> str:
    """The session that the client named; empty where it did not, or is in another one by now: clearing makes one."""
    from nmem.read import views

    db, own = ask.db, os.environ.get(_SESSION, "")
    row = views.session(db, own) if own else None
    return own if row is not None and row.state != "ended" else ""


def session(ask: Ask) -> str:
    """The session that is going on in the project that is asked about. Raises NmemError when there is none."""
    from nmem.read import views
    from nmem.stance.read import newest

    if not ask.text("project") and (own := named(ask)):
        return own
    place = ask.place
    found = newest(ask.db, place.key) if place.key else next((row.id for row in views.sessions(ask.db, 1)), None)
    if found is None:
        raise NmemError(f"no session is recorded{f' of {cited(place.name, 80)}' if place.key else ''} yet")
    return found
