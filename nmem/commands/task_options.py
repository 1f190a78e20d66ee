"""Options on how a task runs, shared by `nmem task add` and `nmem task edit`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from sqlite3 import Connection
from typing import TYPE_CHECKING, Any, TypeVar

import click

from nmem import hours
from nmem.commands import terminal
from nmem.commands.terminal import number_of
from nmem.learn import places

if TYPE_CHECKING:
    pass


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
