"""`nmem task watch`: prints each change of the queue on a line, until no task runs or you stop it."""

from __future__ import annotations

import time

import click

from capture import paths
from nmem.commands import terminal
from nmem.commands.task_list import fresh
from nmem.commands.task_options import TASK
from nmem.errors import NmemError
from nmem.text import fit, printable

_POLL = 1.0


class Changes:
    """Says what happened to tasks since it was asked last."""

    def __init__(self, db_path: str, only: tuple[int, ...] = (), new: bool = True) -> None:
        self.path = db_path
        self.only = only
        self.seen = self._newest() if new else 0

    def _newest(self) -> int:
        from nmem.dispatch import read

        with terminal.reading("tasks") as db:
            return read.newest_event(db)

    def say(self) -> None:
        """Print them."""
        from nmem.dispatch import read

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
    from nmem.dispatch import read

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
