"""Opens a decision's file where the decision stands, in the person's editor; without one its place is copied."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from nmem.errors import NmemError
from nmem.text import printable

if TYPE_CHECKING:
    from nmem_tui.app import Cockpit

_MOST = 1_000_000
"""Bytes of a file that a copy has."""
_PLUS = ("vi", "vim", "nvim", "view", "gvim", "nano", "pico", "emacs", "emacsclient", "micro", "kak", "joe", "ne", "mg")
_COLON = ("hx", "helix", "subl", "zed", "mate")
_GOTO = ("code", "code-insiders", "codium", "cursor", "windsurf")


def words(editor: list[str], path: str, line: int) -> list[str]:
    """The editor's words that open a file at a line, as it is known to take them; else the file alone."""
    name = editor[0].replace("\\", "/").rpartition("/")[2].removesuffix(".exe")
    if line > 0 and name in _PLUS:
        return [*editor, f"+{line}", path]
    if line > 0 and name in _COLON:
        return [*editor, f"{path}:{line}"]
    return [*editor, "-g", f"{path}:{line}"] if line > 0 and name in _GOTO else [*editor, path]


def open_file(app: Cockpit, path: str, line: int) -> None:
    """Open it, and come back when the editor ends; a cockpit that only reads opens a copy."""
    from nmem_tui.outlets import editor

    if app.read_only:
        _open_copy(app, path)
        return
    try:
        own = editor.words(app.environ)
        with app.suspend(), editor.uninterrupted():
            done = subprocess.run(words(own, path, line), env=dict(app.environ), check=False)
    except (NmemError, SuspendNotSupported):
        app.copy_out(f"{path}:{line}")
        return
    except OSError as error:
        app.say(f"{printable(own[0])} cannot be used: {error.strerror or error}", severity="warning")
        return
    app.refresh(layout=True)
    if done.returncode:
        app.say(f"{printable(own[0])} ended with {done.returncode}", severity="warning")


def _open_copy(app: Cockpit, path: str) -> None:
    try:
        with Path(path).open("rb") as file:
            text = file.read(_MOST).decode("utf-8", "replace")
    except OSError as error:
        app.say(f"{printable(path)} cannot be read: {error.strerror or error}", severity="warning")
        return
    app.edit_out(text)
