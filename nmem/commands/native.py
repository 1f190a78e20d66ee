"""`nmem native`: checks the instructions that clients load for what is stale, contradicted, repeated or dear."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from sqlite3 import Connection
from typing import TYPE_CHECKING

import click

from nmem.commands import terminal
from nmem.errors import NoDatabase
from nmem.text import printable, to_json

if TYPE_CHECKING:
    from nmem.native.review import Report
    from nmem.recall.changes import Change

_UNDO = "`nmem undo` takes it back"


@click.command()
@click.option("--project", default="", metavar="PROJECT",
              help="Use this project (name, key, root or any folder); default: the current folder's.")  # fmt: skip
@click.option("--diff", "as_diff", is_flag=True, help="Print what --apply would write, as a unified diff.")
@click.option("--apply", "write", is_flag=True, help="Show the diff, ask, and write it.")
@click.option("--yes", is_flag=True, help="With --apply: write without asking.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def command(project: str, as_diff: bool, write: bool, yes: bool, as_json: bool) -> int:
    """Check the instructions that coding clients load: CLAUDE.md, AGENTS.md, GEMINI.md, imports and memories.

    Each finding names its file and line, and what it rests on: a commit, a recorded call, a learning, a decision of
    yours. The diff touches only lines that are surely stale or repeated. Exit code 1: something was found.
    """
    from nmem.native import review, told  # on use: start-up stays short

    if as_json and (as_diff or write):
        raise click.UsageError("--json excludes --diff and --apply")
    if yes and not write:
        raise click.UsageError("--yes goes with --apply")
    report = _report(project)
    if as_json:
        click.echo(to_json(told.shape(report)))
    elif as_diff or write:
        return _change(report, review.plan(report), write=write, yes=yes)
    else:
        sections = [(told.heading(one), told.rows(report, one)) for one in report.documents]
        terminal.say(f"Instructions of {report.project}: {told.summary(report)}",
                     [*sections, ("Tokens", told.cost(report))])  # fmt: skip
        if sure := sum(one.sure for one in report.findings):
            click.echo(f"{terminal.count(sure, 'finding')} can be mended: `nmem native --diff` shows how", err=True)
    return 1 if report.findings else 0


def _report(project: str) -> Report:
    """The report of a project; without records of it, from its files and git alone."""
    from nmem.native import review  # on use: start-up stays short

    here = os.getcwd()  # noqa: PTH109 - a string is what is compared
    with ExitStack() as stack:
        try:
            db: Connection | None = stack.enter_context(terminal.reading("learnings"))
        except NoDatabase:
            db = None
        number, name, root = review.place(db, project, here)
        if number is None:
            told = f"nothing is recorded of {printable(name)}: only its files and git are looked at"
            click.echo(f"{told}; --project names another", err=True)
        return review.review(db, number, name, root, str(Path.home()), terminal.now())


def _change(report: Report, planned: list[Change], *, write: bool, yes: bool) -> int:
    """Print the diff, and write it where that is asked for and agreed."""
    from nmem.commands.learn import agreed, diff  # on use: start-up stays short
    from nmem.native import review

    if not planned:
        click.echo("nothing to change: no line is surely stale or repeated", err=True)
        return 1 if report.findings else 0
    diff(review.diff(planned))
    files = sum(len(each.changed) for each in planned)
    if not write or not agreed(f"Write {terminal.count(files, 'file')} in {printable(report.root)}?", yes):
        return 1
    with terminal.writing() as db:
        done = review.apply(db, planned, terminal.now())
    click.echo(f"{terminal.count(done, 'file')} written ({_UNDO})")
    return 0
