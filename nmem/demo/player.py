"""Plays the demo: `yesterday.jsonl` and `session.jsonl` through the hook pipeline, after older sessions and tasks.

Each line has `at` in seconds and either `event` with its `payload` for a hook, or a `transcript` record. The lines up
to the one marked `cut` are stored at once with times in the past; the rest follow at their own pace.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from capture.clients import claude
from capture.hook import sealed_event
from capture.install import registered
from capture.storage import store
from capture.storage.rows import write
from capture.transcript.missed import catch_up
from nmem import live
from nmem.dispatch import queue
from nmem.dispatch.task import FAILED, SUCCEEDED, NewTask, Outcome

_SCRIPTS = tuple(Path(__file__).with_name(f"{name}.jsonl") for name in ("yesterday", "session"))


class Player:
    """One performance of the recorded session."""

    def __init__(
        self, db_path: str, clock: Callable[[], int] = lambda: time.time_ns() // 1_000_000, speed: float = 1.0
    ) -> None:
        self._db_path = db_path
        self._clock = clock
        self._speed = speed
        folder = Path(db_path).parent
        self._root = folder / "tidewatch"
        self._transcript = folder / "transcript.jsonl"
        self._stopped = threading.Event()
        self._steps = [json.loads(line) for line in self._script()]

    def _script(self) -> list[str]:
        text = "".join(script.read_text("utf-8") for script in _SCRIPTS)
        for name, path in (("{root}", self._root), ("{transcript}", self._transcript)):
            text = text.replace(name, json.dumps(str(path))[1:-1])
        return text.splitlines()

    def stop(self) -> None:
        """End the performance, after the step that is being stored."""
        self._stopped.set()

    def run(self) -> None:
        """The first stretch at once, then the days before, then the rest at its pace: to the end, or until stopped."""
        self.prepare()
        last = self._begin()
        self._past()
        self._settle()
        for step in self._steps[self._cut() :]:
            if self._stopped.wait((step["at"] - last) / self._speed):
                return
            last = step["at"]
            self._live(step)

    def prepare(self) -> None:
        """The invented project's folder, with a branch for the header; this process's caches go beside the demo too."""
        os.environ["NMEM_DB"] = self._db_path
        git = self._root / ".git"
        git.mkdir(parents=True, exist_ok=True)
        (git / "HEAD").write_text("ref: refs/heads/main\n")

    def _cut(self) -> int:
        return next(place for place, step in enumerate(self._steps) if step.get("cut")) + 1

    def opening(self) -> None:
        """Store all up to the cut, and settle."""
        self._begin()
        self._settle()

    def _past(self) -> None:
        """The days before: what comes back, what is told, and what is queued shows only over several sessions."""
        at = self._clock()
        record(self._db_path, at, self._stopped.is_set)
        if not self._stopped.is_set():
            tasks(self._db_path, at)

    def _begin(self) -> float:
        """Store all up to the cut, in the past; the time of the last step."""
        steps, now = self._steps[: self._cut()], self._clock()
        end: float = steps[-1]["at"]
        for step in steps:
            if not self._stopped.is_set():
                self._store(step, now - int(1000 * (end - step["at"])))
        return end

    def _settle(self) -> None:
        """Yesterday's episodes are told, and its thread begun: from the records alone, no model is asked."""
        from nmem.settle import settle  # on use: start-up stays short

        if not self._stopped.is_set():
            settle(self._db_path, models=False, clock=self._clock)

    def _live(self, step: dict[str, Any]) -> None:
        """As it would come now: an event through a hook process of its own, a record through the transcript."""
        if "transcript" in step:
            self._store(step, self._clock())
            return
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR", "SYSTEMROOT") if name in os.environ}
        kept["NMEM_SKIP_SETTLE"] = "1"  # what it would start outlives the demo's folder
        subprocess.run(
            [sys.executable, "-I", "-S", registered.entry(), "claude", step["event"], "--db", self._db_path],
            input=json.dumps(step["payload"]).encode(), env=kept, check=False, timeout=30,
        )  # fmt: skip

    def _store(self, step: dict[str, Any], at: int) -> None:
        """Through the same pipeline, but with a time in the past."""
        db = store.connect(self._db_path)
        try:
            if "transcript" in step:
                self._note(step["transcript"], at)
                catch_up(db, "claude", str(self._transcript), self.session_id, float("inf"))
                return
            native, payload = str(step["event"]), step["payload"]
            event = claude.parse(native, payload, at)
            sealed = sealed_event(event)
            if event is not None and sealed is not None:
                sealed.batch.origin = "demo"
                write(db, sealed)
                if event.kind in ("prompt", "turn_end"):  # the rest is settled below, in this process
                    live.after(db, event, self._db_path)
        finally:
            db.close()

    @property
    def session_id(self) -> str:
        """The session that plays."""
        return str(self._steps[-1]["payload"]["session_id"])

    def _note(self, record: object, at: int) -> None:
        stamp = datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        with self._transcript.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record, ensure_ascii=False).replace("{time}", stamp) + "\n")


