"""The real clients, driven by a script over loopback, with nmem's real hooks in their settings."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
CACHE = Path(os.environ.get("CLIENT_CACHE") or Path("~").expanduser() / ".cache" / "coding-clients")
"""Read when this module is imported: the tests themselves run with a HOME of their own."""

pytestmark = [pytest.mark.client, pytest.mark.slow]
Script = list[dict[str, Any]]
Row = tuple[str, str, str | None]


@pytest.fixture
def runner(shared: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The program that plays a script to a client."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("node and npm are absent: the real clients cannot run")
    monkeypatch.setenv("CLIENT_CACHE", str(CACHE))
    return shared / "clients" / "run_client.py"


def installed(runner: Path, client: str) -> None:
    """Install the pinned client once; skip where its registry is out of reach."""
    if client != "claude" and not (CACHE / client).exists():
        pytest.skip(f"{client} is not installed in {CACHE}")
    done = subprocess.run([sys.executable, str(runner), "install", client], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"{client} cannot be installed here: {done.stderr[-200:]}")


def nmem(*words: str, home: Path) -> str:
    """Run the command line in a home of its own, as a user would."""
    env = {**os.environ, "HOME": str(home)}
    env.pop("NMEM_DB", None)
    done = subprocess.run([sys.executable, "-m", "nmem", *words], env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def expected(script: Script) -> list[Row]:
    """What the script's tools should have become, in order."""
    return [
        (tool["expect"][0], tool["expect"][1], tool["expect"][2])
        for turn in script
        for reply in turn["replies"]
        for tool in reply.get("tools", [])
    ]


def stored(home: Path) -> sqlite3.Connection:
    """The database that the hooks filled."""
    return sqlite3.connect(home / ".local" / "share" / "nmem" / "nmem.db")


def tool_rows(db: sqlite3.Connection) -> list[Row]:
    """Observations of tools, in the order in which they are shown."""
    query = """SELECT obs_type, outcome, file_path FROM observations
               WHERE obs_type NOT LIKE 'session_%' ORDER BY at, seq"""
    return [(str(kind), str(outcome), path) for kind, outcome, path in db.execute(query)]


def user_prompts(db: sqlite3.Connection) -> list[str]:
    """What the user said, in order."""
    return [text for (text,) in db.execute("SELECT content FROM prompts WHERE source = 'user' ORDER BY at, id")]


def play(runner: Path, client: str, script: Path, home: Path, project: Path, *more: str) -> None:
    """One scripted session, or several turns of one."""
    words = [sys.executable, str(runner), "play", client, str(script), "--home", str(home), "--project", str(project)]
    done = subprocess.run([*words, *more], capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr


def settle(db: sqlite3.Connection, rows: int) -> None:
    """Asynchronous hooks may still be writing when the client has gone."""
    for _ in range(50):
        if db.execute("SELECT count(*) FROM observations WHERE obs_type NOT LIKE 'session_%'").fetchone()[0] >= rows:
            return
        time.sleep(0.1)


SCRIPTS = {"example": None, "long": HERE / "scripts" / "long.json"}
EXAMPLE: list[Row] = [
    ("search", "ok", None),
    ("file_write", "ok", "app.py"),
    ("file_read", "ok", "app.py"),
    ("test", "failed", None),
    ("file_edit", "ok", "app.py"),
    ("git_other", "ok", None),
    ("file_write", "ok", "changelog.py"),
]


@pytest.mark.parametrize("name", SCRIPTS)
@pytest.mark.parametrize("client", ["claude", "codex", "gemini"])
def test_every_prompt_and_tool_call_is_stored_once_in_order(
    client: str, name: str, runner: Path, tmp_path: Path
) -> None:
    installed(runner, client)
    home, project = tmp_path / "client home", tmp_path / "pro ject"
    home.mkdir()
    project.mkdir()
    script = SCRIPTS[name] or runner.parent / "example.json"
    nmem("init", "--client", client, "--scope", "user", "--yes", home=home)
    play(runner, client, script, home, project)
    turns: Script = json.loads(script.read_text())
    want = expected(turns) if name == "long" else EXAMPLE
    with stored(home) as db:
        settle(db, len(want))
        assert user_prompts(db) == [turn["prompt"] for turn in turns]
        assert tool_rows(db) == want
        counted = db.execute("SELECT name, value FROM counters WHERE name IN ('lost', 'errors')").fetchall()
        assert counted == [], (home / ".local" / "share" / "nmem" / "nmem.log").read_text()


def tmux(socket: str, *words: str) -> str:
    return subprocess.run(["tmux", "-L", socket, *words], capture_output=True, text=True, timeout=20).stdout


def socket_of(player: subprocess.Popen[str]) -> str:
    """The tmux server that the player has started, once its window is there."""
    for _ in range(150):
        for name in (f"clients-{player.pid}", *_children(player.pid)):
            if tmux(name, "list-panes", "-t", "c"):
                return name
        time.sleep(0.2)
    raise AssertionError("the player opened no window")


def _children(pid: int) -> list[str]:
    done = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True)
    return [f"clients-{child}" for child in done.stdout.split()]


def test_the_cockpit_beside_a_real_session_shows_each_thing(runner: Path, tmp_path: Path) -> None:
    if shutil.which("tmux") is None:
        pytest.skip("tmux is absent")
    installed(runner, "claude")
    home, project = tmp_path / "home2", tmp_path / "proj"
    home.mkdir()
    project.mkdir()
    nmem("init", "--client", "claude", "--scope", "user", "--yes", home=home)
    script = HERE / "scripts" / "long.json"
    words = [sys.executable, str(runner), "play", "claude", str(script), "--home", str(home), "--project", str(project)]
    with subprocess.Popen([*words, "--tmux"], stderr=subprocess.PIPE, text=True) as player:
        server = socket_of(player)
        database = home / ".local" / "share" / "nmem" / "nmem.db"
        cockpit = ["env", "-u", "NO_COLOR", f"HOME={home}", sys.executable, "-m", "nmem", "tui", "--db", str(database)]
        tmux(server, "resize-window", "-t", "c", "-x", "200", "-y", "90")
        pane = tmux(server, "split-window", "-v", "-l", "60", "-P", "-F", "#{pane_id}", "-t", "c", *cockpit).strip()
        tmux(server, "select-pane", "-t", "c.0")  # the player types into the active pane
        screens = []
        while player.poll() is None:
            screens.append(tmux(server, "capture-pane", "-p", "-t", pane))
            time.sleep(0.25)
        assert player.returncode == 0, player.stderr and player.stderr.read()
    shown = "\n".join(screens)
    turns: Script = json.loads(script.read_text())
    with stored(home) as db:
        assert user_prompts(db) == [turn["prompt"] for turn in turns]
        assert tool_rows(db) == expected(turns)
    for turn in turns:
        assert turn["prompt"][:40] in shown
        for reply in turn["replies"]:
            for tool in reply.get("tools", []):
                assert (tool["expect"][2] or tool.get("shown") or tool["shell"])[:30] in shown, tool
    assert "failed" in shown
