"""Standard streams of the command line: handles closed streams, full disks and readers that quit."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TextIO

from nmem.text import lines


def whole() -> None:
    """Make the three usable: a closed one swallows what is written, and what it cannot spell becomes a question mark.

    A closed number would be given to the next file that is opened: to the database.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            _swallow(number)
    sys.stdout = sys.stdout or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - while we run
    sys.stderr = sys.stderr or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace" if stream is sys.stdout else "backslashreplace")


def flushed(*, quiet: bool = False) -> int:
    """Write out what is held back: 0, or 1 with one line when it cannot be written (`quiet`: without the line)."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _drop(sys.stdout, 1)
    except (OSError, ValueError) as error:
        _drop(sys.stdout, 1)
        if not quiet:
            tell(f"nmem: the output cannot be written: {getattr(error, 'strerror', None) or error}")
        return 1
    return 0


def tell(text: str) -> None:
    """A text on standard error, where there is one that takes it; of what it quotes, nothing acts on a terminal."""
    try:
        sys.stderr.write("\n".join(lines(text)) + "\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        _drop(sys.stderr, 2)


def _drop(stream: TextIO, number: int) -> None:
    """What is held back goes nowhere, so that the end of the process does not try again."""
    _swallow(number)
    try:
        stream.flush()
    except (OSError, ValueError):
        return


def _swallow(number: int) -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    if nothing != number:
        os.dup2(nothing, number)
        os.close(nothing)
