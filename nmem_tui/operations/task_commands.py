"""Runs, cancels and retries tasks through `nmem task` in a process of its own."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from sqlite3 import Connection

from nmem.errors import NmemError
from nmem.own_process import words
from nmem_tui.messages import Changed
from nmem_tui.model.figures import several
from nmem_tui.store.access import Change

_PATIENCE_S = 60
"""So long what it says is waited for; it goes on after that."""


def start(db_path: str, task_id: int) -> Changed:
    """Start one task, whatever its time; what became of it. Waits until it has begun: call it from a worker."""
    failed = _command(db_path, "run", str(task_id), "--no-wait", "--quiet")
    return Changed(f"not started: {failed}", failed=True) if failed else _stands(db_path, task_id)


def cancel(db_path: str, task_id: int) -> Changed:
    """Cancel one: its client and all that it started are ended. Waits until they have: call it from a worker."""
    failed = _command(db_path, "cancel", str(task_id))
    return Changed(f"not cancelled: {failed}", failed=True) if failed else _stands(db_path, task_id)


def take_up(db_path: str) -> None:
    """Bring in what ended meanwhile; nothing where there is no database, or one that an older nmem made."""
    from nmem import database
    from nmem.dispatch import runner

    try:
        database.reader(db_path).close()
    except NmemError:
        return  # the screen says so; whoever writes would bring it up to date unasked
    runner.refresh(db_path)


def _command(db_path: str, *given: str) -> str:
    """Call it; why it failed, or nothing."""
    env = {**os.environ, "NMEM_DB": str(Path(db_path).absolute())}  # no more: the client's own hooks shall store
    try:
        process = subprocess.Popen(
            words("task", *given), env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True,
        )  # fmt: skip
        said = process.communicate(timeout=_PATIENCE_S)[1].strip().splitlines()
    except subprocess.TimeoutExpired:
        return f"it takes longer than {_PATIENCE_S} s, and goes on by itself"
    except OSError as error:
        return str(error)
    if not process.returncode:
        return ""
    return said[-1].removeprefix("nmem: ") if said else f"exit code {process.returncode}"


def _stands(db_path: str, task_id: int) -> Changed:
    from nmem import database
    from nmem.dispatch import read

    try:
        with closing(database.reader(db_path)) as db:
            one = read.task(db, task_id)
    except NmemError as error:
        return Changed(str(error), failed=True)
    except sqlite3.Error as error:
        return Changed(database.worded(error), failed=True)
    if one is None:
        return Changed(f"task/{task_id} is gone", failed=True)
    why = f": {one.reason}" if one.reason else ""
    return Changed(f"task/{task_id} is {one.state}{why}", failed=one.state == "failed")


def cancel_many(db_path: str, ids: Sequence[int]) -> Changed:
    """Cancel them, one after the other: call it from a worker."""
    found = [cancel(db_path, each) for each in ids]
    wrong = [one.text for one in found if one.failed]
    return Changed(f"{several(len(found) - len(wrong), 'task')} cancelled{_but(wrong)}", failed=bool(wrong))


def retry(ids: Sequence[int]) -> Change:
    """Queue them once more, each with what was cancelled because of it."""

    def change(db: Connection, now: int) -> str:
        from nmem.dispatch import act

        queued: set[int] = set()
        wrong: list[str] = []
        for each in ids:
            try:
                queued |= set(() if each in queued else act.retry(db, each, now))
            except NmemError as error:
                wrong.append(str(error))
        if not queued:
            raise NmemError(wrong[0] if wrong else "there is nothing to queue again")
        return f"{several(len(queued), 'task')} queued again" + _but(wrong)

    return change


def _but(wrong: Sequence[str]) -> str:
    return f" · {len(wrong)} could not be: {wrong[0]}" if wrong else ""
