"""Patterns over several sessions: the Pattern record, its parts, the thresholds, and whether it is resolved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil

from nmem.learn.find import COMMAND, Finding
from nmem.learn.learning import OPEN, RESOLVED, WEAK, Remedy

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


TIMES = 3.0
SESSIONS, RUNS = 5, 3


def settle(pattern: Pattern, project: Project) -> None:
    """Say of a pattern whether it is resolved, since when, and how often it came back.

    What was put right and has not come back is resolved; what comes back is open again. Played from the first session
    to the newest, so it does not matter when it is looked at. A pattern is resolved when it was put right at least once
    and has stayed away long enough: three times the usual distance between its occurrences, in sessions that could have
    met it, and at least five; for a command that passes by now, in sessions that ran it, and at least three.
    """
    if not pattern.fixes:
        return
    met = set(pattern.sessions)
    passed = _passed(pattern, project) - met
    least = RUNS if passed else SESSIONS
    clean, gaps, seen = 0, [], 0
    for session_id, began in project.sessions:
        if session_id in met:
            if seen:
                gaps.append(clean + 1)
            if pattern.state == RESOLVED:
                pattern.reopened += 1
                pattern.state, pattern.state_at = OPEN, began
            seen, clean = seen + 1, 0
        elif seen and (not passed or session_id in passed):
            clean += 1
            usual = sum(gaps) / len(gaps) if gaps else 1.0
            if pattern.state == OPEN and seen >= min(STRONG, len(met)) and clean >= max(least, ceil(TIMES * usual)):
                pattern.state, pattern.state_at = RESOLVED, began


def _passed(pattern: Pattern, project: Project) -> set[str]:
    """The sessions in which the pattern's command passes."""
    if not pattern.command:
        return set()
    return {
        session
        for session, one in project.findings
        if one.kind == COMMAND and one.key == pattern.command and one.passes
    }