_DAY, _HOUR, _MINUTE, _STEP = 86_400_000, 3_600_000, 60_000, 25_000
Call = tuple[str, str]
"""A command, and the error that it ended in; empty where it passed."""

_MISSING = "Exit code 2\nE   ModuleNotFoundError: No module named 'tidewatch'"
_TOOLS = "Exit code 127\nmake: tidelint: No such file or directory\nmake: *** [Makefile:14: lint] Error 127"
_LOCKED = "Exit code 1\nsqlite3.OperationalError: database is locked: build/stations.db"
_SESSIONS: tuple[tuple[int, str, str, tuple[Call, ...]], ...] = (
    (12, "claude-0a", "Round the heights in the tide table to centimetres.",
     (("pytest tests/test_table.py", _MISSING), ("pip install -e .", ""), ("pytest tests/test_table.py", ""))),
    (9, "claude-0b", "Write the release notes of this week from the commits.",
     (("git log --since=1.week --oneline", ""), ("make lint", _TOOLS), ("make tools", ""), ("make lint", ""))),
    (6, "claude-0c", "Stations without a gauge should not be listed.",
     (("pytest tests/test_table.py", _MISSING), ("pip install -e .", ""), ("pytest tests/test_table.py", ""),
      ("python -m tidewatch import", _LOCKED), ("make lint", _TOOLS), ("make tools", ""), ("make lint", ""))),
    (4, "claude-0d", "Import the heights of the new gauge in Cadzand.",
     (("python -m tidewatch import", _LOCKED), ("pkill -f tidewatch-sync", ""), ("python -m tidewatch import", ""),
      ("pytest tests/test_table.py", _MISSING), ("pip install -e .", ""), ("pytest tests/test_table.py", ""))),
    (3, "claude-0e", "Write the release notes of this week from the commits, shorter.",
     (("git log --since=1.week --oneline", ""), ("make lint", _TOOLS), ("make tools", ""), ("make lint", ""))),
    (2, "claude-0f", "The import is slow: read all gauges in one go.",
     (("pytest tests/test_table.py", _MISSING), ("pip install -e .", ""), ("pytest tests/test_table.py", ""),
      ("python -m tidewatch import", _LOCKED), ("pkill -f tidewatch-sync", ""), ("python -m tidewatch import", ""))),
    (2, "claude-11", "Gauges in Belgium count from another zero.",
     (("pytest tests/test_table.py", _MISSING), ("pip install -e .", ""), ("pytest tests/test_table.py", ""))),
    (1, "claude-12", "Show the zero that a gauge counts from.",
     (("pytest tests/test_table.py", _MISSING), ("pip install -e .", ""), ("pytest tests/test_table.py", ""))),
    (1, "claude-10", "Write the release notes of this week from the commits.",
     (("git log --since=1.week --oneline", ""), ("pytest tests/test_table.py", _MISSING), ("pip install -e .", ""),
      ("pytest tests/test_table.py", ""))),
)  # fmt: skip
"""Days ago, session, prompt, calls."""


