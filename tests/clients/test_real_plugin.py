"""The plugin in the real client: installed from its folder, it records; beside `nmem init`, once."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nmem.mcp.registration import plugin
from tests.clients.conftest import CACHE
from tests.clients.test_real_clients import settle, tool_rows

if TYPE_CHECKING:
    from tests.clients.conftest import Stage

pytestmark = [pytest.mark.client, pytest.mark.slow]
SCRIPT = "context-other"
DONE = [("file_edit", "ok", "poem.txt"), ("file_write", "ok", "poem.txt")]
ROOT = Path(__file__).resolve().parents[2]


def programs(folder: Path) -> None:
    """`nmem` and `nmem-hook`, as an installation puts them on the PATH."""
    folder.mkdir()
    for name, module in (("nmem", "nmem.commands.start"), ("nmem-hook", "nmem.entry")):
        run = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from {module} import main; main()"
        (folder / name).write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -c {shlex.quote(run)} "$@"\n')
        (folder / name).chmod(0o755)


def client(stage: Stage, *words: str) -> str:
    """What Claude Code's own command says, in the home of the stage."""
    program = CACHE / "claude" / "node_modules" / ".bin" / "claude"
    env = {**os.environ, "HOME": str(stage.home), "DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1"}
    done = subprocess.run([str(program), *words], capture_output=True, text=True, timeout=400, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def sessions(stage: Stage) -> list[tuple[str, int]]:
    """The sessions, and how many of their events were recorded by a hook, in their order."""
    with closing(stage.database()) as db:
        return db.execute(
            "SELECT s.id, (SELECT count(*) FROM hook_runs h WHERE h.session_id = s.id) FROM sessions s"
            " ORDER BY s.started_at"
        ).fetchall()


def test_the_plugin_records_and_rests_beside_the_hooks_of_init(stage: Stage, tmp_path: Path) -> None:
    stage.connect("claude")
    stage.nmem("uninstall", "--client", "claude", "--yes")
    programs(tmp_path / "bin")
    settings = stage.home / ".claude" / "settings.json"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text(json.dumps({"env": {"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin"}}))
    client(stage, "plugin", "marketplace", "add", str(plugin()))
    client(stage, "plugin", "install", "nmem@nmem")
    assert "nothing else is registered" in stage.nmem("init", "--client", "claude", "--yes")
    assert "entry.py" not in settings.read_text()
    stage.play("claude", SCRIPT)
    settle(stage, len(DONE))
    with closing(stage.database()) as db:
        assert sorted(tool_rows(db)) == DONE
    client(stage, "plugin", "disable", "nmem@nmem")
    stage.nmem("init", "--client", "claude", "--yes", "--no-mcp")
    assert "entry.py" in settings.read_text()
    client(stage, "plugin", "enable", "nmem@nmem")
    (stage.project / "poem.txt").unlink()
    stage.play("claude", SCRIPT)
    settle(stage, 2 * len(DONE))
    (_, alone), (_, beside) = sessions(stage)
    assert alone == beside > 0, "an event was recorded by two processes"
    stage.unharmed()
