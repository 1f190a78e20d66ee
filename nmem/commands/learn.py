"""`nmem learn`: lists failures and requests that recur across sessions; accepts or dismisses them."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from sqlite3 import Connection
from typing import Any

import click

from nmem.commands import terminal
from nmem.commands.terminal import Default, number_of
from nmem.errors import NmemError
from nmem.learn import places
from nmem.store.project import unknown
from nmem.text import printable, to_json

_NO_HELP = 'nothing is known that helps, so the rule would only say what fails: word it with --text "..."'
_UNDO = "`nmem undo` takes it back"
_ALL = "all"
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


@click.group(
    cls=Learn,
    epilog="`nmem learn` alone is `nmem learn list`, with the options of `nmem learn list --help`: "
    "--project, --all-projects, --across, --state, --since, --markdown. `nmem learn 12` is `show 12`.",
)
def command() -> None:
    """Patterns that recur across sessions: list, show, accept, dismiss, snooze, resolve, reopen."""


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
    from nmem.commands import learn_list  # on use: start-up stays short
    from nmem.learn import read  # on use: start-up stays short

    if as_json and (markdown or output):
        raise click.UsageError("--json and --markdown exclude each other")
    if across and project:
        raise click.UsageError("--across covers several projects: leave out --project")
    after, now = (terminal.when(since) if since else 0), terminal.now()
    states = _STATES if state == _ALL else (state,)
    left = learn_list.refreshed()
    with terminal.reading("learnings") as db:
        project_id, about = project_of(db, project, everywhere or across)
        every = read.learnings(db, now, project_id, _STATES, across, _MANY)
        hits = read.learnings(db, now, project_id, states, across, _MANY)
        found = [one for one in hits if one.last_at >= after][:limit]
        if markdown or output:
            learn_list.write(db, found, about, now, output)
            return
    if as_json:
        _json({"learnings": [learn_list.shape(one) for one in found]})
    elif not terminal.is_terminal():
        click.echo("\n".join(["# Learnings", *(learn_list.tabs(one) for one in found)]))
        if not found:
            click.echo(f"# {learn_list.none(state)}")
    else:
        learn_list.show(found, about, state, learn_list.counts(every), project_id is None)
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
    """Show one learning: its evidence by week, what helped, and its rule."""
    from nmem.commands import learn_list  # on use: start-up stays short
    from nmem.learn import accept as accepting  # on use: start-up stays short
    from nmem.learn import read, rules  # on use: start-up stays short

    with terminal.reading("learnings") as db:
        one = read.learning(db, learning, terminal.now())
        if one is None:
            raise NmemError(f"there is no learning {learning}: `nmem learn --state all` lists them")
        evidence = read.evidence(db, learning, limit) if limit else ()
        file = accepting.stands_in(db, learning)
    if as_json:
        proposed = one.rule or rules.rule(one)
        _json({**learn_list.shape(one), "proposed_rule": proposed, "evidence": [asdict(each) for each in evidence]})
        return
    facts = learn_list.facts(one, file)
    terminal.say(f"Learning {one.id}: {one.title}", [("", facts), ("Evidence", learn_list.met(evidence))])


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
    from nmem.learn import lifecycle  # on use: start-up stays short

    with terminal.writing() as db:
        lifecycle.dismiss(db, learning, terminal.now())
    click.echo(f"learning {learning} is dismissed ({_UNDO})")


@command.command()
@click.argument("learning", type=LEARNING, metavar="ID")
@click.option("--for", "span", required=True, metavar="SPAN", help="How long: 12h, 7d, 4w.")
def snooze(learning: int, span: str) -> None:
    """Snooze a learning: it reopens after a while."""
    from nmem.learn import lifecycle  # on use: start-up stays short

    now = terminal.now()
    until = now + _span(span)
    with terminal.writing() as db:
        lifecycle.snooze(db, learning, until, now)
    click.echo(f"learning {learning} is snoozed until {terminal.local(until):%Y-%m-%d %H:%M} ({_UNDO})")


@command.command()
@click.argument("learning", type=LEARNING, metavar="ID")
def resolve(learning: int) -> None:
    """Mark a learning as fixed; it reopens if it recurs. An accepted rule stays."""
    from nmem.learn import lifecycle  # on use: start-up stays short

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


def _json(value: dict[str, Any]) -> None:
    click.echo(to_json(value))
