"""A history that is settled in two processes, each with hashes of its own, is concluded from alike."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from capture.storage import store
from nmem.demo import player

NOW = 1_760_000_000_000
SETTLED = """
import sys, time
now = int(sys.argv[2])
time.time = lambda: now / 1000
time.time_ns = lambda: now * 1_000_000
from nmem.settle import settle
assert settle(sys.argv[1], 600) is not None
from nmem.episodes import features
said = " ".join(f"word{number} thing{number % 7}" for number in range(60))
past = features.Past(frozenset(["thing3"]))
for turn in range(4):
    past.add(said[turn * 40 : turn * 40 + 400], {"said": said[turn * 90 :], "files": [f"src/{turn}/a.py", "b/c.py"]})
agent = {"said": said[::-1] + said, "files": [f"src/{turn}/a.py" for turn in range(9)]}
print({**features.context(said, 3.0, past), **features.turned(said[100:], agent, past)})
"""
_KEPT = ("_fts", "sqlite_", "upkeep", "history_redactions")
"""Tables whose rows say when and in what portions work was done."""


def rows(path: Path) -> dict[str, list[str]]:
    """What the tables hold, their rows in order."""
    with closing(store.connect(str(path))) as db:
        names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        return {
            name: sorted(map(repr, db.execute(f'SELECT * FROM "{name}"')))
            for name in names
            if not any(part in name for part in _KEPT)
        }


def test_settling_does_not_hang_on_the_order_of_hashes(tmp_path: Path) -> None:
    before = tmp_path / "before" / "nmem.db"
    before.parent.mkdir()
    player.record(str(before), NOW)
    config = tmp_path / "config.toml"
    config.write_text("[llm]\nenabled = false\n", "utf-8")
    found, scored = [], []
    for seed in ("1", "2"):
        path = tmp_path / f"after{seed}" / "nmem.db"
        path.parent.mkdir()
        with closing(store.connect(str(before))) as old, closing(store.connect(str(path))) as new:
            old.backup(new)
        told = {**os.environ, "PYTHONHASHSEED": seed, "NMEM_CONFIG": str(config)}
        asked = [sys.executable, "-c", SETTLED, str(path), str(NOW)]
        scored.append(subprocess.run(asked, env=told, check=True, timeout=120, capture_output=True).stdout)
        found.append(rows(path))
        shutil.rmtree(path.parent)
    assert found[0].keys() == found[1].keys() and len(found[0]["work_units"]) > 1
    assert [name for name in found[0] if found[0][name] != found[1][name]] == []
    assert scored[0] == scored[1] and scored[0]
