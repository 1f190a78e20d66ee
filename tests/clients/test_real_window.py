"""The real Claude Code in a window, with a status line of the user's own and the cockpit beside it.

The line stays on the screen, its figures arrive, and the cockpit shows each thing.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from nmem import database
from nmem.read.views import window
from tests.clients.test_real_clients import (
    afterwards,
    as_called,
    expected,
    played,
    settle,
    socket_of,
    tmux,
    together,
    tool_rows,
    user_prompts,
)

if TYPE_CHECKING:
    from tests.clients.conftest import Stage

pytestmark = [pytest.mark.client, pytest.mark.slow]

SCRIPT = r"""#!/bin/bash
input=$(cat)
printf '%s' "$input" >"$HOME/seen.json"
size=$(printf '%s' "$input" | grep -o '"context_window_size":[0-9]*')
printf 'MY OWN LINE \033[35m%s\033[0m cols=%s' "$size" "$COLUMNS"
"""


def shows_each_thing(stage: Stage, words: list[str], screens: list[str]) -> None:
    """All of the script is stored, and was seen in the cockpit that these words open."""
    turns = json.loads(stage.script("long").read_text())
    settle(stage, len(expected(turns)))
    with closing(stage.database()) as db:
        assert user_prompts(db) == [turn["prompt"] for turn in turns]
        assert as_called(tool_rows(db), together(turns)) == expected(turns)
    tools = [tool for turn in turns for reply in turn["replies"] for tool in reply.get("tools", [])]
    wanted = {turn["prompt"][:40] for turn in turns}
    wanted |= {(tool["expect"][2] or tool.get("shown") or tool["shell"])[:30] for tool in tools}
    assert any(word in screen for screen in screens for word in wanted), "it showed nothing while the client worked"
    missing = {word for word in {*wanted, "failed"} if not any(word in screen for screen in screens)}
    assert not missing or not (missing := missing - afterwards(words, missing)), missing


def test_the_own_line_stays_its_figures_are_stored_and_the_cockpit_beside_shows_each_thing(stage: Stage) -> None:
    if shutil.which("tmux") is None:
        pytest.skip("tmux is absent")
    script = stage.home / "my line.sh"
    script.write_text(SCRIPT)
    script.chmod(0o755)
    settings = stage.home / ".claude" / "settings.json"
    settings.parent.mkdir()
    own = json.dumps({"statusLine": {"type": "command", "command": "'" + str(script) + "'"}}, indent=4).encode()
    settings.write_bytes(own)
    stage.connect("claude")
    assert "nmem/statusline.py" in json.loads(settings.read_text())["statusLine"]["command"]
    opens = [sys.executable, "-m", "nmem", "tui", "--db", str(stage.folder / "nmem.db")]
    words = ["env", "-u", "NO_COLOR", f"HOME={stage.home}", *opens]
    shown, screens = "", []
    with subprocess.Popen([*stage.player("claude", "long"), "--tmux"], stderr=subprocess.PIPE, text=True) as player:
        server = socket_of(player)
        tmux(server, "resize-window", "-t", "c", "-x", "200", "-y", "90")
        client = tmux(server, "list-panes", "-t", "c", "-F", "#{pane_id}").split()[0]
        pane = tmux(server, "split-window", "-v", "-l", "60", "-P", "-F", "#{pane_id}", "-t", client, *words).strip()
        tmux(server, "select-pane", "-t", client)  # the player types into the active pane
        while player.poll() is None:
            screen = tmux(server, "capture-pane", "-p", "-t", client)
            shown = screen if "MY OWN LINE" in screen else shown
            screens.append(tmux(server, "capture-pane", "-p", "-t", pane))
            time.sleep(0.25)
        played(player)
    shows_each_thing(stage, words, screens)
    seen = json.loads((stage.home / "seen.json").read_text())
    size = seen["context_window"]["context_window_size"]
    assert f'MY OWN LINE "context_window_size":{size} cols=' in shown, shown
    with stage.database() as db:
        rows = db.execute(
            "SELECT s.client, l.model, l.window_size, l.tokens, l.cost_usd FROM status_lines l"
            " JOIN sessions s ON s.id = l.session_id"
        ).fetchall()
        readings = db.execute("SELECT count(*) FROM context_readings").fetchone()[0]
    usage = seen["context_window"]["current_usage"]
    parts = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    assert len(rows) == 1
    assert rows[0][:4] == ("claude", seen["model"]["id"], size, sum(usage[part] for part in parts))
    assert rows[0][4] == pytest.approx(seen["cost"]["total_cost_usd"], abs=0.5)
    assert readings >= 1
    log = stage.folder / "nmem.log"
    assert "status line" not in (log.read_text() if log.exists() else "")
    reader = database.reader(str(stage.folder / "nmem.db"))
    found = window(reader, seen["session_id"])
    reader.close()
    assert found is not None
    assert (found.size, found.source, found.cost_usd) == (size, "status line", rows[0][4])
    assert "runs your own line" in stage.nmem("doctor")
    stage.nmem("uninstall", "--yes")
    after = json.loads(settings.read_text())  # the client has written a choice of its own into the file
    assert after["statusLine"] == json.loads(own)["statusLine"] and "nmem" not in settings.read_text()
