"""`nmem cost`: what sessions cost in tokens and money, by session, episode, thread, project, day or model."""

from __future__ import annotations

import sqlite3
from shutil import get_terminal_size

import click

from capture.storage.schema import NewerDatabase
from nmem.commands import terminal
from nmem.cost import prices, read, screenful, store, usage
from nmem.errors import NmemError
from nmem.store import project as projects
from nmem.text import printable, to_json

_BOLD = {screenful.HEAD: "bold", screenful.TOTAL: "bold", screenful.WARN: "yellow", screenful.COLUMNS: "dim"}
_PIPED = 100
"""Cells of a line where no person reads it."""
_PASSED = 3
"""The exit code where a budget is passed: 1 and 2 say that nothing could be told."""


@click.command()
@click.option("--by", type=click.Choice(store.BY), default="day", show_default=True, help="What the rows are.")
@click.option("--since", metavar="WHEN", help="Only answers since: 2026-01-31, 7d, 12h, 4w.")
@click.option("--project", default="", help="Only this project (name, key or root folder).")
@click.option("--limit", type=terminal.LIMIT, default=12, show_default=True, metavar="N", help="How many rows to list.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output, with every row.")
def command(by: str, since: str | None, project: str, limit: int, as_json: bool) -> int:
    """What sessions cost: tokens from the clients' transcripts, money from a table of prices.

    `written` and `cached` are tokens written to and read from the cache of prompts. What nmem itself costs stands
    below. Your own prices go into prices.json beside config.toml. Exit code 1: no usage is known; 3: a budget of yours
    is passed (`nmem config set cost.budget_day 20`, cost.budget_month).
    """
    after = terminal.when(since) if since else 0
    if after > terminal.now():
        raise click.UsageError(f"--since: {printable(since or '')} has not come yet")
    table = prices.load()
    note = _brought_up()
    with terminal.reading("usage") as db:
        known = projects.named(db, project) if project else None
        found = read.report(
            db, table, terminal.now(), by=by, since=after, project=(known.id, known.name) if known else None
        )
    if as_json:
        click.echo(to_json(screenful.to_dict(found)))
    elif found.total.answers and not terminal.is_terminal():
        terminal.piped(*screenful.piped(found, limit, since or ""))
    else:
        for text, kind in screenful.lines(found, _cells(), limit, since or ""):
            click.echo(_shown(text, kind))
    if note:
        click.echo(note, err=True)
    if any(one.passed for one in found.budgets):
        return _PASSED
    return 0 if found.total.answers else 1


def _brought_up() -> str:
    """Take in what transcripts have since; why not, in words. Where the database cannot be written, what is known is
    read."""
    try:
        with terminal.writing() as db:
            usage.take_in(db)
    except (NmemError, sqlite3.Error, OSError, NewerDatabase) as error:
        return f"not brought up to date: {error}"
    return ""


def _cells() -> int:
    return get_terminal_size().columns if terminal.is_terminal() else _PIPED


def _shown(text: str, kind: str) -> str:
    style = _BOLD.get(kind)
    if style is None or not terminal.is_terminal():
        return text
    return click.style(text, bold=style == "bold", dim=style == "dim", fg=style if style == "yellow" else None)
