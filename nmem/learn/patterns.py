"""Patterns over several sessions: the Pattern record, its parts, and the thresholds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from nmem.learn.find import Finding
from nmem.learn.learning import OPEN, WEAK, Remedy

THRESHOLD = 3
"""Distinct sessions that make a pattern."""
STRONG = 2
"""Distinct sessions that suffice where the evidence is strong: a stuck stretch in each, or the same remedy in each."""


SHORT = 1
"""So many sessions fewer make what is listed as weak."""


@dataclass(frozen=True)
class Met:
    """One occurrence of a pattern, or what put it right."""

    session_id: str
    at: int
    observation_id: int | None
    prompt_id: int | None
    excerpt: str


@dataclass(frozen=True)
class Asked:
    """An episode as repetition is looked for in it."""

    unit_id: int
    session_id: str
    thread_id: int | None
    prompt_id: int
    at: int
    intent: str
    resumes: bool
    reads: Mapping[str, int]
    edits: Mapping[str, int]
    failures: int
    executed: int
    interrupted: bool


@dataclass(frozen=True)
class Project:
    """All that the sessions of one project say."""

    sessions: Sequence[tuple[str, int]]
    """Ids and when they began, in that order."""
    findings: Sequence[tuple[str, Finding]]
    asked: Sequence[Asked]
    enough: int = THRESHOLD
    """Distinct sessions that make a pattern, as the person has set it."""


@dataclass
class Pattern:
    """A learning as the sessions bear it out, before a person has said anything of it."""

    kind: str
    key: str
    title: str
    met: list[Met]
    """Oldest first."""
    occurrences: int
    files: list[str] = field(default_factory=list)
    fixes: list[Met] = field(default_factory=list)
    remedy: Remedy | None = None
    state: str = OPEN
    state_at: int | None = None
    reopened: int = 0
    command: str = ""
    """The command that fails, where it is one."""

    @property
    def weak(self) -> bool:
        """Whether it is just short of being one."""
        return self.state == WEAK

    @property
    def sessions(self) -> list[str]:
        """The sessions it was met in, each once, in the order of their first occurrence."""
        return list(dict.fromkeys(one.session_id for one in self.met))
