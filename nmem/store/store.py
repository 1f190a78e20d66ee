"""What is asked and kept of projects, of the log of corrections, and of what is gone from a team."""

from __future__ import annotations

from collections.abc import Iterable
from sqlite3 import Connection
from typing import Any

# projects


def recorded(db: Connection, limit: int) -> list[tuple[Any, ...]]:
    """Name, root, count of sessions and newest activity of projects, the most recently active first."""
    return db.execute(
        "SELECT p.name, p.root, count(s.id), max(s.last_at) FROM projects p LEFT JOIN sessions s"
        " ON s.project_id = p.id GROUP BY p.id ORDER BY 4 DESC, p.id DESC LIMIT ?",
        (limit,),
    ).fetchall()


def projects(db: Connection, column: str, value: str) -> list[tuple[Any, ...]]:
    """Id, key, name and root of the projects of a key, root or name, the newest first."""
    assert column in ("key", "root", "name")
    sql = f"SELECT id, key, name, root FROM projects WHERE {column} = ? ORDER BY id DESC LIMIT 9"  # noqa: S608 - our names
    return db.execute(sql, (value,)).fetchall()


def of_name(db: Connection, name: str) -> tuple[int, float]:
    """How many projects have a key, root or name; and of how many it is the key or the root."""
    sql = "SELECT count(*), total(? IN (key, root)) FROM projects WHERE ? IN (key, root, name)"
    count, exact = db.execute(sql, (name, name)).fetchone()
    return count, exact


def newest_sessions(db: Connection, limit: int = 200) -> list[tuple[str, str]]:
    """Ids of the sessions that were active last, each with the name of its project."""
    rows = db.execute(
        "SELECT s.id, p.name FROM sessions s JOIN projects p ON p.id = s.project_id ORDER BY s.last_at DESC LIMIT ?",
        (limit,),
    )
    return [(str(row[0]), str(row[1])) for row in rows]


def with_folders(db: Connection) -> list[tuple[int, str, str]]:
    """Id, name and root folder of the projects that have one and a session, those worked in last first."""
    rows = db.execute(
        "SELECT p.id, p.name, p.root FROM projects p JOIN sessions s ON s.project_id = p.id"
        " WHERE p.root <> '' GROUP BY p.id ORDER BY max(s.last_at) DESC"
    )
    return [(int(row[0]), str(row[1]), str(row[2])) for row in rows.fetchall()]


def of_folder(db: Connection, key: str, root: str) -> int | None:
    """The project of a folder, by the key and the root that the folder resolves to."""
    row = db.execute("SELECT id FROM projects WHERE key = ? OR root = ? LIMIT 1", (key, root)).fetchone()
    return int(row[0]) if row else None


# notes of upkeep


def upkeep_note(db: Connection, name: str) -> tuple[int, str] | None:
    """When something was done for the file, and what came of it."""
    row: tuple[int, str] | None = db.execute("SELECT at, told FROM upkeep WHERE name = ?", (name,)).fetchone()
    return row


def keep_upkeep_note(db: Connection, name: str, at: int, told: str) -> None:
    """Keep such a note in the place of the one before. Inside a transaction."""
    db.execute("INSERT OR REPLACE INTO upkeep VALUES (?, ?, ?)", (name, at, told))


# corrections


def correct(db: Connection, at: int, kind: str, target: str, payload: str, before: str) -> None:
    """Log what a person changed. Inside a transaction."""
    sql = "INSERT INTO corrections (at, kind, target, payload, before) VALUES (?, ?, ?, ?, ?)"
    db.execute(sql, (at, kind, target, payload, before))


