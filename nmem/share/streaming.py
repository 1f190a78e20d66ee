"""Streams events from the database to a target, from a cursor that is kept beside the database, at least once each.

It reads what is stored: no hook knows of it, none waits for it, and no lock is held while a target is waited for. A
target that takes nothing is tried again after pauses that grow to half a minute; each try reads the database anew, so
what was purged meanwhile does not leave. What is in memory is one batch.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path

from capture import paths
from capture.files import opened, own, replace
from nmem import database
from nmem.errors import NmemError
from nmem.read import stream
from nmem.read.stream import Marks, News, Wanted
from nmem.share.events import Records
from nmem.share.targets import Refused, Target, Unreachable
from nmem.text import json_object, to_json, whole

BATCH = 200
"""Rows that are read, and sent, at a time."""
TRIES = 6
"""How often a target is tried that takes nothing, where one does not go on for ever."""
_FIRST_S, _LONGEST_S = 0.5, 30.0
_POLL_S = 0.2
"""Seconds between two looks for a commit."""


@dataclass(slots=True)
class Cursor:
    """How far a target got, and what was counted; kept in a file unless that has no name."""

    file: str = ""
    target: str = ""
    observation: int = 0
    prompt: int = 0
    sent: int = 0
    failed: int = 0
    """Tries at which the target took nothing."""
    refused: int = 0
    """Events that it read and did not take: they are passed over."""
    at: int = 0
    trouble: str = ""
    """What the last try said, unless that was taken."""

    @property
    def marks(self) -> Marks:
        """The newest ids that are done with."""
        return Marks(self.observation, self.prompt)

    def move(self, to: Marks) -> None:
        """Go on behind these."""
        self.observation, self.prompt = to.observation, to.prompt

    def save(self, now: int) -> None:
        """Keep it. Raises NmemError where it cannot be: then events would be sent again and again."""
        self.at = now
        if not self.file:
            return
        said = {name: value for name, value in asdict(self).items() if name != "file"}
        try:
            replace(self.file, to_json(said, compact=True).encode("utf-8", "replace"))
        except OSError as error:
            raise NmemError(f"{self.file} cannot be written: {error.strerror}") from None


def folder(db_path: str) -> Path:
    """Where cursors are kept."""
    return Path(paths.folder(db_path), "streams")


@contextmanager
def cursor(db_path: str, to: str, wanted: Wanted, shown: str) -> Iterator[Cursor]:
    """The cursor of a target, project and types, for this process alone. Raises NmemError where another one has it."""
    words = to_json([to, wanted.project_id, sorted(wanted.types)])
    name = blake2b(words.encode("utf-8", "replace"), digest_size=12).hexdigest()
    file = folder(db_path) / f"{name}.json"
    paths.make(str(file.parent))
    lock = opened(f"{file}.lock", os.O_WRONLY | os.O_CREAT)
    try:
        if not database.taken(lock):
            raise NmemError(f"another `nmem stream` sends to {shown} already")
        yield _kept(file) or Cursor(str(file), shown)
    finally:
        os.close(lock)


def _kept(file: Path) -> Cursor | None:
    try:
        said = json_object(own(str(file)).decode("utf-8", "replace"))
    except OSError:
        return None
    numbers = {name: whole(said.get(name)) for name in ("observation", "prompt", "sent", "failed", "refused", "at")}
    out = Cursor(str(file), str(said.get("target", "")), trouble=str(said.get("trouble", "")))
    for each, number in numbers.items():
        setattr(out, each, number)
    return out


def cursors(db_path: str) -> list[Cursor]:
    """Every cursor that is kept, the one that moved last first."""
    found = (_kept(file) for file in sorted(folder(db_path).glob("*.json")))
    return sorted((one for one in found if one), key=lambda one: -one.at)


class Source:
    """The database as it is now: one that was replaced is opened anew."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._open()

    def _open(self) -> None:
        self.file = _file(self.path)
        self.db = database.leniently(database.reader(self.path, whole=True))
        self.version = self._looked = database.data_version(self.db)
        self._taken_out = stream.taken_out(self.db)

    def moved(self) -> bool:
        """Whether there is another file, which is read from now on. Raises NmemError while there is none."""
        if _file(self.path) == self.file:
            return False
        self.close()
        self._open()
        return True

    def read(self, seen: Marks, wanted: Wanted, limit: int) -> News:
        """What is new, as it is now. Raises Unreachable where somebody else holds the database just now."""
        try:
            self.version = self._looked = database.data_version(self.db)
            self._taken_out = stream.taken_out(self.db)
            return stream.news(self.db, seen, wanted, limit)
        except sqlite3.OperationalError as error:
            if database.held(error):
                raise Unreachable(database.worded(error)) from None
            raise

    def quiet(self) -> bool:
        """Whether nobody has written since it was read."""
        return database.data_version(self.db) == self.version

    def still(self) -> bool:
        """Whether nothing was taken out since it was read: what was read may leave, though others go on writing."""
        now = database.data_version(self.db)
        if now == self._looked:
            return True
        try:
            if stream.taken_out(self.db) != self._taken_out:
                return False
        except sqlite3.OperationalError as error:
            if database.held(error):
                return False
            raise
        self._looked = now
        return True

    def close(self) -> None:
        self.db.close()


