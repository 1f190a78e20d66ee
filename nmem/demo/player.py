"""Plays `yesterday.jsonl` and `session.jsonl`: the payloads of a client and its transcript.

Each line has `at` in seconds and either `event` with its `payload` for a hook, or a `transcript` record. The lines up
to the one marked `cut` are stored at once with times in the past; the rest follow at their own pace.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from capture.clients import claude
from capture.hook import sealed_event
from capture.install import registered
from capture.storage import store
from capture.transcript.missed import catch_up
from nmem import live

_PREFIX = "nmem-demo-"
_SCRIPTS = tuple(Path(__file__).with_name(f"{name}.jsonl") for name in ("yesterday", "session"))
_PID = "pid"
"""The file in a demo's folder that names the process it belongs to."""


def temporary() -> str:
    """A path for the demo's database in a new private folder, which goes when the process does."""
    sweep()
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    (folder / _PID).write_text(str(os.getpid()))
    path = str(folder / "nmem.db")
    atexit.register(remove, path)
    return path


def sweep() -> None:
    """Take away what demos left behind that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        try:
            mine = folder.stat().st_uid == os.getuid() and not folder.is_symlink()
            pid = int((folder / _PID).read_text("ascii"))
        except (OSError, ValueError):
            continue  # another version's, another person's, or one that is just being made
        if mine and not _lives(pid):
            remove(str(folder / "nmem.db"))


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


def remove(db_path: str) -> None:
    """Take the demo's folder away with all that is in it."""
    folder = Path(db_path).parent
    if folder.name.startswith(_PREFIX):
        shutil.rmtree(folder, ignore_errors=True)


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
        from nmem.demo import history

        at = self._clock()
        history.record(self._db_path, at, self._stopped.is_set)
        if not self._stopped.is_set():
            history.tasks(self._db_path, at)

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
        from nmem.settle import settle

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
                store.write(db, sealed)
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
