"""Reads and writes the folder of one attempt at a task: its job, start and end, each as a whole or not at all.

It is the owner's alone, holds nothing that was not redacted, and goes once its end is in the database. `begun` is made
exclusively: by the pane that begins, or by a runner that takes the attempt back, never by both.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

from capture import paths
from capture.files import ours, own, replace
from nmem.dispatch.task import Outcome

_SPEC, _PROMPT, _BEGUN, _CLIENT, _ENDED, _CANCEL, _ASKED, _HOOKS = (
    "spec.json", "prompt", "begun", "client", "ended.json", "cancel", "asked", "hooks.json",
)  # fmt: skip
ABANDONED = "-"


@dataclass(frozen=True, slots=True)
class Spec:
    """What a pane has to do."""

    database: str
    task_id: int
    attempt: int
    argv: tuple[str, ...]
    """The client and its words; the prompt is one of them only where `stdin` is not set."""
    cwd: str
    stdin: bool
    """The client reads the prompt from its standard input."""
    interactive: bool
    headless: bool
    time_limit: int
    idle_seconds: int
    path: str
    """Of the runner: searched after the pane's own."""
    environment: tuple[tuple[str, str], ...] = ()


class Folder:
    """The files of one attempt."""

    def __init__(self, database: str, task_id: int, attempt: int) -> None:
        self.path = Path(paths.folder(database), "tasks", f"{task_id}-{attempt}")

    @classmethod
    def at(cls, path: str) -> Folder:
        """The one at a path."""
        self = cls.__new__(cls)
        self.path = Path(path)
        return self

    def make(self, spec: Spec, prompt: str) -> None:
        """Write what is to be done; an older folder of this name goes. Raises OSError."""
        ours(str(self.path.parent), folder=True)
        self.remove()
        paths.make(str(self.path))
        self._write(_PROMPT, prompt)
        self._write(_SPEC, json.dumps(asdict(spec)))

    def spec(self) -> Spec:
        """What is to be done. Raises OSError, ValueError, KeyError or TypeError."""
        found = json.loads(own(str(self.path / _SPEC)))
        found["argv"] = tuple(found["argv"])
        found["environment"] = tuple((name, value) for name, value in found["environment"])
        return Spec(**found)

    def made_at(self) -> int:
        """When it was said what is to be done, in milliseconds; 0 before that."""
        try:
            return (self.path / _SPEC).stat().st_mtime_ns // 1_000_000
        except OSError:
            return 0

    @property
    def prompt(self) -> Path:
        """The file that holds the prompt."""
        return self.path / _PROMPT

    @property
    def hooks(self) -> Path:
        """Settings that a client is started with, so that it tells when it asks for a person."""
        return self.path / _HOOKS

    def write_hooks(self, settings: str) -> None:
        """Write these settings. Raises OSError."""
        self._write(_HOOKS, settings)

    def begin(self, process: str) -> bool:
        """Claim the attempt for a process, or for nobody (ABANDONED); False when somebody did already."""
        try:
            made = os.open(self.path / _BEGUN, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            return False
        with os.fdopen(made, "w") as file:
            file.write(process)
        return True

    def begun(self) -> str:
        """The process that began, ABANDONED, or nothing."""
        return self._read(_BEGUN)

    def with_client(self, process: str) -> None:
        """Name the client's own process. Raises OSError."""
        self._write(_CLIENT, process)

    def client(self) -> str:
        """The client's own process; empty before it began."""
        return self._read(_CLIENT)

    def end(self, outcome: Outcome) -> None:
        """Say how it ended. Raises OSError."""
        self._write(_ENDED, json.dumps(outcome._asdict()))

    def ended(self) -> Outcome | None:
        """How it ended, None while it has not."""
        try:
            return Outcome(**json.loads(self._read(_ENDED)))
        except (ValueError, TypeError):
            return None

    def cancel(self, why: str) -> None:
        """Say that a person does not want it any more; the pane is then told by a signal. Raises OSError."""
        self._write(_CANCEL, why)

    def cancelled(self) -> str:
        """Why a person does not want it; empty while one does."""
        return self._read(_CANCEL)

    def ask(self, what: str) -> None:
        """Note what the client asks a person for. Raises OSError."""
        self._write(_ASKED, what)

    def asked(self) -> tuple[int, str]:
        """When the client asked last, in milliseconds, and for what; (0, "") when it did not."""
        try:
            at = (self.path / _ASKED).stat().st_mtime_ns // 1_000_000
        except OSError:
            return 0, ""
        return at, self._read(_ASKED)

    def remove(self) -> None:
        """Away with it."""
        shutil.rmtree(self.path, ignore_errors=True)

    def _read(self, name: str) -> str:
        try:
            return own(str(self.path / name)).decode("utf-8", "replace")
        except OSError:
            return ""

    def _write(self, name: str, text: str) -> None:
        replace(str(self.path / name), text.encode("utf-8", "replace"), sync=True)
