"""Scores how similar a new thread is to an earlier one, by default weights or by a formula fitted to outcomes.

The fit is ridge logistic regression drawn towards a prior, no weight below zero, by Newton's method in plain Python: it
is deterministic, and a handful of outcomes cannot overturn what was known. Training and tuning share it.

    keywords   the three rarest words that the first prompt shares with the earlier prompts; a word of every project or
               of every conversation says little
    entities   files, symbols and issue numbers that the first prompt names and the earlier thread knows
    files      the two rarest words that the first prompt shares with the names of the files touched
    topic      do both resemble the same other sessions of the project? Finds what is alike without a word in common
    recency    half by the hour, half by the day

Rarity and resemblance come from the project's own history (Background), so words that are everywhere in it say little.
Branch names are not read. Any language.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from itertools import chain
from math import exp, log1p
from typing import Any, NamedTuple

from nmem.retrieval import naming
from nmem.retrieval.background import Background

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
    examples: Sequence[Example], centre: Sequence[float], spread: Sequence[float], prior: Sequence[float], ridge: float
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


NAMES = ("keywords", "entities", "files", "topic", "recency")
HEAD = 500
"""Characters of the first prompt that say what it is about."""
PROMPT = 1500
"""Characters of an earlier prompt that count towards what a session is about."""
MESSAGE = 800
HOUR, DAY = 60.0, 1440.0


@dataclass(frozen=True, slots=True)
class Earlier:
    """What is known of an earlier thread: what was said, and the files it touched."""

    prompts: tuple[str, ...]
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Likeness:
    """The five numbers."""

    keywords: float
    entities: float
    files: float
    topic: float
    recency: float

    def values(self) -> tuple[float, ...]:
        """In the order of NAMES."""
        return self.keywords, self.entities, self.files, self.topic, self.recency

    def rounded(self) -> dict[str, float]:
        """By name, as it is stored."""
        return {name: round(value, 4) for name, value in zip(NAMES, self.values(), strict=True)}


def said(earlier: Earlier) -> list[str]:
    """The words of an earlier thread: of its prompts and of the names of its files."""
    found = [word for prompt in earlier.prompts for word in _tokens(prompt[:PROMPT])]
    return found + [word for path in earlier.files for word in _file(path).words]


@lru_cache(maxsize=512)
def _tokens(text: str) -> tuple[str, ...]:
    """The words of a prompt, which is compared with the openings of a dozen later threads."""
    return tuple(naming.tokens(text))


class _File(NamedTuple):
    """What a file is called: its name, that without its ending, the words of that, and those of its path's end."""

    name: str
    stem: str
    called: tuple[str, ...]
    words: tuple[str, ...]


@lru_cache(maxsize=4096)
def _file(path: str) -> _File:
    key = naming.path_key(path)
    name = key.rsplit("/", 1)[-1]
    stem = name.rsplit(".", 1)[0]
    return _File(name, stem, tuple(naming.tokens(stem)), tuple(naming.tokens(key)))


def asked(message: str) -> list[str]:
    """The words of a first prompt."""
    return naming.tokens(message[:MESSAGE])


def entities(text: str) -> frozenset[str]:
    """Files, symbols and issue numbers named in a text; a prompt is asked for with each thread it is compared with."""
    return _entities(text[: naming.MAX_CHARS])


@lru_cache(maxsize=2048)
def _entities(text: str) -> frozenset[str]:
    return frozenset(
        naming.file_mentions(text) | naming.symbols(text) | {"#" + number for number in naming.issue_refs(text)}
    )


def recency(gap_minutes: float) -> float:
    """Half by the hour, half by the day; threads that overlap count as adjacent."""
    gap = max(0.0, gap_minutes)
    return 0.5 / (1.0 + gap / HOUR) + 0.5 * float(2.0 ** (-gap / DAY))


def likeness(earlier: Earlier, message: str, gap_minutes: float, background: Background) -> Likeness:
    """How much a thread that opens with `message` is like an earlier one."""
    files = [_file(path) for path in earlier.files]
    head = set(_tokens(message[:HEAD]))
    known = {name for file in files for name in (file.name, file.stem)}
    known.update(*map(entities, earlier.prompts))
    return Likeness(
        keywords=background.most_telling(head.intersection(chain.from_iterable(map(_tokens, earlier.prompts))), 3),
        entities=min(1.0, sum(background.tells(name) for name in entities(message) & known) / 2.0),
        files=background.rarest(head.intersection(chain.from_iterable(file.called for file in files)), 2),
        topic=background.resemblance(said(earlier), asked(message)),
        recency=recency(gap_minutes),
    )


def strongest(parts: Mapping[str, float]) -> list[tuple[str, float]]:
    """Parts of a score, the largest first."""
    return sorted(parts.items(), key=lambda part: (-part[1], part[0]))
