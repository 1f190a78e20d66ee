"""Decisions to link threads, how sure nmem is of them and why; refits of the formula."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from nmem.text import json_object

LINK, DONT_LINK = "link", "dont_link"
CORRECT, INCORRECT = "correct", "incorrect"
PERSON, FILES, WORDS = "person", "files", "words"
BRANCH, ISSUE = "branch", "issue"
"""Components that say more than a likeness: 1 on one feature branch; the number of the issue that both open with."""
CERTAIN, LIKELY, POSSIBLE, UNSURE = "certain", "likely", "possible", "unsure"
AT_PROMPT = "ratio"
"""The component that only a decision has that was made when the prompt arrived (nmem.threads.arrival)."""


def surety(linked: bool, certainty: str, components: Mapping[str, float], agreement: bool | None) -> tuple[str, str]:
    """(how sure nmem is, by what) of a decision that nobody confirmed, in a person's words; of no link the first alone.

    A likeness is never certain: two chores on one branch, or in one hour on the same files, may be two things.
    """
    if not linked:
        return (UNSURE if certainty == "uncertain" else CERTAIN), ""
    if issue := components.get(ISSUE):
        return CERTAIN, f"both open with #{issue:.0f}"
    reasons = ["one branch"] if components.get(BRANCH) else []
    if agreement:
        reasons.append("a model agrees")
    alike = sorted((-components.get(name, 0.0), why) for name, why in _ALIKE.items())
    reasons += [why for value, why in alike if -value >= _TELLS][: 2 - len(reasons)]
    if not reasons and alike[0][0] < 0:
        reasons = [alike[0][1]]
    return (POSSIBLE if certainty == "uncertain" else LIKELY), ", ".join(reasons)


_ALIKE = {
    "keywords": "shared words", "entities": "shared names", "files": "words of its files", "topic": "one subject",
    "recency": "close in time", AT_PROMPT: "found by the first prompt",
}  # fmt: skip
_TELLS = 0.3
"""From which on a component (0 to 1) is told as a reason."""


class Decision(NamedTuple):
    """One recorded decision, with the scores behind it and what came of it."""

    id: int
    at: int
    earlier_thread_id: int
    later_thread_id: int
    algorithmic_score: float
    components: dict[str, float]
    llm_related: bool | None
    llm_confidence: float | None
    llm_reasoning: str
    decision: str
    """link or dont_link."""
    certainty: str
    """high, likely or uncertain: of the last a person is asked."""
    agreement: bool | None
    """Did algorithm and model say the same? None without a model."""
    outcome: str
    """correct, incorrect, or empty while nobody knows."""
    outcome_by: str
    outcome_at: int | None
    summary: str

    @property
    def awaits(self) -> bool:
        """Does it stand as the prompt decided it, and awaits settling? What a person said awaits nothing."""
        return AT_PROMPT in self.components and self.outcome_by != PERSON

    @property
    def asked(self) -> bool:
        """Whether a person should say what it is."""
        return self.certainty == "uncertain" and self.outcome_by != PERSON

    @property
    def linked(self) -> bool:
        """Do the two threads count as one line of work, after what the person said?"""
        reversed_ = self.outcome_by == PERSON and self.outcome == INCORRECT
        return (self.decision == LINK) != reversed_

    @property
    def related(self) -> bool | None:
        """The truth as far as the outcome tells it."""
        return None if not self.outcome else (self.decision == LINK) == (self.outcome == CORRECT)


def numbers(components: str) -> dict[str, float]:
    """The stored components of a score."""
    return {name: float(value) for name, value in json_object(components).items() if isinstance(value, int | float)}


class Tuning(NamedTuple):
    """One re-fitting, adopted or not."""

    id: int
    at: int
    before: dict[str, Any]
    after: dict[str, Any]
    reason: str
    metrics: dict[str, Any]

    @property
    def adopted(self) -> bool:
        """Is `after` in force since?"""
        return bool(self.metrics.get("adopted"))


class Head(NamedTuple):
    """A thread as far as linking knows it."""

    id: int
    project_id: int
    title: str
    created_at: int
    micro: str
    meso: str
