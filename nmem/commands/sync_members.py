"""The part of `nmem sync` that is about people: who is in the team, and whom one does not want to hear.

`add_members(group)` puts its commands into the group of `nmem sync`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from nmem.commands import terminal
from nmem.teammates import members as people
from nmem.teammates.live import KINDS
from nmem.text import printable, to_json

if TYPE_CHECKING:
    from nmem.teammates.members import Member

_MEMBER = click.argument("member")


def add_members(group: click.Group) -> None:
    """Put the commands about members into a group."""
    for each in (members, mute, unmute):
        group.add_command(each)


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def members(as_json: bool) -> None:
    """List the members of the team: role, when last heard of, what they shared, and whether you muted them."""
    with terminal.reading("team") as db:
        found = people.members(db)
    if as_json:
        click.echo(to_json({"members": [_form(one) for one in found]}))
    elif not terminal.is_terminal():
        terminal.piped("Members", "author role heard muted episodes decisions learnings recall", map(_tabs, found))
    elif not found:
        click.echo(people.NO_TEAM)
    else:
        rows = [(printable(one.author), _told(one)) for one in found]
        terminal.say(f"Team {found[0].team}", [("", rows)])


@click.command()
@_MEMBER
def mute(member: str) -> None:
    """Hear MEMBER no longer: nothing of theirs is shown or told, on any of your screens and in any session.

    It stays stored, and their work goes on; `nmem sync unmute` shows it again.
    """
    with terminal.writing() as db:
        name = people.mute(db, member, muted=True)
    click.echo(f"{printable(name)} is muted (`nmem sync unmute {printable(name)}` shows their work again)")


@click.command()
@_MEMBER
def unmute(member: str) -> None:
    """Hear MEMBER again: what they share is shown and told as before."""
    with terminal.writing() as db:
        name = people.mute(db, member, muted=False)
    click.echo(f"{printable(name)} is heard again")


def _heard(one: Member) -> str:
    return f"{terminal.local(one.last_at):%Y-%m-%d %H:%M}" if one.last_at else ""


def _told(one: Member) -> str:
    """A member in a line."""
    heard = f"last heard {_heard(one)}" if one.last_at else "not heard yet"
    parts = ("you" if one.own else "", one.role and f"logs in as {one.role}", heard, one.told, "muted" * one.muted)
    return " · ".join(part for part in parts if part)


def _form(one: Member) -> dict[str, object]:
    return {
        "team": one.team, "author": one.author, "role": one.role, "last_at": one.last_at or None,
        "facts": dict(one.facts), "muted": one.muted, "you": one.own,
    }  # fmt: skip


def _tabs(one: Member) -> str:
    counts = (str(one.facts.get(kind, 0)) for kind in KINDS)
    cells = (one.author, one.role, _heard(one), "muted" * one.muted, *counts)
    return "\t".join(printable(cell) for cell in cells)
