"""`nmem decisions`: lists decisions made in conversation; keeps, dismisses and rewords them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from nmem.commands import of_others, terminal
from nmem.commands.terminal import Default, number_of
from nmem.decisions import store as decided
from nmem.errors import NmemError
from nmem.store.project import key_of
from nmem.teammates import read as teammates
from nmem.teammates.live import DECISION
from nmem.text import printable, to_json

if TYPE_CHECKING:
    from nmem.decisions.store import Decision

_UNDO = "`nmem undo` takes it back"
_NUMBER = number_of("decision")
_ID = click.argument("decision", type=_NUMBER, metavar="ID")
_QUESTION, _TEXT = 300, 1_000


@click.group(cls=Default)
def command() -> None:
    """Decisions made in conversation: list, show, keep, dismiss, word; `nmem recall remember` writes one down."""


@command.command("list")
@click.option("--project", default="", help="Only this project (name, key or root folder).")
@click.option("--since", metavar="WHEN", help="Only decisions since: 2026-01-31, 7d, 12h, 4w.")
@click.option("--limit", type=terminal.LIMIT, default=20, show_default=True, help="How many to list.")
@click.option("--dismissed", is_flag=True, help="Include dismissed decisions.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def list_(project: str, since: str | None, limit: int, dismissed: bool, as_json: bool) -> None:
    """List decisions made in passing, newest first; a superseded one names its successor."""
    after = terminal.when(since) if since else 0
    with terminal.reading("decisions") as db:
        key = key_of(db, project)
        found = decided.listed(db, key, after, limit, dismissed=dismissed)
        theirs = teammates.listed(db, DECISION, key, after, limit)
    if as_json:
        click.echo(to_json({"decisions": found, **of_others.forms(theirs)}))
        return
    if not found and not theirs:
        click.echo("no decisions: nmem finds them in finished conversations")
    elif not terminal.is_terminal():
        terminal.piped("Decisions", "id at kind project episode superseded question text", map(_tabs, found))
    else:
        many = len({one.project for one in found}) > 1
        terminal.say("Decisions", [(_heading(one, project=many), rows(one)) for one in found])
    of_others.show(theirs)


@command.command()
@_ID
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def show(decision: int, as_json: bool) -> None:
    """Show one decision with its question, the agent's restatement and where it was made."""
    with terminal.reading("decisions") as db:
        found = decided.get(db, decision)
    if found is None:
        raise NmemError(f"there is no decision {decision}: `nmem decisions` lists them")
    if as_json:
        click.echo(to_json(found))
    else:
        terminal.say(_heading(found, project=True), [("", [*rows(found), *_place(found)])])


@command.command()
@_ID
def keep(decision: int) -> None:
    """Confirm a decision: it stays, whatever later rules find."""
    from nmem.decisions import change  # on use: start-up stays short

    with terminal.writing() as db:
        change.keep(db, decision, terminal.now())
    click.echo(f"decision/{decision} is kept ({_UNDO})")


@command.command()
@_ID
def dismiss(decision: int) -> None:
    """Dismiss a false decision: it is never listed or told again, and supersedes nothing."""
    from nmem.decisions import change  # on use: start-up stays short

    with terminal.writing() as db:
        change.dismiss(db, decision, terminal.now())
    click.echo(f"decision/{decision} is dismissed ({_UNDO})")


@command.command()
@_ID
@click.argument("text", nargs=-1, required=True)
def word(decision: int, text: tuple[str, ...]) -> None:
    """Reword a decision as TEXT, if its original words say too little."""
    from nmem.decisions import change  # on use: start-up stays short

    with terminal.writing() as db:
        change.word(db, decision, " ".join(text), terminal.now())
    click.echo(f"decision/{decision} is reworded ({_UNDO})")


def rows(one: Decision) -> list[tuple[str, str]]:
    """A decision as labels and texts, for every command that shows it."""
    found = [
        ("superseded", f"by {one.superseded.told}" if one.superseded else ""),
        ("asked", " ".join(one.question.split())[:_QUESTION]),
        ("decided", " ".join(one.text.split())[:_TEXT]),
        ("you said", " ".join(one.said.split())[:_TEXT] if one.wording else ""),
        ("agent", " ".join(one.restated.split())[:_TEXT]),
    ]
    return [(label, text) for label, text in found if text]


def _place(one: Decision) -> list[tuple[str, str]]:
    found = [
        ("episode", f"episode/{one.unit_id}" if one.unit_id else ""), ("prompt", f"prompt/{one.prompt_id}"),
        ("session", f"session/{one.session_id}"), ("found as", f"{one.kind}, {one.confidence:.0%} sure"),
        ("state", one.state),
    ]  # fmt: skip
    return [(label, text) for label, text in found if text]


def _heading(one: Decision, *, project: bool) -> str:
    at = f"{terminal.day(one.at, terminal.now())}, {terminal.clock(one.at)}"
    parts = (f"decision/{one.id}", at, one.project if project else "", "dismissed" * (one.state == "dismissed"))
    return "  ".join(part for part in parts if part)


def _tabs(one: Decision) -> str:
    cells = (
        f"decision/{one.id}", f"{terminal.local(one.at):%Y-%m-%d %H:%M}", one.kind, one.project,
        f"episode/{one.unit_id}", f"superseded by decision/{one.superseded.id}" if one.superseded else "",
        " ".join(one.question.split())[:_QUESTION], " ".join(one.text.split()),
    )  # fmt: skip
    return "\t".join(printable(cell) for cell in cells)
