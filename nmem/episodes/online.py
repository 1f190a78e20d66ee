"""The decision on a prompt when it arrives: from the prompt and what came before it, read back from the database."""

from __future__ import annotations

from capture.storage.store import transaction
from nmem.episodes import boundary, history, units
from nmem.episodes import features as ft
from nmem.episodes import text as tx
from nmem.episodes.boundary import first, load
from nmem.episodes.units import Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from nmem.episodes.boundary import Decision, Detector
    from nmem.episodes.features import Agent
    from nmem.episodes.history import Turn


def arrived(db: Connection, session_id: str, path: str = "") -> None:
    """Put the session's newest prompts into their episodes, opening one where the intent changes.

    `path` is the database's, where the person's own weights may lie. Nothing happens when all are in one already.
    """
    turns = history.recent(db, session_id)
    todo = missing(db, turns)
    if not todo:
        return
    placed = [_placed(db, turns, at, number, path) for at, number in todo]
    with transaction(db):
        for number, decision in placed:
            if units.of_prompt(db, number) is None:  # the same hook may be registered twice
                _place(db, number, decision)


def missing(db: Connection, turns: list[Turn]) -> list[tuple[int, int]]:
    """(index of the turn, prompt) of the prompts that are in no episode yet."""
    numbers = [number for turn in turns for number in turn["ids"]]
    held = ",".join(map(str, numbers))
    known = {row[0] for row in db.execute(f"SELECT prompt_id FROM unit_prompts WHERE prompt_id IN ({held})")}  # noqa: S608
    return [(at, number) for at, turn in enumerate(turns) for number in turn["ids"] if number not in known]


def _placed(db: Connection, turns: list[Turn], at: int, number: int, path: str) -> tuple[int, Decision | None]:
    """What is decided about one prompt; None for one that only belongs to the turn or to the past."""
    turn = turns[at]
    if number != turn["ids"][0] or _overtaken(db, turns, at):
        return number, None
    if not at or units.latest(db, turn_session(db, number)) is None:
        return number, None if at else first()
    return number, decide(db, turns, at, load(path), "online" if at == len(turns) - 1 else "revised")


def turn_session(db: Connection, prompt_id: int) -> str:
    """The session of a prompt."""
    return str(db.execute("SELECT session_id FROM prompts WHERE id = ?", (prompt_id,)).fetchone()[0])


def _overtaken(db: Connection, turns: list[Turn], at: int) -> bool:
    """Whether a later prompt is in an episode already: then this one came late, and whole detection sorts it out."""
    return any(units.of_prompt(db, turn["ids"][0]) is not None for turn in turns[at + 1 :])


def _place(db: Connection, number: int, decision: Decision | None) -> None:
    """Open an episode with a prompt, or put it where the prompt before it is."""
    into = _before(db, turn_session(db, number), number)
    if into is None:
        units.start(db, number, verdict(first(), units.FIRST))
    elif decision is None:
        units.append(db, number, into, Verdict(units.CONT, units.ONLINE, reason="said during a turn"))
    elif decision.cut:
        units.start(db, number, verdict(decision, units.ONLINE), decision.resumes)
    else:
        units.append(db, number, into, verdict(decision, units.ONLINE))


def _before(db: Connection, session_id: str, prompt_id: int) -> int | None:
    """The episode of the newest assigned prompt before this one; that of the first one when there is none."""
    row = db.execute(
        "SELECT u.unit_id FROM prompts p JOIN unit_prompts u ON u.prompt_id = p.id JOIN prompts n ON n.id = ?"
        " WHERE p.session_id = ? AND p.source = 'user'"
        " ORDER BY (p.at, p.id) > (n.at, n.id), abs(p.at - n.at), p.id DESC LIMIT 1",
        (prompt_id, session_id),
    ).fetchone()
    return int(row[0]) if row else None


def decide(db: Connection, turns: list[Turn], at: int, detector: Detector, kind: str) -> Decision:
    """The verdict on one of the newest turns; `resumes` is an episode's id here."""
    turn = turns[at]
    past = ft.Past(detector.common)
    past.read(turns[:at])
    return boundary.verdict(kind, turn, past, detector, lambda text, agent: _resumed(db, turn, text, agent, detector))


def _resumed(db: Connection, turn: Turn, text: str, agent: Agent, detector: Detector) -> int | None:
    """The first episode of the goal that a turn returns to; reads the session's words, which only a cut is worth."""
    session_id, number = turn_session(db, turn["id"]), turn["ids"][0]
    if units.others(db, session_id, number) < 2:
        return None  # nothing to return to but what is being left
    from nmem.episodes.resumption import Goals

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
