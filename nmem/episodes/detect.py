"""Divides a whole stored session into episodes anew, in place of what hooks decided prompt by prompt. Idempotent.

What a person decided stands, and what a language model decided stands unless a method is asked for by name. Prompts
follow the one before them: after a prompt that a person put somewhere, the next ones are put there too, until the next
boundary. Episodes keep their ids as long as their opening prompt opens one.

The first look reads no cuts, so that one wrong cut never causes the next. The second look reads the cuts of the first
one, all at once: how much the turns from a prompt to the next cut are like the episode before it, and like the session
before it. A part that is like the session but not like the episode is more likely a beginning.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from capture.storage.store import transaction
from nmem.episodes import annotate, announced, history, narrations, store, units, weigh
from nmem.episodes.arrange import Place, arrange
from nmem.episodes.boundary import Decision, Session, jaccard, load, points_back
from nmem.episodes.features import AHEAD, COMMON_WEIGHT
from nmem.episodes.resumption import Goals
from nmem.episodes.units import Verdict
from nmem.store import trace

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from sqlite3 import Connection
    from typing import Any

    from nmem.episodes.boundary import Detector, Prompt
    from nmem.episodes.history import Turn
    from nmem.episodes.units import Unit, UnitPrompt

    Row = tuple[Any, ...]
    Judge = Callable[[Sequence[Prompt]], list[Decision] | None]
    """A whole session's prompts in one call -> one decision each (`resumes`: index of the prompt that opened the goal);
    None when nothing usable came back, and the default method decides."""
    from nmem.episodes.features import Spoken

    Bag = dict[str, int]
    """Word -> weight, of length UNIT. Whole numbers add up to the same in whatever order the words come."""

METHODS = ("default", "jaccard", "llm")


def decide(
    prompts: Sequence[Prompt],
    detector: Detector,
    method: str = "default",
    judge: Judge | None = None,
    online: bool = False,
) -> tuple[list[Decision], str]:
    """One decision for each prompt of a session, and who made them (online, revised or llm).

    Evaluation and product both come through here. Raises ValueError for an unknown method.
    """  # fmt: skip
    if method == "jaccard":
        return jaccard(prompts), units.ONLINE
    if method == "llm":
        judged = judge(prompts) if judge is not None else None
        if judged is not None and len(judged) == len(prompts):
            return judged, units.LLM
    elif method != "default":
        raise ValueError(f"no method {method}; there are {', '.join(METHODS)}")
    twice = not online and detector.again is not None
    session, out, bags = Session(detector, goals=not twice), [], []
    for at, prompt in enumerate(prompts):
        if online or prompt.get("open"):
            decision = session.arrive(prompt)
        else:
            decision = session.revise(prompt, prompts[at + 1 : at + 1 + AHEAD])
        session.ended(prompt, decision)
        out.append(decision)
        if twice:
            bags.append(bag(session.past.turns[-1], detector.common))
    return _again(prompts, out, bags, detector) if twice else out, units.ONLINE if online else units.REVISED


def _again(
    prompts: Sequence[Prompt], first: list[Decision], bags: list[dict[str, int]], detector: Detector
) -> list[Decision]:  # fmt: skip
    """The second look at all prompts at once; what opens a session, a cleared one or an open turn stays."""
    out = list(first)
    like = likeness(bags, [each.cut for each in first])
    for at, prompt in enumerate(prompts):
        if at and not prompt.get("open") and not prompt.get("cleared"):
            out[at] = detector.look_again(str(prompt.get("text") or ""), first[at], like[at])
    goals = Goals(detector.common)
    for at, (prompt, decision) in enumerate(zip(prompts, out, strict=True)):
        text, agent = str(prompt.get("text") or ""), prompt.get("agent") or {}
        if at and decision.cut and (not prompt.get("open") or points_back(text)):
            decision.resumes = goals.resumed(text, {} if prompt.get("open") else agent)
        goals.add(at, text, agent, decision.cut, decision.resumes)
    return out


class Decided(NamedTuple):
    """What was decided on the turns of a session, and by whom, in a process beside the one that writes."""

    of: Row
    """The session's state when the decisions were made (`store.state`)."""
    turns: list[list[int]]
    """The ids of the prompts of each turn."""
    decisions: list[Decision]
    by: str


