"""Which session is meant, and how a command is fitted into a list."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from nmem.errors import NmemError
from nmem.read.listing import fitted, session_of


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


@pytest.mark.parametrize(
    ("command", "cells", "shown"),
    [
        ("cd src && make", 14, "cd src && make"),
        ("cd /home/me/work/api && git status", 20, "… git status"),
        ('cd "/home/my work" && cd api; pytest -q', 20, "… pytest -q"),
        ("cd /home/me/work/api", 10, "cd /home/…"),
        ("cd $(git rev-parse --show-toplevel) && make", 12, "cd $(git re…"),
        ("cdrecord /home/me && make", 12, "cdrecord /h…"),
        ("git status", 6, "git s…"),
    ],
)
def test_the_way_there_goes_before_what_is_done(command: str, cells: int, shown: str) -> None:
    assert fitted(command, cells) == shown
