"""How far a purge reaches from what is chosen."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from capture.storage import store
from nmem import tables
from nmem.errors import NmemError
from nmem.purge import preview
from nmem.purge.preview import FILE, ITEM, PROJECT, SESSION


@pytest.fixture
def two(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """Two projects with a session each, and a call of the same files in both."""
    with closing(store.connect(str(tmp_path / "nmem.db"))) as db:
        tables.ensure(db)
        for number in (1, 2):
            db.execute("INSERT INTO projects(id, key, name, root, created_at) VALUES (?, ?, ?, '', 1)",
                       (number, f"key{number}", f"shop{number}"))  # fmt: skip
            db.execute(
                "INSERT INTO sessions(id, client, project_id, cwd, started_at, last_at)"
                " VALUES (?, 'claude', ?, '', 1, 1)",
                (f"s{number}", number),
            )
            for place, file in enumerate(("table.py", "conf.py")):
                db.execute(
                    "INSERT INTO observations(session_id, at, seq, obs_type, content, dedup_key, file_path)"
                    " VALUES (?, 1, ?, 'edit', '', ?, ?)",
                    (f"s{number}", place, f"{number}/{place}", file),
                )
        yield db


def reaches(db: sqlite3.Connection, *ids: str) -> dict[str, str]:
    return {one.kind: one.name for one in preview.around(db, ids)}


def test_one_call_reaches_its_file_session_and_project(two: sqlite3.Connection) -> None:
    assert reaches(two, "obs/1") == {ITEM: "obs/1", FILE: "table.py", SESSION: "session/s1", PROJECT: "shop1"}
    file = next(one.chosen for one in preview.around(two, ["obs/1"]) if one.kind == FILE)
    assert (file.files, file.projects) == (("table.py",), ("project/1",))


def test_files_of_several_projects_are_not_taken_crosswise(two: sqlite3.Connection) -> None:
    assert reaches(two, "obs/1", "obs/2")[FILE] == "2 files"
    crosswise = reaches(two, "obs/1", "obs/4")  # table.py of one, conf.py of the other
    assert FILE not in crosswise
    assert crosswise == {ITEM: "2 items", SESSION: "2 sessions", PROJECT: "2 projects"}


def test_nothing_chosen_is_said(two: sqlite3.Connection) -> None:
    with pytest.raises(NmemError, match="nothing selected"):
        preview.around(two, [])
