"""What the row of a session says, and what batches make of it; capture.storage.rows reads and writes it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from capture.event import Batch

KNOWN = ("cwd", "parent_id", "branch", "model", "client_version", "permission_mode", "source", "transcript_path",
         "end_reason", "context_tokens", "context_window", "context_at")  # fmt: skip
"""Columns of a session that a batch may know."""
STORED = (*KNOWN, "state", "started_at", "ended_at")
_LATE = 60_000
"""Milliseconds by which what happens now may lie before what is stored, until it is the clock that was put back."""


class Session:
    """What the row says, and what it will say."""

    __slots__ = ("before", "id", "last_at", "project_id", "seq", "values")

    def __init__(self, session_id: str, project_id: int, seq: int, last_at: int, values: dict[str, object]) -> None:
        self.id = session_id
        self.project_id = project_id
        self.seq = seq
        self.last_at = last_at
        self.values = values
        self.before = (seq, last_at, dict(values))

    def take(self, batch: Batch, live: bool) -> bool:
        """Newer batches overwrite what they know, older ones only fill gaps; None says nothing. Whether it is newer.

        `live`: it happens now, whatever the clock says.
        """
        if live and batch.at < self.last_at - _LATE:
            self._put_right(batch.at)
        newest = batch.at >= self.last_at
        known, values = batch.session, self.values
        starts = (values["started_at"], known.get("started_at"), batch.at)
        values["started_at"] = min(at for at in starts if isinstance(at, int))
        for name in KNOWN:
            value = known.get(name)
            if isinstance(value, int) and not 0 <= value < 1 << 53:
                continue
            if isinstance(value, str | int) and (newest or values[name] is None):
                values[name] = value
        return newest

    def _put_right(self, now: int) -> None:
        """The clock was ahead: what it is said to have done later than now is done; what comes now is the newest."""
        self.last_at = now
        ended = self.values["ended_at"]
        if isinstance(ended, int) and ended >= now:
            self.values["ended_at"] = now - 1

    def move(self, batch: Batch) -> None:
        """Working, idle, waiting (it asks), failed or ended; a session that goes on after its end is open again."""
        values = self.values
        state, ended = batch.session.get("state"), batch.session.get("ended_at")
        if ended is not None or state == "ended":
            values["ended_at"] = batch.at if ended is None else ended
            values["state"] = "ended"
            return
        happened = bool(batch.prompts) or any(seen.obs_type != "marker" for seen in batch.observations)
        if state is None and not happened:  # a marker is no work itself
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
