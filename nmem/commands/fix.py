"""`nmem fix`: finds what fixed an error before, by the error's text."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nmem.commands import terminal
from nmem.commands.learn import refreshed
from nmem.context.choosing import project_of
from nmem.learn.fixes import Answer, fixes, nearest
from nmem.store import project as projects
from nmem.text import fit, printable, to_json

if TYPE_CHECKING:
    from nmem.learn.fixes import Fixed

_MOST = 1_000_000
"""Characters of standard input that are read."""


@click.command()
@click.argument("error", nargs=-1)
@click.option("--project", default="", help="Use this project (name, key or root); default: the current folder's.")
@click.option("--all-projects", is_flag=True, help="Search every project.")
@click.option("--limit", type=terminal.LIMIT, default=5, show_default=True, metavar="N", help="How many to list.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def command(error: tuple[str, ...], project: str, all_projects: bool, limit: int, as_json: bool) -> int:
    """What put ERROR right before: its text, a part of it, or the command that fails; - reads standard input.

    What several sessions of the project met is told first, else what put it right in one session, else what other
    projects know, else what errors with the same words were put right by. Exit code 1: nothing is known.
    """
    text = _given(error)
    found, elsewhere = _found(text, project, limit, everywhere=all_projects)
    if as_json:
        partial = any(each.shared for each in found.fixes)
        said = {"errors": list(found.errors), "elsewhere": elsewhere, "partial": partial,
                "fixes": found.fixes}  # fmt: skip
        click.echo(to_json(said))
    else:
        _say(found, elsewhere=elsewhere or all_projects)
    return 0 if found.fixes else 1


def _given(error: tuple[str, ...]) -> str:
    """The text of the error, from the arguments or from standard input."""
    if error and error != ("-",):
        return " ".join(error)
    if not error and sys.stdin.isatty():
        raise click.UsageError('no error given: nmem fix "its text", or pipe it in')
    text = sys.stdin.read(_MOST)
    if not text.strip():
        raise click.UsageError('no error given: nmem fix "text of the error"')
    return text


def _found(text: str, project: str, limit: int, *, everywhere: bool) -> tuple[Answer, bool]:
    """What is known of it here, else in all projects; whether each is to be named."""
    refreshed()
    with terminal.reading("learnings") as db:
        here = None
        if project:
            here = project_of(db, project)
        elif not everywhere:
            known = projects.here(db, str(Path.cwd()))
            here = known.id if known else None
        places = dict.fromkeys((here, here if project else None))
        for place in places:
            found = fixes(db, text, terminal.now(), place, limit)
            if found.fixes:
                return found, place is None
        for place in places:
            if near := nearest(db, text, terminal.now(), place, limit):
                return Answer(found.errors, near), place is None
        return found, place is None


def _say(found: Answer, *, elsewhere: bool) -> None:
    if not found.fixes:
        what = f"{printable(found.errors[0])}: " if found.errors else ""
        said = "no known fix of this error, nor of one with the same words"
        click.echo(f'{what}{said}; try nmem search "words of it" is:failed', err=True)
        return
    if shared := found.fixes[0].shared:
        words = ", ".join(map(printable, shared))
        said = f"perhaps the same: an error that also has {words} was put right so"
        click.echo(f"this error is not known as it stands; {said}:", err=True)
    for each in found.fixes:
        times = terminal.count(each.sessions, "session")
        where = f", {printable(each.project)}" if elsewhere else ""
        click.echo(f"{printable(' '.join(each.fix.split()))}{_often(each)}")
        click.echo(f"    {fit(printable(each.title), 200)} ({each.id}{where}, met in {times})")


def _often(each: Fixed) -> str:
    return f" ({terminal.count(each.times, 'session')})" if each.times > 1 else ""
