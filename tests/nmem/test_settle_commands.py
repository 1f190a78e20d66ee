"""`nmem settle` and `nmem narrate` as a person runs them."""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nmem.commands import main as cli
from nmem.llm import Cancel
from nmem.llm import connect as connecting
from nmem.llm.book import Book
from nmem.llm.chosen import standing
from nmem.llm.config import Settings
from nmem.llm.connect import connect
from nmem.settle_start import lock_file

if TYPE_CHECKING:
    from tests.nmem.conftest import Recorded


@pytest.fixture
def config(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The person's config: no model."""
    file = own_home / "config.toml"
    file.write_text("[llm]\nenabled = false\n", "utf-8")
    monkeypatch.setenv("NMEM_CONFIG", str(file))
    return file


class Nmem:
    """Runs the command line in this process."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.monkeypatch, self.capsys = monkeypatch, capsys

    def __call__(self, *words: str) -> tuple[int, str, str]:
        self.monkeypatch.setattr(sys, "argv", ["nmem", *words])
        code = 0
        try:
            cli.main()
        except SystemExit as stop:
            code = int(stop.code or 0)
        said = self.capsys.readouterr()
        return code, said.out, said.err


@pytest.fixture
def nmem(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], config: Path) -> Nmem:
    monkeypatch.setenv("NMEM_SKIP_HOOKS", "")  # the command sets it for its children; put back afterwards
    return Nmem(monkeypatch, capsys)


def test_nothing_recorded_is_one_clear_line(nmem: Nmem) -> None:
    for words in (("settle",), ("narrate",)):
        code, out, err = nmem(*words)
        assert (code, out) == (1, "")
        assert "nothing is recorded yet" in err
        assert err.count("\n") == 1
    assert nmem("settle", "--quiet") == (0, "", "")


def test_settle_waits_for_another_that_is_at_it(
    nmem: Nmem, record: Recorded, db_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nmem.commands import settle as waiting

    fcntl = pytest.importorskip("fcntl")
    record.coupon()
    with Path(lock_file(db_path)).open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        code, out, err = nmem("settle", "--seconds", "0.3")
        assert (code, out) == (1, "")
        assert "waiting for it to end" in err
        assert "it continues in the background" in err
        wait = waiting._wait

        def begun(*given: Any) -> None:
            """The other ends once it is waited for."""
            threading.Timer(0.3, lambda: fcntl.flock(held, fcntl.LOCK_UN)).start()
            wait(*given)

        monkeypatch.setattr(waiting, "_wait", begun)
        code, out, err = nmem("settle", "--seconds", "300")
        assert (code, err.count("\n")) == (0, 1)
        assert "1 episodes told" in out


def test_progress_without_a_terminal_is_a_line_for_each_tenth_of_what_is_much(
    capsys: pytest.CaptureFixture[str],
) -> None:
    from nmem.commands import settle as told

    say = told._lines()
    for done in range(0, 2_001, 50):
        say(done, 2_000, "texts are indexed for search")
    for done in range(50):
        say(done, 50, "sessions are told, the newest first")
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 10 and lines[0] == "200 of 2,000 texts are indexed for search"


def test_settle_says_what_it_did_and_then_that_there_is_nothing(nmem: Nmem, record: Recorded) -> None:
    record.coupon()
    code, out, _ = nmem("settle")
    assert code == 0
    assert "1 sessions cut into episodes, 1 sessions closed, 1 episodes told, 1 sessions summed up" in out
    assert nmem("settle")[1].startswith("nothing to settle")
    assert json.loads(nmem("settle", "--json")[1])["told"] == 0


def test_narrate_shows_the_story_and_who_tells_it(nmem: Nmem, record: Recorded) -> None:
    record.coupon()
    nmem("settle")
    code, out, _ = nmem("narrate")
    assert code == 0
    assert "from the records alone" in out
    assert "Edited src/invoice.py" in out
    told = json.loads(nmem("narrate", "1", "--json")[1])["episodes"][0]
    assert (told["narrator"], told["marks"][0], told["fallback"]) == ("extractive", "tests_failed", "")
    assert json.loads(nmem("narrate", "--session", "coupon", "--json")[1])["episodes"][0]["id"] == 1


def test_narrate_tells_a_story_of_older_words_anew_and_leaves_what_was_swept(nmem: Nmem, record: Recorded) -> None:
    record.coupon()
    nmem("settle")
    now = record.db.execute("SELECT summary FROM work_units").fetchone()[0]
    record.db.execute("UPDATE work_units SET summary = 'In older words.', title = 'Mine'")
    assert now in nmem("narrate")[1]
    assert tuple(record.db.execute("SELECT summary, title FROM work_units").fetchone()) == (now, "Mine")
    record.db.execute("UPDATE work_units SET summary = 'Of calls that are gone.'")
    record.db.execute("INSERT INTO swept_sessions (session_id, at) SELECT id, 1 FROM sessions")
    assert "Of calls that are gone." in nmem("narrate")[1]


def test_narrate_names_what_is_not_there(nmem: Nmem, record: Recorded) -> None:
    assert "there are no episodes yet" in nmem("narrate")[2]
    record.coupon()
    nmem("settle")
    assert "there is no episode 99" in nmem("narrate", "99")[2]
    assert "has no finished episode" in nmem("narrate", "--session", "x")[2]


def test_a_story_holds_no_escape_sequence_for_the_terminal(nmem: Nmem, record: Recorded) -> None:
    record.begin("s").user("Fix the \x1b]0;owned\x07 total\u202e now please").edit("a\x1b[31m.py").agent("Done.\x1b[2J")
    nmem("settle")
    assert "\x1b" not in nmem("narrate")[1]
    assert "\u202e" not in nmem("narrate")[1]


def test_a_broken_config_is_said_beside_the_story(nmem: Nmem, record: Recorded, config: Path) -> None:
    record.coupon()
    config.write_text("[llm]\nbase_url = 7\n", "utf-8")
    assert "llm.base_url" in nmem("settle")[1]
    told = nmem("narrate")[1]
    assert "no model told it: " in told and "llm.base_url must be a text" in told
    config.write_text("[llm\n", "utf-8")
    assert str(config) in nmem("narrate")[1]


def test_loopback_is_not_looked_at_again_and_again(
    db_path: str, config: Path, monkeypatch: pytest.MonkeyPatch, record: Recorded
) -> None:
    looked: list[Settings] = []

    def nobody(settings: Settings, *_: object) -> None:
        looked.append(settings)

    monkeypatch.setattr(connecting, "desk", nobody)
    assert connect(db_path).desk is None
    assert not looked, "a person who says no is not looked for"
    config.write_text("", "utf-8")
    for _ in range(3):
        assert connect(db_path, Cancel()).desk is None
    assert len(looked) == 1
    assert connect(db_path, look=True).desk is None
    assert len(looked) == 2


def test_screens_are_told_how_things_stand(record: Recorded, config: Path, db_path: str) -> None:
    config.write_text(
        '[llm]\nbase_url = "http://models.example:8000/v1"\nmodel = "qwen"\ndaily_token_cap = 10\n', "utf-8"
    )
    Book(db_path).record(purpose="episode_narrative", label="qwen", tokens=7, outcome="timeout")
    found = standing(record.db)
    assert (found.backend, found.spent, found.cap, found.last_failure) == ("qwen at models.example", 7, 10, "timeout")
    assert "uses http" in found.problems[0]
    config.write_text("[llm]\nmodel = 3\n", "utf-8")
    assert "llm.model" in standing(record.db).problems[0]
