"""Checks the status line: whether nmem reads it, the person's own line passes unchanged, and its cost."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from pathlib import Path

from capture import install, paths
from capture.install import atomic, installed, status_line, targets
from capture.install.status_line import Line
from capture.install.targets import Target, title
from nmem.doctor.checks import NOTE, OK, WRONG, Finding

_LIMIT = 20
_TEXT = b'{"session_id":"nmem-doctor","model":{"id":"none"}}\x00\xff\n'


def status_lines(folder: str) -> list[Finding]:
    """One finding for each settings file that has a status line."""
    out = []
    for client in status_line.CLIENTS if os.name != "nt" else ():
        for target in targets.targets(client, folder):
            try:
                data = atomic.read(target.path)
                command, ours = status_line.present(install.text_of(data), target) if data else (None, None)
            except (ValueError, OSError):
                continue  # said by the check of the file itself
            if ours is not None:
                out.append(_ours(target, ours))
            elif command is not None and installed.load(paths.database(), target.path):
                out.append(_theirs(target))
    return out


def _init(target: Target) -> str:
    return f"nmem init --client {target.client}{'' if target.scope == targets.USER else f' --scope {target.scope}'}"


def _theirs(target: Target) -> Finding:
    record = installed.load(paths.database(), target.path)
    said = f"the status line in {target.path} is your own, without nmem's: window sizes come from the transcript"
    if record and record.no_line:
        return Finding("status line", OK, said, "", target.client)
    return Finding("status line", NOTE, said, _init(target), target.client)


def _ours(target: Target, ours: Line) -> Finding:
    gone = [path for path in (ours.interpreter, ours.file) if not Path(path).exists()]
    if gone:
        left = "your own line still runs" if ours.own is not None else "the status line is empty"
        said = f"{' and '.join(gone)} is gone: {left}, but nmem reads nothing ({target.path})"
        return Finding("status line", NOTE, said, _init(target), target.client)
    if (ours.db or paths.database()) != paths.database():
        said = f"the status line writes to {ours.db}, this shell reads {paths.database()}"
        return Finding("status line", WRONG, said, _init(target), target.client)
    if ours.own is None:
        return Finding("status line", OK, f"nmem's own line is in {target.path}", "", target.client)
    return _passes(target, ours)


def _passes(target: Target, ours: Line) -> Finding:
    """Send bytes through nmem's part, with `cat` where the person's command would stand: theirs is not run."""
    said = status_line.wrapped("cat; exit 7", ours.db)
    before = time.perf_counter()
    try:
        with tempfile.TemporaryDirectory(prefix="nmem-doctor-") as made:
            done = subprocess.run(
                ["sh", "-c", said], input=_TEXT, cwd=made, capture_output=True, timeout=_LIMIT, check=False
            )
    except (OSError, subprocess.SubprocessError) as error:
        return Finding("status line", WRONG, f"does not run: {type(error).__name__}", _init(target), target.client)
    ms = (time.perf_counter() - before) * 1000
    if (done.stdout, done.stderr, done.returncode) != (_TEXT, b"", 7):
        told = "the output of your command does not arrive unchanged"
        return Finding(
            "status line", WRONG, told, f"nmem init --client {target.client} --no-status-line", target.client
        )
    evidence = f"{title(target.client)} runs your own line in {target.path}, {ms:.0f} ms with `cat`; nmem reads along"
    return Finding("status line", OK, evidence, "", target.client, ms)
