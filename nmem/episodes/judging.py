"""Asks a language model for a session's episode boundaries and stories in one question, and stores the answer.

What the answer has of use is taken: boundaries without stories, stories without boundaries. A story is kept for an
episode of exactly the turns that the model told.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from sqlite3 import Connection
from typing import Any

from capture.redaction.settings import Within
from capture.storage.store import called, transaction
from nmem.episodes import detect, features, material, narrations, units
from nmem.episodes.boundary import Decision, Detector, four_way
from nmem.episodes.storytelling import ABOUT_THE_PLACE, Teller
from nmem.llm import Cancel, Failure
from nmem.llm.ask import Asked, Desk
from nmem.llm.session_prompt import CUT, Judged, Start, Turn, judge

Decided = Callable[[Connection, str, list[tuple[Sequence[int], str]]], object]
"""Keeps decisions that the model found: the database, the session, and (prompts, the person's words) of each."""


def judge_session(teller: Teller, session_id: str, holds: str, detector: Detector, decided: Decided) -> bool:
    """Ask about one session, once for what it holds; whether the answer was of use. Raises sqlite3.Error."""
    if teller.desk is None or not teller.asking:
        return False
    shown = material.read(teller.db, session_id)
    opens = _opens(teller.db, session_id, shown)
    subject = f"{narrations.SESSION}{session_id}"
    try:
        with Within(() if teller.examples else called(teller.db, session_id)):  # examples are of any project
            asked = judge(teller.desk, shown.turns, teller.cancel, opens or (0,), teller.examples)
    except Failure as failure:
        teller.failed(failure, subject, holds)
        for unit in units.of_session(teller.db, session_id):
            teller.says_why(unit.id, str(failure), again=failure.kind in ABOUT_THE_PLACE)
        return False
    teller.answered()
    with transaction(teller.db):
        narrations.attempted(teller.db, subject, holds, "judged", teller.clock())
    _cut(teller, session_id, asked.value, shown, detector)
    _stories(teller, session_id, asked, shown, decided)
    return True


def _opens(db: Connection, session_id: str, shown: material.Shown) -> list[int]:
    where = {number: at for at, ids in enumerate(shown.ids) for number in ids}
    found = {where[unit.first_prompt_id] for unit in units.of_session(db, session_id) if unit.first_prompt_id in where}
    return sorted(found)


def _cut(teller: Teller, session_id: str, judged: Judged, shown: material.Shown, detector: Detector) -> None:
    """The boundaries into the database; what a person or the agent decided stands."""
    if judged.starts is None or len(shown.turns) < 2:
        return
    made = decisions(judged.starts, shown.history)
    if detect.session(teller.db, session_id, detector, "llm", lambda _prompts: made, close=True):
        for unit_id in narrations.untold_of(teller.db, [session_id]):
            teller.extract(unit_id)


def _stories(teller: Teller, session_id: str, asked: Asked[Judged], shown: material.Shown, decided: Decided) -> None:
    judged = asked.value
    at = {narrations.prompts(teller.db, unit.id): unit for unit in units.of_session(teller.db, session_id)}
    for first, end in _told(judged).items():
        unit = at.get(frozenset(number for ids in shown.ids[first:end] for number in ids))
        if unit is None or unit.state != units.CLOSED:
            continue
        if first in judged.stories:
            teller.keep_told(unit.id, judged.stories[first], asked.model)
            quotes = judged.stories[first].decided
            decided(teller.db, session_id, [(shown.ids[at], words) for at, words in quotes])
        else:
            teller.says_why(unit.id, judged.refused.get(first, ""))


def _told(judged: Judged) -> Mapping[int, int]:
    if judged.starts is None:
        return judged.ends
    cuts = {one.at for one in judged.starts if one.sure >= CUT}
    return {first: end for first, end in judged.ends.items() if first in cuts}


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
