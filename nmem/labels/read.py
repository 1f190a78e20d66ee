"""Reads one call with its labels, their certainty, reasons and corrections.

Takes a connection of `nmem.database.reader`. Text is as stored: callers make it printable.
"""

from __future__ import annotations

from dataclasses import dataclass
from sqlite3 import Connection

from capture.labels import DIMENSIONS, WORDS
from capture.labels.calls import Seen
from capture.labels.features import features
from capture.labels.model import Model, current
from nmem import tables
from nmem.errors import NmemError
from nmem.labels import cards, names, store
from nmem.text import printable

REASONS = 5
_FAINT = 0.05
"""Log-odds below which a feature says nothing."""


@dataclass(frozen=True, slots=True)
class Reason:
    """A feature that speaks for the word, or against it when `weight` is below 0; in log-odds."""

    feature: str
    words: str
    weight: float


@dataclass(frozen=True, slots=True)
class Word:
    """What is said of one dimension."""

    dimension: str
    word: str
    """Empty: the model abstains."""
    score: float | None
    own: bool
    """A person decided it."""
    model: str
    """Who gave it; with `own` who would speak otherwise. Empty: nobody."""
    thinks: str
    """What the model in force says, also when it is too close to tell."""
    leaning: float
    """Its score, -1..1."""
    threshold: float
    reasons: tuple[Reason, ...]
    """Why the model in force says so, the strongest first."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """One call with its words."""

    id: int
    session_id: str
    at: int
    obs_type: str
    tool_name: str
    file_path: str
    content: str
    outcome: str
    prompt: str
    words: tuple[Word, ...]
    model: str
    """The model in force; empty when there is none."""


@dataclass(frozen=True, slots=True)
class Said:
    """Words about one call: a person's standing ones, or those that it has."""

    id: int
    session_id: str
    at: int
    """When the call was made."""
    obs_type: str
    content: str
    words: dict[str, str]


def labelled(db: Connection, db_path: str, observation_id: int) -> Labelled:
    """A call with its words. Raises NmemError when there is none of that number."""
    row = store.call(db, observation_id)
    if row is None:
        raise NmemError(f"there is no observation {observation_id}: `nmem relabel --recent` gives numbers")
    session_id, at, kind, tool, path, content, outcome, prompt, origin, *scores = row
    found, model = store.one(db, observation_id), current(db_path)
    if found is None:
        raise NmemError(f"observation {observation_id} ({printable(kind)}) is not a call: it has no labels")
    words = _words(origin, dict(zip(DIMENSIONS, scores, strict=True)), found[1], model)
    named = model.name if model else ""
    return Labelled(observation_id, session_id, at, kind, tool, path, content, outcome, prompt, words, named)


def _words(
    label_model: str | None, scores: dict[str, float | None], seen: Seen, model: Model | None
) -> tuple[Word, ...]:
    origin = names.read(label_model)
    given = features(seen) if model else []
    leanings = model.scores(given) if model else [0.0] * len(DIMENSIONS)
    out = []
    for at, name in enumerate(DIMENSIONS):
        score, pair = scores[name], WORDS[at]
        out.append(Word(
            name, word(at, score), score, name in origin.own, origin.of(name), pair[leanings[at] > 0] if model else "",
            round(leanings[at], 4), model.thresholds[at] if model else 0.0,
            _reasons(model, given, at, leanings[at]) if model else (),
        ))  # fmt: skip
    return tuple(out)


def word(dimension: int, score: float | None) -> str:
    """The word of a score; empty when there is none."""
    return "" if not score else WORDS[dimension][score > 0]


def _reasons(model: Model, given: list[str], at: int, leaning: float) -> tuple[Reason, ...]:
    side = 1 if leaning > 0 else -1
    none = model.logits(())[at]
    found = [(side * (model.logits((each,))[at] - none), each) for each in dict.fromkeys(given)]
    strong = sorted((each for each in found if abs(each[0]) >= _FAINT), key=lambda each: (-abs(each[0]), each[1]))
    return tuple(Reason(name, names.in_words(name), round(weight, 3)) for weight, name in strong[:REASONS])


def recent(db: Connection, limit: int = 20, *, unsure: bool = False) -> list[Said]:
    """The newest calls with their words, also the models'; `unsure`: those of which the model cannot tell one."""
    return [
        Said(number, session_id, when, kind, text, {name: word(at, scores[at]) for at, name in enumerate(DIMENSIONS)})
        for number, session_id, when, kind, text, *scores in store.newest_calls(db, limit, unsure=unsure)
    ]


def said(db: Connection, limit: int = 20, session_id: str = "") -> list[Said]:
    """Calls of which a person has decided something that stands, those decided last first."""
    if not tables.version(db):
        return []
    return [_said(row) for row in store.decided(db, limit, session_id)]


def _said(row: tuple[int, str, int, str, str, str, float, float, float, float, float]) -> Said:
    own = names.read(row[5]).own
    words = {name: word(at, row[6 + at]) for at, name in enumerate(DIMENSIONS) if name in own}  # type: ignore[arg-type]
    return Said(*row[:5], words)


@dataclass(frozen=True, slots=True)
class Standing:
    """Which model labels, and how many calls carry its labels, another's, or none.

    `bare`: nobody labelled them, or not in every dimension.
    """

    model: str
    source: str
    calls: int
    by_it: int
    by_others: int
    bare: int
    own: int
    """Calls of which a person decided something."""
    others: tuple[tuple[str, int], ...]
    """The other models, with their rows."""
    passed_over: str = ""
    """Why a person's own model is there and not believed."""

    @property
    def due(self) -> int:
        """What `nmem backfill` would label."""
        return self.by_others + self.bare


def standing(db: Connection, db_path: str) -> Standing:
    """How history is labelled now; reads the whole table once."""
    model = current(db_path)
    name = model.name if model else ""
    by: dict[str, int] = {}
    own = 0
    for text, number in store.givers(db):
        origin = names.read(text)
        own += number * bool(origin.own)
        key = f"{origin.base} and others" if origin.base and origin.others else origin.base
        by[key] = by.get(key, 0) + number
    bare, mine = by.pop("", 0), by.pop(name, 0) if name else 0
    others = tuple(sorted(by.items(), key=lambda each: (-each[1], each[0])))
    return Standing(name, cards.card_of(db_path, name)[0] if name else "", bare + mine + sum(by.values()), mine,
                    sum(by.values()), bare, own, others, cards.passed_over(db_path))  # fmt: skip


AMONG = 2_000
"""The newest observations, among which doubtful calls are looked for: a look costs the same in any database."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """A call, and the one word of it that is asked for."""

    call: Labelled
    word: Word


def doubts(db: Connection, db_path: str, limit: int) -> tuple[Doubt, ...]:
    """The newest calls with a word too close to tell, of which no person has said anything."""
    out = []
    for number in store.doubtful(db, limit, AMONG):
        try:
            call = labelled(db, db_path, number)
        except NmemError:
            continue  # it went meanwhile
        unsure = [word for word in call.words if not word.word and not word.own and word.thinks]
        if unsure:
            out.append(Doubt(call, max(unsure, key=_nearness)))
    return tuple(out)


def count_doubts(db: Connection, db_path: str, limit: int) -> int:
    """How many calls `doubts` gives; no model judges them."""
    return len(store.doubtful(db, limit, AMONG)) if current(db_path) else 0


def _nearness(word: Word) -> tuple[float, int]:
    """How near to telling the model is; of equals the dimension that comes first."""
    return abs(word.leaning) / (word.threshold or 1.0), -DIMENSIONS.index(word.dimension)
