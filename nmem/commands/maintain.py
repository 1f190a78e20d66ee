"""`nmem maintain`: optimizes and compacts the database file."""

from __future__ import annotations

from dataclasses import asdict

import click

from nmem.commands import terminal
from nmem.text import to_json


@click.command()
@click.option("--vacuum/--no-vacuum", default=None, help="Rewrite the file; default: only if that saves space.")
@click.option("--seconds", type=click.FloatRange(min=0.1), default=300.0, show_default=True, help="At most this long.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def command(vacuum: bool | None, seconds: float, as_json: bool) -> None:
    """Merge the text indexes, renew statistics, fold the log back, give empty pages back where that pays.

    It happens by itself once a week when a session is over. Hooks go on meanwhile: what they cannot write at once they
    spool.
    """
    from capture import paths
    from nmem.retention import idle
    from nmem.retention.automatic import within

    with terminal.writing() as db:
        steps = idle.maintain(
            db, paths.database(), terminal.now(), stopped=within(seconds, lambda: False), vacuum=vacuum
        )
    if as_json:
        click.echo(to_json([asdict(one) for one in steps]))
        return
    rows = [(one.name, f"{one.told}{f' ({one.seconds:.1f} s)' if one.done else ''}") for one in steps]
    terminal.say("maintained the file", [("", rows)])
