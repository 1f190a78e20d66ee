"""A model as judge of where episodes begin: what `nmem.episodes.detect` takes as `judge`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nmem.episodes.boundary import Decision
from nmem.llm.ask import Desk
from nmem.llm.backend import Cancel, Failure
from nmem.llm.boundaries_prompt import Boundaries, Turn, boundaries

_FILES = 8
_WHY = ("model",)


class Segmenter:
    """Judges a whole session in one call; None upon any failure, which is kept in `failure`."""

    def __init__(self, desk: Desk, cancel: Cancel | None = None) -> None:
        self.desk = desk
        self.cancel = cancel or Cancel()
        self.failure: Failure | None = None
        """Of the newest session, when there was no usable answer."""

    def __call__(self, prompts: Sequence[Mapping[str, Any]]) -> list[Decision] | None:
        """One decision a prompt; prompts as `nmem.episodes.history` gives them."""
        self.failure = None
        if len(prompts) < 2:
            return None  # there is nothing to judge
        try:
            judged = boundaries(self.desk, [turn(prompt) for prompt in prompts], self.cancel).value
        except Failure as failure:
            self.failure = failure
            return None
        return decisions(judged)


def turn(prompt: Mapping[str, Any]) -> Turn:
    """A prompt with its pause and what the agent did after it, in a line each."""
    agent = prompt.get("agent") or {}
    tools = ", ".join(f"{name} {count}" for name, count in (agent.get("tools") or {}).items())
    files = ", ".join((agent.get("files") or [])[:_FILES])
    events = ", ".join(agent.get("events") or [])
    did = "; ".join(part for part in (events, files, tools) if part)
    gap = prompt.get("gap_minutes")
    return Turn(str(prompt.get("text") or ""), float(gap or 0), did, str(agent.get("said") or ""))


def decisions(judged: Boundaries) -> list[Decision]:
    """The model's labels as decisions; nothing is offered to the person, because somebody has judged it."""
    return [
        Decision(
            cut=label == "new", offer=False, probability=1.0 if label == "new" else 0.0, label=label,
            why=_WHY, resumes=judged.resumes.get(index),
        )
        for index, label in enumerate(judged.labels)
    ]  # fmt: skip
