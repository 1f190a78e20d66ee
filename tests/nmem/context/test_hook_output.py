"""The registered command itself: what it prints, and that it prints nothing when anything is wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from capture import paths
from nmem.context.preview import Asked, preview
from tests.capture.test_hook_imports import COSTLY, PROBE
from tests.nmem.context.conftest import Played

SAME = "the voucher total in shop/cart.py must never be negative, fix the cart"


@pytest.fixture(autouse=True)
def patient(own_home: Path) -> None:
    file = own_home / ".config" / "nmem" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text("[context]\ndeadline_ms = 2000\nask = false\n")


def run(played: Played, event: str, client: str = "claude", **payload: Any) -> bytes:
    """One hook in a process of its own; it ends well and never complains."""
    words = [sys.executable, "-I", "-S", paths.entry(), client, event, "--db", played.path]
    given = {"session_id": "b", "cwd": played.folder, "hook_event_name": event, **payload}
    done = subprocess.run(words, input=json.dumps(given).encode(), capture_output=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout


def errors(played: Played) -> int:
    db = played.database()
    row = db.execute("SELECT value FROM counters WHERE name = 'errors'").fetchone()
    db.close()
    return int(row[0]) if row else 0


def test_one_json_object_of_the_clients_form_once_the_event_is_stored(played: Played) -> None:
    played.fix()
    assert run(played, "SessionStart", source="startup") == b""
    told = json.loads(run(played, "UserPromptSubmit", prompt=SAME))
    assert list(told) == ["hookSpecificOutput"]
    assert sorted(told["hookSpecificOutput"]) == ["additionalContext", "hookEventName"]
    assert "shop/cart.py" in told["hookSpecificOutput"]["additionalContext"]
    assert run(played, "UserPromptSubmit", prompt="go on") == b""
    assert run(played, "Stop", last_assistant_message="done", stop_hook_active=False) == b""
    assert errors(played) == 0


@pytest.mark.parametrize(
    "table", ["context_files", "context_terms", "injections", "injection_items", "context_choices"]
)
def test_nothing_is_printed_when_something_is_wrong_and_it_is_counted(played: Played, table: str) -> None:
    played.fix()
    db = played.database()
    db.execute("PRAGMA foreign_keys=OFF")
    db.execute(f"DROP TABLE {table}")
    db.close()
    assert run(played, "UserPromptSubmit", prompt=SAME) == b""
    assert errors(played) == 1
    db = played.database()
    assert db.execute("SELECT count(*) FROM prompts WHERE content = ?", (SAME,)).fetchone() == (1,)
    db.close()


def test_telling_loads_nothing_costly(played: Played) -> None:
    played.fix()
    run(played, "UserPromptSubmit", session_id="before", prompt="hello")  # this one reads the new config.toml
    payload: dict[str, object] = {"session_id": "b", "cwd": played.folder, "prompt": SAME}
    entry = paths.entry()
    argv = [entry, "claude", "UserPromptSubmit", "--db", played.path]
    code = PROBE.format(argv=argv, entry=entry, here="", listed=False)
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], input=json.dumps(payload).encode(), capture_output=True, timeout=300
    )
    assert (done.returncode, done.stderr) == (0, b"")
    told, _, names = done.stdout.decode().partition("}}")
    assert "shop/cart.py" in told
    modules = {line.partition("\t")[0] for line in names.splitlines()}
    assert "nmem.context.rank" in modules
    assert not sorted(COSTLY & modules)


def test_what_is_told_is_redacted_by_rules_that_are_newer_than_it(played: Played, own_home: Path) -> None:
    played.fix()
    file = own_home / ".config" / "nmem" / "config.toml"
    with file.open("a") as config:
        config.write('[redaction]\nwords = ["voucher"]\n[redaction.projects.shop]\nwords = ["cart.py"]\n')
    told = json.loads(run(played, "UserPromptSubmit", prompt=SAME))["hookSpecificOutput"]["additionalContext"]
    assert "[REDACTED:word]" in told
    assert "voucher" not in told and "cart.py" not in told
    db = played.database()
    assert db.execute("SELECT text FROM injections WHERE text != '' ORDER BY id DESC LIMIT 1").fetchone() == (told,)
    db.close()
    shown = preview(played.path, Asked(session_id="b", prompt=SAME, now=played.at), 800).text
    assert "voucher" not in shown and "cart.py" not in shown
