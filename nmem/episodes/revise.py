"""Revises the decision on a prompt after its turn: the turn's work can open an episode, or undo one.

Only prompts of which the first look was unsure are worth it: settling decides all of them again when a session is over.
"""

from __future__ import annotations

from capture.storage.store import transaction
from nmem.episodes import units

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from nmem.episodes.boundary import Decision
    from nmem.episodes.units import Verdict

_STANDING = (units.PERSON, units.AGENT, units.LLM, units.FIRST)
"""Who is not overruled."""
UNSURE = 0.15, 0.5
"""Probabilities of the first look between which a turn can change the verdict: 203 of 211 changes in 2,179 turns."""
_NEWEST = (
    "SELECT u.decided_by, u.score FROM prompts p LEFT JOIN unit_prompts u ON u.prompt_id = p.id"
    " WHERE p.session_id = ? AND p.source = 'user' AND p.kind = 'prompt' AND p.agent_id IS NULL"
    " ORDER BY p.at DESC, p.id DESC LIMIT 1"
)


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
    # most turns end without it, and a hook pays for each module
    from nmem.episodes import history  # on use: start-up stays short
    from nmem.episodes.online import arrived, missing
    from nmem.episodes.weigh import decide, load, verdict

    turns = history.recent(db, session_id)
    if missing(db, turns):
        arrived(db, session_id, path)
    if len(turns) < 2:
        return
    number = turns[-1]["ids"][0]
    if _decided_by(db, number) in _STANDING:
        return
    decision = decide(db, turns, len(turns) - 1, load(path), "revised")
    with transaction(db):
        if _decided_by(db, number) not in _STANDING:
            _apply(db, number, decision, verdict(decision, units.REVISED))


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
