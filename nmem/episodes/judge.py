"""A language model as the judge of a whole session, in the words of the detector: one call, and None when it fails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nmem.episodes.boundary import Decision
from nmem.llm.backend import Cancel, Failure
from nmem.llm.boundaries_prompt import Boundaries, Turn, boundaries

if TYPE_CHECKING:
    from nmem.episodes.detect import Judge
    from nmem.llm.ask import Desk

_FILES = 8
_CERTAIN = 0.9


def by_model(desk: Desk, cancel: Cancel | None = None) -> Judge:
    """A judge for `detect.decide`: asks once a session; with no usable answer the default method decides."""

    def judge(prompts: Sequence[Mapping[str, Any]]) -> list[Decision] | None:
        try:
            asked = boundaries(desk, [_turn(prompt) for prompt in prompts], cancel or Cancel())
        except Failure:
            return None
        return decisions(asked.value)

    return judge


def decisions(said: Boundaries) -> list[Decision]:
    """The model's labels as decisions."""
    return [
        Decision(label == "new", False, _CERTAIN if label == "new" else 1 - _CERTAIN, label,
                 ("llm",) if index else ("first",), said.resumes.get(index))
        for index, label in enumerate(said.labels)
    ]  # fmt: skip


def _turn(prompt: Mapping[str, Any]) -> Turn:
    agent = prompt.get("agent") or {}
    calls = [f"{name} {number}" for name, number in (agent.get("tools") or {}).items()]
    files = [str(path).rpartition("/")[2] for path in agent.get("files") or ()]
    did = "; ".join(
        part for part in (", ".join(calls), " ".join(files[:_FILES]), " ".join(agent.get("events") or ())) if part
    )
    return Turn(str(prompt.get("text") or ""), float(prompt.get("gap_minutes") or 0), did, str(agent.get("said") or ""))
