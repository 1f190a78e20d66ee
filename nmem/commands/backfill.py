"""`nmem backfill`: labels past calls with the current model."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from capture import paths
from capture.labels import DIMENSIONS
from nmem.commands import terminal
from nmem.errors import NmemError
from nmem.labels.backfill import Wanted, backfill
from nmem.labels.cards import passed_over
from nmem.store.project import key_of
from nmem.text import to_json

if TYPE_CHECKING:
    from nmem.labels.backfill import Report

_EVERY = 5.0
"""Seconds between two lines where there is no terminal."""


@click.command()
@click.option("--dimension", type=click.Choice(DIMENSIONS), help="Only this dimension; the others do not change.")
@click.option("--project", default="", help="Only this project (name, key or root folder).")
@click.option("--all", "everything", is_flag=True, help="Also calls that the current model labelled already.")
@click.option("--limit", type=terminal.LIMIT, metavar="N", help="At most N calls, of the newest sessions.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def command(dimension: str | None, project: str, everything: bool, limit: int | None, as_json: bool) -> None:
    """Label past calls that carry no labels, or those of another model.

    Needed after `nmem train labels` or an upgrade. What you have said yourself stays. It can be stopped at any time and
    goes on where it was; sessions that run meanwhile are not held up.
    """
    if trouble := passed_over(paths.database()):
        raise NmemError(f"nothing was labelled: {trouble}")
    stopped = threading.Event()
    with terminal.reading() as db:
        project = key_of(db, project)
    wanted = Wanted(dimension or "", project, everything, limit or 0)
    with terminal.writing() as db, _stopping(stopped), _progress(as_json) as step:
        report = backfill(db, paths.database(), terminal.now(), wanted, step=step, stop=stopped.is_set)
    click.echo(to_json(report) if as_json else summary(report))
    if stopped.is_set():
        sys.exit(130)


def summary(report: Report) -> str:
    """What was done, in a line or two."""
    if not report.labelled and not report.left:
        return f"nothing to label: every call carries the labels of model {report.model}, or your own"
    rate = report.labelled / report.seconds if report.seconds else 0.0
    where = terminal.count(report.sessions, "session")
    line = (f"{report.labelled:,} calls in {where} labelled by model {report.model},"
            f" {report.changed:,} of them otherwise than before; {report.seconds:.1f} s, {rate:,.0f}/s")  # fmt: skip
    return line + ("\nmore is left: run `nmem backfill` again to go on" if report.left else "")


@contextmanager
def _stopping(stopped: threading.Event) -> Iterator[None]:
    """A signal to stop ends the run between two transactions."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, lambda *_: stopped.set()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[Report], None]]:
    """A bar on a terminal; elsewhere a line on standard error now and then."""
    if quiet:
        yield lambda _report: None
        return
    if not sys.stderr.isatty():
        yield _lines()
        return
    with terminal.progress_bar("bar", "{task.percentage:3.0f}%", "left", "{task.description}") as bar:
        task, begun = bar.add_task("", total=None), time.perf_counter()

        def step(report: Report) -> None:
            rate = report.labelled / max(time.perf_counter() - begun, 0.001)
            bar.update(task, total=report.due, completed=report.labelled,
                       description=f"{report.labelled:,} of {report.due:,} calls, {rate:,.0f}/s")  # fmt: skip

        yield step


def _lines() -> Callable[[Report], None]:
    begun = last = time.monotonic()

    def step(report: Report) -> None:
        nonlocal last
        moment = time.monotonic()
        if moment - last >= _EVERY:
            last = moment
            rate = report.labelled / (moment - begun)
            click.echo(f"{report.labelled:,} of {report.due:,} calls labelled, {rate:,.0f}/s", err=True)

    return step
