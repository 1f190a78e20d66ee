"""`nmem pin` and `nmem unpin`: what shall come first, and always be told."""

from __future__ import annotations

import click

from nmem.commands import terminal

_UNDO = "`nmem undo` takes it back"


@click.command()
@click.argument("id_", metavar="ID")
def command(id_: str) -> None:
    """Pin what ID names: obs/12, prompt/5, episode/3, thread/4 or learning/2.

    What is pinned comes first in searches, is always told to sessions of its project, and is kept.
    """
    set_pin(id_, pinned=True)


def set_pin(id_: str, *, pinned: bool) -> None:
    """Pin or unpin, and say so."""
    from nmem import pins
    from nmem.mcp import ids

    with terminal.writing() as db:
        ref = ids.parse(db, id_)
        pins.pin(db, ref.kind, ref.number, pinned, terminal.now())
    click.echo(f"{ref} is {'pinned' if pinned else 'no longer pinned'} ({_UNDO})")
