"""`nmem skills`: lists recurring sequences of commands in a project; promotes one to a client's skill or to /how."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict
from sqlite3 import Connection
from typing import TYPE_CHECKING, Any

import click

from nmem.commands import terminal
from nmem.commands.learn import agreed, diff, project_of, refreshed
from nmem.commands.terminal import Default, number_of
from nmem.commands.threads import table
from nmem.errors import NmemError
from nmem.learn import read, rules, skill_use
from nmem.learn.learning import ACCEPTED, SKILL
from nmem.learn.skill_use import HELD
from nmem.text import printable, to_json

if TYPE_CHECKING:
    from nmem.learn.learning import Learning

SKILL_ID = number_of("skill")
_MOST = 1_000_000
_INDENT = " " * 6
_UNDO = "`nmem undo` takes it back"


class Skills(Default):
    """`nmem skills 12` shows the skill of that number."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put `show` in front of a number."""
        if args and args[0].removeprefix("learning/").removeprefix("skill/").isdigit():
            args = ["show", *args]
        return super().parse_args(ctx, args)


@click.group(cls=Skills, epilog="`nmem skills` alone is `nmem skills list`; `nmem skills 12` is `show 12`.")
def command() -> None:
    """Recurring procedures of a project, step by step: list, show, promote."""


