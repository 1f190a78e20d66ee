"""`nmem import`: loads past sessions from the transcripts of clients, or merges an export of another memory."""

from __future__ import annotations

import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import click

from capture import paths
from capture.storage import store
from capture.storage.schema import NewerDatabase, fold
from nmem import tables
from nmem.commands.backup import progress
from nmem.commands.terminal import LIMIT, day, now, progress_bar, when, wrapped, writing
from nmem.cost import usage as cost
from nmem.database import worded
from nmem.episodes import detect
from nmem.episodes.store import undivided
from nmem.errors import NmemError
from nmem.importing.discover import Transcript, every, find
from nmem.importing.importer import Importer, Report, left, place
from nmem.purge import history, run
from nmem.purge.store import hollow
from nmem.retention import policy, sweep
from nmem.settle_start import start
from nmem.text import counted, printable, to_json
from nmem.transfer import take_in as merging
from nmem.transfer.incoming import Folders
from nmem.transfer.incoming import Report as MergeReport

_LATEST = 253_402_300_799_000
"""The last second of the year 9999, in milliseconds."""
_WAIT = 10.0
_KINDS = 4
"""Kinds of skipped records that are named."""


@click.command()
@click.argument("where", metavar="[PATH]...", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--client", type=click.Choice(every()), help="Only this client's sessions; with PATH, the client that wrote it."
)
@click.option("--since", metavar="WHEN", help="Only sessions active since: 2026-01-31, 7d, 12h, 4w.")
@click.option("--limit", type=LIMIT, metavar="N", help="Only the N newest sessions.")
@click.option(
    "--from-export", "export", metavar="FILE", help="Import a file of `nmem export`, or another memory's database."
)
@click.option(
    "--folder", "moved", multiple=True, metavar="OLD=NEW", help="With --from-export: a folder there, and its path here."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def command(
    where: tuple[Path, ...], client: str | None, since: str | None, limit: int | None, export: str | None,
    moved: tuple[str, ...], as_json: bool,
) -> None:  # fmt: skip
    """Load past sessions from the files that coding clients keep.

    Without PATH, looks where Claude Code, Codex, Gemini CLI, Qwen Code, Copilot CLI, OpenCode, Cline, Roo Code and
    Goose keep theirs, and in this folder for aider's and SpecStory's. It can be stopped at any time and goes on where
    it was; what is stored already is not stored again. Everything is redacted on the way in.

    Goose, Roo Code and Cursor's exported chats (given as PATH) are untried: read as their formats are published.
    """
    if export or moved:
        if where or client or since or limit or not export:
            raise click.UsageError("--from-export FILE takes only --folder OLD=NEW")

        take_in(export, moved, as_json=as_json)
        return
    for path in where:
        if not path.exists():
            raise click.UsageError(f"{path} does not exist")
    _transcripts(where, client, since, limit, as_json=as_json)


def _transcripts(
    where: tuple[Path, ...], client: str | None, since: str | None, limit: int | None, *, as_json: bool
) -> None:
    """Past sessions, and what is new of them."""
    chosen = _choose(list(find(list(where), client or "")), since, limit)
    if not chosen and as_json:
        click.echo(to_json(Report().to_dict()))
        return
    if not chosen:
        raise NmemError(_nothing(where, client, since))
    database, begun_at = paths.database(), now()
    try:
        db = store.connect(database, timeout=_WAIT)
    except (sqlite3.Error, OSError, NewerDatabase) as error:
        raise NmemError(f"{database} cannot be written: {worded(error)}") from None
    try:
        report = _run(db, chosen, quiet=as_json)
        told = _spare(db, begun_at) if report.prompts or report.observations else ""
        _hollow(db)
        fold(db)
    except sqlite3.Error as error:
        raise NmemError(f"{database}: {worded(error)}; run `nmem import` again to continue") from None
    finally:
        db.close()
    begun = start(database)
    for line in report.failed:
        click.echo(f"nmem: {printable(line)}", err=True)
    if as_json:
        click.echo(to_json(report.to_dict()))
        return
    for line in summary(report).split("\n"):
        click.echo(wrapped(line))
    if told:
        click.echo(wrapped(told))
    if begun:
        click.echo(wrapped("Stories, threads and learnings follow in the background; `nmem settle` waits for them"))


def _spare(db: sqlite3.Connection, since: int) -> str:
    """In words how much of what came since a time will be forgotten, and from when on: not right after it came."""
    at = now()
    sweep.anew(db, at)
    wanted = policy.load()
    found = sweep.aged(db, at, wanted, since=since) if wanted.enabled else sweep.Aged()
    if not found.count:
        return ""
    return (
        f"{found.count:,} of {found.of:,} imported observations are older than single calls are kept: their time counts"
        f" from their import, and the first go by themselves from {day(found.first, at)} on, stories stay."
        " `nmem sweep --policy` says how long what is kept, `nmem config set retention.enabled false` keeps all"
    )


def _hollow(db: sqlite3.Connection) -> None:
    """Of a session that was purged nothing is taken in again: no empty one stays, either."""
    with store.transaction(db):
        hollow(db)


def summary(report: Report) -> str:
    """What is new, and below it what was left out and why."""
    rate = report.records / report.seconds if report.seconds else 0
    speed = f"{report.seconds:.1f} s, {rate:,.0f} records/s"
    if report.sessions or report.prompts or report.texts or report.observations:
        new = (counted(report.sessions, "session"), counted(report.prompts, "prompt"),
               f"{counted(report.texts, 'text')} of agents", counted(report.observations, "observation"))  # fmt: skip
        lines = [f"New: {', '.join(new)}; {speed}"]
    else:
        lines = [f"Nothing new in {report.files:,} files; {speed}"]
    if report.redacted:
        lines.append(f"{counted(report.redacted, 'secret')} redacted")
    if left := _left_out(report):
        lines.append(f"Left out: {'; '.join(left)}")
    return "\n".join(lines)


def _left_out(report: Report) -> list[str]:
    out = []
    if skipped := sum(report.skipped.values()):
        kinds = sorted(report.skipped.items(), key=lambda item: -item[1])
        named = ", ".join(f"{kind} {number:,}" for kind, number in kinds[:_KINDS])
        more = f", {len(kinds) - _KINDS} other kinds" if len(kinds) > _KINDS else ""
        out.append(f"{skipped:,} records that tell nothing of the work ({named}{more})")
    if report.duplicates:
        out.append(f"{report.duplicates:,} that were stored already or are told twice")
    if report.copied:
        out.append(f"{report.copied:,} that a fork repeats of its session")
    if torn := report.torn():
        out.append(torn)
    return out


def _choose(found: list[Transcript], since: str | None, limit: int | None) -> list[Transcript]:
    if since:
        floor = _when(since)
        found = [each for each in found if each.latest >= floor]
    if limit:
        newest: dict[str, str] = {}
        for each in filter(lambda one: one.session_id, found):
            newest[each.session_id] = max(newest.get(each.session_id, ""), each.latest)
        kept = {"", *sorted(newest, key=lambda one: newest[one], reverse=True)[:limit]}  # what is broken is said
        found = [each for each in found if each.session_id in kept]
    return found


def _when(since: str) -> str:
    """The ISO time of a date or of a span before now."""
    moment = datetime.fromtimestamp(min(max(0, when(since)), _LATEST) / 1000, UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S")


def _nothing(where: tuple[Path, ...], client: str | None, since: str | None) -> str:
    if since:
        return f"no sessions since {since}"
    if where:
        return f"no transcripts in {', '.join(map(str, where))}"
    kept = f"where {client} keeps" if client else "where coding clients keep"
    return f"no transcripts were found {kept} them: nmem import PATH takes a file or folder"


def _run(db: sqlite3.Connection, chosen: list[Transcript], quiet: bool) -> Report:
    tables.ensure(db)
    history.begin(db, run.milliseconds())
    importer = Importer(db)
    try:
        with _progress(importer, sum(left(each, place(db, each)) for each in chosen), quiet):
            report = importer.run(chosen)
        _episodes(db, importer.changed)
        cost.take_in(db)
    except KeyboardInterrupt:
        click.echo(f"{summary(importer.report)}\nstopped; run `nmem import` again to continue", err=True)
        sys.exit(130)
    return report


def _episodes(db: sqlite3.Connection, changed: set[str]) -> None:
    """Divide what is new into episodes, and what an import that was stopped left undivided."""
    detect.sessions(db, sorted(changed | set(undivided(db))), paths.database())


@contextmanager
def _progress(importer: Importer, size: int, quiet: bool) -> Iterator[None]:
    """A bar over the bytes of all files, on a terminal only; it goes away when the import is done."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    with progress_bar("bar", "{task.percentage:3.0f}%", "left", "{task.description}") as bar:
        task = bar.add_task("", total=size)
        begun = time.perf_counter()

        def step(moved: int) -> None:
            report = importer.report
            rate = report.records / max(time.perf_counter() - begun, 0.001)
            bar.update(task, advance=moved, description=f"{report.records:,} records, {rate:,.0f}/s")

        importer.step = step
        yield


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
        click.echo(to_json(report))
        return
    for line in merged(report).split("\n"):
        click.echo(wrapped(line))
    if begun:
        click.echo(wrapped("Stories, threads and learnings follow in the background; `nmem settle` waits for them"))


def merged(report: MergeReport) -> str:
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
