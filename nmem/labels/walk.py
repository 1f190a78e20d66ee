"""SQL: walks the calls of a session in order, as the classifiers saw them when stored.

What came before a call is looked up as capture.labels.history does it: the agent's last calls among the session's last
rows. A session is read in pages, so that no reading transaction stays open.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from sqlite3 import Connection
from typing import Any, NamedTuple

from capture.labels.calls import NOT_CALLS, TEXT, WINDOW, Call, Seen
from capture.labels.history import COLUMNS

PAGE = 2000
LOOKED = 24
"""Rows of a session that are looked through for an agent's last calls: what capture.labels.history does."""
_FROM = (
    f"SELECT id, at, seq, prompt_id, label_model, phase, scope, locus, novelty, friction, coalesce(agent_id, ''), {COLUMNS}"  # noqa: S608, E501
    " FROM observations WHERE session_id = ?"
)
_ON = f"{_FROM} AND (at, seq) >= (?, ?) ORDER BY at, seq LIMIT ?"
_BEFORE = f"{_FROM} AND (at, seq) < (?, ?) ORDER BY at DESC, seq DESC LIMIT {LOOKED}"
_ASKED = f"SELECT substr(content, 1, {TEXT}) FROM prompts WHERE id = ?"  # noqa: S608

Row = tuple[Any, ...]
Scores = tuple[float | None, float | None, float | None, float | None, float | None]


class Stored(NamedTuple):
    """One stored call."""

    id: int
    at: int
    seq: int
    prompt_id: int | None
    label_model: str | None
    scores: Scores
    call: Call
    before: tuple[Call, ...]


class Walk:
    """The calls of one session from a moment on, each with what came before it."""

    def __init__(self, db: Connection, session_id: str, at: int = -(1 << 62), seq: int = 0, page: int = PAGE) -> None:
        self.db, self.session_id, self.page = db, session_id, page
        self._next = at, seq
        self._number = 0
        self._last: dict[str, deque[tuple[int, Call]]] = {}
        self._prompt: tuple[int | None, str] = (None, "")

    def __iter__(self) -> Iterator[Stored]:
        for row in reversed(self.db.execute(_BEFORE, (self.session_id, *self._next)).fetchall()):
            self._seen(row)
        while True:
            page = self.db.execute(_ON, (self.session_id, *self._next, self.page)).fetchall()
            for row in page:
                found = self._seen(row)
                if found is not None:
                    yield found
            if len(page) < self.page:
                return
            self._next = page[-1][1], page[-1][2] + 1

    def seen(self, stored: Stored) -> Seen:
        """What the classifiers are shown of it."""
        return Seen(stored.call, stored.before, self._asked(stored.prompt_id))

    def _seen(self, row: Row) -> Stored | None:
        """The row's call; None for what is none, which takes up a place all the same."""
        self._number += 1
        number, at, seq, prompt_id, model, *scores = row[:10]
        agent, kind, tool, path, text, failed = row[10:]
        if kind in NOT_CALLS:
            return None
        call = Call(kind, tool, path, text, bool(failed))
        last = self._last.setdefault(agent, deque(maxlen=WINDOW))
        while last and last[-1][0] < self._number - LOOKED:
            last.pop()
        before = tuple(one for _, one in last)
        last.appendleft((self._number, call))
        return Stored(number, at, seq, prompt_id, model, tuple(scores), call, before)

    def _asked(self, prompt_id: int | None) -> str:
        if prompt_id is None:
            return ""
        if self._prompt[0] != prompt_id:
            row = self.db.execute(_ASKED, (prompt_id,)).fetchone()
            self._prompt = prompt_id, row[0] if row else ""
        return self._prompt[1]


def one(db: Connection, observation_id: int) -> tuple[Stored, Seen] | None:
    """One stored call with what came before it; None when it is not there, or is no call."""
    row = db.execute("SELECT session_id, at, seq FROM observations WHERE id = ?", (observation_id,)).fetchone()
    if row is None:
        return None
    walk = Walk(db, row[0], row[1], row[2], page=1)
    for stored in walk:
        if stored.id == observation_id:
            return stored, walk.seen(stored)
        if (stored.at, stored.seq) > (row[1], row[2]):
            break
    return None
