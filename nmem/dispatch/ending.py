"""Ends an attempt: judges it by its work, settles its worktree, finishes its task, removes its folder. Idempotent.

An exit code says only that the client ended by itself. An attempt whose calls were refused, or that changed nothing, is
no success. Where nothing is known (in the folder itself, and no hooks stored its session) the exit code decides.
"""

from __future__ import annotations

import contextlib
import json
import signal
import sqlite3
import time
from dataclasses import dataclass, replace
from pathlib import Path
from sqlite3 import Connection

from capture.redaction import redact
from nmem import database
from nmem.dispatch import processes, queue, read, store, worktrees
from nmem.dispatch.folder import ABANDONED, Folder, Spec
from nmem.dispatch.task import CANCELLED, FAILED, SUCCEEDED, Outcome, Task
from nmem.dispatch.worktrees import Changes
from nmem.errors import NmemError
from nmem.text import fit, printable


def finish(db: Connection, db_path: str, task_id: int, attempt: int, outcome: Outcome, now: int) -> bool:
    """Bring an end into the database; False when it was there already. Raises sqlite3.Error."""
    one = read.task(db, task_id)
    if one is None or one.attempt != attempt or not one.live:
        _away(db_path, task_id, attempt)
        return False
    tree = settle_worktree(db, one, now)
    asked = Folder(db_path, task_id, attempt).asked()[1]
    outcome = judged(outcome, one, work_of(db, one, tree, asked))
    done = queue.finish(db, task_id, attempt, outcome, now)
    _away(db_path, task_id, attempt)
    return done


def settle_worktree(db: Connection, one: Task, now: int) -> worktrees.Changes | None:
    """Remove a worktree that nothing was done in, and say what became of it; what was done, None: that is not known."""
    if not one.worktree_path:
        return None
    done = None
    try:
        if Path(one.worktree_path).is_dir():
            done = worktrees.changes(one.worktree_path, worktrees.base_of(one.cwd, one.branch))
        said = worktrees.settle(one.cwd, one.worktree_path, one.branch, done)
    except NmemError as error:
        said = f"kept on {one.branch}: {error}"
    gone = {} if said.startswith("kept") else {"worktree_path": "", "branch": ""}
    queue.placed(db, one.id, one.attempt, gone or {"branch": one.branch}, now, said)
    return done


def _away(db_path: str, task_id: int, attempt: int) -> None:
    Folder(db_path, task_id, attempt).remove()


_PATIENCE = 12.0
"""Seconds in which the process beside the client ends it; longer, and everything is killed from here."""


def cancel(db_path: str, task_id: int, why: str) -> None:
    """End it, wait until it has ended, and see that the database says so. Raises NmemError."""
    with queue.writing(db_path) as db:
        one = read.task(db, task_id)
    if one is None or not one.live:
        return
    folder = Folder(db_path, task_id, one.attempt)
    with contextlib.suppress(OSError):
        folder.cancel(why)
    process = one.process or _begun(folder)
    if processes.alive(process):
        processes.send([processes.pid(process)], signal.SIGTERM)
        until = time.monotonic() + _PATIENCE
        while processes.alive(process) and time.monotonic() < until:
            time.sleep(0.05)
    for left in (process, folder.client()):
        if processes.alive(left):
            processes.end(processes.pid(left), 1.0)
    outcome = folder.ended() or Outcome(CANCELLED, reason=why)
    with queue.writing(db_path) as db:
        finish(db, db_path, task_id, one.attempt, outcome, queue.now())


def _begun(folder: Folder) -> str:
    """The process beside the client; where there is none yet, none will be."""
    try:
        mine = folder.begin(ABANDONED)
    except OSError:
        return ""
    return "" if mine else folder.begun()


_EDITS = ("file_edit", "file_write")
_RUNS = ("command", "install", "build", "git_push", "git_other", "mcp", "subagent")
"""What changes things that no record of files shows."""
_HARMLESS = ("file_read", "search", "web_search", "web_fetch", "question", "todo", "plan", "skill")
"""What changes nothing: that it was refused takes nothing from the work."""
_SHOWN, _CELLS = 3, 60
_NOTHING = "it changed nothing"


@dataclass(frozen=True, slots=True)
class Work:
    """What is known of an attempt."""

    files: int = 0
    commits: int = 0
    known: bool = False
    """Whether more would have been seen, had there been more."""
    refused: tuple[str, ...] = ()
    """Calls that were refused and did not succeed later, in words."""
    tests: str = ""
    """How the last test ended: ok or failed; empty: there was none."""

    @property
    def empty(self) -> bool:
        """Whether it is certain that nothing was changed."""
        return self.known and not (self.files or self.commits)

    def said(self) -> str:
        """In words; empty where nothing is known."""
        parts = [_count(self.commits, "commit")] if self.commits else []
        parts += [f"{_count(self.files, 'file')} changed"] if self.files else []
        parts += [_NOTHING] if self.empty else []
        if self.refused:
            more = f" and {len(self.refused) - _SHOWN} more" if len(self.refused) > _SHOWN else ""
            parts.append(f"its client refused {', '.join(self.refused[:_SHOWN])}{more}")
        if self.tests:
            parts.append(f"its last test {'passed' if self.tests == 'ok' else 'failed'}")
        return "; ".join(parts)


