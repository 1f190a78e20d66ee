"""Decides at a prompt whether an episode begins (SQL): from the prompt and the earlier rows in the database.

The decision is revised after the prompt's turn: the turn's work can open an episode, or undo one. Only prompts of which
the first look was unsure are worth that: settling decides all of them again when a session is over.
"""

from __future__ import annotations

from capture.storage.store import transaction
from nmem.episodes import units
from nmem.episodes.units import Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from nmem.episodes.boundary import Decision
    from nmem.episodes.history import Turn

    Placed = tuple[int, Verdict | None, int | None]
    """A prompt, what was decided about it (nothing of one that only belongs to the turn or to the past), and the
    episode that it resumes."""

_STANDING = (units.PERSON, units.AGENT, units.LLM, units.FIRST)
"""Who is not overruled."""
UNSURE = 0.15, 0.5
"""Probabilities of the first look between which a turn can change the verdict: 203 of 211 changes in 2,179 turns."""
_NEWEST = (
    "SELECT u.decided_by, u.score FROM prompts p LEFT JOIN unit_prompts u ON u.prompt_id = p.id"
    " WHERE p.session_id = ? AND p.source = 'user' AND p.kind = 'prompt' AND p.agent_id IS NULL"
    " ORDER BY p.at DESC, p.id DESC LIMIT 1"
)


def arrived(db: Connection, session_id: str, path: str = "") -> None:
    """Put the session's newest prompts into their episodes, opening one where the intent changes.

    `path` is the database's, where the person's own weights may lie. Nothing happens when all are in one already.
    """
    from nmem.episodes import history  # on use: the end of most turns needs none

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
    if not at or units.latest(db, units.prompt(db, number)[0]) is None:
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
    into = _before(db, units.prompt(db, number)[0], number)
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


def ended(db: Connection, session_id: str, path: str = "") -> None:
    """Revise the decision on the newest turn's prompt where the first look was not sure.

    Nothing happens where a person or a model has decided.
    """
    row = db.execute(_NEWEST, (session_id,)).fetchone()
    if row is None or row[0] is None or (row[0] not in _STANDING and unsure(row[1] or 0.0)):
        _revise(db, session_id, path)


def unsure(probability: float) -> bool:
    """Whether the turn itself can change what the first look said."""
    return UNSURE[0] <= probability <= UNSURE[1]


def _revise(db: Connection, session_id: str, path: str) -> None:
    from nmem.episodes import history, weigh  # on use: most turns end without it

    turns = history.recent(db, session_id)
    if missing(db, turns):
        arrived(db, session_id, path)
    if len(turns) < 2:
        return
    number = turns[-1]["ids"][0]
    if _decided_by(db, number) in _STANDING:
        return
    decision = weigh.decide(db, turns, len(turns) - 1, weigh.load(path), "revised")
    with transaction(db):
        if _decided_by(db, number) not in _STANDING:
            _apply(db, number, decision, weigh.verdict(decision, units.REVISED))


def _decided_by(db: Connection, prompt_id: int) -> str:
    row = db.execute("SELECT decided_by FROM unit_prompts WHERE prompt_id = ?", (prompt_id,)).fetchone()
    return str(row[0]) if row else units.FIRST


def _apply(db: Connection, prompt_id: int, decision: Decision, said: Verdict) -> None:
    unit = units.get(db, units.of_prompt(db, prompt_id) or 0)
    if unit is None:
        return
    opens = unit.first_prompt_id == prompt_id
    before = units.previous(db, unit) if opens else None
    if decision.cut and not opens:
        units.split(db, prompt_id, said, decision.resumes)
    elif decision.cut:
        units.judge(db, prompt_id, said)
        units.resume(db, unit.id, decision.resumes, units.REVISED)
    elif before is not None:
        if not units.decided_by_person(db, unit.id):
            units.merge(db, unit.id, before.id)
            units.judge(db, prompt_id, said)
    else:
        units.judge(db, prompt_id, said)
