"""Refits the thread-linking formula after every hundred outcomes, and records each attempt.

The fit is drawn towards the formula in force. A quarter of the outcomes (by later thread) is held out; the new formula
is adopted only when it does better on these. Weights, threshold, how far to believe whom when algorithm and model
disagree, and what to tell the model about what it overlooked: all come from the other three quarters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from sqlite3 import Connection
from typing import Any

from capture.storage.store import transaction
from nmem.threads import links_store
from nmem.threads.decisions import PERSON, Decision, Tuning
from nmem.threads.formula import NAMES, Example, Formula, Likeness, fit, raw, shipped
from nmem.threads.link import Assessment, current, decide

EVERY = 100
RIDGE = 15.0
HINT_WEIGHT = 0.5
"""What an outcome by files or by a remark counts beside a person's answer."""
HELD = 4
"""One later thread in so many is held out."""
LEAST = 5
"""Held-out outcomes of either kind below which nothing is adopted."""
_THRESHOLDS = [round(0.3 + 0.02 * step, 2) for step in range(21)]
_SMOOTH = 10.0
_OVERLOOKED = {
    "keywords": "rare words in common",
    "entities": "files, symbols or issue numbers named in both",
    "files": "words of the file names that were touched",
    "topic": "resemblance to the same other sessions",
    "recency": "how little time has passed",
}


@dataclass(frozen=True, slots=True)
class Case:
    """A decision whose truth is known, as numbers."""

    like: Likeness
    related: bool
    weight: float
    assessment: Assessment | None
    later: int


def due(db: Connection) -> bool:
    """Have a hundred outcomes come in since the last tuning?"""
    history = links_store.tunings(db, 1)
    seen = int(history[0].metrics.get("outcomes", 0)) if history else 0
    if links_store.outcomes_known(db) - seen < EVERY:
        return False
    return len(cases(links_store.with_outcome(db))) - seen >= EVERY


def tune(db: Connection, now: int, *, force: bool = False) -> Tuning | None:
    """Re-fit when it is due (or forced), keep what came of it, and give it back; None when it is not due."""
    if not force and not due(db):
        return None
    found = cases(links_store.with_outcome(db))
    before = current(db, "fitted")
    after, metrics, reason = refit(before, found)
    metrics["outcomes"] = len(found)
    with transaction(db):
        links_store.keep_tuning(db, now, before.to_dict(), after.to_dict(), reason, metrics)
    return links_store.tunings(db, 1)[0]


def cases(known: Sequence[Decision]) -> list[Case]:
    """Decisions with an outcome, as numbers; those of a formula with other numbers are left out."""
    out = []
    for each in known:
        if each.related is None or set(each.components) != set(NAMES):
            continue
        like = Likeness(*(each.components[name] for name in NAMES))
        said = None
        if each.llm_related is not None:
            said = Assessment(each.llm_related, each.llm_confidence or 0.0)
        weight = 1.0 if each.outcome_by == PERSON else HINT_WEIGHT
        out.append(Case(like, each.related, weight, said, each.later_thread_id))
    return out


def refit(before: Formula, found: Sequence[Case]) -> tuple[Formula, dict[str, Any], str]:
    """A formula fitted on three quarters, its metrics on the fourth, and why it is adopted or not."""
    seen = [case for case in found if case.later % HELD]
    held = [case for case in found if not case.later % HELD]
    after = _fitted(before, seen)
    metrics = {**_named(before, held, "before"), **_named(after, held, "after"), "held_out": len(held)}
    metrics["disagreements"] = _disagreements(found)
    related = sum(case.related for case in held)
    enough = min(related, len(held) - related) >= LEAST
    better = (metrics["f1_after"], metrics["accuracy_after"]) > (metrics["f1_before"], metrics["accuracy_before"])
    metrics["adopted"] = enough and better
    if not enough:
        return before, metrics, f"kept: only {len(held)} outcomes held out, {related} of them related"
    if not better:
        return before, metrics, f"kept: F1 {metrics['f1_before']:.3f} held out, {metrics['f1_after']:.3f} if re-fitted"
    return after, metrics, _reason(metrics)


