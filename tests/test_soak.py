"""The long run in short: two simulated hours of three clients with kills and full disks, by the script of the days."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.house import ROOT


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the script looks for processes where Linux shows them")
def test_two_hours_lose_nothing_and_leave_nothing() -> None:
    words = [sys.executable, str(ROOT / "benchmarks" / "soak.py"), "--hours", "2", "--steps", "4", "--json"]
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(words, capture_output=True, text=True, timeout=600, env={**os.environ, "PYTHONPATH": path})
    assert done.stdout, done.stderr
    found = json.loads(done.stdout)
    assert found["faults"] == []
    assert found["acknowledged"] == found["rows"] + found["lost"]
    assert found["lost"] == found["counted_lost"]
    assert found["swept"] > 0
    assert {"hooks", "disks filled", "backup", "settle", "sweep"} <= set(found["did"])
