"""JSON that was damaged by hand, in every column that holds some: every command reads it as empty or says one line."""

from __future__ import annotations

import importlib.util
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from types import ModuleType

import pytest
from click.testing import CliRunner

from nmem.commands.main import nmem
from tests.nmem.test_early_commands import lines, samples, sound

__all__ = ["samples"]
SEEDS = Path(__file__).parents[1] / "nmem_tui"
FORMS = {
    "torn": ('{"a": [1, ', "text"), "an object": ('{"a": null, "b": [1], "path": 3}', "json"),
    "a list": ('[{"path": 5, "text": [], "reads": "x", "edits": "x", "id": "q"}, null, 7]', "text json"),
}  # fmt: skip
"""What stands in the columns, and in which forms commands are given: what they read is the same in each."""
BESIDE = {("payload", "corrections"), ("before", "corrections"), ("data", "learning_findings"),
          ("marks", "narrations"), ("card", "label_models"), ("done", "sweep_journal"), ("checkpoint", "work_units"),
          ("signature", "session_signatures"), ("metrics", "tuning_history")}  # fmt: skip
"""Columns of JSON that the seeds leave empty or that other commands fill."""
STARTS = (
    ["task", "run"],
    ["settle"],
    ["eval"],
    ["train"],
    ["init"],
    ["uninstall"],
    ["doctor"],
    ["import"],
    ["export"],
    ["config"],
)
"""Commands that start others, or that read other files or all rows as they are."""
TWO = [
    ["threads", "show", "1"], ["threads", "link", "1", "2"], ["threads", "unlink", "1", "2"], ["show", "thread/1"],
    ["episodes", "merge", "2", "1"], ["task", "attach", "1"], ["undo"],
]  # fmt: skip


def seed(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, SEEDS / f"{name}.py")
    assert spec
    assert spec.loader
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def of_json(db: sqlite3.Connection) -> set[tuple[str, str]]:
    """(column, table) of every column in which some row has a list or an object."""
    names = db.execute(
        "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table'"
        " AND m.sql NOT LIKE 'CREATE VIRTUAL%' AND m.name NOT LIKE '%!_fts!_%' ESCAPE '!'"
    ).fetchall()
    return BESIDE | {
        (column, table)
        for table, column in names
        if db.execute(f"SELECT 1 FROM {table} WHERE json_valid({column}) AND substr({column}, 1, 1) IN ('[', '{{')")
        .fetchone()
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_every_command_reads_damaged_json_as_empty_or_says_one_line(
    form: str, samples: Path, db_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.nice", lambda _by: 0)
    damage, given = FORMS[form]
    data, kept = Path(db_path).parent, samples.parent / "kept"
    data.mkdir(mode=0o700)
    seed("whole_seed").database(seed, db_path)
    with closing(sqlite3.connect(db_path, isolation_level=None)) as db:
        for column, table in of_json(db):
            db.execute(f"UPDATE {table} SET {column} = ? WHERE {column} IS NOT NULL", (damage,))
    shutil.copytree(data, kept)
    runner, words = CliRunner(), [*lines(samples, given), *TWO]
    for each in words:
        if each[:1] in STARTS or each[:2] in STARTS:
            continue
        shutil.rmtree(data)
        shutil.copytree(kept, data)
        sound(runner.invoke(nmem, each, standalone_mode=False), each)
