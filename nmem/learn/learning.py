"""Records for display: a learning, its remedy, its evidence, and a warning; names of kinds and states."""

from __future__ import annotations

from dataclasses import dataclass

FAILED_COMMAND = "failed_command"
RECURRING_ERROR = "recurring_error"
REPEATED_INTENT = "repeated_intent"
UNRESOLVED_READ = "unresolved_read"
STUCK_LOOP = "stuck_loop"
CORRECTION = "correction"
SKILL = "skill"

AGAIN = "Reported again: "
"""How the title of a trouble begins that was reported before."""

OPEN, ACCEPTED, DISMISSED, SNOOZED, RESOLVED = "open", "accepted", "dismissed", "snoozed", "resolved"
STATES = (OPEN, ACCEPTED, DISMISSED, SNOOZED, RESOLVED)
WEAK = "weak"
"""One session short of a pattern: listed only where somebody asks for such, and never the cause of a warning."""
PERSON, EVIDENCE = "person", "evidence"
"""Who said the state."""
OCCURRENCE, FIX = "occurrence", "fix"
"""The roles of evidence."""


@dataclass(frozen=True, slots=True)
class Remedy:
    """What changed between a failing run and the passing one after it."""

    kind: str
    """spelling: another command does it; command: something run in between; edit: files changed in between; steps:
    the commands of a skill, in their order."""
    text: str
    """In a short sentence."""
    files: tuple[str, ...]
    commands: tuple[str, ...]
    observation_ids: tuple[int, ...]
    """What was done in between, then the passing run."""
    confidence: float
    """0 to 1: more of the failures ended this way."""
    times: int
    """In how many sessions it was seen."""


@dataclass(frozen=True, slots=True)
class Learning:
    """One pattern across sessions, and where it stands."""

    id: int
    project_id: int
    project: str
    kind: str
    key: str
    title: str
    files: tuple[str, ...]
    first_at: int
    last_at: int
    sessions: int
    occurrences: int
    heat: int
    """0 to 100: see nmem.learn.read."""
    state: str
    state_at: int | None
    state_by: str
    snoozed_until: int | None
    reopened: int
    """How often it came back after it was resolved."""
    remedy: Remedy | None
    rule: str
    weeks: tuple[tuple[int, int], ...]
    """Monday 00:00 UTC in milliseconds -> occurrences in that week; oldest first, weeks without any left out."""
    members: tuple[int, ...] = ()
    """Across projects: the ids of the learnings it stands for, the hottest first."""
    projects: tuple[str, ...] = ()
    """Across projects: where it was met."""
    worked_at: int = 0
    """When something was done in its project last; 0: nothing is known of that."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One place where a pattern was met, or put right."""

    role: str
    """occurrence or fix."""
    session_id: str
    observation_id: int | None
    prompt_id: int | None
    unit_id: int | None
    at: int
    excerpt: str
    command: str
    """What was called: the command, else the tool and its file; empty for an intent, or when it was forgotten."""
    outcome: str


@dataclass(frozen=True, slots=True)
class Warned:
    """A learning that an episode runs into again."""

    learning: Learning
    reason: str
    at: int