def _reason(metrics: dict[str, Any]) -> str:
    return (
        f"F1 {metrics['f1_before']:.3f} to {metrics['f1_after']:.3f} held out; false positives"
        f" {metrics['false_positive_rate_before']:.1%} to {metrics['false_positive_rate_after']:.1%}, false negatives"
        f" {metrics['false_negative_rate_before']:.1%} to {metrics['false_negative_rate_after']:.1%}"
    )


def _fitted(before: Formula, seen: Sequence[Case]) -> Formula:
    scale = before if before.spread else shipped()
    centre, spread = [[part[name] for name in NAMES] for part in (scale.centre, scale.spread)]
    weights = [before.weights[name] for name in NAMES]
    prior = [
        before.bias + sum(w * c for w, c in zip(weights, centre, strict=True)),
        *(w * s for w, s in zip(weights, spread, strict=True)),
    ]
    examples = [Example(case.like.values(), case.related, case.weight) for case in seen]
    bias, found = raw(fit(examples, centre, spread, prior, RIDGE), centre, spread)
    after = replace(
        before, weights=dict(zip(NAMES, found, strict=True)), bias=bias,
        centre=dict(zip(NAMES, centre, strict=True)), spread=dict(zip(NAMES, spread, strict=True)),
        trust=_trust(seen, before), hints=_hints(seen),
    )  # fmt: skip
    return replace(after, threshold=_threshold(after, seen, before.threshold))


def _threshold(formula: Formula, seen: Sequence[Case], now: float) -> float:
    """The threshold of the best F1 on what was seen; among equals the one nearest to the present one."""

    def quality(threshold: float) -> tuple[float, float]:
        return _rates(replace(formula, threshold=threshold), seen)["f1"], -abs(threshold - now)

    return max(sorted({*_THRESHOLDS, now}), key=quality)


def _rates(formula: Formula, found: Sequence[Case]) -> dict[str, float]:
    """Weighted accuracy, F1, false positive and false negative rate of the decisions a formula would make."""
    tally = {(True, True): 0.0, (True, False): 0.0, (False, True): 0.0, (False, False): 0.0}
    for case in found:
        verdict = decide(formula.score(case.like), formula, case.assessment).linked
        tally[verdict, case.related] += case.weight
    hit, wrong, missed, quiet = tally[True, True], tally[True, False], tally[False, True], tally[False, False]
    return {
        "accuracy": _share(hit + quiet, hit + wrong + missed + quiet),
        "f1": _share(2 * hit, 2 * hit + wrong + missed),
        "false_positive_rate": _share(wrong, wrong + quiet),
        "false_negative_rate": _share(missed, missed + hit),
    }


def _share(part: float, whole: float) -> float:
    return round(part / whole, 4) if whole else 0.0


def _named(formula: Formula, held: Sequence[Case], when: str) -> dict[str, Any]:
    return {f"{name}_{when}": value for name, value in _rates(formula, held).items()}


def _split(found: Sequence[Case], formula: Formula) -> list[Case]:
    """Cases in which the algorithm and the model disagree."""
    return [
        case for case in found if case.assessment is not None and formula.links(case.like) != case.assessment.related
    ]


def _disagreements(found: Sequence[Case], formula: Formula | None = None) -> dict[str, int]:
    known = _split(found, formula or shipped())
    model = sum(case.assessment is not None and case.assessment.related == case.related for case in known)
    return {"n": len(known), "model_right": model, "algorithm_right": len(known) - model}


def _trust(seen: Sequence[Case], before: Formula) -> dict[str, float]:
    """How often each is right when they disagree, against half of the time; nothing known is 1."""
    told = _disagreements(seen, before)
    return {
        who: round(2 * (told[f"{who}_right"] + _SMOOTH / 2) / (told["n"] + _SMOOTH), 3)
        for who in ("algorithm", "model")
    }


def _hints(seen: Sequence[Case]) -> tuple[str, ...]:
    """What spoke for a link that the model did not see, most often first."""
    missed = [case for case in seen if case.related and case.assessment is not None and not case.assessment.related]
    likes = [dict(zip(NAMES, case.like.values(), strict=True)) for case in missed]
    counts = {name: sum(like[name] >= 0.5 for like in likes) for name in NAMES}
    often = sorted((name for name in NAMES if counts[name] >= max(2, len(missed) / 3)), key=lambda name: -counts[name])
    return tuple(_OVERLOOKED[name] for name in often)
