"""The real Claude Code with a status line of the user's own: it stays on the screen, and the figures arrive."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from nmem import database
from nmem.read.window import window
from tests.clients.test_real_clients import played, socket_of, tmux

if TYPE_CHECKING:
    from tests.clients.conftest import Stage

pytestmark = [pytest.mark.client, pytest.mark.slow]

SCRIPT = r"""#!/bin/bash
input=$(cat)
printf '%s' "$input" >"$HOME/seen.json"
size=$(printf '%s' "$input" | grep -o '"context_window_size":[0-9]*')
printf 'MY OWN LINE \033[35m%s\033[0m cols=%s' "$size" "$COLUMNS"
"""


def test_the_own_line_stays_on_the_screen_and_the_figures_are_stored(stage: Stage) -> None:
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
    shown = ""
    with subprocess.Popen([*stage.player("claude", "long"), "--tmux"], stderr=subprocess.PIPE, text=True) as player:
        server = socket_of(player)
        while player.poll() is None:
            screen = tmux(server, "capture-pane", "-p", "-t", "c")
            shown = screen if "MY OWN LINE" in screen else shown
            time.sleep(0.25)
        played(player)
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
