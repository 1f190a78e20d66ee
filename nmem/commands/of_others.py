"""Prints what others of the team said, wherever it is shown, under one heading: author, date, words; as JSON too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from nmem.commands import terminal
from nmem.errors import NmemError
from nmem.text import fit, printable, to_json

if TYPE_CHECKING:
    from nmem.teammates.read import Fact

TEAM, HEADING = "team/", "From your team"
_NAME, _TITLE, _BODY = 28, 400, 400
_COLUMNS = "id at kind author project title body"


def forms(found: Sequence[Fact]) -> dict[str, object]:
    """The part of a JSON answer that others said; none where they said nothing."""
    return {"team": [one.form() for one in found]} if found else {}


def show(found: Sequence[Fact], heading: str = HEADING) -> None:
    """Print facts below what is one's own; nothing where there are none."""
    if not found:
        return
    if not terminal.is_terminal():
        terminal.piped(heading, _COLUMNS, map(_tabs, found))
        return
    click.echo()
    many = len({one.project_id for one in found}) > 1
    terminal.say(heading, [("", [(fit(printable(one.who), _NAME), _told(one, project=many)) for one in found])])


def tell(item: str, *, as_json: bool) -> None:
    """Print one fact in full. Raises NmemError where there is none of this id."""
    from nmem.teammates import read  # on use: start-up stays short

    with terminal.reading("team") as db:
        one = read.one(db, item)
    if one is None:
        raise NmemError(
            f"there is no {printable(item)}: it may have been taken away; `nmem search` lists what there is"
        )
    if as_json:
        click.echo(to_json(one.form()))
        return
    facts = [("by", one.who), ("at", f"{terminal.local(one.at):%Y-%m-%d %H:%M}, by the author's clock"),
             ("project", one.project), ("files", ", ".join(one.files))]  # fmt: skip
    more = [(name, "; ".join(map(str, value)) if isinstance(value, list) else str(value))
            for name, value in sorted(one.data.items())]  # fmt: skip
    rows = [(label, text) for label, text in (*facts, *more) if text]
    terminal.say(
        f"{one.kind.capitalize()} of your team: {one.title}", [("", rows), ("Text", [("", one.body)] * bool(one.body))]
    )


def _told(one: Fact, *, project: bool) -> str:
    """Its words, what it says beyond its title, and where and when it was said."""
    at = f"{terminal.day(one.at, terminal.now())} {terminal.clock(one.at)}"
    later = "superseded" if one.data.get("superseded") else str(one.data.get("outcome", "") or "")
    parts = (at, one.kind, one.project if project else "", later, ", ".join(one.files[:2]))
    body = " ".join(one.body.split())[:_BODY]
    return "\n".join(filter(None, (one.title[:_TITLE], body, " · ".join(part for part in parts if part))))


def _tabs(one: Fact) -> str:
    cells = (
        one.id, f"{terminal.local(one.at):%Y-%m-%d %H:%M}", one.kind, one.who, one.project, one.title,
        " ".join(one.body.split())[:_BODY],
    )  # fmt: skip
    return "\t".join(printable(cell) for cell in cells)
