"""Settling, the background work: closes and narrates episodes, summarizes sessions, links and condenses threads.

One process at a time; each step is a transaction of its own and asks the database what is left to do, so it can be
killed anywhere, goes on where it was, and finds little to do when there is nothing. One that fails is passed over.
Sessions that nothing was concluded from yet come first, in batches from the newest to the oldest: a batch is labelled,
cut, told and summed up before the next one begins, and the first one is indexed and made ready to be told of at once,
so nobody waits for the history behind the last day. Where many wait and other processes help, all that follow
the first batch are cut into episodes, then told, then labelled and summed up: every list shows them soon, called by
what was asked for, and stories, which no label tells of, do not wait for labels.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from sqlite3 import Connection

from capture import log
from capture.files import opened
from capture.settle import settle as fold
from capture.storage import store
from nmem import database, structure, tables
from nmem.context import keep, usefulness
from nmem.cost import usage as cost
from nmem.decisions import find as said
from nmem.episodes import detect, narrations, storytelling, summary
from nmem.episodes.boundary import load
from nmem.episodes.judging import judge_session
from nmem.episodes.store import finished, undivided
from nmem.episodes.storytelling import Teller
from nmem.errors import NmemError
from nmem.labels.backfill import fill
from nmem.learn import refresh
from nmem.llm import Cancel
from nmem.llm.ask import Desk
from nmem.llm.connect import connect
from nmem.mcp import registration
from nmem.purge import files, history, run
from nmem.purge.store import waiting as purges_wait
from nmem.recall.loaded import make_ready
from nmem.retention.idle import automatic
from nmem.retrieval import index as retrieval
from nmem.search import refresh as index
from nmem.sessions import copies
from nmem.settle_beside import Beside
from nmem.settle_start import lock_file, start, wanted
from nmem.side_by_side import seldom_collected
from nmem.themes import keep as themes
from nmem.threads import compaction, continuity, links_store, outcomes, tuning
from nmem.threads.link import REASSESS, Linker, ModelAssessor
from nmem.training import examples, personal

SECONDS = 900.0
"""How long one run works at most; what is left is for the next one."""
_WAIT = 10.0
_LATELY = 24 * 3_600_000
"""Milliseconds: what nothing happened in since waits for its end to be told."""
_HISTORY = 10.0
"""Seconds that a run goes over history for secrets by detectors that are new; the next one goes on."""
_COPYING = 60.0
"""Seconds that a run copies transcripts; the next one goes on."""
ERRORS = "settle errors"
"""The counter of steps that failed since everything was last done without one."""
BATCH = 50
"""Sessions that are labelled, cut, told and summed up before the next ones are looked at."""
FOUND, TOLD, SETTLED, LEARNED, INDEXED = (
    "sessions are cut into episodes, the newest first", "sessions are told, the newest first",
    "sessions are settled, the newest first", "sessions are searched for learnings", "texts are indexed for search",
)  # fmt: skip
Step = Callable[[int, int, str], None]
"""A callback that is told how much of what waits is done, of how much, and what is done."""
_CHECKPOINT = 4000
"""Pages of the write-ahead log after which it is folded back."""


@dataclass(slots=True)
class Report:
    """What a run did; `left` says that time ran out before everything was done."""

    drained: int = 0
    labelled: int = 0
    """Calls of before there were labels, or that a hook could not label."""
    detected: int = 0
    closed: int = 0
    threads: int = 0
    judged: int = 0
    """Sessions whose boundaries a model has judged."""
    told: int = 0
    by_model: int = 0
    """Of all told, those that a model told."""
    summaries: int = 0
    decided: int = 0
    """Sessions searched for decisions."""
    links: int = 0
    condensed: int = 0
    learned: int = 0
    """Sessions searched for patterns."""
    folded: int = 0
    """Turns made candidates for what later sessions are told."""
    weighed: int = 0
    """Things that sessions were told, of which it is known now whether they were of use."""
    indexed: int = 0
    """Texts taken in by the search."""
    themed: int = 0
    """Themes made of episodes that are about the same."""
    redacted: int = 0
    """Secrets that rules which are new took out of what was stored."""
    forgotten: int = 0
    """Records past their lifetime that went; told by their traces from now on."""
    seconds: float = 0.0
    left: bool = False
    model: str = ""
    """Who was asked; empty when nobody was needed, set up or found."""
    problem: str = ""
    failures: dict[str, int] = field(default_factory=dict)
    """What models failed at, by kind."""
    failed: list[str] = field(default_factory=list)
    """Steps that failed; the log says how. The others were done."""

    @property
    def idle(self) -> bool:
        """Whether there was nothing to do."""
        return not any((self.drained, self.labelled, self.detected, self.closed, self.threads, self.judged, self.told,
                        self.by_model, self.decided, self.summaries, self.links, self.condensed, self.learned,
                        self.folded, self.weighed, self.indexed, self.redacted, self.forgotten))  # fmt: skip


def settle(
    db_path: str, seconds: float = SECONDS, *, models: bool = True, cancel: Cancel | None = None,
    clock: Callable[[], int] = storytelling.milliseconds, step: Step = lambda _done, _all, _what: None,
) -> Report | None:  # fmt: skip
    """Do all that is due, for at most `seconds`; None when another process is at it.

    `models`: whether one may be asked. `step` is told of each batch that is done.
    Raises sqlite3.Error, OSError or NewerDatabase where it cannot begin.
    """
    begun = time.monotonic()
    stop = Cancel(seconds, also=cancel.is_set if cancel else None)
    report = Report()
    turned_up = False
    while not turned_up or (_wanted(db_path) and not stop.is_set()):
        with database.settle_lock(db_path) as mine:
            if not mine:
                return report if turned_up else None
            turned_up = True
            _begin(db_path)
            with closing(store.connect(db_path, timeout=_WAIT, autocheckpoint=_CHECKPOINT)) as db:
                tables.ensure(db)
                with seldom_collected():
                    _Run(db, db_path, stop, report, clock, models=models, step=step).all()
    report.left = report.left or stop.is_set()
    report.seconds = round(time.monotonic() - begun, 3)
    return report


def at_once(db_path: str, seconds: float = 60.0) -> None:
    """Settle what a command has changed before it ends, without a model: sessions are told of it from then on.

    What another process is at, or time does not allow, is done in the background. Raises as `settle`.
    """
    done = settle(db_path, seconds, models=False)
    if done is None or done.left:
        start(db_path)


class _Run:
    """One pass over everything that may be due."""

    def __init__(
        self, db: Connection, db_path: str, stop: Cancel, report: Report, clock: Callable[[], int], *, models: bool,
        step: Step,
    ) -> None:  # fmt: skip
        self.db, self.db_path, self.stop, self.report, self.clock = db, db_path, stop, report, clock
        self._models, self._step = models, step
        self._beside = Beside(db, db_path)
        self._desk: Desk | None = None
        self._looked = False
        self._untouched: list[str] | None = None
        """Waiting sessions that are not settled yet, the newest first, and how many there were; None: not looked."""
        self._all = 0
        self._served: list[str] = []
        """The batch that was settled last."""
        self._many = False
        """Whether so many sessions wait that processes beside this one help."""
        self._cut: dict[str, bool] = {}
        """Waiting sessions that were cut before their batch came to it; whether with labels."""
        self._told: set[int] = set()
        """Episodes that this run has told: their words are those of today."""
        self._broken: set[int] = set()
        """Episodes that could not be told: each is tried once a run."""

    def all(self) -> None:
        steps = (
            self._facts,
            self._rate,
            self._purges,
            self._structure,
            self._newest,
            self._threads,
            self._waiting,
            self._labels,
            self._episodes,
            self._wordings,
            self._stories,
            self._so_far,
            self._said,
            self._sessions,
            self._cost,
            self._retrieval,
            self._rules,
            self._links,
            self._learn,
            self._condense,
            self._context,
            self._decisions,
            self._usefulness,
            self._search,
            self._themes,
            self._copies,
            self._forget,
        )
        try:
            for step in steps:
                if self.stop.is_set():
                    return
                self._tried(step)
        finally:
            self._beside.close()
        if not self.report.failed:
            store.uncount(self.db, ERRORS)

    def _tried(self, step: Callable[..., None], *some: Sequence[str]) -> None:
        """One step; one that fails stands in nobody's way: the log says what it was, a counter keeps it."""
        try:
            step(*some)
        except Exception as error:  # noqa: BLE001 - a boundary: what a step cannot do, the others still do
            self._failed(step, error)

    def _failed(self, step: Callable[..., None], error: Exception, what: str = "") -> None:
        name = step.__name__.strip("_")
        if self.db.in_transaction:
            self.db.rollback()
        log.note(self.db_path, f"settle: {name}: {what}{log.reason(error)}")
        if name not in self.report.failed:
            self.report.failed.append(name)
        with suppress(sqlite3.Error):
            store.count(self.db, ERRORS)

    def _untold(self, step: Callable[..., None]) -> Callable[[int, Exception], None]:
        """An episode that cannot be told is said as a step is that failed; the others are told."""

        def failed(number: int, error: Exception) -> None:
            self._broken.add(number)
            self._failed(step, error, f"episode {number}: ")

        return failed

    def desk(self) -> Desk | None:
        """The model to ask, looked for when it is first needed."""
        if not self._looked and self._models:
            self._looked = True
            found = connect(self.db_path, self.stop)
            self._desk = found.desk
            self.report.problem = found.problem
            self.report.model = found.desk.backend.label if found.desk else ""
        return self._desk

    def _purges(self) -> None:
        """What was purged is out of the files and, after its window, gone for good; also where somebody was killed."""
        now = run.milliseconds()
        files.clear(self.db_path)
        if purges_wait(self.db, now):
            run.finish(self.db_path, now)
        run.expire(self.db, self.db_path, now)

    def _structure(self) -> None:
        """Files that git moved or deleted; early: the session that just began is told of them at its first prompt."""
        structure.keep(self.db, self.clock(), self.stop.is_set)

    def _rules(self) -> None:
        """History is gone over by detectors that are new; after the sessions, which were redacted when they came."""
        done = history.automatic(self.db, run.milliseconds(), _HISTORY, self.stop.is_set)
        self.report.redacted += done.counts.total() if done else 0
        self.report.left = done is not None and not done.done

    def _facts(self) -> None:
        """Spooled rows, the write-ahead log, the text index: whoever settles does capture's part too."""
        self.report.drained += max(0, fold(self.db_path, _WAIT))

    def _rate(self) -> None:
        """Decisions of the person since: where episodes are cut follows how often they say that one begins."""
        personal.follow(self.db, self.db_path, self.clock())

    def _threads(self) -> None:
        """Sessions into threads: in the order in which they were opened, which decides what they go on with."""
        self.report.threads += continuity.assign_all(self.db, self.stop.is_set)

    def _newest(self) -> None:
        """Where many sessions wait, the newest of them whole: found and told of before anything else is looked at."""
        if len(self._look()) <= BATCH:
            return
        some = self._look()[:BATCH]
        if self._batch(some, self._retrieval, self._first_told):
            self._progress()

    def _waiting(self) -> None:
        """Sessions that nothing was concluded from yet, the newest first: each batch is whole before the next one."""
        if len(self._look()) > BATCH and self._many:
            self._find(narrations.uncut(self.db, self._look()))
            self._tell_found(self._look())
        while some := self._look()[:BATCH]:
            if not self._batch(some):
                return
            self._progress()

    def _look(self) -> list[str]:
        if self._untouched is None:
            self._untouched = undivided(self.db)
            self._all = len(self._untouched)
            self._many = self._beside.wanted(self._all)
        return self._untouched

    def _batch(self, some: list[str], *more: Callable[[], None]) -> bool:
        """Label, cut, tell and sum up some waiting sessions, and do more; False where there was no time."""
        for step in (self._labels, self._episodes, self._stories, self._sessions):
            if self.stop.is_set():
                return False
            self._tried(step, some)
        del self._look()[: len(some)]
        self._served = some
        for then in more:
            if not self.stop.is_set():
                self._tried(then)
        return True

    def _progress(self) -> None:
        self._step(self._all - len(self._look()), self._all, SETTLED)

    def _long(self, done: int, of: int, what: str) -> None:
        """Report progress of a step where more waits than a batch."""
        if of > BATCH:
            self._step(done, of, what)

    def _find(self, some: Sequence[str]) -> None:
        """Cut waiting sessions into episodes: what they are called, how long they took and how they ended is known.

        Until they are counted with their labels they count as waiting, also for the next run.
        """
        if not some:
            return
        cut, before = self._cutter(labelled=False), self._all - len(some)
        for number, (session_id, known) in enumerate(zip(some, self._beside.episodes(some), strict=True), before + 1):
            if self.stop.is_set():
                return
            with suppress(Exception):  # it is cut again with its batch, which says what is wrong with it
                cut(session_id, known)
            if number % BATCH == 0 or number == self._all:
                self._step(number, self._all, FOUND)

    def _tell_found(self, some: Sequence[str]) -> None:
        """Tell the sessions that were just cut, before they are labelled: a story needs no label."""
        for at in range(0, len(some), BATCH):
            if self.stop.is_set():
                return
            self._tried(self._stories, batch := some[at : at + BATCH])
            self._step(self._all - len(some) + at + len(batch), self._all, TOLD)

    def _first_told(self) -> None:
        """A project of which nothing was made ready yet: its sessions are told of the newest ones."""
        self.report.folded += keep.newest(self.db, self._served, self.clock(), self.stop.is_set)

    def _labels(self, some: Sequence[str] | None = None) -> None:
        """Calls that carry no labels get them before episodes count what they are, or are counted anew."""
        over = self._cutter() if some is not None and self._many else None
        self.report.labelled += fill(
            self.db, self.db_path, self.clock(), self.stop.is_set, some, self._beside.labels, over
        )

    def _episodes(self, some: Sequence[str] | None = None) -> None:
        """Prompts into episodes; what is over is closed and counted to its end."""
        cut = self._cutter()
        for session_id in undivided(self.db) if some is None else some:
            if self.stop.is_set():
                return
            if some is None or not self._cut.get(session_id):
                cut(session_id)
        if some is not None:
            return
        self.report.closed += len(detect.close_overdue(self.db, self.clock(), self.db_path))

    def _cutter(self, *, labelled: bool = True) -> Callable[..., None]:
        """What cuts one session into episodes, and notes it as done; of one that is cut only the counts are due."""
        detector = load(self.db_path)
        over = set(finished(self.db, self.clock()))

        def cut(session_id: str, known: detect.Decided | None = None) -> None:
            if self._cut.pop(session_id, None) is False:
                detect.count_again(self.db, session_id)
            else:
                detect.session(self.db, session_id, detector, close=session_id in over, known=known, trace=labelled)
                self.report.detected += 1
                self.report.closed += session_id in over
            self._cut[session_id] = labelled

        return cut

    def _wordings(self) -> None:
        """Stories that an older narrator worded; before those of today are told, which need it not."""
        self.report.told += storytelling.renew(
            self.db, self.stop.is_set, failed=self._untold(self._wordings), told=self._told
        )

    def _stories(self, some: Sequence[str] | None = None) -> None:
        if some is not None:
            self._tell([number for number in narrations.untold_of(self.db, some) if number not in self._broken])
            return
        while (waiting := self._untried()) and not self.stop.is_set():
            if not self._tell(waiting):
                break
        if self._models and (narrations.unjudged(self.db, 1) or narrations.tellable(self.db, 1)):
            self._better()

    def _so_far(self) -> None:
        """What goes on, as far as it came: told from its records alone, and anew after each turn."""
        some = narrations.going(self.db, self.clock() - _LATELY)
        self._tell([number for number in some if number not in self._broken])

    def _untried(self) -> list[int]:
        return [number for number in narrations.untold(self.db) if number not in self._broken]

    def _tell(self, episodes: Sequence[int]) -> int:
        """Episodes told from their records; how many were."""
        teller = Teller(self.db, cancel=self.stop, clock=self.clock)
        if self._beside.wanted(len(episodes)):
            teller.word = self._beside.stories(episodes)
        storytelling.tell_all(teller, episodes, self.stop.is_set, self._untold(self._stories))
        self._told.update(episodes)
        self.report.told += teller.extractive
        return teller.extractive

    def _better(self) -> None:
        """Sessions judged by a model, then episodes worth it told by one; why none told them where that failed."""
        desk = self.desk()
        shown = examples.in_force(self.db) if desk else ()
        teller = Teller(self.db, desk, self.stop, self.clock, self.report.problem, shown)
        detector = load(self.db_path)
        asked: set[str] = set()
        while waiting := [one for one in narrations.unjudged(self.db) if one[0] not in asked]:
            for session_id, holds in waiting:
                if not teller.asking:
                    break
                asked.add(session_id)
                try:
                    self.report.judged += judge_session(teller, session_id, holds, detector, said.stated)
                except Exception as error:  # noqa: BLE001 - a boundary: the other sessions are judged
                    self._failed(self._better, error, f"session {session_id}: ")
            if not teller.asking:
                break
        self.report.told += teller.extractive
        storytelling.tell_all(teller, (), self.stop.is_set, self._untold(self._stories))
        self.report.by_model += teller.by_model
        for kind, count in teller.failures.items():
            self.report.failures[kind] = self.report.failures.get(kind, 0) + count

    def _said(self) -> None:
        """What the person settled in episodes that are over, and what that replaces."""
        many = self._beside.wanted(self.report.detected)
        more = (self._beside.decisions,) if many else ()
        self.report.decided += said.refresh(self.db, self.stop.is_set, *more)

    def _sessions(self, some: Sequence[str] | None = None) -> None:
        for session_id in narrations.unsummarised(self.db, some):
            if self.stop.is_set():
                return
            self.report.summaries += summary.summarise(self.db, session_id)

    def _cost(self) -> None:
        """What answers used is stored before clients delete their transcripts."""
        cost.take_in(self.db, self.stop.is_set)

    def _retrieval(self) -> None:
        """Stories that are told are indexed: linking, search and context find them."""
        self.report.indexed += retrieval.keep(self.db, self.stop.is_set)

    def _themes(self) -> None:
        """Which episodes are about the same, in projects that have grown: late, for it may take seconds."""
        if self.report.indexed:
            self.report.themed += themes.keep(self.db, self.stop.is_set)

    def _links(self) -> None:
        """New threads beside earlier ones; a model is asked about recent ones."""
        now = self.clock()
        desk = self.desk() if self._models and links_store.unassessed(self.db, now - REASSESS) else None
        linker = Linker(self.db, ModelAssessor(desk, self.stop) if desk else None)
        self.report.links += len(linker.link_all(now, self.stop.is_set))
        if self.stop.is_set() or self.report.idle:
            return  # nothing has come about that earlier decisions could be judged by
        old = not self.report.links  # of earlier decisions only those about what went on can be judged anew
        outcomes.by_words(self.db, now, lately=old)
        outcomes.by_files(self.db, now, lately=old)
        if tuning.due(self.db):
            tuning.tune(self.db, now)

    def _condense(self) -> None:
        self.report.condensed += len(compaction.compact_due(self.db, self.clock()))

    def _learn(self) -> None:
        beside = self._beside.sessions if self._beside.wanted(self.report.detected) else None
        done = refresh.refresh(
            self.db, self.clock(), stopped=self.stop.is_set, beside=beside, patient=True,
            step=lambda some, of: self._long(some, of, LEARNED),
        )  # fmt: skip
        self.report.learned += done.sessions

    def _context(self) -> None:
        """What hooks tell later sessions is made ready: files, words, warm learnings, which clients have the tools."""
        self.report.folded += keep.keep_all(self.db, self.clock(), self.stop.is_set)
        registration.keep(self.db_path, registration.projects(self.db))

    def _decisions(self) -> None:
        """Hooks offer written decisions from what is kept of them, and never read a file themselves."""
        make_ready(self.db, self.clock(), self.stop.is_set)

    def _usefulness(self) -> None:
        self.report.weighed += usefulness.judge_due(self.db, self.clock(), self.stop.is_set)

    def _search(self) -> None:
        """Last, so that what the other steps wrote is found as well."""
        self.report.indexed += index.refresh(self.db, self.stop.is_set, lambda some, of: self._long(some, of, INDEXED))

    def _copies(self) -> None:
        """Transcripts of sessions that are over, before their clients delete them; what may not be kept longer goes."""
        until = time.monotonic() + _COPYING
        try:
            rules = history.in_force(self.db)
            copies.keep(self.db, self.clock(), rules, lambda: self.stop.is_set() or time.monotonic() > until)
        except NmemError as error:  # a configuration that cannot be read: nothing is copied, and nothing given up
            log.note(self.db_path, f"copies: {error}")

    def _forget(self) -> None:
        """What is past its lifetime, once all that is to be known of it was made; and the upkeep of the file."""
        self.report.forgotten += automatic(self.db, self.db_path, self.clock(), self.stop.is_set).forgotten


def _wanted(db_path: str) -> bool:
    try:
        return Path(wanted(db_path)).stat().st_size > 0
    except OSError:
        return False


def _begin(db_path: str) -> None:
    """What is wished for from now on asks for another pass."""
    with suppress(FileNotFoundError):
        os.close(opened(wanted(db_path), os.O_WRONLY | os.O_TRUNC))


def running(db_path: str) -> bool:
    """Whether a process settles this database just now."""
    try:
        lock = opened(lock_file(db_path), os.O_WRONLY)
    except OSError:
        return False
    try:
        return not database.taken(lock)
    finally:
        os.close(lock)
