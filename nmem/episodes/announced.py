"""Episodes that the agent announces by the tool `episode`: they outrank the detector, not a person.

A call may come late, twice, in the middle of a task or from an agent that calls at every prompt. Each is brought to the
prompt that its title fits best among the last few; steps of the work, bare replies and floods open nothing.
"""

from __future__ import annotations

from capture.storage.store import transaction
from nmem.episodes import history, store, units
from nmem.episodes import lexicon as lx
from nmem.episodes import text as tx
from nmem.episodes.units import Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from sqlite3 import Connection

    from nmem.episodes.history import Turn

LATE = 2
"""Turns by which a call may come late."""
TITLE = 60
"""Characters of a title."""
_FLOOD = 4
"""Episodes named in a session from which on their share of its turns is looked at."""
_SHARE = 0.6
_LIKELY = 0.5
"""Of the probability from which on a person would be asked: enough where a title has no word of any prompt."""
_SAME = 0.6
"""Share of a title's words in the title before, from which on both name one task."""
REASON = "the agent says so"
_STEPS = frozenset(tx.stem(word) for word in lx.LIFECYCLE | lx.HOUSE | {
    "run", "running", "fix", "check", "update", "verify", "build", "write", "add", "change", "changes", "task", "step",
    "next", "continue", "work", "answer", "question", "user", "request", "all", "code",
})  # fmt: skip
"""Words that name a step of any work: a title of these alone names no task."""


class Named:
    """What one call says."""

    __slots__ = ("prompt_id", "resumes", "title")

    def __init__(self, prompt_id: int, title: str, resumes: str) -> None:
        self.prompt_id = prompt_id
        self.title = title
        self.resumes = resumes


def whole(db: Connection, session_id: str, turns: Sequence[Turn] | None = None) -> list[Named]:
    """All calls of a session, or those made in these turns, in the order of time."""
    prompts = None if turns is None else [number for turn in turns for number in turn["ids"]]
    return _read(store.calls(db, session_id, prompts))


def _read(rows: Iterable[tuple[int, object, object]]) -> list[Named]:
    out = []
    for prompt_id, title, resumes in rows:
        words = " ".join(str(title or "").split())
        short = words if len(words) <= TITLE else words[: TITLE + 1].rpartition(" ")[0] or words[:TITLE]
        if any(char.isalpha() for char in short):
            out.append(Named(prompt_id, short.rstrip(" .,;:"), " ".join(str(resumes or "").split())))
    return out


class Judged:
    """What the detector says of a turn: its label, the probability of a boundary, and whether it cuts or offers.

    `limit`: the probability that is enough where a title has words of its own.
    """

    __slots__ = ("asked", "label", "likely", "probability")

    def __init__(self, label: str, probability: float, asked: bool, limit: float) -> None:
        self.label = label
        self.probability = probability
        self.asked = asked
        self.likely = asked or probability >= limit


def openings(turns: Sequence[Turn], said: Sequence[Named], judged: Sequence[Judged]) -> dict[int, Named]:
    """Index of a turn -> the call by which it opens an episode, or by which the one that it opens is named."""
    where = {number: at for at, turn in enumerate(turns) for number in turn["ids"]}
    words = [frozenset(tx.tokens(turn["text"])) for turn in turns]
    out: dict[int, Named] = {}
    last, current = 0, frozenset[str]()
    for one in said:
        at, title = where.get(one.prompt_id), frozenset(tx.tokens(one.title))
        if at is None or at < last or (current and len(title & current) >= _SAME * len(title)):
            continue
        place = _place(last, range(max(last, at - LATE), at + 1), title, words, judged)
        if place is None or (place == last and last in out):
            continue
        if place and not judged[place].asked and title <= _STEPS:
            continue
        out[place], last, current = one, place, title
    return _bounded(out, judged)


