"""Puts text on the clipboard of the person: by a program of their desktop, else by OSC 52 through the terminal."""

from __future__ import annotations

import base64
import shutil
import subprocess
import sys
from collections.abc import Mapping

from nmem_tui.model import keyed

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
        more = f"{keyed.of('export')} writes all of it to a file"
        return f"copied the first {len(fitting(text)):,} of {len(text):,} characters {how}: {more}"
    return f"copied {len(text):,} characters {how}"
