"""Processes of nmem's own: the same nmem, from any folder, by an interpreter that does not know it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import capture
from capture import hook, paths
from capture import settle as capture_settle
from capture.settle import OFF
from capture.storage import store
from capture.transcript.cursor import Cursor
from nmem import database, own_process, settle, settle_start
from nmem.audit import NOTE, OK
from nmem.doctor.checks.records import settling
from nmem.importing import stretches
from nmem.importing.discover import Transcript

NEEDS_SPAWN = pytest.mark.skipif(not hasattr(os, "posix_spawn"), reason="no way to start a process without a pipe here")
TRAP = "import os\nopen(os.environ['TRAP'], 'w').close()\nraise SystemExit('the project was run instead')\n"


@pytest.fixture
def trap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose modules have the names of ours and of the library; the file that they leave when they are run."""
    folder = tmp_path / "project"
    folder.mkdir()
    for name in ("queue", "json", "pickle", "click", "nmem", "capture"):
        (folder / f"{name}.py").write_text(TRAP)
    monkeypatch.setenv("TRAP", str(folder / "sprung"))
    monkeypatch.chdir(folder)
    return folder / "sprung"


def waited(done: Path, seconds: float = 120.0) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until and not done.exists():
        time.sleep(0.05)
    return done.exists()


def test_readers_of_an_import_run_nothing_of_the_folder_they_are_started_in(trap: Path, tmp_path: Path) -> None:
    file = tmp_path / "s-1.jsonl"
    line = {"type": "user", "uuid": "u1", "sessionId": "s-1", "cwd": "/srv/none", "timestamp": "2025-10-09T08:00:00Z",
            "message": {"role": "user", "content": "make the parser faster"}}  # fmt: skip
    file.write_text(json.dumps(line) + "\n")
    job = stretches.Job(Transcript(str(file), "claude", "s-1", "/srv/none"), Cursor(str(file), "s-1"))
    alone = [(one.error, one.records) for one in stretches.read_all([job], 0)]
    job = stretches.Job(Transcript(str(file), "claude", "s-1", "/srv/none"), Cursor(str(file), "s-1"))
    assert [(one.error, one.records) for one in stretches.read_all([job], 1)] == alone == [("", 1)]
    assert not trap.exists()


def test_the_command_line_runs_nothing_of_the_folder_it_is_started_in(trap: Path) -> None:
    done = subprocess.run(own_process.words("--version"), capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("nmem ")
    assert not trap.exists()


def elsewhere(tmp_path: Path) -> Path:
    """nmem and what it needs in a folder that no interpreter looks into, as `pip install --target` leaves it."""
    target = tmp_path / "target"
    target.mkdir()
    root = Path(capture.__file__).parents[1]
    for name in ("capture", "nmem"):
        (target / name).symlink_to(root / name)
    for folder in sys.path:
        if folder.endswith("site-packages"):
            for found in Path(folder).iterdir():
                if found.is_dir() and not (target / found.name).exists():
                    (target / found.name).symlink_to(found)
    return target


@NEEDS_SPAWN
@pytest.mark.skipif(getattr(sys, "_base_executable", "") == sys.executable, reason="only within a virtual environment")
def test_a_session_ends_with_one_process_also_where_the_interpreter_does_not_know_nmem(
    tmp_path: Path, db_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = sys._base_executable  # type: ignore[attr-defined]
    knows = subprocess.run([base, "-P", "-c", "import nmem"], capture_output=True, cwd=tmp_path)
    if not knows.returncode:
        pytest.skip("the base interpreter knows nmem itself")
    monkeypatch.delenv(OFF)
    entry = elsewhere(tmp_path) / "nmem" / "entry.py"
    given = {"session_id": "s-1", "cwd": "/srv/none", "reason": "exit"}
    words = [base, "-I", "-S", str(entry), "claude", "SessionEnd", "--db", db_path]
    subprocess.run(words, input=json.dumps(given).encode(), check=True, timeout=300)
    assert waited(Path(settle_start.lock_file(db_path))), Path(paths.log(db_path)).read_text()
    assert waited(Path(db_path).parent / "settle.lock"), "it also does what capture's own settling would"
    while settle.running(db_path):
        time.sleep(0.05)
    assert Path(settle_start.wanted(db_path)).read_bytes() == b""
    assert not Path(paths.log(db_path)).exists()


@pytest.mark.parametrize(("settles", "started"), [(True, 0), (False, 1)])
def test_capture_settles_itself_only_when_its_listener_does_not(
    settles: bool, started: int, db_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from capture.event import Event

    begun: list[str] = []
    monkeypatch.setattr(capture_settle, "start", begun.append)
    db = store.connect(db_path)
    event = Event("claude", "session_end", "s-1", 1_760_000_000_000)
    hook._afterwards(db, db_path, event, lambda *_: (settles, ""))
    db.close()
    assert len(begun) == started


def test_one_switch_keeps_both_from_starting(db_path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Path(db_path).parent.mkdir(parents=True)
    spawned: list[object] = []
    monkeypatch.setattr(capture_settle, "spawn", lambda *words: spawned.append(words))
    assert not capture_settle.start(db_path)
    assert not settle_start.start(db_path)
    assert spawned == []
    monkeypatch.delenv(OFF)
    assert capture_settle.start(db_path)
    assert settle_start.start(db_path)
    assert len(spawned) == 2


def test_what_fails_in_the_background_is_logged_and_said_by_doctor(db_path: str) -> None:
    store.connect(db_path).close()
    assert settling() == []
    wish = Path(settle_start.wanted(db_path))
    wish.write_text("1")
    assert settling() == [], "it is about to begin"
    words = own_process.words("settle", function="nmem.commands.gone:main")
    assert subprocess.run(words, capture_output=True, timeout=300).returncode == 1
    os.utime(wish, (time.time() - 600, time.time() - 600))
    (finding,) = settling()
    assert finding.severity == NOTE
    assert "has not started" in finding.evidence
    assert "ModuleNotFoundError" in finding.evidence
    assert finding.evidence.endswith("nmem.commands.gone")
    assert settle.settle(db_path, models=False) is not None
    (finding,) = settling()
    assert finding.severity == OK


def test_doctor_does_not_complain_while_a_process_settles(db_path: str) -> None:
    store.connect(db_path).close()
    wish = Path(settle_start.wanted(db_path))
    with database.settle_lock(db_path) as mine:
        assert mine
        wish.write_text("1")
        os.utime(wish, (time.time() - 600, time.time() - 600))
        assert settle.running(db_path)
        assert [finding.severity for finding in settling()] == [OK]
    assert not settle.running(db_path)