def corrections(
    db: Connection, limit: int = -1, *, standing: bool = True, of: str = "", together: str = "", session: str = ""
) -> list[tuple[Any, ...]]:
    """Corrections as logged, the newest first: of a sort of target, of those asked for at once, of a session.

    `standing`: those that are not undone, with what was before.
    """
    return db.execute(
        "SELECT id, at, kind, target, payload, undone_at, iif(:standing, before, '{}') FROM corrections"
        " WHERE (NOT :standing OR undone_at IS NULL) AND substr(target, 1, length(:of)) = :of AND (:together = ''"
        " OR json_valid(payload) AND json_extract(payload, '$.together') = :together) AND (:session = ''"
        " OR json_valid(payload) AND json_extract(payload, '$.session') = :session) ORDER BY id DESC LIMIT :limit",
        {"standing": standing, "of": of, "together": together, "session": session, "limit": limit},
    ).fetchall()


def steps(db: Connection) -> int:
    """How often a person can undo: what was asked for together is one."""
    word = "CASE WHEN json_valid(payload) THEN json_extract(payload, '$.together') END"
    sql = f"SELECT count(DISTINCT coalesce({word}, id)) FROM corrections WHERE undone_at IS NULL"  # noqa: S608 - our names
    return int(db.execute(sql).fetchone()[0])


def undone(db: Connection, entry_id: int, now: int) -> None:
    """Note that a correction was taken back."""
    db.execute("UPDATE corrections SET undone_at = ? WHERE id = ?", (now, entry_id))


# what is gone from a team


def prefixes(db: Connection) -> set[str]:
    """How subjects begin that this person has opened."""
    return {str(row[0]) for row in db.execute("SELECT value FROM team_state WHERE key LIKE 'prefix/%'")}


def go(db: Connection, subjects: Iterable[str], now: int) -> None:
    """Subjects of this person go for ever, and their versions here. Inside a transaction."""
    gone = [(each, now) for each in subjects]
    db.executemany(
        "INSERT INTO team_gone (id, subject, origin, at) VALUES (?1, ?1, 'mine', ?2) ON CONFLICT (id) DO UPDATE"
        " SET subject = excluded.subject, origin = 'mine', announced_seq = NULL, refused = NULL"
        " WHERE origin != 'mine' OR subject = ''",
        gone,
    )
    db.executemany("DELETE FROM team_facts WHERE subject = ?", [(each,) for each, _ in gone])


def clear(db: Connection) -> None:
    """What is gone is not here. Inside a transaction."""
    db.execute(
        "DELETE FROM team_facts WHERE id IN (SELECT id FROM team_gone)"
        " OR subject IN (SELECT subject FROM team_gone WHERE subject != '')"
    )


def clear_returned(db: Connection) -> None:
    """What is gone did not come back with an undo or a backup, nor what sessions were told of it.

    Inside a transaction.
    """
    clear(db)
    told = "item > 'team/' AND item < 'team0' AND substr(item, 6) NOT IN (SELECT id FROM team_facts)"
    db.execute(
        "UPDATE injections SET text = '' WHERE text != ''"  # noqa: S608 - our words
        f" AND id IN (SELECT injection_id FROM injection_items WHERE {told})"
    )
    db.execute(f"UPDATE injection_items SET text = '', reason = '', files = '[]', used_how = NULL WHERE {told}")  # noqa: S608


def carry(db: Connection, live: Connection) -> None:
    """What the database that is there knows to be gone is gone from the one that a backup puts in its place.

    What was purged from this machine alone comes back with a backup that holds it, as it does with an undo. Inside a
    transaction.
    """
    gone = live.execute("SELECT id, subject, origin, at, announced_seq, refused FROM team_gone").fetchall()
    names = live.execute("SELECT key, value FROM team_state WHERE key LIKE 'prefix/%' OR key LIKE 'back/%'").fetchall()
    db.executemany(
        "INSERT INTO team_gone (id, subject, origin, at, announced_seq, refused) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (id) DO UPDATE SET subject = excluded.subject, origin = excluded.origin,"
        " announced_seq = excluded.announced_seq, refused = excluded.refused WHERE origin != 'mine'"
        " OR excluded.origin = 'mine'",
        [tuple(row) for row in gone],
    )
    db.execute("DELETE FROM team_gone WHERE origin = ? AND id IN (SELECT id FROM team_facts)", ("here",))
    db.executemany("INSERT OR IGNORE INTO team_state (key, value) VALUES (?, ?)", [tuple(row) for row in names])


