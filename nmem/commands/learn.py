"""`nmem learn`: lists failures and requests that recur across sessions; accepts or dismisses them."""

from __future__ import annotations

import os
import sqlite3
import sys
import time as time_module
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from pkgutil import resolve_name
from sqlite3 import Connection
from typing import Any

import click

from capture import paths
from capture.storage.schema import NewerDatabase
from nmem.commands import of_others, terminal
from nmem.commands.terminal import Default, number_of
from nmem.database import exists
from nmem.errors import NmemError
from nmem.learn import lifecycle, places, read, report, rules
from nmem.learn.kinds import words
from nmem.learn.learning import FIX, STATES, WEAK, Evidence, Learning
from nmem.store.project import unknown
from nmem.teammates import read as read_others
from nmem.teammates.live import LEARNING as LEARNED
from nmem.text import fit, fit_path, printable, to_json

_NO_HELP = 'nothing is known that helps, so the rule would only say what fails: word it with --text "..."'
_UNDO = "`nmem undo` takes it back"
_ALL = "all"
_REPORT = "report"
_STATES = ("open", "accepted", "dismissed", "snoozed", "resolved", "weak")
_MANY = 1_000_000
_COLOURS = {"+": "green", "-": "red", "@": "cyan"}
_SPANS = {"h": 3_600_000, "d": 86_400_000, "w": 7 * 86_400_000}
_LONGEST = 5 * 366 * 86_400_000

LEARNING = number_of("learning")


