"""Stores batches as rows of prompts and observations, each once, and the sessions and projects they belong to.

What is known of sessions is kept in memory, so a long import asks once for each session, not for each event.
"""

from __future__ import annotations

from os.path import exists
from time import gmtime

from capture.event import AGENT, OK, USER
from capture.storage.session import STORED, Session
from capture.storage.store import file, known, note, record, same_as, spoken_between, transaction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from sqlite3 import Connection

    from capture.event import Batch, Observation, Prompt
    from capture.labels.labeller import Labeller
    from capture.seal import Sealed
    from capture.storage.store import Run

MERGE_WITHIN = 300_000
"""Milliseconds in which the same read or search is counted on its first row."""
SAME_PROMPT_WITHIN = 10_000
"""Milliseconds in which the same prompt, told without a turn's id, is the same one."""

_FRESH = "(SELECT max(newest, coalesce((SELECT max(id) FROM {0}), 0)) + 1 FROM gone_ids WHERE name = '{0}')"
"""An id that no row has or had; SQLite's own choice would give that of a deleted newest row away again."""
_NEW_PROMPT = (
    "INSERT INTO prompts (id, session_id, at, source, kind, content, native_id, agent_id, dedup_key)"  # noqa: S608
    f" VALUES ({_FRESH.format('prompts')}, ?, ?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (session_id, dedup_key) DO NOTHING"
)
_NEW_OBSERVATION = (
    "INSERT INTO observations (id, session_id, prompt_id, at, seq, obs_type, tool_name, tool_use_id, agent_id,"  # noqa: S608
    " file_path, content, outcome, exit_code, duration_ms, lines_added, lines_removed, metadata, dedup_key,"
    " phase, scope, locus, novelty, friction, label_model)"
    f" VALUES ({_FRESH.format('observations')},"
    " ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (session_id, dedup_key) DO NOTHING"
)

_MERGING = frozenset(("file_read", "search"))


class Written:
    """What became of the rows of a write."""

    __slots__ = ("duplicates", "merged", "stored")

    def __init__(self, stored: int = 0, merged: int = 0, duplicates: int = 0) -> None:
        self.stored = stored
        self.merged = merged
        """Repeated reads and searches, counted on the first row."""
        self.duplicates = duplicates


def write(db: Connection, sealed: Sealed, run: Run | None = None) -> Written:
    """Store one batch in one transaction. Raises sqlite3.Error; then nothing of it is stored."""
    return write_many(db, (sealed,), run)


def write_many(db: Connection, many: Iterable[Sealed], run: Run | None = None) -> Written:
    """Store batches in one transaction: all of them or none. Raises sqlite3.Error."""
    with transaction(db):
        writer = Writer(db, live=run is not None)
        for sealed in many:
            writer.add(sealed.batch)
        writer.finish()
        written = writer.written
        if run is not None:
            record(db, run, "duplicate" if written.duplicates and not written.stored + written.merged else "stored")
    return written


