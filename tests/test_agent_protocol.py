"""The protocol that asks whether a memory helps an agent, with an agent that does exactly what it reads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.agent.__main__ import build, run
from tests.house import ROOT
from tests.nmem.command_line import BY_THIS

AGENT = """
import os, re, subprocess, sys
said = sys.stdin.read()
try:
    said += subprocess.run(["nmem", "search", "attempt limit", "--json"], capture_output=True, text=True).stdout
except FileNotFoundError:
    pass
open(sys.argv[1], "a").write(f"{sorted(os.listdir('..'))} {'NMEM_CONFIG' in os.environ}\\n")
found = re.search(r"at most (\\d+) attempts", said)
open("retry.py", "w").write(f"ATTEMPTS = {found[1] if found else 3}\\n")
"""
"""It writes the number that it was told or finds, else a guess; and beside what its folder lies."""
TASKS = (
    ("retries", "The upstream complains about our attempt limit in `retry.py`: restore what was agreed.", "7"),
    ("colours", "The palette has too many entries; `retry.py` is where it is.", "7"),
)


def record(number: int, role: str, text: str) -> dict[str, object]:
    return {"type": role, "sessionId": "a1", "cwd": "/src/shop", "uuid": f"u{number}", "version": "2.1.0",
            "timestamp": f"2026-01-31T10:0{number}:00.000Z", "message": {"role": role, "content": text}}  # fmt: skip


def material(folder: Path) -> Path:
    """Two tasks that hinge on one decision, of which only the first one's words lead to it."""
    said = (
        "Which attempt limit does the upstream take in retry.py?",
        "Always at most 7 attempts; the eighth trips its limit.",
    )
    lines = [record(0, "user", "look at retry.py: the upstream rejects us"), record(1, "assistant", said[0]),
             record(2, "user", said[1]), record(3, "assistant", "retry.py makes at most 7 attempts now.")]  # fmt: skip
    (folder / "transcripts" / "shop").mkdir(parents=True)
    (folder / "transcripts" / "shop" / "a1.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    tasks = [{"id": name, "project": "shop", "text": text, "files": {"retry.py": "ATTEMPTS = 9\n"},
              "hidden_test": f"from retry import ATTEMPTS\n\n\ndef test_it():\n    assert ATTEMPTS == {limit}\n"}
             for name, text, limit in TASKS]  # fmt: skip
    (folder / "tasks.jsonl").write_text("".join(f"{json.dumps(task)}\n" for task in tasks))
    return folder


def protocol(*given: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return subprocess.run([sys.executable, str(ROOT / "benchmarks" / "agent"), *given], capture_output=True, text=True,
                          timeout=300, env={**os.environ, "PYTHONPATH": path, "PATH": "/usr/bin:/bin"})  # fmt: skip


def test_an_agent_passes_by_what_it_is_told_or_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NMEM_CONFIG", str(tmp_path / "none.toml"))
    agent, seen = tmp_path / "agent", tmp_path / "seen"
    agent.write_text(BY_THIS + AGENT)
    agent.chmod(0o755)
    data, out = material(tmp_path / "data"), tmp_path / "out"
    done = protocol("--agent", f"{agent} {seen}", "--model", "none", "--data", str(data), "--out", str(out))
    assert done.returncode == 0, done.stderr
    found = json.loads((out / "agent.json").read_text())
    assert found["model"] == "none"
    passed = {(one["task"], one["condition"]): one["passed"] for one in found["trials"]}
    assert passed == {
        ("retries", "without"): False, ("retries", "told"): True, ("retries", "asking"): True,
        ("colours", "without"): False, ("colours", "told"): False, ("colours", "asking"): True,
    }  # fmt: skip
    assert {one["ended"] for one in found["trials"]} == {"ok"}
    lists = [names for task, _, _ in TASKS for names in ([task], [task], sorted(["memory", task]))]
    assert seen.read_text().splitlines() == [f"{names} False" for names in lists], (
        "a trial lies beside nothing of another"
    )
    assert "| **passed of 2** | **0** | **1** | **2** |" in (out / "agent.md").read_text()


def test_what_is_missing_is_one_line(tmp_path: Path) -> None:
    done = protocol(
        "--agent", "no-such-agent", "--model", "x", "--data", str(material(tmp_path)), "--out", str(tmp_path)
    )
    assert (done.returncode, done.stderr) == (1, "there is no program 'no-such-agent' to run\n")


def test_what_an_agent_started_ends_with_it(tmp_path: Path) -> None:
    late = "(sleep 1; touch late) &"
    assert run(f"sh -c '{late} sleep 60'", "", tmp_path, {**os.environ}, 0.3) == "limit"
    assert run(f"sh -c '{late} exit 3'", "", tmp_path, {**os.environ}, 60) == "3"
    time.sleep(1.2)
    assert not (tmp_path / "late").exists()


def test_a_task_keeps_its_own_conftest(tmp_path: Path) -> None:
    build({"files": {"conftest.py": "LIMIT = 7\n"}, "text": "mend it"}, tmp_path)
    assert (tmp_path / "conftest.py").read_text() == "LIMIT = 7\n"
