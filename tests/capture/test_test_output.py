"""The tallies of test runners, as they print them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capture.extract.test_output import summary

PYTEST = """FAILED tests/test_a.py::test_one[a b] - AssertionError: 1 != 2
ERROR tests/test_b.py - ImportError
======= 1 failed, 10 passed, 2 skipped, 1 error, 3 warnings in 1.23s =======
"""
CARGO = """test store::keeps ... ok
test store::loses ... FAILED
test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
test result: ok. 4 passed; 0 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.00s
"""
GO = """=== RUN   TestKeeps
--- PASS: TestKeeps (0.00s)
=== RUN   TestLoses
    --- FAIL: TestLoses/when_full (0.00s)
--- FAIL: TestLoses (0.00s)
FAIL
FAIL\texample.org/store\t0.01s
"""
JEST = """FAIL src/store.test.js
  ● store › loses nothing

Tests:       1 failed, 3 passed, 4 total
"""
VITEST = """ FAIL  src/store.test.ts > store > loses nothing
\x1b[2m Test Files \x1b[22m 1 failed | 2 passed (3)
\x1b[2m      Tests \x1b[22m 1 failed | 31 passed (32)
"""
MOCHA = "  12 passing (30ms)\n  1 pending\n  2 failing\n"
UNITTEST = "FAIL: test_x (tests.T.test_x)\nRan 10 tests in 0.1s\n\nFAILED (failures=1, errors=2, skipped=3)"

SUREFIRE = """[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.1 s
[ERROR] Tests run: 5, Failures: 1, Errors: 0, Skipped: 1
"""

RUNS = [
    (PYTEST, {"passed": 10, "failed": 1, "skipped": 2, "errors": 1,
              "failing": ["tests/test_a.py::test_one[a b]", "tests/test_b.py"]}),
    ("3 passed in 0.01s", {"passed": 3}),
    ("no tests ran in 0.01s", {}),
    (UNITTEST, {"passed": 4, "failed": 1, "errors": 2, "skipped": 3, "failing": ["test_x (tests.T.test_x)"]}),
    ("Ran 3 tests in 0.001s\n\nOK", {"passed": 3}),
    (CARGO, {"passed": 5, "failed": 1, "skipped": 2, "failing": ["store::loses"]}),
    ("     Summary [   0.05s] 10 tests run: 9 passed, 1 failed, 0 skipped", {"passed": 9, "failed": 1}),
    (GO, {"passed": 1, "failed": 1, "failing": ["TestLoses/when_full", "TestLoses"]}),
    ("ok  \ta\t0.1s\nFAIL\tb\t0.1s\nFAIL", {"packages": 2, "packages_failed": 1}),
    (JEST, {"passed": 3, "failed": 1, "failing": ["store › loses nothing"]}),
    (VITEST, {"passed": 31, "failed": 1, "failing": ["src/store.test.ts > store > loses nothing"]}),
    (MOCHA, {"passed": 12, "skipped": 1, "failed": 2}),
    ("# tests 6\n# pass 5\n# fail 1", {"passed": 5, "failed": 1}),
    (" 10 pass\n 2 fail\n 12 expect() calls", {"passed": 10, "failed": 2}),
    ("ok | 5 passed | 0 failed (12ms)", {"passed": 5, "failed": 0}),
    ("  3 passed (2.1s)", {"passed": 3}),
    ("5 examples, 1 failure, 1 pending", {"passed": 3, "failed": 1, "skipped": 1}),
    ("1 doctest, 27 tests, 1 failure", {"passed": 26, "failed": 1}),
    ("10 runs, 20 assertions, 1 failures, 0 errors, 0 skips", {"passed": 9, "failed": 1}),
    ("OK (10 tests, 20 assertions)", {"passed": 10}),
    ("Tests: 10, Assertions: 20, Failures: 1.", {"passed": 9, "failed": 1}),
    (SUREFIRE,
     {"passed": 3, "failed": 1, "skipped": 1}),
    ("10 tests completed, 1 failed", {"passed": 9, "failed": 1}),
    ("Passed!  - Failed:     0, Passed:    10, Skipped:     0, Total:    10, Duration: 1 s",
     {"passed": 10, "failed": 0}),
    ("80% tests passed, 2 tests failed out of 10", {"passed": 8, "failed": 2}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "found"), RUNS)
def test_tally(text: str, found: dict[str, object]) -> None:
    assert summary(text) == found


@pytest.mark.parametrize(
    "text",
    ["5 files changed, 3 insertions(+)", "12345", "8 errors found", "error: it failed", "1 test",
     "2025-10-09 10 passed", "7 failed attempts to log in were seen today", "Tests are nice", "passed", ""],
)  # fmt: skip
def test_other_text_is_no_tally(text: str) -> None:
    assert summary(text) == {}


def test_names_are_few_and_once() -> None:
    text = "\n".join(f"FAILED tests/a.py::test_{number // 2}" for number in range(100))
    assert summary(text)["failing"] == [f"tests/a.py::test_{number}" for number in range(10)]


@given(st.text())
def test_any_text(text: str) -> None:
    counts = summary(text)
    assert all(isinstance(value, int) and value >= 0 for key, value in counts.items() if key != "failing")
