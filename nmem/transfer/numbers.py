"""Maps row ids of an export to ids here (SQL): new ids, with equal rows matched by content.

Rows of a session that is taken in now are noted as they are stored; others are found by session and key.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

_THERE = {
    "prompts": "SELECT session_id, dedup_key FROM prompts WHERE id = ?",
    "observations": "SELECT session_id, dedup_key FROM observations WHERE id = ?",
    "work_units": "SELECT u.session_id, p.dedup_key FROM work_units u JOIN prompts p ON p.id = u.first_prompt_id"
    " WHERE u.id = ?",
    "threads": "SELECT session_id, '' FROM session_threads WHERE thread_id = ?",
    "learnings": "SELECT p.key, l.kind || char(0) || l.key FROM learnings l JOIN projects p ON p.id = l.project_id"
    " WHERE l.id = ?",
    "said_decisions": "SELECT d.session_id, p.dedup_key FROM said_decisions d JOIN prompts p ON p.id = d.prompt_id"
    " WHERE d.id = ?",
}
_HERE = {
    "prompts": "SELECT id FROM prompts WHERE session_id = ? AND dedup_key = ?",
    "observations": "SELECT id FROM observations WHERE session_id = ? AND dedup_key = ?",
    "work_units": "SELECT u.id FROM work_units u JOIN prompts p ON p.id = u.first_prompt_id"
    " WHERE u.session_id = ? AND p.dedup_key = ?",
    "threads": "SELECT thread_id FROM session_threads WHERE session_id = ? AND '' = ?",
    "learnings": "SELECT l.id FROM learnings l JOIN projects p ON p.id = l.project_id"
    " WHERE p.key = ? AND l.kind || char(0) || l.key = ?",
    "said_decisions": "SELECT d.id FROM said_decisions d JOIN prompts p ON p.id = d.prompt_id"
    " WHERE d.session_id = ? AND p.dedup_key = ?",
}
ITEMS = {
    "episode": "work_units", "learning": "learnings", "prompt": "prompts", "obs": "observations",
    "observation": "observations", "thread": "threads", "work_units": "work_units",
    "decision": "said_decisions",
}  # fmt: skip


class Numbers:
    """Ids there -> ids here."""

    def __init__(self, there: sqlite3.Connection, here: sqlite3.Connection) -> None:
        self._there, self._here = there, here
        self._session: dict[tuple[str, int], int] = {}
        self._lasting: dict[tuple[str, int], int] = {}
        self.same = True
        """Whether every id is the one it was."""

    def next_session(self) -> None:
        """Forget the rows of the session before: what memory they took is bounded by one session."""
        self._session.clear()

    def note(self, table: str, old: int, new: int) -> None:
        """A row that was stored just now."""
        self.same &= old == new
        lasting = table in ("projects", "threads", "learnings")
        (self._lasting if lasting else self._session)[table, old] = new

    def of(self, table: str, old: object) -> int | None:
        """The id here; None where there is no such row."""
        if not isinstance(old, int):
            return None
        known = self._session.get((table, old)) or self._lasting.get((table, old))
        return known if known is not None or table not in _THERE else self._found(table, old)

    def _found(self, table: str, old: int) -> int | None:
        for key in self._there.execute(_THERE[table], (old,)).fetchall():
            row = self._here.execute(_HERE[table], tuple(key)).fetchone()
            if row is not None:
                return int(row[0])
        return None

    def item(self, item: str) -> str | None:
        """episode/12 as it is called here; what has no number stays; None where there is no such row."""
        kind, _, number = item.partition("/")
        if kind not in ITEMS or not number.isdigit():
            return item
        new = self.of(ITEMS[kind], int(number))
        return None if new is None else f"{kind}/{new}"

    def trace(self, trace: Iterable[object]) -> list[object]:
        """Entries with an `id` of an observation; one that is gone keeps none."""
        return [
            {**each, "id": self.of("observations", each.get("id"))} if isinstance(each, dict) else each
            for each in trace
        ]