def work_of(db: Connection, one: Task, tree: Changes | None, asked: str) -> Work:
    """What a task's newest attempt did. `tree`: what its worktree holds; `asked`: what its client asked for last."""
    found = _of_session(db, one) if one.session_id else Work()
    if tree is not None:
        found = replace(found, files=tree.files + tree.ignored, commits=tree.commits, known=tree.known)
    if asked and not one.interactive and not found.refused and one.session_id is None:
        found = replace(found, refused=(asked.removeprefix("asks for permission: "),))
    return found


def judged(outcome: Outcome, one: Task, found: Work) -> Outcome:
    """The outcome with what was done in words; refused or empty work is no success. A person's own turn is theirs."""
    said = "; ".join(part for part in (outcome.reason, found.said()) if part)
    failed = outcome.state == SUCCEEDED and not one.interactive and bool(found.refused or found.empty)
    if not failed:
        return outcome._replace(reason=said)
    return outcome._replace(state=FAILED, reason=said, final=outcome.final or bool(found.refused))


def _of_session(db: Connection, one: Task) -> Work:
    refused: dict[tuple[str, str], str] = {}
    files: set[str] = set()
    commits, tests, ran = 0, "", False
    for kind, tool, path, content, outcome, metadata in store.done(
        db, one.session_id or "", one.started_at or one.claimed_at or 0
    ):
        key = (kind, path)
        if _was_refused(metadata):
            if kind not in _HARMLESS:
                refused[key] = _call(tool or kind, path or content)
            continue
        if outcome != "ok":
            tests = "failed" if kind == "test" and outcome == "failed" else tests
            continue
        refused.pop(key, None)
        tests = "ok" if kind == "test" else tests
        commits += kind == "git_commit"
        ran = ran or kind in _RUNS
        if kind in _EDITS and path:
            files.add(path)
    return Work(len(files), commits, bool(files or commits or not ran), tuple(refused.values()), tests)


def _was_refused(metadata: str | None) -> bool:
    """Whether a call was refused, by a person or by the client's own rules; not one that fell with its neighbour."""
    if not metadata or '"refused"' not in metadata:
        return False
    try:
        found = json.loads(metadata)
    except ValueError:
        return False
    return isinstance(found, dict) and found.get("refused") not in (None, "", "sibling")


def _call(tool: str, what: str) -> str:
    first = next(iter(what.strip().splitlines()), "")
    return fit(printable(redact(f"{tool} {first}".strip())), _CELLS)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


_MOVES = 5
"""Looks in a row at which the screen had changed: something is at work."""
_OVER = "its turn is over: continue in its pane, or quit the client to end the task"
_SETTLED = 1_500
"""Milliseconds after the last word of a session in which it may still say the next."""


class Attention:
    """Looks at one attempt again and again."""

    def __init__(self, folder: Folder, spec: Spec) -> None:
        self._folder = folder
        self._spec = spec
        self._screen = ""
        self._still_since = 0
        self._moves = 0
        self._asked = self._answered = 0

    def wanted(self, screen: str, now: int) -> str:
        """What a person is wanted for, in words; empty while there is nothing."""
        self._watch(screen, now)
        asked, what = self._folder.asked()
        if asked != self._asked:
            self._asked, self._moves = asked, 0  # what moves from now on moves after it was asked
        if asked and self._moves >= _MOVES and now - asked > _SETTLED:
            self._answered = max(self._answered, asked)
        if not asked and not self._spec.interactive:
            return ""
        state, last = self._session()
        if asked > max(last, self._answered):
            return what
        if not self._spec.interactive:
            return ""
        if state in ("idle", "failed") and now - last > _SETTLED:
            return _OVER
        seconds = (now - self._still_since) // 1000
        if screen and seconds >= self._spec.idle_seconds:
            return f"its screen has not changed for {self._spec.idle_seconds} s: check its pane"
        return ""

    def _watch(self, screen: str, now: int) -> None:
        if screen != self._screen or not self._still_since:
            self._screen, self._still_since = screen, now
            self._moves += 1
        else:
            self._moves = 0

    def _session(self) -> tuple[str, int]:
        """Its session's state and the time of its last word; ("", 0) while none is known, or it never had a turn."""
        try:
            db = database.reader(self._spec.database)
        except NmemError:
            return "", 0
        try:
            return store.session_state(db, self._spec.task_id) or ("", 0)
        except sqlite3.Error:
            return "", 0
        finally:
            db.close()
