"""What no one sees, or what acts on a terminal, comes out of no door: JSON and exports escape it, answers lack it."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path
from sqlite3 import Connection

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from nmem.commands.main import main, nmem
from nmem.mcp.server import answered
from nmem.settle import settle
from nmem.text import to_json
from tests.nmem.conftest import Recorded

ROOT = Path(__file__).resolve().parents[2]
PLANTED = "\x9b31m\x85\x7f\u202e\u2066\u061c\u200b\U000e0041\U000e007f\u2028"
ANY = st.text(st.characters(codec=None, exclude_categories=()), max_size=80)
TREES = st.recursive(ANY, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY, inner, max_size=3))


def unseen(text: str) -> list[str]:
    """The characters of a text that act, or hide; joiners act on what is beside them and are seen by that."""
    acts = ("Cc", "Cf", "Cs", "Zl", "Zp")
    return [char for char in text if unicodedata.category(char) in acts and char not in "\n\t\u200c\u200d"]


@given(TREES, st.sampled_from([None, 2]))
def test_json_holds_all_and_shows_nothing_that_acts(value: object, indent: int | None) -> None:
    said = to_json(value, indent=indent)
    assert not unseen(said)
    said.encode()
    assert json.loads(said) == value


def test_letters_emoji_and_joiners_stay_legible_in_json() -> None:
    text = "Ж 漢字 می‌خواهم 👨‍👩‍👧 ❤️‍🔥 שלום"
    assert to_json([text], compact=True) == f'["{text}"]'


@pytest.fixture
def planted(record: Recorded, db_path: str) -> Connection:
    """A memory whose every text was stored before it was cleaned as it is now, or was written by something else."""
    return record.once("unseen, planted", lambda: _plant(record, db_path)).db


def _plant(record: Recorded, db_path: str) -> None:
    record.coupon()
    record.begin("notes").user(f"write {PLANTED} notes").edit(f"docs/{PLANTED}.md").agent(f"Wrote {PLANTED} it.")
    record.at += 24 * 3_600_000
    settle(db_path)
    db = record.db
    db.execute("SELECT 1 FROM sqlite_master").fetchone()  # the schema has changed under this connection
    for table, column in (("prompts", "content"), ("observations", "content"), ("observations", "file_path"),
                          ("sessions", "branch"), ("sessions", "model"), ("projects", "name"), ("work_units", "title"),
                          ("work_units", "intent"), ("threads", "title")):  # fmt: skip
        db.execute(f"UPDATE {table} SET {column} = coalesce({column}, '') || ?", (PLANTED,))
    db.commit()


@pytest.mark.parametrize(
    "words",
    [
        "status --json", "now --json", "episodes --json", "show session/notes --json", "show episode/1 --json",
        "search notes --json", "threads --json", "export -", "export", "learn --json", "task list --json",
        "context --prompt notes --json", "stance --json", "relabel --list --json", "undo --list --json",
        "status", "now", "episodes", "search notes", "threads", "context --prompt notes",
    ],
)  # fmt: skip
@pytest.mark.usefixtures("planted")
def test_commands_print_nothing_that_acts(words: str) -> None:
    done = CliRunner().invoke(nmem, words.split())
    assert not unseen(done.output), words
    assert "Traceback" not in done.output


@pytest.mark.parametrize(
    "words",
    [
        ["show", "file", f"x{PLANTED}"], ["export", "--project", PLANTED, "-"], ["config", "get", PLANTED],
        ["restore", f"/{PLANTED}"], ["import", f"/{PLANTED}"], ["threads", "continue", "1", "--session", PLANTED],
        ["sweep", PLANTED], [PLANTED], ["status", f"--{PLANTED}"],
    ],
)  # fmt: skip
@pytest.mark.usefixtures("planted")
def test_errors_say_what_they_quote_without_what_acts(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["nmem", *words])
    with pytest.raises(SystemExit):
        main()
    said = capsys.readouterr().err
    assert said.startswith("nmem: ")
    assert not unseen(said)


@pytest.mark.usefixtures("planted")
def test_what_is_escaped_is_kept() -> None:
    lines = [json.loads(line) for line in CliRunner().invoke(nmem, ["export"]).output.splitlines()]
    assert any(PLANTED in str(each.get("content")) for each in lines)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("search", {"query": "notes"}), ("get", {"ids": ["episode/1", "session/notes", "prompt/1", "obs/1"]}),
        ("timeline", {}), ("episodes", {}), ("session_summaries", {}), ("context", {}), ("current_stance", {}),
        ("file_history", {"path": "docs"}), ("nothing\u202e\x85", {}), ("get", {"ids": [PLANTED]}),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("planted")
def test_an_agent_is_answered_nothing_that_acts(tool: str, arguments: dict[str, object]) -> None:
    text, _ = answered(tool, arguments, "/src/shop")
    assert not unseen(text)


def test_no_command_makes_json_by_itself() -> None:
    """`nmem.text.to_json` is the one way out."""
    doors = [*(ROOT / "nmem" / "commands").glob("*.py"), *(ROOT / "nmem" / "mcp").rglob("*.py")]
    doors.append(ROOT / "nmem" / "recall" / "asked.py")
    assert [file.name for file in doors if "json.dumps(" in file.read_text("utf-8")] == []
    exported = (ROOT / "nmem" / "transfer" / "outgoing.py").read_text("utf-8").split("\n")
    assert [row for row in exported if "json.dumps(" in row and "MARK" not in row] == [], "MARK is of a database"
