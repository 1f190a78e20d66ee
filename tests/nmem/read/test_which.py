"""Which session is meant."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from nmem.errors import NmemError
from nmem.read.listing import session_of


def test_by_the_beginning_of_its_id(db: sqlite3.Connection) -> None:
    assert session_of(db, "bb") == session_of(db, "session/bb33") == "bb33"
    with pytest.raises(NmemError, match="matches several sessions: aa"):
        session_of(db, "aa")
    with pytest.raises(NmemError, match="there is no session zz"):
        session_of(db, "zz")


def test_the_newest_of_a_project_or_of_all(
    db: sqlite3.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert session_of(db, project="shop") == "aa22"
    assert session_of(db) == "bb33"
    with pytest.raises(NmemError, match="nothing is recorded of project other"):
        session_of(db, project="other")
    db.execute("DELETE FROM observations")
    db.execute("DELETE FROM sessions")
    with pytest.raises(NmemError, match="no session is recorded yet"):
        session_of(db)
