"""Fits the five call classifiers on the built-in corpus and a person's decisions; keeps the better model.

Folds keep a session together, the corpus's as well as the person's. A dimension is adopted when more of the person's
words come out right in folds that the fit has not seen, and the corpus does not suffer; the others keep the weights of
the package.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from sqlite3 import Connection
from typing import Any

import numpy as np

from capture.labels import DIMENSIONS, WORDS
from capture.labels import model as engine
from nmem.errors import NmemError
from nmem.evaluate.labels import figures
from nmem.labels import names
from nmem.labels.cards import Figures
from nmem.labels.corpus import Example, examples, files
from nmem.training import answers as rows
from nmem.training import label_fit as lf
from nmem.training import labels as shipping
from nmem.training import personal_labels_kept as kept
from nmem.training.answers import Shift

LEAST, LEAST_SESSIONS = 8, 3
"""Decided calls, and sessions with some, below which a dimension is not fitted."""
WEIGHT = 5
"""What a person's word counts: as much as so many calls of the corpus."""
HAIR = 0.005
"""How much worse the corpus may come out, in macro-F1 and in accuracy: less than what another corpus of the same size
would change."""
OWN = ("head:", "tool:", "ext:", "says:", "named")
OWN_AT = 2.0
"""Programs, tools and the like of the person's calls count so much: they say more of the same person's next calls than
of anybody's, so a habit is learned there and not in what all calls have in common."""
_TOLD = 5


