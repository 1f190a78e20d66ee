"""Labels tool calls by the five classifiers as rows are written, reading the session's last calls (SQL)."""

from __future__ import annotations

from capture.event import FAILED
from capture.labels.calls import NOT_CALLS, TEXT, WINDOW, Call, Seen
from capture.labels.commands import HEAD, TAIL
from capture.labels.model import current

TYPE_CHECKING = False

if TYPE_CHECKING:
    from sqlite3 import Connection

    from capture.event import Observation
    from capture.labels.calls import Call
    from capture.labels.model import Model

    Row = tuple[float | None, float | None, float | None, float | None, float | None, str | None]

NONE: Row = (None, None, None, None, None, None)
_AGENTS = 512


class Labeller:
    """Labels the calls of one transaction; what it has just labelled is what came before the next."""

    def __init__(self, db: Connection, path: str) -> None:
        self.db = db
        self.path = path
        """The database's file: the weights lie beside it."""
        self._model: Model | None = current(path)
        self._last: dict[tuple[str, str], tuple[int, list[Call]]] = {}
        self._prompt: tuple[int | None, str] = (None, "")
        self._made: tuple[Call, int, list[Call]] | None = None

    def label(self, session_id: str, seen: Observation, at: int, prompt_id: int | None) -> Row:
        """Five scores, NULL where the model abstains, and the model's name; nothing for what is no call.

        A fault costs the labels, never the row.
        """
        self._made = None
        if self._model is None or seen.obs_type in NOT_CALLS:
            return NONE
        try:
            call = call_of(seen)
            before = self._before(session_id, seen.agent_id, at)
            self._made = call, at, before
            return *self._model.label(Seen(call, before, self._asked(prompt_id))), self._model.name
        except Exception as error:  # noqa: BLE001 - the boundary between a row and what is made of it
            from capture import log  # on use: start-up stays short

            log.note(self.path, f"not labelled: {log.reason(error)}")
            self._model = None
            return NONE

    def stored(self, session_id: str, agent_id: str) -> None:
        """The row that was labelled last is in the table: it comes before the agent's next."""
        if self._made is None:
            return
        call, at, before = self._made
        known = self._last.get((session_id, agent_id))
        if known is not None and known[0] > at:
            del self._last[session_id, agent_id]  # it came late: what the next one follows must be looked up
            return
        if len(self._last) >= _AGENTS:
            self._last.clear()
        self._last[session_id, agent_id] = at, [call, *before[: WINDOW - 1]]

    def _before(self, session_id: str, agent_id: str, at: int) -> list[Call]:
        known = self._last.get((session_id, agent_id))
        if known is not None and known[0] <= at:
            return known[1]
        return last_calls(self.db, session_id, agent_id, at)

    def _asked(self, prompt_id: int | None) -> str:
        if prompt_id is None:
            return ""
        if self._prompt[0] != prompt_id:
            row = self.db.execute(
                f"SELECT substr(content, 1, {TEXT}) FROM prompts WHERE id = ?",  # noqa: S608 - our number
                (prompt_id,),
            ).fetchone()
            self._prompt = prompt_id, row[0] if row else ""
        return self._prompt[1]


LOOKED = 24
"""Rows that are looked through for the calls of one agent: others work beside it."""
COLUMNS = (
    "obs_type, coalesce(tool_name, ''), coalesce(file_path, ''),"
    f" iif(length(content) <= {HEAD + TAIL}, content,"
    f" substr(content, 1, {HEAD}) || char(10) || substr(content, -{TAIL})),"
    " outcome = 'failed' OR coalesce(instr(metadata, '\"refused\":'), 0) > 0"
)
"""What a Call is made of, as SQL over observations."""


def call_of(seen: Observation) -> Call:
    """An observation as the classifiers see it."""
    failed = seen.outcome == FAILED or "refused" in seen.metadata
    return Call(seen.obs_type, seen.tool_name, seen.file_path or "", seen.content, failed)


def last_calls(db: Connection, session_id: str, agent_id: str, at: int, below: int = 1 << 62) -> list[Call]:
    """The calls of one agent in a session until a moment (and below a number), newest first, at most WINDOW."""
    rows = db.execute(
        f"SELECT coalesce(agent_id, ''), {COLUMNS} FROM observations"  # noqa: S608 - our columns
        " WHERE session_id = ? AND at <= ? AND seq < ? ORDER BY at DESC, seq DESC LIMIT ?",
        (session_id, at, below, LOOKED),
    ).fetchall()
    kept = [row for row in rows if row[0] == agent_id and row[1] not in NOT_CALLS][:WINDOW]
    return [Call(kind, tool, path, text, bool(failed)) for _, kind, tool, path, text, failed in kept]
