"""Reads `[dispatch]` of config.toml: how tasks run; a fault is one error line, never a default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nmem import hours
from nmem.dispatch.task import CLIENTS, HEADLESS, TMUX
from nmem.errors import NmemError
from nmem.settings import file

AUTO = "auto"
_HOW = (AUTO, TMUX, HEADLESS)
_ASK, _RUN, _OFF = "ask", "run", "off"


@dataclass(frozen=True, slots=True)
class Dispatch:
    """How tasks are run."""

    concurrency: int = 1
    """Running at once, over all runners; those that wait for a person do not count."""
    quiet_hours: str = ""
    time_limit: int = 2 * 3600
    """Seconds, for tasks that name none; 0: no limit. Configured in minutes."""
    client: str = CLIENTS[0]
    how: str = AUTO
    """auto: in tmux where it is installed; tmux; headless."""
    tmux_session: str = "nmem"
    tmux_socket: str = ""
    """The name of tmux's socket (its -L); empty: its own default."""
    worktrees: str = ""
    """Folder for worktrees; empty: beside the database."""
    idle_seconds: int = 60
    """An interactive client whose screen stands still for so long waits for a person."""
    agent_tasks: str = _ASK
    """What becomes of a task that an agent queues: ask (it waits for a person), run, or off (it is refused)."""
    commands: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """client -> the words it is called with instead of its own."""

    @property
    def agents_may(self) -> bool:
        """Whether agents may queue tasks."""
        return self.agent_tasks != _OFF

    @property
    def agents_ask(self) -> bool:
        """Whether a person has to let such a task run."""
        return self.agent_tasks == _ASK


_NUMBERS = {"concurrency": (1, 64), "idle_seconds": (5, 3600), "time_limit": (0, 10_080)}
_CHOICES = {"client": CLIENTS, "how": _HOW, "agent_tasks": (_ASK, _RUN, _OFF)}
_NAMES = ("tmux_session", "tmux_socket", "worktrees")


def load() -> Dispatch:
    """The table, checked. Raises NmemError."""
    values: dict[str, Any] = {}  # each is checked by its name
    commands: dict[str, tuple[str, ...]] = {}
    for name, value in file.table("dispatch").items():
        if name in ("commands", "interactive_commands"):
            commands |= _commands(name, value)
        else:
            values[name] = _value(name, value)
    return Dispatch(**values, commands=commands)


def _value(name: str, value: object) -> object:
    if name in _NUMBERS:
        low, high = _NUMBERS[name]
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise _wrong(name, f"a whole number from {low} to {high}")
        return value * 60 if name == "time_limit" else value
    if name in _CHOICES:
        if value not in _CHOICES[name]:
            raise _wrong(name, " or ".join(_CHOICES[name]))
        return value
    if not isinstance(value, str):
        raise _wrong(name, "a text")
    if name == "quiet_hours":
        try:
            return hours.quiet(value)
        except NmemError as error:
            raise NmemError(f"config.toml: [dispatch] {name}: {error}") from None
    if name in _NAMES:
        if name.startswith("tmux") and any(sign in value for sign in ":./\0"):
            raise _wrong(name, "a name without : . and /")
        return value
    raise NmemError(f"config.toml: [dispatch] has no {name}: it has {', '.join(_ALL)}")


_ALL = (*_NUMBERS, *_CHOICES, *_NAMES, "quiet_hours", "commands", "interactive_commands")


def _commands(name: str, value: object) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, dict):
        raise _wrong(name, 'a table: claude = ["claude", "-p", "{prompt}"]')
    out = {}
    for client, words in value.items():
        if client not in CLIENTS:
            raise NmemError(f"config.toml: [dispatch.{name}] has no {client}: it has {', '.join(CLIENTS)}")
        if not isinstance(words, list) or not words or not all(isinstance(word, str) and word for word in words):
            raise _wrong(f"{name}.{client}", "a list of words")
        out[client if name == "commands" else f"{client} interactive"] = tuple(words)
    return out


def _wrong(name: str, wanted: str) -> NmemError:
    return NmemError(f"config.toml: [dispatch] {name} must be {wanted}")
