"""A session of Claude Code with its transcript in the client's own folder, which is one of the test's."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from nmem.sessions.resume import slug
from tests.nmem.conftest import Recorded

ID = "7471ec7b-ef30-4f32-ae20-4cb53c3705b7"
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def lines(*texts: str) -> bytes:
    """Records of a transcript that say these."""
    records = [{"type": "user", "sessionId": ID, "cwd": "/src/shop", "message": {"content": text}} for text in texts]
    return "".join(json.dumps(each) + "\n" for each in records).encode()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The person's home: clients keep their sessions below it."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("NMEM_CONFIG", str(tmp_path / "config.toml"))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "TMUX", "TMUX_PANE"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "home").mkdir(exist_ok=True)
    return tmp_path / "home"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """The folder that the session ran in."""
    folder = tmp_path / "src" / "shop"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def transcript(home: Path, shop: Path, record: Recorded) -> Path:
    """An ended session's transcript, with a secret in it."""
    path = home / ".claude" / "projects" / slug(str(shop)) / f"{ID}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(lines(f"the token is {SECRET}", "rename the invoice"))
    record.begin(ID).user("rename the invoice").agent("done")
    record.db.execute("UPDATE sessions SET state = 'ended', cwd = ?, transcript_path = ?", (str(shop), str(path)))
    record.db.execute("UPDATE projects SET root = ?", (str(shop),))
    return path


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Puts a program on the PATH that writes down how it was called; where it does."""

    def make(name: str) -> Path:
        told = tmp_path / "called"
        script = tmp_path / "bin" / name
        script.parent.mkdir(exist_ok=True)
        script.write_text(f'#!/bin/sh\necho "$@ in $(pwd)" > {told}\nsleep 30\n')
        script.chmod(0o755)
        monkeypatch.setenv("PATH", f"{script.parent}:{os.environ['PATH']}")
        return told

    return make
