"""One pass between this memory and the team's server: what is gone first, then what is new, in both directions.

Each step can be killed anywhere and is done again: deletions and versions have ids of their own, and how far was read
is stored with the rows. A server that was set back, or is another one, is told everything once more.
"""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from sqlite3 import Connection, Error

from capture import log, paths
from capture.files import opened
from capture.storage import store
from nmem import database, tables
from nmem.errors import NmemError
from nmem.purge.store import fold
from nmem.store.taken_back import clear_gone
from nmem.team import config, local, versions, wire
from nmem.team.config import Membership, lock_file
from nmem.team.server import Server, connected
from nmem.team.wire import BATCH, Came, Gone, Mark, Removed, Unreachable, driver, worded
from nmem.teammates.live import state
from nmem.teammates.members import FAILING, PAUSED
from nmem.text import json_object, printable

STILL, HARD = 25.0, 50.0
"""Seconds without a step after which the connection is cut, and after which the process ends whatever hangs."""
LONGEST = 600.0
"""Seconds of a pass in the background; the next one goes on."""
_BUSY, _FOLDS = 10.0, 2.0
_CHECKPOINT = 4000
"""Pages of the write-ahead log that are folded back as they come: a first pass writes hundreds of megabytes."""
LAST = "last"
"""Under which is kept what the newest whole pass did."""


@dataclass(slots=True)
class Pass:
    """What a pass did."""

    announced: int = 0
    """Deletions of one's own that the server was told."""
    taken_away: int = 0
    """Versions that are gone here because they are gone there."""
    made: int = 0
    sent: int = 0
    refused: int = 0
    came: int = 0
    """Rows that are new here; one's own that came back are none."""
    set_back: bool = False
    """The server was set back or is another one: it was told everything again."""
    left: bool = False
    """Time was over before all was done."""
    strangers: tuple[str, ...] = ()
    """Shared projects that are another one by now."""
    seconds: float = 0.0


