"""Decides at a prompt whether an episode begins: from the prompt and the earlier rows in the database."""

from __future__ import annotations

from capture.storage.store import transaction
from nmem.episodes import history, units
from nmem.episodes.units import Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from nmem.episodes.history import Turn

    Placed = tuple[int, Verdict | None, int | None]
    """A prompt, what was decided about it (nothing of one that only belongs to the turn or to the past), and the
    episode that it resumes."""


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
        for number, decided, resumes in placed:
            if units.of_prompt(db, number) is None:  # the same hook may be registered twice
                _place(db, number, decided, resumes)


def missing(db: Connection, turns: list[Turn]) -> list[tuple[int, int]]:
    """(index of the turn, prompt) of the prompts that are in no episode yet."""
    numbers = [number for turn in turns for number in turn["ids"]]
    held = ",".join(map(str, numbers))
    known = {row[0] for row in db.execute(f"SELECT prompt_id FROM unit_prompts WHERE prompt_id IN ({held})")}  # noqa: S608
    return [(at, number) for at, turn in enumerate(turns) for number in turn["ids"] if number not in known]


def _placed(db: Connection, turns: list[Turn], at: int, number: int, path: str) -> Placed:
    turn = turns[at]
    if number != turn["ids"][0] or _overtaken(db, turns, at):
        return number, None, None
    if not at or units.latest(db, units.session_of_prompt(db, number)) is None:
        return number, None if at else _opening(units.ONLINE), None
    from nmem.preload import LATER, more  # on use: start-up stays short

    more(LATER)
    from nmem.episodes.weigh import decide, load, verdict  # on use: half of the cost, and a first prompt has none

    decision = decide(db, turns, at, load(path), "online" if at == len(turns) - 1 else "revised")
    return number, verdict(decision, units.ONLINE), decision.resumes


def _opening(by: str) -> Verdict:
    """A session's first prompt opens an episode, whatever it says."""
    return Verdict(units.NEW, by, 1.0, "first prompt")


def _overtaken(db: Connection, turns: list[Turn], at: int) -> bool:
    """Whether a later prompt is in an episode already: then this one came late, and whole detection sorts it out."""
    return any(units.of_prompt(db, turn["ids"][0]) is not None for turn in turns[at + 1 :])


def _place(db: Connection, number: int, decided: Verdict | None, resumes: int | None) -> None:
    """Open an episode with a prompt, or put it where the prompt before it is."""
    into = _before(db, units.session_of_prompt(db, number), number)
    if into is None:
        units.start(db, number, _opening(units.FIRST))
    elif decided is None:
        units.append(db, number, into, Verdict(units.CONT, units.ONLINE, reason="said during a turn"))
    elif decided.label == units.NEW:
        units.start(db, number, decided, resumes)
    else:
        units.append(db, number, into, decided)


def _before(db: Connection, session_id: str, prompt_id: int) -> int | None:
    """The episode of the newest assigned prompt before this one; that of the first one when there is none."""
    row = db.execute(
        "SELECT u.unit_id FROM prompts p JOIN unit_prompts u ON u.prompt_id = p.id JOIN prompts n ON n.id = ?"
        " WHERE p.session_id = ? AND p.source = 'user'"
        " ORDER BY (p.at, p.id) > (n.at, n.id), abs(p.at - n.at), p.id DESC LIMIT 1",
        (prompt_id, session_id),
    ).fetchone()
    return int(row[0]) if row else None