class Learn(Default):
    """`nmem learn 12` shows the learning of that number."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put `show` in front of a number."""
        if args and args[0].removeprefix("learning/").isdigit():
            args = ["show", *args]
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All of them."""
        return sorted([*super().list_commands(ctx), _REPORT])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """One of them; the report is imported when it is called."""
        if cmd_name != _REPORT:
            return super().get_command(ctx, cmd_name)
        found = resolve_name("nmem.commands.learn_report:command")
        assert isinstance(found, click.Command)
        return found


@click.group(
    cls=Learn,
    epilog="`nmem learn` alone is `nmem learn list`, with the options of `nmem learn list --help`: "
    "--project, --all-projects, --across, --state, --since, --markdown. `nmem learn 12` is `show 12`.",
)
def command() -> None:
    """Patterns that recur across sessions: list, show, report, accept, dismiss, snooze, resolve, reopen."""


@command.command("list")
@click.option(
    "--project", default="", help="Use this project (name, key or root folder); default: the current folder's."
)
@click.option("--all-projects", "everywhere", is_flag=True, help="Of every project.")
@click.option("--across", is_flag=True, help="Only patterns found in two or more projects.")
@click.option(
    "--state",
    default="open",
    show_default=True,
    type=click.Choice([*_STATES, _ALL]),
    help="weak: found in one session too few for a pattern.",
)
@click.option("--since", metavar="WHEN", help="Only patterns found since: 2026-01-31, 7d, 12h, 4w.")
@click.option("--limit", type=terminal.LIMIT, default=20, show_default=True, help="How many to list.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
@click.option("--markdown", is_flag=True, help="Print a report with evidence, as Markdown.")
@click.option("-o", "--output", metavar="FILE", help="Write the report to a file.")
def list_(
    project: str, everywhere: bool, across: bool, state: str, since: str | None, limit: int, as_json: bool,
    markdown: bool, output: str | None,
) -> None:  # fmt: skip
    """List learnings of the current project, the hottest first."""

    if as_json and (markdown or output):
        raise click.UsageError("--json and --markdown exclude each other")
    if across and project:
        raise click.UsageError("--across covers several projects: leave out --project")
    after, now = (terminal.when(since) if since else 0), terminal.now()
    states = _STATES if state == _ALL else (state,)
    left = refreshed()
    with terminal.reading("learnings") as db:
        project_id, about = project_of(db, project, everywhere or across)
        every = read.learnings(db, now, project_id, _STATES, across, _MANY)
        hits = read.learnings(db, now, project_id, states, across, _MANY)
        found = [one for one in hits if one.last_at >= after][:limit]
        wanted = read_others.Wanted((LEARNED,), None if project_id is None else [project_id], after)
        theirs = read_others.said(db, wanted, limit) if state in ("open", "accepted", _ALL) and not across else []
        if markdown or output:
            write(db, found, about, now, output)
            return
    if as_json:
        click.echo(to_json({"learnings": [shape(one) for one in found], **of_others.forms(theirs)}))
    elif not terminal.is_terminal():
        terminal.piped("Learnings", "id heat felt kind sessions last state project title remedy", map(tabs, found))
        if not found:
            click.echo(f"# {none(state)}")
    else:
        _list(found, about, state, counts(every), project_id is None)
    if not as_json:
        of_others.show(theirs)
    if left:
        click.echo(left, err=True)


def project_of(db: Connection, project: str, everywhere: bool) -> tuple[int | None, str]:
    """Whose learnings: the id or None for all, and what to call it. Raises NmemError where nothing is recorded."""
    if project:
        return places.named(db, project)
    if everywhere:
        return None, "all projects"
    folder = os.getcwd()  # noqa: PTH109 -- a string is what is compared
    found, name = places.current(db, folder)
    if found is None:
        raise unknown(db, folder)
    return found, name


@command.command()
@click.argument("learning", type=LEARNING, metavar="ID")
@click.option("--limit", type=terminal.LIMIT_OR_NONE, default=12, show_default=True, help="How much evidence to show.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def show(learning: int, limit: int, as_json: bool) -> None:
    """Show one learning: its evidence by week, what helped, its rule, and whether that holds."""
    from nmem.learn import accept as accepting  # on use: start-up stays short
    from nmem.read import lessons  # on use: as before

    with terminal.reading("learnings") as db:
        one = read.learning(db, learning, terminal.now())
        if one is None:
            raise NmemError(f"there is no learning {learning}: `nmem learn --state all` lists them")
        evidence = read.evidence(db, learning, limit) if limit else ()
        file = accepting.stands_in(db, learning)
        lesson = None if as_json or one.members else lessons.of(db, one)
    if as_json:
        proposed = one.rule or rules.rule(one)
        click.echo(to_json({**shape(one), "proposed_rule": proposed, "evidence": evidence}))
        return
    terminal.say(f"Learning {one.id}: {one.title}", [
        ("", facts(one, file)), ("Does it hold (sessions)", lesson.told() if lesson else []),
        ("Evidence", met(evidence)),
    ])  # fmt: skip


@command.command()
@click.argument("learning", type=LEARNING, metavar="ID")
@click.option("--file", default="", metavar="PATH",
              help="CLAUDE.md, AGENTS.md, GEMINI.md or another Markdown file of the project, by name or full path. "
                   "Default: the one that its clients read.")  # fmt: skip
@click.option("--text", help="Your own wording of the rule.")
@click.option("--dry-run", is_flag=True, help="Show what would be written, and write nothing.")
@click.option("--yes", is_flag=True, help="Write without asking.")
def accept(learning: int, file: str, text: str | None, dry_run: bool, yes: bool) -> None:
    """Put a learning's rule into the project's instructions: shown first, never twice, undone by `nmem undo`."""
    from nmem.learn import accept as accepting  # on use: start-up stays short

    if text is not None and not text.strip():
        raise click.UsageError("--text is empty")
    here = os.getcwd()  # noqa: PTH109
    with terminal.reading("learnings") as db:
        planned = accepting.plan(db, learning, terminal.now(), file, text or "", here)
        if not (text or planned.helps or dry_run):
            planned = accepting.plan(db, learning, terminal.now(), file, _worded(planned.rule), here)
    path = printable(planned.file.path)
    diff(planned.diff)
    if dry_run:
        click.echo(f"in {path}" + ("" if planned.helps or text else f"; {_NO_HELP}"))
    if not planned.wrote:
        click.echo(f"{path} has this rule already: {printable(planned.rule)}")
    if dry_run or not agreed(f"Write {path}?" if planned.wrote else "Accept it?", yes):
        return
    with terminal.writing() as db:
        accepting.accept(db, planned, terminal.now())
    click.echo(f"learning {learning} is accepted, its rule is in {path} ({_UNDO})")


@command.command()
@click.argument("learning", type=LEARNING, metavar="ID")
def dismiss(learning: int) -> None:
    """Dismiss a learning: it is not shown again."""
    with terminal.writing() as db:
        lifecycle.dismiss(db, learning, terminal.now())
    click.echo(f"learning {learning} is dismissed ({_UNDO})")


@command.command()
@click.argument("learning", type=LEARNING, metavar="ID")
@click.option("--for", "span", required=True, metavar="SPAN", help="How long: 12h, 7d, 4w.")
def snooze(learning: int, span: str) -> None:
    """Snooze a learning: it reopens after a while."""
    now = terminal.now()
    until = now + _span(span)
    with terminal.writing() as db:
        lifecycle.snooze(db, learning, until, now)
    click.echo(f"learning {learning} is snoozed until {terminal.local(until):%Y-%m-%d %H:%M} ({_UNDO})")


@command.command()
@click.argument("learning", type=LEARNING, metavar="ID")
def resolve(learning: int) -> None:
    """Mark a learning as fixed; it reopens if it recurs. An accepted rule stays."""
    with terminal.writing() as db:
        lifecycle.resolve(db, learning, terminal.now())
    click.echo(f"learning {learning} is resolved ({_UNDO})")


@command.command()
@click.argument("learning", type=LEARNING, metavar="ID")
@click.option("--dry-run", is_flag=True, help="Show what would be removed, and change nothing.")
@click.option("--yes", is_flag=True, help="Remove the rule without asking.")
def reopen(learning: int, dry_run: bool, yes: bool) -> None:
    """Reopen a learning; the rule of an accepted one is removed from the project's instructions."""
    from nmem.learn import accept as accepting  # on use: start-up stays short

    with terminal.writing() as db:
        planned = accepting.withdrawal(db, learning, terminal.now())
        changes = planned.diff if planned else []
        diff(changes)
        if dry_run or (changes and planned and not agreed(f"Write {printable(planned.file.path)}?", yes)):
            return
        accepting.withdraw(db, learning, planned, terminal.now())
    out = f", its rule is out of {printable(planned.file.path)}" if planned and changes else ""
    click.echo(f"learning {learning} is open again{out} ({_UNDO})")


