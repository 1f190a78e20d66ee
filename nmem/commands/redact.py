"""`nmem redact` and `nmem review`: remove secrets from texts and history; judge samples of redacted texts."""

from __future__ import annotations

import codecs
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from typing import TYPE_CHECKING, BinaryIO

import click

from capture import paths
from capture.redaction import WITHHELD, find, settings
from capture.storage.store import called_by
from capture.text import clean
from nmem.audit import review
from nmem.commands import terminal
from nmem.errors import NmemError
from nmem.purge import said as words
from nmem.store.project import named
from nmem.text import printable, to_json

if TYPE_CHECKING:
    from rich.progress import Progress

    from nmem.purge.history import Pass

_WHOLE = 65_536
"""Characters of a text that is looked at as one, as a hook does; a longer one goes out in pieces of this size."""
_AROUND = 32_768
"""Characters before and after a piece that are looked at with it: a key or a document that goes over its border."""


class Filter:
    """Text in, in pieces of any size; the same text out without its secrets, as one look at all of it would give."""

    def __init__(self, counts: dict[str, int]) -> None:
        self.counts = counts
        self.held = ""  # what was told, then what is still to tell
        self.told = 0

    def add(self, text: str) -> str:
        """What can be told now that this is known."""
        self.held += text
        out = []
        while len(self.held) - self.told >= _WHOLE + _AROUND:
            border = self.told + _WHOLE
            line = self.held.rfind("\n", self.told, border) + 1
            out.append(self._tell(line or border))
        return "".join(out)

    def end(self) -> str:
        """The rest."""
        return self._tell(len(self.held))

    def _tell(self, border: int) -> str:
        """Up to a border, or to the beginning of a secret that goes over it."""
        spans = find(self.held)
        at = self.told
        parts = []
        for begin, end, kind in spans:
            if end <= at:
                continue
            if begin >= border or (at < begin and border < end):
                border = min(border, begin)
                break
            parts.append(self.held[at:begin])
            if (
                begin >= self.told or kind == WITHHELD
            ):  # of one that began in an earlier piece the placeholder stands already
                parts.append(f"[REDACTED:{kind}]")
                self.counts[kind] = self.counts.get(kind, 0) + 1
            at = min(end, border) if end < len(self.held) else border
        parts.append(self.held[at:border])
        first = max(0, border - _AROUND)
        self.held, self.told = self.held[first:], border - first
        return "".join(parts)


