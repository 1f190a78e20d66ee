"""Invented earlier sessions and tasks of the demo's project, for screens that need more than one session."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from capture.clients import claude
from capture.hook import sealed_event
from capture.storage import store
from nmem import live
from nmem.dispatch import queue
from nmem.dispatch.task import FAILED, SUCCEEDED, NewTask, Outcome

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
                store.write(db, sealed)
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
