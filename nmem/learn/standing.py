"""Decides the state of a pattern: resolved once fixed and gone, open again if it recurs.

Played from the first session to the newest, so it does not matter when it is looked at. A pattern is resolved when it
was put right at least once and has stayed away long enough: three times the usual distance between its occurrences,
in sessions that could have met it, and at least five; for a command that passes by now, in sessions that ran it, and
at least three.
"""

from __future__ import annotations

from math import ceil

from nmem.learn.find import COMMAND
from nmem.learn.learning import OPEN, RESOLVED
from nmem.learn.patterns import STRONG, Pattern, Project

TIMES = 3.0
SESSIONS, RUNS = 5, 3


def settle(pattern: Pattern, project: Project) -> None:
    """Say of a pattern whether it is resolved, since when, and how often it came back."""
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
