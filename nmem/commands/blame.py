"""`nmem blame`: tells which prompt, episode and decision made a line of a file, and how its tests ended."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import click

from nmem.blame import changes, reasons
from nmem.blame.text import listed, of, rows
from nmem.commands import terminal
from nmem.commands.learn import diff
from nmem.errors import NmemError
from nmem.text import lines, printable, to_json

if TYPE_CHECKING:
    from nmem.blame.reasons import Answer

_LINES = re.compile(r"(.+):(\d{1,9})(?:-(\d{1,9}))?", re.DOTALL)


@click.command()
@click.argument("where", metavar="FILE[:LINE[-LINE]]")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def command(where: str, as_json: bool) -> int:
    """Why a line is as it is: the prompt, the episode and what was decided in it; what failed before, how tests ended.

    A line is explained only where a recorded edit has its text, and its commit was seen made in a session or it is
    not committed yet; else its commit is told, and the edit that had added its text before, if one had. Exit code 1:
    nothing recorded made any of the lines.
    """
    path, first, last = _parsed(where)
    with terminal.reading() as db:
        found = reasons.blame(db, os.path.abspath(path), first, last)  # noqa: PTH100 - links are not followed
    if as_json:
        counts = {"lines": found.lines, "blank": found.blank, "explained": found.explained}
        click.echo(to_json({"file": found.file, **counts, "blocks": found.blocks}))
    else:
        _say(found, whole=not last)
    return 0 if found.explained else 1


def _parsed(where: str) -> tuple[str, int, int]:
    """The file, the first and the last line; 0 for the end. A file that is called so is itself."""
    if not where.strip():
        raise click.UsageError("no file is named: nmem blame src/invoice.py:12")
    found = None if os.path.lexists(where) else _LINES.fullmatch(where)
    if found is None:
        path, colon, said = where.rpartition(":")
        if colon and path and not os.path.lexists(where) and os.path.lexists(path):
            raise click.UsageError(
                f"{printable(where)}: :{printable(said)} names no lines: they are given as :12 or :12-20"
            )
        if os.path.isdir(where):  # noqa: PTH112 - as it is written
            raise click.UsageError(f"{printable(where)} is a folder: name a file in it")
        return where, 1, 0
    first = int(found[2])
    last = int(found[3] or first)
    if not 0 < first <= last:
        raise click.UsageError(f"{printable(where)}: lines are counted from 1, the first before the last")
    if os.path.isdir(found[1]):  # noqa: PTH112 - as it is written
        raise click.UsageError(f"{printable(found[1])} is a folder: name a file in it")
    return found[1], first, last


def _say(found: Answer, *, whole: bool) -> None:
    """Of a whole file a row a block; of lines all that is known."""
    if not whole and not found.explained:
        for one in found.blocks:
            click.echo(of(one))
        return
    if whole:
        heading = f"{found.file}: {found.explained} of {terminal.count(found.written, 'line')} explained"
        terminal.say(heading, [("", list(listed(found.blocks)))])
        if found.explained:
            click.echo(f"\nnmem blame {printable(found.file)}:LINE tells all of a line", err=True)
        return
    terminal.say(found.file, [(one.name.capitalize(), rows(one)) for one in found.blocks])


def changed(kind: str, number: str, *, as_json: bool, whole: bool) -> None:
    """Print what an episode changed, as `nmem show --diff` does. Raises NmemError."""
    if kind != "episode":
        raise click.UsageError("--diff tells of an episode: nmem show episode/12 --diff")
    with terminal.reading() as db:
        found = changes.changes(db, int(number), whole=whole)
    if found is None:
        raise NmemError(f"there is no episode {number}: `nmem episodes` lists them")
    shown = changes.unified(found, whole=whole)
    if as_json:
        click.echo(to_json(found))
    elif not shown:
        click.echo(f"episode {number} changed no file and committed nothing")
    else:
        edits = sum(len(one.hunks) for one in found.files) + found.left_out
        counts = ((len(found.files), "file"), (edits, "edit"), (len(found.commits), "commit"))
        click.echo(" · ".join(terminal.count(number, what) for number, what in counts))
        diff(lines("\n".join(shown), len(shown)))
