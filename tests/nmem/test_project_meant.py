"""Which project is meant is one answer everywhere, and a name that several have is none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from sqlite3 import Connection

import pytest
from click.testing import CliRunner

from capture.storage import store
from nmem import tables
from nmem.commands.main import nmem
from nmem.context import choosing
from nmem.errors import NmemError
from nmem.stance import read as stances
from nmem.store import project
from tests.nmem.conftest import Recorded


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
    if number:
        assert choosing.project_of(db, named) == number


def test_a_name_that_several_have_is_asked_back(db: Connection) -> None:
    for ask in (project.meant, choosing.project_of, stances.newest):
        with pytest.raises(
            NmemError, match=r"several projects are called api: name one by its folder, /two/api, /one/api"
        ):
            ask(db, "api")


@pytest.fixture
def twice(record: Recorded) -> Recorded:
    """A session of one of two projects of the same name."""
    record.coupon()
    record.db.execute("UPDATE projects SET name = 'api'")
    record.db.execute("INSERT INTO projects VALUES (2, 'two', 'api', '/src/two', NULL, 0)")
    return record


def test_of_several_of_one_name_the_current_folder_s_is_taken_and_said(
    twice: Recorded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    twice.db.execute("UPDATE projects SET root = ?, key = ? WHERE id = 2", (str(tmp_path), str(tmp_path)))
    result = CliRunner().invoke(nmem, ["episodes", "--project", "api", "--json"])
    assert result.exit_code == 0, result.exception
    assert "several projects are called api: the current folder's is taken" in result.stderr
    assert "coupon" not in result.stdout


LISTS = (
    "themes", "now", "threads", "episodes", "stance", "decisions", "skills list", "learn list", "status", "context",
    "context --past", "context --report", "context --recovery", "fix ENOENT", "export", "backfill", "sweep --dry-run",
    "purge --dry-run", "threads continue new", "eval context", "eval told",
)  # fmt: skip
"""Every command that takes the name of one project."""


def said(*args: str) -> str:
    result = CliRunner().invoke(nmem, args)
    assert isinstance(result.exception, NmemError), (args, result.output, result.exception)
    return str(result.exception)


@pytest.mark.parametrize("command", LISTS)
def test_every_command_asks_back_alike(twice: Recorded, command: str) -> None:
    told = said(*command.split(), "--project", "api")
    assert told.startswith("several projects are called api: name one by its folder, ")
    assert "/src/shop" in told and "/src/two" in told
    assert said(*command.split(), "--project", "nosuch") == (
        "nothing is recorded of project nosuch: name one that has records with --project (api),"
        " or run this in its folder"
    )


@pytest.mark.parametrize("command", ["stance", "skills", "learn", "context", "context --past", "threads continue new"])
def test_a_folder_without_history_is_said_alike(
    twice: Recorded, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    monkeypatch.chdir(folder)
    assert said(*command.split()).startswith("nothing is recorded of project empty: name one that has records")


def test_a_folder_with_a_remote_is_called_by_its_own_name_everywhere(
    twice: Recorded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "here"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    (folder / ".git" / "config").write_text('[remote "origin"]\n\turl = /work/there\n', encoding="utf-8")
    monkeypatch.chdir(folder)
    for command in ("hot", "learn", "skills", "context", "stance", "threads continue new"):
        assert said(*command.split()).startswith("nothing is recorded of project here: "), command
    assert "nothing is recorded of here: " in CliRunner().invoke(nmem, ["native"]).stderr
    assert said("mark", "x").startswith("no session of here is recorded yet")
    twice.db.execute("UPDATE projects SET name = 'here' WHERE id = 2")
    assert said("hot").startswith(f"nothing is recorded of project {folder}: "), "another project has the name"


def test_where_nothing_is_recorded_at_all_it_says_how_to_begin(db_path: str) -> None:
    with closing(store.connect(db_path)) as db:
        tables.ensure(db)
    assert said("stance", "--project", "shop") == (
        "nothing is recorded of project shop: no session is recorded yet; `nmem init` connects your clients,"
        " `nmem import` loads earlier sessions"
    )


def test_a_mistyped_project_is_named_first(db: Connection) -> None:
    for number, name in enumerate(("alpha", "beta", "gamma", "my blog", "webshop"), 10):
        db.execute("INSERT INTO projects VALUES (?, ?, ?, ?, NULL, 0)", (number, f"/k/{name}", name, f"/src/{name}"))
        db.execute(
            "INSERT INTO sessions (id, client, project_id, cwd, started_at, last_at)"
            " VALUES (?, 'claude', ?, '/x', ?, ?)",
            (name, number, number, number),
        )
    assert str(project.unknown(db, "webshpo")) == (
        "nothing is recorded of project webshpo: name one that has records with --project (webshop, 'my blog', gamma,"
        " beta; `nmem status` lists more), or run this in its folder"
    )


def test_a_folder_names_one_of_two(twice: Recorded) -> None:
    for folder, sessions in (("/src/shop", 1), ("/src/two", 0)):
        result = CliRunner().invoke(nmem, ["status", "--json", "--project", folder])
        assert len(json.loads(result.output)["sessions"]) == sessions
