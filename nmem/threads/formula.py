"""Turns similarity into a score: by default weights, or by a fitted logistic formula; and fits it.

The fit is ridge logistic regression drawn towards a prior, no weight below zero, by Newton's method in plain Python: it
is deterministic, and a handful of outcomes cannot overturn what was known. Training and tuning share it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from math import exp, log1p
from typing import Any

from nmem.threads.likeness import NAMES, Likeness, strongest

SEED_THRESHOLD = 0.7
SEED = {"keywords": 0.3, "entities": 0.3, "topic": 0.2, "recency": 0.2}


@dataclass(frozen=True, slots=True)
class Formula:
    """Weights and the score above which threads are linked."""

    method: str
    """seed or fitted."""
    weights: dict[str, float]
    threshold: float
    bias: float = 0.0
    centre: dict[str, float] = field(default_factory=dict)
    """Mean of each number where it was fitted: the scale for tuning."""
    spread: dict[str, float] = field(default_factory=dict)
    trust: dict[str, float] = field(default_factory=dict)
    """How far to believe the algorithm and the model where they disagree; 1 each until outcomes say otherwise."""
    hints: tuple[str, ...] = ()
    """What the model overlooked in the past; told to it."""

    def score(self, like: Likeness) -> float:
        """0 to 1, larger for the same line of work."""
        if self.method == "seed":
            return sum(SEED[name] * value for name, value in _four(like).items())
        z = self.bias + sum(self.weights[name] * value for name, value in zip(NAMES, like.values(), strict=True))
        return _logistic(z)

    def links(self, like: Likeness) -> bool:
        """Does the score alone say: the same line of work?"""
        return self.score(like) > self.threshold

    def why(self, like: Likeness) -> list[tuple[str, float]]:
        """Each number's part in the score, the largest first."""
        values = _four(like) if self.method == "seed" else dict(zip(NAMES, like.values(), strict=True))
        return strongest({name: round(self.weights[name] * value, 2) for name, value in values.items()})

    def to_dict(self) -> dict[str, Any]:
        """As it is stored; rounded, so that what is stored is what is used."""
        return {
            "method": self.method,
            "bias": round(self.bias, 3),
            "threshold": round(self.threshold, 3),
            "weights": _rounded(self.weights),
            "centre": _rounded(self.centre),
            "spread": _rounded(self.spread),
            "trust": _rounded(self.trust),
            "hints": list(self.hints),
        }


def _rounded(values: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 3) for name, value in values.items()}


def _four(like: Likeness) -> dict[str, float]:
    """The seed's four: its topic is ours, by the names of files or by resemblance."""
    return {
        "keywords": like.keywords,
        "entities": like.entities,
        "topic": max(like.files, like.topic),
        "recency": like.recency,
    }


def seed() -> Formula:
    """The seed's plain weights: .3 .3 .2 .2, linked above .7."""
    return Formula("seed", dict(SEED), SEED_THRESHOLD)


def from_dict(stored: Mapping[str, Any]) -> Formula:
    """A stored formula. Raises KeyError, TypeError or ValueError when it is none."""
    weights = {str(name): float(value) for name, value in stored["weights"].items()}
    method = str(stored.get("method", "fitted"))
    if set(weights) != set(SEED if method == "seed" else NAMES):
        raise ValueError("a formula needs a weight for each number")
    centre, spread, trust = (
        {str(k): float(v) for k, v in stored.get(part, {}).items()} for part in ("centre", "spread", "trust")
    )
    hints = tuple(str(hint) for hint in stored.get("hints", ()))
    threshold, bias = float(stored["threshold"]), float(stored.get("bias", 0.0))
    return Formula(method, weights, threshold, bias, centre, spread, trust, hints)


def shipped() -> Formula:
    """The formula that nmem comes with (linking.json, written by nmem.training.linking)."""
    return from_dict(json.loads(resources.files("nmem.threads").joinpath("linking.json").read_text(encoding="utf-8")))


def _logistic(z: float) -> float:
    return 1.0 / (1.0 + exp(-z)) if z >= 0 else exp(z) / (1.0 + exp(z))


# --- fitting ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Example:
    """A pair whose truth is known."""

    values: tuple[float, ...]
    related: bool
    weight: float = 1.0


