"""Imports past sessions from transcripts into the database: streamed, redacted, resumable, idempotent.

The rows of a stretch and the place that it reached are stored in one transaction. What a hook has stored already has
the same keys and is not stored again.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from itertools import chain

from capture.seal import Sealed
from capture.storage.rows import write_many
from capture.storage.store import file, known
from capture.transcript import titles
from capture.transcript.cursor import Cursor, load, mend_outcomes, save, whole
from nmem.importing.discover import Transcript
from nmem.importing.store import counts, fold
from nmem.importing.stretches import SIZE, Job, Stretch, read_all

_LARGE = 4 << 20
"""Bytes from which processes of their own read faster than this one."""
_WORKERS = 4
_CHECKPOINT = 4 << 20
"""Bytes of write-ahead log from which it is folded back: with the cockpit open nobody else does."""


@dataclass(slots=True)
class Report:
    """What an import did. `skipped` counts records that are not kept, by kind."""

    files: int = 0
    unchanged: int = 0
    records: int = 0
    sessions: int = 0
    prompts: int = 0
    observations: int = 0
    merged: int = 0
    duplicates: int = 0
    texts: int = 0
    """What the agent and machines said, beside the user's prompts."""
    unreadable: int = 0
    unreadable_in: list[str] = field(default_factory=list)
    copied: int = 0
    redacted: int = 0
    seconds: float = 0.0
    skipped: dict[str, int] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, object]:
        """Plain values for --json."""
        out: dict[str, object] = asdict(self)
        out["seconds"] = round(self.seconds, 3)
        out["records_per_second"] = round(self.records / self.seconds) if self.seconds else 0
        return out

    def torn(self) -> str:
        """How many lines were no JSON, and where, in words; empty without any."""
        if not self.unreadable:
            return ""
        first, *others = self.unreadable_in or ["?"]
        more = f" and {len(others):,} other files" if others else ""
        return f"{self.unreadable:,} lines that are no JSON, in {first}{more}"


class Importer:
    """One run over many files; `step` is told of every stretch, in bytes.

    `workers` is the number of reading processes; None lets the size of the files decide.
    """

    def __init__(self, db: sqlite3.Connection, workers: int | None = None) -> None:
        self.db = db
        self.workers = workers
        self.step: Callable[[int], None] = lambda _moved: None
        self.report = Report()
        self.changed: set[str] = set()
        """Sessions that got new rows."""

    def run(self, found: Iterable[Transcript]) -> Report:
        """Import every file; the report also holds when this was interrupted. Raises sqlite3.Error."""
        begun = time.perf_counter()
        before = counts(self.db)
        try:
            # a client's own transcripts first: they tell more than another program's copy of the same session
            transcripts = sorted(found, key=lambda each: (each.whole is not None, each.latest, each.path))
            jobs = self._jobs(transcripts)
            # subagents after the sessions whose prompts their work belongs to
            for inner in (False, True):
                self._all([job for job in jobs if job.transcript.is_subagent == inner])
            self._titles(transcripts)
        finally:
            report = self.report
            more = [new - old for new, old in zip(counts(self.db), before, strict=True)]
            report.sessions, report.prompts, report.texts, report.observations, report.redacted = more
            report.seconds = time.perf_counter() - begun
            fold(self.db)
        return self.report

    def _titles(self, transcripts: list[Transcript]) -> None:
        """What the client calls the sessions: last, for a file may name one that another file holds."""
        files = [(one.path, one.session_id) for one in transcripts if one.client == "claude" and not one.is_subagent]
        sessions, unknown = titles.keep(self.db, files)
        self.changed.update(sessions)
        if unknown:
            self.report.skipped["title of no known session"] = unknown

    def _jobs(self, transcripts: list[Transcript]) -> list[Job]:
        """What is new in which file. Files that begin with the same record are a session and its forks.

        What these share counts once: for the one that was read first.
        """
        jobs = []
        read: dict[str, list[str]] = {}
        own = {each.session_id for each in transcripts if not each.whole}
        placed = [(each, place(self.db, each)) for each in transcripts]
        for transcript, cursor in sorted(placed, key=lambda pair: not pair[1].offset):
            self.report.files += 1
            if transcript.whole and transcript.whole.error:
                self.report.failed.append(f"{transcript.path}: {transcript.whole.error}")
                continue
            family = read.setdefault(transcript.first_uuid or transcript.path, [])
            if self._repeats(transcript, own) or not left(transcript, cursor):
                self.report.unchanged += 1
            else:
                jobs.append(Job(transcript, cursor, [] if cursor.offset else list(family)))
            if not transcript.is_subagent:
                family.append(transcript.path)
        return jobs

    def _repeats(self, transcript: Transcript, coming: set[str]) -> bool:
        """Whether this is another program's copy of a session that is stored already, or that comes in this run."""
        of = transcript.whole.same_as if transcript.whole else ""
        return bool(of) and (of in coming or known(self.db, of))

    def _all(self, jobs: list[Job]) -> None:
        workers = self.workers
        if workers is None:
            size = sum(left(job.transcript, job.cursor) for job in jobs)
            workers = min(os.cpu_count() or 1, _WORKERS, len(jobs)) if size > _LARGE else 0
        waiting: list[Stretch] = []
        for stretch in read_all(jobs, workers if workers != 1 else 0):
            if stretch.error:
                self.report.failed.append(stretch.error)
                continue
            waiting.append(stretch)
            if sum(one.records for one in waiting) >= SIZE:
                self._store(waiting)
                waiting = []
        self._store(waiting)

    def _store(self, stretches: list[Stretch]) -> None:
        """The rows of some stretches, and the places that they reached, in one transaction: small files share one."""
        written = write_many(self.db, chain.from_iterable(map(self._rows, stretches)))
        self.report.merged += written.merged
        self.report.duplicates += written.duplicates
        for stretch in stretches:
            self._note(stretch)
        if _wal(self.db) > _CHECKPOINT:
            fold(self.db)

    def _note(self, stretch: Stretch) -> None:
        report = self.report
        if stretch.records:
            self.changed.update(sealed.batch.session_id for sealed in stretch.rows)
        report.records += stretch.records
        report.unreadable += stretch.unreadable
        if stretch.unreadable and stretch.cursor.path not in report.unreadable_in:
            report.unreadable_in.append(stretch.cursor.path)
        report.copied += stretch.copied
        for kind, number in stretch.skipped.items():
            report.skipped[kind] = report.skipped.get(kind, 0) + number
        self.step(stretch.moved)

    def _rows(self, stretch: Stretch) -> Iterator[Sealed]:
        """Called inside the transaction that stores them; the place comes last."""
        db = self.db
        for sealed in stretch.rows:
            yield sealed
            mend_outcomes(db, sealed.batch)
        save(db, stretch.cursor, int(time.time() * 1000))


def place(db: sqlite3.Connection, each: Transcript) -> Cursor:
    """Where to go on in a transcript."""
    if each.whole:
        return whole(db, each.path, each.session_id, each.whole.version)
    return load(db, each.path, each.session_id)


def left(each: Transcript, cursor: Cursor) -> int:
    """Bytes of a transcript that were not read yet; a history that changed is read as a whole."""
    if each.whole:
        return 0 if cursor.offset == each.whole.version else max(each.size, 1)
    return max(each.size - cursor.offset, 0)


def _wal(db: sqlite3.Connection) -> int:
    """Bytes of the write-ahead log."""
    try:
        return os.stat(file(db) + "-wal").st_size  # noqa: PTH116 -- a suffix
    except OSError:
        return 0
