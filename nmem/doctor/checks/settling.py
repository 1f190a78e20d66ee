"""Checks whether background settling runs: nobody would notice its failure."""

from __future__ import annotations

import time
from pathlib import Path

from capture import paths
from nmem.doctor.checks import NOTE, OK, Finding
from nmem.read.health import log_tail
from nmem.settle_start import LOST, lock_file, wanted

_FROM_BEHIND = (" background: ", " settle: ")
"""What processes in the background begin their lines of the log with."""


def settling() -> list[Finding]:
    """When episodes were last told and sessions summed up, or why they are not."""
    from nmem.settle import running

    db = paths.database()
    asked, ran = _touched(wanted(db), filled=True), _touched(lock_file(db))
    if asked and time.time() - asked > LOST and not running(db):
        said = f"settling was asked for at {_when(asked)} and has not begun"
        return [Finding("settling", NOTE, f"{said}{_why(db)}", "nmem settle")]
    if ran:
        return [Finding("settling", OK, f"episodes were last told and sessions summed up at {_when(ran)}")]
    return []


def _touched(path: str, filled: bool = False) -> float:
    """When a file was last written to; 0.0 when there is none, or when it should hold something and does not."""
    try:
        found = Path(path).stat()
    except OSError:
        return 0.0
    return 0.0 if filled and not found.st_size else found.st_mtime


def _when(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def _why(db: str) -> str:
    lines = [line for line in log_tail(db, 1000) if any(mark in line for mark in _FROM_BEHIND)]
    return f": {lines[-1]}" if lines else ""
