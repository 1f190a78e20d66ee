"""Deletes expired rows in small batches; each transaction also writes a trace and a count of them.

Killed anywhere, what is gone is traced and counted, and what is not gone is still there. Readers of tables that rest on
the rows are told nothing: what they made of the rows stands (candidates for context, words of the search, learnings).
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from sqlite3 import Connection
from typing import Any

from capture.storage.store import transaction
from nmem import database
from nmem.episodes import annotate, units
from nmem.retention import journal
from nmem.retention.plan import Lives, Plan
from nmem.retention.store import guard
from nmem.settings.kinds import PROMPT
from nmem.store import trace

_AT, _TYPE, _PATH = 1, 3, 4
_TIDY = 10
"""Batches after which the text indexes are merged a little: left alone, they would be merged all at once."""
_PAGES = 32
_FOLD = 40
"""Batches after which the log is folded back, while nobody has to wait for it: the same pages are written again."""
_INDEXES = ("observations_fts", "prompts_fts")


def tidy(db: Connection, pace: Pace) -> bool:
    """One short step of merging each of the text indexes that deleting writes to; whether there was any to do.

    SQLite merges a level of an index at once, however large, when sixteen pieces of it have come together: no hook
    could wait for that.
    """
    worked = False
    for index in _INDEXES:
        pace.begin()
        with transaction(db):
            pace.held()
            worked |= journal.merge_index(db, index, _PAGES)
        pace.done(0)
    return worked


class Changed(Exception):
    """The session is not what the plan was made for."""


class Forgetter:
    """Carries out the plans of one project."""

    def __init__(self, db: Connection, sweep_id: int, project_id: int, lives: Lives, pace: Pace,
                 clock: Callable[[], int]) -> None:  # fmt: skip
        self.db, self.sweep_id, self.project_id = db, sweep_id, project_id
        self.lives, self.pace, self.clock = lives, pace, clock
        self.gone: Counter[str] = Counter()
        """What went so far, by type."""
        self._batches = 0

    def forget(self, plan: Plan, stopped: Callable[[], bool]) -> None:
        """Do what a plan says, in short transactions. Raises Changed: plan again."""
        if plan.retrace:
            self._retrace(plan.session_id)
            raise Changed
        for part in self._parts(plan):
            if stopped():
                break
            self.pace.begin()
            with transaction(self.db):
                self.pace.held()
                if guard(self.db, plan.session_id) != plan.guard:
                    raise Changed
                went = self._part(plan.session_id, part)
            self.gone.update(type_ for type_, _ in went)
            self.pace.done(len(part))
            self._batches += 1
            if self._batches % _TIDY == 0:
                tidy(self.db, self.pace)
            if self._batches % _FOLD == 0:
                journal.fold(self.db)

    def _parts(self, plan: Plan) -> Iterator[list[tuple[str, tuple[Any, ...]]]]:
        """What goes, in pieces: ("row" | "prompt" | "said", its row)."""
        whole: list[tuple[str, tuple[Any, ...]]] = [("row", row) for row in plan.rows]
        whole += [("said", one) for one in plan.said]
        whole += [(PROMPT, one) for one in plan.prompts]
        at = 0
        while at < len(whole):
            size = self.pace.rows
            yield whole[at : at + size]
            at += size

    def _part(self, session_id: str, part: list[tuple[str, tuple[Any, ...]]]) -> list[tuple[str, int]]:
        rows = [row for kind, row in part if kind == "row"]
        said = [row for kind, row in part if kind == "said"]
        prompts = [row for kind, row in part if kind == PROMPT]
        keys = journal.keys(self.db, _ids(rows), _ids(said))
        with journal.unnoticed(self.db, self.project_id):
            for table, those in (("observations", rows), ("prompts", said)):
                # anything else than all of them is no plan of ours
                if those and journal.delete(self.db, table, _ids(those)) != len(those):
                    raise Changed
            if prompts:
                journal.empty(self.db, _ids(prompts))
        if rows or said:
            trace.write(self.db, session_id, rows, [(one[0], one[1]) for one in said], keys)
        return self._note(session_id, rows, said, prompts)

    def _note(self, session_id: str, rows: list[tuple[Any, ...]], said: list[tuple[Any, ...]],
              prompts: list[tuple[Any, ...]]) -> list[tuple[str, int]]:  # fmt: skip
        """The files, the counts; what went, as (type, when it happened)."""
        now = self.clock()
        whole = [(row[_TYPE], row[_AT]) for row in rows] + [(one[2], one[1]) for one in said]
        whole += [(PROMPT, one[1]) for one in prompts]
        files = [(row[_PATH], row[_AT]) for row in rows if row[_PATH]]
        numbers = len(rows), len(prompts), len(said)
        journal.count_session(self.db, session_id, numbers, max(at for _, at in whole), files, now)
        journal.count(self.db, self.sweep_id, self.project_id, whole, self.lives.days, now)
        return whole

    def _retrace(self, session_id: str) -> None:
        """Write the traces of a session's episodes again, from its rows and what is traced of it already."""
        for unit in units.of_session(self.db, session_id):
            if unit.state == units.CLOSED:
                self.pace.begin()
                with transaction(self.db):
                    self.pace.held()
                    annotate.retrace(self.db, unit)
                self.pace.done(0)


def _ids(rows: list[tuple[Any, ...]]) -> list[int]:
    return [int(row[0]) for row in rows]


HOLD = 0.015
"""Seconds that the lock should be held."""
GAP = 0.25
"""Of the time that it was held."""
BUSY_GAP = 0.7
"""The same while others write."""
_BUSY_FOR = 2.0
_LEAST, _MOST, _FIRST = 8, 600, 40


class Pace:
    """Measures holds and sets the size of the next batch."""

    def __init__(self, db: Connection, sleep: Callable[[float], None] = time.sleep) -> None:
        self.db = db
        self.rows = _FIRST
        self.longest = 0.0
        self._sleep = sleep
        self._version = self._seen()
        self._busy_until = 0.0
        self._began = 0.0

    def _seen(self) -> int:
        return database.data_version(self.db)

    def begin(self) -> None:
        """The lock is asked for from now on."""
        version = self._seen()
        if version != self._version:
            self._version, self._busy_until = version, time.monotonic() + _BUSY_FOR

    def held(self) -> None:
        """The lock is ours."""
        self._began = time.perf_counter()

    def done(self, rows: int) -> None:
        """The lock is free again, after so many rows: rest, and mind how long it took."""
        took = time.perf_counter() - self._began
        self.longest = max(self.longest, took)
        if rows:
            fits = rows * HOLD / max(took, 1e-6)
            self.rows = int(min(_MOST, max(_LEAST, 0.7 * self.rows + 0.3 * fits)))
        busy = time.monotonic() < self._busy_until
        self._sleep(max(0.001, took * (BUSY_GAP if busy else GAP)))
