"""Installs nmem in a client's status line: around the person's own command, or alone if asked for.

    set -- 'THEIRS'; [ -x PYTHON ] && [ -f FILE ] && exec PYTHON -I -S FILE [--db PATH] "$0" ... "$1"; exec sh -c "$1"

Their command stands in it whole, so it can be given back without any record, and runs by itself when nmem is gone.
"$0" is the shell that the client runs commands with.
"""

from __future__ import annotations

import json
import os
import shlex

from capture import paths
from capture.install import registered
from capture.install.jsonc import parse
from capture.install.settings_file import Path, find, insert, remove, replace, value_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from capture.install.hook_entries import Left
    from capture.install.targets import Target

WRAP = "wrap"
"""Around the person's own line, where there is one."""
ADD = "add"
"""The same, and a line of nmem's where there is none."""
KEEP = "keep"
"""What is there is brought up to date."""
OFF = "off"
"""The person's line is left alone."""

CLIENTS = ("claude",)
_KEY: Path = ("statusLine",)
_COMMAND: Path = ("statusLine", "command")
_FILE = "nmem/statusline.py"


class Line:
    """A registered status line of nmem's, read back."""

    __slots__ = ("command", "db", "file", "interpreter", "own")

    def __init__(self, command: str, words: list[str], own: str | None) -> None:
        """`words` begin with the interpreter."""
        self.command = command
        self.interpreter = words[0]
        self.file = next(word for word in words if _is_file(word))
        self.db = words[words.index("--db") + 1] if "--db" in words[:-1] else ""
        self.own = own
        """The person's own command; None where there was none."""


def _is_file(word: str) -> bool:
    return word.replace("\\", "/").endswith("/" + _FILE)


def file() -> str:
    """The file that a status line runs."""
    return os.path.join(os.path.dirname(paths.entry()), "statusline.py")


def words(db: str) -> list[str]:
    """nmem's part of the command as a list."""
    out = [registered.interpreter(), "-I", "-S", file()]
    return [*out, "--db", os.path.abspath(db)] if db else out


def wrapped(own: str, db: str) -> str:
    """The command that runs the person's own and reads along."""
    parts = words(db)
    there = f"[ -x {shlex.quote(parts[0])} ] && [ -f {shlex.quote(parts[3])} ]"
    ours = f'exec {shlex.join(parts)} "$0" "${{LC_CTYPE+=$LC_CTYPE}}" "$1"'
    return f'set -- {shlex.quote(own)}; {there} && {ours}; exec sh -c "$1"'


def alone(db: str) -> str:
    """The command of nmem's own line; silent when nmem is gone."""
    return registered.guarded(words(db), windows=False)


def recognise(command: object) -> Line | None:
    """What a status line of nmem's says; None for anybody else's."""
    if not isinstance(command, str) or _FILE not in command.replace("\\", "/"):
        return None
    try:
        found = shlex.split(command)
    except ValueError:
        return None
    at = max(
        (i for i, word in enumerate(found) if word == "exec" and _FILE in " ".join(found[i + 1 : i + 5])), default=-1
    )
    if at < 0 or not any(map(_is_file, found[at : at + 5])):
        return None
    own = found[2][:-1] if found[:2] == ["set", "--"] and found[2].endswith(";") else None
    return Line(command, found[at + 1 :], own)


def present(text: str, target: Target) -> tuple[object, Line | None]:
    """The status line's command in a settings text, and what nmem has to do with it. Raises BadJson."""
    if target.client not in CLIENTS:
        return None, None
    given = value_at(text, _KEY, target.comments)
    command = given.get("command") if isinstance(given, dict) and given.get("type") == "command" else None
    return command, recognise(command)


def put(text: str, target: Target, db: str, choice: str, left: Left) -> str:
    """The text with the status line as chosen; how the person's own was written goes into `left`.

    On Windows nothing is wrapped: a process cannot become another there. Raises BadJson.
    """
    if target.client not in CLIENTS:
        return text
    if choice == OFF or os.name == "nt":
        return take_out(text, target, left)
    command, ours = present(text, target)
    if ours is not None:
        return replace(text, _COMMAND, alone(db) if ours.own is None else wrapped(ours.own, db), target.comments)
    if isinstance(command, str) and command.strip() and choice in (WRAP, ADD):
        node = find(parse(text, target.comments), _COMMAND)
        if node is not None:
            left[_COMMAND] = text[node.start : node.end]
        return replace(text, _COMMAND, wrapped(command, db), target.comments)
    if choice == ADD and value_at(text, _KEY, target.comments) is None:
        return insert(text, (), "statusLine", {"type": "command", "command": alone(db)}, target.comments)
    return text


def take_out(text: str, target: Target, left: Left) -> str:
    """The text with the person's own status line again, written as it was. Raises BadJson."""
    _, ours = present(text, target)
    if ours is None:
        return text
    if ours.own is None:
        return remove(text, _KEY, left.get(()), target.comments)
    text = replace(text, _COMMAND, ours.own, target.comments)
    node, before = find(parse(text, target.comments), _COMMAND), left.get(_COMMAND, "")
    if node is None or not before or json.loads(before) != ours.own:
        return text
    return text[: node.start] + before + text[node.end :]
