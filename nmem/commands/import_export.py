"""`nmem import --from-export`: merges another memory's export into this one."""

from __future__ import annotations

from dataclasses import asdict

import click

from capture import paths
from nmem.commands.backup import progress
from nmem.commands.terminal import now, wrapped, writing
from nmem.retention import sweep
from nmem.settle_start import start
from nmem.text import to_json
from nmem.transfer import take_in as merging
from nmem.transfer.facts import Folders, Report


def take_in(source: str, moved: tuple[str, ...], *, as_json: bool) -> None:
    """Merge it, and say what is new."""
    pairs = tuple(tuple(each.split("=", 1)) for each in moved)
    if any(len(pair) != 2 or not all(pair) for pair in pairs):
        raise click.UsageError("--folder takes OLD=NEW: /home/me/src=/Users/me/src")
    database = paths.database()
    with progress("Merging") as told:
        report = merging.take_in(database, source, Folders(tuple((pair[0], pair[1]) for pair in pairs)), told)
    if report.prompts or report.observations:
        with writing() as db:
            sweep.anew(db, now())
    begun = start(database)
    if as_json:
        click.echo(to_json(asdict(report)))
        return
    for line in summary(report).split("\n"):
        click.echo(wrapped(line))
    if begun:
        click.echo(wrapped("Stories, threads and learnings follow in the background; `nmem settle` waits for them"))


def summary(report: Report) -> str:
    """What is new, in one or two lines."""
    new = [(number, name) for name, number in asdict(report).items()
           if number and name not in ("known", "redacted", "unreadable", "seconds")]  # fmt: skip
    said = f"New: {', '.join(f'{number:,} {name}' for number, name in new)}" if new else "Nothing new"
    out = [f"{said}; {report.seconds:.1f} s"]
    for number, words in ((report.known, "rows were here already"), (report.redacted, "secrets were taken out"),
                          (report.unreadable, "lines are no record and were left out")):  # fmt: skip
        if number:
            out.append(f"{number:,} {words}")
    return "\n".join(out)
