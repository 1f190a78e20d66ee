"""Batches to rows, inside a transaction that the store has begun."""

from __future__ import annotations

from capture.event import OK, USER
from capture.storage.sessions import Sessions
from capture.storage.store import Written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from capture.event import Batch, Observation, Prompt
    from capture.storage.sessions import Session

MERGE_WITHIN = 300_000
"""Milliseconds in which the same read or search is counted on its first row."""
SAME_PROMPT_WITHIN = 10_000

_MERGING = frozenset(("file_read", "search"))


class Writer:
    """Stores batches one after the other; `finish` writes what their sessions have become."""

    def __init__(self, db: Connection) -> None:
        self.db = db
        self.written = Written()
        self._sessions = Sessions(db)

    def add(self, batch: Batch) -> None:
        """Store one batch: its session, prompts and observations, and what is counted beside them."""
        if not batch.session_id:
            return
        session = self._sessions.of(batch)
        before = self.written.stored + self.written.merged
        for prompt in batch.prompts:
            self._prompt(session, prompt)
        for observation in batch.observations:
            self._observation(session, observation)
        self._sessions.update(session, batch)
        new = self.written.stored + self.written.merged > before
        if batch.redactions and (new or not (batch.prompts or batch.observations)):
            self._redactions(batch)
        if batch.drift:
            self._drift(batch, session)

    def finish(self) -> None:
        """Write the sessions that changed."""
        self._sessions.finish()

    # prompts

    def _prompt(self, session: Session, prompt: Prompt) -> None:
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

    def _said(self, session: Session, prompt: Prompt) -> bool:
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

    def _turn(self, session: Session, observation: Observation) -> int | None:
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

    def _observation(self, session: Session, observation: Observation) -> None:
        o, db = observation, self.db
        if o.obs_type in _MERGING and o.outcome == OK and self._merged(session, o):
            return
        done = db.execute(
            "INSERT INTO observations (session_id, prompt_id, at, seq, obs_type, tool_name, tool_use_id, agent_id,"
            " file_path, content, outcome, exit_code, duration_ms, lines_added, lines_removed, metadata, dedup_key)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (session_id, dedup_key) DO NOTHING",
            (session.id, self._turn(session, o), o.at, session.seq + 1, o.obs_type, o.tool_name or None,
             o.tool_use_id or None, o.agent_id or None, o.file_path, o.content, o.outcome, _int(o.exit_code),
             _int(o.duration_ms), _int(o.lines_added), _int(o.lines_removed), _json(o.metadata), o.dedup_key),
        )  # fmt: skip
        if done.rowcount:
            session.seq += 1
            self.written.stored += 1
        else:
            self.written.duplicates += 1

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
        db.execute("INSERT INTO merged_keys VALUES (?, ?, ?)", (session.id, o.dedup_key, first[0]))
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
        from time import gmtime

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


def _int(value: int | None) -> int | None:
    """A number that a column can hold; a client's nonsense is no number."""
    return value if value is not None and -1 << 53 < value < 1 << 53 else None


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