def scale(rows: Sequence[Sequence[float]]) -> tuple[list[float], list[float]]:
    """Mean and spread of each number; a spread is never near 0."""
    count = len(rows)
    means = [sum(column) / count for column in zip(*rows, strict=True)]
    return means, [
        (sum((value - mean) ** 2 for value in column) / count) ** 0.5 + 0.02
        for column, mean in zip(zip(*rows, strict=True), means, strict=True)
    ]


def fit(
    examples: Sequence[Example],
    centre: Sequence[float],
    spread: Sequence[float],
    prior: Sequence[float],
    ridge: float,
) -> list[float]:
    """Bias and weights on the standardised numbers, drawn towards `prior` (bias first); weights are never below 0."""
    rows: Rows = [
        ([1.0, *((value - mean) / width for value, mean, width in zip(each.values, centre, spread, strict=True))], each)
        for each in examples
    ]
    held: set[int] = set()
    while True:
        found = _newton(rows, list(prior), ridge, held)
        below = {number for number in range(1, len(found)) if found[number] < -1e-9} - held
        if not below:
            return [found[0], *(max(0.0, value) for value in found[1:])]
        held |= below


def raw(found: Sequence[float], centre: Sequence[float], spread: Sequence[float]) -> tuple[float, list[float]]:
    """Bias and weights on the numbers as they are."""
    weights = [value / width for value, width in zip(found[1:], spread, strict=True)]
    return found[0] - sum(weight * mean for weight, mean in zip(weights, centre, strict=True)), weights


Rows = list[tuple[list[float], Example]]


def _newton(rows: Rows, prior: list[float], ridge: float, held: set[int]) -> list[float]:
    """The minimum, by Newton steps that are halved until they lead downwards: far off, whole ones overshoot."""
    at = [0.0 if number in held else value for number, value in enumerate(prior)]
    here = _loss(rows, at, prior, ridge)
    for _ in range(100):
        step = _solve(*_slopes(rows, at, prior, ridge), held)
        size = 1.0
        while size > 1e-9:
            then = [value - size * move for value, move in zip(at, step, strict=True)]
            there = _loss(rows, then, prior, ridge)
            if there < here:
                break
            size /= 2
        else:
            break
        done = here - there < 1e-12 * (1 + abs(here))
        at, here = then, there
        if done:
            break
    return at


def _loss(rows: Rows, at: list[float], prior: list[float], ridge: float) -> float:
    total = ridge / 2 * sum((value - aim) ** 2 for value, aim in zip(at, prior, strict=True))
    for row, each in rows:
        z = sum(a * b for a, b in zip(at, row, strict=True))
        total += each.weight * (max(z, 0.0) + log1p(exp(-abs(z))) - each.related * z)
    return total


def _slopes(rows: Rows, at: list[float], prior: list[float], ridge: float) -> tuple[list[list[float]], list[float]]:
    """Curvature (its lower half) and slope of the loss."""
    size = len(prior)
    slope = [ridge * (value - aim) for value, aim in zip(at, prior, strict=True)]
    curve = [[ridge if i == j else 0.0 for j in range(size)] for i in range(size)]
    for row, each in rows:
        chance = _logistic(sum(a * b for a, b in zip(at, row, strict=True)))
        pull, bend = each.weight * (chance - each.related), each.weight * chance * (1 - chance)
        for i, value in enumerate(row):
            slope[i] += pull * value
            for j in range(i + 1):
                curve[i][j] += bend * value * row[j]
    return curve, slope


def _solve(lower: list[list[float]], right: list[float], held: set[int]) -> list[float]:
    """The step of a positive definite system given by its lower half; what is held does not move."""
    size = len(right)
    free = [number for number in range(size) if number not in held]
    table = [[lower[max(i, j)][min(i, j)] for j in free] + [right[i]] for i in free]
    for column in range(len(free)):
        pivot = table[column][column]
        for row in range(column + 1, len(free)):
            factor = table[row][column] / pivot
            for k in range(column, len(free) + 1):
                table[row][k] -= factor * table[column][k]
    out = [0.0] * size
    for row in range(len(free) - 1, -1, -1):
        rest = sum(table[row][k] * out[free[k]] for k in range(row + 1, len(free)))
        out[free[row]] = (table[row][-1] - rest) / table[row][row]
    return out
