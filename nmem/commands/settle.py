"""`nmem settle`: closes, narrates, summarizes and links finished sessions; hooks start it in the background."""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import click

from capture import log, paths
from capture.hook import SKIP
from capture.storage.schema import NewerDatabase
from nmem import packs
from nmem.commands.terminal import progress_bar
from nmem.database import exists, worded
from nmem.errors import NmemError
from nmem.llm import Cancel
from nmem.settle import BATCH, SECONDS, Report, Step, running, settle
from nmem.team.config import start
from nmem.text import to_json

_LOOK = 0.1
"""Seconds between two looks at who settles."""


@click.command()
@click.option(
    "--seconds", type=click.FloatRange(min=0.1), default=SECONDS, show_default=True, help="At most this long."
)
@click.option("--no-model", is_flag=True, help="Ask no language model.")
@click.option("--db", "db_path", default="", help="Use another database file.")
@click.option("--quiet", is_flag=True, help="In the background: print nothing, yield to others, log errors.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def command(seconds: float, no_model: bool, db_path: str, quiet: bool, as_json: bool) -> None:
    """Close what is over, tell it, sum it up, link it.

    Nothing needs it done by hand: it starts by itself when a session begins or ends. It can be stopped at any time.
    """
    path = db_path or paths.database()
    if quiet and hasattr(os, "nice"):
        os.nice(10)
    if not exists(path):
        if quiet:
            return
        raise NmemError(f"nothing is recorded yet at {path}: run `nmem init`, or `nmem import` for past sessions")
    os.environ[SKIP] = "1"
    packs.make()
    cancel = _stopped()
    try:
        with _progress(quiet or as_json) as step:
            report = settle(path, seconds, models=not no_model, cancel=cancel, step=step)
        if report is None and not quiet:
            click.echo("another settle process is running, as after every import: waiting for it to end", err=True)
            _wait(path, seconds, cancel)
            with _progress(as_json) as step:
                report = settle(path, seconds, models=not no_model, cancel=cancel, step=step)
    except (sqlite3.Error, OSError, NewerDatabase) as error:
        if quiet:
            log.note(path, f"settle: {log.reason(error)}")
        raise NmemError(f"{path}: {worded(error)}") from None
    if quiet:
        start(path)
        return
    if report is None:
        raise NmemError("another settle process is still running: it continues in the background")
    click.echo(to_json(report) if as_json else summary(report, path))
    if report.failed:
        raise SystemExit(1)


@contextmanager
def _progress(quiet: bool) -> Iterator[Step]:
    """A bar on a terminal, as soon as sessions wait; a line for each tenth of them where there is none."""
    if quiet:
        yield lambda _done, _waiting, _what: None
        return
    if not sys.stderr.isatty():
        yield _lines()
        return
    with progress_bar("{task.description}", "bar", "of", "left") as bar:
        task = bar.add_task("", total=None, visible=False)
        yield lambda done, waiting, what: bar.update(
            task, description=what, completed=done, total=waiting, visible=True
        )


def _lines() -> Step:
    """Prints a line at each tenth, and none where no more than a batch waits."""
    told: dict[str, int] = {}

    def line(done: int, waiting: int, what: str) -> None:
        tenth = done * 10 // waiting
        if waiting > BATCH and tenth > told.get(what, 0):
            told[what] = tenth
            click.echo(f"{done:,} of {waiting:,} {what}", err=True)

    return line


def _wait(path: str, seconds: float, cancel: Cancel) -> None:
    """Until nobody settles, or the time is over."""
    end = time.monotonic() + seconds
    while running(path) and not cancel.is_set() and time.monotonic() < end:
        time.sleep(_LOOK)


def _stopped() -> Cancel:
    """Set by a signal to stop: a question to a model is called off, its process is cleared away."""
    cancel = Cancel()
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: cancel.set())
    return cancel


def summary(report: Report, db_path: str = "") -> str:
    """The report in one line or two."""
    if report.idle:
        line = "nothing to settle"
    else:
        counts = (
            (report.drained, "spooled batches stored"), (report.labelled, "calls labelled"),
            (report.detected, "sessions cut into episodes"),
            (report.closed, "sessions closed"), (report.told, "episodes told"),
            (report.by_model, f"told by {report.model or 'a model'}"), (report.summaries, "sessions summed up"),
            (report.judged, "sessions judged by a model"), (report.links, "threads compared"),
            (report.condensed, "threads condensed"),
            (report.folded, "turns made ready for context"), (report.forgotten, "old records forgotten"),
            (report.redacted, "secrets taken out of history by rules that are new"),
        )  # fmt: skip
        line = (
            ", ".join(f"{count:,} {words}" for count, words in counts if count) or "search and learnings are up to date"
        )
    line += f"; {report.seconds:.1f} s" + (", more is left" if report.left else "")
    trouble = [report.problem] if report.problem else []
    trouble += [f"the model failed {count} times ({kind})" for kind, count in report.failures.items()]
    trouble += [f"the step {name} failed, the others are done: see {paths.log(db_path)}" for name in report.failed]
    return "\n".join([line, *trouble])
