"""Opens the form of a task: an empty one, or one filled in with a learning or an episode."""

from __future__ import annotations

import os
from pathlib import Path
from sqlite3 import Connection
from typing import TYPE_CHECKING

from nmem.errors import NmemError
from nmem_tui.model import keyed
from nmem_tui.model.tasks_form import Draft

if TYPE_CHECKING:
    from nmem.dispatch.task import NewTask
    from nmem_tui.app import Cockpit
    from nmem_tui.screens.tasks_form import Begin


def new(app: Cockpit) -> None:
    """An empty one, or as it was left."""
    gone = app.session.root if app.session and not app.draft and not _is_there(app) else ""
    _open(app, "New task", app.draft or Draft(client=_client(), folder=_folder(app)), None, gone)


def of_learning(app: Cockpit, learning_id: int) -> None:
    """What keeps going wrong, with what was recorded of it."""

    def begin(db: Connection, now: int) -> NewTask:
        from nmem.dispatch import learned

        return learned.task(db, learning_id, now)

    _open(app, f"New task ─ about learning {learning_id}", Draft(client=_client()), begin)


def of_episode(app: Cockpit, unit_id: int) -> None:
    """What an episode left to do."""

    def begin(db: Connection, now: int) -> NewTask:  # noqa: ARG001 -- nothing of it is dated
        from nmem.dispatch import left

        return left.task(db, unit_id)

    _open(app, f"New task ─ goes on with episode {unit_id}", Draft(client=_client()), begin)


def _open(app: Cockpit, title: str, draft: Draft, begin: Begin | None, gone: str = "") -> None:
    from nmem_tui.screens.tasks_form import TaskForm

    def take(made: Draft | int | None) -> None:
        if isinstance(made, int):
            app.wanted_task = made
            if begin is None:
                app.draft = None
            if look := getattr(app.standing, "look_again", None):
                look()
        elif begin is None:
            app.draft = made if made and made.prompt.strip() else None
            if app.draft not in (None, draft):
                app.say(f"what was written is kept: {keyed.of('new_task')} goes on with it")

    app.push_screen(TaskForm(title, draft, begin=begin, gone=gone), take)


def _client() -> str:
    """As configured; the first one where that cannot be read."""
    from nmem.dispatch.config import load

    try:
        return load().client
    except NmemError:
        return Draft().client


def _is_there(app: Cockpit) -> bool:
    """Whether the folder of the session that is shown is there."""
    one = app.session
    return one is not None and os.path.isdir(one.root)  # noqa: PTH112 -- says no, too, of one that may not be looked at


def _folder(app: Cockpit) -> str:
    """Of the session that is shown, while it is there; else the one that the cockpit was started in."""
    return app.session.root if app.session and _is_there(app) else _here()


def _here() -> str:
    try:
        return str(Path.cwd())
    except OSError:
        return ""
