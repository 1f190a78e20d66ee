"""`nmem task`: queues work for a coding client, runs it in panes of tmux, and tracks it."""

from __future__ import annotations

import os
import sys
from pkgutil import resolve_name
from sqlite3 import Connection
from typing import TYPE_CHECKING, Any

import click

from capture import paths
from nmem.commands import terminal
from nmem.commands.task_list import TASK, changed, given, options, shape
from nmem.commands.terminal import Default, number_of
from nmem.dispatch import accept, act, files, queue, read, worktrees
from nmem.dispatch.config import load
from nmem.dispatch.files import of_learning
from nmem.dispatch.task import FILE, NewTask, stands
from nmem.errors import NmemError
from nmem.text import fit, printable, to_json

if TYPE_CHECKING:
    from nmem.dispatch.task import NewTask

_LEARNING = number_of("learning")
_ELSEWHERE = {
    "list": "nmem.commands.task_list:list_", "show": "nmem.commands.task_list:show_",
    "output": "nmem.commands.task_list:output_", "watch": "nmem.commands.task_run:watch_",
    "run": "nmem.commands.task_run:run_", "attach": "nmem.commands.task_run:attach_",
    "schedule": "nmem.commands.task_run:schedule_",
}  # fmt: skip


class Tasks(Default):
    """`nmem task 12` shows the task of that number; a subcommand of another module is imported when it is called."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put `show` in front of a number."""
        if args and args[0].removeprefix("task/").isdigit():
            args = ["show", *args]
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All of them, as a person meets them."""
        order = (
            "add", "list", "show", "run", "watch", "output", "attach", "approve", "cancel", "retry", "edit",
            "schedule",
        )  # fmt: skip
        return [*order, *(name for name in super().list_commands(ctx) if name not in order)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """One of them."""
        if cmd_name not in _ELSEWHERE:
            return super().get_command(ctx, cmd_name)
        found = resolve_name(_ELSEWHERE[cmd_name])
        assert isinstance(found, click.Command)
        return found


@click.group(cls=Tasks, epilog="`nmem task` alone is `nmem task list`; `nmem task 12` is `show 12`.")
def command() -> None:
    """Tasks for a coding client: add, list, run, watch, attach, cancel, retry, schedule."""


@command.command()
@click.argument("prompt", nargs=-1)
@click.option(
    "--file", "file", metavar="FILE", help="Read the task from a Markdown file with front matter; - is standard input."
)
@click.option("--learning", type=_LEARNING, metavar="ID", help="Make the task from a learning: see `nmem learn`.")
@options
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def add(prompt: tuple[str, ...], file: str | None, learning: int | None, as_json: bool, **said: object) -> None:
    """Queue a task: PROMPT is what the client is asked to do.

    Nothing starts by itself: `nmem task run` does it, or the timer of `nmem task schedule`.
    """
    if sum((bool(prompt), file is not None, learning is not None)) != 1:
        raise click.UsageError("give one of PROMPT, --file and --learning")
    with queue.writing(paths.database()) as db:
        base, named = _base(db, " ".join(prompt), file, learning, load().client)
        new = base._replace(**given(db, said, named))
        made = act.add(db, new, terminal.now())
        hidden = accept.secrets(new.prompt)
        standing = read.standing(made, terminal.now(), load().quiet_hours)
    if as_json:
        click.echo(to_json(shape(made, standing)))
    else:
        tail = f" ({printable(standing)})" if standing else ""
        click.echo(f"task/{made.id} {stands(made.state)}{tail}: {fit(printable(made.title), 70)}")
    if not made.worktree and new.worktree is None:
        click.echo(f"no worktree, the task runs in the folder itself: {worktrees.why_not(made.cwd)}", err=True)
    if made.worktree and (left := worktrees.uncommitted(made.cwd)):
        files = terminal.count(left, "file")
        click.echo(
            f"{files} changed since the last commit: the worktree will not have these changes; commit first?", err=True
        )
    if hidden:
        click.echo(f"{terminal.count(hidden, 'secret')} in the prompt: the client gets a placeholder instead", err=True)


def _base(
    db: Connection, prompt: str, file: str | None, learning: int | None, client: str
) -> tuple[NewTask, dict[str, Any]]:
    """The task without its options, and what its file says of them."""
    try:
        here = os.getcwd()  # noqa: PTH109
    except OSError:
        here = ""  # the folder was removed below its shell: another one has to be named
    if learning is not None:
        return of_learning(db, learning, terminal.now())._replace(client=client), {}
    if file is None:
        return NewTask(prompt, here, client=client), {}
    if file == "-":
        values = files.parse(sys.stdin.read(), terminal.now(), "standard input", here)
    else:
        values = files.read(file, terminal.now()).values
    return NewTask(values.pop("prompt"), here, client=client, source=FILE), values


@command.command()
@click.argument("task", type=TASK, metavar="ID")
@click.option("--prompt", help="A new prompt.")
@click.option("--editor", is_flag=True, help="Edit the prompt in your editor.")
@options
def edit(task: int, prompt: str | None, editor: bool, **said: object) -> None:
    """Change a task that is not running."""
    with queue.writing(paths.database()) as db:
        values = changed(db, said)
        if editor:
            one = read.task(db, task)
            prompt = click.edit(one.prompt if one else "", extension=".md")
            if prompt is None and not values:
                click.echo("nothing changed")
                return
        if prompt is not None:
            values["prompt"] = prompt
        if not values:
            raise click.UsageError("nothing to change: see `nmem task edit --help`")
        before = read.task(db, task)
        made = act.edit(db, task, values, terminal.now())
    click.echo(f"task/{task} is {'as it was' if made == before else 'changed'}: {fit(printable(made.title), 70)}")


@command.command()
@click.argument("tasks", type=TASK, nargs=-1, required=True, metavar="ID...")
def cancel(tasks: tuple[int, ...]) -> None:
    """Cancel a task, also a running one: its client and all its processes are ended."""
    for task in tasks:
        made = act.cancel(paths.database(), task, terminal.now())
        click.echo(f"task/{task} {stands(made.state)}")


@command.command()
@click.argument("tasks", type=TASK, nargs=-1, required=True, metavar="ID...")
def approve(tasks: tuple[int, ...]) -> None:
    """Let tasks run that an agent queued; `nmem task show` shows their prompts."""
    for task in tasks:
        with queue.writing(paths.database()) as db:
            made = act.approve(db, task, terminal.now())
        click.echo(f"task/{task} is approved: {fit(printable(made.title), 70)}")


@command.command()
@click.argument("task", type=TASK, metavar="ID")
def retry(task: int) -> None:
    """Queue a finished task again, with the tasks cancelled because of it."""
    with queue.writing(paths.database()) as db:
        ids = act.retry(db, task, terminal.now())
    more = f", and with it {', '.join(f'task/{each}' for each in ids[1:])}" if ids[1:] else ""
    click.echo(f"task/{task} is queued again{more}")


@command.command()
@click.argument("tasks", type=TASK, nargs=-1, required=True, metavar="ID...")
@click.option("--worktree", is_flag=True, help="Delete the worktree and branch, too, with everything in them.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def remove(tasks: tuple[int, ...], worktree: bool, yes: bool) -> None:
    """Forget tasks that are not running. Work in a worktree stays, unless --worktree says otherwise."""
    for task in tasks:
        with queue.writing(paths.database()) as db:
            one = read.task(db, task)
        place = printable(one.worktree_path) if one and worktree else ""
        question = f"Remove task/{task}{f' and all work in {place}' if place else ''}?"
        if not yes and not (sys.stdin.isatty() and click.confirm(question)):
            raise NmemError(f"task/{task} is not removed: --yes removes it without asking")
        left = act.remove(paths.database(), task)
        if one and worktree and one.worktree_path:
            worktrees.discard(one.cwd, one.worktree_path, one.branch)
            left = ""
        click.echo(f"task/{task} is removed{f'; {printable(left)}' if left else ''}")
