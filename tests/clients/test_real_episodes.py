"""Two real sessions over four intents, one of them killed: episodes, a resumed goal and one thread come of it."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.clients.conftest import Stage

pytestmark = [pytest.mark.client, pytest.mark.slow]

EXPECTED = [
    ("the total in shop/price.py", 2, None),
    ("Now something different", 2, None),
    ("back to the cent", 1, 1),
    ("set up a Dockerfile", 1, None),
    ("New topic.", 1, None),
]
"""How an episode's intent begins, its prompts, and which of these it resumes."""


def kill_everything_of(home: Path) -> None:
    """Kill -9 each process that runs in a home: the client, its tools and its hooks."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            environ = (folder / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if f"HOME={home}".encode() in environ:
            try:
                os.kill(int(folder.name), signal.SIGKILL)
            except ProcessLookupError:
                continue


def decided(stage: Stage) -> int:
    """How many prompts are in an episode; how many there are, where a hook met a lock and decided nothing."""
    which = "prompts WHERE source = 'user'" if stage.met_a_lock() else "unit_prompts"
    try:
        with closing(stage.database()) as db:
            count: int = db.execute(f"SELECT count(*) FROM {which}").fetchone()[0]
            return count
    except sqlite3.Error:
        return 0


def killed_session(stage: Stage) -> None:
    """Play until the last prompt's tool runs, then kill the client: nothing tells that the session ended."""
    turns = len(json.loads(stage.script("intents-one").read_text()))
    with subprocess.Popen(stage.player("claude", "intents-one"), stderr=subprocess.DEVNULL) as player:
        until = time.monotonic() + 300
        while decided(stage) < turns and time.monotonic() < until:
            time.sleep(1)
        time.sleep(3)
        kill_everything_of(stage.home)
        player.kill()


def episodes(db: sqlite3.Connection) -> list[tuple[str, int, int | None]]:
    query = """SELECT u.id, u.intent, count(p.prompt_id), u.resumes FROM work_units u
               JOIN unit_prompts p ON p.unit_id = u.id GROUP BY u.id ORDER BY u.started_at"""
    rows = db.execute(query).fetchall()
    place = {unit: number for number, (unit, *_) in enumerate(rows, 1)}
    return [(intent, turns, place.get(resumes)) for _, intent, turns, resumes in rows]


def test_a_killed_session_and_the_next_one_become_episodes_of_one_thread(stage: Stage) -> None:
    if not Path("/proc").is_dir():
        pytest.skip("processes are found by /proc")
    stage.connect("claude")
    killed_session(stage)
    stage.play("claude", "intents-two")
    if stage.met_a_lock():
        stage.nmem("settle")  # what a busy machine kept the hooks from
    with stage.database() as db:
        before = episodes(db)
        assert [(turns, resumes) for _, turns, resumes in before] == [(t, r) for _, t, r in EXPECTED]
        assert all(intent.startswith(start) for (intent, *_), (start, *_) in zip(before, EXPECTED, strict=True))
        assert db.execute("SELECT count(*) FROM session_threads").fetchone() == (2,)
        assert db.execute("SELECT count(DISTINCT session_id) FROM session_threads").fetchone() == (2,)
        orphans = """SELECT count(*) FROM prompts p LEFT JOIN unit_prompts u ON u.prompt_id = p.id
                     WHERE p.source = 'user' AND u.prompt_id IS NULL"""
        assert db.execute(orphans).fetchone() == (0,)
        first = db.execute("SELECT id FROM work_units ORDER BY started_at").fetchone()[0]
    stage.nmem("episodes", "rename", str(first), "The lost cent")
    stage.nmem("settle")
    with stage.database() as db:
        assert episodes(db) == before
        assert db.execute("SELECT title FROM work_units WHERE id = ?", (first,)).fetchone() == ("The lost cent",)
