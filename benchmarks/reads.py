"""What reading costs beside a control: a page of the timeline and of episodes, the current episode, a context.

The control is a query over a table in memory, made in the same rounds: it is paced by the machine as the others are,
and knows no database on disk. Every round asks every database once, in an order that chance decides. Milliseconds are
of the clock, ratios to the control of processor time, which does not tell of who else works on the machine.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from sqlite3 import Connection, connect

from benchmarks.grown import words
from nmem import database
from nmem.context import candidates, compose, present
from nmem.read import episodes, stream
from nmem.read.episode_store import Filter

SCREENFUL = 64
"""Rows that a list shows at once, and reads in whole."""
CONTROL_ROWS = 4000
EPISODES = 200
"""Of a page: so many has the smallest size, too."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A database that is read: its newest session, and what to ask there."""

    db: Connection
    session: str
    now: int
    prompts: tuple[str, ...]


def subject(db: Connection) -> Subject:
    """The newest session of a database, and prompts that speak of what is in it."""
    dice = random.Random(17)
    session, now = db.execute("SELECT id, last_at FROM sessions ORDER BY last_at DESC LIMIT 1").fetchone()
    paths = [row[0] for row in db.execute("SELECT path FROM context_files ORDER BY file LIMIT 500")] or ["src/a.py"]
    said = tuple(f"{words(dice, dice.choice((4, 12, 30)))} in {dice.choice(paths)}" for _ in range(20))
    return Subject(db, str(session), int(now), said)


def page(one: Subject, _number: int) -> int:
    """The timeline of the newest session: a page of keys, and its newest rows in whole."""
    slots = stream.page(one.db, one.session, None, stream.Query(""))
    return len(stream.rows(one.db, slots.key[-SCREENFUL:]))


def episode_page(one: Subject, _number: int) -> int:
    """The newest episodes, as their screen opens with them."""
    return len(episodes.page(one.db, None, Filter(""), EPISODES, counted=False).slots)


def current(one: Subject, _number: int) -> int:
    """The episode that the newest session is in."""
    return int(episodes.current(one.db, one.session) is not None)


def context(one: Subject, number: int) -> int:
    """What a prompt of the newest session is told, as its hook selects and words it."""
    named, one.db.row_factory = one.db.row_factory, None  # the hook reads plain rows
    try:
        here = present.read(one.db, one.session, one.now, one.prompts[number % len(one.prompts)])
        assert here is not None
        return len(compose.compose(candidates.select(one.db, here, candidates.PROMPT_TOKENS), here))
    finally:
        one.db.row_factory = named


KINDS: dict[str, Callable[[Subject, int], int]] = {
    "read stream": page, "read episodes": episode_page, "read current": current, "read context": context,
}  # fmt: skip


def control() -> Callable[[], object]:
    """A query of which the machine's pace is all that changes."""
    db = connect(":memory:")
    db.execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT)")
    dice = random.Random(1)
    db.executemany("INSERT INTO t (b) VALUES (?)", [(words(dice, 8),) for _ in range(CONTROL_ROWS)])
    return lambda: sorted(db.execute("SELECT b, a FROM t WHERE b LIKE '%cache%' OR b > 'm'").fetchall())


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Milliseconds of the clock, and of this thread on a processor."""
    begun, spent = time.perf_counter(), time.thread_time()
    work()
    return 1000 * (time.perf_counter() - begun), 1000 * (time.thread_time() - spent)


def compared(paths: Mapping[int, Path], rounds: int) -> dict[str, dict[int, tuple[float, float]]]:
    """Kind -> size -> median milliseconds, and the quotient of its processor time and the control's, by medians."""
    floor, dice = control(), random.Random(5)
    times: dict[tuple[str, int], list[tuple[float, float, float]]] = {}
    with ExitStack() as stack:
        subjects = {
            size: subject(stack.enter_context(closing(database.reader(str(path))))) for size, path in paths.items()
        }
        turns = [(kind, size) for kind in KINDS for size in paths]
        for number in range(-2, rounds):
            for kind, size in dice.sample(turns, len(turns)):
                _, pace = timed(floor)
                took, spent = timed(partial(KINDS[kind], subjects[size], number))
                if number >= 0:  # the first two rounds warm the system's cache
                    times.setdefault((kind, size), []).append((took, spent, pace))
    return {kind: {size: _medians(times[kind, size]) for size in paths} for kind in KINDS}


def _medians(times: Sequence[tuple[float, float, float]]) -> tuple[float, float]:
    took, spent, pace = (statistics.median(column) for column in zip(*times, strict=True))
    return took, spent / pace
