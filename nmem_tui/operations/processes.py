"""Runs `nmem` as processes of their own: to run and cancel tasks, and to write a narrative."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from sqlite3 import Connection

from capture.hook import SKIP
from nmem import database
from nmem.episodes.narrations import told_by
from nmem.errors import NmemError
from nmem.own_process import words
from nmem_tui.messages import Changed
from nmem_tui.model.figures import several
from nmem_tui.store.access import Change

_PATIENCE_S = 60
"""So long what it says is waited for; it goes on after that."""


_NARRATE_S = 600


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
    from nmem.dispatch import runner  # on use: start-up stays short

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
    from nmem.dispatch import read  # on use: start-up stays short

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
        from nmem.dispatch import act  # on use: start-up stays short

        queued: set[int] = set()
        wrong: list[str] = []
        for each in ids:
            try:
                queued |= set(() if each in queued else act.retry(db, each, now))
            except NmemError as error:
                wrong.append(str(error))
        if not queued:
            raise NmemError(wrong[0] if wrong else "nothing to queue again")
        return f"{several(len(queued), 'task')} queued again" + _but(wrong)

    return change


def _but(wrong: Sequence[str]) -> str:
    return f" · {len(wrong)} could not be: {wrong[0]}" if wrong else ""


def narrate(db_path: str, unit_id: int) -> Changed:
    """Write one episode's narrative; what came of it in a line. Waits until it is done: call it from a worker."""
    command = words("narrate", str(unit_id), "--json")
    env = {**os.environ, "NMEM_DB": db_path, SKIP: "1"}
    try:
        done = subprocess.run(
            command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_NARRATE_S, check=False
        )
    except subprocess.TimeoutExpired:
        return Changed(f"no narrative: it took longer than {_NARRATE_S // 60} minutes", failed=True)
    except OSError as error:
        return Changed(f"no narrative: {error}", failed=True)
    if done.returncode:
        said = done.stderr.strip().splitlines()
        return Changed(f"no narrative: {said[-1] if said else f'exit code {done.returncode}'}", failed=True)
    return _narrated(done.stdout)


def _narrated(answer: str) -> Changed:
    try:
        episode = json.loads(answer)["episodes"][0]
    except (ValueError, LookupError, TypeError):
        return Changed("no narrative: its answer could not be read", failed=True)
    fallback = f"; no model: {episode['fallback']}" if episode.get("fallback") else ""
    return Changed(f"the narrative is written, {told_by(episode['narrator'])}{fallback}", failed=False)
