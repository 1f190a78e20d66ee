"""Metrics of boundaries against gold: precision, recall, F1, Pk, WindowDiff, cut rate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict


class Figures(TypedDict):
    """The figures of one method; pk and window_diff are None where every session is too short for a window."""

    precision: float
    recall: float
    f1: float
    pk: float | None
    window_diff: float | None
    cut_rate: float
    true_rate: float
    sessions: int
    prompts: int


def prf(hits: int, alarms: int, missed: int) -> tuple[float, float, float]:
    """Precision, recall and F1 from counts; 0 where undefined."""
    precision = hits / (hits + alarms) if hits + alarms else 0.0
    recall = hits / (hits + missed) if hits + missed else 0.0
    return precision, recall, 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def default_window(gold: Sequence[bool]) -> int:
    """Half the mean length of a gold segment (Beeferman), at least 2, at most the text."""
    count = len(gold) + 1
    return max(2, min(count - 1, round(count / (1 + sum(gold)) / 2)))


def pk(gold: Sequence[bool], cuts: Sequence[bool], window: int | None = None) -> float | None:
    """Beeferman's Pk. gold[i] is the boundary between unit i and i + 1. None when the text is too short."""
    return _windows(gold, cuts, window, exact=False)


def window_diff(gold: Sequence[bool], cuts: Sequence[bool], window: int | None = None) -> float | None:
    """Pevzner and Hearst's WindowDiff on the same windows as Pk."""
    return _windows(gold, cuts, window, exact=True)


def _windows(gold: Sequence[bool], cuts: Sequence[bool], window: int | None, *, exact: bool) -> float | None:
    window = window or default_window(gold)
    count = len(gold) + 1 - window
    if count <= 0:
        return None
    bad = 0
    for start in range(count):
        true, said = sum(gold[start : start + window]), sum(cuts[start : start + window])
        bad += (true != said) if exact else ((true > 0) != (said > 0))
    return bad / count


def _mean(values: Sequence[float | None]) -> float | None:
    some = [value for value in values if value is not None]
    return round(sum(some) / len(some), 4) if some else None


def figures(golds: Sequence[Sequence[bool]], cuts: Sequence[Sequence[bool]]) -> Figures:
    """Over sessions: precision, recall and F1 of all prompts together, Pk and WindowDiff as means of the sessions."""
    pairs = [pair for gold, cut in zip(golds, cuts, strict=True) for pair in zip(gold, cut, strict=True)]
    hits = sum(gold and cut for gold, cut in pairs)
    alarms = sum(cut and not gold for gold, cut in pairs)
    missed = sum(gold and not cut for gold, cut in pairs)
    precision, recall, f1 = prf(hits, alarms, missed)
    count = len(pairs) or 1
    return Figures(
        precision=round(precision, 4), recall=round(recall, 4), f1=round(f1, 4),
        pk=_mean([pk(gold, cut) for gold, cut in zip(golds, cuts, strict=True)]),
        window_diff=_mean([window_diff(gold, cut) for gold, cut in zip(golds, cuts, strict=True)]),
        cut_rate=round((hits + alarms) / count, 4), true_rate=round((hits + missed) / count, 4),
        sessions=len(golds), prompts=len(pairs),
    )  # fmt: skip
