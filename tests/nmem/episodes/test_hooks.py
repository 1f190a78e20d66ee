"""Episodes made by the registered command, in processes of their own; what they load, and what a failure does."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from capture import paths
from tests.capture.test_hook_imports import COSTLY, loaded


def send(db_path: str, event: str, **more: object) -> None:
    payload = {"session_id": "s-1", "cwd": "/srv/none/such", "hook_event_name": event, **more}
    done = subprocess.run(
        [sys.executable, "-I", "-S", paths.entry(), "claude", event, "--db", db_path],
        input=json.dumps(payload).encode(), capture_output=True, timeout=300,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def turn(db_path: str, number: int, text: str, file: str) -> None:
    send(db_path, "UserPromptSubmit", prompt=text)
    given = {"file_path": file, "content": "x"}
    send(db_path, "PostToolUse", tool_name="Write", tool_use_id=f"t{number}", tool_input=given,
         tool_response={"type": "create", "filePath": file})  # fmt: skip
    send(db_path, "Stop", last_assistant_message=f"Wrote {file}.")


@pytest.fixture(autouse=True)
def nothing_in_the_background(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NMEM_SKIP_SETTLE", "1")


def rows(db_path: str, sql: str) -> list[Any]:
    db = sqlite3.connect(db_path)
    try:
        return db.execute(sql).fetchall()
    finally:
        db.close()


def test_two_intents_become_two_episodes(db_path: str) -> None:
    turn(db_path, 1, "Fix the tokenizer, it drops the last token of a line", "/srv/none/such/lexer/scan.py")
    turn(db_path, 2, "ok, go on", "/srv/none/such/lexer/scan.py")
    turn(db_path, 3, "Next task: I want a new page that shows the monthly invoices of a customer as a bar chart",
         "/srv/none/such/web/invoices.tsx")  # fmt: skip
    send(db_path, "SessionEnd", reason="other")
    found = rows(db_path, "SELECT turn_count, state, obs_count, cut_by FROM work_units ORDER BY id")
    assert found == [(2, "closed", 2, "first"), (1, "closed", 1, "online")], "the first look was sure"
    assert rows(db_path, "SELECT decided_by FROM unit_prompts ORDER BY prompt_id")[1:] == [("online",), ("online",)]
    assert not Path(paths.log(db_path)).exists()


@pytest.mark.parametrize("event", ["UserPromptSubmit", "Stop", "PreCompact", "SessionEnd"])
def test_nothing_costly_is_loaded(event: str, db_path: str) -> None:
    for number in range(3):
        turn(db_path, number, f"Fix the tokenizer, it drops token {number}", "/srv/none/such/lexer/scan.py")
    payload: dict[str, object] = {
        "session_id": "s-1", "cwd": "/srv/none/such", "prompt": "now draw the invoices of a customer as a chart",
        "last_assistant_message": "done", "trigger": "auto", "reason": "other",
    }  # fmt: skip
    modules = loaded(payload, event, db_path)
    assert not COSTLY & set(modules)
    assert "nmem.live" in modules and "nmem.store.schema" not in modules


def test_what_goes_wrong_in_it_is_logged_and_the_event_is_kept(db_path: str) -> None:
    turn(db_path, 1, "Fix the tokenizer", "/srv/none/such/lexer/scan.py")
    db = sqlite3.connect(db_path)
    db.execute("ALTER TABLE unit_prompts RENAME COLUMN label TO lable")
    db.commit()
    db.close()
    send(db_path, "UserPromptSubmit", prompt="and the parser as well, it loops")
    assert len(rows(db_path, "SELECT id FROM prompts WHERE source = 'user'")) == 2
    assert "label" in Path(paths.log(db_path)).read_text()
    send(db_path, "PostToolUse", tool_name="Bash", tool_use_id="t9", tool_input={"command": "ls"}, tool_response={})
    assert len(rows(db_path, "SELECT id FROM observations WHERE tool_name IS NOT NULL")) == 2


def test_tables_of_a_newer_nmem_are_left_alone_and_capture_goes_on(db_path: str) -> None:
    turn(db_path, 1, "Fix the tokenizer", "/srv/none/such/lexer/scan.py")
    db = sqlite3.connect(db_path)
    db.execute("UPDATE nmem_schema SET version = 99")
    db.commit()
    db.close()
    send(db_path, "UserPromptSubmit", prompt="and the parser as well, it loops")
    assert len(rows(db_path, "SELECT id FROM prompts WHERE source = 'user'")) == 2
    assert rows(db_path, "SELECT count(*) FROM unit_prompts") == [(1,)]
    assert "version 99" in Path(paths.log(db_path)).read_text()
