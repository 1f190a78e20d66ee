"""A pattern of the user's that backtracks neither hangs a hook nor loses a prompt, and nothing goes unchecked."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from capture import paths
from capture.redaction import deadline, redact, redact_tree, settings

SLOW = 'patterns = [{ name = "slow", regex = "(a+)+$" }]\n'
HOSTILE = "a" * 40 + "!"


@pytest.fixture
def slow(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = own_home / "config.toml"
    file.write_text("[redaction]\n" + SLOW, "utf-8")
    monkeypatch.setenv("NMEM_CONFIG", str(file))
    monkeypatch.setattr(settings, "RECHECK", 0.0)
    monkeypatch.setattr(deadline, "_limit", [deadline.FIRST])
    monkeypatch.setattr(deadline, "_said", [False])
    return file


def test_the_text_goes_whole_and_is_counted(slow: Path) -> None:
    counts: dict[str, int] = {}
    begun = time.process_time()
    assert redact(f"look at {HOSTILE}", counts) == "[REDACTED:withheld]"
    assert time.process_time() - begun < 20
    assert counts == {"withheld": 1}
    assert redact("what is fast is looked at: aaaa") == "what is fast is looked at: [REDACTED:slow]"
    assert redact_tree({"command": HOSTILE, "cwd": "/tmp/proj"}) == {
        "command": "[REDACTED:withheld]",
        "cwd": "/tmp/proj",
    }
    log = Path(paths.log(paths.database())).read_text("utf-8")
    assert log.count("takes too long") == 1  # one line a process
    assert "aaaa" not in log


def test_many_slow_texts_stay_within_the_time_of_a_hook(slow: Path) -> None:
    begun = time.process_time()
    assert redact_tree([HOSTILE] * 50) == ["[REDACTED:withheld]"] * 50
    assert time.process_time() - begun < 20


def test_an_allowance_that_takes_too_long_allows_nothing(slow: Path) -> None:
    slow.write_text('[redaction]\nallow = [{ regex = "(a+)+b" }]\npatterns = [{ name = "as", regex = "aaaa+" }]\n')
    assert redact("see " + "a" * 40) == "see [REDACTED:as]"


def test_in_a_thread_another_process_looks(slow: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out: list[str] = []

    def work() -> None:
        for seconds, text in ((120.0, "what is fast: aaaa"), (0.5, f"look at {HOSTILE}")):
            monkeypatch.setattr(deadline, "_OUTSIDE", seconds)
            out.append(redact(text))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(300)
    assert out == ["what is fast: [REDACTED:slow]", "[REDACTED:withheld]"]


def test_a_hook_stores_the_prompt_withheld_and_ends_in_time(slow: Path, db_path: str) -> None:
    payload = {"hook_event_name": "UserPromptSubmit", "session_id": "s1", "cwd": str(slow.parent), "prompt": HOSTILE}
    words = [sys.executable, "-I", "-S", paths.entry(), "claude", "UserPromptSubmit", "--db", db_path]
    subprocess.run(words, input=json.dumps(payload).encode(), check=True, timeout=300, env={**os.environ})
    with closing(sqlite3.connect(db_path)) as db:
        assert db.execute("SELECT content FROM prompts").fetchall() == [("[REDACTED:withheld]",)]
        assert db.execute("SELECT count FROM redactions WHERE kind = 'withheld'").fetchall() == [(1,)]
