"""`nmem count`: how many sessions are recorded."""

from __future__ import annotations

import click

from nmem.commands.terminal import reading
from nmem.read import views


@click.command("count")
def command() -> None:
    """Print the number of sessions that are recorded."""
    with reading("sessions") as db:
        click.echo(len(views.sessions(db, limit=1_000)))
