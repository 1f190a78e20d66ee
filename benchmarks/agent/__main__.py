"""Does it help an agent? Decision tasks, solved by your own agent without a memory, told by it, and told and asking it.

    python benchmarks/agent --agent 'COMMAND' --model NAME --data FOLDER [--out FOLDER] [--only ID ...] [--limit 900]

COMMAND reads a prompt on standard input, works in the current folder, a prepared checkout under git, and ends:
`claude -p --dangerously-skip-permissions`, `codex exec -`, `gemini -y` or a script. It runs with your rights.

FOLDER holds `tasks.jsonl` and `transcripts/`, the earlier sessions of the tasks' projects in the form of Claude Code.
A task is {id, project, text, files: {path: text}, hidden_test}: a small repository with a bug that is mended rightly
only by who knows what was decided in one of these sessions. The hidden test is put into the checkout when the agent has
ended, and says whether it did.

The sessions are imported into a memory of their own, without a model. Every task is then solved three times, each time
in a fresh checkout, by a prompt of these parts:

    without  the task
    told     what `nmem context --prompt TASK` prints, the task
    asking   what `nmem context` prints when a session starts, the same, the task; `nmem` answers on the PATH

Each checkout is in a temporary folder of its own, which is gone after its check; the memory is in another. What a
session there does is recorded nowhere. The agent has your rights: they reach FOLDER with the hidden tests, too.
Results go to `agent.json` and `agent.md`.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nmem.own_process import words

CONDITIONS = ("without", "told", "asking")
HIDDEN = "test_hidden_check.py"
OWN = ("NMEM_CONFIG", "XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME")
"""Where the person's own settings may be: nothing of the memory here reads them."""
RULE = "Do what follows in the current folder. Change files as needed; nobody answers questions.\n\n"


@dataclass(frozen=True, slots=True)
class Trial:
    """One task under one condition: whether the hidden test passes, and how the agent ended."""

    task: str
    condition: str
    passed: bool
    ended: str
    """ok, the exit code, or "limit"."""
    seconds: float
    told: int
    """Characters of memory in its prompt."""


class Memory:
    """The earlier sessions, imported into a home of their own."""

    def __init__(self, folder: Path, transcripts: Path) -> None:
        self.folder = folder
        self.env = {**os.environ, "HOME": str(folder), "NMEM_DB": str(folder / "data" / "nmem.db"),
                    "NMEM_SKIP_SETTLE": "1", "NO_COLOR": "1"}  # fmt: skip
        for name in OWN:
            self.env.pop(name, None)
        self.nmem("import", str(transcripts), "--client", "claude")
        self.nmem("settle", "--no-model", "--quiet")

    def nmem(self, *given: str) -> str:
        """What a command prints. Raises SystemExit with its words when it fails."""
        done = subprocess.run(words(*given), env=self.env, cwd=self.folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"nmem {given[0]}: {done.stderr.strip() or done.stdout.strip()}")
        return done.stdout.strip()

    def prompt(self, task: dict[str, Any], condition: str) -> tuple[str, int]:
        """What the agent is given, and how many characters of that are memory."""
        parts = []
        if condition == "asking":
            parts.append(self.nmem("context", "--project", task["project"]))
        if condition != "without":
            parts.append(self.nmem("context", "--project", task["project"], "--prompt", task["text"]))
        told = "\n\n".join(part for part in parts if part)
        return RULE + (f"{told}\n\n" if told else "") + task["text"] + "\n", len(told)

    def settings(self, condition: str, folder: Path) -> dict[str, str]:
        """What the agent's process finds around it: a copy of the memory, or none; nothing is recorded."""
        env = {**os.environ, "NMEM_SKIP_HOOKS": "1", "NMEM_SKIP_SETTLE": "1",
               "NMEM_DB": str(folder / "none" / "nmem.db")}  # fmt: skip
        env.pop("NMEM_CONFIG", None)
        if condition == "asking":
            home = folder / "memory"
            shutil.copytree(self.folder, home)
            door = home / "bin" / "nmem"
            door.parent.mkdir()
            own = f"unset {' '.join(OWN)}; HOME={shlex.quote(str(home))}"
            door.write_text(f'#!/bin/sh\n{own} exec {shlex.join(words())} "$@"\n')
            door.chmod(0o755)
            env |= {"NMEM_DB": str(home / "data" / "nmem.db"),
                    "PATH": f"{door.parent}{os.pathsep}{env.get('PATH', '')}"}  # fmt: skip
        return env


def build(task: dict[str, Any], checkout: Path) -> None:
    """The repository of a task, under git, without its hidden test."""
    for name, text in {"conftest.py": "", **task["files"], "TASK.md": task["text"] + "\n"}.items():
        path = checkout / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    for given in (["init", "-q"], ["add", "-A"],
                  ["-c", "user.name=dev", "-c", "user.email=dev@example.org", "commit", "-qm", "start"]):  # fmt: skip
        subprocess.run(["git", "-C", str(checkout), *given], check=True)


