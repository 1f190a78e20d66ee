"""Builds and recognizes the hook command in a client's settings.

    [ -x PYTHON ] && [ -f ENTRY ] && exec PYTHON -I -S ENTRY CLIENT EVENT [--db PATH] || exit 0

PYTHON and ENTRY are absolute. The tests are the shell's own and cost it nothing; without them, a deleted environment
would make each tool call of the client fail. On Windows, where nobody knows which shell will read it, the command
stands alone.
It carries no version: a client that trusts commands by their hash keeps trusting it after an upgrade.

OpenCode has no commands in its settings: a plugin of nmem's holds the words of the command, and runs it on each event.
"""

from __future__ import annotations

import json
import os
import shlex
import sys

from capture import paths
from capture.clients import CLIENTS
from capture.clients.opencode import EVENTS, plugin
from capture.files import regular

_ENTRIES = ("nmem/entry.py", "capture/entry.py")
"""How the entry file of a command of ours ends; the second is that of an older nmem."""
_MARK = b"// nmem: "
_COMMAND = b"const COMMAND = "


class Command:
    """A registered command of nmem's, read back."""

    __slots__ = ("client", "db", "entry", "event", "interpreter", "line")

    def __init__(self, line: str, words: list[str], at: int) -> None:
        """`at` is the place of the entry file in `words`, which begin with the interpreter."""
        self.line = line
        self.interpreter = words[0]
        self.entry = words[at]
        self.client = words[at + 1]
        self.event = words[at + 2] if len(words) > at + 2 else ""
        rest = words[at + 3 :]
        self.db = rest[rest.index("--db") + 1] if "--db" in rest[:-1] else ""


def entry() -> str:
    """The file that a hook runs."""
    return paths.entry()


def _is_entry(word: str) -> bool:
    return word.replace("\\", "/").endswith(tuple("/" + each for each in _ENTRIES)) or word in _ENTRIES


def _is_shim(path: str) -> bool:
    """Whether a file called python is a script that looks for one: that costs more than the hook."""
    try:
        with open(path, "rb", opener=regular) as file:
            return file.read(2) == b"#!"
    except OSError:
        return True


def interpreter() -> str:
    """The absolute path of this Python; the one behind it where this one only starts another."""
    base: str = getattr(sys, "_base_executable", "") or sys.executable
    if os.name == "nt":  # python.exe of a virtual environment starts the real one as a child
        return os.path.abspath(base)
    here = os.path.abspath(sys.executable) if sys.executable else ""
    for path in (here, os.path.abspath(base), os.path.realpath(base)):
        if path and os.access(path, os.X_OK) and not _is_shim(path):
            return path
    return here or os.path.abspath(base)


def words(client: str, event: str, db: str = "") -> list[str]:
    """The command as a list."""
    out = [interpreter(), "-I", "-S", entry(), client, event]
    return [*out, "--db", os.path.abspath(db)] if db else out


def line(parts: list[str], windows: bool | None = None) -> str:
    """The command as a shell takes it: sh, and on Windows sh, cmd and PowerShell's -Command alike."""
    if windows is None:
        windows = os.name == "nt"
    if not windows:
        return shlex.join(parts)
    # a path in double quotes with forward slashes means the same to cmd and to Git's sh
    return " ".join(_windows_word(part) for part in parts)


def guarded(parts: list[str], windows: bool | None = None) -> str:
    """The command as it is registered: it says nothing and ends well when what it runs is gone."""
    if windows is None:
        windows = os.name == "nt"
    plain = line(parts, windows)
    if windows:
        return plain
    python, script = shlex.quote(parts[0]), shlex.quote(parts[3])
    return f"[ -x {python} ] && [ -f {script} ] && exec {plain} || exit 0"


def _windows_word(word: str) -> str:
    word = word.replace("\\", "/")
    plain = all(char.isalnum() or char in "-_./:" for char in word)
    return word if plain and word else f'"{word}"'


def powershell(parts: list[str]) -> str:
    """The command as PowerShell takes it, silent when what it runs is gone."""
    quoted = ["'" + part.replace("'", "''") + "'" for part in parts]
    return f"if ((Test-Path {quoted[0]}) -and (Test-Path {quoted[3]})) {{ & {' '.join(quoted)} }}"


def _split(command: str) -> list[str]:
    for posix in (True, False):
        try:
            found = shlex.split(command.removeprefix("& "), posix=posix)
        except ValueError:
            continue
        found = [word.strip("\"'") for word in found]
        if any(_is_entry(word) for word in found):
            return found
    return []


def recognise(command: object) -> Command | None:
    """What a command of nmem's says, wherever its interpreter and package were; None for anything else."""
    if not isinstance(command, str) or "entry.py" not in command:
        return None
    found = _split(command)
    for at, word in enumerate(found[:-1]):
        if _is_entry(word) and at and found[at + 1] in CLIENTS:
            first = found.index("exec", 0, at) + 1 if "exec" in found[:at] else 0
            last = found.index("||", at) if "||" in found[at:] else len(found)
            return Command(command, found[first:last], at - first)
    return None


def is_plugin(data: bytes) -> bool:
    """Whether a plugin file was written by nmem."""
    return data.startswith(_MARK)


def plugin_source(db: str = "") -> bytes:
    """The text of OpenCode's plugin, with this machine's command in it."""
    parts = words("opencode", "", db)
    return plugin([*parts[:4], *parts[6:]]).encode()


def plugin_commands(data: bytes) -> list[Command]:
    """The commands that a plugin file runs, one an event; none when it is not nmem's."""
    start = data.find(_COMMAND) if is_plugin(data) else -1
    if start < 0:
        return []
    try:
        parts = json.loads(data[start + len(_COMMAND) :].split(b"\n", 1)[0])
    except ValueError:
        return []
    if not isinstance(parts, list) or len(parts) < 4:
        return []
    lines = [[*parts[:4], "opencode", event, *parts[4:]] for event in EVENTS]
    return [Command(line(each), each, 3) for each in lines]