@click.command()
@click.option("--stats", is_flag=True, help="Print the number of secrets by kind, as JSON on stderr.")
@click.option("--history", is_flag=True, help="Redact everything stored, by the current rules; no undo.")
@click.option("--project", default="", help="Redact what is stored of this project (name, key or root), by its rules.")
@click.option("--stdin", is_flag=True, help="With --project: redact standard input by its rules, and nothing stored.")
@click.option("--dry-run", is_flag=True, help="With --history: show what would be removed, and change nothing.")
@click.option("--yes", is_flag=True, help="With --history: do not ask.")
@click.option("--json", "as_json", is_flag=True, help="With --history: one JSON object; with --yes or --dry-run.")
def command(*, stats: bool, history: bool, project: str, stdin: bool, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Take the secrets out of standard input, or out of what is stored: --history, or --project of one project.

    What is left is what nmem would store of the same text. It is read to its end, or in pieces of 64 KB.
    """
    if stdin and (history or dry_run or yes or as_json):
        raise click.UsageError("--stdin excludes --history, --dry-run, --yes and --json: nothing stored changes")
    if history or (project and not stdin):
        if as_json and not (yes or dry_run):
            raise click.UsageError("--json goes with --yes or --dry-run")
        _history(project, dry_run, yes, as_json)
        return
    if dry_run or yes or as_json:
        raise click.UsageError("--dry-run, --yes and --json go with --history or --project")
    counts: dict[str, int] = {}
    through = Filter(counts)
    with _rules(project) if project else nullcontext():
        for text in _cleaned(sys.stdin.buffer):
            _print(through.add(text))
        _print(through.end())
    if stats:
        click.echo(to_json(counts, sort_keys=True), err=True)


def _rules(project: str) -> settings.Within:
    """The rules of a project that is recorded. Raises NmemError for another name."""
    with terminal.reading("sessions") as db:
        return settings.Within(called_by(db, named(db, project).id))


def _cleaned(source: BinaryIO) -> Iterator[str]:
    """The text of a stream, cleaned line by line."""
    decode = codecs.getincrementaldecoder("utf-8")("replace").decode
    rest = ""
    while chunk := source.read(_WHOLE):
        rest += decode(chunk)
        whole = rest.rfind("\n") + 1 or (len(rest) if len(rest) > _WHOLE else 0)
        yield clean(rest[:whole])
        rest = rest[whole:]
    yield clean(rest + decode(b"", final=True))


def _print(text: str) -> None:
    sys.stdout.buffer.write(text.encode())
    sys.stdout.buffer.flush()


def _history(project: str, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Show what would go, of all or of one project, ask, do it."""
    from nmem.purge import history  # on use: start-up stays short
    from nmem.sessions import copies
    from nmem.settle import at_once

    done: Pass | None = None
    with terminal.reading("sessions") as db:
        number = named(db, project).id if project else 0
        if dry_run or not yes:
            with _progress(history.pages(db, number)) as step:
                done = history.preview(db, step, number)
    if done is not None:
        _told(done, as_json, dry_run=True, made=history.made_of_others(done))
        if dry_run:
            return
        click.echo("This cannot be undone: no copy is kept. Run `nmem backup` first to be able to go back.")
        if not click.confirm("Remove these secrets?", err=True):
            raise NmemError("nothing was changed")
    with terminal.writing() as db:
        with _progress(history.pages(db, number)) as step:
            done = history.over(db, terminal.now(), step, number)
        if number:
            copies.again(db, history.in_force(db), number)
    if done.rows:
        at_once(paths.database())
    _told(done, as_json)


@contextmanager
def _progress(pages: int) -> Iterator[Callable[[], bool]]:
    """What a pass calls before each page, and is never stopped by: a bar on a terminal after a second."""
    bar: Progress | None = None
    begun, gone = time.perf_counter(), 0
    with ExitStack() as opened:

        def step() -> bool:
            nonlocal bar, gone
            gone += 1
            if bar is None and sys.stderr.isatty() and time.perf_counter() - begun > 1:
                bar = opened.enter_context(terminal.progress_bar("bar", "{task.percentage:3.0f}%", "left"))
                bar.add_task("", total=pages)
            if bar is not None:
                bar.update(bar.task_ids[0], completed=min(gone, pages))
            return False

        yield step


def _told(done: Pass, as_json: bool, *, dry_run: bool = False, made: int = 0) -> None:
    """What was, or would be, taken out; `made`: of the rows, those that are made from others."""
    if as_json:
        told = {"strings": done.strings, "rows": done.rows, "counts": done.counts, "by_table": done.by_table}
        anew = {"made_of_others": made} if dry_run else {}
        click.echo(to_json({**told, **anew, "unchecked": done.unchecked, "changed": not dry_run}, sort_keys=True))
        return
    verb = "would be taken" if dry_run else "taken"
    secrets = [(kind, str(number)) for kind, number in done.counts.most_common()]
    places = [(name, str(number)) for name, number in words.places(done.by_table)]
    said = f"{done.counts.total()} secrets {verb} out of {terminal.count(done.rows, 'row')}"
    if made:
        said += (
            f" (up to {made} of these are made from other rows: they are deleted or made again, and not counted then)"
        )
    looked = f"{terminal.count(done.strings, 'text')} looked at"
    if done.unchecked:
        looked += f", {done.unchecked} left as they are: a pattern of yours takes too long for them"
    terminal.say(f"{said}; {looked}", [("By kind", secrets), ("Rows by type", places)])


_WORDS = {"real": "real", "secret": "real", "false": "false", "alarm": "false"}


@click.command()
@click.argument("what", default="")
@click.argument("verdict", default="", metavar="[real|false]")
@click.option("--limit", type=terminal.LIMIT, default=20, show_default=True, help="How many to draw or to list.")
@click.option("--judged", is_flag=True, help="List those that you have judged, newest first.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def review_(what: str, verdict: str, limit: int, judged: bool, as_json: bool) -> None:
    """Judge samples of what redaction found: `nmem review draw`, `nmem review`, `nmem review 3 false`.

    real: it was a secret; false: a false alarm. Of what the second detector of `nmem doctor --deep` saw, real means
    that a secret was kept. No secret is shown. Verdicts are counted in `nmem doctor`; `nmem undo` takes one back.
    """
    if what == "draw":
        _draw(limit)
    elif what:
        _judge(what, verdict)
    else:
        _show(limit, judged, as_json)


def _draw(limit: int) -> None:
    with terminal.writing() as db:
        drawn = review.draw(db, terminal.now(), limit)
    click.echo(f"{drawn} to judge: nmem review" if drawn else "nothing new to judge: every redaction was drawn already")


def _judge(what: str, verdict: str) -> None:
    if not what.isdigit() or verdict not in _WORDS:
        raise click.UsageError("use `nmem review NUMBER real` or `nmem review NUMBER false`; `nmem review` lists them")
    said = "real" if _WORDS[verdict] == "real" else "false"
    with terminal.writing() as db:
        review.judge(db, int(what), "real" if said == "real" else "false", terminal.now())
    click.echo(f"redaction {what} is judged {said} (`nmem undo` takes it back)")


def _show(limit: int, judged: bool, as_json: bool) -> None:
    with terminal.reading() as db:
        found = review.queue(db, limit, judged=judged)
    if as_json:
        click.echo(to_json({"reviews": found}, indent=1))
        return
    if not found:
        click.echo("nothing judged yet" if judged else "nothing to judge: `nmem review draw` draws a sample")
    for one in found:
        said = f"  [{one.verdict}]" if one.verdict else ""
        by = "" if one.found_by == review.BY_REDACTION else f"  seen by {one.found_by}, kept by redaction"
        click.echo(printable(f"{one.id}  {one.kind}  {one.target}  {one.day}{by}{said}"))
        click.echo(printable("    " + " ".join(f"{one.before}{one.masked}{one.after}".split())))