def _file(path: str) -> tuple[int, int]:
    try:
        found = Path(path).stat()
    except OSError:
        return 0, 0
    return found.st_dev, found.st_ino


@dataclass(slots=True)
class Run:
    """One run of a stream; `say` is told what goes wrong, once while it is the same."""

    db_path: str
    target: Target
    wanted: Wanted
    cursor: Cursor
    say: Callable[[str], None]
    follow: bool = False
    pause: Callable[[float], object] = time.sleep
    sent: int = 0
    failed: int = 0
    refused: int = 0
    replaced: int = 0
    waiting: bool = False
    """Whether it ended with events that were not taken."""

    def go(self) -> None:
        """Send until all is sent; with `follow` until it is interrupted. Raises NmemError, sqlite3.Error."""
        with closing(Source(self.db_path)) as source:
            self._clamp(source)
            records, limit, tries = Records(), BATCH, 0
            while True:
                try:
                    news = source.read(self.cursor.marks, self.wanted, limit)
                    taken = self._send(source, records, news)
                except Unreachable as error:
                    tries += 1
                    self._tell_failed(str(error))
                    if not self.follow and tries >= TRIES:
                        self.waiting = True
                        return
                    self.pause(min(_LONGEST_S, _FIRST_S * 2 ** min(tries - 1, 10)))
                    self._look(source)
                    continue
                except Refused as error:
                    if error.smaller and len(news.rows) > 1:
                        limit = max(1, len(news.rows) // 2)
                        continue
                    taken = self._tell_refused(str(error), len(news.rows))  # the next ones may be as bad: no more
                else:
                    if news.rows and not taken:  # something was taken out meanwhile: fewer are made sooner
                        limit = max(1, len(news.rows) // 2)
                        self.pause(_POLL_S)
                        continue
                    limit = min(BATCH, limit * 2)
                tries = 0
                self._moved(news, taken)
                if news.more or taken < len(news.rows):
                    continue
                if not self.follow:
                    return
                self._wait(source)

    def _send(self, source: Source, records: Records, news: News) -> int:
        if not news.rows:
            return 0
        made = records.of(source.db, news.rows)
        taken = self.target.send(made, source.still)
        self.sent += taken
        self.cursor.sent += taken
        if taken:
            self.cursor.trouble = ""
        self.replaced = records.replaced
        return taken

    def _moved(self, news: News, taken: int) -> None:
        to = news.done(taken)
        if to != self.cursor.marks:
            self.cursor.move(to)
            self.cursor.save(_now())

    def _tell_failed(self, said: str) -> None:
        self.failed += 1
        self.cursor.failed += 1
        short = said.partition(": ")[0]
        if short != self.cursor.trouble or self.failed == 1:
            self.say(f"{said}: tried again")
        self.cursor.trouble = short
        self.cursor.save(_now())

    def _tell_refused(self, said: str, count: int) -> int:
        """Pass over events that are not taken: others wait behind them."""
        self.refused += count
        self.cursor.refused += count
        short = said.partition(": ")[0]  # what a receiver says may quote an event: it is not kept
        if short != self.cursor.trouble or self.refused == count:
            self.say(f"{said}: {count} event{'s' if count > 1 else ''} passed over; further ones are only counted")
        self.cursor.trouble = short
        return count

    def _wait(self, source: Source) -> None:
        """Until somebody commits, or another file is there."""
        while source.quiet():
            self.pause(_POLL_S)
            if self._look(source):
                return

    def _look(self, source: Source) -> bool:
        """Whether the file was replaced; while there is none, it is waited for where one follows."""
        while True:
            try:
                moved = source.moved()
            except NmemError as error:
                if not self.follow:
                    raise
                if str(error) != self.cursor.trouble:
                    self.say(str(error))
                self.cursor.trouble = str(error)
                self.pause(_LONGEST_S / 10)
                continue
            if moved:
                self._clamp(source)
            return moved

    def _clamp(self, source: Source) -> None:
        """A database that never had rows of these numbers is another, or an earlier state: go on behind its newest."""
        had = stream.highest(source.db)
        now = self.cursor.marks
        if now.beyond(had):
            self.say("the database was replaced by an earlier state: going on behind its newest row")
            self.cursor.move(Marks(min(now.observation, had.observation), min(now.prompt, had.prompt)))


def _now() -> int:
    return time.time_ns() // 1_000_000
