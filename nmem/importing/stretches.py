"""Parses transcripts into redacted rows, a batch at a time, without a database; also in worker processes.

Small imports read in this process; large ones in processes of their own, which get a Job on standard input and answer
with Stretches. A reader process ends when its parent does, however that ends.
"""

from __future__ import annotations

import os
import pickle
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from capture import jsonio, log, paths
from capture.event import Batch, Event, Project
from capture.project import resolve
from capture.seal import Sealed, seal
from capture.transcript import reader
from capture.transcript.batches import batch, status
from capture.transcript.cursor import Cursor, fingerprint
from capture.transcript.reading import Reader, Source, millis
from capture.transcript.records import records
from nmem.importing import histories
from nmem.importing.discover import Transcript, gemini_folder, home_of
from nmem.side_by_side import answers

SIZE = 1_000
"""Records between two commits."""
_QUIET = 20.0
"""Seconds after which a text at the end of a file is taken for the turn's closing: an agent that goes on after a text
writes its call before that. A call that waits for its answer waits on."""
_ENDED = 1800.0
_WORKTREES = "/.claude/worktrees/"
_WAITING = 8
"""Stretches that readers may be ahead of the writer."""


@dataclass(slots=True)
class Job:
    """One file, the place to go on from, and the files whose records it may hold copies of."""

    transcript: Transcript
    cursor: Cursor
    related: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Stretch:
    """Rows, and the place in the file that they reach. `error` stands alone: the file could not be read on."""

    cursor: Cursor
    rows: list[Sealed] = field(default_factory=list)
    moved: int = 0
    records: int = 0
    unreadable: int = 0
    copied: int = 0
    skipped: dict[str, int] = field(default_factory=dict)
    error: str = ""


class Stretcher:
    """Reads files one after the other; remembers the projects of their folders."""

    def __init__(self) -> None:
        self._projects: dict[tuple[str, str], Project] = {}
        self._left_out = 0

    def read(self, job: Job) -> Iterator[Stretch]:
        """The new stretches of one file; what went wrong with it is the last of them."""
        try:
            yield from self._whole(job, job.transcript.whole) if job.transcript.whole else self._read(job)
        except histories.BROKEN as error:
            if not job.transcript.whole and not isinstance(error, OSError):
                raise
            yield Stretch(job.cursor, error=f"{job.transcript.path}: {histories.why(error)}")

    def _whole(self, job: Job, session: histories.Session) -> Iterator[Stretch]:
        """All of a session of a history; what of it is stored already has the same keys."""
        source = _source(job.transcript)
        source.path = session.file
        told, found = histories.events(session, source)
        events = list(found)
        out, cursor = Stretch(job.cursor), job.cursor
        cursor.offset, cursor.session_id = session.version, session.session_id
        out.moved, out.records, out.skipped = session.size, len(events), told.skipped
        out.rows = [seal(made) for made in self._batches(events)]
        out.unreadable, self._left_out = out.unreadable + self._left_out, 0
        if events:
            out.rows.append(self._status(told, _newest(events), over=True))
        yield out

    def _read(self, job: Job) -> Iterator[Stretch]:
        told, cursor = _reader(job), job.cursor
        still = time.time() - job.transcript.changed
        settled = still > histories.SETTLED
        seen = _uuids(job.related)
        out = Stretch(cursor)
        events: list[Event] = []
        at = cursor.offset
        for start, end, record in records(job.transcript.path, cursor.offset, tail=settled):
            if record is None:
                out.unreadable += 1
            elif record.get("uuid") in seen:
                out.copied += 1
            else:
                events += told.feed(record, start)
            at, out.records = end, out.records + 1
            if out.records >= SIZE:
                yield self._finished(out, told, events, at)
                events, out = [], Stretch(cursor)
        events += told.finish(settled)
        if not settled and (still > _QUIET or _long_over(job.transcript.latest)):
            events += told.turn_end()
        out = self._finished(out, told, events, at)
        out.skipped = told.skipped
        if events or told.tokens_at:
            out.rows.append(self._status(told, _newest(events) or told.tokens_at, over=True))
        yield out

    def _finished(self, out: Stretch, told: Reader, events: list[Event], end: int) -> Stretch:
        cursor = out.cursor
        out.moved = end - cursor.offset
        cursor.offset, cursor.head = told.resume_at(end), fingerprint(told.source.path)
        cursor.session_id, cursor.state = told.source.session_id, jsonio.dumps(told.state())
        out.rows = [seal(made) for made in self._batches(events)]
        out.unreadable, self._left_out = out.unreadable + self._left_out, 0
        if events:
            out.rows.append(self._status(told, _newest(events), over=False))
        return out

    def _batches(self, events: list[Event]) -> list[Batch]:
        """Few large batches: what is the same for a row after row is then redacted and stored once."""
        out: list[Batch] = []
        for event in events:
            try:
                made = batch(event, self._project(_home(event.cwd), event.project_dir))
            except Exception as error:  # noqa: BLE001 - what no reader foresaw costs its record, not the rest
                log.note(paths.database(), f"import: a record was left out: {log.reason(error)}")
                self._left_out += 1
                continue
            if made is None or not (made.prompts or made.observations):
                continue
            if out and _alike(out[-1], made):
                _append(out[-1], made)
                continue
            made.session.setdefault("started_at", made.at)
            out.append(made)
        return out

    def _status(self, told: Reader, at: int, *, over: bool) -> Sealed:
        made = status(told, at)
        made.project = self._project(_home(made.cwd), told.source.cwd)
        if over and not told.source.agent_id and time.time() - at / 1000 > _ENDED:
            made.session["state"], made.session["ended_at"] = "ended", at
        return seal(made)

    def _project(self, cwd: str, root: str) -> Project:
        """The project of a folder, which may be of another machine; each caller gets a copy of its own."""
        found = self._projects.get((cwd, root))
        if found is None:
            found = self._projects[cwd, root] = resolve(cwd, root)
            # a path of another system is one word to this one
            found.name = found.name.rpartition("\\")[2] or found.name
        return Project(found.key, found.name, found.root, found.remote, found.branch)