def _place(
    last: int, among: range, title: frozenset[str], words: Sequence[frozenset[str]], judged: Sequence[Judged]
) -> int | None:  # fmt: skip
    """The turn that a title fits best; where it fits none, the newest that says anything and may be a boundary.

    Of two that it fits alike a likely boundary is taken, and rather a later one than `last`, which is named already.
    """
    open_to = [at for at in among if not at or judged[at].label != units.ACK]
    chances = {at: 0.0 if at == last else judged[at].probability for at in open_to}
    best = max(open_to, key=lambda at: (len(title & words[at]), chances[at]), default=None)
    if best is None or title & words[best]:
        return best
    foreign = not any(token.isascii() for at in open_to for token in words[at])
    fits = [at for at in open_to if not at or foreign or judged[at].likely]
    return fits[-1] if fits else None


def _bounded(found: dict[int, Named], judged: Sequence[Judged]) -> dict[int, Named]:
    """The same, unless nearly every turn is named: then only where the detector thinks so, too."""
    opened = [at for at in found if at]
    real = sum(one.label != units.ACK for one in judged)
    if len(opened) < _FLOOD or len(opened) <= _SHARE * real:
        return found
    return {at: one for at, one in found.items() if not at or judged[at].likely}


def arrived(db: Connection, session_id: str, path: str = "") -> None:
    """Put the newest turns into the episodes that the agent named, when it just named one. Raises sqlite3.Error."""
    from nmem.episodes.boundary import load  # on use: start-up stays short

    turns = history.recent(db, session_id)
    said = whole(db, session_id, turns) if turns else []
    if not said:
        return
    limit = limit_of(load(path).models["online"].offer)
    held = [units.said_of(db, turn["ids"][0]) for turn in turns]
    judged = [_held(verdict, limit) for verdict in held]
    with transaction(db):
        for at, one in openings(turns, said, judged).items():
            before = held[at]
            if before is not None and before.by != units.PERSON:
                _apply(db, turns[at]["ids"][0], before, one)


def limit_of(offer: float) -> float:
    """The probability from which on a boundary is likely enough to need no word in common."""
    from math import exp  # on use: start-up stays short

    return _LIKELY / (1.0 + exp(-offer))


def _held(verdict: Verdict | None, limit: float) -> Judged:
    if verdict is None:
        return Judged(units.CONT, 0.0, False, limit)
    return Judged(verdict.label, verdict.score or 0.0, verdict.label == units.NEW or verdict.offered, limit)


def _apply(db: Connection, prompt_id: int, before: Verdict, one: Named) -> None:
    unit_id = units.of_prompt(db, prompt_id) or 0
    unit = units.get(db, unit_id)
    if unit is None:
        return
    if before.by not in (units.FIRST, units.AGENT):
        unit_id = units.split(db, prompt_id, Verdict(units.NEW, units.AGENT, before.score, REASON))
    elif unit.first_prompt_id != prompt_id:
        return
    units.annotated(db, unit_id, {"agent_title": one.title})
    if (goal := resumed(db, unit_id, one.resumes)) is not None:
        units.resume(db, unit_id, goal, units.AGENT)


def titled(db: Connection, session_id: str, opened: dict[int, Named]) -> None:
    """Give each episode of a session the name that the agent gave its opening prompt, and none to the others."""
    for unit in units.of_session(db, session_id):
        one = opened.get(unit.first_prompt_id)
        title = one.title if one is not None else None
        if unit.agent_title != title:
            units.annotated(db, unit.id, {"agent_title": title})
        if one is not None and one.resumes and (goal := resumed(db, unit.id, one.resumes)) is not None:
            units.resume(db, unit.id, goal, units.AGENT)


def resumed(db: Connection, unit_id: int, said: str) -> int | None:
    """The earlier episode of the project that the agent means, by its id or by words of its name; None: none."""
    number = said.lower().removeprefix("episode/").strip("# ")
    if number.isascii() and number.isdecimal() and len(number) < 19:
        return next((unit_id for unit_id, _ in store.earlier(db, unit_id, int(number))), None)
    title = frozenset(tx.tokens(said))
    if not title:
        return None
    found = store.earlier(db, unit_id)
    return next((row[0] for row in found if len(title & frozenset(tx.tokens(row[1]))) >= _SAME * len(title)), None)
