"""`nmem export`: writes sessions for another machine, or as lines of JSON."""

from __future__ import annotations

import os
import sqlite3
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import click

from capture import paths
from nmem import upgrade
from nmem.backup.copying import held
from nmem.commands import terminal
from nmem.errors import NmemError
from nmem.purge.history import chosen_since
from nmem.store.project import key_of
from nmem.store.trace import traces
from nmem.text import printable, to_json
from nmem.transfer import outgoing
from nmem.transfer.outgoing import write_lines, write_tables

FORMATS = ("jsonl", "sqlite")


@click.command()
@click.argument("file", required=False, default="", metavar="[FILE|-]")
@click.option("--format", "form", type=click.Choice(FORMATS), help="Default: by FILE's ending, else jsonl.")
@click.option("--project", default="", help="Only sessions of this project (name, key or root folder).")
@click.option("--since", metavar="WHEN", help="Only sessions active since: 2026-01-31, 7d, 12h, 4w.")
@click.option("--json", "as_json", is_flag=True, help="Print a summary as one JSON object; needs FILE.")
def command(file: str, form: str | None, project: str, since: str | None, as_json: bool) -> None:
    """Write sessions as lines of JSON (facts, pins, markers), or as a file of tables (episodes, threads, learnings and
    your corrections as well). `nmem import --from-export` takes both in.

    Without FILE, lines go to standard output.
    """
    form = form or ("sqlite" if Path(file).suffix in (".db", ".sqlite") else "jsonl")
    to_output = file in ("", "-")
    if to_output and form == "sqlite":
        raise click.UsageError("--format sqlite needs FILE")
    if to_output and as_json:
        raise click.UsageError("--json needs FILE")
    if not to_output and Path(file).exists():
        raise NmemError(f"{file} exists already: name another file")
    at = terminal.when(since) if since else None
    begun = time.monotonic()
    try:
        counts = _write(file, form, project, at, to_output=to_output)
    except BrokenPipeError:
        raise
    except (sqlite3.Error, OSError) as error:
        raise NmemError(f"{file or paths.database()}: {getattr(error, 'strerror', None) or error}") from None
    if to_output:
        return
    size = Path(file).stat().st_size
    seconds = time.monotonic() - begun
    if as_json:
        click.echo(to_json({"path": file, "format": form, "bytes": size, "rows": counts, "seconds": round(seconds, 3)}))
        return
    said = ", ".join(f"{number:,} {name.replace('work_units', 'episodes')}" for name, number in counts.items())
    click.echo(f"{printable(file)}: {said}; {size / 1e6:,.1f} MB, {seconds:.1f} s")


def _write(file: str, form: str, project: str, since: int | None, *, to_output: bool) -> dict[str, int]:
    path = paths.database()
    upgrade.reader(path).close()
    with held(path) as db:
        sessions = outgoing.sessions(db, key_of(db, project), since)
        if chosen_since(db):
            click.echo("nmem: your redaction rules changed since stored texts were gone over: this export may hold what"
                       " they remove; `nmem redact --history` shows it, and asks", err=True)  # fmt: skip
        if form == "sqlite":
            return write_tables(path, sessions, file)
        _warn(db, sessions)
        if to_output:
            found = write_lines(db, sessions, sys.stdout.buffer)
            sys.stdout.buffer.flush()
        else:
            try:
                with os.fdopen(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as out:
                    found = write_lines(db, sessions, out)
            except BaseException:
                Path(file).unlink(missing_ok=True)
                raise
        return {f"{name}s": number for name, number in found.items()}


def _warn(db: sqlite3.Connection, sessions: Sequence[str]) -> None:
    """Say what lines cannot carry."""
    calls, of = traces(db, sessions)
    if calls:
        click.echo(
            f"{calls:,} older calls of {of:,} sessions are kept only as traces: lines of JSON omit them,"
            " --format sqlite includes them",
            err=True,
        )
