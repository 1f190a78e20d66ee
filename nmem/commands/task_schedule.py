"""`nmem task schedule`: installs or removes a timer that runs due tasks, after a preview."""

from __future__ import annotations

import sys

import click

from nmem.errors import NmemError
from nmem.text import lines, printable


@click.command("schedule")
@click.option(
    "--every", type=click.IntRange(1, 1439), default=5, show_default=True, metavar="MINUTES", help="How often."
)
@click.option("--systemd", "way", flag_value="systemd", help="Use a systemd user timer.")
@click.option("--cron", "way", flag_value="cron", help="Use a line of your crontab.")
@click.option("--remove", is_flag=True, help="Remove the timer.")
@click.option("--dry-run", is_flag=True, help="Show what would be written, and write nothing.")
@click.option("--yes", is_flag=True, help="Write without asking.")
def schedule_(every: int, way: str | None, remove: bool, dry_run: bool, yes: bool) -> None:
    """Run due tasks every few minutes, by a systemd timer or by cron."""
    from nmem.dispatch import schedule
    from nmem.dispatch.config import load

    if remove:
        for gone in schedule.remove() or ["nothing: nmem has no timer"]:
            click.echo(f"removed: {printable(gone)}")
        return
    chosen = schedule.way(way or "") if not (dry_run and way) else way
    made = schedule.plan(every, chosen or schedule.SYSTEMD)
    click.echo("\n".join(lines(made.shown)))
    config = load()
    if config.agents_may and not config.agents_ask:
        click.echo('# starts tasks queued by agents, too; `[dispatch] agent_tasks = "ask"` makes them wait for you')
    if dry_run:
        return
    if not yes:
        if not sys.stdin.isatty():
            raise NmemError("no terminal to ask on: --yes writes without asking")
        if not click.confirm("Write it?", default=False):
            return
    schedule.write(made)
    click.echo("written (`nmem task schedule --remove` removes it)")