_SAID = """I look at the import first: it opens the gauge table once a station.
python -m tidewatch import --dry-run
2 gauges, 384 heights, 0.8 s
pytest -q
............                                                             [100%]
12 passed in 1.94s"""
_TASKS: tuple[tuple[str, str, str], ...] = (
    ("Read all gauges in one go, and time the import before and after", SUCCEEDED, ""),
    ("Document how a new gauge is added", FAILED, "exit 1: no file docs/gauges.md"),
    ("Give every station a time zone of its own in stations.toml", "", ""),
    ("Run the whole suite with the clock set to one minute past midnight", "", ""),
)
"""What is asked for, how it ended (nothing: it waits), why."""


def tasks(path: str, at: int) -> None:
    """Queue them in the hours before `at` (ms), and let some come to their end."""
    db, root = store.connect(path), str(Path(path).with_name("tidewatch"))
    try:
        for number, (asked, ended, why) in enumerate(_TASKS):
            queued = at - (9 - number) * _HOUR
            needs = (number,) if number == len(_TASKS) - 1 else ()
            new = NewTask(asked, root, project="tidewatch", time_limit=1800, needs=needs, priority=5 - number)
            made = queue.add(db, new, queued)
            if not ended:
                continue
            one = queue.claim(db, "demo", queued + _HOUR, 1, only=made)
            assert one is not None
            queue.placed(db, made, one.attempt, {"how": "headless"}, queued + _HOUR)
            queue.started(db, made, one.attempt, "1@1", queued + _HOUR)
            outcome = Outcome(ended, 0 if ended == SUCCEEDED else 1, why, _SAID, queued + _HOUR + 8 * _MINUTE)
            queue.finish(db, made, one.attempt, outcome, outcome.at)
    finally:
        db.close()


def record(path: str, at: int, stopped: Callable[[], bool] = lambda: False) -> None:
    """Store them through the pipeline of the hooks, in the days before `at` (ms); ends early once it is stopped."""
    db, root = store.connect(path), str(Path(path).with_name("tidewatch"))
    try:
        for days, name, asked, calls in _SESSIONS:
            began = at - days * _DAY - 3 * _HOUR
            for number, (native, payload) in enumerate(_events(root, name, asked, calls)):
                event = claude.parse(native, payload, began + number * _STEP)
                sealed = sealed_event(event)
                if stopped():
                    return
                if event is None or sealed is None:
                    continue
                sealed.batch.origin = "demo"
                write(db, sealed)
                if event.kind in ("prompt", "turn_end"):
                    live.after(db, event, path)
    finally:
        db.close()


def _events(root: str, name: str, asked: str, calls: tuple[Call, ...]) -> Iterator[tuple[str, dict[str, Any]]]:
    common = {"session_id": f"{name}-tidewatch", "transcript_path": "", "cwd": root, "permission_mode": "default"}
    turn = {**common, "prompt_id": f"{name}-turn"}
    yield "SessionStart", {**common, "hook_event_name": "SessionStart", "source": "startup"}
    yield "UserPromptSubmit", {**turn, "hook_event_name": "UserPromptSubmit", "prompt": asked}
    for number, (command, error) in enumerate(calls):
        call = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": f"{name}-{number}"}
        if error:
            yield "PostToolUseFailure", {**turn, **call, "hook_event_name": "PostToolUseFailure", "error": error}
        else:
            answer = {"stdout": "done\n", "stderr": "", "interrupted": False}
            yield "PostToolUse", {**turn, **call, "hook_event_name": "PostToolUse", "tool_response": answer}
    yield "Stop", {**turn, "hook_event_name": "Stop", "stop_hook_active": False, "last_assistant_message": "Done."}
    yield "SessionEnd", {**common, "hook_event_name": "SessionEnd", "reason": "exit"}
