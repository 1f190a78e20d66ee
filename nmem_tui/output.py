"""Sends text to the clipboard, to an editor, or to a new file."""

from __future__ import annotations

import base64
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType

from capture.text import clean
from nmem.errors import NmemError
from nmem.text import printable
from nmem_tui.model import actions

LIMIT = 74_000
"""Bytes of text that OSC 52 carries; more is dropped by common terminals without a word."""
_PIECE = 240
"""Bytes of one piece for screen, which drops longer ones."""
_PATIENCE_S = 2.0


def fitting(text: str) -> str:
    """What of a text OSC 52 can carry: whole characters from its beginning."""
    data = text.encode("utf-8", "replace")
    return text if len(data) <= LIMIT else data[:LIMIT].decode("utf-8", "ignore")


def osc52(text: str, environ: Mapping[str, str]) -> tuple[str, str]:
    """The bytes to write, and in words how the text travels; tmux and screen need it wrapped."""
    data = base64.b64encode(fitting(text).encode("utf-8", "replace")).decode("ascii")
    plain = f"\x1b]52;c;{data}\x07"
    if environ.get("TMUX"):
        inner = plain.replace("\x1b", "\x1b\x1b")
        return f"\x1bPtmux;{inner}\x1b\\{plain}", "through tmux (OSC 52)"
    if environ.get("STY") or environ.get("TERM", "").startswith("screen"):
        pieces = (plain[at : at + _PIECE] for at in range(0, len(plain), _PIECE))
        return "".join(f"\x1bP{piece}\x1b\\" for piece in pieces), "through screen (OSC 52)"
    return plain, "through the terminal (OSC 52)"


def helper(environ: Mapping[str, str], platform: str = sys.platform) -> list[str]:
    """The program that takes text, as words: the desktop's, unless that is elsewhere, else tmux; empty: none.

    tmux hands it on to the terminal, which as it comes it does not let programs do that run in it.
    """
    here = not (environ.get("SSH_CONNECTION") or environ.get("SSH_TTY"))
    known = (
        (here and platform == "darwin", ["pbcopy"]),
        (here and bool(environ.get("WAYLAND_DISPLAY")), ["wl-copy"]),
        (here and bool(environ.get("DISPLAY")), ["xclip", "-selection", "clipboard"]),
        (here and bool(environ.get("WSL_DISTRO_NAME")), ["clip.exe"]),
        (bool(environ.get("TMUX")), ["tmux", "load-buffer", "-w", "-"]),
    )
    path = environ.get("PATH")
    return next((words for fits, words in known if fits and shutil.which(words[0], path=path)), [])


def give(words: list[str], text: str, environ: Mapping[str, str]) -> bool:
    """Whether a program took the text; waits for it, so call it from a worker."""
    data = text.encode("utf-16-le" if words[0] == "clip.exe" else "utf-8", "replace")
    try:
        done = subprocess.run(
            words, input=data, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=_PATIENCE_S, check=False,
            env=dict(environ),
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return False
    return not done.returncode


def told(text: str, how: str, *, cut: bool) -> str:
    """One line for the person."""
    if cut:
        more = f"{actions.key_of('export')} writes all of it to a file"
        return f"copied the first {len(fitting(text)):,} of {len(text):,} characters {how}: {more}"
    return f"copied {len(text):,} characters {how}"


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
            raise NmemError(f"{printable(editor[0])} exited with {done.returncode}: its text is not used")
        with file.open("rb") as back:
            left = back.read(MOST + 1)
        if len(left) > MOST:
            raise NmemError(f"more than {MOST:,} bytes were left in the editor: the text is not used")
        return clean(left.decode("utf-8", "replace"))
    except OSError as error:
        raise NmemError(f"{printable(editor[0])} cannot be used: {error.strerror or error}; {UNSET}") from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


_MOST = 1000


def write(stem: str, ending: str, content: str, at: int) -> str:
    """The name of the file made, for the owner alone. Raises NmemError."""
    name = f"{stem}-{datetime.fromtimestamp(at / 1000, UTC).astimezone():%Y%m%d-%H%M%S}"
    for number in range(1, _MOST):
        path = f"{name}{f'-{number}' if number > 1 else ''}.{ending}"
        try:
            made = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
            with os.fdopen(made, "w", encoding="utf-8", errors="replace", newline="\n") as out:
                out.write(content)
        except FileExistsError:
            continue
        except OSError as error:
            raise NmemError(f"{printable(path)} cannot be written here: {error.strerror or error}") from None
        return path
    raise NmemError(f"{name}.{ending} exists already, with {_MOST} numbered copies")
