"""What is open of earlier work, and what closes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nmem.episodes import open_ends

if TYPE_CHECKING:
    from nmem.episodes.open_ends import Row
    from tests.nmem.conftest import Recorded

FAILED = "python3 -m unittest discover"


def rows(*given: tuple[str, str, str, str]) -> list[Row]:
    """(obs_type, path, content, outcome) of each, a second apart."""
    return [(1000 * at, kind, path, content, outcome, "") for at, (kind, path, content, outcome) in enumerate(given, 1)]


@pytest.mark.parametrize(("command", "wanted"), [
    ("python3 -m unittest discover", set()), ("cd /a/b && npm test 2>&1 | tail -5", set()), ("go test ./...", set()),
    (".venv/bin/python -m pytest tests/test_a.py::test_b -x", {"tests/test_a.py::test_b"}),
    ("CI=1 npx vitest run src/x.test.ts > /tmp/log", {"src/x.test.ts"}), ("pytest -k cart", {"cart"}),
    ("python -m unittest tests.test_cart -v", {"tests.test_cart"}), ("./scripts/test.sh", set()),
])  # fmt: skip
def test_what_a_run_is_narrowed_to(command: str, wanted: set[str]) -> None:
    assert open_ends.targets(command) == wanted


@pytest.mark.parametrize(("failed", "passed", "said", "wanted"), [
    (FAILED, "pytest", "", True), (FAILED, "python3 -m pytest -q", "", True),
    (FAILED, "pytest tests/test_cart.py", "", False),
    (FAILED, "pytest tests/test_cart.py", "FAIL: test_total (test_cart.Total)", True),
    ("pytest tests/test_cart.py::test_a", "python3 -m unittest tests.test_cart", "", True),
    ("pytest tests/test_cart.py", "pytest tests/test_tax.py", "", False),
    ("pytest tests/test_cart.py", "pytest tests/", "", True),
    ("pytest tests/a/test_cart.py tests/test_tax.py", "pytest tests/test_tax.py", "", False),
])  # fmt: skip
def test_another_command_over_the_same_code(failed: str, passed: str, said: str, wanted: bool) -> None:
    assert open_ends.same_code(failed, passed, said) is wanted


def test_a_failure_is_open_until_the_same_code_passes_or_is_committed() -> None:
    failed = ("test", "", FAILED, "failed")
    assert open_ends.failures(rows(failed)) == [0]
    assert open_ends.failures(rows(failed, ("file_edit", "a.py", "", "ok"))) == [0]
    assert open_ends.failures(rows(failed, ("test", "", "python3 -m pytest -q", "ok"))) == []
    assert open_ends.failures(rows(failed, ("git_commit", "", "git commit -am x", "ok"))) == []
    assert open_ends.failures(rows(failed, ("git_commit", "", "git commit -am x", "failed"))) == [0]
    assert open_ends.failures(rows(("test", "", "pytest", "ok"), failed)) == [1]
    assert open_ends.failures(rows(failed, failed)) == [1], "one command is open once"
    other = ("command", "", "curl localhost", "failed")
    assert open_ends.failures(rows(other, ("test", "", "pytest", "ok"))) == [0], "a test says nothing of it"
    assert open_ends.failures(rows(other, ("command", "", "cd /a && curl localhost 2>&1", "ok"))) == []


def test_a_todo_is_open_until_it_is_committed_or_what_it_names_is_edited() -> None:
    boxes = ("todo", "", "[x] read cart.py\n[>] wire into total()\n[ ] document it", "ok")
    assert open_ends.todos(rows(boxes)) == (0, ["wire into total()", "document it"])
    edit = ("file_edit", "shop/sum.py", "- x = 1\n+ y = total(1)", "ok")
    assert open_ends.todos(rows(boxes, edit)) == (0, ["document it"])
    assert open_ends.todos(rows(boxes, (*edit[:3], "failed"))) == (0, ["wire into total()", "document it"])
    assert open_ends.todos(rows(boxes, ("git_commit", "", "git commit -m x", "ok"))) == (0, [])
    assert open_ends.todos([]) == (-1, [])


@pytest.mark.parametrize(("end", "row", "wanted"), [
    ("Add a retry to `sync.py`.", ("file_edit", "src/sync.py", "", "ok"), True),
    ("Add a retry to `sync.py`.", ("file_edit", "src/other.py", "+ sync.py", "ok"), False),
    ("Add a retry to `sync.py`.", ("file_edit", "src/sync.py", "", "failed"), False),
    ("Document the retry limit in the readme", ("git_commit", "", "git commit -m 'Document retry limit'", "ok"), True),
    ("Document the retry limit in the readme", ("git_commit", "", "git commit -m 'Fix typo'", "ok"), False),
    ("The other file is left unstaged", ("git_commit", "", "git commit -m 'Fix typo'", "ok"), True),
    ("pytest tests/test_a.py still fails: 1 != 2", ("test", "", "pytest", "ok"), True),
    ("pytest tests/test_a.py still fails: 1 != 2", ("test", "", "pytest tests/test_b.py", "ok"), False),
    ("pytest tests/test_a.py still fails: 1 != 2", ("test", "", "pytest", "failed"), False),
])  # fmt: skip
def test_what_closes_a_step(end: str, row: tuple[str, str, str, str], wanted: bool) -> None:
    assert open_ends.closes(end, rows(row)[0]) is wanted


def test_a_later_session_closes_what_an_earlier_one_left(record: Recorded) -> None:
    record.begin("a").user("total the cart").edit("cart.py")
    at = record.at
    ends = ["pytest tests/test_invoice.py still fails", "Wire `round_half()` into the basket",
            "Asked last and not answered: rename the voucher column", "Ask the accountant"]  # fmt: skip
    assert open_ends.left(record.db, "a", at, ends) == ends
    record.begin("b").test("failed").user("now the docs please")
    assert open_ends.left(record.db, "a", at, ends) == ends, "nothing of it was closed"
    record.begin("c").test().user("rename the voucher column to coupon")
    record.act("file_edit", "- a\n+ round_half(a)", "basket.py")
    assert open_ends.left(record.db, "a", at, ends) == ["Ask the accountant"]
    assert open_ends.left(record.db, "a", record.at, ends) == ends, "only what came after it counts"


@pytest.mark.parametrize(("outcomes", "wanted"), [
    ({"tests": "passed", "committed": 1, "reverted": 0}, "tests passed, committed"),
    ({"committed": 1, "pushed": 1}, "pushed"), ({"reverted": 1}, "reverted"),
    ({"reverted": 1, "uncommitted": 2, "thrown_away": 1}, ""), ({"tests": True}, "tests passed"), ({"tests": 3}, ""),
    ({}, ""),
])  # fmt: skip
def test_the_outcome_is_the_last_state(outcomes: dict[str, object], wanted: str) -> None:
    assert open_ends.told(outcomes) == wanted


def test_files_count_where_they_were_touched_with_success() -> None:
    found = open_ends.touched(rows(
        ("file_read", "gone.py", "", "failed"), ("file_write", "refused.py", "", "failed"),
        ("file_read", "a.py", "", "ok"), ("file_edit", ".worktrees/1/src/b.py", "", "ok"),
        ("git_commit", "", "git commit", "ok"),
        ("file_edit", ".claude/worktrees/fix/c.py", "", "ok"),
    ))  # fmt: skip
    assert found == {"a.py": False, "src/b.py": False, "c.py": True}
