"""Writes the session and project rows of a batch, inside a transaction of the store.

Keeps what it knows in memory, so a long import asks once for each session, not for each event.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from capture.event import Batch

KNOWN = ("cwd", "parent_id", "branch", "model", "client_version", "permission_mode", "source", "transcript_path",
         "end_reason", "context_tokens", "context_window", "context_at")  # fmt: skip
"""Columns of a session that a batch may know."""
_STORED = (*KNOWN, "state", "started_at", "ended_at")
_LATE = 60_000
"""Milliseconds by which what happens now may lie before what is stored, until it is the clock that was put back."""


def called(db: Connection, session_id: str) -> tuple[str, ...]:
    """What the project of a session is called in settings: by name, root and key; none where there is no session."""
    row = db.execute(
        "SELECT p.name, p.root, p.key FROM sessions s JOIN projects p ON p.id = s.project_id WHERE s.id = ?",
        (session_id,),
    ).fetchone()
    return tuple(row or ())


def called_by(db: Connection, project_id: int) -> tuple[str, ...]:
    """The same of a project; none where there is no such."""
    return tuple(db.execute("SELECT name, root, key FROM projects WHERE id = ?", (project_id,)).fetchone() or ())


class Session:
    """What the row of a session says, and what it will say."""

    __slots__ = ("before", "id", "last_at", "project_id", "seq", "values")

    def __init__(self, session_id: str, project_id: int, seq: int, last_at: int, values: dict[str, object]) -> None:
        self.id = session_id
        self.project_id = project_id
        self.seq = seq
        self.last_at = last_at
        self.values = values
        self.before = (seq, last_at, dict(values))


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
        stored = "SELECT 1 FROM sessions WHERE id = ?"
        return session_id in self._sessions or self.db.execute(stored, (session_id,)).fetchone() is not None

    def _load(self, batch: Batch) -> Session | None:
        row = self.db.execute(
            f"SELECT project_id, seq, last_at, {', '.join(_STORED)} FROM sessions WHERE id = ?",  # noqa: S608 - our names
            (batch.session_id,),
        ).fetchone()
        return row and Session(batch.session_id, row[0], row[1], row[2], dict(zip(_STORED, row[3:], strict=True)))

    def _enter(self, batch: Batch) -> Session:
        project = self._project(batch)
        self.db.execute(
            "INSERT INTO sessions (id, client, project_id, cwd, started_at, last_at, origin)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (batch.session_id, batch.client, project, batch.cwd, batch.at, batch.at, batch.origin),
        )
        values: dict[str, object] = dict.fromkeys(_STORED)
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
        """Newer batches overwrite what they know, older ones only fill gaps; None says nothing.

        `live`: it happens now, whatever the clock says.
        """
        if live and batch.at < session.last_at - _LATE:
            _put_right(session, batch.at)
        newest = batch.at >= session.last_at
        known, values = batch.session, session.values
        starts = (values["started_at"], known.get("started_at"), batch.at)
        values["started_at"] = min(at for at in starts if isinstance(at, int))
        folder = values["cwd"]
        for name in KNOWN:
            value = known.get(name)
            if isinstance(value, int) and not 0 <= value < 1 << 53:
                continue
            if isinstance(value, str | int) and (newest or values[name] is None):
                values[name] = value
        if values["cwd"] != folder and self._folder(batch.cwd) is None:
            self._project(batch)
        if newest or self._rests(session.id, batch):
            _state(values, batch)
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
        names = ", ".join(f"{name} = ?" for name in _STORED)
        for session in self._sessions.values():
            if (session.seq, session.last_at, session.values) != session.before:
                self.db.execute(
                    f"UPDATE sessions SET seq = ?, last_at = ?, {names} WHERE id = ?",  # noqa: S608 - our names
                    (session.seq, session.last_at, *(session.values[name] for name in _STORED), session.id),
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


def _put_right(session: Session, now: int) -> None:
    """The clock was ahead: what a session is said to have done later than now is done; what comes now is the newest."""
    session.last_at = now
    ended = session.values["ended_at"]
    if isinstance(ended, int) and ended >= now:
        session.values["ended_at"] = now - 1


def _state(values: dict[str, object], batch: Batch) -> None:
    """Working, idle, waiting (it asks), failed or ended; a session that goes on after its end is open again."""
    state, ended = batch.session.get("state"), batch.session.get("ended_at")
    if ended is not None or state == "ended":
        values["ended_at"] = batch.at if ended is None else ended
        values["state"] = "ended"
        return
    happened = bool(batch.prompts) or any(seen.obs_type != "marker" for seen in batch.observations)  # no work itself
    if state is None and not happened:
        return
    before = values["ended_at"]
    if isinstance(before, int):
        if batch.at <= before:
            return
        values["ended_at"] = values["end_reason"] = None
        values["state"] = "idle"
    if state is not None:
        values["state"] = state
    elif batch.origin == "hook":
        values["state"] = "working"


def note(db: Connection, session_id: str, at: int, tokens: int) -> None:
    """Keep a reading: one a turn, the newest of it; one more when the window shrank within the turn."""
    last = db.execute(
        "SELECT at, tokens FROM context_readings WHERE session_id = ? ORDER BY at DESC LIMIT 1", (session_id,)
    ).fetchone()
    if last is not None and at <= last[0]:
        return
    if last is not None and tokens >= last[1] and not _asked_since(db, session_id, last[0], at):
        db.execute(
            "UPDATE context_readings SET at = ?, tokens = ? WHERE session_id = ? AND at = ?",
            (at, tokens, session_id, last[0]),
        )
        return
    db.execute("INSERT INTO context_readings VALUES (?, ?, ?)", (session_id, at, tokens))


def _asked_since(db: Connection, session_id: str, since: int, until: int) -> bool:
    """Whether a person said something between two times: then another turn began."""
    return (
        db.execute(
            "SELECT 1 FROM prompts WHERE session_id = ? AND source = 'user' AND at > ? AND at <= ? LIMIT 1",
            (session_id, since, until),
        ).fetchone()
        is not None
    )
