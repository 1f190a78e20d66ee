"""`nmem status`: the same figures, as tables, as plain lines, as JSON."""

from __future__ import annotations

import importlib.util
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from nmem import tables
from nmem.commands import init
from nmem.commands.main import nmem
from nmem.errors import NoDatabase, OlderDatabase

_SPEC = importlib.util.spec_from_file_location(
    "cockpit_seed", Path(__file__).parents[1] / "nmem_tui" / "cockpit_seed.py"
)
assert _SPEC
assert _SPEC.loader
seeds: Any = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(seeds)


def test_plain_when_piped(db_path: str) -> None:
    db = seeds.database(db_path)
    seeds.story(db)
    db.close()
    result = CliRunner().invoke(nmem, ["status"])
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert "stored\t35" in lines
    assert "lost\t0" in lines
    assert "password\t5" in lines
    assert any(line.startswith("aurora-api\tclaude\tworking") for line in lines)
    assert lines[lines.index("# Projects") + 2].startswith("aurora-api\t1\t")
    assert "\x1b" not in result.output


def test_the_first_line_says_whether_hooks_are_alive(db_path: str, own_home: Path) -> None:
    with closing(seeds.database(db_path)) as db:
        first = CliRunner().invoke(nmem, ["status"]).output.splitlines()[0]
        assert first == "no coding client has nmem's hooks: nothing is recorded → nmem init"
        (own_home / ".claude").mkdir()
        assert CliRunner().invoke(init.command, ["--client", "claude", "--yes"]).exit_code == 0
        assert CliRunner().invoke(nmem, ["status"]).output.splitlines()[0] == "no hook has run yet"
        seeds.story(db)
    assert CliRunner().invoke(nmem, ["status"]).output.startswith("the last hook ran ")


def test_json(db_path: str) -> None:
    db = seeds.database(db_path)
    seeds.story(db)
    db.close()
    found = json.loads(CliRunner().invoke(nmem, ["status", "--json"]).output)
    assert found["rows"]["observations"] == 12
    assert found["redactions"] == {"password": 5, "github-token": 2}
    assert found["rows"]["redactions"] == 7
    assert found["sessions"][0]["project"] == "aurora-api"
    assert [each["name"] for each in found["projects"]] == ["aurora-api"]
    assert 20_000 < found["wall"]["p50"] < found["wall"]["p99"] < 31_000


def test_hostile_text_is_printable(db_path: str) -> None:
    db = seeds.database(db_path)
    seeds.hostile(db)
    db.close()
    output = CliRunner().invoke(nmem, ["status"]).output
    assert not {"\x1b", "\x00", "\u202e", "\x9b"} & set(output)


def test_nothing_recorded_yet(own_home: Path) -> None:
    result = CliRunner().invoke(nmem, ["status"])
    assert isinstance(result.exception, NoDatabase)
    assert "nmem init" in str(result.exception)


def test_nothing_recorded_yet_is_json_all_the_same(own_home: Path) -> None:
    result = CliRunner().invoke(nmem, ["status", "--json"])
    assert (result.exit_code, json.loads(result.output)["sessions"]) == (0, [])


def test_a_limit_below_one_is_refused_and_percentiles_have_names(db_path: str) -> None:
    db = seeds.database(db_path)
    seeds.story(db)
    db.close()
    for limit in ("0", "-5"):
        assert CliRunner().invoke(nmem, ["status", "--limit", limit]).exit_code == 2
    assert "# what\tp50\tp95\tp99" in CliRunner().invoke(nmem, ["status"]).output.splitlines()


@pytest.mark.parametrize("options", [["--db", "backup.db"], ["--db", "backup.db", "--json"]])
def test_a_file_that_is_named_is_left_as_it_is(
    options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = Path("backup.db")
    db = seeds.database(str(file))
    seeds.story(db)
    db.close()
    settled(file, tables.VERSION - 1)
    before = file.read_bytes()
    result = CliRunner().invoke(nmem, ["status", *options])
    assert isinstance(result.exception, OlderDatabase)
    assert "`nmem settle --db`" in str(result.exception)
    assert file.read_bytes() == before
    settled(file, tables.VERSION)
    before = file.read_bytes()
    assert CliRunner().invoke(nmem, ["status", *options]).exit_code == 0
    assert file.read_bytes() == before


def settled(file: Path, version: int) -> None:
    """One file, of that version."""
    with closing(sqlite3.connect(file, isolation_level=None)) as db:
        db.execute("UPDATE nmem_schema SET version = ?", (version,))
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
