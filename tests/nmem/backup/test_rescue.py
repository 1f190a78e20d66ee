"""`nmem restore --rescue`: of a damaged database everything that its whole pages hold is there again."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from nmem.commands.main import nmem
from nmem.errors import NmemError
from tests.nmem.backup.conftest import rows, whole

PAGE = 4096


def run(*args: str) -> Any:
    return CliRunner().invoke(nmem, args)


def pages(path: str, table: str, kind: str = "leaf") -> list[int]:
    """The pages of a table, in the order of its rows."""
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        sql = "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = ? ORDER BY path"
        return [row[0] for row in db.execute(sql, (table, kind)).fetchall()]


def destroyed(path: str, *numbers: int) -> None:
    with Path(path).open("r+b") as file:
        for number in numbers:
            file.seek((number - 1) * PAGE)
            file.write(b"\xff" * PAGE)


def test_a_page_in_the_middle_costs_its_own_rows_alone(filled: str) -> None:
    before = rows(filled)
    found = pages(filled, "observations")
    assert len(found) > 4
    destroyed(filled, found[len(found) // 2])
    result = run("restore", "--rescue", "--yes")
    assert result.exit_code == 0, (result.output, result.exception)
    assert "observations (1)" in result.output
    after = rows(filled)
    kept = {row[0]: row for row in after["observations"]}
    assert len(before["observations"]) * (1 - 2 / len(found)) < len(kept) < len(before["observations"])
    assert [row for row in before["observations"] if row[0] in kept] == list(kept.values())
    assert {name: after[name] for name in ("sessions", "prompts", "projects", "counters")} == {
        name: before[name] for name in ("sessions", "prompts", "projects", "counters")
    }
    whole(filled)


def test_the_row_before_and_the_row_behind_a_gap_are_kept(filled: str) -> None:
    found = pages(filled, "observations")
    with closing(sqlite3.connect(filled)) as db:
        everything = {row[0] for row in db.execute("SELECT id FROM observations").fetchall()}
        destroyed(filled, found[1])
        seen, first = set(), min(everything)
        for number in range(first, max(everything) + 1):  # one by one: each is there or it is not
            try:
                with closing(sqlite3.connect(filled)) as look:
                    row = look.execute("SELECT id, metadata FROM observations WHERE id = ?", (number,)).fetchone()
                    seen |= {row[0]} if row else set()
            except sqlite3.DatabaseError:
                continue
    assert run("restore", "--rescue", "--yes").exit_code == 0
    assert {row[0] for row in rows(filled)["observations"]} == seen
    assert seen < everything


def test_sessions_whose_rows_are_gone_keep_their_work(filled: str) -> None:
    before = rows(filled)
    destroyed(filled, *pages(filled, "sessions"))
    result = run("restore", "--rescue", "--yes")
    assert "sessions lost their names" in result.output
    after = rows(filled)
    assert after["observations"] == before["observations"]
    assert {row[0] for row in after["sessions"]} == {row[0] for row in before["sessions"]}
    whole(filled)


def test_a_dry_run_changes_nothing_and_one_of_two_is_needed(filled: str) -> None:
    found = pages(filled, "observations")
    destroyed(filled, found[1])
    data = Path(filled).read_bytes()
    assert "gaps" in run("restore", "--rescue", "--dry-run").output
    assert "give either a backup or --rescue" in run("restore").output
    assert "give either a backup or --rescue" in run("restore", "--rescue", filled).output
    assert Path(filled).read_bytes() == data


def test_where_nothing_can_be_read_it_says_what_else_there_is(filled: str) -> None:
    pages(filled, "observations")
    for ending in ("-wal", "-shm"):
        Path(filled + ending).unlink(missing_ok=True)
    Path(filled).write_bytes(b"x" * 50_000)
    result = run("restore", "--rescue", "--yes")
    assert isinstance(result.exception, NmemError)
    assert "nmem import" in str(result.exception)
    assert Path(filled).read_bytes() == b"x" * 50_000


@pytest.mark.parametrize("words", [("status",), ("search", "part"), ("export", "-")])
def test_a_damaged_page_is_told_in_one_line(filled: str, words: tuple[str, ...]) -> None:
    destroyed(filled, *pages(filled, "observations", "internal"), *pages(filled, "observations"))
    done = subprocess.run([sys.executable, "-m", "nmem", *words], capture_output=True, text=True, timeout=300)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert "malformed" in done.stderr
