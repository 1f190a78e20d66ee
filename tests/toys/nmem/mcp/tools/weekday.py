"""`weekday`: on which day of the week the newest session of a project ran."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from nmem.mcp.tool import PROJECT, Answer, Tool
from nmem.read import views

if TYPE_CHECKING:
    from nmem.mcp.tool import Ask


def run(ask: Ask) -> Answer:
    """The day in English; nothing where there is no session."""
    newest = views.sessions(ask.db, limit=1)
    day = datetime.fromtimestamp(newest[0].last_at / 1000, UTC).strftime("%A") if newest else ""
    return {"day": day}


TOOL = Tool("weekday", "On which day of the week the newest session ran.", (PROJECT,), run)
