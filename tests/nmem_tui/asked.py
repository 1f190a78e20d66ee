"""Looks into the database of a test, as it lies in the folder that the test works in."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

PATH = "aurora.db"


def rows(sql: str, *values: object) -> Any:
    """All rows, each as its one value or a tuple."""
    with closing(sqlite3.connect(PATH)) as db:
        found = db.execute(sql, values).fetchall()
    return [row[0] if len(row) == 1 else row for row in found]


def row(sql: str, *values: object) -> Any:
    """One row, as its one value or a tuple; None where there is none."""
    with closing(sqlite3.connect(PATH)) as db:
        found = db.execute(sql, values).fetchone()
    return found if found is None or len(found) > 1 else found[0]