def _source(transcript: Transcript) -> Source:
    source = Source(transcript.client, transcript.path, transcript.session_id, _home(transcript.cwd))
    source.agent_type = transcript.agent_type
    if transcript.client == "gemini" and not source.cwd:
        source.cwd = gemini_folder(transcript)
    source.home = home_of(transcript, source.cwd)
    return source


def _reader(job: Job) -> Reader:
    out = reader(_source(job.transcript))
    if job.cursor.state and job.cursor.offset:
        state = jsonio.loads(job.cursor.state)
        out.restore(state if isinstance(state, dict) else {})
    return out


def _long_over(latest: str) -> bool:
    """Whether the last record, by its own time, is from long ago: a file that was copied is as new as the copy."""
    at = millis(latest)
    return at > 0 and time.time() - at / 1000 > histories.SETTLED


def _alike(one: Batch, other: Batch) -> bool:
    """Whether two batches differ in their rows only; the start of a session stands alone."""
    starts = "source" in one.session or "source" in other.session
    return not starts and (one.session_id, one.cwd) == (other.session_id, other.cwd)


def _append(one: Batch, more: Batch) -> None:
    one.prompts += more.prompts
    one.observations += more.observations
    one.drift += more.drift
    one.session["started_at"] = min(int(str(one.session.get("started_at", one.at))), more.at)
    one.at = max(one.at, more.at)


def _newest(events: list[Event]) -> int:
    return max((event.at for event in events), default=0)


def _uuids(paths: list[str]) -> set[object]:
    """The ids of all records of some files."""
    return {record["uuid"] for path in paths for _, _, record in records(path) if record and "uuid" in record}


def _home(cwd: str) -> str:
    """The folder of a session; one in a worktree that the client made, and that is gone, ran in its repository."""
    home, mark, _ = cwd.partition(_WORKTREES)
    return home if mark and not Path(cwd).exists() else cwd


# -- in processes of their own


def work() -> None:
    """Answer each Job on standard input with its Stretches and None, until the input ends."""
    stretcher = Stretcher()
    source, target = sys.stdin.buffer, sys.stdout.buffer
    while True:
        try:
            job: Job = pickle.load(source)  # noqa: S301 - from our own parent, over a pipe
        except EOFError:
            return
        try:
            for stretch in stretcher.read(job):
                pickle.dump(stretch, target, pickle.HIGHEST_PROTOCOL)
                target.flush()
            pickle.dump(None, target)
            target.flush()
        except BrokenPipeError:
            os._exit(0)


def read_all(jobs: Iterable[Job], workers: int) -> Iterator[Stretch]:
    """The stretches of all jobs; each file's in order, files side by side when there are workers."""
    if not workers:
        stretcher = Stretcher()
        for job in jobs:
            yield from stretcher.read(job)
        return
    yield from answers("nmem.importing.stretches:work", jobs, workers, _hear, _broken, _WAITING)


def _hear(_job: Job, receive: Callable[[], object]) -> Iterator[Stretch]:
    while (stretch := receive()) is not None:
        yield cast("Stretch", stretch)


def _broken(job: Job) -> Stretch:
    return Stretch(job.cursor, error=f"{job.transcript.path}: its reader ended; import it again")
