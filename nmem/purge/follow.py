"""Follows foreign keys from deleted rows through all tables (SQL)."""

from __future__ import annotations

from sqlite3 import Connection

from nmem.purge.journal import LEFT, Journal, Table, tables


def follow(db: Connection, journal: Journal) -> None:
    """What refers to a row that is gone no longer does: set free where it may be, else gone too."""
    known = {table.name: table for table in journal.tables}
    every = tables(db, ())
    again = True
    while again:
        again = False
        for table in every:
            for parent, column, target in _keys(db, table.name):
                if parent in known and parent not in LEFT:
                    again |= _loose(db, table, column, known[parent], target)


def _keys(db: Connection, name: str) -> list[tuple[str, str, str]]:
    """Foreign keys of one column: the other table, the column, and the column there."""
    return [(row[2], row[3], row[4] or "id") for row in db.execute(f"PRAGMA main.foreign_key_list({name})")]


def _loose(db: Connection, table: Table, column: str, parent: Table, target: str) -> bool:
    """Rows of a table that refer to what is gone; whether any went themselves."""
    same = " AND ".join(f"t.{key} IS g.{key}" for key in parent.key)
    gone = (
        f"SELECT g.{target} FROM temp.{parent.old} g"  # noqa: S608 - names of tables
        f" WHERE NOT EXISTS (SELECT 1 FROM main.{parent.name} t WHERE {same})"
    )
    if db.execute(f"{gone} LIMIT 1").fetchone() is None:
        return False
    bound = next(row[3] or row[5] for row in db.execute(f"PRAGMA main.table_info({table.name})") if row[1] == column)
    if not bound:
        db.execute(f"UPDATE main.{table.name} SET {column} = NULL WHERE {column} IN ({gone})")  # noqa: S608
        return False
    return db.execute(f"DELETE FROM main.{table.name} WHERE {column} IN ({gone})").rowcount > 0  # noqa: S608
