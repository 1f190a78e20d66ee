"""Checks the language model: which one writes stories, its cost, and whether it answers (SQL in `nmem.llm.chosen`)."""

from __future__ import annotations

from sqlite3 import Connection

from nmem.audit.finding import NOTE, OK, Finding
from nmem.llm.chosen import standing

_BUSY = 20
"""Sessions of a busy day: a cap that covers fewer is told."""


def findings(db: Connection) -> list[Finding]:
    """One finding: the way at work; a note where it is set up and does not work, or its day's cap is small."""
    found = standing(db)
    if found.problems:
        return [Finding("model", NOTE, found.problems[0], "nmem config check")]
    if not found.used:
        return [Finding("model", OK, f"stories are written without a model{_offered(enabled=found.enabled)}")]
    if found.last_failure:
        said = f"{found.sentence()}; the last question failed ({found.last_failure})"
        return [Finding("model", NOTE, said, "nmem model off")]
    if found.sessions_a_day < _BUSY:
        said = f"{found.sentence()}: the day's cap covers {found.sessions_a_day} sessions"
        return [Finding("model", NOTE, said, "nmem config set llm.daily_token_cap 200000")]
    return [Finding("model", OK, found.sentence(), "nmem model off")]


def _offered(*, enabled: bool) -> str:
    """Whom else to ask is said by the command: a finding reads the same on every machine."""
    return "; `nmem model` offers your own client" if enabled else ": switched off, `nmem model on` asks one again"
