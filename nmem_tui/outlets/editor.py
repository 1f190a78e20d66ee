"""The person's editor: $VISUAL, else $EDITOR, on a file of their own that is gone afterwards."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from capture.text import clean
from nmem.errors import NmemError
from nmem.text import printable

UNSET = "no editor is set: export EDITOR=vim, or VISUAL='code --wait'"
MOST = 4_000_000
"""Bytes of a file that are read back."""


def words(environ: Mapping[str, str]) -> list[str]:
    """The editor as words, never through a shell. Raises NmemError when there is none."""
    for name in ("VISUAL", "EDITOR"):
        if given := environ.get(name, "").strip():
            try:
                found = shlex.split(given)
            except ValueError as error:
                raise NmemError(f"{name} cannot be read ({error}): {printable(given)}") from None
            if found:
                return found
    raise NmemError(UNSET)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """While somebody else has the terminal, ctrl+c there is meant for them: it does not end the cockpit."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, _pass)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)


def _pass(_number: int, _frame: FrameType | None) -> None:
    """A handler, as what is ignored would be ignored by the editor too."""


def edit(text: str, editor: list[str], environ: Mapping[str, str], *, read_only: bool) -> str:
    """The text as it was left in the editor; waits until that ends. Raises NmemError when it could not be opened."""
    folder = tempfile.mkdtemp(prefix="nmem-")  # for the owner alone
    file = Path(folder, "copy.md" if read_only else "prompt.md")
    try:
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
            out.write(text.encode("utf-8", "replace"))
        with uninterrupted():
            done = subprocess.run([*editor, str(file)], env=dict(environ), check=False)
        if done.returncode:
            raise NmemError(f"{printable(editor[0])} ended with {done.returncode}: nothing is taken from it")
        with file.open("rb") as back:
            left = back.read(MOST + 1)
        if len(left) > MOST:
            raise NmemError(f"more than {MOST:,} bytes were left in the editor: nothing is taken from it")
        return clean(left.decode("utf-8", "replace"))
    except OSError as error:
        raise NmemError(f"{printable(editor[0])} cannot be used: {error.strerror or error}; {UNSET}") from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)
