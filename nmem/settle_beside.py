"""Computes labels, episodes, stories, decisions and learnings for settling in parallel; the main process writes.

Up to four processes, one a processor, read the database and answer; what they could not do is done here, and fails
here if it has to. Where there is little to do, or one processor, there are none.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import repeat
from sqlite3 import Connection
from typing import Any

from nmem import database
from nmem.decisions import find as said
from nmem.decisions.find import Heard
from nmem.episodes import boundary, detect, storytelling
from nmem.episodes.detect import Decided
from nmem.episodes.storytelling import Worded
from nmem.labels import workers
from nmem.labels.workers import Done, Job
from nmem.learn import refresh
from nmem.learn.findings_store import Found
from nmem.side_by_side import Crew, attend, seldom_collected

PROCESSES = 4
"""At most; settling is at a low priority, and a hook needs a processor as well."""
ENOUGH = 40
"""Sessions, or episodes, from which on processes are worth their start."""
_AHEAD = 6
"""Jobs that each process has before it: it need not wait while this one writes."""


Asked = tuple[str, str, Job | int | str]
"""A database, what is wanted (a method of Beside), and of what: a Job, a session's id, an episode's number."""


class Beside:
    """The processes of one run, started when they are first needed."""

    def __init__(self, db: Connection, db_path: str, processes: int | None = None) -> None:
        self.db, self.db_path = db, db_path
        self._processes = min(PROCESSES, os.cpu_count() or 1) if processes is None else processes
        self._crew: Crew[Asked, object] | None = None

    def wanted(self, count: int) -> bool:
        """Whether there is so much to do that it is done beside this process, or whether processes are there anyway."""
        return self._processes > 1 and (count >= ENOUGH or self._crew is not None)

    def labels(self, jobs: Sequence[Job]) -> Iterator[Done]:
        """As `workers.work`."""
        ready = self._answers("labels", jobs) if self.wanted(len(jobs)) else repeat(None)
        return workers.worked(self.db, jobs, ready)

    def episodes(self, ids: Sequence[str]) -> Iterator[Decided | None]:
        """As `detect.decided`, for one after the other; None where it was not done."""
        return self._answers("episodes", ids)

    def stories(self, episodes: Sequence[int]) -> Callable[[int], Worded | None]:
        """What words these episodes, asked for one after the other, as `storytelling.worded`."""
        ready = self._answers("stories", episodes)
        return lambda number: next(ready, None) or storytelling.worded(self.db, number)

    def decisions(self, ids: Sequence[str]) -> Iterator[Heard | None]:
        """As `decisions.find.heard`, for one after the other; None where it was not done."""
        return self._answers("decisions", ids)

    def sessions(self, ids: Sequence[str]) -> Iterator[Found | None]:
        """As `refresh.found_in`, for one after the other."""
        ready = self._answers("sessions", ids)
        return (found or refresh.found_in(self.db, session_id) for session_id, found in zip(ids, ready, strict=False))

    def close(self) -> None:
        """End the processes, if there are any."""
        if self._crew is not None:
            self._crew.close()
            self._crew = None

    def _answers(self, what: str, of: Sequence[Job | int | str]) -> Iterator[Any]:
        if self._crew is None:
            self._crew = Crew("nmem.settle_beside:serve", self._processes)
        return self._crew.answers([(self.db_path, what, one) for one in of], _AHEAD)


def serve() -> None:
    """Answer what is Asked on standard input, until the input ends."""
    detector, connected = cache(boundary.load), cache(_connected)
    does: dict[str, Callable[..., object]] = {
        "labels": lambda db, path, job: list(
            map(workers.flat, workers.work_on(db, job, workers.model_of(path, job.task.model)))
        ),
        "episodes": lambda db, path, session_id: detect.decided(db, session_id, detector(path)),
        "stories": lambda db, _path, number: storytelling.worded(db, number),
        "decisions": lambda db, _path, session_id: said.heard(db, session_id),
        "sessions": lambda db, _path, session_id: refresh.found_in(db, session_id),
    }

    def do(asked: Asked) -> object:
        path, what, of = asked
        return does[what](connected(path), path, of)

    with seldom_collected():
        attend(do)


def _connected(path: str) -> Connection:
    db = database.reader(path)
    db.row_factory = None
    return db
