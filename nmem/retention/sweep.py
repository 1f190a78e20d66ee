"""Sweeps sessions, oldest first: deletes expired records, or only counts them.

It can be stopped or killed anywhere and the next one goes on: each asks the database what there is to do.

Rows go in small batches; each transaction also writes a trace and a count of them. Readers of tables that rest on the
rows are told nothing: what they made of the rows stands (candidates for context, words of the search, learnings).
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from sqlite3 import Connection
from typing import Any

from capture.storage.store import transaction
from nmem import database, tables
from nmem.episodes import annotate, units
from nmem.retention import journal, policy, store
from nmem.retention.plan import DAY, Lives, Plan, believed, plan
from nmem.retention.policy import Life, Policy
from nmem.retention.store import guard
from nmem.settings.kinds import LEAST_DAYS, PROMPT
from nmem.store import trace

NOTICED = "first look"
GRACE = 7 * DAY
"""After the first look nothing goes by itself for so long: time to see what would go, and to say otherwise."""
_TRIES = 3
_SHORTER = (1.0, 0.5, 0.25, 0.125)
"""Of the lifetimes, where the file is larger than it may be."""
_DRIFT = 1.25
"""The search counts its words anew when it counts so many times the texts that there are."""
_CACHE = 64_000
"""Kilobytes: what goes is all over the indexes."""


def _never() -> bool:
    return False


@dataclass(slots=True)
class Swept:
    """What a sweep did, or would do."""

    dry: bool
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    """(project, type) -> how many went."""
    sessions: int = 0
    spared: int = 0
    """Past their lifetime, and kept: pinned, decided, evidence ..."""
    imported: tuple[int, str] = (0, "")
    """Calls that happened longer ago than their lifetime, and came by an import since: how many, and until when."""
    skipped: Counter[str] = field(default_factory=Counter)
    """Sessions let alone, by reason."""
    lives: tuple[Life, ...] = ()
    strangers: tuple[policy.Stranger, ...] = ()
    """Names in the configuration that no project has; what is called nearly so is let alone."""
    done: str = journal.FINISHED
    seconds: float = 0.0
    longest_ms: float = 0.0
    """The longest time that the database was locked for others."""
    shorter: float = 1.0
    """How far lifetimes were shortened for the size of the file."""

    @property
    def count(self) -> int:
        """All that went."""
        return sum(self.counts.values())


def size(db: Connection) -> int:
    """Bytes of the file that are in use."""
    pages, free, each = journal.pages(db)
    return (pages - free) * each


def sweep(
    db: Connection, policy: Policy, now: int, *, why: str = journal.PERSON, project: str = "", dry: bool = False,
    stopped: Callable[[], bool] = _never, step: Callable[[str], None] = lambda _session: None,
    pace: Pace | None = None,
) -> Swept:  # fmt: skip
    """Forget what is past its lifetime, of one project (its name or key) or of all; `dry`: only count it.

    A dry run may be on a reading connection. Raises sqlite3.Error.
    """
    out = Swept(dry)
    begun = time.monotonic()
    run = _Run(db, policy, now, out, stopped, step, pace)
    with nullcontext() if dry else journal.unfolded(db, _CACHE):  # the forgetter folds it back, holding no lock
        for share in _SHORTER:
            if share < 1.0 and (dry or not policy.max_bytes or size(db) <= policy.max_bytes):
                break
            out.shorter = share
            run.all(journal.SIZE if share < 1.0 else why, project, share)
            if out.done != journal.FINISHED:
                break
    out.seconds = round(time.monotonic() - begun, 3)
    return out


class _Run:
    """One pass over the sessions that may hold something past its lifetime."""

    def __init__(self, db: Connection, policy: Policy, now: int, out: Swept, stopped: Callable[[], bool],
                 step: Callable[[str], None], pace: Pace | None) -> None:  # fmt: skip
        self.db, self.policy, self.now, self.out = db, policy, now, out
        self.stopped, self.step = stopped, step
        self.pace = pace or Pace(db)
        self._began = time.monotonic()
        self._merged = False

    def clock(self) -> int:
        """The time of the sweep, going on."""
        return self.now + int((time.monotonic() - self._began) * 1000)

    def all(self, why: str, project: str, share: float) -> None:
        db, out = self.db, self.out
        projects = store.projects(db, project)
        out.strangers = policy.strangers(db, self.policy.projects)
        lives = policy.lives(db, self.policy, self.now, projects)
        out.lives = tuple(lives)
        by_project = {
            number: Lives({one.type: shortened(one.in_force, share) for one in lives if one.project_id == number},
                          self.now)
            for number in projects
        }  # fmt: skip
        sweep_id = 0
        before, sessions = out.count, out.sessions
        if not out.dry:
            with transaction(db):
                only = next(iter(projects)) if project else None
                sweep_id = journal.begin(db, why, only, policy.told(self.policy, lives, share), self.now)
        out.done = self._sessions(sweep_id, projects, by_project)
        out.longest_ms = round(self.pace.longest * 1000, 1)
        if out.dry:
            return
        with transaction(db):
            journal.end(db, sweep_id, out.done, out.sessions - sessions, out.skipped, self.clock())
            if out.count == before:
                journal.drop(db, sweep_id)
            journal.recount_words(db, _DRIFT)

    def _sessions(self, sweep_id: int, projects: Mapping[int, str], by_project: Mapping[int, Lives]) -> str:
        kept, version = store.kept(self.db, self.now), store.choices_version(self.db)
        self._merged = self.out.dry
        for project_id, name in projects.items():
            lives = by_project[project_id]
            forgetter = Forgetter(self.db, sweep_id, project_id, lives, self.pace, self.clock)
            sessions = store.sessions_before(self.db, project_id, lives.newest)
            if any(one.nearest == name for one in self.out.strangers):
                self.out.skipped[policy.HELD] += len(sessions)
                continue
            for session_id in sessions:
                if self.stopped():
                    return journal.TIME
                if store.choices_version(self.db) != version:
                    kept, version = store.kept(self.db, self.now), store.choices_version(self.db)
                try:
                    self._session(session_id, name, forgetter, kept)
                finally:
                    self.out.counts.update({(name, type_): some for type_, some in forgetter.gone.items()})
                    forgetter.gone.clear()
                self.step(session_id)
        return journal.FINISHED

    def _merge(self) -> None:
        """Before the first deletion: what the text indexes have lying about is merged, in steps."""
        while not self._merged and not self.stopped():
            self._merged = not tidy(self.db, self.pace)

    def _session(self, session_id: str, project: str, forgetter: Forgetter, kept: store.Kept) -> None:
        for _ in range(_TRIES):
            one = plan(self.db, session_id, forgetter.lives, kept)
            if one.skipped:
                self.out.skipped[one.skipped] += 1
                return
            if not one:
                self.out.spared += one.spared
                return
            if self.out.dry:
                self.out.counts.update((project, type_) for type_ in one.types())
            else:
                self._merge()
                try:
                    forgetter.forget(one, self.stopped)
                except Changed:
                    kept = store.kept(self.db, self.now)
                    continue
            self.out.sessions += 1
            self.out.spared += one.spared
            return
        self.out.skipped["changed meanwhile"] += 1


def shortened(days: float, share: float) -> float:
    """A lifetime by its share; never under the least, and for ever stays for ever."""
    return days if days <= 0 else max(LEAST_DAYS, days * share)


def due_at(db: Connection, now: int) -> int | None:
    """When a sweep is due by itself: once a day, at once where one did not come to its end, and never in the week after
    a database was first looked at; None before that. What was noted by a clock that was ahead of `now` says nothing."""
    noticed = journal.notes(db).get(NOTICED)
    if noticed is None:
        return None
    found = journal.last(db)
    before = 0 if found is None or found[0] > now else found[0] + (DAY if found[1] else 0)
    return max(min(noticed[0], now) + GRACE, before)


def due(db: Connection, now: int) -> bool:
    """Whether it is time to sweep by itself. On a writing connection: the first look begins the week of grace."""
    at, credible = due_at(db, now), believed(db, now)
    with transaction(db):
        first, told = journal.notes(db).get(NOTICED, (now, ""))
        journal.note(db, [(NOTICED, min(first, now), told)])
    return credible and at is not None and now >= at


def anew(db: Connection, now: int) -> int:
    """The time after the first look begins again; when it ends. On a writing connection, outside a transaction."""
    tables.ensure(db)
    with transaction(db):
        journal.note(db, [(NOTICED, now, "")])
    return now + GRACE


@dataclass(frozen=True, slots=True)
class Aged:
    """Imported calls that are older than they would be kept, had they been recorded as they happened."""

    count: int = 0
    of: int = 0
    """How many were imported."""
    first: int = 0
    """When the first of them go by themselves, counted from their import; 0: none does."""


def aged(db: Connection, now: int, wanted: Policy, project: str = "", since: int = 0) -> Aged:
    """What of the calls imported since a time lives on because its lifetime begins with the import."""
    whole = older = first = 0
    for name, type_, day, taken, count in store.imported(db, project, since, DAY):
        whole += count
        lives = int(wanted.of(name, type_) * DAY)
        if lives and (day + 1) * DAY < now - lives and taken + lives > now:
            older += count
            first = min(first or taken + lives, taken + lives)
    return Aged(older, whole, first)


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
                journal.checkpoint(self.db, cut=False)

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