class Watch:
    """Ends a pass that makes no step any more: cuts its connection, and if that does not help, the process."""

    def __init__(self, still: float = STILL, longest: float = 0.0, *, hard: bool = False) -> None:
        self._still, self._hard, self._over = still, hard, threading.Event()
        self._at = time.monotonic()
        self._until = self._at + longest if longest else 0.0
        self._socket = -1
        self.fired = False

    def step(self) -> None:
        """Something was done."""
        self._at = time.monotonic()

    @property
    def late(self) -> bool:
        """Whether the pass has had its time."""
        return bool(self._until) and time.monotonic() > self._until

    def over(self, handle: int) -> None:
        """This socket is waited on."""
        self._socket = handle

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch in a thread of its own."""
        thread = threading.Thread(target=self._watch, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._over.set()
            thread.join()

    def _watch(self) -> None:
        while not self._over.wait(min(1.0, self._still / 4)):
            idle = time.monotonic() - self._at
            if idle > self._still and not self.fired and self._socket >= 0:
                self.fired = True
                with suppress(OSError), socket.socket(fileno=os.dup(self._socket)) as cut:
                    cut.shutdown(socket.SHUT_RDWR)
            if idle > self._still + HARD - STILL and self._hard:
                os._exit(75)  # a name that is looked up, a disk: nobody waits for this process


def run(db_path: str, *, background: bool = False, still: float = STILL) -> Pass | None:
    """One pass; None where another process is at it, or in the background where it rests. Raises NmemError.

    Why a pass failed, and since when, is kept for `status`.
    """
    us = config.needed()
    with _alone(db_path) as mine:
        if not mine:
            return None
        with closing(database.leniently(store.connect(db_path, timeout=_BUSY, autocheckpoint=_CHECKPOINT))) as db:
            tables.ensure(db)
            local.secure(db)
            if state(db, "device") != us.device:
                if background:
                    return None
                raise NmemError("this database has not joined the team (it may be a restored one): `nmem sync init`")
            if background and state(db, PAUSED):
                return None
            begun, watch = time.monotonic(), Watch(still, LONGEST if background else 0.0, hard=background)
            try:
                with watch.watching():
                    done = _Pass(db, us, watch, trusting=background).all()
            except wire.Left:
                return None
            except (NmemError, Error, OSError) as error:
                raise _failed(db, db_path, error, watch) from None
            if done.taken_away:
                fold(db, _FOLDS)  # what others took away is in no old page of the log either
            done.seconds = round(time.monotonic() - begun, 3)
            _succeeded(db, done)
            return done


@contextmanager
def _alone(db_path: str) -> Iterator[bool]:
    """Whether this process is the one that shares; the system frees the lock when its holder dies."""
    paths.make(paths.folder(db_path))
    lock = opened(lock_file(db_path), os.O_WRONLY | os.O_CREAT)
    try:
        mine = database.taken(lock)
        if mine:
            os.utime(lock if os.utime in os.supports_fd else lock_file(db_path))
        yield mine
    finally:
        os.close(lock)


def _failed(db: Connection, db_path: str, error: Exception, watch: Watch) -> NmemError:
    """Keep since when passes fail, and say why."""
    if watch.fired:
        error = Unreachable("the server stopped answering")
    said = str(error) if isinstance(error, NmemError) else database.worded(error)
    with suppress(Error):
        if db.in_transaction:
            db.rollback()
        before = json_object(state(db, FAILING))
        now = {"since": before.get("since") or wire.now(), "at": wire.now(), "why": said[:300],
               "kind": type(error).__name__, "times": int(before.get("times", 0)) + 1}  # fmt: skip
        local.keep(db, FAILING, json.dumps(now))
        if not before:
            log.note(db_path, f"sync: {type(error).__name__}")
    return error if isinstance(error, NmemError) else NmemError(said)


def _succeeded(db: Connection, done: Pass) -> None:
    kept = {"at": wire.now(), "sent": done.sent, "came": done.came, "announced": done.announced,
            "taken_away": done.taken_away, "seconds": done.seconds, "strangers": list(done.strangers)}  # fmt: skip
    with store.transaction(db):
        local.keep(db, FAILING, "")
        local.keep(db, LAST, json.dumps(kept))


class _Pass:
    """The steps of one pass."""

    def __init__(self, db: Connection, us: Membership, watch: Watch, *, trusting: bool) -> None:
        self.db, self.us, self.watch, self.trusting, self.done = db, us, watch, trusting, Pass()
        self.key = ""

    def all(self) -> Pass:
        psycopg = driver()
        try:
            with connected(self.us.server) as remote:
                self.watch.over(remote.fileno())
                self.watch.step()
                try:
                    self._steps(Server(remote, self.us.team))
                finally:
                    self.watch.over(-1)
        except psycopg.Error as error:
            raise Unreachable(worded(error)) from None
        return self.done

    def _steps(self, there: Server) -> None:
        who = there.me()
        if who != self.us.member:
            raise Removed(
                f"the server knows this login as {printable(who)}, not {self.us.member}: join again with --as"
            )
        self.key = wire.role(self.us.team, who, there.login())
        self._noticed(there)
        self._announce(there)
        if not self._fetch_gone(there):
            return  # nothing is sent before all that is gone is known
        self.watch.step()
        made = versions.make(self.db, self.us, self.watch.step, wire.now(), trusting=self.trusting)
        self.watch.step()
        self.done.made, self.done.strangers = made.new, tuple(made.strangers)
        self._announce(there)  # versions that newer rules replace, before those that replace them
        if made.whole:
            self._send(there)
        self.done.left |= not made.whole
        self._fetch_gone(there)
        self._fetch(there)
        looked = versions.look(self.db, self.us, self.watch.step, wire.now())
        self._announce(there)  # what was purged here meanwhile may just have been sent
        if looked.new and looked.whole and made.whole:
            self._send(there)
        local.take_members(self.db, self.us.team, there.members(), self.key)

    def _noticed(self, there: Server) -> None:
        """A server with another history than the one that was read from is told everything again."""
        read = local.how_far(self.db, self.key)
        head = there.mark()
        behind = read.mark is not None and (max(read.facts, read.gone) > head.seq or not there.knows(read.mark))
        if behind:
            local.announce_again(self.db, self.us.member)
            self.done.set_back = True
            read = wire.Read()
        if read.mark is None:
            self._keep(replace(read, mark=Mark(head.epoch)), first=True)

    def _keep(self, read: wire.Read, *, first: bool = False) -> None:
        with store.transaction(self.db):
            local.keep_far(self.db, self.key, read, first=first)

    def _announce(self, there: Server) -> None:
        for words, tell in zip(local.untold(self.db, self.us.member), (there.purge, there.withdraw), strict=True):
            for at in range(0, len(words), BATCH):
                refused = tell(words[at : at + BATCH])
                local.refuse(self.db, "team_gone", refused)
                local.told(self.db, words[at : at + BATCH])
                self.done.announced += len(words[at : at + BATCH]) - len(refused)
                self.watch.step()

    def _fetch_gone(self, there: Server) -> bool:
        """Whether all was read."""
        clear_gone(self.db)
        read = local.how_far(self.db, self.key)
        while batch := there.gone(read.gone):
            _in_order(batch, read.gone)
            read = replace(read, gone=batch[-1].seq)
            self.done.taken_away += local.take_gone(self.db, self.us.member, batch, self.key, read)
            self.watch.step()
            if self.watch.late:
                self.done.left = True
                return False
        return True

    def _send(self, there: Server) -> None:
        numbers = local.pending(self.db, self.us.team, self.us.member)
        for at in range(0, len(numbers), BATCH):
            batch = local.facts(self.db, numbers[at : at + BATCH])
            new, refused = there.send(batch)
            local.refuse(self.db, "team_facts", refused)
            self.done.sent += new
            self.done.refused += len(refused)
            self.watch.step()
            if self.watch.late:
                self.done.left = True
                return

    def _fetch(self, there: Server) -> None:
        """Up to where the server is now: what comes later is of the next pass, so that the mark covers what was read.

        One's own rows come back as well: that is how it is known that the server has them.
        """
        # with the moment: what was shared no longer for a while is read anew
        shared = [(each.shared_as, each.project_id, each.at)
                  for each in local.projects(self.db, self.us.team) if each.same]  # fmt: skip
        known = {name: number for name, number, _ in shared}
        head, of = there.mark(), wire.digest(*map(str, shared))
        before = local.how_far(self.db, self.key)
        read = replace(before, mark=head, of=of, facts=before.facts if before.of == of else 0)
        if read != before:
            self._keep(read)
        while batch := there.facts(read.facts, head.seq, list(known)):
            _in_order(batch, read.facts)
            read = replace(read, facts=batch[-1].seq)
            self.done.came += local.take_facts(self.db, self.us.team, self.us.member, batch, known, self.key, read)
            self.watch.step()
            if self.watch.late:
                self.done.left = True
                return
        if read.facts < head.seq:
            self._keep(replace(read, facts=head.seq))


def _in_order(batch: Sequence[Came] | Sequence[Gone], after: int) -> None:
    """Raises NmemError where a server's numbers do not rise: it would be read for ever."""
    for each in batch:
        if each.seq <= after:
            raise NmemError("the server gives its rows in no order: nothing more is read from it")
        after = each.seq


def waiting(db_path: str, seconds: float, stopped: Callable[[], bool] = lambda: False) -> Pass | None:
    """A pass, after one that is under way; None where that one does not end in time. Raises NmemError."""
    until = time.monotonic() + seconds
    while True:
        done = run(db_path)
        if done is not None or stopped() or time.monotonic() > until:
            return done
        time.sleep(0.2)
