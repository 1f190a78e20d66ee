"""Decides for one of the newest turns whether an episode begins there, by the method that config.toml names.

    [episodes]
    method = "default"                     # or "jaccard": the plain rule of keyword bags

What cannot be read leaves the default in force.
"""

from __future__ import annotations

from capture import config_table
from nmem.episodes import boundary, history, units
from nmem.episodes import features as ft
from nmem.episodes import text as tx
from nmem.episodes.boundary import load
from nmem.episodes.units import Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from nmem.episodes.boundary import Decision, Detector
    from nmem.episodes.features import Agent
    from nmem.episodes.history import Turn

    Form = tuple[str, list[str]]

__all__ = ["decide", "load", "verdict"]


def decide(db: Connection, turns: list[Turn], at: int, detector: Detector, kind: str) -> Decision:
    """The verdict on one of the newest turns; `resumes` is an episode's id here."""
    turn = turns[at]
    if method() == "jaccard":
        return boundary.jaccard(turns[: at + 1])[-1]
    past = ft.Past(detector.common, detector.words)
    past.read(turns[:at])

    def resumed(text: str, agent: Agent) -> int | None:
        return _resumed(db, turn, text, agent, detector)

    return boundary.verdict(kind, turn, past, detector, resumed, turns[at + 1 :])


def _resumed(db: Connection, turn: Turn, text: str, agent: Agent, detector: Detector) -> int | None:
    """The first episode of the goal that a turn returns to; reads the session's words, which only a cut is worth."""
    session_id, number = units.prompt(db, turn["id"])[0], turn["ids"][0]
    if units.others(db, session_id, number) < 2:
        return None  # nothing to return to but what is being left
    from nmem.episodes.resumption import Goals  # on use: start-up stays short

    goals = Goals(detector.common)
    opened: dict[int, int] = {}
    where = {prompt.id: prompt.unit_id for prompt in units.prompts_of_session(db, session_id)}
    named = bool(agent.get("files") or tx.file_mentions(text[: ft.INTENT_CHARS]))
    for earlier in history.spoken(db, session_id, named):
        if earlier["id"] == turn["id"]:
            break
        unit_id = where.get(earlier["ids"][0])
        if unit_id is not None:
            if unit_id not in opened:
                opened[unit_id] = units.goal(db, unit_id)
            goals.follow(opened[unit_id], earlier["text"], earlier["agent"])
    return goals.resumed(text, agent)


def verdict(decision: Decision, by: str) -> Verdict:
    """A decision as it is stored."""
    return Verdict(decision.label, by, decision.probability, decision.reason(), decision.offer)


METHODS = ("default", "jaccard")


def method() -> str:
    """How prompts are divided into episodes; never raises."""
    return config_table.load("episodes", (str, [str]), form, _unread)[0]


def _unread(trouble: str) -> Form:
    return METHODS[0], [trouble]


def form(document: dict[str, object], file: str = "config.toml") -> Form:
    """The [episodes] table of a document as (method, what is wrong with it)."""
    section = document.get("episodes", {})
    if not isinstance(section, dict):
        return METHODS[0], [f"{file}: [episodes] is not a table"]
    trouble = [f"{file}: episodes.{key} is not known" for key in section if key != "method"]
    found = section.get("method", METHODS[0])
    if found not in METHODS:
        trouble.append(f"{file}: episodes.method must be one of {', '.join(METHODS)}")
        found = METHODS[0]
    return str(found), trouble