def _worded(rule: str) -> str:
    """The person's wording of a rule that says no more than what went wrong."""
    if not _interactive():
        raise click.UsageError(f"{_NO_HELP}: {printable(rule)}")
    click.echo(f"{printable(rule)}\n{_NO_HELP.partition(':')[0]}.")
    return str(click.prompt("The rule, in your words", prompt_suffix=": ")).strip()


def agreed(question: str, yes: bool) -> bool:
    """Whether the person wants it; where nobody can be asked, --yes must say so."""
    if yes:
        return True
    if not _interactive():
        raise click.UsageError("no terminal to ask on: --yes writes without asking")
    return click.confirm(question, default=False)


def _interactive() -> bool:
    return sys.stdin.isatty()


def diff(lines: Sequence[str]) -> None:
    colour = terminal.is_terminal() and not os.environ.get("NO_COLOR")
    for line in lines:
        click.echo(click.style(line, fg=_COLOURS.get(line[:1])) if colour else line)


def _span(text: str) -> int:
    """12h, 7d or 4w as milliseconds."""
    try:
        span = int(float(text[:-1]) * _SPANS[text[-1:]])
    except (KeyError, ValueError, OverflowError):
        span = 0
    if not 0 < span <= _LONGEST:
        raise click.UsageError(f"--for: invalid duration {printable(text)!r}: use 12h, 7d or 4w, at most five years")
    return span


_EVIDENCE, _FILES, _PATH = 3, 4, 48
_PATIENCE = 10.0
"""Seconds that bringing learnings up to date may take before they are listed."""
_HEAT = {"hot": "red", "warm": "yellow", "cool": "cyan"}


def shape(one: Learning) -> dict[str, Any]:
    """As JSON."""
    return {**asdict(one), "heat_word": report.word(one.heat), "can": list(lifecycle.able(one.state, one.rule))}


def counts(every: Sequence[Learning]) -> str:
    """1 open, 2 snoozed ..."""
    numbers = [(sum(one.state == state for one in every), state) for state in (*STATES, WEAK)]
    return ", ".join(f"{number} {state}" for number, state in numbers if number)


def none(state: str) -> str:
    """What is said where there is none."""
    named = "" if state == "all" else f"{state} "
    return f"no {named}learnings here; --all-projects and --state look further"


def refreshed() -> str:
    """Bring learnings up to date, for a few seconds at most; what is still to be done, in words, if anything.

    Where the database cannot be written, what is known is read.
    """
    from nmem import settle  # on use: start-up stays short
    from nmem.learn import refresh  # on use: start-up stays short

    path, until = paths.database(), time_module.monotonic() + _PATIENCE
    if not exists(path):
        return ""
    try:
        done = refresh.fresh(path, terminal.now(), stopped=lambda: time_module.monotonic() > until)
    except (sqlite3.Error, OSError, NewerDatabase) as error:
        return f"not brought up to date: {error}"
    busy = "settling goes on in the background: what is asked again is looked for when it is done"
    if done.left:
        return f"{terminal.count(done.left, 'session')} still to be read: ask again, or `nmem settle`"
    return busy if done.sessions and settle.running(path) else ""


def tabs(one: Learning) -> str:
    """One line of a pipe."""
    cells = (
        str(one.id), str(one.heat), report.word(one.heat), words(one.kind).label, str(one.sessions),
        f"{terminal.local(one.last_at):%Y-%m-%d}", one.state, one.project, one.title, report.remedy(one.remedy),
    )  # fmt: skip
    return "\t".join(printable(cell) for cell in cells)


