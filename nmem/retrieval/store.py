"""The retrieval index (SQL): documents of episodes, postings of words, and how far a project is indexed.

Tables: `retrieval_docs`, `retrieval_postings`, `retrieval_projects`. On the hook's path: nothing is loaded for it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from sqlite3 import Connection

_MANY = 30_000
"""The highest number of a document up to which a project's documents are counted."""
_DUE = """
SELECT u.id, s.project_id, u.last_at, u.narrated_at
FROM work_units u INDEXED BY work_units_standing CROSS JOIN sessions s ON s.id = u.session_id
LEFT JOIN retrieval_docs d ON d.unit_id = u.id
WHERE u.narrated_at IS NOT NULL
AND (d.unit_id IS NULL OR d.told_at != u.narrated_at OR d.project_id != s.project_id)
ORDER BY u.last_at DESC, u.id DESC LIMIT ?
"""


def _marks(some: Sequence[object]) -> str:
    return ",".join("?" * len(some))


def size(db: Connection, project_id: int) -> int:
    """How many documents a project has; in a view of the past too those of today, as the counts of its words are.

    In a large project the highest number that was given: counting takes a millisecond there, and at most half of the
    numbers belong to no document any more.
    """
    row = db.execute("SELECT last_doc FROM main.retrieval_projects WHERE project_id = ?", (project_id,)).fetchone()
    if row and row[0] > _MANY:
        return int(row[0])
    counted = "SELECT count(*) FROM main.retrieval_docs WHERE project_id = ?"
    return int(db.execute(counted, (project_id,)).fetchone()[0])


def known(db: Connection, project_id: int, words: Sequence[str]) -> list[tuple[int, str]]:
    """In how many documents of a project each word is, of those that are in any."""
    sql = f"SELECT docs, word FROM retrieval_postings WHERE project_id = ? AND word IN ({_marks(words)})"  # noqa: S608 - placeholders
    return db.execute(sql, (project_id, *words)).fetchall()


def postings(db: Connection, project_id: int, words: Sequence[str]) -> dict[str, bytes]:
    """Word -> its packed postings."""
    sql = f"SELECT word, postings FROM retrieval_postings WHERE project_id = ? AND word IN ({_marks(words)})"  # noqa: S608
    return dict(db.execute(sql, (project_id, *words)).fetchall())


def documents(db: Connection, project_id: int, numbers: Sequence[int], before: int) -> dict[int, tuple[int, int]]:
    """Document number -> its episode and time, for those that exist; `before`: last worked on until then."""
    rows = db.execute(
        f"SELECT doc, unit_id, at FROM retrieval_docs WHERE project_id = ? AND doc IN ({_marks(numbers)})"  # noqa: S608
        f"{' AND at < ?' if before else ''}",
        (project_id, *numbers, *((before,) if before else ())),
    )
    return {doc: (unit_id, at) for doc, unit_id, at in rows.fetchall()}


def told(db: Connection, unit_id: int) -> tuple[str, str, str, str, str | None] | None:
    """An episode's title, its client's summary, request, summary and files; None when it is gone."""
    row: tuple[str, str, str, str, str | None] | None = db.execute(
        "SELECT coalesce(title, ''), coalesce(client_summary, ''), intent, coalesce(summary, ''), files_edited"
        " FROM work_units WHERE id = ?",
        (unit_id,),
    ).fetchone()
    return row


def due(db: Connection, most: int) -> list[tuple[int, int, int, int]]:
    """Episode, project, time and when it was told, of episodes that are not indexed as they are told now."""
    return db.execute(_DUE, (most,)).fetchall()


def outdated(db: Connection, rules: str, least: int, dead: float) -> list[int]:
    """Projects that other rules indexed, or of whose numbers too many belong to no document any more."""
    rows = db.execute("SELECT p.project_id FROM retrieval_projects p WHERE p.rules != ?"
                      " OR p.last_doc - (SELECT count(*) FROM retrieval_docs d"
                      " WHERE d.project_id = p.project_id) > max(?, ? * p.last_doc)", (rules, least, dead))  # fmt: skip
    return [row[0] for row in rows.fetchall()]


def forget(db: Connection, project_ids: Iterable[int]) -> None:
    """Drop the index of projects, and their themes that are made of it, within the caller's transaction.

    `nmem.retrieval.index.keep` makes the index again from what is still there.
    """
    for project_id in project_ids:
        for table in ("retrieval_docs", "retrieval_postings", "retrieval_projects", "unit_themes"):
            db.execute(f"DELETE FROM {table} WHERE project_id = ?", (project_id,))  # noqa: S608 - our names


def forget_changed(db: Connection) -> None:
    """Drop the index of projects that something was taken from, within the caller's transaction: no word stays."""
    rows = db.execute("SELECT project_id FROM context_projects WHERE taken != known").fetchall()
    forget(db, [row[0] for row in rows])


def last_number(db: Connection, project_id: int) -> int:
    """The highest number that a document of a project was given."""
    row = db.execute("SELECT last_doc FROM retrieval_projects WHERE project_id = ?", (project_id,)).fetchone()
    return int(row[0]) if row else 0


def numbers(db: Connection, project_id: int, episodes: Sequence[int]) -> list[int]:
    """The numbers that episodes have in a project's index, where they are in it."""
    sql = f"SELECT doc FROM retrieval_docs WHERE project_id = ? AND unit_id IN ({_marks(episodes)})"  # noqa: S608
    rows = db.execute(sql, (project_id, *episodes))
    return [row[0] for row in rows.fetchall()]


def put(db: Connection, document: tuple[int, int, int, int, int, str]) -> None:
    """Write a document: episode, project, number, time, when it was told, and what came of it."""
    db.execute("INSERT OR REPLACE INTO retrieval_docs (unit_id, project_id, doc, at, told_at, result)"
               " VALUES (?, ?, ?, ?, ?, ?)", document)  # fmt: skip


def append(db: Connection, project_id: int, packed: Iterable[tuple[str, int, bytes]]) -> None:
    """Add to the postings of words: each with the number of documents and their postings."""
    db.executemany("INSERT INTO retrieval_postings (project_id, word, docs, postings) VALUES (?, ?, ?, ?)"
                   " ON CONFLICT (project_id, word) DO UPDATE"
                   " SET docs = docs + excluded.docs, postings = CAST(postings || excluded.postings AS BLOB)",
                   [(project_id, *one) for one in packed])  # fmt: skip


def counted_postings(db: Connection, project_id: int, words: str) -> list[tuple[str, int, bytes]]:
    """Word, number of documents and postings of words, a JSON list."""
    return db.execute("SELECT word, docs, postings FROM retrieval_postings WHERE project_id = ?"
                      " AND word IN (SELECT value FROM json_each(?))", (project_id, words)).fetchall()  # fmt: skip


def replace(db: Connection, changed: Iterable[tuple[int, bytes, int, str]]) -> None:
    """Write postings anew: number of documents, postings, project, word."""
    db.executemany("UPDATE retrieval_postings SET docs = ?, postings = ? WHERE project_id = ? AND word = ?", changed)


def indexed(db: Connection, project_id: int, last: int, rules: str) -> None:
    """Note the highest number of a project, and by which rules it is indexed where it is new."""
    db.execute("INSERT INTO retrieval_projects (project_id, last_doc, rules) VALUES (?, ?, ?)"
               " ON CONFLICT (project_id) DO UPDATE SET last_doc = excluded.last_doc",
               (project_id, last, rules))  # fmt: skip