def check(task: dict[str, Any], checkout: Path) -> bool:
    """Whether the hidden test passes."""
    hidden = checkout / HIDDEN
    hidden.write_text(task["hidden_test"], "utf-8")
    argv = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", HIDDEN]
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    try:
        done = subprocess.run(argv, cwd=checkout, env=env, capture_output=True, check=False, timeout=120)
    except subprocess.TimeoutExpired:
        return False
    finally:
        hidden.unlink(missing_ok=True)
    return done.returncode == 0


def tried(task: dict[str, Any], condition: str, memory: Memory, agent: str, limit: float) -> Trial:
    """Have the agent solve a task in a fresh checkout, which is gone afterwards, and look whether it did."""
    prompt, told = memory.prompt(task, condition)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        checkout = Path(name) / task["id"]
        build(task, checkout)
        env = memory.settings(condition, Path(name))
        began = time.monotonic()
        ended = run(agent, prompt, checkout, env, limit)
        seconds = round(time.monotonic() - began, 1)
        return Trial(task["id"], condition, check(task, checkout), ended, seconds, told)


def run(agent: str, prompt: str, checkout: Path, env: dict[str, str], limit: float) -> str:
    """Run the agent, and say how it ended; whatever it started and left is ended with it."""
    process = subprocess.Popen(shlex.split(agent), cwd=checkout, env=env, text=True, start_new_session=True,
                               stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
    try:
        process.communicate(prompt, timeout=limit)
    except subprocess.TimeoutExpired:
        return "limit"
    finally:
        with suppress(ProcessLookupError):  # nothing of it is left
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return "ok" if process.returncode == 0 else str(process.returncode)


def trials(data: Path, agent: str, only: set[str], limit: float) -> Iterator[Trial]:
    """All trials, task by task. Raises SystemExit where the material or the agent is not there."""
    program, *_ = [*shlex.split(agent), ""]
    if not shutil.which(program):
        raise SystemExit(f"there is no program {program!r} to run")
    lines = (data / "tasks.jsonl").read_text("utf-8").splitlines()
    tasks = [task for task in map(json.loads, lines) if not only or task["id"] in only]
    if not tasks:
        raise SystemExit("none of these tasks is in tasks.jsonl")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        memory = Memory(Path(folder), data / "transcripts")
        for task in tasks:
            for condition in CONDITIONS:
                yield tried(task, condition, memory, agent, limit)


def table(found: list[Trial], model: str, date: str) -> str:
    """Markdown: a row a task, and how many passed of each condition."""
    ids = list(dict.fromkeys(one.task for one in found))
    by = {(one.task, one.condition): one for one in found}
    lines = [
        f"{date}, {model}: hidden tests that pass",
        "",
        f"| task | {' | '.join(CONDITIONS)} |",
        "|---|---|---|---|",
    ]
    for task in ids:
        cells = [_cell(by.get((task, condition))) for condition in CONDITIONS]
        lines.append(f"| {task} | {' | '.join(cells)} |")
    sums = [sum(one.passed for one in found if one.condition == condition) for condition in CONDITIONS]
    lines.append(f"| **passed of {len(ids)}** | {' | '.join(f'**{each}**' for each in sums)} |")
    return "\n".join(lines) + "\n"


def _cell(one: Trial | None) -> str:
    if one is None:
        return ""
    return ("passes" if one.passed else "fails") + ("" if one.ended == "ok" else f" (ended: {one.ended})")


def main() -> None:
    """Run the protocol, and write what came of it after each trial."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agent", required=True, help="the command that reads a prompt on standard input")
    parser.add_argument("--model", required=True, help="what the results are filed under: the model behind it")
    parser.add_argument("--data", type=Path, required=True, help="the folder with tasks.jsonl and transcripts/")
    parser.add_argument("--out", type=Path, default=Path(), help="where agent.json and agent.md go")
    parser.add_argument("--only", nargs="*", default=[], help="only these tasks")
    parser.add_argument("--limit", type=float, default=900.0, help="seconds for a task")
    options = parser.parse_args()
    date = datetime.now(UTC).date().isoformat()
    found: list[Trial] = []
    options.out.mkdir(parents=True, exist_ok=True)
    for one in trials(options.data.resolve(), options.agent, set(options.only), options.limit):
        found.append(one)
        print(
            f"{one.task:12} {one.condition:8} {'passes' if one.passed else 'fails':7} {one.seconds:6.1f} s", flush=True
        )
        record = {"date": date, "model": options.model, "agent": options.agent, "trials": [*map(asdict, found)]}
        (options.out / "agent.json").write_text(json.dumps(record, indent=1) + "\n", "utf-8")
        (options.out / "agent.md").write_text(table(found, options.model, date), "utf-8")
    print(f"\n{table(found, options.model, date)}")


if __name__ == "__main__":
    main()