def decided(db: Connection, session_id: str, detector: Detector) -> Decided:
    """Decide on the turns of a session, which are only read."""
    of = store.state(db, session_id)
    turns = _turns(db, session_id, of)
    return Decided(of, [turn["ids"] for turn in turns], *decide(turns, detector, weigh.method()))


def session(
    db: Connection, session_id: str, detector: Detector | None = None, method: str = "",
    judge: Judge | None = None, *, close: bool | None = None, known: Decided | None = None, trace: bool = True,
) -> bool:  # fmt: skip
    """Detect and annotate the episodes of one session; whether any prompt is now in another place than before.

    `method` empty: the one that is set, and what a language model decided earlier stands. `close`: whether its last
    episode is over; None asks the session's row. `known`: what was decided already, unless the session has gone on
    since. `trace` False: traces are left to `count_again`. Raises sqlite3.Error.
    """
    detector, of = detector or load(), store.state(db, session_id)
    said = announced.whole(db, session_id)
    if known is not None and known.of == of and not said:
        turns = [{"ids": ids} for ids in known.turns]
        decisions, by = known.decisions, known.by
    else:
        turns = _turns(db, session_id, of)
        decisions, by = decide(turns, detector, method or weigh.method(), judge) if turns else ([], "")
    if not turns:
        return False
    named = _named(said, turns, decisions, detector)
    with transaction(db):
        changed = arrange(db, session_id, _plan(db, session_id, turns, decisions, by, bool(method), named))
        announced.titled(db, session_id, {turns[at]["ids"][0]: one for at, one in named.items()})
        found = units.of_session(db, session_id)
        over = of[0] == "ended" if close is None else close
        if over and found:
            units.close(db, found[-1].id)
            found[-1].state = units.CLOSED
        _counted(db, session_id, found, trace)
    return changed


def count_again(db: Connection, session_id: str) -> None:
    """Annotate the episodes of a session anew, and trace them: its calls were labelled since."""
    with transaction(db):
        _counted(db, session_id, units.of_session(db, session_id))


def _counted(db: Connection, session_id: str, found: Sequence[Unit], trace: bool = True) -> None:
    for unit in found:
        annotate.recount(db, unit, trace=trace and unit.state == units.CLOSED)
    narrations.settle_ends(db, session_id)
    annotate.sign_session(db, session_id)


def _turns(db: Connection, session_id: str, of: Row) -> list[Turn]:
    """The turns of a session in this state."""
    turns = history.whole(db, session_id)
    if turns:
        turns[-1]["open"] = of[0] == "working"
    return turns


def _plan(
    db: Connection, session_id: str, turns: list[Turn], decisions: list[Decision], by: str, again: bool,
    named: dict[int, announced.Named],
) -> list[Place]:  # fmt: skip
    """Where each prompt belongs; standing decisions of others first. Where words and calls are forgotten, all stand."""
    held = {prompt.id: prompt for prompt in units.prompts_of_session(db, session_id)}
    firm = {units.PERSON} if again else {units.PERSON, units.LLM}
    swept = trace.swept(db, session_id)
    protected = {
        unit.first_prompt_id: unit for unit in units.of_session(db, session_id)
        if unit.title is not None or unit.pinned
    }  # fmt: skip
    out: list[Place] = []
    current: int | None = None
    for index, (turn, decision) in enumerate(zip(turns, decisions, strict=True)):
        for number in turn["ids"]:
            before = held.get(number)
            opens = number == turn["ids"][0]
            agents = opens and bool(index) and index in named
            said = (_agents(decision) if agents else _verdict(decision, by, index)) if opens else _within(index)
            place = Place(number, said)
            if said.label == units.NEW:
                place.opens = True
                place.resumes = None if decision.resumes is None else turns[decision.resumes]["ids"][0]
            if before is not None and (swept or _stands(before, firm, agents) or number in protected):
                place.keep(before, opens=number in protected or before.verdict.label == units.NEW, current=current)
            current = before.unit_id if before is not None else None
            out.append(place)
    return out


def _named(
    said: list[announced.Named], turns: list[Turn], decisions: list[Decision], detector: Detector
) -> dict[int, announced.Named]:
    """Where the agent itself says that an episode begins, by the index of the turn."""
    if not said:
        return {}
    limit = announced.limit_of(detector.models["revised"].offer)
    judged = [announced.Judged(each.label, each.probability, each.cut or each.offer, limit) for each in decisions]
    return announced.openings(turns, said, judged)


