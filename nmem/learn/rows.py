"""Row, one tool call, and Said, one prompt, for learnings: normalized command, outcome, whether it edits."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar, overload

from capture import shell
from nmem.learn import commands
from nmem.learn.commands import Normal

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
EDITS = ("file_edit", "file_write")
_SHELLS = frozenset(("Bash", "PowerShell", "shell", "local_shell", "exec_command", "run_shell_command", "bash"))
_NOT_SHELL = frozenset(
    ("file_edit", "file_write", "task_spawn", "skill", "web_fetch", "web_search", "mcp_call", "question", "plan",
     "todo", "session_start", "session_resume", "session_clear", "session_compact", "marker", "tool_other")
)  # fmt: skip
LONGEST = 1_500
"""Characters of a prompt from which on it is a document, which has rules of its own."""
_SETUP = frozenset(("install", "container"))
_READIES = ("export ", "source ", ". ", "git config ", "nvm ")
_TOOLS = frozenset(("Read", "Grep", "Glob", "LS", "read_file", "glob", "grep", "search_file_content", "list_directory"))
_GOES = re.compile(r"^(?:cd [^;&|]+ && )+(?=\S)")
_ENDING = re.compile(r"(?:\s*2>&1)?\s*\|\s*(?:tail|head)\b[^|;&]*$|\s*2>&1\s*$")
_HOME = re.compile(r"(?<![\w/])/(?:Users|home)/[^/\s'\"]+(?=/|\s|$)")
_SHOWN = 160


class once(Generic[T]):  # noqa: N801 - a decorator
    """A property worked out once: `functools.cached_property` without its lock, which is dear in Python 3.11."""

    def __init__(self, work: Callable[[Row], T]) -> None:
        self.work, self.name = work, work.__name__
        self.__doc__ = work.__doc__

    @overload
    def __get__(self, row: None, of: type[Row]) -> once[T]: ...
    @overload
    def __get__(self, row: Row, of: type[Row]) -> T: ...
    def __get__(self, row: Row | None, of: type[Row]) -> once[T] | T:
        if row is None:
            return self
        found = row.__dict__[self.name] = self.work(row)
        return found


@dataclass(frozen=True)
class Said:
    """A prompt of the person."""

    prompt_id: int
    at: int
    text: str


@dataclass
class Row:
    """An observation."""

    id: int
    at: int
    seq: int
    prompt_id: int | None
    type: str
    tool: str
    path: str
    content: str
    outcome: str
    response: str
    root: str = ""
    """The project's folder: paths in commands are relative to it."""

    @property
    def failed(self) -> bool:
        return self.outcome == "failed"

    @once
    def edits(self) -> bool:
        """Whether it changed a file of the project."""
        return self.type in EDITS and self.outcome != "failed" and bool(self.path)

    @once
    def is_shell(self) -> bool:
        return self.tool in _SHELLS or (self.type not in _NOT_SHELL and self.tool not in _TOOLS)

    @property
    def powershell(self) -> bool:
        return self.tool == "PowerShell"

    @once
    def normal(self) -> Normal | None:
        """The command without what changes; None when it is none, or only looks."""
        if not self.is_shell:
            return None
        _ = self.families  # while the line is parsed anyway: of a long session it is forgotten soon
        return commands.normalise(self.content, self.root, self.powershell)

    @once
    def families(self) -> tuple[str, ...]:
        """What the command does: test build lint install ..."""
        return shell.parse(self.content, self.powershell).families if self.is_shell else ()

    @once
    def sets_up(self) -> bool:
        """Whether it is a command that went well and makes something ready: installs, containers, variables."""
        return (
            self.outcome == "ok"
            and self.is_shell
            and (self.content.lstrip().startswith(_READIES) or bool(_SETUP.intersection(self.families)))
        )

    @once
    def typed(self) -> str:
        """The command as it was typed, on one line."""
        return " ".join(self.content.split())

    @once
    def shown(self) -> str:
        """As typed, without what only shortens its output, and without where one machine has its files."""
        typed = self.typed
        if "|" in typed or typed.endswith("2>&1"):  # nearly none: the search is dear where there are many words
            typed = _ENDING.sub("", typed)
        typed = _GOES.sub("", typed)
        typed = typed.replace(f"{self.root}/", "") if self.root else typed
        if "/Users/" in typed or "/home/" in typed:
            typed = _HOME.sub("~", typed)
        return typed if len(typed) <= _SHOWN else typed[: _SHOWN - 1].rpartition(" ")[0] + " …"

    @property
    def key(self) -> str:
        return self.normal.key if self.normal else ""

    def runs(self, key: str) -> bool:
        """Whether it ran this command, alone or among others."""
        if not self.normal:
            return False
        return self.normal.key == key or set(key.split(" && ")) <= set(self.normal.parts)
