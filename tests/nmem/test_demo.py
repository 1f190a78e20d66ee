"""The demo goes through the real pipeline, tells its story, leaks no secret and leaves nothing behind."""

from __future__ import annotations

import sqlite3
import threading
import time
from pathlib import Path

from nmem.demo import player
from nmem.demo.player import Player, remove, temporary

SECRET = "tw_9fK2mQ7xLr4Zp8Vb1Ns6Yc3Td5Wg0HjE"


def test_the_first_stretch_is_there_at_once_and_in_the_past() -> None:
    path = temporary()
    try:
        demo = Player(path, clock=lambda: 1_760_000_000_000)
        demo.prepare()
        demo.opening()
        db = sqlite3.connect(path)
        assert db.execute("SELECT count(*), max(at) FROM observations").fetchone() == (15, 1_760_000_000_000)
        assert db.execute("SELECT origin, branch, context_tokens, context_window FROM sessions").fetchone()[:2] == (
            "demo",
            "main",
        )
        assert db.execute("SELECT count(*) FROM prompts WHERE kind = 'thinking'").fetchone()[0] == 3
        db.close()
    finally:
        remove(path)


def test_the_whole_story() -> None:
    path = temporary()
    try:
        Player(path, speed=1e9).run()
        db = sqlite3.connect(path)
        types = [row[0] for row in db.execute("SELECT obs_type FROM observations ORDER BY seq")]
        outcomes = db.execute("SELECT outcome FROM observations WHERE obs_type = 'test' ORDER BY seq").fetchall()
        assert {"question", "git_commit", "git_push", "lint", "build", "file_write", "search"} <= set(types)
        assert [row[0] for row in outcomes] == ["failed", "ok", "failed", "ok"]
        assert db.execute("SELECT count(*) FROM prompts WHERE source = 'user'").fetchone()[0] == 3
        assert db.execute("SELECT sum(count) FROM redactions").fetchone()[0] == 1
        assert (
            "[REDACTED:"
            in db.execute("SELECT content FROM observations WHERE content LIKE '%curl%Bearer%'").fetchone()[0]
        )
        assert db.execute("SELECT count(*) FROM hook_runs").fetchone()[0] > 15, (
            "live events come through hook processes"
        )
        db.close()
        for file in Path(path).parent.glob("nmem.*"):
            assert SECRET.encode() not in file.read_bytes()
    finally:
        remove(path)
    assert not Path(path).parent.exists()
    assert SECRET in Path(str(player.__file__)).with_name("session.jsonl").read_text("utf-8"), "the secret is planted"


def test_it_stops_when_told() -> None:
    path = temporary()
    demo = Player(path)
    thread = threading.Thread(target=demo.run)
    thread.start()
    time.sleep(0.3)
    demo.stop()
    thread.join(5)
    assert not thread.is_alive()
    remove(path)


def test_only_a_folder_of_its_own_is_removed(tmp_path: Path) -> None:
    (tmp_path / "nmem.db").write_text("")
    remove(str(tmp_path / "nmem.db"))
    assert tmp_path.exists()
