"""`nmem task run`, `attach`, `watch` and `schedule`: start due tasks, follow them, and install a timer for them."""

from __future__ import annotations

import os
import shlex
import signal
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from capture import paths
from nmem.commands import terminal
from nmem.commands.task_list import TASK, by, fresh
from nmem.dispatch import act, queue, read, runner, store
from nmem.dispatch.config import load
from nmem.errors import NmemError
from nmem.text import fit, lines, printable

if TYPE_CHECKING:
    from nmem.dispatch.runner import Left


@click.command("run")
@click.argument("tasks", type=TASK, nargs=-1, metavar="[ID]...")
@click.option("--watch", is_flag=True, help="Keep running, also when nothing is due, until you stop it.")
@click.option("--no-wait", is_flag=True, help="Start due tasks and exit; they keep running.")
@click.option("--jobs", type=click.IntRange(1, 64), metavar="N", help="How many at once; default: as configured.")
@click.option("--headless", "how", flag_value="headless", help="Run without tmux.")
@click.option("--tmux", "how", flag_value="tmux", help="Run in panes of tmux.")
@click.option("--dry-run", is_flag=True, help="Show what would come next, and start nothing.")
@click.option("--quiet", is_flag=True, help="Print errors only.")
def run_(
    tasks: tuple[int, ...], watch: bool, no_wait: bool, jobs: int | None, how: str | None, dry_run: bool, quiet: bool
) -> None:
    """Run due tasks one after the other, or the named ones at once, and wait for them.

    What it has started goes on when it is stopped, and the next runner knows of it. Exit code 0, or 1 when a task
    that it started did not succeed.
    """
    if watch and no_wait:
        raise click.UsageError("--watch and --no-wait exclude each other")
    path = paths.database()
    config = runner.with_options(load(), jobs or 0, how or "")
    if dry_run:
        _say_next(path, config.quiet_hours)
        return
    worker = runner.Runner(path, config)
    changed = _changes(path, quiet)
    for task in tasks:
        worker.only(task)
    if tasks and no_wait:
        changed()
        return
    stop = _stop()
    wait = stop.wait
    left = runner.run(worker, wait, watch=watch, once=no_wait, changed=changed, only=bool(tasks))
    if not quiet:
        _say(left, stopped=stop.is_set())
    if not no_wait and not watch and _unsuccessful(path, left):
        sys.exit(1)


def _stop() -> threading.Event:
    """Set by the first signal that asks this process to end; what runs goes on."""
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    return stop


def _changes(path: str, quiet: bool):  # type: ignore[no-untyped-def]  # noqa: ANN202

    with queue.writing(path):
        pass  # the tables are there
    changes = Changes(path)
    return (lambda: None) if quiet else changes.say


def _say(left: Left, stopped: bool) -> None:
    said = []
    if left.running:
        said.append(f"{left.running} still running" + (": they go on by themselves" if stopped else ""))
    if left.needs_input:
        said.append(f"{terminal.count(left.needs_input, 'task')} waiting for you: `nmem task list`, `nmem task attach`")
    if left.asks:
        said.append(f"{terminal.count(left.asks, 'task')} of agents waiting for your approval: `nmem task approve`")
    if left.queued:
        said.append(f"{left.queued} queued for later or waiting: `nmem task list` says for what")
    if not left.started and not said:
        said.append("nothing is queued")
    for line in said:
        click.echo(line)


def _unsuccessful(path: str, left: Left) -> bool:
    with queue.writing(path) as db:
        found = [read.task(db, task) for task in left.started]
    return any(
        one and ((one.over and one.state != "succeeded") or (one.state == "queued" and one.tries)) for one in found
    )


def _say_next(path: str, quiet: str) -> None:
    with queue.writing(path) as db:
        live = read.tasks(db, ("running", "needs-input"))
        found = read.order(read.tasks(db, ("queued",)), live, terminal.now(), quiet)
    for one in (place.task for place in found):
        why = "; ".join(filter(None, (by(one), read.standing(one, terminal.now(), quiet) or "next")))
        click.echo(f"task/{one.id}\t{printable(why)}\t{printable(one.title)}")
    if not found:
        click.echo("nothing is queued")


