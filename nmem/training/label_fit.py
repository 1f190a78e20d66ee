"""Fits logistic regressions on features of labelled calls, evaluated on folds of unseen sessions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix  # type: ignore[import-untyped]
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score

from capture.labels import DIMENSIONS, WORDS
from capture.labels.features import features
from nmem.labels.corpus import Example

Array = Any
FOLDS = 10
LEAST_SESSIONS = 2
"""A word that fewer sessions hold is not kept."""
LEAST_TEXT, MOST_TEXT = 4, 0.15
"""Of a word of a prompt: sessions that must hold it, and the share of them from which on it says nothing."""
WEAK = ("word:", "says:", "head:", "named", "ext:", "tool:")
WEAK_AT = 0.5
"""Words of texts say less of the next person's calls than what is done: they count half, that is are held back more."""
STRENGTH = {"phase": 0.3, "scope": 0.2, "locus": 0.3, "novelty": 0.1, "friction": 0.3}
BALANCE = {"phase": 0.0, "scope": 0.5, "locus": 0.3, "novelty": 0.5, "friction": 0.2}
"""How far the rarer word is weighted up: 0 not at all, 1 as much as the other."""
LEANS = tuple(round(step * 0.1, 1) for step in range(-12, 13))
AS_GOOD = 0.002


class Table:
    """The examples as a matrix of words."""

    def __init__(self, examples: Sequence[Example]) -> None:
        self.examples = list(examples)
        self.words = [features(each.seen) for each in self.examples]
        self.groups = np.array([each.group for each in self.examples])
        self.names = _names(self.words, [each.group for each in self.examples])
        self.scale = np.array([WEAK_AT if name.startswith(WEAK) else 1.0 for name in self.names])
        self.x = matrix(self.words, self.names, self.scale)

    def gold(self, dimension: int) -> Array:
        """1 for the right-hand word, 0 for the left-hand one, -1 where it is open."""
        left, right = WORDS[dimension]
        return np.array([{left: 0, right: 1}.get(each.labels[dimension], -1) for each in self.examples])


def _names(words: Sequence[Sequence[str]], groups: Sequence[str]) -> list[str]:
    held = Counter(
        name for _, name in {(group, name) for one, group in zip(words, groups, strict=True) for name in one}
    )
    most = MOST_TEXT * len(set(groups))
    return sorted(
        name
        for name, count in held.items()
        if count >= LEAST_SESSIONS and (name[:5] != "word:" or LEAST_TEXT <= count <= most)
    )


def matrix(words: Sequence[Sequence[str]], names: Sequence[str], scale: Array) -> Array:
    """A row for each call, a column for each name."""
    at = {name: number for number, name in enumerate(names)}
    rows, columns = [], []
    for number, one in enumerate(words):
        for name in one:
            if name in at:
                rows.append(number)
                columns.append(at[name])
    return csr_matrix((scale[columns], (rows, columns)), shape=(len(words), len(names)))


def folds(groups: Array) -> list[Array]:
    """Sessions dealt into folds of about equal size, always the same way; each as a mask."""
    sizes = Counter(groups.tolist())
    load, place = [0] * FOLDS, {}
    for group, size in sorted(sizes.items(), key=lambda item: (-item[1], item[0])):
        fold = load.index(min(load))
        load[fold] += size
        place[group] = fold
    dealt = np.array([place[group] for group in groups.tolist()])
    return [dealt == fold for fold in range(FOLDS) if (dealt == fold).any()]


def fit(
    x: Array, gold: Array, dimension: str, strength: float | None = None, balance: float | None = None
) -> LogisticRegression:
    """One regression; the rarer word weighs more as BALANCE says."""
    share = max(0.02, min(0.98, float(gold.mean())))
    power = BALANCE[dimension] if balance is None else balance
    weight = {0: (0.5 / (1 - share)) ** power, 1: (0.5 / share) ** power}
    model = LogisticRegression(
        C=strength or STRENGTH[dimension], class_weight=weight, solver="lbfgs", max_iter=2000, tol=1e-8
    )
    return model.fit(x, gold)


def unseen(table: Table, dimension: int, **options: float) -> Array:
    """Decision values of every example, each by a model without its fold; NaN where there is no label."""
    gold = table.gold(dimension)
    out = np.full(len(gold), np.nan)
    for held in folds(table.groups):
        known = ~held & (gold >= 0)
        if len(set(gold[known].tolist())) < 2:
            continue
        model = fit(table.x[known], gold[known], DIMENSIONS[dimension], **options)
        out[held] = model.decision_function(table.x[held])
    return out


@dataclass(frozen=True, slots=True)
class Calibration:
    """Platt's: log-odds = slope * decision + shift; `lean` is the part of the shift that favours the rarer word."""

    slope: float
    shift: float
    lean: float


def calibrate(decisions: Array, gold: Array) -> Calibration:
    """What makes decision values of unseen examples log-odds, moved so that 0 divides the words best."""
    known = (gold >= 0) & ~np.isnan(decisions)
    platt = LogisticRegression(C=1e6, solver="lbfgs", max_iter=1000, tol=1e-10)
    platt.fit(decisions[known].reshape(-1, 1), gold[known])
    slope, shift = float(platt.coef_[0, 0]), float(platt.intercept_[0])
    moved = lean(decisions[known] * slope + shift, gold[known])
    return Calibration(slope, shift + moved, moved)


def lean(logits: Array, gold: Array) -> float:
    """What to add to log-odds so that macro-F1 is best: the middle of all shifts that are as good as the best.

    Where one word is rare, an honest probability of one half is reached so seldom that most of it would be missed.
    """
    found = {shift: macro_f1(gold, logits + shift) for shift in LEANS}
    good = [shift for shift, value in found.items() if value > max(found.values()) - AS_GOOD]
    return round(sum(good) / len(good), 3)


def scores(decisions: Array, calibration: Calibration) -> Array:
    """Signed scores in [-1, 1]."""
    return np.tanh((decisions * calibration.slope + calibration.shift) / 2)


def macro_f1(gold: Array, found: Array) -> float:
    """Of both words, always answering."""
    known = gold >= 0
    return float(f1_score(gold[known], found[known] > 0, average="macro", zero_division=0.0))