@command.command("list")
@click.option(
    "--project", default="", help="Use this project (name, key or root folder); default: the current folder's."
)
@click.option("--all-projects", "everywhere", is_flag=True, help="Of every project.")
@click.option("--since", metavar="WHEN", help="Only skills seen since: 2026-01-31, 7d, 12h, 4w.")
@click.option("--limit", type=terminal.LIMIT, default=20, show_default=True, help="How many to list.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def list_(project: str, everywhere: bool, since: str | None, limit: int, as_json: bool) -> None:
    """List skills of the current project, those with most recent sessions first."""
    after, now = (terminal.when(since) if since else 0), terminal.now()
    left = refreshed()
    with terminal.reading("learnings") as db:
        project_id, about = project_of(db, project, everywhere)
        every = read.learnings(db, now, project_id, HELD, limit=_MOST, kinds=(SKILL,))
        found = [_shape(db, one) for one in every if one.last_at >= after][:limit]
    if as_json:
        click.echo(to_json({"skills": found}))
    elif not found:
        click.echo(f"no skill of {printable(about)} yet: needs three sessions with the same steps")
    else:
        _say(found)
    if left:
        click.echo(left, err=True)


def _say(found: Sequence[dict[str, Any]]) -> None:
    """Three lines a skill, each broken below its beginning; for a pipe one with tabs."""
    if not terminal.is_terminal():
        table("Skills", ("id", "sessions", "last", "state", "name", "when", "steps"), [
            (str(one["id"]), str(one["evidence"]), f"{terminal.local(one['last_at']):%Y-%m-%d}", one["state"],
             one["name"], one["when"], " > ".join(one["steps"])) for one in found
        ])  # fmt: skip
        return
    for one in found:
        promoted = ", promoted" if one["state"] == ACCEPTED else ""
        met = f"{one['evidence']} sessions, last {terminal.local(one['last_at']):%Y-%m-%d}{promoted}"
        click.echo(terminal.wrapped(f"{one['id']:>4}  {printable(one['name'])}: {printable(one['when'])}", _INDENT))
        for text in (" > ".join(one["steps"]), met):
            click.echo(terminal.wrapped(f"{_INDENT}{printable(text)}", _INDENT))


@command.command()
@click.argument("skill", type=SKILL_ID, metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def show(skill: int, as_json: bool) -> None:
    """Show one skill in full: its steps, its evidence, how often it was followed since it was told or promoted."""
    now = terminal.now()
    with terminal.reading("learnings") as db:
        one = read.learning(db, skill, now)
        if one is None or one.kind != SKILL:
            raise NmemError(f"there is no skill {skill}: `nmem skills` lists them")
        shaped, met = _shape(db, one), read.evidence(db, skill, 12)
    if as_json:
        click.echo(to_json({**shaped, "met": [{"session": each.session_id, "at": each.at} for each in met]}))
        return
    use = shaped["use"]
    often = f"in {terminal.count(one.sessions, 'session')}, {terminal.count(one.occurrences, 'time')}"
    facts = [
        ("when", shaped["when"]), ("as a rule", shaped["rule"]),
        ("met", f"{often}; {shaped['share']:.0%} of those with such work"),
        ("last", f"{terminal.local(one.last_at):%Y-%m-%d %H:%M}"), ("state", one.state),
        ("told", f"{terminal.count(use['told'], 'time')}, followed {use['followed_when_told']}"),
    ]  # fmt: skip
    if one.state_at and one.state == "accepted":
        since = f"followed in {use['followed_since']} of {use['sessions_since']} sessions with such work"
        facts.append(("since then", since))
    steps = [(f"{number}.", each) for number, each in enumerate(shaped["steps"], 1)]
    where = [(f"{terminal.local(each.at):%Y-%m-%d %H:%M}", f"session {each.session_id[:8]}") for each in met]
    terminal.say(f"Skill {one.id}: {shaped['name']}", [("", facts), ("Steps", steps), ("Evidence", where)])


@command.command()
@click.argument("skill", type=SKILL_ID, metavar="ID")
@click.option("--to", "target", type=click.Choice(["claude", "when"]), default="claude", show_default=True,
              help="claude: .claude/skills/NAME/SKILL.md of the project; when: a /how entry.")  # fmt: skip
@click.option(
    "--as", "trigger", default="", help="With --to when: the question that the entry answers; default: its situation."
)
@click.option("--dry-run", is_flag=True, help="Show what would be written, and write nothing.")
@click.option("--yes", is_flag=True, help="Write without asking.")
def promote(skill: int, target: str, trigger: str, dry_run: bool, yes: bool) -> None:
    """Promote a skill to one of the client's own, or to a /how entry: previewed, undone by `nmem undo`."""
    from nmem.learn import accept  # on use: start-up stays short
    from nmem.learn import promote as promoting  # on use: start-up stays short

    now, here = terminal.now(), os.getcwd()  # noqa: PTH109 - a string is what is compared
    if target == "when":
        _write_down(skill, trigger, dry_run, yes)
        return
    with terminal.reading("learnings") as db:
        planned = promoting.plan(db, skill, now, here)
    diff(planned.diff)
    path = printable(planned.file.path)
    if dry_run or not agreed(f"Write {path}?", yes):
        return
    with terminal.writing() as db:
        accept.accept(db, planned, now)
    click.echo(f"skill {skill} is promoted: {path} ({_UNDO})")


def _write_down(skill: int, trigger: str, dry_run: bool, yes: bool) -> None:
    """An entry /how, written as decisions are."""
    from nmem.learn import promote as promoting  # on use: start-up stays short
    from nmem.recall import changes  # on use: start-up stays short

    with terminal.reading("learnings") as db:
        planned = promoting.written(db, skill, trigger, terminal.now(), os.getcwd())  # noqa: PTH109
    for remark in planned.remarks:
        click.echo(f"note: {printable(remark)}", err=True)
    diff(planned.change.diff().splitlines())
    if dry_run or not agreed(f"Write {printable(planned.file)}?", yes):
        return
    with terminal.writing() as db:
        changes.apply(db, planned.change, terminal.now())
    click.echo(f"written: {printable(planned.entry)} ({_UNDO})")


def _shape(db: Connection, one: Learning) -> dict[str, Any]:
    """A skill as JSON has it."""
    short = skill_use.short(one)
    return {
        "id": one.id, "project": one.project, "name": short.name, "when": short.when, "steps": list(short.steps),
        "evidence": one.sessions, "last_at": one.last_at, "state": one.state, "rule": one.rule or rules.rule(one),
        "share": one.remedy.confidence if one.remedy else 0.0,
        "use": asdict(skill_use.of(db, one)),
    }  # fmt: skip
