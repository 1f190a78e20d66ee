"""The five labels of an observation in words."""

from __future__ import annotations

from collections.abc import Sequence

from nmem.text import pad
from nmem_tui.model.line import Line

POLES = {
    "phase": ("think", "act"),
    "scope": ("diverge", "converge"),
    "locus": ("internal", "external"),
    "novelty": ("routine", "novel"),
    "friction": ("smooth", "friction"),
}
"""Each dimension: the word below zero, and the one from zero on."""
UNLABELLED = frozenset(("session_start", "session_resume", "session_clear", "session_compact", "marker"))
"""Rows that are no calls."""
CELLS = 15
"""What phase and scope take."""
MORE = 10
"""What the telling pole of another dimension takes."""


def word(dimension: str, score: float | None) -> str:
    """The word for a score; `~` where the model abstains."""
    return "~" if score is None else POLES[dimension][score >= 0]


def sure(score: float | None) -> str:
    """How sure a score is, in words."""
    if score is None:
        return "not clear"
    size = abs(score)
    return "sure" if size >= 0.9 else "fairly sure" if size >= 0.6 else "not sure"


def by_person(labelled_by: str) -> frozenset[str]:
    """The dimensions that a person set, from who labelled a row."""
    named = labelled_by.partition("+")[2]
    return frozenset(named.split(",")) & frozenset(POLES)


def told(labels: Sequence[float | None]) -> Line:
    """Phase and scope, then only what is out of the ordinary: external, novel, friction; the ordinary is quiet."""
    if len(labels) != len(POLES):
        return []
    phase, scope, *others = labels
    wide = scope is not None and scope < 0
    line: Line = [(pad(word("phase", phase), 6), "quiet"), (pad(word("scope", scope), 9), "text" if wide else "quiet")]
    for (name, (_, telling)), score in zip(list(POLES.items())[2:], others, strict=True):
        if score is not None and score >= 0:
            line.append((f"{telling} ", "warn" if name == "friction" else "quiet"))
    return line


def columns(labels: Sequence[float | None], cells: int) -> Line:
    """The words in exactly `cells` cells."""
    line = told(labels)
    used = 0
    out: Line = []
    for text, tone in reversed(line[2:]):  # friction before novel, novel before external
        if CELLS + used + len(text) <= cells:
            out.insert(0, (text, tone))
            used += len(text)
    head = line[:2] if cells >= CELLS else []
    blank = cells - used - (CELLS if head else 0)
    return [*head, *out, (" " * max(0, blank), "text")]
