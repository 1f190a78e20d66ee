"""Detects that a client waits for a person (SQL: the state of its session). Three signs, the surest first:

1. the client says so: a hook of this one run notes a permission that is asked for, or a question (Claude Code);
2. its session's turn is over, as its hooks have stored, while the client stays open: the next word is a person's;
3. it stays open and its screen stands still for long: a dialog before the session, or a client without hooks.

A task goes on when its session does, or when its screen has been moving for a while.
"""

from __future__ import annotations

import sqlite3

from nmem import database
from nmem.dispatch.folder import Folder, Spec
from nmem.errors import NmemError

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
        if state == "idle" and now - last > _SETTLED:
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
            row = db.execute(
                "SELECT s.state, s.last_at FROM tasks t JOIN sessions s ON s.id = t.session_id WHERE t.id = ?"
                " AND EXISTS (SELECT 1 FROM prompts p WHERE p.session_id = s.id AND p.source = 'user')",
                (self._spec.task_id,),
            ).fetchone()
        except sqlite3.Error:
            return "", 0
        finally:
            db.close()
        return (str(row[0]), int(row[1])) if row else ("", 0)
