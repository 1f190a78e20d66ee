"""The long run in short: two simulated hours of three clients with kills and full disks, by the script of the days."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest

from tests.house import ROOT

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes where Linux shows them")
SCRIPT = str(ROOT / "benchmarks" / "soak.py")


def begun(*words: str) -> subprocess.Popen[str]:
    path = os.pathsep.join([str(ROOT / "benchmarks"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen([sys.executable, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env={**os.environ, "PYTHONPATH": path})  # fmt: skip


def ended(process: subprocess.Popen[str], seconds: float) -> tuple[str, str]:
    """What it says; SIGTERM after so many seconds, so that it unmounts and ends what it started."""
    try:
        return process.communicate(timeout=seconds)
    finally:
        process.terminate()
        process.communicate(timeout=60)


@pytest.mark.slow
def test_in_two_hours_every_event_is_stored_or_counted_as_lost() -> None:
    out, errors = ended(begun(SCRIPT, "--hours", "2", "--steps", "4", "--json"), 300)
    assert out, errors
    found = json.loads(out)
    assert found["faults"] == []
    assert found["acknowledged"] > 0
    assert found["from_the_spool"] + found["lost"] > 0, "no full disk was met"
    assert found["swept"] > 0
    assert {"hooks", "disks filled", "backup", "settle", "sweep"} <= set(found["did"])


def test_it_leaves_nothing_when_it_is_told_to_end(tmp_path: Path) -> None:
    folder = tmp_path / "soak"
    code = "import sys, tempfile, soak; name = sys.argv.pop(); tempfile.mkdtemp = lambda **_: name; soak.main()"
    folder.mkdir()
    process = begun("-c", code, "--hours", "2", str(folder))
    while not (folder / "disk" / "data" / "nmem.db").exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    process.terminate()
    ended(process, 60)
    assert process.returncode == 143
    assert not folder.exists()


def test_fewer_than_two_hours_are_refused_in_one_line() -> None:
    process = begun(SCRIPT, "--hours", "1")
    errors = ended(process, 60)[1]
    assert process.returncode == 2
    assert errors.splitlines()[-1].startswith("soak.py: error: in fewer than two hours")


@pytest.fixture
def soak(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script as a module, that mounts nothing."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    module = importlib.import_module("soak")
    monkeypatch.setattr(module, "_mount", lambda _folder: False)
    return module


def test_a_command_that_fails_or_hangs_is_a_fault(
    soak: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = soak.World(tmp_path / "soak", 1)
    world.scarce = True
    world.nmem("show", "no-such-thing")
    assert world.ledger.faults == [], "the disk may be full"
    world.scarce = False
    world.nmem("show", "no-such-thing")
    monkeypatch.setattr(soak, "COMMAND_S", 0.01)
    world.nmem("settle", "--quiet")
    world.nmem("settle", "--quiet", killed_after=0.01)
    failed, hung = world.ledger.faults
    assert failed.startswith("nmem show no-such-thing: ")
    assert hung == "nmem settle --quiet: still at it after 0 s"


def test_a_process_whose_settings_are_no_utf8_is_found(soak: ModuleType, tmp_path: Path) -> None:
    world = soak.World(tmp_path / "soak", 1)
    process = subprocess.Popen(["sleep", "60"], env={b"NMEM_DB": os.fsencode(world.db), b"ODD": b"\xff"})
    try:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.2)
        assert [pid for pid, _ in world.processes()] == [process.pid]
    finally:
        process.kill()
        process.wait()


def test_a_world_that_cannot_be_made_leaves_nothing(
    soak: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "soak"
    folder.mkdir()
    monkeypatch.setattr(soak.tempfile, "mkdtemp", lambda **_: str(folder))
    monkeypatch.setattr(soak.World, "move", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        soak.soaked(2, 4, 1)
    assert not folder.exists()
