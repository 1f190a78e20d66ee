"""Snapshots of a session's episode rows before and after a correction; undo restores them.

Beside `units`, which decides where prompts belong, this only puts rows back as they were. What has changed since the
correction, by a hook or by detection, is left as it is.
"""

from __future__ import annotations

import json
from hashlib import blake2b
from sqlite3 import Connection
from typing import Any

Row = dict[str, Any]
Image = dict[str, dict[str, Row]]
"""Table -> key -> row."""
Change = dict[str, dict[str, dict[str, Row | None]]]
"""Table -> key -> {before: columns as they were, or None; after: digests of what they became, or None}."""

_UNITS = "(SELECT id FROM work_units WHERE session_id = :session)"
_TAKE = {
    "work_units": ("id", f"SELECT * FROM work_units WHERE session_id = :session OR resumes IN {_UNITS}"),  # noqa: S608
    "unit_prompts": ("prompt_id", f"SELECT * FROM unit_prompts WHERE unit_id IN {_UNITS}"),  # noqa: S608
    "narrations": ("unit_id", f"SELECT * FROM narrations WHERE unit_id IN {_UNITS}"),  # noqa: S608
    "narratives_fts": ("rowid", f"SELECT rowid, * FROM narratives_fts WHERE rowid IN {_UNITS}"),  # noqa: S608
    "threads": ("id", f"SELECT id, primary_unit_id FROM threads WHERE primary_unit_id IN {_UNITS}"),  # noqa: S608
    "session_signatures": ("session_id", "SELECT * FROM session_signatures WHERE session_id = :session"),
}
"""Table -> its key, and its rows that belong to a session; rows are put back in this order."""


def take(db: Connection, session_id: str) -> Image:
    """All rows about a session's episodes."""
    out: Image = {}
    for table, (key, sql) in _TAKE.items():
        cursor = db.execute(sql, {"session": session_id})
        names = [column[0] for column in cursor.description]
        rows = (dict(zip(names, tuple(row), strict=True)) for row in cursor.fetchall())
        out[table] = {str(row[key]): row for row in rows}
    return out


def difference(before: Image, after: Image) -> Change:
    """What became of the rows between two images: of a row that stays, only the columns that changed."""
    out: Change = {}
    for table in _TAKE:
        for key in sorted(before[table].keys() | after[table].keys()):
            old, new = before[table].get(key), after[table].get(key)
            if old != new:
                out.setdefault(table, {})[key] = _changed(old, new)
    return out


def _changed(old: Row | None, new: Row | None) -> dict[str, Row | None]:
    if new is None:
        return {"before": old, "after": None}
    after = {_WHOLE: _digest(new)}
    if old is None:
        return {"before": None, "after": after}
    names = [name for name in old if old[name] != new.get(name)]
    return {"before": {name: old[name] for name in names},
            "after": {**after, **{name: _digest(new.get(name)) for name in names}}}  # fmt: skip


_WHOLE = "*"
"""Stands for all columns of a row."""


def _digest(value: object) -> str:
    return blake2b(json.dumps(value).encode(), digest_size=6).hexdigest()


def restore(db: Connection, change: Change) -> bool:
    """Put rows back as they were; whether what follows from them must be counted again. Inside a transaction.

    It must when prompts go elsewhere and something has come since. Rows that the correction made are left to the
    caller: see `made`.
    """
    db.execute("PRAGMA defer_foreign_keys = ON")
    moved_on = False
    for table in _TAKE:
        for key, each in change.get(table, {}).items():
            before, after = each["before"], each["after"]
            if table == "work_units" and after is not None:
                moved_on |= _digest(_find(db, table, key)) != after[_WHOLE]
            if after is None and before is not None:
                moved_on |= not _insert(db, table, key, before)
            elif before is not None and after is not None:
                moved_on |= not _update(db, table, key, before, after)
    return moved_on and any("unit_id" in (each["before"] or {}) for each in change.get("unit_prompts", {}).values())


def made(change: Change) -> list[int]:
    """The episodes that the correction made."""
    return [int(key) for key, each in change.get("work_units", {}).items() if each["before"] is None]


def _find(db: Connection, table: str, key: str) -> Row | None:
    name = _TAKE[table][0]
    columns = "rowid, *" if name == "rowid" else "*"
    cursor = db.execute(f"SELECT {columns} FROM {table} WHERE {name} = ?", (key,))  # noqa: S608 - our names
    names = [column[0] for column in cursor.description]
    row = cursor.fetchone()
    return None if row is None else dict(zip(names, tuple(row), strict=True))


def _insert(db: Connection, table: str, key: str, before: Row) -> bool:
    """Put a row back that is gone, unless what it belongs to is gone too; False when it was there or cannot be."""
    if not _possible(db, table, before):
        return False
    now = _find(db, table, key)
    if now is not None and table != "narratives_fts":  # an episode's text is indexed as soon as it is there again
        return False
    if now is not None:
        _set(db, table, key, before)
        return True
    known = {name: value for name, value in before.items() if name in _columns(db, table)}
    names, marks = ", ".join(known), ", ".join("?" for _ in known)
    db.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", list(known.values()))  # noqa: S608 - our names
    return True


def _update(db: Connection, table: str, key: str, before: Row, after: Row) -> bool:
    """Put the columns back that are still as the correction left them; False when one is not."""
    now = _find(db, table, key)
    if now is None:
        return False
    same = {name: value for name, value in before.items() if name in now and _digest(now[name]) == after[name]}
    if table == "unit_prompts" and "unit_id" in same and not _exists(db, "work_units", "id", same["unit_id"]):
        del same["unit_id"]
    _set(db, table, key, same)
    return len(same) == len(before)


def _set(db: Connection, table: str, key: str, values: Row) -> None:
    values = {name: value for name, value in values.items() if name != _TAKE[table][0]}
    if values:
        names = ", ".join(f"{name} = ?" for name in values)
        db.execute(f"UPDATE {table} SET {names} WHERE {_TAKE[table][0]} = ?", [*values.values(), key])  # noqa: S608


def _possible(db: Connection, table: str, row: Row) -> bool:
    """Whether what a row belongs to is still there."""
    if table == "work_units":
        return _exists(db, "prompts", "id", row["first_prompt_id"]) and _exists(
            db, "prompts", "id", row["last_prompt_id"]
        )
    if table == "unit_prompts":
        return _exists(db, "prompts", "id", row["prompt_id"]) and _exists(db, "work_units", "id", row["unit_id"])
    if table in ("narrations", "narratives_fts"):
        return _exists(db, "work_units", "id", row["unit_id" if table == "narrations" else "rowid"])
    return True


def _exists(db: Connection, table: str, key: str, value: object) -> bool:
    return db.execute(f"SELECT 1 FROM {table} WHERE {key} = ?", (value,)).fetchone() is not None  # noqa: S608


def _columns(db: Connection, table: str) -> set[str]:
    names = {row[1] for row in db.execute(f"PRAGMA table_info({table})")}
    return names | {"rowid"} if table == "narratives_fts" else names
