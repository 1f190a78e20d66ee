"""Dataclasses of the narrator: an episode's prompts, answers and tool calls go in, its Narrative comes out."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

_ASKS_TERMINAL = re.compile(r"(?:\[[yY]/[nN]\]|\([yY](?:es)?/[nN]o?\)|\[yes/no\])\W*$")
FAILED = "failed"
OK = "ok"
UNKNOWN = "unknown"
_NEVER = 1 << 62
SILENT = "No response requested."
"""What a client writes where a turn ended without an answer."""


@dataclass(slots=True)  # not frozen, as actions: to make one takes a third of the time, and a session has hundreds
class Saying:
    """Something said. `at` in ms.

    `kind`: prompt late command (user) | thinking closing subagent summary title (agent).
    """

    at: int
    kind: str
    text: str


@dataclass(slots=True)
class Action:
    """One observation: a tool call with what came of it. `at` in ms."""

    at: int
    obs_type: str
    content: str = ""
    outcome: str = "unknown"
    tool_name: str = ""
    file_path: str = ""
    exit_code: int | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)

    @property
    def response(self) -> str:
        """What the tool answered, as far as it was kept."""
        found = self.metadata.get("response")
        return found if isinstance(found, str) else ""

    @property
    def refused(self) -> bool:
        """The user said no: nothing was run. A time-out or a client that cancels its own call is no refusal."""
        if not self.metadata:
            return False
        text = self.response[:120]
        said = self.metadata.get("refused") == "user" and not text.startswith("[Operation Cancelled]")
        return said or "user doesn't want to proceed" in text

    @property
    def halted(self) -> bool:
        """It was refused or broken off: its outcome says nothing about the work."""
        return bool(self.metadata) and self._stopped()

    def _stopped(self) -> bool:
        return self.refused or self.metadata.get("interrupted") is True or bool(self.metadata.get("refused"))

    @property
    def waited(self) -> str:
        """The question that it put to the terminal and waited for; "" when there is none."""
        if not self.metadata:
            return ""
        last = self.response.rstrip().rsplit("\n", 1)[-1].strip()
        return last[-160:] if _ASKS_TERMINAL.search(last) else ""

    def told(self, key: str) -> Mapping[str, object]:
        """A metadata object (commit, push, tests), empty when there is none."""
        found = self.metadata.get(key)
        return found if found and isinstance(found, Mapping) else {}


@dataclass(frozen=True)
class Episode:
    """One work unit: what the user asked, what the agent said and did, each in order of time."""

    prompts: tuple[Saying, ...] = ()
    sayings: tuple[Saying, ...] = ()
    actions: tuple[Action, ...] = ()
    root: str = ""
    """The project's folder: paths that a tool gave absolutely are told relative to it."""
    before: str = ""
    """The agent's last text before the episode: what a bare "yes" agrees to."""
    going_on: bool = False
    """It is open: how far it came is not how it ended."""
    stops: tuple[int, ...] = ()
    """When the user broke a turn off, in ms."""

    def turn(self, at: int) -> int:
        """The number of the user prompt that a moment belongs to; -1 before the first."""
        return bisect_right(self._asked_at, at) - 1

    @cached_property
    def _asked_at(self) -> list[int]:
        return [prompt.at for prompt in self.prompts]

    def closings(self) -> list[Saying]:
        """What the agent answered the user; the last words of a turn that was broken off are no answer."""
        return self._closings[:]

    @cached_property
    def _closings(self) -> list[Saying]:
        said = [one for one in self.sayings if one.kind == "closing" and one.text.strip() != SILENT]
        after = [*(one.at for one in said), _NEVER][1:]
        return [one for one, end in zip(said, after, strict=True) if not self.stopped(one.at, end)]

    def said_after(self, at: int, until: int = _NEVER) -> list[Saying]:
        """What the agent said after a moment, in answers and on the way, until another one; both in ms."""
        return self._said[bisect_right(self._said_at, at) : bisect_right(self._said_at, until)]

    @cached_property
    def _said(self) -> list[Saying]:
        return [one for one in self.sayings if one.kind in ("thinking", "closing")]

    @cached_property
    def _said_at(self) -> list[int]:
        return [one.at for one in self._said]

    def calls_between(self, since: int, until: int = _NEVER) -> int:
        """How many calls came after a moment and before another one; both in ms."""
        return max(0, bisect_left(self._acted_at, until) - bisect_right(self._acted_at, since))

    @cached_property
    def _acted_at(self) -> list[int]:
        return sorted(one.at for one in self.actions)

    def stopped(self, since: int, end: int = _NEVER) -> bool:
        """Whether the user broke a turn off between a moment in it and `end`, both in ms."""
        if not self.stops:
            return False
        end = min([end, *(prompt.at for prompt in self.prompts if prompt.at > since)])
        return any(since <= stop < end for stop in self.stops)


@dataclass(frozen=True, slots=True)
class Narrative:
    """The story of an episode in short sentences; every list may be empty, every string may be ""."""

    intent: str = ""
    title: str = ""
    """What it is called, made of its records: see nmem.episodes.titles."""
    learned: list[str] = field(default_factory=list)
    """Causes, findings and decisions, quoted from what the agent said or from answered questions."""
    completed: list[str] = field(default_factory=list)
    """Work that stands at the end of the episode; nothing that was undone."""
    next_steps: list[str] = field(default_factory=list)
    files_read: list[str] = field(default_factory=list)
    files_edited: list[str] = field(default_factory=list)
    """Files whose change stands at the end, in the order of their first change."""
    notes: list[str] = field(default_factory=list)
    """What failed and what made it pass, corrections by the user, work that was given up."""
    outcome: str = ""
    obstacle: str = ""
    """The main one, or "" when the work met none."""
    marks: list[str] = field(default_factory=list)
    """How it ended, for a machine: committed pushed pull_request tests_passed tests_failed uncommitted abandoned
    interrupted cut_off unfinished commands scripts answered confirmed."""
    narrator: str = "extractive"
