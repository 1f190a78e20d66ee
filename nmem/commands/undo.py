"""`nmem undo`: takes back the newest correction."""

from __future__ import annotations

import os
import sys

import click

from capture import paths
from capture.project import resolve
from nmem import undo
from nmem.commands import terminal
from nmem.context import candidate_store
from nmem.errors import NmemError
from nmem.purge.run import for_good
from nmem.text import printable, to_json


@click.command()
@click.option("--list", "listing", is_flag=True, help="List corrections, and undo nothing.")
@click.option("--dry-run", is_flag=True, help="Say what the next undo takes back, and change nothing.")
@click.option("--yes", is_flag=True, help="Change files of another project's folder without asking.")
@click.option("--limit", type=terminal.LIMIT, default=20, show_default=True, help="How many to list.")
@click.option("--json", "as_json", is_flag=True, help="With --list: one JSON object on standard output.")
def command(listing: bool, dry_run: bool, yes: bool, limit: int, as_json: bool) -> None:
    """Take back your newest correction; again for the one before it."""
    from nmem.settle import at_once  # on use: start-up stays short

    if as_json and not listing:
        raise click.UsageError("--json goes with --list")
    if dry_run:
        with terminal.reading() as db:
            following = undo.foreseen(db)
        if following is None:
            raise NmemError("nothing to undo")
        when = f"{terminal.day(following.at, terminal.now())} {terminal.clock(following.at)}"
        where = f", in {printable(', '.join(following.folders))}" if following.folders else ""
        click.echo(f"would undo: {following.what} ({when}, 1 of {following.steps}{where})")
        return
    if not listing:
        if not _meant(yes=yes):
            raise NmemError("nothing was undone")
        with terminal.writing() as db:
            said = undo.undone(db, terminal.now())
            behind = candidate_store.behind(db)
        click.echo(said)
        if behind:
            at_once(paths.database())
        return
    with terminal.reading() as db:
        found = undo.history(db, limit)
    if as_json:
        each = [
            {"id": one.id, "at": one.at, "kind": one.kind, "target": one.target, "payload": one.payload,
             "undone_at": one.undone_at, "said": undo.describe(one)} for one in found
        ]  # fmt: skip
        click.echo(to_json({"corrections": each}))
        return
    if not found:
        click.echo("no corrections")
        return
    today = terminal.now()
    rows = [
        (f"{terminal.day(one.at, today)} {terminal.clock(one.at)}",
         undo.describe(one) + (" (undone)" if one.undone_at is not None and not for_good(one) else "")) for one in found
    ]  # fmt: skip
    terminal.say("Corrections, the newest first", [("", rows)])


def _meant(*, yes: bool) -> bool:
    """Whether the next undo shall be: a person is asked where it changes files of another project's folder."""
    if yes:
        return True
    with terminal.reading() as db:
        following = undo.foreseen(db)
    here = os.getcwd()  # noqa: PTH109 - a string is what is compared
    if following is None or not following.folders or any(_same(each, here) for each in following.folders):
        return True
    told = f"This changes files of another folder, {printable(', '.join(following.folders))}: {following.what}"
    if not sys.stdin.isatty():
        raise NmemError(f"{told}. --yes undoes it all the same")
    return click.confirm(f"{told}. Undo it?", default=False)


def _same(folder: str, here: str) -> bool:
    """Whether two folders belong to one project, or one lies in the other."""
    first, second = (os.path.realpath(each) + os.sep for each in (folder, here))
    if first.startswith(second) or second.startswith(first):
        return True
    return resolve(folder).key == resolve(here).key
