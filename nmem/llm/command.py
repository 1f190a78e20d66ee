"""A model behind a command: the person's own client, run once in an empty folder, with all hooks disabled."""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from nmem.llm import recipes
from nmem.llm.backend import Cancel, Failure, Rejected, Reply, Request, tokens
from nmem.llm.config import Settings
from nmem.llm.outgoing import Redact, untagged
from nmem.llm.process import Done, run
from nmem.llm.unwrap import unwrap

MOST_BYTES = 1 << 20
FOLDER_PREFIX = "nmem-llm-"
"""Of the folder a client runs in: whatever it records there is no work of the person's."""


@dataclass
class Command:
    """`complete` runs the command once; raises nothing but `Failure`."""

    settings: Settings
    redact: Redact

    @property
    def label(self) -> str:
        return untagged(f"{Path(self.settings.command[0]).name} {self.settings.model}")

    def complete(self, request: Request, cancel: Cancel) -> Reply:
        with tempfile.TemporaryDirectory(prefix=FOLDER_PREFIX, ignore_cleanup_errors=True) as name:
            call = recipes.call(self.settings.command, request, self.settings.model, Path(name))
            env = recipes.environment(dict(os.environ), call)
            try:
                text = call.text.encode("utf-8", "replace")
                done = run(call.words, text, env, name, self.settings.call_seconds, MOST_BYTES, cancel)
            except Failure as failure:
                failure.spent = 0 if failure.kind in ("command", "cancelled") else request.cost + request.max_tokens
                raise
            finally:
                for leftover in call.leftovers:
                    shutil.rmtree(leftover, ignore_errors=True)
            return self._reply(request, call, done)

    def _reply(self, request: Request, call: recipes.Call, done: Done) -> Reply:
        if done.status:
            raise Failure("command", f"{self.label} exited with {done.status}{self._last(done)}", request.cost)
        text, usage = unwrap(call.form, done.out.decode("utf-8", "replace"))
        if call.answer:
            text = _file(call.answer).decode("utf-8", "replace")
        asked, told = usage or (request.cost, tokens(text))
        if not text.strip():
            raise Rejected(f"{self.label} printed nothing", asked + told)
        if tokens(text) > request.max_tokens * 4:
            raise Failure("length", f"{self.label} answered at much greater length than asked", asked + told)
        return Reply(text, self.label, asked, told, step="command")

    def _last(self, done: Done) -> str:
        """The last line of what the command complained about, without secrets and fit to be shown."""
        lines = (done.err or done.out).decode("utf-8", "replace").strip()[-4000:]
        line = untagged(self.redact(lines).splitlines()[-1])[:160] if lines else ""
        return f": {line}" if line else ""


def _file(path: str) -> bytes:
    """What the command left as its answer, bounded; nothing when it is no ordinary file."""
    try:
        place = Path(path)
        if place.is_symlink() or not place.is_file() or place.stat().st_size > MOST_BYTES:
            return b""
        return place.read_bytes()
    except OSError:
        return b""