def _stands(before: UnitPrompt, firm: set[str], agents: bool) -> bool:
    """Whether an earlier decision about a prompt stands; the agent's word counts for more than a model's."""
    return before.verdict.by in firm and not (agents and before.verdict.by == units.LLM)


def _agents(decision: Decision) -> Verdict:
    return Verdict(units.NEW, units.AGENT, decision.probability, announced.REASON)


def _verdict(decision: Decision, by: str, index: int) -> Verdict:
    return Verdict(
        decision.label, by if index else units.FIRST, decision.probability, decision.reason(), decision.offer
    )


def _within(index: int) -> Verdict:
    """A prompt that only belongs to its turn: a late word, a bare command, or the request after one."""
    by = units.ONLINE if index else units.FIRST
    return Verdict(units.CONT, by, reason="said during a turn")


def sessions(
    db: Connection, ids: Iterable[str], path: str = "", method: str = "", judge: Judge | None = None,
    step: Callable[[str], None] = lambda _session_id: None,
) -> int:  # fmt: skip
    """Detect many sessions one after the other (after an import, or as a repair); how many of them changed.

    `path`: the database's, beside which the person's own weights may lie. `step` is told of each session done.
    """
    from nmem import tables  # on use: start-up stays short

    tables.ensure(db)
    detector = load(path)
    changed = 0
    for session_id in ids:
        changed += session(db, session_id, detector, method, judge)
        step(session_id)
    return changed


def close_overdue(db: Connection, now: int, path: str = "", idle: int = store.IDLE) -> list[str]:
    """Close what sessions left open that ended without saying so; the ids of these sessions. `now` and `idle` in ms."""
    detector = load(path)
    found = store.finished(db, now, idle, open_yet=True)
    for session_id in found:
        session(db, session_id, detector, close=True)
    return found


LOOK_AHEAD = 3
"""Turns from a prompt on that are compared at most."""
UNIT = 10_000
_ASKED = 1.7
"""What a word of the prompt weighs beside one of the answer or of a file's name."""


def bag(said: Spoken, common: frozenset[str]) -> Bag:
    """The words of one turn."""
    asked, every = said
    dull, dully_asked = every & common, asked & common
    weights = (1.0, _ASKED, COMMON_WEIGHT, _ASKED * COMMON_WEIGHT)
    parts = every - asked - dull, asked - dully_asked, dull - dully_asked, dully_asked
    size = sqrt(sum(len(part) * weight * weight for part, weight in zip(parts, weights, strict=True))) or 1.0
    out: Bag = {}
    for part, weight in zip(parts, weights, strict=True):
        out.update(dict.fromkeys(part, round(UNIT * weight / size)))
    return out


class _Sum:
    """Bags added up, with the square of their length."""

    __slots__ = ("square", "words")

    def __init__(self) -> None:
        self.words: Bag = {}
        self.square = 0

    def add(self, other: Bag) -> None:
        words, square = self.words, self.square
        get = words.get
        for word, value in other.items():
            before = get(word, 0)
            words[word] = before + value
            square += value * (before + before + value)
        self.square = square

    def like(self, other: _Sum) -> float:
        """The cosine, 0 to 1."""
        mine, theirs = self.words, other.words
        both = sum([mine[word] * theirs[word] for word in mine.keys() & theirs.keys()])
        return round(both / sqrt(self.square * other.square), 6) if both else 0.0


def likeness(bags: Sequence[Bag], cuts: Sequence[bool]) -> list[tuple[float, float]]:
    """For each prompt: how like what begins with it is to the episode and to the session before; (0, 0) for the first.

    `cuts`: which prompts open an episode.
    """
    session, episode = _Sum(), _Sum()
    out: list[tuple[float, float]] = []
    for at, own in enumerate(bags):
        after = _Sum()
        after.add(own)
        for number in range(at + 1, min(at + LOOK_AHEAD, len(bags))):
            if cuts[number]:
                break
            after.add(bags[number])
        out.append((episode.like(after), session.like(after)))
        if cuts[at]:
            episode = _Sum()
        episode.add(own)
        session.add(own)
    return out
