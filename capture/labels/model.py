"""Loads the classifiers' weight table, and sums the weights of a tool call's features to five scores.

The five weights of a word are one whole number, a field of 40 bits each, so that a call's scores are the sum of its
words' numbers. A field holds 2^-28ths; sums stay below 2^11, so no field runs over into the next. A score is 2p - 1,
where p is the calibrated probability of the right-hand word (capture.labels.WORDS), moved so that 0 divides the two
words where macro-F1 is best: docs/labels.md.
"""

from __future__ import annotations

import marshal
import os

from capture.labels.features import parts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from capture.labels.calls import Seen

    Labels = tuple[float | None, float | None, float | None, float | None, float | None]

FORMAT = 1
FIELD = 40
SCALE = 1 << 28
_MASK = (1 << FIELD) - 1
_HALF = 1 << FIELD - 1
_HALVES = sum(_HALF << FIELD * at for at in range(5))
_FAR = 40.0
_NAME = 12
_E = 2.718281828459045
_KEPT = 4_096
SHAPE = (int, str, dict, int, [float])
"""Of the file: format, name, the weights (word: number), the constant, the five thresholds."""


class Model:
    """One fitted table; `name` is twelve hexadecimal digits of what it holds."""

    __slots__ = ("_prompts", "constant", "name", "thresholds", "weights")

    def __init__(self, name: str, weights: dict[str, int], constant: int, thresholds: Sequence[float]) -> None:
        self.name = name
        self.weights = weights
        self.constant = constant
        self.thresholds = tuple(thresholds)
        """How far from 0 a score must be for an answer, by dimension."""
        self._prompts: dict[tuple[str, str], int] = {}

    def logits(self, words: Iterable[str]) -> list[float]:
        """The log-odds of the five right-hand words."""
        return _unpacked(sum(filter(None, map(self.weights.get, words)), self.constant + _HALVES))

    def scores(self, words: Iterable[str]) -> list[float]:
        """Five calibrated scores in [-1, 1]."""
        return _scores(self.logits(words))

    def label(self, seen: Seen) -> Labels:
        """The five scores of a call, rounded for storing; None where the model abstains."""
        prompt, role, words = parts(seen)
        key = (prompt.text, role)
        shared = self._prompts.get(key)
        if shared is None:
            shared = self._shared(key, prompt.features(role))
        a, b, c, d, e = _scores(_unpacked(sum(filter(None, map(self.weights.get, words)), shared)))
        at = self.thresholds
        return (
            round(a, 4) if abs(a) >= at[0] else None, round(b, 4) if abs(b) >= at[1] else None,
            round(c, 4) if abs(c) >= at[2] else None, round(d, 4) if abs(d) >= at[3] else None,
            round(e, 4) if abs(e) >= at[4] else None,
        )  # fmt: skip

    def _shared(self, key: tuple[str, str], words: Iterable[str]) -> int:
        """What a prompt adds to all calls of one role, with the constant."""
        if len(self._prompts) >= _KEPT:
            self._prompts.clear()
        total = self._prompts[key] = sum(filter(None, map(self.weights.get, words)), self.constant + _HALVES)
        return total


def _unpacked(total: int) -> list[float]:
    return [
        ((total & _MASK) - _HALF) / SCALE, ((total >> FIELD & _MASK) - _HALF) / SCALE,
        ((total >> 2 * FIELD & _MASK) - _HALF) / SCALE, ((total >> 3 * FIELD & _MASK) - _HALF) / SCALE,
        ((total >> 4 * FIELD & _MASK) - _HALF) / SCALE,
    ]  # fmt: skip


def _scores(logits: list[float]) -> list[float]:
    return [2.0 / (1.0 + _E**-one) - 1.0 if -_FAR < one < _FAR else 1.0 if one > 0 else -1.0 for one in logits]


def pack(fields: Sequence[float]) -> int:
    """Five numbers as one."""
    total = 0
    for field in reversed(fields):
        total = (total << FIELD) + round(field * SCALE)
    return total


def made(value: object) -> Model | None:
    """A model from a file's value; None when it is not of this format."""
    from capture.cache import fits  # on use: start-up stays short

    if not fits(value, SHAPE) or not isinstance(value, tuple) or value[0] != FORMAT or len(value[4]) != 5:
        return None
    _, name, weights, constant, thresholds = value
    named = len(name) == _NAME and not name.strip("0123456789abcdef")
    if not named or {*map(type, weights)} - {str} or {*map(type, weights.values())} - {int}:
        return None
    return Model(name, weights, constant, thresholds)


def shipped() -> Model | None:
    """The model that nmem comes with; None when its file is damaged."""
    try:
        handle = os.open(SHIPPED, os.O_RDONLY)
        try:
            data = os.read(handle, 1 << 24)
        finally:
            os.close(handle)
        return made(marshal.loads(data))  # noqa: S302 - part of the package, as its bytecode is
    except (OSError, ValueError, TypeError, EOFError):
        return None


SHIPPED = os.path.join(os.path.dirname(__file__), "labels.bin")
_current: dict[str, tuple[tuple[int, ...], Model | None]] = {}


def current(db_path: str) -> Model | None:
    """The person's own model where there is a valid one beside the database, else the shipped one.

    Kept in memory for as long as the person's file is the same one.
    """
    file = personal_file(db_path) if db_path else ""
    stamp = _stamp(file)
    known = _current.get(file)
    if known is None or known[0] != stamp:
        known = _current[file] = stamp, (_personal(file) if stamp else None) or shipped()
    return known[1]


def forget() -> None:
    """Read the files anew at the next call."""
    _current.clear()


def personal_file(db_path: str) -> str:
    """Where a person's own model lies: beside the database itself, whatever links lead to it."""
    return os.path.join(os.path.dirname(os.path.realpath(db_path)), "labels.bin")


def _stamp(file: str) -> tuple[int, ...]:
    """What changes with a file; nothing where there is none."""
    try:
        found = os.stat(file)
    except (OSError, ValueError):
        return ()
    return found.st_ctime_ns, found.st_ino, found.st_size


def _personal(file: str) -> Model | None:
    from capture import cache  # on use: start-up stays short

    return made(cache.read(file, SHAPE))
