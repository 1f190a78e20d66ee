"""The demo goes through the real pipeline, tells its story, leaks no secret and leaves nothing behind."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from nmem import demo
from nmem.demo import remove, temporary
from nmem.demo.player import Player

SECRET = "tw_9fK2mQ7xLr4Zp8Vb1Ns6Yc3Td5Wg0HjE"


def test_the_first_stretch_is_there_at_once_and_in_the_past() -> None:
    path = temporary()
    try:
        demo = Player(path, clock=lambda: 1_760_000_000_000)
        demo.prepare()
        demo.opening()
        db = sqlite3.connect(path)
        today = "FROM observations WHERE session_id LIKE '%tidewatch001'"
        assert db.execute(f"SELECT count(*), max(at) {today}").fetchone() == (15, 1_760_000_000_000)
        sessions = db.execute("SELECT origin, branch FROM sessions ORDER BY started_at").fetchall()
        assert sessions == [("demo", "main")] * 2
        assert db.execute("SELECT count(*) FROM prompts WHERE kind = 'thinking'").fetchone()[0] == 3
        db.close()
    finally:
        remove(path)


def test_the_whole_story() -> None:
    path = temporary()
    try:
        Player(path, speed=1e9).run()
        db = sqlite3.connect(path)
        today = "FROM observations WHERE session_id LIKE '%tidewatch001'"
        types = [row[0] for row in db.execute(f"SELECT obs_type {today} ORDER BY seq")]
        outcomes = db.execute(f"SELECT outcome {today} AND obs_type = 'test' ORDER BY seq").fetchall()
        assert {"question", "git_commit", "git_push", "lint", "build", "file_write", "search"} <= set(types)
        assert [row[0] for row in outcomes] == ["failed", "ok", "failed", "ok"]
        said = "SELECT count(*) FROM prompts WHERE source = 'user' AND session_id LIKE '%tidewatch001'"
        assert db.execute(said).fetchone()[0] == 3
        assert db.execute("SELECT sum(count) FROM redactions").fetchone()[0] == 1
        assert (
            "[REDACTED:"
            in db.execute("SELECT content FROM observations WHERE content LIKE '%curl%Bearer%'").fetchone()[0]
        )
        assert db.execute("SELECT count(*) FROM hook_runs").fetchone()[0] > 15, (
            "live events come through hook processes"
        )
        assert db.execute("SELECT count(*) FROM learnings WHERE state = 'open'").fetchone()[0] >= 3
        states = [row[0] for row in db.execute("SELECT state FROM tasks ORDER BY id")]
        assert states == ["succeeded", "failed", "queued", "queued"]
        newest = "SELECT session_id FROM observations ORDER BY at DESC LIMIT 1"
        assert db.execute(newest).fetchone()[0].endswith("tidewatch001")
        db.close()
        for file in Path(path).parent.glob("nmem.*"):
            assert SECRET.encode() not in file.read_bytes()
    finally:
        remove(path)
    assert not Path(path).parent.exists()
    assert SECRET in Path(str(demo.__file__)).with_name("session.jsonl").read_text("utf-8"), "the secret is planted"


def test_yesterday_is_cut_told_and_resumed() -> None:
    path = temporary()
    try:
        demo = Player(path, clock=lambda: 1_760_000_000_000)
        demo.prepare()
        demo.opening()
        db = sqlite3.connect(path)
        units = db.execute("SELECT id, intent, state, resumes, narrator FROM work_units ORDER BY started_at").fetchall()
        db.close()
    finally:
        remove(path)
    assert [row[1].split()[0] for row in units] == ["Users", "New", "Next:", "Back", "After"]
    assert [row[2] for row in units] == ["closed"] * 4 + ["open"]
    assert units[3][3] == units[0][0], "an earlier goal came back"
    assert [row[4] for row in units[:4]] == ["extractive"] * 4


def test_folders_of_killed_demos_are_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    died = subprocess.Popen([sys.executable, "-c", "pass"])
    died.wait()
    for name, pid in (("dead", died.pid), ("alive", os.getpid())):
        folder = tmp_path / f"nmem-demo-{name}"
        folder.mkdir()
        (folder / "pid").write_text(str(pid))
        (folder / "nmem.db").write_text("")
    (tmp_path / "nmem-demo-unknown").mkdir()
    mine = Path(temporary()).parent
    left = {folder.name for folder in tmp_path.glob("nmem-demo-*")}
    assert left == {"nmem-demo-alive", "nmem-demo-unknown", mine.name}
    remove(str(mine / "nmem.db"))


def test_it_stops_when_told() -> None:
    path = temporary()
    demo = Player(path)
    thread = threading.Thread(target=demo.run)
    thread.start()
    while thread.is_alive() and not Path(path).exists():
        time.sleep(0.01)
    demo.stop()
    thread.join(120)
    assert not thread.is_alive()
    remove(path)


def test_only_a_folder_of_its_own_is_removed(tmp_path: Path) -> None:
    (tmp_path / "nmem.db").write_text("")
    remove(str(tmp_path / "nmem.db"))
    assert tmp_path.exists()
