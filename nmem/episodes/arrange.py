"""Updates the rows of a session's episodes to match a plan, changing only what differs."""

from __future__ import annotations

from nmem.episodes import units

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from nmem.episodes.units import UnitPrompt, Verdict


class Place:
    """Where one prompt belongs: it opens an episode, stays in a given one, or follows the prompt before it."""

    __slots__ = ("kept", "opens", "prompt_id", "resumes", "verdict")

    def __init__(self, prompt_id: int, verdict: Verdict) -> None:
        self.prompt_id = prompt_id
        self.verdict = verdict
        self.opens = False
        self.resumes: int | None = None
        """A prompt in the episode that this one resumes."""
        self.kept: int | None = None
        """The episode where it stays, by somebody's decision that stands."""

    def keep(self, held: UnitPrompt, opens: bool, current: int | None = None) -> None:
        """Leave it where it is, with what was said of it; `current` is where the prompt before it is.

        One that goes on with the prompt before it does so wherever that one is put.
        """
        self.verdict = held.verdict
        self.kept = None if held.unit_id == current and not opens else held.unit_id
        self.opens = opens


def arrange(db: Connection, session_id: str, plan: list[Place]) -> bool:
    """Carry out a plan for all prompts of a session, in the order of time; whether anything moved.

    Runs inside the caller's transaction.
    """
    held = {prompt.id: prompt for prompt in units.prompts_of_session(db, session_id)}
    opened = {unit.first_prompt_id: unit for unit in units.of_session(db, session_id)}
    before = {unit.id for unit in opened.values()}
    touched: set[int] = set()
    where: dict[int, int] = {}
    roots: dict[int, int | None] = {}
    current = 0
    for place in plan:
        now = held.get(place.prompt_id)
        if place.kept is not None:
            current = place.kept
        elif place.opens or not current:
            unit = opened.get(place.prompt_id)
            current = unit.id if unit is not None and now is not None and now.unit_id == unit.id else 0
            if not current:
                current = _open(db, place, now, touched)
                now = None if now is None else units.UnitPrompt(_row(now, current))
            roots[current] = place.resumes
        _put(db, place, now, current, touched)
        where[place.prompt_id] = current
    _resume(db, roots, where)
    touched |= before - set(where.values())
    units.tidy(db, session_id, touched, where)
    return bool(touched)


def _row(held: UnitPrompt, unit_id: int) -> tuple[int, int, int, str, float | None, str, str, int]:
    said = held.verdict
    return held.id, held.at, unit_id, said.label, said.score, said.reason, said.by, int(said.offered)


def _open(db: Connection, place: Place, now: UnitPrompt | None, touched: set[int]) -> int:
    if now is not None:
        touched.add(now.unit_id)
        units.take_out(db, place.prompt_id)
    made = units.start(db, place.prompt_id, place.verdict)
    touched.add(made)
    return made


def _put(db: Connection, place: Place, now: UnitPrompt | None, unit_id: int, touched: set[int]) -> None:
    """One prompt into its episode, unless it is there already and nothing else is said of it."""
    if now is None:
        if units.of_prompt(db, place.prompt_id) is None:
            units.assign(db, place.prompt_id, unit_id, place.verdict)
            touched.add(unit_id)
        return
    if now.unit_id != unit_id:
        touched |= {now.unit_id, unit_id}
        units.take_out(db, place.prompt_id)
        units.assign(db, place.prompt_id, unit_id, place.verdict)
    elif not place.verdict.same(now.verdict):
        units.judge(db, place.prompt_id, place.verdict)


def _resume(db: Connection, roots: dict[int, int | None], where: dict[int, int]) -> None:
    for unit_id, prompt_id in roots.items():
        goal = where.get(prompt_id) if prompt_id is not None else None
        units.resume(db, unit_id, None if goal == unit_id else goal, units.REVISED)
