"""A person's corrections of labels: one transaction each, undone by `nmem undo`, never overwritten.

A person's word is -1 or +1, and `label_model` names its dimension; no backfill touches it. All raise NmemError with one
line when it cannot be done, and sqlite3.Error. `db` is a writing connection, outside a transaction; `now` is in
milliseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from sqlite3 import Connection

from capture.labels import DIMENSIONS, WORDS
from capture.labels.calls import NOT_CALLS
from capture.labels.model import current
from capture.storage.store import file, transaction
from nmem.errors import NmemError
from nmem.labels import names, store
from nmem.labels.store import Scores
from nmem.store.corrections import Entry, write
from nmem.text import printable

KIND = "label"
"""Of the corrections; their target is observation/ID."""


def relabel(db: Connection, observation_id: int, dimension: str, value: str | None, now: int) -> None:
    """Say one word of a call; None takes the person's word back to the model's."""
    relabel_many(db, observation_id, {dimension: value}, now)


def relabel_many(db: Connection, observation_id: int, words: Mapping[str, str | None], now: int) -> None:
    """Say several words of a call at once: one correction, undone as one."""
    scores = {name: score_of(name, word) for name, word in words.items()}
    if not scores:
        raise NmemError(f"no label given for observation {observation_id}: phase=act, scope=diverge ...")
    with transaction(db):
        row = _Row(db, observation_id)
        row.check(scores)
        before = {"label_model": row.was, "scores": {name: row.scores[name] for name in scores}}
        for name, score in scores.items():
            if score is not None:
                row.say(name, score)
            elif name in row.origin.own:
                row.give_back(name, *_models(db, row, name))
        row.write()
        asked = {"words": dict(words), "session": row.session_id}
        write(db, KIND, f"observation/{observation_id}", asked, before, now)


def score_of(dimension: str, word: str | None) -> float | None:
    """-1 or +1. Raises NmemError for what is no dimension, or no word of it."""
    if dimension not in DIMENSIONS:
        raise NmemError(f"{printable(dimension)[:40]} is not a dimension: {', '.join(DIMENSIONS)}")
    pair = WORDS[DIMENSIONS.index(dimension)]
    if word is not None and word not in pair:
        raise NmemError(f"{dimension} must be {pair[0]} or {pair[1]}, not {printable(word)[:40]}")
    return None if word is None else float(2 * pair.index(word) - 1)


def describe(entry: Entry) -> str:
    """What a person did, in a few words."""
    said = entry.payload.get("words")
    words = said if isinstance(said, dict) else {}
    told = [f"{name} {word}" for name, word in words.items() if word]
    told += [f"{name} back to the model's" for name, word in words.items() if not word]
    return f"{entry.target.replace('/', ' ')} is {', '.join(told) or '?'}"


def take_back(db: Connection, entry: Entry) -> str:
    """Put back what was said before; where the model spoke, what it says by now. Inside a transaction."""
    number = int(entry.target.partition("/")[2])
    if store.labels_of(db, number) is None:
        return "the observation is gone"
    row, before = _Row(db, number), entry.before
    origin = names.read(before.get("label_model"))
    for name, score in before.get("scores", {}).items():
        if name in origin.own:
            row.say(name, score)
        elif origin.of(name) == row.origin.of(name):
            row.give_back(name, score, origin.of(name))
        else:
            row.give_back(name, *_judged(db, row, name))
    row.write()
    return ""


class _Row:
    """An observation's labels while they are changed, inside a transaction."""

    def __init__(self, db: Connection, observation_id: int) -> None:
        found = store.labels_of(db, observation_id)
        if found is None:
            raise NmemError(f"there is no observation {observation_id}")
        self.db, self.id = db, observation_id
        self.session_id, self.obs_type, self.seq, self.prompt_id, self.was, *scores = found
        self.scores: dict[str, float | None] = dict(zip(DIMENSIONS, scores, strict=True))
        self.before = self._all()
        self.origin = names.read(self.was)

    def _all(self) -> Scores:
        a, b, c, d, e = (self.scores[name] for name in DIMENSIONS)
        return a, b, c, d, e

    def check(self, asked: Mapping[str, float | None]) -> None:
        """Raise NmemError when this row takes no words, or when these would change nothing."""
        if self.obs_type in NOT_CALLS:
            raise NmemError(f"observation {self.id} ({printable(self.obs_type)}) is not a call: it has no labels")
        own = {name: self.scores[name] for name in self.origin.own}
        if all(own.get(name) == score for name, score in asked.items()):
            what = ", ".join(asked)
            so = f"{what} {'have' if len(asked) > 1 else 'has'} this label from you already"
            raise NmemError(f"observation {self.id}: {so if any(asked.values()) else f'you have not labelled {what}'}")

    def say(self, name: str, score: float | None) -> None:
        """A dimension by the person's word."""
        self.scores[name] = score
        self.origin.own.add(name)

    def give_back(self, name: str, score: float | None, model: str) -> None:
        """A dimension by a model's word."""
        self.origin.own.discard(name)
        self.scores[name] = score
        if model != self.origin.base:
            self.origin.give(name, model)

    def write(self) -> None:
        """The row, and what its episode keeps of it."""
        model = self.origin.text()
        change = store.Change(self.id, self.seq, self.prompt_id, self.before, self._all(), self.was, model)
        store.retrace_now(self.db, self.session_id, store.write(self.db, [change]))


def _models(db: Connection, row: _Row, name: str) -> tuple[float | None, str]:
    """What the model says of a dimension that a person decided, and which one: as it was, or said anew."""
    for before in store.befores(db, KIND, row.id):
        origin = names.read(before.get("label_model"))
        if name in before["scores"] and name not in origin.own:
            if origin.of(name) == row.origin.of(name):
                return before["scores"][name], origin.of(name)
            break
    return _judged(db, row, name)


def _judged(db: Connection, row: _Row, name: str) -> tuple[float | None, str]:
    """What the model in force says of a dimension now; nothing when there is none."""
    model = current(file(db))
    found = store.one(db, row.id) if model else None
    if model is None or found is None:
        return None, row.origin.base
    return model.label(found[1])[DIMENSIONS.index(name)], model.name