class Writer:
    """Stores batches one after the other; `finish` writes what their sessions have become."""

    def __init__(self, db: Connection, live: bool = False) -> None:
        self.db = db
        self.live = live
        """What comes happens now; else it may be of any time."""
        self.written = Written()
        self._sessions = Sessions(db)
        self._labels: Labeller | None = None

    def add(self, batch: Batch) -> None:
        """Store one batch: its session, prompts and observations, and what is counted beside them."""
        if not batch.session_id or self._end_of_nothing(batch):
            return
        session = self._sessions.of(batch)
        before = self.written.stored + self.written.merged
        for prompt in batch.prompts:
            self._prompt(session, prompt)
        for observation in batch.observations:
            self._observation(session, observation)
        self._sessions.update(session, batch, self.live)
        new = self.written.stored + self.written.merged > before
        if batch.redactions and (new or not (batch.prompts or batch.observations)):
            self._redactions(batch)
        if batch.drift:
            self._drift(batch, session)

    def finish(self) -> None:
        """Write the sessions that changed."""
        self._sessions.finish()

    def _end_of_nothing(self, batch: Batch) -> bool:
        """Whether a batch only ends a session that nothing is known of: a client's command that opened none."""
        if batch.session.get("state") != "ended" or batch.prompts or batch.observations:
            return False
        told = batch.session.get("transcript_path")
        return not self._sessions.known(batch.session_id) and not (isinstance(told, str) and exists(told))

    # prompts

    def _prompt(self, session: Session, prompt: Prompt) -> None:
        db = self.db
        if self._said(session, prompt) or self._closed(session, prompt):
            self.written.duplicates += 1
            return
        done = db.execute(
            _NEW_PROMPT,
            (session.id, prompt.at, prompt.source, prompt.kind, prompt.content, prompt.native_id or None,
             prompt.agent_id or None, prompt.dedup_key),
        )  # fmt: skip
        if not done.rowcount:
            self.written.duplicates += 1
            return
        self.written.stored += 1
        if prompt.source == USER and session.seq and prompt.at <= session.last_at:
            self._relink(session, prompt, done.lastrowid)

    def _said(self, session: Session, prompt: Prompt) -> bool:
        """Whether the same words are stored under another key, where one of the reports does not name the turn."""
        words = prompt.dedup_key.partition(".")[0]
        rows = self.db.execute(
            "SELECT at, native_id FROM prompts"
            " WHERE session_id = ? AND dedup_key >= ? AND dedup_key < ? AND source = ?",
            (session.id, words + ".", words + "/", prompt.source),
        )
        nearby = self._same_turn if prompt.source == AGENT else _same_moment
        return any(nearby(session.id, prompt.at, at) for at, turn in rows.fetchall() if not (turn and prompt.native_id))

    def _closed(self, session: Session, prompt: Prompt) -> bool:
        """Whether a closing that names no turn is stored in other words."""
        if prompt.kind != "closing" or prompt.native_id or prompt.agent_id:
            return False
        from capture.storage.tellings import same_closing  # on use: start-up stays short

        return same_closing(self.db, session.id, prompt)

    def _same_turn(self, session_id: str, at: int, other: int) -> bool:
        """Whether nobody spoke to the agent between two moments."""
        return not spoken_between(self.db, session_id, at, other)

    def _relink(self, session: Session, prompt: Prompt, number: int | None) -> None:
        """A prompt that arrives after the work it asked for: that work is its turn, not the earlier prompt's."""
        following = self.db.execute(
            "SELECT min(at) FROM prompts WHERE session_id = ? AND source = 'user' AND at > ?", (session.id, prompt.at)
        ).fetchone()[0]
        self.db.execute(
            "UPDATE observations SET prompt_id = ? WHERE session_id = ? AND at >= ? AND at < ? AND agent_id IS NULL"
            " AND (prompt_id IS NULL OR prompt_id IN (SELECT id FROM prompts WHERE session_id = ? AND at < ?))",
            (number, session.id, prompt.at, following or 1 << 62, session.id, prompt.at),
        )

    def _turn(self, session: Session, o: Observation) -> tuple[int | None, int]:
        """The user's prompt that an observation belongs to, and when it was done.

        The client's turn id tells, else the newest prompt before it.
        """
        newest = self.db.execute(
            "SELECT id, native_id FROM prompts WHERE session_id = ? AND source = 'user' AND at <= ?"
            " ORDER BY at DESC, id DESC LIMIT 1",
            (session.id, o.at),
        ).fetchone()
        if o.turn_id and (newest is None or newest[1] != o.turn_id):
            own = self.db.execute(
                "SELECT id, at FROM prompts WHERE session_id = ? AND source = 'user' AND native_id = ?"
                " ORDER BY at > ?, abs(at - ?) LIMIT 1",
                (session.id, o.turn_id, o.at, o.at),
            ).fetchone()
            if own:
                return own[0], o.at if o.agent_id else self._before_next(session.id, o, own[1])
        return newest and newest[0], o.at

    def _before_next(self, session_id: str, o: Observation, asked: int) -> int:
        """When a call of a past turn was done at the latest: its hook came after the next prompt's.

        What a subagent does may well outlast the turn.
        """
        following = self.db.execute(
            "SELECT min(at) FROM prompts WHERE session_id = ? AND source = 'user' AND at > ? AND at <= ?"
            " AND native_id <> ?",
            (session_id, asked, o.at, o.turn_id),
        ).fetchone()[0]
        return o.at if following is None else max(asked, following - 1)

    # observations

    def _observation(self, session: Session, observation: Observation) -> None:
        o, db = observation, self.db
        if not o.tool_use_id and "." in o.dedup_key:
            from capture.storage import tellings  # on use: start-up stays short

            if tellings.known(db, session.id, o):
                self.written.duplicates += 1
                return
        if o.obs_type in _MERGING and o.outcome == OK and self._merged(session, o):
            return
        turn, at = self._turn(session, o)
        labels = self._labeller()
        done = db.execute(
            _NEW_OBSERVATION,
            (session.id, turn, at, session.seq + 1, o.obs_type, o.tool_name or None,
             o.tool_use_id or None, o.agent_id or None, o.file_path, o.content, o.outcome, _int(o.exit_code),
             _int(o.duration_ms), _int(o.lines_added), _int(o.lines_removed), _json(o.metadata), o.dedup_key,
             *labels.label(session.id, o, at, turn)),
        )  # fmt: skip
        if not done.rowcount:
            self.written.duplicates += 1
            return
        labels.stored(session.id, o.agent_id)
        session.seq += 1
        self.written.stored += 1
        if at != o.at:
            self._move_up(session, at, done.lastrowid)

    def _labeller(self) -> Labeller:
        """What labels the rows of this writer; a batch without any does not load it."""
        if self._labels is None:
            from capture.labels.labeller import Labeller  # on use: start-up stays short

            self._labels = Labeller(self.db, file(self.db))
        return self._labels

    def _move_up(self, session: Session, at: int, number: int | None) -> None:
        """Number a late call before what was done after it."""
        place = self.db.execute(
            "SELECT min(seq) FROM observations WHERE session_id = ? AND at > ?", (session.id, at)
        ).fetchone()[0]
        if place is not None:
            self.db.execute(
                "UPDATE observations SET seq = iif(id = ?, ?, seq + 1) WHERE session_id = ? AND seq >= ?",
                (number, place, session.id, place),
            )

    def _merged(self, session: Session, o: Observation) -> bool:
        """Count a repeated read or search on its first row, unless something was changed in between."""
        db = self.db
        if db.execute(
            "SELECT 1 FROM observations WHERE session_id = ? AND dedup_key = ? UNION ALL"
            " SELECT 1 FROM merged_keys WHERE session_id = ? AND dedup_key = ?",
            (session.id, o.dedup_key, session.id, o.dedup_key),
        ).fetchone():
            self.written.duplicates += 1
            return True
        first = db.execute(
            "SELECT id, at, metadata FROM observations WHERE session_id = ? AND at BETWEEN ? AND ? AND obs_type = ?"
            " AND outcome = 'ok' AND content = ? AND file_path IS ? AND agent_id IS ? ORDER BY at DESC LIMIT 1",
            (session.id, o.at - MERGE_WITHIN, o.at, o.obs_type, o.content, o.file_path, o.agent_id or None),
        ).fetchone()
        if first is None or _part(first[2]) != _part(_json(o.metadata)) or self._changed(session, o, first[1]):
            return False
        db.execute(
            "UPDATE observations SET repeats = repeats + 1, last_at = max(coalesce(last_at, 0), ?) WHERE id = ?",
            (o.at, first[0]),
        )
        same_as(db, session.id, o.dedup_key, first[0])
        self.written.merged += 1
        return True

    def _changed(self, session: Session, o: Observation, since: int) -> bool:
        """Whether the session wrote the file after `since`; for a search, any file may have been what it found."""
        path = o.file_path if o.obs_type == "file_read" else None
        return bool(
            self.db.execute(
                "SELECT 1 FROM observations WHERE session_id = ? AND at BETWEEN ? AND ?"
                " AND obs_type IN ('file_edit', 'file_write') AND (? IS NULL OR file_path = ?) LIMIT 1",
                (session.id, since, o.at, path, path),
            ).fetchone()
        )

    # beside them

    def _redactions(self, batch: Batch) -> None:
        moment = gmtime(batch.at / 1000)
        day = f"{moment[0]:04d}-{moment[1]:02d}-{moment[2]:02d}"
        self.db.executemany(
            "INSERT INTO redactions VALUES (?, ?, ?)"
            " ON CONFLICT (day, kind) DO UPDATE SET count = count + excluded.count",
            [(day, kind, number) for kind, number in batch.redactions.items()],
        )

    def _drift(self, batch: Batch, session: Session) -> None:
        event = batch.session.get("native_event") or ""
        version = session.values["client_version"] or ""
        self.db.executemany(
            "INSERT OR IGNORE INTO payload_drift VALUES (?, ?, ?, ?, ?)",
            [(batch.client, event, field, version, batch.at) for field in batch.drift],
        )


