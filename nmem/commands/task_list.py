"""`nmem task list`, `show` and `output`: print tasks and their output."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from sqlite3 import Connection
from typing import TYPE_CHECKING, Any, TypeVar

import click

from capture import paths
from nmem import hours
from nmem.commands import terminal
from nmem.commands.terminal import number_of
from nmem.database import exists
from nmem.dispatch import act, read, runner, store
from nmem.dispatch.config import load
from nmem.dispatch.task import AGENT, QUEUED, stands
from nmem.errors import NmemError
from nmem.learn import places
from nmem.text import fit, lines, pad, printable, to_json, width

if TYPE_CHECKING:
    from nmem.dispatch.task import Task, TaskEvent

TASK = number_of("task")


def _need(value: str) -> int:
    """A task, or none: then 0."""
    return 0 if value == "none" else TASK(value)


_F = TypeVar("_F", bound=Callable[..., Any])
_CLIENTS = ("claude", "codex", "gemini")
_OPTIONS = (
    click.option("--project", help="Run in this project's folder (name, key or root); default: the current one."),
    click.option("--cwd", metavar="FOLDER", help="Run in this folder."),
    click.option("--client", type=click.Choice(_CLIENTS), help="The client to run; default: as configured."),
    click.option("--interactive/--no-interactive", default=None, help="Keep the client open, for you to continue."),
    click.option("--priority", type=int, metavar="N", help="Higher runs first; default: 0."),
    click.option("--after", "--at", "not_before", metavar="WHEN",
                 help="Start after: 30m, 2h, 22:30, tonight, tomorrow, 2026-01-31 08:00; now clears it."),
    click.option("--quiet-hours", metavar="HOURS", help="Do not start during: 09:00-18:00; none: start at any hour."),
    click.option("--depends-on", "needs", type=_need, multiple=True, metavar="ID",
                 help="Start only after this task succeeded; none clears it."),
    click.option("--retries", type=int, metavar="N", help="Retries after a failure."),
    click.option("--time-limit", metavar="SPAN", help="Stop after 30m, 2h; default: as configured."),
    click.option("--worktree/--no-worktree", default=None,
                 help="Run in a separate checkout, on a branch nmem/task-N; default in a git repository."),
    click.option("--target", metavar="PANE", help="Run in this pane of tmux once idle: %3, session:window.pane."),
)  # fmt: skip


def options(function: _F) -> _F:
    """Add them to a command."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def changed(db: Connection, said: Mapping[str, Any]) -> dict[str, Any]:
    """What was said, as fields of NewTask. Raises NmemError."""

    out = {name: value for name, value in said.items() if value is not None and value != ()}
    if "project" in out:
        out |= {"cwd": out.get("cwd") or _root(db, out["project"])}
        del out["project"]
    if "needs" in out:
        out["needs"] = tuple(need for need in out["needs"] if need)
    if "not_before" in out and isinstance(out["not_before"], str):
        out["not_before"] = hours.when(out["not_before"], terminal.now())
    if "quiet_hours" in out:
        out["quiet_hours"] = hours.quiet(out["quiet_hours"])
    if isinstance(out.get("time_limit"), str):
        out["time_limit"] = hours.span(out["time_limit"])
    return out


def given(db: Connection, said: Mapping[str, Any], named: Mapping[str, Any]) -> dict[str, Any]:
    """What the command says, over what the file says. Raises NmemError."""
    own = {name: value for name, value in said.items() if value is not None and value != ()}
    if "project" in own or "cwd" in own:
        named = {name: value for name, value in named.items() if name not in ("project", "cwd")}
    return changed(db, {**named, **own})


def _root(db: Connection, project: str) -> str:
    folder = str(Path.cwd())
    return places.root(db, places.named(db, project, folder)[0], folder)


_STATES = ("queued", "running", "needs-input", "succeeded", "failed", "cancelled", "timed-out")
_COLOURS = {
    "needs-input": "yellow", "running": "cyan", "failed": "red", "timed-out": "red", "succeeded": "green",
    "cancelled": "bright_black",
}  # fmt: skip
_WIDEST = 12


def shape(one: Task, standing: str) -> dict[str, Any]:
    """As JSON."""
    return {**one._asdict(), "title": one.title, "standing": standing, "can": list(act.able(one))}


def fresh() -> None:
    """What ended meanwhile is brought in before something is listed."""
    if exists(paths.database()):
        runner.refresh(paths.database())


