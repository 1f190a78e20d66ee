"""A model as judge of episode boundaries: `judge` of `nmem.episodes.detect`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nmem.episodes import features
from nmem.episodes.boundary import Decision, four_way
from nmem.llm.ask import Desk
from nmem.llm.backend import Cancel, Failure
from nmem.llm.session_prompt import CUT, Start, Turn, judge

_FILES = 8
_OFFERED = 0.25
"""How sure of a start the model must be for the person to be asked about it."""
_WHY = ("model",)


class Segmenter:
    """Judges a whole session in one question; None upon any failure, which is kept in `failure`."""

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
            judged = judge(self.desk, [turn(prompt) for prompt in prompts], self.cancel).value
        except Failure as failure:
            self.failure = failure
            return None
        return decisions(judged.starts, prompts) if judged.starts is not None else None


def turn(prompt: Mapping[str, Any]) -> Turn:
    """A prompt with its pause and what the agent did after it, in a line each."""
    agent = prompt.get("agent") or {}
    files = ["/".join(str(path).replace("\\", "/").split("/")[-2:]) for path in agent.get("files") or []]
    more = f" (+{len(files) - _FILES} more)" if len(files) > _FILES else ""
    did = [
        ", ".join(agent.get("events") or []),
        f"files: {', '.join(files[:_FILES])}{more}" if files else "",
        ", ".join(f"{name} {count}" for name, count in (agent.get("tools") or {}).items()),
    ]
    gap = float(prompt.get("gap_minutes") or 0)
    return Turn(str(prompt.get("text") or ""), gap, [line for line in did if line], str(agent.get("said") or ""))


def decisions(starts: Sequence[Start], prompts: Sequence[Mapping[str, Any]]) -> list[Decision]:
    """The model's starts as decisions: a sure one is cut, a likely one is offered to the person."""
    found = {start.at: start for start in starts}
    return [_decision(found.get(at), str(prompt.get("text") or "")) for at, prompt in enumerate(prompts)]


def _decision(start: Start | None, text: str) -> Decision:
    sure = start.sure if start else 0.0
    cut, offer = sure >= CUT, _OFFERED <= sure < CUT
    label = four_way(cut, offer, features.form(text))
    return Decision(cut, offer, sure, label, _WHY, resumes=start.resumes if start and cut else None)
