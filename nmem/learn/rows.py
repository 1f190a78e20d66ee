"""One thing that was done, as learnings look at it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from capture import shell
from nmem.learn import commands
from nmem.learn.commands import Normal

EDITS = ("file_edit", "file_write")
_SHELLS = frozenset(("Bash", "PowerShell", "shell", "local_shell", "exec_command", "run_shell_command", "bash"))
_NOT_SHELL = frozenset(
    ("file_edit", "file_write", "task_spawn", "skill", "web_fetch", "web_search", "mcp_call", "question", "plan",
     "todo", "session_start", "session_resume", "session_clear", "session_compact", "marker", "tool_other")
)  # fmt: skip
_SETUP = frozenset(("install", "container"))
_READIES = ("export ", "source ", ". ", "git config ", "nvm ")
_TOOLS = frozenset(("Read", "Grep", "Glob", "LS", "read_file", "glob", "grep", "search_file_content", "list_directory"))


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

    @cached_property
    def edits(self) -> bool:
        """Whether it changed a file of the project."""
        return self.type in EDITS and self.outcome != "failed" and bool(self.path)

    @cached_property
    def is_shell(self) -> bool:
        return self.tool in _SHELLS or (self.type not in _NOT_SHELL and self.tool not in _TOOLS)

    @property
    def powershell(self) -> bool:
        return self.tool == "PowerShell"

    @cached_property
    def normal(self) -> Normal | None:
        """The command without what changes; None when it is none, or only looks."""
        if not self.is_shell:
            return None
        _ = self.families  # while the line is parsed anyway: of a long session it is forgotten soon
        return commands.normalise(self.content, self.root, self.powershell)

    @cached_property
    def families(self) -> tuple[str, ...]:
        """What the command does: test build lint install ..."""
        return shell.parse(self.content, self.powershell).families if self.is_shell else ()

    @cached_property
    def sets_up(self) -> bool:
        """Whether it is a command that went well and makes something ready: installs, containers, variables."""
        return (
            self.outcome == "ok"
            and self.is_shell
            and (self.content.lstrip().startswith(_READIES) or bool(_SETUP.intersection(self.families)))
        )

    @property
    def key(self) -> str:
        return self.normal.key if self.normal else ""

    def runs(self, key: str) -> bool:
        """Whether it ran this command, alone or among others."""
        if not self.normal:
            return False
        return self.normal.key == key or set(key.split(" && ")) <= set(self.normal.parts)
