"""The second look at a prompt, when its turn has ended: what the turn did can open an episode, or take one back."""

from __future__ import annotations

from capture.storage.store import transaction
from nmem.episodes import history, units
from nmem.episodes.online import arrived, missing
from nmem.episodes.weigh import decide, load, verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from nmem.episodes.boundary import Decision

_STANDING = (units.PERSON, units.AGENT, units.LLM, units.FIRST)
"""Who is not overruled."""


def ended(db: Connection, session_id: str, path: str = "") -> None:
    """Revise the decision on the newest turn's prompt. Nothing happens where a person or a model has decided."""
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
            _apply(db, number, decision)


def _decided_by(db: Connection, prompt_id: int) -> str:
    row = db.execute("SELECT decided_by FROM unit_prompts WHERE prompt_id = ?", (prompt_id,)).fetchone()
    return str(row[0]) if row else units.FIRST


def _apply(db: Connection, prompt_id: int, decision: Decision) -> None:
    unit = units.get(db, units.of_prompt(db, prompt_id) or 0)
    if unit is None:
        return
    said = verdict(decision, units.REVISED)
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
