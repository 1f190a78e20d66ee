"""`nmem unpin`: removes a pin."""

from __future__ import annotations

import click

from nmem.commands.pin import set_pin


@click.command()
@click.argument("id_", metavar="ID")
def command(id_: str) -> None:
    """Take the pin of ID away: obs/12, prompt/5, episode/3, thread/4 or learning/2."""
    set_pin(id_, pinned=False)