def _list(found: Sequence[Learning], about: str, state: str, numbers: str, projects: bool) -> None:
    """Two lines each: what it is, then how often, how lately and what helped."""
    from rich.console import Console  # on use: start-up stays short
    from rich.text import Text  # on use: start-up stays short

    console, today = Console(highlight=False), terminal.now()
    console.print(Text(f"Learnings of {printable(about)}", "bold").append(f"   {numbers}", "not bold dim"))
    if not found:
        console.print(Text(none(state), "dim"))
    ids = max((len(str(one.id)) for one in found), default=1)
    for one in found:
        word = report.word(one.heat)
        line = Text().append(f"\n{one.id:>{ids}}  ", "cyan").append(f"{report.bar(one.heat)} ", _HEAT[word])
        line.append(f"{word:<4} {one.heat:>3}  ", _HEAT[word]).append(f"{words(one.kind).label:<15}  ", "dim")
        line.append(fit(printable(" ".join(one.title.split())), max(20, console.width - ids - 35)))
        console.print(line, no_wrap=True, overflow="ellipsis", crop=True)
        facts = [
            terminal.count(one.sessions, "session"),
            f"last {terminal.day(one.last_at, today).rpartition(', ')[2]}",
        ]
        facts += ["nobody works there now"] * (projects and read.dormant(one, today))
        facts += [printable(one.project)] * projects + [one.state] * (state == "all")
        facts += [printable(report.remedy(one.remedy))] if one.remedy else []
        console.print(Text(" " * (ids + 2) + "; ".join(facts), "dim"), no_wrap=True, overflow="ellipsis", crop=True)


def write(db: Connection, found: Sequence[Learning], about: str, now: int, output: str | None) -> None:
    """The report, on standard output or into a file; another file than a report is not overwritten."""
    evidence = {one.id: read.evidence(db, one.id, _EVIDENCE) for one in found}
    text = report.markdown(found, evidence, about, now)
    if output in (None, "-"):
        click.echo(text, nl=False)
        return
    path = Path(str(output))
    try:
        if path.exists() and not path.read_bytes().startswith(report.TITLE.encode()):
            raise NmemError(
                f"{printable(str(path))} exists already and is not a report of learnings: name another file"
            )
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise NmemError(f"{printable(str(path))} cannot be written: {error.strerror or error}") from None
    click.echo(f"{terminal.count(len(found), 'learning')} in {printable(str(path))}")


def facts(one: Learning, file: str = "") -> list[tuple[str, str]]:
    """All that is known of one, by name; `file`: where its rule stands."""
    times = terminal.count(one.occurrences, "time")
    most = max((count for _, count in one.weeks), default=0)
    found = [
        ("kind", words(one.kind).label),
        ("heat", f"{report.bar(one.heat)} {report.word(one.heat)}, {one.heat} of 100"),
        ("state", report.standing(one)),
        ("until", time(one.snoozed_until) if one.state == "snoozed" and one.snoozed_until else ""),
        ("project", one.project),
        ("met", f"{times} in {terminal.count(one.sessions, 'session')}, {_day(one.first_at)} to {_day(one.last_at)}"),
        (
            "weeks",
            f"{report.weeks(one.weeks, one.last_at)}  the last is that of {_day(one.last_at)}; at most {most} in one",
        ),
        ("files", ", ".join(_files(one.files))),
        ("helped", report.remedy(one.remedy)),
        ("rule", one.rule),
        ("it stands in", file),
        ("as a rule", "" if one.rule else rules.rule(one)),
        ("can", ", ".join(f"nmem learn {verb} {one.id}" for verb in lifecycle.able(one.state, one.rule))),
    ]
    return [(name, value) for name, value in found if value]


def _files(paths: Sequence[str]) -> list[str]:
    """The first ones, each by its end: that tells it apart."""
    more = [f"{len(paths) - _FILES} more"] if len(paths) > _FILES else []
    return [fit_path(printable(path), _PATH) for path in paths[:_FILES]] + more


def met(evidence: Sequence[Evidence]) -> list[tuple[str, str]]:
    """Where it was met, the newest session first: what was called, what came of it, and what put it right."""
    sessions: dict[str, list[Evidence]] = {}
    for each in evidence:
        sessions.setdefault(each.session_id, []).append(each)
    return [(time(ours[0].at), "\n".join(_session(ours[::-1]))) for ours in sessions.values()]


def _session(ours: Sequence[Evidence]) -> list[str]:
    """The evidence of one session in its order; what says the same again is counted."""
    first = ours[0]
    out = [f"episode/{first.unit_id}" if first.unit_id else f"session/{first.session_id[:8]}"]
    seen: dict[str, int] = {}
    for each in ours:
        called, said = (" ".join(text.split()) for text in (each.command, each.excerpt))
        word = "put right: " if each.role == FIX else ""
        line = f"{word}{fit(called, 100)}" + (f": {said}" if said and said not in called else "")
        seen[line] = seen.get(line, 0) + 1
    return out + [f"{line} ({count} times)" if count > 1 else line for line, count in seen.items()]


def time(at: int) -> str:
    """Day and minute."""
    return f"{terminal.local(at):%Y-%m-%d %H:%M}"


def _day(at: int) -> str:
    return f"{terminal.local(at):%Y-%m-%d}"