@dataclass(frozen=True, slots=True)
class Refit:
    """One dimension, before and after, on sessions that the fit has not seen."""

    dimension: str
    adopted: bool
    why: str
    own: int
    """The person's words, in `sessions`; how many of them come out right `right_before` and `right_after`."""
    sessions: int
    right_before: int
    right_after: int
    corpus_before: Figures
    corpus_after: Figures
    threshold_before: float
    threshold_after: float
    shifts: tuple[Shift, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """What a fit came to. `enough` false: too few decisions for any dimension, and `refits` is empty."""

    enough: bool
    calls: int
    sessions: int
    reason: str
    refits: tuple[Refit, ...] = ()
    lacking: tuple[str, ...] = ()
    """Why other dimensions were not fitted."""
    before: str = ""
    """The model that labelled until now, and the one that labels from now on (or would)."""
    after: str = ""
    path: str = ""
    """Where the person's weights are now; empty when those of the package label."""


@dataclass(frozen=True, slots=True)
class _Part:
    """One dimension's weights."""

    column: dict[str, float]
    constant: float
    threshold: float
    card: dict[str, Any]


def train(db: Connection, db_path: str, now: int, *, dry: bool = False, corpus: Sequence[Path] = ()) -> Report:
    """Fit, compare, and keep or reject. `dry`: change nothing. Raises sqlite3.Error or NmemError."""
    base, current = engine.shipped(), engine.current(db_path)
    if base is None or current is None:
        raise NmemError("the table of weights is missing or damaged: install nmem again")
    mine = rows.own_labels(db)
    sessions = len({each.group for each in mine})
    lacking = {name: reason for name in DIMENSIONS if (reason := _lacking(mine, name))}
    if len(lacking) == len(DIMENSIONS):
        reason = f"{len(mine)} calls in {sessions} sessions are decided by you; " + _most(mine)
        return Report(
            False, len(mine), sessions, reason, before=current.name, after=current.name, path=kept.path(db_path)
        )
    table = lf.Table([*examples(corpus or files()), *mine])
    found = {name: _refit(table, base, name) for name in DIMENSIONS if name not in lacking}
    adopted = {name: part for name, (refit, part) in found.items() if refit.adopted}
    value, card = _table(base, adopted, len(mine), sessions)
    after = value[1] if adopted else base.name
    refits = tuple(refit for refit, _ in found.values())
    if not dry:
        told_of = {refit.dimension: {key: part for key, part in asdict(refit).items() if key != "shifts"}
                   for refit in refits}  # fmt: skip
        kept.keep(db, db_path, now, kept.Table(value if adopted else None, card), _reason(refits), told_of)
    told = tuple(f"{name}: {reason}" for name, reason in lacking.items())
    return Report(True, len(mine), sessions, _reason(refits), refits, told, current.name, after, kept.path(db_path))


def _decided(mine: Sequence[Example], name: str) -> list[Example]:
    at = DIMENSIONS.index(name)
    return [each for each in mine if each.labels[at] != "?"]


def _lacking(mine: Sequence[Example], name: str) -> str:
    known = _decided(mine, name)
    sessions = len({each.group for each in known})
    if len(known) >= LEAST and sessions >= LEAST_SESSIONS:
        return ""
    said = f"{len(known)} of your words in {sessions} session{'s' * (sessions != 1)}"
    return f"{said}; it takes {LEAST} in {LEAST_SESSIONS} to learn from"


def _most(mine: Sequence[Example]) -> str:
    name = max(DIMENSIONS, key=lambda each: len(_decided(mine, each)))
    return f"most of them say {name}: {_lacking(mine, name)}" if mine else f"it takes {LEAST} in {LEAST_SESSIONS}"


# fitting


def _refit(table: lf.Table, base: engine.Model, name: str) -> tuple[Refit, _Part]:
    at = DIMENSIONS.index(name)
    gold = table.gold(at)
    mine = np.array([each.group.startswith(rows.GROUP) for each in table.examples])
    x, scale = _own_scale(table, mine)
    old, new = _unseen(table, at, gold, mine, table.x), _unseen(table, at, gold, mine, x, learn=True)
    before = lf.scores(old, lf.calibrate(old[~mine], gold[~mine]))
    calibration = lf.calibrate(new, gold)
    after = lf.scores(new, calibration)
    threshold = shipping.least(after, gold, shipping.ACCURACY[name])
    known = gold >= 0
    model = _fit(x, at, gold, known, known & mine)
    weights = model.coef_[0] * scale * calibration.slope
    constant = float(model.intercept_[0]) * calibration.slope + calibration.shift
    decided = known & mine
    was = [base.scores(table.words[place])[at] > 0 for place in np.flatnonzero(decided)]
    right = (int(sum(a == bool(b) for a, b in zip(was, gold[decided], strict=True))),
             int(((after[decided] > 0) == (gold[decided] == 1)).sum()))  # fmt: skip
    lines = (base.thresholds[at], threshold)
    corpus = tuple(
        _figures(table, at, scores, line, ~mine) for scores, line in zip((before, after), lines, strict=True)
    )
    why = _verdict(right, int(decided.sum()), corpus[0], corpus[1])
    sessions = len({each.group for each, one in zip(table.examples, decided, strict=True) if one})
    column = dict(zip(table.names, weights.tolist(), strict=True))
    refit = Refit(name, not why, why or "better on what you said, no worse on the corpus", int(decided.sum()), sessions,
                  *right, corpus[0], corpus[1], *lines, _shifts(table, base, at, column, mine))  # fmt: skip
    card = shipping.card_of(table, at, after, threshold, weights)
    return refit, _Part(column, constant, threshold, {**card, "lean": calibration.lean, "own": int(decided.sum())})


def _own_scale(table: lf.Table, mine: lf.Array) -> tuple[lf.Array, lf.Array]:
    """The examples as a matrix in which what is particular to the person's calls weighs more, and its scale."""
    held = {name for place in np.flatnonzero(mine) for name in table.words[place] if name.startswith(OWN)}
    scale = np.array([OWN_AT if name in held else one for name, one in zip(table.names, table.scale, strict=True)])
    return lf.matrix(table.words, table.names, scale), scale


def _unseen(
    table: lf.Table, at: int, gold: lf.Array, mine: lf.Array, x: lf.Array, *, learn: bool = False
) -> lf.Array:  # fmt: skip
    """Decision values of every example by a model without its fold; `learn`: the person's other words are fitted on."""
    out = np.full(len(gold), np.nan)
    for held in lf.folds(table.groups):
        known = ~held & (gold >= 0) & (learn | ~mine)
        out[held] = _fit(x, at, gold, known, known & mine).decision_function(x[held])
    return out


def _fit(x: lf.Array, at: int, gold: lf.Array, known: lf.Array, mine: lf.Array) -> Any:  # noqa: ANN401 - scikit-learn's
    """One regression in which the person's words stand several times."""
    places = np.concatenate([np.flatnonzero(known), np.repeat(np.flatnonzero(mine), WEIGHT - 1)])
    return lf.fit(x[places], gold[places], DIMENSIONS[at])


def _figures(table: lf.Table, at: int, scores: lf.Array, threshold: float, part: lf.Array) -> Figures:
    told = [(each.labels[at], float(score), bool(abs(score) >= threshold))
            for each, score, one in zip(table.examples, scores, part, strict=True) if one]  # fmt: skip
    return Figures(**figures(told, WORDS[at]))


def _verdict(right: tuple[int, int], decided: int, before: Figures, after: Figures) -> str:
    """Why a dimension is not adopted; empty when it is."""
    if right[1] <= right[0]:
        return f"no more of your words come out right in sessions not seen: {right[1]} of {decided}, before {right[0]}"
    for what, old, new in (
        ("macro-f1", before.macro_f1, after.macro_f1), ("accuracy", before.accuracy, after.accuracy),
    ):  # fmt: skip
        if new < old - HAIR:
            return f"the corpus suffers: {what} {new:.3f}, before {old:.3f}"
    return ""


def _shifts(
    table: lf.Table, base: engine.Model, at: int, column: dict[str, float], mine: lf.Array
) -> tuple[Shift, ...]:  # fmt: skip
    """The features of the person's calls whose weights moved most."""
    held = {name for place in np.flatnonzero(mine) for name in table.words[place]}
    found = []
    for name in sorted(held & column.keys()):
        old = _fields(base.weights.get(name, 0))[at]
        found.append(
            (abs(column[name] - old), Shift(name, names.in_words(name), round(old, 3), round(column[name], 3)))
        )
    found.sort(key=lambda each: (-each[0], each[1].feature))
    return tuple(shift for moved, shift in found[:_TOLD] if moved >= 0.05)


def _fields(packed: int) -> list[float]:
    """The five weights of a word of a table."""
    return engine.Model("", {}, packed, ()).logits(())


# keeping


def _table(
    base: engine.Model, parts: dict[str, _Part], calls: int, sessions: int
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """A table of the package's weights with those of some dimensions put in, and its card."""
    words = sorted(base.weights.keys() | {word for part in parts.values() for word in part.column})
    weights = {}
    for word in words:
        fields = _fields(base.weights.get(word, 0))
        for name, part in parts.items():
            fields[DIMENSIONS.index(name)] = part.column.get(word, 0.0)
        if packed := engine.pack(fields):
            weights[word] = packed
    constants, thresholds = _fields(base.constant), list(base.thresholds)
    for name, part in parts.items():
        constants[DIMENSIONS.index(name)], thresholds[DIMENSIONS.index(name)] = part.constant, part.threshold
    constant = engine.pack(constants)
    told = json.dumps([sorted(weights.items()), constant, thresholds]).encode()
    name = blake2b(told, digest_size=6).hexdigest()
    card = _shipped_card()
    dimensions = {**card.get("dimensions", {}), **{name: part.card for name, part in parts.items()}}
    card = {**card, "name": name, "beside": base.name, "words": len(weights), "dimensions": dimensions,
            "own": {"calls": calls, "sessions": sessions, "dimensions": sorted(parts)}}  # fmt: skip
    return (engine.FORMAT, name, weights, constant, thresholds), card


def _shipped_card() -> dict[str, Any]:
    card: dict[str, Any] = json.loads(shipping.CARD.read_text("utf-8"))
    return card


def _reason(refits: Sequence[Refit]) -> str:
    return "; ".join(
        f"{refit.dimension}: {'adopted' if refit.adopted else 'kept as shipped'}, {refit.right_before} to"
        f" {refit.right_after} of {refit.own} of your words right, corpus macro-F1"
        f" {refit.corpus_before.macro_f1:.3f} to {refit.corpus_after.macro_f1:.3f}"
        for refit in refits
    )
