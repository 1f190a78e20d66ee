"""Hooks run as their clients run them, in processes of their own."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from capture import paths

ENTRY = paths.entry()
Hook = Callable[..., subprocess.CompletedProcess[bytes]]


@pytest.fixture
def command(db_path: str) -> Callable[..., list[str]]:
    """The registered command of an event."""

    def words(event: str = "PostToolUse", client: str = "claude", db: str = db_path) -> list[str]:
        return [sys.executable, "-I", "-S", ENTRY, client, event, "--db", db]

    return words


@pytest.fixture
def hook(command: Callable[..., list[str]]) -> Hook:
    """Run one hook with a payload (an object or raw bytes) and insist that it ends well and says nothing."""

    def run(payload: object, event: str = "PostToolUse", client: str = "claude", **given: Any) -> Any:
        raw = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        db = {"db": given.pop("db")} if "db" in given else {}
        done = subprocess.run(
            command(event, client, **db), input=raw, capture_output=True, timeout=300, env={**os.environ}, **given
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
        return done

    return run


@pytest.fixture
def bash() -> Callable[..., dict[str, object]]:
    """The payload of a command that ran well."""

    def payload(number: int = 1, command: str = "make all", **more: object) -> dict[str, object]:
        return {
            "session_id": "s-1", "cwd": "/srv/none/such", "hook_event_name": "PostToolUse", "tool_name": "Bash",
            "tool_input": {"command": command}, "tool_use_id": f"toolu_{number}",
            "tool_response": {"stdout": "done", "stderr": "", "interrupted": False}, **more,
        }  # fmt: skip

    return payload


@pytest.fixture
def rows(db_path: str) -> Callable[[str], list[Any]]:
    """Rows of the test's database; a single column comes as plain values."""

    def query(sql: str) -> list[Any]:
        db = sqlite3.connect(db_path)
        try:
            found = db.execute(sql).fetchall()
        finally:
            db.close()
        return [row[0] if len(row) == 1 else row for row in found]

    return query