@click.command("attach")
@click.argument("task", type=TASK, metavar="ID")
@click.option("--print", "only_print", is_flag=True, help="Print the command without running it.")
def attach_(task: int, only_print: bool) -> None:
    """Attach to a running task's pane; resume the session of a finished one."""
    fresh()
    with terminal.reading("tasks") as db:
        one = read.task(db, task)
    if one is None:
        raise NmemError(f"there is no task {task}: `nmem task list` lists them")
    words = act.attach_words(one)
    folder = one.worktree_path or one.cwd
    if only_print:
        click.echo(shlex.join(words) if one.live else f"cd {shlex.quote(folder)} && {shlex.join(words)}")
        return
    if not sys.stdin.isatty():
        raise NmemError(f"there is no terminal here: `nmem task attach --print {task}` prints the command")
    if not one.live and Path(folder).is_dir():
        os.chdir(folder)
    os.execvp(words[0], words)  # noqa: S606 - a list of words: no shell


_POLL = 1.0


class Changes:
    """Says what happened to tasks since it was asked last."""

    def __init__(self, db_path: str, only: tuple[int, ...] = (), new: bool = True) -> None:
        self.path = db_path
        self.only = only
        self.seen = self._newest() if new else 0

    def _newest(self) -> int:
        with terminal.reading("tasks") as db:
            return store.newest_event(db)

    def say(self) -> None:
        """Print them."""
        with terminal.reading("tasks") as db:
            self.seen, found = read.events_since(db, self.seen)
        for task_id, title, event in found:
            if self.only and task_id not in self.only:
                continue
            text = f": {printable(event.text)}" if event.text and event.what != "claimed" else ""
            said = f"{terminal.local(event.at):%H:%M:%S}  task/{task_id} {event.state}, {event.what}{text}"
            click.echo(f"{said}  ({fit(printable(title), 40)})" if event.what in ("queued", "claimed") else said)


@click.command("watch")
@click.argument("tasks", type=TASK, nargs=-1, metavar="[ID]...")
def watch_(tasks: tuple[int, ...]) -> None:
    """Print changes of tasks as they happen; of the named ones, until all of them end."""

    fresh()
    with terminal.reading("tasks") as db:
        for task in tasks:
            if read.task(db, task) is None:
                raise NmemError(f"there is no task {task}: `nmem task list` lists them")
    if not tasks:
        click.echo("watching tasks until you press ctrl+c", err=True)
    changes = Changes(paths.database(), tasks, new=not tasks)
    while True:
        changes.say()
        if tasks:
            with terminal.reading("tasks") as db:
                found = [read.task(db, task) for task in tasks]
            if all(one is None or one.over for one in found):
                return
        try:
            time.sleep(_POLL)
        except KeyboardInterrupt:
            return
        fresh()


@click.command("schedule")
@click.option(
    "--every", type=click.IntRange(1, 1439), default=5, show_default=True, metavar="MINUTES", help="How often."
)
@click.option("--systemd", "way", flag_value="systemd", help="Use a systemd user timer.")
@click.option("--cron", "way", flag_value="cron", help="Use a line of your crontab.")
@click.option("--remove", is_flag=True, help="Remove the timer.")
@click.option("--dry-run", is_flag=True, help="Show what would be written, and write nothing.")
@click.option("--yes", is_flag=True, help="Write without asking.")
def schedule_(every: int, way: str | None, remove: bool, dry_run: bool, yes: bool) -> None:
    """Run due tasks every few minutes, by a systemd timer or by cron."""
    from nmem.dispatch import schedule  # on use: start-up stays short

    if remove:
        for gone in schedule.remove() or ["nothing: nmem has no timer"]:
            click.echo(f"removed: {printable(gone)}")
        return
    chosen = schedule.way(way or "") if not (dry_run and way) else way
    made = schedule.plan(every, chosen or schedule.SYSTEMD)
    click.echo("\n".join(lines(made.shown)))
    config = load()
    if config.agents_may and not config.agents_ask:
        click.echo('# starts tasks queued by agents, too; `[dispatch] agent_tasks = "ask"` makes them wait for you')
    if dry_run:
        return
    if not yes:
        if not sys.stdin.isatty():
            raise NmemError("no terminal to ask on: --yes writes without asking")
        if not click.confirm("Write it?", default=False):
            return
    schedule.write(made)
    click.echo("written (`nmem task schedule --remove` removes it)")
