"""`nmem pin` and `nmem unpin`: put an item first in searches and in injected context, or no longer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from nmem.commands import terminal
from nmem.context import pins, review_store
from nmem.context.config import load
from nmem.mcp import tool

if TYPE_CHECKING:
    from sqlite3 import Connection

_UNDO = "`nmem undo` takes it back"


@click.command()
@click.argument("id_", metavar="ID")
@click.option("--everywhere", "where", flag_value="everywhere", help="Tell this item to sessions of every project.")
@click.option("--here", "where", flag_value="here", help="Tell this item only to sessions of its own project again.")
def command(id_: str, where: str | None) -> None:
    """Pin what ID names: obs/12, prompt/5, episode/3, thread/4 or learning/2.

    What is pinned comes first in searches, is told to sessions of its project while there is room (the newest first),
    and is kept. With --everywhere sessions of other projects are told it as well, after their own pins.
    """
    if where is None:
        set_pin(id_, pinned=True)
    else:
        set_everywhere(id_, on=where == "everywhere")


@click.command("unpin")
@click.argument("id_", metavar="ID")
def unpin(id_: str) -> None:
    """Take the pin of ID away: obs/12, prompt/5, episode/3, thread/4 or learning/2."""
    set_pin(id_, pinned=False)


def set_everywhere(id_: str, *, on: bool) -> None:
    """Tell a pin in every project, or in its own alone, and say so."""
    with terminal.writing() as db:
        ref = tool.parse(db, id_)
        pins.everywhere(db, ref.kind, ref.number, on, terminal.now())
    click.echo(f"{ref} is {'pinned, and told in every project' if on else 'told only in its own project'} ({_UNDO})")


def set_pin(id_: str, *, pinned: bool) -> None:
    """Pin or unpin, and say so."""
    with terminal.writing() as db:
        ref = tool.parse(db, id_)
        pins.pin(db, ref.kind, ref.number, pinned, terminal.now())
        left = _left_out(db, ref.kind, ref.number) if pinned else []
        spread = pinned and review_store.told_everywhere(db, str(ref))
    click.echo(f"{ref} is {'pinned' if pinned else 'no longer pinned'} ({_UNDO})")
    if spread:
        click.echo(f"still told in every project: `nmem pin {ref} --here` limits it to its own")
    if left:
        click.echo(f"no room for all pins when a session starts; left out: {', '.join(left)} (`nmem unpin` makes room)")


def _left_out(db: Connection, kind: str, number: int) -> list[str]:
    """What is pinned in the same project and does not fit into what a session that starts is told."""
    from nmem.context.preview import pins_left_out  # on use: start-up stays short

    return pins_left_out(db, f"{kind}/{number}", load().start_tokens, terminal.now())