@click.command("list")
@click.option(
    "--state", "states", type=click.Choice(_STATES), multiple=True, help="Only tasks in this state; may be repeated."
)
@click.option("--project", default="", help="Only of this project, by its name.")
@click.option("--limit", type=terminal.LIMIT, default=40, show_default=True, help="How many to list.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def list_(states: tuple[str, ...], project: str, limit: int, as_json: bool) -> None:
    """List tasks: those that need you first, then running, queued and finished ones."""
    fresh()
    with terminal.reading("tasks") as db:
        found = read.tasks(db, states, project, limit)
        counts = store.counts(db)
    said = [standing(one) for one in found]
    if as_json:
        shapes = [shape(one, why) for one, why in zip(found, said, strict=True)]
        click.echo(to_json({"tasks": shapes, "counts": counts}))
    elif not terminal.is_terminal():
        rows = ["\t".join(_cells(one, why)) for one, why in zip(found, said, strict=True)]
        terminal.piped("Tasks", "id state exit client project when title standing", rows)
    elif not found:
        click.echo('no tasks: `nmem task add "..."` queues one')
    else:
        _print(found, said)
        click.echo(", ".join(f"{counts[state]} {state}" for state in _STATES if counts.get(state)))


def standing(one: Task) -> str:
    """Why it stands so; a configuration that cannot be read says nothing here."""
    try:
        quiet = load().quiet_hours
    except NmemError:
        quiet = ""
    return "; ".join(filter(None, (by(one), read.standing(one, terminal.now(), quiet))))


def by(one: Task) -> str:
    """Who asked for what is not begun, where it was no person; of one that waits for approval its standing says so."""
    return "queued by an agent" if one.source == AGENT and one.state == QUEUED and not one.asks else ""


def _cells(one: Task, why: str) -> tuple[str, ...]:
    code = "" if one.exit_code is None else str(one.exit_code)
    return (
        f"task/{one.id}", one.state, code, printable(one.client), printable(one.project), _when(one),
        printable(one.title), printable(why),
    )  # fmt: skip


def _when(one: Task) -> str:
    at = one.ended_at or one.started_at or one.created_at
    return f"{terminal.local(at):%Y-%m-%d %H:%M}"


def _print(found: Sequence[Task], said: Sequence[str]) -> None:
    wide = shutil.get_terminal_size().columns
    names = max(width(f"{one.id}") for one in found)
    for one, why in zip(found, said, strict=True):
        head = f"{pad(str(one.id), names, right=True)}  "
        state = click.style(pad(one.state, _WIDEST), fg=_COLOURS.get(one.state))
        place = fit(printable(one.project), 20)
        left = max(20, wide - names - 2 - _WIDEST - width(place) - 3)
        click.echo(f"{head}{state} {place}  {fit(printable(one.title), left)}")
        code = f"exit {one.exit_code}" if one.exit_code else ""
        if extra := ", ".join(part for part in (code, printable(why)) if part):
            click.echo(click.style(" " * (names + 2) + fit(extra, max(20, wide - names - 2)), dim=True))


@click.command("show")
@click.argument("task", type=TASK, metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def show_(task: int, as_json: bool) -> None:
    """Show one task: its prompt, state, events and latest output."""
    fresh()
    with terminal.reading("tasks") as db:
        one = _found(read.task(db, task), task)
        events = read.events(db, task)
    if as_json:
        told = {**shape(one, standing(one)), "events": events}
        click.echo(to_json(told))
        return
    said = [("", line) for line in lines(one.output)[-20:]] if one.output else []
    asked = [("", line) for line in lines(one.prompt)]
    terminal.say(f"Task {one.id}: {fit(one.title, 100)}", [
        ("", _facts(one)), ("Asked", asked), ("Events", [_row(each) for each in events]), ("Latest output", said),
    ])  # fmt: skip


def _found(one: Task | None, task: int) -> Task:
    if one is None:
        raise NmemError(f"there is no task {task}: `nmem task list` lists them")
    return one


def _facts(one: Task) -> list[tuple[str, str]]:
    why = standing(one)
    rows = [
        ("state", f"{one.state}{f': {why}' if why else ''}"),
        ("exit code", "" if one.exit_code is None else str(one.exit_code)), ("client", _client(one)),
        ("project", one.project), ("folder", one.cwd), ("needs", ", ".join(f"task/{need}" for need in one.needs)),
        ("priority", str(one.priority or "")),
        ("tries", f"{one.tries} of {one.retries + 1}" if one.tries or one.retries else ""),
        ("not before", f"{terminal.local(one.not_before):%Y-%m-%d %H:%M}" if one.not_before and not one.over else ""),
        ("quiet hours", "none" if one.quiet_hours == "" else one.quiet_hours or ""),
        ("time limit", terminal.span(one.time_limit * 1000) if one.time_limit else ""),
        ("runs in", _place(one)), ("worktree", _worktree(one)),
        ("session", f"session/{one.session_id}" if one.session_id else ""),
        ("about", f"learning/{one.learning_id}" if one.learning_id else ""),
        ("queued by", one.source + (f", in task/{one.parent_id}" if one.parent_id else "")),
        ("took", terminal.span(one.ended_at - one.started_at) if one.ended_at and one.started_at else ""),
    ]  # fmt: skip
    return [(label, text) for label, text in rows if text]


def _client(one: Task) -> str:
    return f"{one.client}, interactive" if one.interactive else one.client


def _place(one: Task) -> str:
    if not one.live:
        return ""
    return f"pane {one.pane} of tmux" if one.pane else one.how


def _worktree(one: Task) -> str:
    if one.worktree_path:
        return f"{one.worktree_path} on {one.branch}"
    return "its own" if one.worktree else ""


def _row(each: TaskEvent) -> tuple[str, str]:
    said = f"{each.what}{f': {each.text}' if each.text else ''}"
    number = f" (try {each.attempt})" if each.attempt > 1 else ""
    return f"{terminal.local(each.at):%m-%d %H:%M:%S}", f"{said}{number}"


@click.command("output")
@click.argument("task", type=TASK, metavar="ID")
@click.option("--follow", "-f", is_flag=True, help="Follow the output until the task ends.")
def output_(task: int, follow: bool) -> None:
    """Print a task's latest output; of a running one, what its pane shows."""
    fresh()
    shown = ""
    while True:
        with terminal.reading("tasks") as db:
            one = _found(read.task(db, task), task)
        text = act.output(one)
        if text != shown:
            new = text[len(shown) :].lstrip("\n") if shown and text.startswith(shown) else text
            click.echo("\n".join(lines(new)))
            shown = text
        if not follow or one.over:
            break
        _pause()
        fresh()
    if not shown:
        click.echo(f"task/{task} {stands(one.state)} and has no output", err=True)
    sys.stdout.flush()


def _pause() -> None:
    time.sleep(1.0)
