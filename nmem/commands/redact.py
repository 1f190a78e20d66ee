"""`nmem redact`: standard input to standard output, without its secrets; or history, in place."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import click

from capture.redaction import redact
from capture.text import clean

if TYPE_CHECKING:
    from nmem.purge.history import Pass

_BEGIN, _END, _KEY = "-----BEGIN ", "-----END ", "PRIVATE KEY"
_LONGEST_KEY = 400
"""Lines of one key; a BEGIN without an END does not hold the stream up for ever."""


def _pieces(lines: Iterable[str]) -> Iterator[str]:
    """Line by line, but a private key in one piece."""
    held: list[str] = []
    for line in lines:
        if held or (_BEGIN in line and _KEY in line):
            held.append(line)
            if _closed(line) or len(held) > _LONGEST_KEY:
                yield "".join(held)
                held = []
        else:
            yield line
    if held:
        yield "".join(held)


def _closed(line: str) -> bool:
    end = line.rfind(_END)
    return end >= 0 and end > line.rfind(_BEGIN)


@click.command()
@click.option("--stats", is_flag=True, help="How many secrets of each kind, as JSON on stderr.")
@click.option("--history", is_flag=True, help="Go over all that is stored, by the rules in force now; no undo.")
@click.option("--dry-run", is_flag=True, help="With --history: say what would be taken out, and change nothing.")
@click.option("--yes", is_flag=True, help="With --history: do not ask.")
@click.option("--json", "as_json", is_flag=True, help="With --history: one JSON object; with --yes or --dry-run.")
def command(*, stats: bool, history: bool, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Take the secrets out of standard input, line by line.

    What is left is what nmem would store of the same text.
    """
    if history:
        if as_json and not (yes or dry_run):
            raise click.UsageError("--json goes with --yes or --dry-run")
        _history(dry_run, yes, as_json)
        return
    if dry_run or yes or as_json:
        raise click.UsageError("--dry-run, --yes and --json go with --history")
    counts: dict[str, int] = {}
    lines = (raw.decode("utf-8", "replace") for raw in sys.stdin.buffer)
    for piece in _pieces(lines):
        end = "\n" if piece.endswith("\n") else ""
        changed = redact(clean(piece.removesuffix("\n")), counts)
        sys.stdout.buffer.write((changed + end).encode())
        sys.stdout.buffer.flush()
    if stats:
        click.echo(json.dumps(counts, sort_keys=True), err=True)


def _history(dry_run: bool, yes: bool, as_json: bool) -> None:
    """Show what would go, ask, do it."""
    from nmem.commands import terminal
    from nmem.errors import NmemError
    from nmem.purge import history

    if dry_run or not yes:
        with terminal.reading("sessions") as db:
            done = history.preview(db)
        _told(done, True, as_json)
        if dry_run:
            return
        click.echo("This cannot be undone: what it takes out is kept nowhere. `nmem backup` first keeps a way back.")
        if not click.confirm("Take it out?", err=True):
            raise NmemError("nothing was changed")
    with terminal.writing() as db:
        done = history.over(db, terminal.now())
    _told(done, False, as_json)


def _told(done: Pass, dry_run: bool, as_json: bool) -> None:
    from nmem.commands import terminal
    from nmem.purge import said as words

    if as_json:
        told = {"strings": done.strings, "rows": done.rows, "counts": done.counts, "by_table": done.by_table}
        click.echo(json.dumps({**told, "unchecked": done.unchecked, "changed": not dry_run}, sort_keys=True))
        return
    verb = "would be taken" if dry_run else "taken"
    secrets = [(kind, str(number)) for kind, number in done.counts.most_common()]
    places = [(name, str(number)) for name, number in words.places(done.by_table)]
    said = f"{done.counts.total()} secrets {verb} out of {terminal.count(done.rows, 'row')}"
    looked = f"{terminal.count(done.strings, 'text')} looked at"
    if done.unchecked:
        looked += f", {done.unchecked} left as they are: a pattern of yours takes too long for them"
    terminal.say(f"{said}; {looked}", [("By kind", secrets), ("Rows by what they are", places)])
