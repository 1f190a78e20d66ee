"""The real clients, driven by a script over loopback, with nmem's real hooks in their settings."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.clients.conftest import Stage

pytestmark = [pytest.mark.client, pytest.mark.slow]
Script = list[dict[str, Any]]
Row = tuple[str, str, str | None]


def together(script: Script) -> list[list[Row]]:
    """What the script's tools should have become, in order; those of one reply run side by side and end as they may."""
    return [
        [(tool["expect"][0], tool["expect"][1], tool["expect"][2]) for tool in reply["tools"] if "expect" in tool]
        for turn in script
        for reply in turn["replies"]
        if reply.get("tools")
    ]


def expected(script: Script) -> list[Row]:
    """The same in one list."""
    return [row for group in together(script) for row in group]


def as_called(rows: list[Row], calls: list[list[Row]]) -> list[Row]:
    """The rows, with those that ran side by side in the order in which they were called."""
    ordered: list[Row] = []
    for group in calls:
        some, rows = rows[: len(group)], rows[len(group) :]
        ordered += group if sorted(map(str, some)) == sorted(map(str, group)) else some
    return ordered + rows


def tool_rows(db: sqlite3.Connection) -> list[Row]:
    """Observations of tools, in the order in which they are shown."""
    query = """SELECT obs_type, outcome, file_path FROM observations
               WHERE obs_type NOT LIKE 'session_%' ORDER BY at, seq"""
    return [(str(kind), str(outcome), path) for kind, outcome, path in db.execute(query)]


def user_prompts(db: sqlite3.Connection) -> list[str]:
    """What the user said, in order."""
    return [text for (text,) in db.execute("SELECT content FROM prompts WHERE source = 'user' ORDER BY at, id")]


def settle(stage: Stage, rows: int) -> None:
    """Asynchronous hooks may still be writing when the client has gone."""
    end = time.monotonic() + 120
    while time.monotonic() < end:
        with closing(stage.database()) as db:
            if len(tool_rows(db)) >= rows:
                return
        time.sleep(0.1)


@pytest.mark.parametrize("client", ["claude", "codex", "gemini", "opencode", "qwen", "copilot"])
def test_every_prompt_and_tool_call_is_stored_once_in_order(client: str, stage: Stage) -> None:
    stage.connect(client)
    stage.play(client, "long")
    turns: Script = json.loads(stage.script("long", client).read_text())
    settle(stage, len(expected(turns)))
    with closing(stage.database()) as db:
        assert user_prompts(db) == [turn["prompt"] for turn in turns]
        assert as_called(tool_rows(db), together(turns)) == expected(turns)
    stage.unharmed()


def tmux(socket: str, *words: str) -> str:
    return subprocess.run(["tmux", "-L", socket, *words], capture_output=True, text=True, timeout=120).stdout


def socket_of(player: subprocess.Popen[str]) -> str:
    """The tmux server that the player has started, once its window is there."""
    end = time.monotonic() + 180
    while time.monotonic() < end:
        for name in (f"clients-{player.pid}", *_children(player.pid)):
            if tmux(name, "list-panes", "-t", "c"):
                return name
        time.sleep(0.2)
    raise AssertionError("the player opened no window")


def _children(pid: int) -> list[str]:
    done = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True)
    return [f"clients-{child}" for child in done.stdout.split()]


def played(player: subprocess.Popen[str]) -> None:
    """The player has ended; it types by the clock, and a client that was not there yet has not taken its words."""
    player.wait()
    said = player.stderr.read() if player.stderr else ""
    if player.returncode and "turns were answered" in said:
        pytest.skip(f"the machine is too busy to type to a client by the clock: {said.strip()}")
    assert player.returncode == 0, said


def afterwards(words: list[str], wanted: set[str]) -> set[str]:
    """What of this a cockpit shows that is opened later: what a busy machine drew too late was not seen in time."""
    server = f"after-{os.getpid()}"
    try:
        tmux(server, "new-session", "-d", "-s", "c", "-x", "200", "-y", "300", *words)
        end, shown = time.monotonic() + 60, ""
        while time.monotonic() < end and not all(word in shown for word in wanted):
            shown = tmux(server, "capture-pane", "-p", "-t", "c")
            time.sleep(0.25)
        return {word for word in wanted if word in shown}
    finally:
        tmux(server, "kill-server")
