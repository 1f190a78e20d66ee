"""The table of faults names tests that exist, and every fault has one."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from nmem import tables

ROOT = Path(__file__).resolve().parents[1]
ROWS = [line for line in (ROOT / "docs" / "faults.md").read_text().splitlines() if line.startswith("| ")][1:]
FAULTS = (
    "disk full", "read-only", "locked", "corrupt page", "torn spool file", "half-written transcript", "clock jump",
    "database deleted", "two versions", "downgrade", "migration killed", "config broken", "tmux gone", "LLM hanging",
    "10 MB prompt", "path of 4,096", "non-UTF-8",
)  # fmt: skip


def functions(path: Path) -> set[str]:
    """The tests of a file."""
    tree = ast.parse(path.read_text())
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_has_a_row_whose_tests_exist(fault: str) -> None:
    row = next((line for line in ROWS if line.startswith(f"| {fault}")), "")
    assert row, f"no row begins with {fault}"
    cells = row.strip("|").replace("\\|", "").split("|")
    assert len(cells) == 7
    assert all(cell.strip() for cell in cells)
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", cells[-1])
    assert named, fault
    for file, name in named:
        assert (ROOT / file).is_file(), file
        assert name in functions(ROOT / file), f"{file}::{name}"


def test_there_is_no_row_beside_them() -> None:
    assert len(ROWS) == len(FAULTS)


def test_the_version_of_today_is_said() -> None:
    assert f"(today {tables.VERSION})" in (ROOT / "docs" / "faults.md").read_text()