def _same_moment(_session_id: str, at: int, other: int) -> bool:
    return abs(at - other) <= SAME_PROMPT_WITHIN


def _int(value: int | None) -> int | None:
    """A number that a column can hold; a client's nonsense is no number."""
    return value if value is not None and -1 << 53 < value < 1 << 53 else None


def _json(value: dict[str, object]) -> str | None:
    if not value:
        return None
    from capture.jsonio import dumps  # on use: start-up stays short

    return dumps(value)


def _part(metadata: str | None) -> tuple[object, object]:
    """Which part of a file a read asked for: another part is another read."""
    if not metadata:
        return None, None
    from capture.jsonio import loads  # on use: start-up stays short

    value = loads(metadata)
    return (value.get("offset"), value.get("limit")) if isinstance(value, dict) else (None, None)


class Sessions:
    """The sessions of one transaction; `finish` writes what they have become."""

    def __init__(self, db: Connection) -> None:
        self.db = db
        self._sessions: dict[str, Session] = {}
        self._folders: dict[str, int] = {}

    def of(self, batch: Batch) -> Session:
        """The session of a batch, entered when it is new."""
        session = self._sessions.get(batch.session_id)
        if session is None:
            session = self._sessions[batch.session_id] = self._load(batch) or self._enter(batch)
        return session

    def known(self, session_id: str) -> bool:
        """Whether a session is stored, or entered in this transaction."""
        return session_id in self._sessions or known(self.db, session_id)

    def _load(self, batch: Batch) -> Session | None:
        row = self.db.execute(
            f"SELECT project_id, seq, last_at, {', '.join(STORED)} FROM sessions WHERE id = ?",  # noqa: S608 - our names
            (batch.session_id,),
        ).fetchone()
        return row and Session(batch.session_id, row[0], row[1], row[2], dict(zip(STORED, row[3:], strict=True)))

    def _enter(self, batch: Batch) -> Session:
        project = self._project(batch)
        self.db.execute(
            "INSERT INTO sessions (id, client, project_id, cwd, started_at, last_at, origin)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (batch.session_id, batch.client, project, batch.cwd, batch.at, batch.at, batch.origin),
        )
        values: dict[str, object] = dict.fromkeys(STORED)
        values.update(cwd=batch.cwd, state="idle", started_at=batch.at)
        return Session(batch.session_id, project, 0, batch.at, values)

    def _project(self, batch: Batch) -> int:
        """The id of the batch's project, entered with its folder when either is new."""
        found = self._folder(batch.cwd)
        if found is not None and batch.project is None:
            return found
        if batch.project is None:
            from capture.project import resolve  # on use: start-up stays short

            batch.project = resolve(batch.cwd)
        project, db = batch.project, self.db
        db.execute(
            "INSERT INTO projects (key, name, root, remote, created_at) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (key) DO NOTHING",
            (project.key, project.name, project.root, project.remote or None, batch.at),
        )
        number: int = db.execute("SELECT id FROM projects WHERE key = ?", (project.key,)).fetchone()[0]
        if batch.cwd and found is None:
            db.execute("INSERT INTO project_folders VALUES (?, ?, ?)", (batch.cwd, number, project.root))
            self._folders[batch.cwd] = number
        return number

    def _folder(self, folder: str) -> int | None:
        """The project that a folder is known to belong to."""
        if folder not in self._folders:
            row = self.db.execute("SELECT project_id FROM project_folders WHERE folder = ?", (folder,)).fetchone()
            if row is None:
                return None
            self._folders[folder] = row[0]
        return self._folders[folder]

    def update(self, session: Session, batch: Batch, live: bool = False) -> None:
        """Enter what a batch knows of its session; `live`: it happens now, whatever the clock says."""
        folder = session.values["cwd"]
        newest = session.take(batch, live)
        if session.values["cwd"] != folder and self._folder(batch.cwd) is None:
            self._project(batch)
        if newest or self._rests(session.id, batch):
            session.move(batch)
        rows = [prompt.at for prompt in batch.prompts] + [seen.at for seen in batch.observations]
        session.last_at = max(session.last_at, batch.at, *rows)

    def _rests(self, session_id: str, batch: Batch) -> bool:
        """Whether a turn's end comes late, out of the spool, and no work has followed it."""
        if batch.session.get("state") not in ("idle", "failed") or batch.origin != "hook":
            return False
        later = self.db.execute(
            "SELECT 1 FROM observations WHERE session_id = ?1 AND at > ?2 AND obs_type <> 'marker'"
            " UNION ALL SELECT 1 FROM prompts WHERE session_id = ?1 AND source = 'user' AND at > ?2 LIMIT 1",
            (session_id, batch.at),
        )
        return later.fetchone() is None

    def finish(self) -> None:
        """Write the sessions that changed."""
        names = ", ".join(f"{name} = ?" for name in STORED)
        for session in self._sessions.values():
            if (session.seq, session.last_at, session.values) != session.before:
                self.db.execute(
                    f"UPDATE sessions SET seq = ?, last_at = ?, {names} WHERE id = ?",  # noqa: S608 - our names
                    (session.seq, session.last_at, *(session.values[name] for name in STORED), session.id),
                )
                self._reading(session)

    def _reading(self, session: Session) -> None:
        """How full the window was, where this transaction has learned it."""
        now, before = session.values, session.before[2]
        tokens, at = now["context_tokens"], now["context_at"]
        if (
            isinstance(tokens, int)
            and isinstance(at, int)
            and (tokens, at) != tuple(before[name] for name in ("context_tokens", "context_at"))
        ):
            note(self.db, session.id, at, tokens)
