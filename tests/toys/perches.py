"""A table: where a parrot sat in a session. Its entry in the registry is all that purge, undo and export need."""

from __future__ import annotations

from nmem.store.registry import BORN, FACT, Export, Table

MIGRATION = """
CREATE TABLE perches (
  id INTEGER PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
  at INTEGER NOT NULL,
  place TEXT NOT NULL
);
"""
TABLE = Table(
    "perches", FACT, texts="place", ids="session_id", of="session", at="at", whole=True, asof=BORN,
    export=Export("session"),
)  # fmt: skip
