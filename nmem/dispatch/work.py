"""Judges an attempt by its work at its end: changes made, calls refused, the last test.

An exit code says only that the client ended by itself. An attempt whose calls were refused, or that changed nothing, is
no success. Where nothing is known (in the folder itself, and no hooks stored its session) the exit code decides.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass, replace
from sqlite3 import Connection

from capture.redaction import redact
from nmem import database
from nmem.dispatch import store
from nmem.dispatch.folder import Folder, Spec
from nmem.dispatch.task import FAILED, SUCCEEDED, Outcome, Task
from nmem.dispatch.worktrees import Changes
from nmem.errors import NmemError
from nmem.text import fit, printable

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


def of(db: Connection, one: Task, tree: Changes | None, asked: str) -> Work:
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
        return replace(outcome, reason=said)
    return replace(outcome, state=FAILED, reason=said, final=outcome.final or bool(found.refused))


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
