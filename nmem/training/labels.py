"""Fits the five call classifiers on the labelled corpus; writes the weights that hooks read, and the model card.

    python -m nmem.training.labels [CORPUS.jsonl ...] [--table FILE] [--card FILE]

Sessions are the folds' groups. Scores are calibrated, and the thresholds of abstention are set, on examples whose
session the model has not seen. The same corpus gives the same table.
"""

from __future__ import annotations

import argparse
import json
import marshal
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from capture.labels import DIMENSIONS, WORDS
from capture.labels import model as engine
from nmem.evaluate.labels import figures, verdicts
from nmem.labels.corpus import Example, examples, files
from nmem.training import label_fit as lf

ACCURACY = {"phase": 0.99, "scope": 0.96, "locus": 0.995, "novelty": 0.96, "friction": 0.995}
"""What answers on unseen sessions are held to; thresholds are the smallest that reach it. Stricter than what is said
of other people's sessions (.95 for phase, locus, friction): these are less like the corpus than it is like itself."""
STEP = 0.02
MOST = 0.98
CARD = Path(engine.SHIPPED).with_name("card.json")
_STRONGEST = 12


@dataclass(frozen=True, slots=True)
class Fitted:
    """A table as it is written, and what is known of it."""

    data: bytes
    card: dict[str, Any]

    @property
    def name(self) -> str:
        """Twelve hexadecimal digits of what the table holds."""
        return str(self.card["name"])


def train(corpus: Sequence[Example]) -> Fitted:
    """Fit all five dimensions."""
    table = lf.Table(corpus)
    columns, constants, thresholds, cards = [], [], [], {}
    for at, name in enumerate(DIMENSIONS):
        gold, held_out = table.gold(at), lf.unseen(table, at)
        calibration = lf.calibrate(held_out, gold)
        scores = lf.scores(held_out, calibration)
        threshold = least(scores, gold, ACCURACY[name])
        known = gold >= 0
        model = lf.fit(table.x[known], gold[known], name)
        columns.append(model.coef_[0] * table.scale * calibration.slope)
        constants.append(float(model.intercept_[0]) * calibration.slope + calibration.shift)
        thresholds.append(threshold)
        cards[name] = {"lean": calibration.lean, **card_of(table, at, scores, threshold, columns[-1])}
    weights = {name: packed for name, row in zip(table.names, np.array(columns).T.tolist(), strict=True)
               if (packed := engine.pack(row))}  # fmt: skip
    constant = engine.pack(constants)
    name = _name(weights, constant, thresholds)
    data = marshal.dumps((engine.FORMAT, name, weights, constant, thresholds), 2)
    card = {"name": name, "corpus": _size(corpus), "words": len(weights), "folds": lf.FOLDS, "dimensions": cards}
    return Fitted(data, card)


def least(scores: lf.Array, gold: lf.Array, accuracy: float) -> float:
    """The smallest threshold from which on the answers are as accurate as that."""
    known = (gold >= 0) & ~np.isnan(scores)
    right = (scores[known] > 0) == (gold[known] == 1)
    far = np.abs(scores[known])
    for step in range(int(MOST / STEP) + 1):
        answered = far >= step * STEP
        if answered.any() and right[answered].mean() >= accuracy:
            return round(step * STEP, 4)
    return MOST


def _name(weights: dict[str, int], constant: int, thresholds: Sequence[float]) -> str:
    held = json.dumps([sorted(weights.items()), constant, list(thresholds)]).encode()
    return blake2b(held, digest_size=6).hexdigest()


def _size(corpus: Sequence[Example]) -> dict[str, Any]:
    sessions = {each.group: each.language for each in corpus}
    spoken = Counter(sessions.values())
    return {"calls": len(corpus), "sessions": len(sessions), "languages": dict(sorted(spoken.items()))}


def card_of(table: lf.Table, at: int, scores: lf.Array, threshold: float, weights: lf.Array) -> dict[str, Any]:
    """What is known of one dimension."""
    words, gold = WORDS[at], table.gold(at)
    named = [each.labels[at] for each in table.examples]
    pairs = [(word, float(score), bool(abs(score) >= threshold)) for word, score in zip(named, scores, strict=True)]
    rules = [(word, 1.0 if verdicts(each.seen)[at] else -1.0, True)
             for word, each in zip(named, table.examples, strict=True)]  # fmt: skip
    order = np.argsort(weights)
    missed = [(abs(float(score)), each) for score, each, truth in zip(scores, table.examples, gold, strict=True)
              if truth >= 0 and (score > 0) != (truth == 1)]  # fmt: skip
    missed.sort(key=lambda item: (-item[0], item[1].where))
    return {
        "words": list(words),
        "classes": {word: named.count(word) for word in (*words, "?")},
        "threshold": threshold,
        "held_to": ACCURACY[DIMENSIONS[at]],
        "folds": figures(pairs, words),
        "rules": figures(rules, words),
        "strongest": {words[0]: [table.names[n] for n in order[:_STRONGEST]],
                      words[1]: [table.names[n] for n in order[: -_STRONGEST - 1 : -1]]},
        "missed": [{"call": each.title[:80], "is": each.labels[at], "where": each.where} for _, each in missed[:8]],
    }  # fmt: skip


def main(argv: Sequence[str] | None = None) -> None:
    """Fit, write and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", nargs="*", type=Path)
    parser.add_argument("--table", type=Path, default=Path(engine.SHIPPED))
    parser.add_argument("--card", type=Path, default=CARD)
    given = parser.parse_args(argv)
    fitted = train(list(examples(given.corpus or files())))
    given.table.write_bytes(fitted.data)
    given.card.write_text(json.dumps(fitted.card, indent=1, ensure_ascii=False) + "\n", "utf-8")
    out = sys.stdout.write
    out(f"{fitted.name}: {fitted.card['corpus']}, {fitted.card['words']} words, {len(fitted.data)} bytes\n")
    for name, card in fitted.card["dimensions"].items():
        found, rules = card["folds"], card["rules"]
        sure = f"{found['accuracy_answered']:.3f} at {found['coverage']:.2f}, threshold {card['threshold']}"
        out(f"{name:9} macro-F1 {found['macro_f1']:.3f} (rules {rules['macro_f1']:.3f}), accuracy {sure}\n")


if __name__ == "__main__":
    main()
