"""Past sessions, from the clients' transcripts into the database: streamed, redacted, resumable and idempotent.

A file is read in stretches; the rows of a stretch and the place it reached are stored in one transaction. What a hook
has stored already has the same keys and is not stored again.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from capture import store
from capture.event import Event, Project
from capture.project import resolve
from capture.seal import Sealed, seal
from capture.transcript import mend, reader
from capture.transcript.batches import batch, status
from capture.transcript.cursor import Cursor, fingerprint, load, save
from capture.transcript.reading import Reader, Source
from capture.transcript.records import records
from nmem.discover import Transcript, gemini_folder

STRETCH = 2_000
"""Records between two commits."""
_SETTLED = 600.0
"""Seconds after which nobody writes to a file any more."""
_ENDED = 1800.0
_CHECKPOINT = 50
_WORKTREES = "/.claude/worktrees/"


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
    unreadable: int = 0
    copied: int = 0
    redacted: int = 0
    seconds: float = 0.0
    skipped: dict[str, int] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, object]:
        """Plain values for --json."""
        out: dict[str, object] = {name: getattr(self, name) for name in self.__dataclass_fields__}
        out["seconds"] = round(self.seconds, 3)
        out["records_per_second"] = round(self.records / self.seconds) if self.seconds else 0
        return out


class Importer:
    """One run over many files; `step` is told of every stretch: (bytes, records)."""

    def __init__(self, db: sqlite3.Connection, step: Callable[[int, int], None] | None = None) -> None:
        self.db = db
        self.step = step or (lambda _size, _records: None)
        self.report = Report()
        self._projects: dict[tuple[str, str], Project] = {}
        self._known: set[tuple[str, str]] = set()
        self._families: dict[str, list[Transcript]] = {}
        self._stretches = 0

    def run(self, found: Iterable[Transcript]) -> Report:
        """Import every file; the report also holds when this was interrupted."""
        begun = time.perf_counter()
        before = self._counts()
        try:
            transcripts = sorted(found, key=lambda each: (each.is_subagent, each.latest, each.path))
            self._relate(transcripts)
            for transcript in transcripts:
                self._file(transcript)
        finally:
            after = self._counts()
            report = self.report
            report.sessions, report.prompts, report.observations, report.redacted = (
                new - old for new, old in zip(after, before, strict=True)
            )
            report.seconds = time.perf_counter() - begun
            self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return self.report

    def _counts(self) -> tuple[int, int, int, int]:
        row = self.db.execute(
            "SELECT (SELECT count(*) FROM sessions), (SELECT count(*) FROM prompts WHERE source = 'user'),"
            " (SELECT count(*) FROM observations), (SELECT coalesce(sum(count), 0) FROM redactions)"
        ).fetchone()
        return int(row[0]), int(row[1]), int(row[2]), int(row[3])

    def _relate(self, transcripts: list[Transcript]) -> None:
        """Files that begin with the same record are a session and its forks: what they share counts once."""
        for transcript in transcripts:
            if transcript.first_uuid and not transcript.is_subagent:
                self._families.setdefault(transcript.first_uuid, []).append(transcript)

    # one file

    def _file(self, transcript: Transcript) -> None:
        self.report.files += 1
        try:
            cursor = load(self.db, transcript.path, transcript.session_id)
            if cursor.offset >= transcript.size:
                self.report.unchanged += 1
                self.step(transcript.size, 0)
                return
            self.step(cursor.offset, 0)
            self._read(transcript, cursor)
        except OSError as error:
            self.report.failed.append(f"{transcript.path}: {error.strerror or error}")

    def _reader(self, transcript: Transcript, cursor: Cursor) -> Reader:
        source = Source(transcript.client, transcript.path, transcript.session_id, _home(transcript.cwd))
        source.agent_type = transcript.agent_type
        if transcript.client == "gemini" and not source.cwd:
            source.cwd = gemini_folder(transcript)
        out = reader(source)
        if cursor.state:
            out.restore(json.loads(cursor.state))
        return out

    def _read(self, transcript: Transcript, cursor: Cursor) -> None:
        """Read a file to its end, a stretch at a time."""
        told = self._reader(transcript, cursor)
        settled = time.time() - transcript.changed > _SETTLED
        seen = self._copied(transcript, cursor)
        events: list[Event] = []
        count, at = 0, cursor.offset
        for start, end, record in records(transcript.path, cursor.offset, tail=settled):
            if record is None:
                self.report.unreadable += 1
            elif record.get("uuid") in seen:
                self.report.copied += 1
            else:
                events += told.feed(record, start)
            at, count = end, count + 1
            if count >= STRETCH:
                self._store(told, cursor, events, at, count)
                events, count = [], 0
        events += told.finish(settled)
        self._store(told, cursor, events, at, count, last=True)
        for kind, number in told.skipped.items():
            self.report.skipped[kind] = self.report.skipped.get(kind, 0) + number

    def _copied(self, transcript: Transcript, cursor: Cursor) -> set[object]:
        """The ids of the records that a fork shares with files that were read before it."""
        family = self._families.get(transcript.first_uuid, [])
        if cursor.offset or len(family) < 2:
            return set()
        seen: set[object] = set()
        for other in family:
            if other is not transcript and load(self.db, other.path, other.session_id).offset:
                for _, _, record in records(other.path):
                    if record is not None and "uuid" in record:
                        seen.add(record["uuid"])
        return seen

    def _store(
        self, told: Reader, cursor: Cursor, events: list[Event], end: int, count: int, last: bool = False
    ) -> None:
        """The rows of a stretch, and the place that it reached, in one transaction."""
        moved = end - cursor.offset
        cursor.offset = told.resume_at(end)
        cursor.session_id, cursor.state = told.source.session_id, json.dumps(told.state())
        cursor.head = fingerprint(told.source.path)
        written = store.write_many(self.db, self._rows(told, cursor, events, last))
        report = self.report
        report.records += count
        report.merged += written.merged
        report.duplicates += written.duplicates
        self._stretches += 1
        if self._stretches % _CHECKPOINT == 0:
            self.db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        self.step(moved, count)

    def _rows(self, told: Reader, cursor: Cursor, events: list[Event], last: bool) -> Iterator[Sealed]:
        """Sealed rows, each just before it is stored; the place comes last, inside the same transaction."""
        for event in events:
            sealed = self._sealed(event)
            if sealed is not None:
                yield sealed
                mend.outcomes(self.db, sealed.batch)
        at = max((event.at for event in events), default=told.tokens_at)
        if at:
            yield self._status(told, at, last)
        save(self.db, cursor, int(time.time() * 1000))

    def _sealed(self, event: Event) -> Sealed | None:
        project = self._project(_home(event.cwd), event.project_dir)
        made = batch(event, project)
        if made is None or not (made.prompts or made.observations):
            return None
        near = mend.neighbours(event)
        if near:
            mend.align(self.db, made, near)
        if event.kind == "session_start":
            made.observations = [one for one in made.observations if not mend.told(self.db, made.session_id, one)]
        known = (made.session_id, made.cwd)
        if known in self._known:
            made.project = None
        self._known.add(known)
        return seal(made)

    def _status(self, told: Reader, at: int, last: bool) -> Sealed:
        made = status(told, at)
        made.project = self._project(_home(made.cwd), told.source.cwd)
        if last and not told.source.agent_id and time.time() - at / 1000 > _ENDED:
            made.session["state"] = "ended"
            made.session["ended_at"] = at
        return seal(made)

    def _project(self, cwd: str, root: str) -> Project:
        """The project of a folder, which may be of another machine; each caller gets a copy of its own."""
        found = self._projects.get((cwd, root))
        if found is None:
            found = self._projects[cwd, root] = resolve(cwd, root)
            # a path of another system is one word to this one
            found.name = found.name.rpartition("\\")[2] or found.name
        return Project(found.key, found.name, found.root, found.remote, found.branch)


def _home(cwd: str) -> str:
    """The folder of a session; one in a worktree that the client made, and that is gone, ran in its repository."""
    home, mark, _ = cwd.partition(_WORKTREES)
    if not mark:
        return cwd
    from pathlib import Path

    return cwd if Path(cwd).exists() else home
