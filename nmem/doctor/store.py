"""Looks into the database for `nmem doctor`, fills its text indexes, and takes a probe's rows away (SQL)."""

from __future__ import annotations

import sqlite3

from nmem.context.inject import LATE
from nmem.episodes.units import forget_session

INDEXED = {"observations": "observations_fts", "prompts": "prompts_fts"}
"""Tables and their text indexes, by name: how an index was declared differs from one version to the next."""
_PROBED = ("observations", "prompts", "hook_runs", "transcript_cursors")


def names(db: sqlite3.Connection) -> set[str]:
    """Whatever the database has."""
    return {str(row[0]) for row in db.execute("SELECT name FROM sqlite_master")}


def damage(db: sqlite3.Connection, *, quick: bool) -> list[str]:
    """What SQLite finds wrong with it, by `quick_check`, which cries wolf over some healthy tables, or thoroughly."""
    return [str(row[0]) for row in db.execute(f"PRAGMA {'quick' if quick else 'integrity'}_check(5)").fetchall()]


def strays(db: sqlite3.Connection) -> list[str]:
    """Tables of the first rows that refer to nothing."""
    return sorted({str(row[0]) for row in db.execute("PRAGMA foreign_key_check").fetchmany(5)})


def last_events(db: sqlite3.Connection) -> list[tuple[str, int]]:
    """(client, when) of the newest event of each client."""
    newest = "SELECT client, at, max(id) FROM hook_runs WHERE result != 'dropped' GROUP BY client"
    return [(str(row[0]), row[1]) for row in db.execute(newest).fetchall()]


def unindexed(db: sqlite3.Connection) -> dict[str, int]:
    """How many rows of each table its text index does not hold."""
    from sqlite_utils import Database  # on use: start-up stays short

    tables, missing = Database(db), {}
    for name, index in INDEXED.items():
        held = tables.table(f"{index}_docsize").count
        if tables.table(name).count != held:
            missing[name] = tables.table(name).count - held
    return missing


def index(db: sqlite3.Connection) -> list[str]:
    """Fill the text indexes that do not hold all rows; the tables whose they are."""
    missing = unindexed(db)
    for name in missing:
        db.execute(f"INSERT INTO {INDEXED[name]}({INDEXED[name]}) VALUES ('rebuild')")  # noqa: S608 -- our names
    return list(missing)


def ran(db: sqlite3.Connection, client: str, event: str, session: str, since: int) -> bool:
    """Whether a hook ran for an event of a session, or of none."""
    seen = db.execute(
        "SELECT 1 FROM hook_runs WHERE client = ? AND event = ? AND at >= ? AND (session_id = ? OR session_id IS NULL)",
        (client, event, since, session),
    )
    return seen.fetchone() is not None


def clean(db: sqlite3.Connection, session: str, folder: str, since: int, late: int) -> None:
    """Take every row of a probe away, the project that its temporary folder became, and that it was `late`."""
    db.execute("PRAGMA foreign_keys = ON")
    db.execute("BEGIN IMMEDIATE")
    forget_session(db, session)
    for table in _PROBED:
        db.execute(f"DELETE FROM {table} WHERE session_id = ?", (session,))  # noqa: S608
    db.execute("DELETE FROM sessions WHERE id = ?", (session,))
    # what nothing was made of has no session; and no shape is only a probe's
    db.execute("DELETE FROM session_shapes WHERE session_id = ? OR (session_id = '' AND first_at >= ?)",
               (session, since))  # fmt: skip
    db.execute("DELETE FROM payload_shapes WHERE id NOT IN (SELECT shape_id FROM session_shapes)")
    inside = "substr(folder, 1, length(?1)) = ?1"
    db.execute(f"DELETE FROM project_folders WHERE {inside}", (folder,))  # noqa: S608
    db.execute("UPDATE counters SET value = value - 1 WHERE name = ? AND value > ?", (LATE, late))
    db.execute("DELETE FROM counters WHERE name = ? AND value < 1", (LATE,))
    unused = "NOT EXISTS (SELECT 1 FROM sessions WHERE project_id = projects.id)"
    db.execute(f"DELETE FROM projects WHERE substr(root, 1, length(?1)) = ?1 AND {unused}", (folder,))  # noqa: S608
    db.execute("COMMIT")
