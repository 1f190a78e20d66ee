"""Checks and cleans a task before it is queued or changed: redaction, an existing folder, no cycles."""

from __future__ import annotations

from pathlib import Path
from sqlite3 import Connection

from capture.project import resolve
from capture.redaction import redact
from capture.text import clean
from nmem import hours
from nmem.dispatch import read, store
from nmem.dispatch.task import AGENT, CLIENTS, LONGEST, LONGEST_LIMIT, MOST_RETRIES, NewTask
from nmem.errors import NmemError
from nmem.text import fit, printable

_MOST_BY_AGENTS = 20
_DEEPEST = 3
_PRIORITIES = 1000


def accepted(db: Connection, new: NewTask) -> NewTask:
    """The task as it will be stored. Raises NmemError, one line that says what to do."""
    prompt = redact(clean(new.prompt)).strip()
    if not prompt:
        raise NmemError("the prompt is empty: say what the task should do")
    if len(prompt) > LONGEST:
        raise NmemError(f"a prompt has at most {LONGEST:,} characters, this one has {len(prompt):,}: name a file")
    if new.client not in CLIENTS:
        raise NmemError(f"{_shown(new.client)} is not a client that can run tasks: choose {', '.join(CLIENTS)}")
    _numbers(new)
    cwd = folder(new.cwd)
    worktree = _worktree(new, cwd)
    quiet = new.quiet_hours if new.quiet_hours is None else hours.quiet(new.quiet_hours)
    for need in new.needs:
        if read.task(db, need) is None:
            raise NmemError(f"there is no task {need} to wait for: `nmem task list` lists them")
    if new.source == AGENT:
        _agents(db, new)
    return new._replace(prompt=prompt, cwd=cwd, project=project(cwd), quiet_hours=quiet, worktree=worktree)


def _worktree(new: NewTask, cwd: str) -> bool:
    """Whether it gets a checkout of its own. Raises NmemError where one is asked for and there is no repository."""
    from nmem.dispatch import worktrees  # on use: start-up stays short

    if new.worktree:
        worktrees.root(cwd)
    return not worktrees.why_not(cwd) if new.worktree is None else new.worktree


def project(cwd: str) -> str:
    """The name that a folder's project goes by."""
    return printable(redact(clean(resolve(cwd).name)))[:200]


def folder(cwd: str) -> str:
    """A folder that is there, in full. Raises NmemError."""
    if not cwd:
        raise NmemError("the current folder is gone: name a folder to run in, by --cwd or --project")
    try:
        path = Path(cwd).expanduser().resolve()
        found = path.is_dir()
        str(path).encode()
    except (OSError, ValueError, RuntimeError) as error:
        why = "its name is not UTF-8" if isinstance(error, UnicodeEncodeError) else str(error).partition(":")[0]
        raise NmemError(f"{_shown(cwd)} is not a folder that a task can run in: {printable(why)}") from None
    if not found:
        raise NmemError(f"{_shown(cwd)} is not a folder: a task needs one")
    return str(path)


def secrets(prompt: str) -> int:
    """How many secrets are taken out of a prompt: what the client is given holds placeholders instead."""
    counts: dict[str, int] = {}
    redact(clean(prompt), counts)
    return sum(counts.values())


def needs(db: Connection, task_id: int, wanted: tuple[int, ...]) -> None:
    """Raises NmemError when a task would wait for itself, or for none."""
    for need in wanted:
        if read.task(db, need) is None:
            raise NmemError(f"there is no task {need} to wait for: `nmem task list` lists them")
    seen: set[int] = set()
    waiting = list(wanted)
    while waiting:
        one = waiting.pop()
        if one == task_id:
            raise NmemError(f"task/{task_id} would wait for itself")
        if one not in seen and (found := read.task(db, one)):
            seen.add(one)
            waiting += found.needs


def _numbers(new: NewTask) -> None:
    if not 0 <= new.retries <= MOST_RETRIES:
        raise NmemError(f"a task is retried at most {MOST_RETRIES} times")
    if not 0 <= new.time_limit <= LONGEST_LIMIT:
        raise NmemError("a task's time limit is at most a week")
    if abs(new.priority) > _PRIORITIES:
        raise NmemError(f"a priority must be between -{_PRIORITIES} and {_PRIORITIES}")


def _agents(db: Connection, new: NewTask) -> None:
    """An agent shall not keep the queue full, nor tasks that queue tasks go on for ever."""
    if store.of_agents(db) >= _MOST_BY_AGENTS:
        raise NmemError(f"{_MOST_BY_AGENTS} tasks of agents are waiting already: a person must review them first")
    depth, parent = 0, new.parent_id
    while parent is not None and depth <= _DEEPEST:
        found = read.task(db, parent)
        depth, parent = depth + 1, found.parent_id if found else None
    if depth > _DEEPEST:
        raise NmemError("tasks nest two deep at most: ask the person instead")


def _shown(text: str) -> str:
    return fit(printable(text), 80) or "nothing"
