"""A real client in a home of its own, with nmem's hooks in its settings."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from capture.storage import spool, store

HERE = Path(__file__).resolve().parent
MORE = ("opencode", "qwen", "copilot")
"""Clients that are run by `more_clients.py`."""
CACHE = Path(os.environ.get("CLIENT_CACHE") or Path("~").expanduser() / ".cache" / "coding-clients")
"""Read when this module is imported: the tests themselves run with a HOME of their own."""


class Stage:
    """A home and a project in which real clients play scripts."""

    def __init__(self, runner: Path, folder: Path) -> None:
        self.runner = runner
        self.home = folder / "client home"
        self.project = folder / "pro ject"
        self.home.mkdir()
        self.project.mkdir()

    def connect(self, client: str, *, tools: bool = False) -> None:
        """Install the pinned client, once for the machine, and nmem's hooks in its settings; with its tools on demand,
        because the client starts their server anew for each turn."""
        if client != "claude" and not (CACHE / client).exists():
            pytest.skip(f"{client} is not installed in {CACHE}")
        words = [*self._runner(client), "install", client]
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"{client} cannot be installed here: {done.stderr[-200:]}")
        self.nmem("init", "--client", client, "--scope", "user", "--yes", *([] if tools else ["--no-mcp"]))
        self._patient()

    def _patient(self) -> None:
        """Let the clients wait for hooks however long a busy machine takes: one that they give up stores nothing."""
        for name in (".claude/settings.json", ".codex/hooks.json", ".gemini/settings.json", ".qwen/settings.json",
                     ".copilot/hooks/nmem.json", ".config/opencode/plugins/nmem.js"):  # fmt: skip
            if (file := self.home / name).exists():
                text = file.read_text()
                longer = re.compile(r'("timeout(?:Sec)?": *|_MS = )(\d+)')
                file.write_text(longer.sub(lambda found: f"{found[1]}{int(found[2]) * 20}", text))

    def _runner(self, client: str) -> list[str]:
        """The command that runs a client."""
        return [sys.executable, str(HERE / "more_clients.py" if client in MORE else self.runner)]

    def nmem(self, *words: str) -> str:
        """Run the command line in this home, as a user would."""
        env = {**os.environ, "HOME": str(self.home)}
        env.pop("NMEM_DB", None)
        done = subprocess.run([sys.executable, "-m", "nmem", *words], env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout

    def script(self, name: str, client: str = "") -> Path:
        """A script of ours; for Qwen Code one that reads a file before an edit, as it demands after each start."""
        path = HERE / "scripts" / f"{name}.json"
        if client != "qwen":
            return path
        turns = json.loads(path.read_text())
        for turn in turns:
            turn["replies"] = [step for reply in turn["replies"] for step in (*map(_look, _edited(reply)), reply)]
        path = self.home / f"{name}-{client}.json"
        path.write_text(json.dumps(turns))
        return path

    def player(self, client: str, name: str, turns: int | None = None) -> list[str]:
        """The command that plays a script, or its first turns."""
        script = self.script(name, client)
        if turns is not None:
            first = json.loads(script.read_text())[:turns]
            script = self.home / f"{name}-{turns}.json"
            script.write_text(json.dumps(first))
        return [*self._runner(client), "play", client, str(script), "--home", str(self.home),
                "--project", str(self.project), "--limit", "400"]  # fmt: skip

    def play(self, client: str, name: str, turns: int | None = None) -> None:
        """Play a script, or its first turns, to the end."""
        done = subprocess.run(self.player(client, name, turns), capture_output=True, text=True, timeout=1500)
        assert done.returncode == 0, done.stderr

    @property
    def folder(self) -> Path:
        """Where the hooks keep the memory."""
        return self.home / ".local" / "share" / "nmem"

    def database(self) -> sqlite3.Connection:
        """The database that the hooks filled; what met a lock is in it, as settling would store it."""
        path = self.folder / "nmem.db"
        if path.exists() and spool.waiting(str(path)):
            with closing(store.connect(str(path), timeout=60)) as db:
                spool.drain(db, str(path))
        return sqlite3.connect(path)

    def log(self) -> str:
        """What hooks could not say."""
        log = self.folder / "nmem.log"
        return log.read_text() if log.exists() else ""

    def met_a_lock(self) -> bool:
        """Whether a hook found the database locked for longer than it waits: it told nothing and decided nothing."""
        return "locked" in self.log()

    def unharmed(self, *accepted: str) -> None:
        """Assert that nothing was lost, and that no hook failed but at a lock on a busy machine or what is accepted."""
        with closing(self.database()) as db:
            counted = dict(db.execute("SELECT name, value FROM counters WHERE name IN ('lost', 'errors')"))
        allowed = sum(any(word in line for word in ("locked", *accepted)) for line in self.log().splitlines())
        assert counted.get("lost", 0) == 0 and counted.get("errors", 0) <= allowed, self.log()


def _edited(reply: dict[str, Any]) -> list[str]:
    return [tool["edit"] for tool in reply.get("tools", []) if "edit" in tool]


def _look(path: str) -> dict[str, Any]:
    return {"tools": [{"read": path}]}  # read within five minutes before, so it is counted on that row


@pytest.fixture
def stage(shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """A home and a project for one test; skipped where node is absent."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("node and npm are absent: the real clients cannot run")
    monkeypatch.setenv("CLIENT_CACHE", str(CACHE))
    monkeypatch.setenv("RUN_CLIENT", str(shared / "clients" / "run_client.py"))
    return Stage(shared / "clients" / "run_client.py", tmp_path)
