"""Runs one foreign process with limits on time and output, and ends all its children."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from nmem.llm.backend import Cancel, Cancelled, Failure

_POLL = 0.05
_GRACE = 0.5
"""Seconds that output may still come after the process itself ended, from a child that holds the pipe."""


@dataclass(frozen=True, slots=True)
class Done:
    """How a process ended and what it wrote."""

    status: int
    out: bytes
    err: bytes


@dataclass
class _Pipes:
    """What is still to be written and what was read."""

    text: bytes
    most: int
    read: dict[int, bytearray] = field(default_factory=dict)


def run(
    words: Sequence[str], text: bytes, env: Mapping[str, str], folder: str, seconds: float, most: int, cancel: Cancel
) -> Done:
    """Run a list of words with `text` on its standard input; raises `Failure` (command, timeout, size, cancelled)."""
    cancel.check()
    try:
        process = subprocess.Popen(
            list(words), cwd=folder, env=dict(env), start_new_session=True, bufsize=0,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
    except (OSError, ValueError) as error:
        raise Failure("command", f"{words[0]} cannot be run ({type(error).__name__})") from None
    try:
        return _talk(process, text, time.monotonic() + seconds, most, cancel)
    finally:
        _end(process)


def _talk(process: subprocess.Popen[bytes], text: bytes, until: float, most: int, cancel: Cancel) -> Done:
    assert process.stdin and process.stdout and process.stderr
    out, err = process.stdout.fileno(), process.stderr.fileno()
    pipes = _Pipes(text, most, {out: bytearray(), err: bytearray()})
    left = float("inf")
    with selectors.DefaultSelector() as ready:
        os.set_blocking(process.stdin.fileno(), False)
        ready.register(process.stdin, selectors.EVENT_WRITE)
        ready.register(process.stdout, selectors.EVENT_READ)
        ready.register(process.stderr, selectors.EVENT_READ)
        while any(key.fileobj is not process.stdin for key in ready.get_map().values()):
            now = time.monotonic()
            _in_time(now, until, cancel)
            if process.poll() is not None:
                left = min(left, now + _GRACE)
            moved = ready.select(_POLL)
            for key, _ in moved:
                _step(key, ready, pipes)
            if now >= left and all(key.fileobj is process.stdin for key, _ in moved):
                break  # what it wrote is read, however late: the pipe is held by a child that says nothing
    while process.poll() is None:  # it closed its output and runs on
        _in_time(time.monotonic(), until, cancel)
        time.sleep(_POLL)
    return Done(process.returncode, bytes(pipes.read[out]), bytes(pipes.read[err]))


def _in_time(now: float, until: float, cancel: Cancel) -> None:
    if cancel.is_set():
        raise Cancelled
    if now >= until:
        raise Failure("timeout", "the command did not answer in time")


def _step(key: selectors.SelectorKey, ready: selectors.BaseSelector, pipes: _Pipes) -> None:
    """Write or read once."""
    if key.events & selectors.EVENT_WRITE:
        try:
            pipes.text = pipes.text[os.write(key.fd, pipes.text[:65536]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            pipes.text = b""
        if pipes.text:
            return
    elif data := os.read(key.fd, 65536):
        pipes.read[key.fd] += data
        if len(pipes.read[key.fd]) > pipes.most:
            raise Failure("size", f"the command wrote more than {pipes.most} bytes")
        return
    ready.unregister(key.fileobj)
    key.fileobj.close()  # type: ignore[union-attr]


def _end(process: subprocess.Popen[bytes]) -> None:
    """Nothing of its group lives on, and its pipes are closed."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe:
            with contextlib.suppress(OSError):
                pipe.close()
    process.wait()
