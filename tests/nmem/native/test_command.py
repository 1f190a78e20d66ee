"""`nmem native`: the report, the diff, what --apply writes and undo puts back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.nmem.command_line import run
from tests.nmem.conftest import Recorded
from tests.nmem.native.conftest import CLAUDE


@pytest.fixture
def here(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(checkout)
    return checkout


def test_each_finding_names_its_line_and_its_evidence(here: Path, shop: Recorded) -> None:
    shop.begin("now").user("Look at the orders")
    done = run("native")
    assert (
        done.returncode == 1 and "# Instructions of shop: 4 stale paths, 3 stale commands, 1 said twice" in done.stdout
    )
    assert "CLAUDE.md:18\tstale path: src/queue.ts does not exist any more (--diff takes it out)" in done.stdout
    assert "line: - `src/queue.ts`: the worker's queue" in done.stdout and "took it out" in done.stdout
    assert "## Tokens\nclaude\t" in done.stdout and "nmem native --diff" in done.stderr


def test_json_holds_files_sections_and_findings(here: Path, shop: Recorded) -> None:
    found = json.loads(run("native", "--json", "--project", str(here / "src")).stdout)
    assert found["project"] == "shop" and found["files"][0]["file"] == "CLAUDE.md"
    assert (
        found["tokens"]["claude"]
        == found["files"][0]["tokens"]
        == sum(one["tokens"] for one in found["files"][0]["sections"])
    )
    assert {one["kind"] for one in found["findings"]} == {"stale path", "stale command", "said twice"}


def test_the_diff_touches_only_lines_that_are_sure(here: Path, shop: Recorded) -> None:
    done = run("native", "--diff")
    out = [row for row in done.stdout.split("\n") if row.startswith(("+", "-"))][2:]
    assert out == [
        "-│   ├── jobs/", "-- `src/queue.ts`: the worker's queue", "-- Money is counted in `src/cash.ts`, in cents",
        "+- Money is counted in `src/money2.ts`, in cents", "-- `tests/setup.yml` holds the accounts",
        "+- `tests/setup.yaml` holds the accounts", "-npm run db:migrate     # the schema",
        "-- Always run the linter before you push, whatever the change is.",
    ]  # fmt: skip
    assert (here / "CLAUDE.md").read_text(encoding="utf-8") == CLAUDE, "nothing is written"


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_apply_writes_what_the_diff_shows_and_undo_puts_every_byte_back(here: Path, shop: Recorded, ends: str) -> None:
    before = b"\xef\xbb\xbf" + CLAUDE.replace("\n", ends).encode()
    (here / "CLAUDE.md").write_bytes(before)
    assert run("native", "--apply").returncode == 2, "nobody to ask"
    assert (here / "CLAUDE.md").read_bytes() == before
    done = run("native", "--apply", "--yes")
    assert done.returncode == 0 and "-- `src/queue.ts`" in done.stdout and "1 file written" in done.stdout
    after = (here / "CLAUDE.md").read_bytes()
    assert after.startswith(b"\xef\xbb\xbf# Shop") and b"queue.ts" not in after and b"src/money2.ts" in after
    assert after.count(b"\n") == before.count(b"\n") - 4 and (
        ends == "\n" or after.count(b"\r\n") == after.count(b"\n")
    )
    assert run("native", "--diff").stdout == ""
    assert "instructions: stale and repeated lines (1 file)" in run("undo").stdout
    assert (here / "CLAUDE.md").read_bytes() == before


def test_files_of_two_folders_are_written_and_undone_together(here: Path, shop: Recorded, own_home: Path) -> None:
    memory = own_home / ".claude/projects" / "".join(c if c.isalnum() else "-" for c in str(here)) / "memory"
    memory.mkdir(parents=True)
    (memory / "MEMORY.md").write_text("- The queue: `src/queue.ts`\n- `src/queue.ts`: what is due\n", encoding="utf-8")
    assert "2 files written" in run("native", "--apply", "--yes").stdout
    assert (memory / "MEMORY.md").read_text(encoding="utf-8") == "- The queue: `src/queue.ts`\n"
    run("undo")
    assert "what is due" in (memory / "MEMORY.md").read_text(encoding="utf-8")
    assert (here / "CLAUDE.md").read_text(encoding="utf-8") == CLAUDE


def test_a_file_that_changed_since_undo_is_left_as_it_is(here: Path, shop: Recorded) -> None:
    run("native", "--apply", "--yes")
    (here / "CLAUDE.md").write_text("mine now\n", encoding="utf-8")
    assert run("undo").stdout.startswith("not undone: CLAUDE.md was changed since; ")
    assert (here / "CLAUDE.md").read_text(encoding="utf-8") == "mine now\n"


def test_undo_of_files_in_another_project_s_folder_names_it_and_asks(
    here: Path, shop: Recorded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("native", "--apply", "--yes")
    written = (here / "CLAUDE.md").read_bytes()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    done = run("undo")
    assert done.returncode == 1 and f"another folder, {here}" in done.stderr and "--yes" in done.stderr
    assert (here / "CLAUDE.md").read_bytes() == written
    assert run("undo", "--yes").stdout.startswith("undone: ")
    assert (here / "CLAUDE.md").read_text(encoding="utf-8") == CLAUDE


def test_without_any_record_the_files_and_git_say_what_they_can(here: Path) -> None:
    done = run("native")
    assert done.returncode == 1 and "src/queue.ts does not exist any more" in done.stdout
    assert "nothing is recorded" in done.stderr


def test_a_folder_without_instructions_says_so(tmp_path: Path) -> None:
    (tmp_path / "bare").mkdir()
    done = run("native", "--project", str(tmp_path / "bare"))
    assert done.returncode == 0 and "no file of instructions here" in done.stdout


@pytest.mark.parametrize("words", [("--json", "--diff"), ("--yes",), ("--project", "nowhere")])
def test_what_does_not_go_together_is_one_clear_line(here: Path, shop: Recorded, words: tuple[str, ...]) -> None:
    done = run("native", *words)
    assert done.returncode in (1, 2) and done.stderr.count("\n") == 1 and not done.stdout
