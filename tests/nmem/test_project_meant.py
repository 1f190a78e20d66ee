"""Which project is meant is one answer everywhere, and a name that several have is none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from sqlite3 import Connection

import pytest

from capture.storage import store
from nmem.context import switch
from nmem.errors import NmemError
from nmem.read import project
from nmem.stance import read as stances
from nmem.threads import read as threads


@pytest.fixture
def db(db_path: str) -> Iterator[Connection]:
    with closing(store.connect(db_path)) as opened:
        for number, (key, name) in enumerate((("one/api", "api"), ("two/api", "api"), ("api-key", "x"), ("y", "z")), 1):
            opened.execute("INSERT INTO projects VALUES (?, ?, ?, ?, NULL, 0)", (number, key, name, f"/{key}"))
        opened.execute("INSERT INTO projects VALUES (5, 'k5', 'y', '/k5', NULL, 0)")
        yield opened


@pytest.mark.parametrize(("named", "number"), [("one/api", 1), ("/two/api", 2), ("x", 3), ("y", 4), ("none", None)])
def test_key_before_root_before_name(db: Connection, named: str, number: int | None) -> None:
    found = project.meant(db, named)
    assert (found.id if found else None) == number
    assert threads.project_id(db, named) == number
    if number:
        assert switch.project_of(db, named) == number


def test_a_name_that_several_have_is_asked_back(db: Connection) -> None:
    for ask in (project.meant, threads.project_id, switch.project_of, stances.newest):
        with pytest.raises(NmemError, match=r"several projects are called api: say which, two/api, one/api"):
            ask(db, "api")
