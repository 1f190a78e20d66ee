"""`nmem threads`: lists lines of work across sessions and clients; links, moves and continues them."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from capture.project import resolve
from nmem.commands import terminal
from nmem.commands.terminal import (
    LIMIT,
    LIMIT_OR_NONE,
    THREAD,
    Default,
    Section,
    clock,
    count,
    day,
    now,
    number_of,
    reading,
    when,
    writing,
)
from nmem.errors import NmemError
from nmem.hours import utc
from nmem.store.project import key_of, named
from nmem.text import fit, printable, to_json
from nmem.threads import links_store, read
from nmem.threads.decisions import surety

if TYPE_CHECKING:
    from nmem.learn.skill_use import Skill
    from nmem.threads.decisions import Decision
    from nmem.threads.read import SessionOf, Thread, ThreadView, Turn

_ABOUT = 230
"""Cells of what a thread in a list is about."""

Rows = Sequence[tuple[str, ...]]


@click.group(cls=Default)
def command() -> None:
    """Lines of work across sessions and clients: list, show, continue, link, condense."""


@command.command("list")
@click.option("--project", default="", help="Only this project (name, key or root folder).")
@click.option("--since", metavar="WHEN", help="Only threads active since: 2026-01-31, 7d, 12h, 4w.")
@click.option("--limit", type=LIMIT, default=30, show_default=True, help="How many to list.")
@click.option("--all", "all_", is_flag=True, help="Include threads of one session.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def list_(project: str, since: str | None, limit: int, all_: bool, as_json: bool) -> None:
    """Threads of two or more sessions, the most recently active first."""
    after = when(since) if since else 0
    with reading("threads") as db:
        project = key_of(db, project)
        found = read.threads(db, project, after, limit, singles=all_)
        single = links_store.single(db, project, after)
    if as_json:
        click.echo(to_json({"threads": found, "single": single}))
        return
    if found and terminal.is_terminal():
        terminal.say("Threads", [_block(each) for each in found])
        _singles(single, listed=all_)
        return
    rows = [
        (str(each.id), each.project, day_and_time(each.last_at), str(each.turn_count), str(each.session_count),
         " ".join(each.clients), each.state, str(len(each.cross_thread_episodes) or ""), each.summary)
        for each in found
    ]  # fmt: skip
    table("Threads", ("id", "project", "last", "turns", "sessions", "clients", "state", "links", "about"), rows)
    if not (rows or single):
        click.echo("no threads: a session's first prompt begins one")
    _singles(single, listed=all_)


def _singles(number: int, *, listed: bool) -> None:
    """How many threads of one session the list leaves out."""
    if number and not listed:
        click.echo(f"{count(number, 'thread')} of one session: --all lists them")


def _block(one: Thread) -> Section:
    """A thread in a list on a terminal: its title, where and when, what came of it."""
    size = f"{count(one.turn_count, 'turn')} in {count(one.session_count, 'session')}"
    links = count(len(one.cross_thread_episodes), "link") if one.cross_thread_episodes else ""
    still = "open" if one.state == "open" else ""
    parts = (one.project, day_and_time(one.last_at), size, " ".join(one.clients), still, links)
    return f"thread/{one.id}  {one.title}", [("", " · ".join(filter(None, parts))), ("", fit(one.summary, _ABOUT))]


@command.command()
@click.argument("thread", type=THREAD)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
@click.option("--turns", "limit", type=LIMIT_OR_NONE, default=20, show_default=True, help="How many raw turns to show.")
def show(thread: int, as_json: bool, limit: int) -> None:
    """One thread: summaries, skills, sessions, links with the scores behind them, raw turns."""
    with reading("threads") as db:
        found = read.view(db, thread, terminal.now())
        turns = read.turns(db, thread, limit=limit) if limit else []
    if found is None:
        raise NmemError(f"there is no thread {thread}: `nmem threads` lists them")
    if as_json:
        click.echo(to_json({**asdict(found), "turns": turns}))
        return

    terminal.say(*told(found, turns))


@command.command("continue")
@click.argument("thread", metavar="THREAD|new", required=False)
@click.option("--session", help="Put this session into the thread; without it, the project's next session.")
@click.option(
    "--project",
    default="",
    help="For `new` and --forget: this project (name, key or root); default: the current folder's.",
)
@click.option("--timeout", type=float, metavar="MINUTES", help="Also set a timeout for this thread.")
@click.option("--forget", is_flag=True, help="Cancel the choice for the next session.")
def continue_(thread: str | None, session: str | None, project: str, timeout: float | None, forget: bool) -> None:
    """Say which thread the next session, or a given one, continues."""
    from nmem.threads import steering  # on use: start-up stays short

    if thread is None and not forget:
        raise click.UsageError("give a number of `nmem threads`, or `new`; --forget cancels a choice")
    number = _number(thread or "new")
    at = now()
    with writing() as db:
        project_id = _project(db, project, number)
        if timeout is not None and number is not None:
            steering.timeout(db, number, timeout)
        if forget:
            steering.forget(db, project_id, at)
            click.echo("the timeout decides for the next session")
        elif session:
            click.echo(f"session {printable(session)} is in thread {steering.move(db, session, number, at)}")
        elif number is None:
            steering.start_next(db, project_id, at)
            click.echo("the next session begins a new thread")
        else:
            steering.continue_next(db, number, at)
            click.echo(f"the next session continues thread {number}")


@command.command()
@click.argument("one", type=THREAD)
@click.argument("other", type=THREAD)
def link(one: int, other: int) -> None:
    """Say that two threads are one line of work."""
    _relate(one, other, related=True)


@command.command()
@click.argument("one", type=THREAD)
@click.argument("other", type=THREAD)
def unlink(one: int, other: int) -> None:
    """Say that two threads are not one line of work."""
    _relate(one, other, related=False)


@command.command()
@click.argument("link_id", metavar="LINK", type=number_of("link"))
@click.argument("answer", type=click.Choice(["y", "n"]))
def confirm(link_id: int, answer: str) -> None:
    """Answer whether the two threads of a link are one line of work: y or n."""
    from nmem.threads import outcomes  # on use: start-up stays short

    with writing() as db:
        found = outcomes.confirm(db, link_id, answer == "y", now())
    click.echo(_said(found))


@command.command()
@click.argument("thread", type=THREAD)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def compact(thread: int, as_json: bool) -> None:
    """End a thread and condense it now; its raw turns stay."""
    from nmem.threads import compaction  # on use: start-up stays short

    with writing() as db:
        found = compaction.compact(db, thread, now())
    if as_json:
        click.echo(to_json(found))
        return
    rows = [
        ("in short", found.micro),
        ("summary", found.meso),
        *(("pattern", line) for line in found.macro.splitlines()),
    ]
    table(f"Thread {thread}", ("", ""), [row for row in rows if row[1]])


@command.command()
@click.option("--now", "force", is_flag=True, help="Refit now, however few outcomes there are.")
@click.option("--limit", type=LIMIT, default=20, show_default=True, help="How many to list.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def tuning(force: bool, limit: int, as_json: bool) -> None:
    """Show the history of the linking formula: refits on your answers, and whether each was better."""
    from nmem.threads import link  # on use: start-up stays short
    from nmem.threads import tuning as fitting  # on use: start-up stays short

    if force:
        with writing() as db:
            fitting.tune(db, now(), force=True)
    with reading("threads") as db:
        formula, found = link.current(db), links_store.tunings(db, limit)
    if as_json:
        history = [{**each._asdict(), "adopted": each.adopted} for each in found]
        click.echo(to_json({"current": formula.to_dict(), "history": history}))
        return
    parts = [(name, f"{weight:g}") for name, weight in formula.weights.items()]
    table("Formula", ("", ""), [("method", formula.method), *parts, ("threshold", f"{formula.threshold:g}")])
    table("History", ("at", "outcomes", "adopted", "threshold", "accuracy", "why"), [
        (day_and_time(each.at), str(each.metrics.get("outcomes", "")), "yes" if each.adopted else "no",
         f"{each.before.get('threshold', 0.0):g} > {each.after.get('threshold', 0.0):g}",
         f"{each.metrics.get('accuracy_before', 0.0):.3f} > {each.metrics.get('accuracy_after', 0.0):.3f}", each.reason)
        for each in found
    ])  # fmt: skip


def _relate(one: int, other: int, *, related: bool) -> None:
    from nmem.threads import outcomes  # on use: start-up stays short

    with writing() as db:
        found = outcomes.relate(db, one, other, related, now())
    click.echo(_said(found))


def _said(found: Decision) -> str:
    word = "linked" if found.linked else "not linked"
    return f"link {found.id}: threads {found.earlier_thread_id} and {found.later_thread_id} are {word}"


def day_and_time(at: int) -> str:
    """A time as lists show it."""
    return utc(at).astimezone().strftime("%Y-%m-%d %H:%M")


def _number(thread: str) -> int | None:
    if thread == "new":
        return None
    if not thread.isascii() or not thread.isdigit():
        raise click.UsageError(f"{printable(thread)} is not a thread: use a number of `nmem threads`, or `new`")
    return int(thread)


def _project(db: sqlite3.Connection, project: str, thread: int | None) -> int:
    """The project that a choice is about."""
    if thread is not None:
        head = links_store.head(db, thread)
        found = head.project_id if head else None
        missing = f"there is no thread {thread}: `nmem threads` lists them"
    else:
        key = project or resolve(str(Path.cwd())).key
        return named(db, key).id
    if found is None:
        raise NmemError(missing)
    return found


def table(title: str, head: tuple[str, ...], rows: Rows) -> None:
    """A table; plain lines with tabs when piped. Nothing when there are no rows."""
    if not rows:
        return
    cells = [tuple(printable(cell) for cell in row) for row in rows]
    if not sys.stdout.isatty():
        terminal.piped(title, " ".join(one.replace(" ", "_") for one in head), ["\t".join(row) for row in cells])
        return
    from rich.box import SIMPLE_HEAD  # on use: start-up stays short
    from rich.console import Console  # on use: start-up stays short
    from rich.table import Table  # on use: start-up stays short
    from rich.text import Text  # on use: start-up stays short

    table = Table(title=Text(title, "bold"), title_justify="left", box=SIMPLE_HEAD, show_header=any(head))
    for name in head:
        table.add_column(Text(name), overflow="fold")
    for row in cells:
        table.add_row(*(Text(cell) for cell in row))
    Console().print(table)


_TEXT = 200
_HOW = {"new": "began it", "timeout": "about it, soon after the last", "resume": "resumed", "chosen": "you chose it",
        "linked": "linked"}  # fmt: skip
_RIGHT = {"correct": "right", "incorrect": "wrong"}
_SAYS = {"person": "you", "files": "the files touched since", "words": "what you said since"}
_TITLE = 100
_Pairs = list[tuple[str, str]]


def told(found: ThreadView, turns: Sequence[Turn]) -> tuple[str, list[Section]]:
    """Heading and sections."""
    about = found.thread
    sections: list[Section] = [
        ("", _facts(about)),
        ("Summary", [("", text) for text in (about.micro, about.meso if about.meso != about.micro else "") if text]),
        ("Patterns", [("-", line) for line in about.macro.splitlines() if line.strip()]),
        ("Skills", [_skill(one) for one in found.skills]),
        ("Sessions", [_session(one) for one in found.sessions]),
        ("Belongs with", _links(about.id, found)),
        ("What was asked", [_turn(one) for one in turns]),
    ]
    left = about.turn_count - len(turns)
    if turns and left > 0:
        sections.append(("", [("", f"({left} more: --turns {about.turn_count} shows them)")]))
    return f"thread/{about.id}  {' '.join(about.title.split())[:_TEXT]}", sections


def _facts(about: Thread) -> _Pairs:
    today = now()
    until = f"{day(about.last_at, today)}, {clock(about.last_at)}"
    length = f"{count(about.turn_count, 'prompt')} in {count(about.session_count, 'session')}"
    rows = [
        ("where", " · ".join(text for text in (about.project, " ".join(about.clients)) if text)),
        ("when", f"{day(about.created_at, today)}, {clock(about.created_at)} to {until}: {length}"),
        ("state", f"{about.state}; a session about it within {about.timeout_minutes:g} min goes on with it"),
        ("chosen", "by you" if about.explicit else ""),
        ("pinned", "yes" if about.pinned else ""),
    ]
    return [row for row in rows if row[1]]


def _skill(one: Skill) -> tuple[str, str]:
    return f"learning/{one.id}", f"{one.when}: {' > '.join(one.steps)}  ({count(one.sessions, 'session')})"


def _session(one: SessionOf) -> tuple[str, str]:
    where = " · ".join(text for text in (one.client, one.branch, count(one.turns, "prompt"), _HOW.get(one.how, one.how))
                       if text)  # fmt: skip
    return f"{day(one.started_at, now())}, {clock(one.started_at)}", f"session/{one.id}  {where}"


def _links(thread: int, found: ThreadView) -> _Pairs:
    """What it is one line of work with, and what somebody should say; what it is not is only counted."""
    told = [one for one in found.decisions if one.linked or one.outcome_by == "person" or one.asked]
    rows = [_link(thread, one, found.titles) for one in told]
    if found.cross and found.cross.summary:
        rows.insert(0, ("all of it", found.cross.summary))
    if others := len(found.decisions) - len(told):
        rows.append(("", f"({count(others, 'other thread')} compared, and not the same work: --json has the scores)"))
    return rows


def _link(thread: int, one: Decision, titles: dict[int, str]) -> tuple[str, str]:
    other = one.later_thread_id if one.earlier_thread_id == thread else one.earlier_thread_id
    said = "the same work" if one.linked else "not the same work"
    if one.outcome:
        by = f"{_RIGHT.get(one.outcome, one.outcome)}, say {_SAYS.get(one.outcome_by or '', one.outcome_by)}"
    else:
        sure, why = surety(one.linked, one.certainty, one.components, one.agreement)
        by = f"{sure}{': ' * bool(why)}{why}; `nmem threads confirm {one.id} y|n`"
    title = fit(" ".join(titles.get(other, "").split()), _TITLE)
    return f"thread/{other}", f"{title} · {said}, score {one.algorithmic_score:.2f} ({by})".removeprefix(" · ")


def _turn(one: Turn) -> tuple[str, str]:
    text = " ".join(one.text.split())
    failed = f", {one.failures} failed" if one.failures else ""
    did = f"  ({count(one.actions, 'action')}{failed})" if one.actions else ""
    at = f"{day(one.at, now())}, {clock(one.at)}"
    return at, f"prompt/{one.prompt_id}  {text[:_TEXT]}{'…' if len(text) > _TEXT else ''}{did}"
