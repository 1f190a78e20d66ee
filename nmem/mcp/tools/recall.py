"""`recall`: finds the project's written decisions by a question."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from capture import paths
from nmem.errors import NmemError
from nmem.mcp.reply import line, lines, name, some
from nmem.mcp.tool import TEXTS, Answer, Param, Tool

if TYPE_CHECKING:
    from nmem.mcp.tool import Ask
    from nmem.recall.resolve import Answer as Found
    from nmem.teammates.read import Fact

_MOST = 10
_CHARS = 24_000
"""Characters of all texts together: as much as a reply may cost."""


def run(ask: Ask) -> Answer:
    """Decisions with their texts; of what is not sure, names to ask for."""
    from nmem.recall import asked, loaded  # on use: start-up stays short
    from nmem.recall.asked import beside

    recall = loaded.here(ask.cwd)
    found = asked.answers(recall, list(ask.texts("queries"))[:_MOST], "")
    session = _session(ask)
    ask.close()
    asked.note(paths.database(), recall.place, found, asked.AGENT, session)
    share = _CHARS // max(1, sum(bool(each.body) for each in found))
    told: Answer = {"answers": [_told(each, share) for each in found]}
    if theirs := beside(paths.database(), recall.place, found):
        told["team"] = [_by_another(one, share) for one, _ in theirs]
    return told | {"warnings": [line(one, 300) for one in recall.warnings[:3]]} if recall.warnings else told


def _session(ask: Ask) -> str:
    """The session that asks; "" where none is recorded or can be read: decisions are told all the same."""
    try:
        return ask.session_here()
    except (NmemError, sqlite3.Error):
        return ""


def _told(one: Found, share: int) -> Answer:
    from nmem.recall.asked import safe  # on use: start-up stays short

    return some({
        "query": line(one.query, 200), "decision": line(one.heading, 200), "text": safe(one.body)[:share],
        "cut": len(one.body) > share, "source": name(f"{one.file}:{one.line}", 200) if one.file else "",
        "broader": [line(each, 200) for each in one.broader], "related": [line(each, 200) for each in one.related[:8]],
        "says": line(one.said, 300), "or": [line(each.link, 200) for each in one.offers],
    })  # fmt: skip


def _by_another(one: Fact, share: int) -> Answer:
    """What another member of the team wrote down."""
    return some({"decision": line(one.title, 200), "author": name(one.who, 80), "text": lines(one.body, share)})


TOOL = Tool("recall", "Decisions written for this project: how to, when to.",
            (Param("queries", TEXTS, required=True),), run)  # fmt: skip
