"""Batches to rows, inside a transaction that the store has begun.

Keeps what it knows of a session in memory, so a long import asks once for each session, not for each event.
"""

from __future__ import annotations

from capture.event import OK, USER
from capture.store import Written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from capture.event import Batch, Observation, Prompt

MERGE_WITHIN = 300_000
"""Milliseconds in which the same read or search is counted on its first row."""
SAME_PROMPT_WITHIN = 10_000

_COLUMNS = ("parent_id", "branch", "model", "client_version", "permission_mode", "source", "transcript_path",
            "end_reason", "context_tokens", "context_window", "context_at")  # fmt: skip
_MERGING = frozenset(("file_read", "search"))


class _Session:
    """What the row of a session says, and what it will say."""

    __slots__ = ("id", "known", "last_at", "project_id", "seq", "stored", "values")

    def __init__(self, session_id: str, project_id: int, seq: int, last_at: int, values: dict[str, object]) -> None:
        self.id = session_id
        self.project_id = project_id
        self.seq = seq
        self.last_at = last_at
        self.values = values
        self.stored = (seq, last_at, dict(values))


class Writer:
    """Stores batches one after the other; `finish` writes what the sessions have become."""

    def __init__(self, db: Connection) -> None:
        self.db = db
        self.written = Written()
        self._sessions: dict[str, _Session] = {}
        self._folders: dict[str, int] = {}

    def add(self, batch: Batch) -> None:
        """Store one batch: its session, prompts and observations, and what is counted beside them."""
        if not batch.session_id:
            return
        session = self._sessions.get(batch.session_id) or self._session(batch)
        before = self.written.stored + self.written.merged
        for prompt in batch.prompts:
            self._prompt(session, prompt)
        for observation in batch.observations:
            self._observation(session, observation)
        self._update(session, batch)
        new = self.written.stored + self.written.merged > before
        if batch.redactions and (new or not (batch.prompts or batch.observations)):
            self._redactions(batch)
        if batch.drift:
            self._drift(batch, session)

    def finish(self) -> None:
        """Write the sessions that changed."""
        for session in self._sessions.values():
            if (session.seq, session.last_at, session.values) != session.stored:
                names = ", ".join(f"{name} = ?" for name in session.values)
                self.db.execute(
                    f"UPDATE sessions SET seq = ?, last_at = ?, {names} WHERE id = ?",  # noqa: S608 - our own column names
                    (session.seq, session.last_at, *session.values.values(), session.id),
                )

    # sessions and projects

    def _session(self, batch: Batch) -> _Session:
        columns = ("cwd", "state", "started_at", "ended_at", *_COLUMNS)
        row = self.db.execute(
            f"SELECT project_id, seq, last_at, {', '.join(columns)} FROM sessions WHERE id = ?",  # noqa: S608
            (batch.session_id,),
        ).fetchone()
        if row is None:
            project_id = self._project(batch)
            started = _number(batch.session.get("started_at"), batch.at)
            self.db.execute(
                "INSERT INTO sessions (id, client, project_id, cwd, started_at, last_at, origin)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (batch.session_id, batch.client, project_id, batch.cwd, started, batch.at, batch.origin),
            )
            values = dict.fromkeys(columns)
            values.update(cwd=batch.cwd, state="idle", started_at=started)
            session = _Session(batch.session_id, project_id, 0, batch.at, values)
        else:
            session = _Session(batch.session_id, row[0], row[1], row[2], dict(zip(columns, row[3:], strict=True)))
        self._sessions[batch.session_id] = session
        return session

    def _update(self, session: _Session, batch: Batch) -> None:
        """Newer batches overwrite what they know, older ones only fill gaps; None says nothing."""
        newest = batch.at >= session.last_at
        known, values = batch.session, session.values
        values["started_at"] = min(_number(values["started_at"], batch.at), _number(known.get("started_at"), batch.at),
                                   batch.at)  # fmt: skip
        for name in _COLUMNS:
            value = known.get(name)
            if value is not None and (newest or values[name] is None):
                values[name] = value
        if batch.cwd and newest and batch.cwd != values["cwd"]:
            values["cwd"] = batch.cwd
            if self._known_project(batch.cwd) is None:
                self._project(batch)
        if newest:
            self._state(session, batch)
        session.last_at = max(session.last_at, batch.at)

    def _state(self, session: _Session, batch: Batch) -> None:
        """Working, idle or ended; a session that goes on after its end is open again."""
        values, ended = session.values, batch.session.get("ended_at")
        state = batch.session.get("state")
        if ended is not None or state == "ended":
            values["ended_at"] = _number(ended, batch.at)
            values["state"] = "ended"
            return
        if values["ended_at"] is not None and batch.at > _number(values["ended_at"], 0):
            values["ended_at"] = values["end_reason"] = None
            values["state"] = "idle"
        if state is not None:
            values["state"] = state
        elif batch.origin != "import" and (batch.observations or batch.prompts):
            values["state"] = "working"

    def _known_project(self, folder: str) -> int | None:
        if folder not in self._folders:
            row = self.db.execute("SELECT project_id FROM project_folders WHERE folder = ?", (folder,)).fetchone()
            if row is None:
                return None
            self._folders[folder] = row[0]
        return self._folders[folder]

    def _project(self, batch: Batch) -> int:
        """The id of the batch's project, entered with its folder when either is new."""
        found = self._known_project(batch.cwd)
        if found is not None and batch.project is None:
            return found
        if batch.project is None:
            from capture.project import resolve

            batch.project = resolve(batch.cwd)
        project, db = batch.project, self.db
        db.execute(
            "INSERT INTO projects (key, name, root, remote, created_at) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (key) DO NOTHING",
            (project.key, project.name, project.root, project.remote or None, batch.at),
        )
        number: int = db.execute("SELECT id FROM projects WHERE key = ?", (project.key,)).fetchone()[0]
        if batch.cwd and found is None:
            db.execute(
                "INSERT INTO project_folders (folder, project_id, root) VALUES (?, ?, ?)"
                " ON CONFLICT (folder) DO NOTHING",
                (batch.cwd, number, project.root),
            )
            self._folders[batch.cwd] = number
        return number

    # prompts

    def _prompt(self, session: _Session, prompt: Prompt) -> None:
        db = self.db
        if prompt.source != "agent" and self._said(session, prompt):
            self.written.duplicates += 1
            return
        done = db.execute(
            "INSERT INTO prompts (session_id, at, source, kind, content, native_id, agent_id, dedup_key)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (session_id, dedup_key) DO NOTHING",
            (session.id, prompt.at, prompt.source, prompt.kind, prompt.content, prompt.native_id or None,
             prompt.agent_id or None, prompt.dedup_key),
        )  # fmt: skip
        if not done.rowcount:
            self.written.duplicates += 1
            return
        self.written.stored += 1
        if prompt.source == USER and session.seq and prompt.at <= session.last_at:
            self._relink(session, prompt, done.lastrowid)

    def _said(self, session: _Session, prompt: Prompt) -> bool:
        """Whether the same words were said within ten seconds, under another discriminator."""
        words = prompt.dedup_key.partition(".")[0]
        return bool(
            self.db.execute(
                "SELECT 1 FROM prompts WHERE session_id = ? AND dedup_key >= ? AND dedup_key < ? AND source = ?"
                " AND at BETWEEN ? AND ?",
                (session.id, words, words + "/", prompt.source, prompt.at - SAME_PROMPT_WITHIN,
                 prompt.at + SAME_PROMPT_WITHIN),
            ).fetchone()
        )  # fmt: skip

    def _relink(self, session: _Session, prompt: Prompt, number: int | None) -> None:
        """A prompt that arrives after the work it asked for: that work is its turn, not the earlier prompt's."""
        following = self.db.execute(
            "SELECT min(at) FROM prompts WHERE session_id = ? AND source = 'user' AND at > ?", (session.id, prompt.at)
        ).fetchone()[0]
        self.db.execute(
            "UPDATE observations SET prompt_id = ? WHERE session_id = ? AND at >= ? AND at < ? AND agent_id IS NULL"
            " AND (prompt_id IS NULL OR prompt_id IN (SELECT id FROM prompts WHERE session_id = ? AND at < ?))",
            (number, session.id, prompt.at, following or 1 << 62, session.id, prompt.at),
        )

    def _turn(self, session: _Session, observation: Observation) -> int | None:
        """The user's prompt that an observation belongs to: by the client's turn id, else the newest before it."""
        db, at = self.db, observation.at
        if observation.turn_id:
            row = db.execute(
                "SELECT id FROM prompts WHERE session_id = ? AND source = 'user' AND native_id = ?"
                " ORDER BY at > ?, abs(at - ?) LIMIT 1",
                (session.id, observation.turn_id, at, at),
            ).fetchone()
            if row:
                return int(row[0])
        row = db.execute(
            "SELECT id FROM prompts WHERE session_id = ? AND source = 'user' AND at <= ?"
            " ORDER BY at DESC, id DESC LIMIT 1",
            (session.id, at),
        ).fetchone()
        return int(row[0]) if row else None

    # observations

    def _observation(self, session: _Session, observation: Observation) -> None:
        o, db = observation, self.db
        if o.obs_type in _MERGING and o.outcome == OK and self._merged(session, o):
            return
        done = db.execute(
            "INSERT INTO observations (session_id, prompt_id, at, seq, obs_type, tool_name, tool_use_id, agent_id,"
            " file_path, content, outcome, exit_code, duration_ms, lines_added, lines_removed, metadata, dedup_key)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (session_id, dedup_key) DO NOTHING",
            (session.id, self._turn(session, o), o.at, session.seq + 1, o.obs_type, o.tool_name or None,
             o.tool_use_id or None, o.agent_id or None, o.file_path, o.content, o.outcome, o.exit_code, o.duration_ms,
             o.lines_added, o.lines_removed, _json(o.metadata), o.dedup_key),
        )  # fmt: skip
        if done.rowcount:
            session.seq += 1
            self.written.stored += 1
        else:
            self.written.duplicates += 1

    def _merged(self, session: _Session, o: Observation) -> bool:
        """Count a repeated read or search on its first row, unless something was changed in between."""
        db = self.db
        if db.execute(
            "SELECT 1 FROM observations WHERE session_id = ? AND dedup_key = ? UNION ALL"
            " SELECT 1 FROM merged_keys WHERE session_id = ? AND dedup_key = ?",
            (session.id, o.dedup_key, session.id, o.dedup_key),
        ).fetchone():
            self.written.duplicates += 1
            return True
        place = "file_path IS ?" if o.file_path is None else "+session_id = ? AND file_path = ?"
        values = (session.id, None) if o.file_path is None else (session.id, o.file_path)
        if o.file_path is None:
            place = "session_id = ? AND file_path IS ?"
        first = db.execute(
            f"SELECT id, at, metadata FROM observations WHERE {place} AND at BETWEEN ? AND ? AND obs_type = ?"  # noqa: S608
            " AND outcome = 'ok' AND content = ? AND agent_id IS ? ORDER BY at DESC LIMIT 1",
            (*values, o.at - MERGE_WITHIN, o.at, o.obs_type, o.content, o.agent_id or None),
        ).fetchone()
        if first is None or _part(first[2]) != _part(_json(o.metadata)) or self._changed(session, o, first[1]):
            return False
        db.execute(
            "UPDATE observations SET repeats = repeats + 1, last_at = max(coalesce(last_at, 0), ?) WHERE id = ?",
            (o.at, first[0]),
        )
        db.execute("INSERT INTO merged_keys VALUES (?, ?, ?)", (session.id, o.dedup_key, first[0]))
        self.written.merged += 1
        return True

    def _changed(self, session: _Session, o: Observation, since: int) -> bool:
        """Whether the session wrote the file after `since`; for a search, any file may have been what it found."""
        where, values = "session_id = ?", [session.id]
        if o.obs_type == "file_read" and o.file_path is not None:
            where, values = "+session_id = ? AND file_path = ?", [session.id, o.file_path]
        return bool(
            self.db.execute(
                f"SELECT 1 FROM observations WHERE {where} AND obs_type IN ('file_edit', 'file_write')"  # noqa: S608
                " AND at BETWEEN ? AND ? LIMIT 1",
                (*values, since, o.at),
            ).fetchone()
        )

    # beside them

    def _redactions(self, batch: Batch) -> None:
        from time import gmtime

        moment = gmtime(batch.at / 1000)
        day = f"{moment[0]:04d}-{moment[1]:02d}-{moment[2]:02d}"
        self.db.executemany(
            "INSERT INTO redactions VALUES (?, ?, ?)"
            " ON CONFLICT (day, kind) DO UPDATE SET count = count + excluded.count",
            [(day, kind, number) for kind, number in batch.redactions.items()],
        )

    def _drift(self, batch: Batch, session: _Session) -> None:
        event = batch.session.get("native_event") or ""
        version = session.values["client_version"] or ""
        self.db.executemany(
            "INSERT OR IGNORE INTO payload_drift VALUES (?, ?, ?, ?, ?)",
            [(batch.client, event, field, version, batch.at) for field in batch.drift],
        )


def _number(value: object, default: int) -> int:
    return value if isinstance(value, int) else default


def _json(value: dict[str, object]) -> str | None:
    if not value:
        return None
    from capture.jsonio import dumps

    return dumps(value)


def _part(metadata: str | None) -> tuple[object, object]:
    """Which part of a file a read asked for: another part is another read."""
    if not metadata:
        return None, None
    from capture.jsonio import loads

    value = loads(metadata)
    return (value.get("offset"), value.get("limit")) if isinstance(value, dict) else (None, None)
