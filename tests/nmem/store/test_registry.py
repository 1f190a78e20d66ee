"""Every table and column of text is declared in the registry, once."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from capture.storage import store
from nmem import tables
from nmem.purge import journal
from nmem.purge.reach import text_columns
from nmem.store import registry


@pytest.fixture
def db(db_path: str) -> Iterator[sqlite3.Connection]:
    with closing(store.connect(db_path)) as opened:
        tables.ensure(opened)
        yield opened


def columns(db: sqlite3.Connection, name: str) -> set[str]:
    return {row[1] for row in db.execute(f"PRAGMA table_info({name})")}


def test_every_table_is_declared_once(db: sqlite3.Connection) -> None:
    there = {table.name for table in journal.tables(db, ())}
    assert there - {registry.SCHEMA} == set(registry.BY_NAME)
    assert len(registry.BY_NAME) == len(registry.TABLES)


def test_every_column_that_can_hold_text_is_declared_once(db: sqlite3.Connection) -> None:
    for table in registry.TABLES:
        declared = f"{table.texts} {table.words} {table.ids}".split()
        assert sorted(declared) == sorted(text_columns(db, table.name)), table.name


def test_what_is_said_of_a_table_names_columns_that_it_has(db: sqlite3.Connection) -> None:
    owner = {"session": "session_id", "unit": "unit_id", "injection": "injection_id", "project": "project_id"}
    for table in registry.TABLES:
        has = columns(db, table.name)
        export = table.export or registry.Export("facts")
        named = {*([table.at] if table.at else []), *([owner[table.of]] if table.of else []), *export.refs}
        assert named <= has, table.name
        assert set(export.optional.split()) <= set(export.refs), table.name
        assert set(export.refs.values()) <= set(registry.BY_NAME), table.name
        assert "{at}" not in table.asof or table.at, table.name


def test_rows_that_undo_replaces_belong_to_sessions(db: sqlite3.Connection) -> None:
    for table in registry.TABLES:
        if table.remade:
            db.execute(f"SELECT 1 FROM {table.name} WHERE {table.rows_of('(SELECT id FROM sessions)')}")