def pin_everything(db: Connection) -> None:
    """Pin every episode, of a memory that was made for a trial."""
    db.execute("UPDATE work_units SET pinned = 1")


def save(db: Connection) -> None:
    """From here on something is tried that can be taken back by itself. Inside a transaction."""
    db.execute("SAVEPOINT taking_back")


def back_to_saved(db: Connection) -> None:
    """Everything is as it was then."""
    db.execute("ROLLBACK TO taking_back")


def release(db: Connection) -> None:
    """It stands."""
    db.execute("RELEASE taking_back")


def project_of_unit(db: Connection, unit_id: int) -> tuple[int, str, str] | None:
    """Id, key and name of the project of an episode."""
    row: tuple[int, str, str] | None = db.execute(
        "SELECT p.id, p.key, p.name FROM work_units u JOIN sessions s ON s.id = u.session_id"
        " JOIN projects p ON p.id = s.project_id WHERE u.id = ?",
        (unit_id,),
    ).fetchone()
    return row


def marker(db: Connection, session_id: str, key: str) -> tuple[int, int, str]:
    """Id, time and words of a marker of a session."""
    row: tuple[int, int, str] = db.execute(
        "SELECT id, at, content FROM observations WHERE session_id = ? AND dedup_key = ?", (session_id, key)
    ).fetchone()
    return row


def session_to_mark(db: Connection, session_id: str, key: str, root: str) -> tuple[str, str, str] | None:
    """Id, client and folder of a session: the one of that id, else the newest of the project."""
    columns = "SELECT s.id, s.client, s.cwd FROM sessions s"
    named = db.execute(f"{columns} WHERE s.id = ?", (session_id,)).fetchone() if session_id else None
    row: tuple[str, str, str] | None = (
        named
        or db.execute(
            f"{columns} JOIN projects p ON p.id = s.project_id WHERE p.key = ? OR p.root = ?"
            " ORDER BY s.last_at DESC, s.rowid DESC LIMIT 1",
            (key, root),
        ).fetchone()
    )
    return row


def keep_model_call(db: Connection, call: tuple[int, str, str, str, int, int, str]) -> None:
    """Keep a call of a model: time, day, backend, purpose, tokens, milliseconds, result."""
    db.execute(
        "INSERT INTO llm_ledger (at, day, backend, purpose, tokens, ms, result) VALUES (?, ?, ?, ?, ?, ?, ?)", call
    )


def model_calls_of_day(db: Connection, day: str) -> tuple[int, int]:
    """(tokens, questions) of a day."""
    row = db.execute("SELECT coalesce(sum(tokens), 0), count(*) FROM llm_ledger WHERE day = ?", (day,)).fetchone()
    return int(row[0]), int(row[1])


def last_model_result(db: Connection) -> str:
    """How the newest call went; empty when there was none."""
    row = db.execute("SELECT result FROM llm_ledger ORDER BY id DESC LIMIT 1").fetchone()
    return str(row[0]) if row else ""


def last_model_answered(db: Connection) -> str:
    """Who answered last; empty: nobody did yet."""
    row = db.execute("SELECT backend FROM llm_ledger WHERE result = 'ok' ORDER BY id DESC LIMIT 1").fetchone()
    return str(row[0]) if row else ""


def model_calls_about_sessions(db: Connection, most: int) -> list[tuple[int, str, str]]:
    """(tokens, purpose, result) of the newest calls about sessions."""
    return db.execute(
        "SELECT tokens, purpose, result FROM llm_ledger WHERE purpose <> 'thread_linking' ORDER BY id DESC LIMIT ?",
        (most,),
    ).fetchall()
