"""Runs a task without a terminal: a process in its own session that outlives the runner."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

_STARTED: list[subprocess.Popen[bytes]] = []
"""So that those that have ended are noticed, and are no zombies for long."""


def open_process(words: Sequence[str]) -> None:
    """Start it; nothing of this process's terminal is left to it. Raises OSError."""
    tidy()
    nowhere = subprocess.DEVNULL
    _STARTED.append(
        subprocess.Popen(words, stdin=nowhere, stdout=nowhere, stderr=nowhere, start_new_session=True, cwd="/")
    )


def tidy() -> None:
    """Take note of those that have ended."""
    _STARTED[:] = [each for each in _STARTED if each.poll() is None]
