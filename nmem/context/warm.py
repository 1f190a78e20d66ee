"""Prepares warm learnings for hooks (SQL): in which words a prompt runs into them, and what is then told."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext
from sqlite3 import Connection

from capture.storage.store import transaction
from nmem.context.known import fact
from nmem.learn import warnings
from nmem.learn.learning import REPEATED_INTENT, STUCK_LOOP, UNRESOLVED_READ, Learning
from nmem.threads import words

_FILES = 12


def keep(db: Connection, project_id: int, now: int) -> None:
    """Bring a project's prepared learnings up to date; writes what differs, in the caller's transaction or its own."""
    wanted = {one.id: _row(one) for one in warnings.warm_learnings(db, project_id, now)}
    there = {
        row[0]: tuple(row)
        for row in db.execute("SELECT * FROM context_learnings WHERE project_id = ?", (project_id,)).fetchall()
    }
    gone = [(each,) for each in there if each not in wanted]
    new = [row for each, row in wanted.items() if there.get(each) != row]
    if gone or new:
        with nullcontext() if db.in_transaction else transaction(db):
            db.executemany("DELETE FROM context_learnings WHERE learning_id = ?", gone)
            db.executemany("INSERT OR REPLACE INTO context_learnings VALUES (?, ?, ?, ?, ?, ?, ?, ?)", new)


def _row(one: Learning) -> tuple[int, int, float, str, str, str, str, str]:
    files = one.files[:_FILES] if one.kind in (STUCK_LOOP, UNRESOLVED_READ) else ()
    asked = sorted(set(words.tokens(one.title))) if one.kind == REPEATED_INTENT else ()
    return (
        one.id, one.project_id, float(one.heat), _lines(warnings.phrases(one)), _lines(warnings.names(one)),
        _lines(asked), _lines(files),
        fact(one.title, one.sessions, one.remedy.text if one.remedy else ""),
    )  # fmt: skip


def _lines(values: Iterable[str]) -> str:
    return "\n".join(" ".join(value.lower().split()) for value in values)
