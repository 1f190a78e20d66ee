"""A terminal that records its bytes, and sessions that wait."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from capture import paths
from capture.storage import store
from nmem import tables

NOW = 1_760_011_200_000
"""2025-10-09 12:00 UTC."""
CLIENT = """
import json, subprocess, sys, time
for event, payload in json.loads(sys.argv[2]):
    words = [sys.executable, "-I", "-S", sys.argv[1], "claude", event]
    subprocess.run(words, input=json.dumps(payload).encode(), check=True)
time.sleep(float(sys.argv[3]))
"""
"""Runs hooks as a client on a terminal does, and stays."""


class FakeTerminal:
    """A pseudo terminal whose bytes are kept."""

    def __init__(self) -> None:
        self._ours, self.theirs = pty.openpty()
        self.path = os.ttyname(self.theirs)
        self.seen = b""

    def run(self, words: list[str], **environ: str) -> subprocess.Popen[bytes]:
        """Start a program on it, with it as the program's own terminal."""
        env = {**os.environ, "TERM": "xterm-256color", **environ}
        env = {name: value for name, value in env.items() if name not in ("TMUX", "STY")}
        return subprocess.Popen(words, env=env, preexec_fn=partial(os.login_tty, os.dup(self.theirs)))  # noqa: PLW1509

    def client(self, *events: tuple[str, dict[str, Any]], stays: float) -> bytes:
        """What is written while a client runs these hooks and stays for so many seconds."""
        done = self.run([sys.executable, "-c", CLIENT, paths.entry(), json.dumps(events), str(stays)])
        before = len(self.seen)
        while done.poll() is None:
            self.read(0.05)
        assert done.returncode == 0, self.seen
        return self.seen[before:]

    def read(self, wait: float = 0.3) -> bytes:
        """All that was written by now."""
        while select.select([self._ours], [], [], wait)[0]:
            self.seen += os.read(self._ours, 65_536)
            wait = 0.05
        return self.seen

    def close(self) -> None:
        for each in (self._ours, self.theirs):
            os.close(each)


@pytest.fixture
def terminal() -> Iterator[FakeTerminal]:
    """A terminal that keeps what it is told."""
    if not hasattr(os, "login_tty"):
        pytest.skip("there are no pseudo-terminals here")
    found = FakeTerminal()
    yield found
    found.close()


@pytest.fixture
def calls(own_home: Path) -> Any:
    """Writes the settings: `calls('how = "bell"')`."""

    def write(text: str) -> None:
        path = Path(paths.config())
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"[attention]\n{text}\n", "utf-8")
        stamp = time.time_ns() + len(text) * 1_000_000
        os.utime(path, ns=(stamp, stamp))

    return write


class Sessions:
    """A database of sessions in states."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.db = store.connect(path)
        tables.ensure(self.db)
        self.db.execute("INSERT INTO projects VALUES (1, 'shop', 'shop', '/src/shop', NULL, 0)")

    def add(self, name: str, state: str = "idle", ago: int = 1_000, seq: int = 1, asked: str = "fix the cart") -> None:
        self.db.execute(
            "INSERT OR REPLACE INTO sessions (id, client, project_id, cwd, started_at, last_at, state, seq)"
            " VALUES (?, 'claude', 1, '/src/shop', ?, ?, ?, ?)", (name, NOW - 60_000, NOW - ago, state, seq),
        )  # fmt: skip
        if asked:
            self.ask(name, asked)

    def ask(self, name: str, text: str, source: str = "user", at: int = NOW - 50_000) -> None:
        self.db.execute(
            "INSERT INTO prompts (session_id, at, source, kind, content, dedup_key) VALUES (?, ?, ?, 'prompt', ?, ?)",
            (name, at, source, text, f"{name}{text}{at}"),
        )


@pytest.fixture
def sessions(db_path: str) -> Iterator[Sessions]:
    """Sessions of the project shop."""
    found = Sessions(db_path)
    with closing(found.db):
        yield found
