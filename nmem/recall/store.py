"""Questions about decisions, what was offered unasked and what of it was used (SQL): the table `recall_calls`.

On the hook's path: nothing is loaded for it.
"""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    Asked = tuple[str, str, str, str, float]

HOOK, OFFERED = "hook", "offered"
_MOST = 50_000
"""Rows that are kept, the newest."""


def note(db: Connection, folder: str, root: str, asked: list[Asked], who: str, session: str) -> None:
    """Note questions: what was asked, the entry and file that answer it, the outcome and how sure. In a transaction."""
    now = time.time_ns() // 1_000_000
    known = db.execute("SELECT id, project_id FROM sessions WHERE id = ?", (session,)).fetchone() if session else None
    of = (now, known[1] if known else project(db, root), known and known[0], folder, who)
    db.executemany("INSERT INTO recall_calls"
                   " (at, project_id, session_id, place, origin, query, entry, file, outcome, confidence)"
                   " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", [(*of, *each) for each in asked])  # fmt: skip
    for _, entry, *_ in asked:
        if known and entry:
            used(db, known[0], entry, now)
    db.execute("DELETE FROM recall_calls WHERE id <= (SELECT max(id) FROM recall_calls) - ?", (_MOST,))


def project(db: Connection, root: str) -> int | None:
    """The project of a folder, which may be named by a link to it."""
    sql = "SELECT id FROM projects WHERE root IN (?, ?) LIMIT 1"
    row = db.execute(sql, (root, os.path.realpath(root))).fetchone()
    return int(row[0]) if row else None


def offered(db: Connection, session_id: str, folder: str, entries: list[tuple[str, str, float]], now: int) -> None:
    """Note entries (link, file, confidence) that a session was offered unasked. Inside a transaction."""
    row = db.execute("SELECT project_id FROM sessions WHERE id = ?", (session_id,)).fetchone()
    for link, file, confidence in entries:
        db.execute(
            "INSERT INTO recall_calls (at, project_id, session_id, place, origin, entry, file, outcome, confidence)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (now, row and row[0], session_id if row else None, folder, HOOK, link, file, OFFERED, confidence),
        )


def before(db: Connection, session_id: str) -> set[str]:
    """The entries that a session was offered or has asked for already: not to be offered again."""
    found = db.execute("SELECT entry FROM recall_calls WHERE session_id = ? AND entry <> ''", (session_id,))
    return {row[0] for row in found}


def used(db: Connection, session_id: str, link: str, now: int) -> None:
    """Note that a session asked for what it was offered. Inside a transaction."""
    db.execute("UPDATE recall_calls SET used_at = ? WHERE session_id = ? AND outcome = ? AND entry = ?"
               " AND used_at IS NULL", (now, session_id, OFFERED, link))  # fmt: skip


_USED = """(used_at IS NOT NULL OR EXISTS (SELECT 1 FROM injections j JOIN injection_items i ON i.injection_id = j.id
  WHERE j.session_id = c.session_id AND i.item = 'recall/' || substr(c.entry, 2) AND i.used_how LIKE 'ran nmem %')
  OR EXISTS (SELECT 1 FROM observations o
  WHERE o.session_id = c.session_id AND o.at >= c.at AND c.file <> '' AND (o.file_path = c.place || '/' || c.file
    OR substr(c.place || '/' || c.file, -length(o.file_path) - 1) = '/' || o.file_path)))"""


def uses(db: Connection, folder: str, since: int) -> list[tuple[str, str, int, int, int, int]]:
    """Of each entry of a place its file, how often it answered, was offered and was used then, and when last."""
    return db.execute(
        f"SELECT entry, max(file), sum(outcome <> ?3), sum(outcome = ?3), sum(outcome = ?3 AND {_USED}), max(at)"  # noqa: S608 - our names
        " FROM recall_calls c WHERE c.place = ?1 AND c.at >= ?2 AND entry <> '' GROUP BY entry",
        (folder, since, OFFERED),
    ).fetchall()


def unanswered(db: Connection, folder: str, since: int, most: int) -> list[tuple[str, int]]:
    """Queries that nothing answered, and how often each."""
    return db.execute("SELECT query, count(*) FROM recall_calls WHERE place = ? AND at >= ?"
                      " AND outcome IN ('unsure', 'nothing') GROUP BY query ORDER BY 2 DESC, max(at) DESC LIMIT ?",
                      (folder, since, most)).fetchall()  # fmt: skip


def counted(db: Connection, name: str, folder: str, since: int) -> dict[str, int]:
    """How many questions there were by `origin` or `outcome`."""
    found = db.execute(
        f"SELECT {name}, count(*) FROM recall_calls WHERE place = ? AND at >= ? AND outcome <> ?"  # noqa: S608 - our names
        " GROUP BY 1 ORDER BY 2 DESC",
        (folder, since, OFFERED),
    )
    return {row[0]: row[1] for row in found}


def folders(db: Connection, since: int, most: int) -> list[str]:
    """The folders that sessions worked in since a time, the last one first."""
    rows = db.execute("SELECT cwd FROM sessions WHERE last_at > ? AND cwd <> '' GROUP BY cwd ORDER BY max(last_at) DESC"
                      " LIMIT ?", (since, most))  # fmt: skip
    return [row[0] for row in rows.fetchall()]
