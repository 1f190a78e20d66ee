"""Fits the linking formula on labelled pairs, and reports results on unseen projects.

    python -m nmem.training.linking PAIRS.jsonl [--weights nmem/threads/linking.json] [--people PEOPLE.json]

Ridge logistic regression on the five numbers of nmem.threads.formula, drawn towards equal standardised weights
(recency twice, topic half). Everything is deterministic. PEOPLE maps session ids to persons, for folds by person.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nmem.evaluate import linking as ev
from nmem.threads.formula import NAMES, Example, Likeness, scale, seed

Numbers = list[tuple[Likeness, Example]]
_DRAWS = 2000


def interval(gold: Sequence[bool], verdicts: Sequence[bool], groups: Sequence[str]) -> tuple[float, float]:
    """The 90 % interval of F1, with groups (later sessions) drawn anew, from a fixed seed."""
    tallies: dict[str, list[int]] = {}
    for true, verdict, group in zip(gold, verdicts, groups, strict=True):
        tally = tallies.setdefault(group, [0, 0])
        tally[0] += 2 * (true and verdict)
        tally[1] += true + verdict
    all_of = list(tallies.values())
    draw = random.Random(0)  # noqa: S311 - a bootstrap, no secret
    found = []
    for _ in range(_DRAWS):
        drawn = draw.choices(all_of, k=len(all_of))
        found.append(sum(tally[0] for tally in drawn) / max(1, sum(tally[1] for tally in drawn)))
    found.sort()
    return found[_DRAWS // 20], found[-_DRAWS // 20 - 1]


def without(numbers: Numbers, name: str) -> Numbers:
    """The same with one number always 0."""
    at = NAMES.index(name)
    out = []
    for _, each in numbers:
        values = tuple(0.0 if number == at else value for number, value in enumerate(each.values))
        out.append((Likeness(*values), Example(values, each.related)))
    return out


def report(pairs: list[ev.Pair], people: dict[str, str]) -> list[str]:
    """Lines of text: folds by project and by person, baselines, each number left out."""
    known = ev.backgrounds(pairs)
    numbers = [pair.example(known[pair.project]) for pair in pairs]
    gold = [pair.linked for pair in pairs]
    later = [pair.later_id for pair in pairs]
    groups = {"project": [pair.project for pair in pairs]}
    if people:
        groups["person"] = [people.get(pair.later_id, pair.project) for pair in pairs]
    lines = [_line("always", ev.figures(gold, [True] * len(gold)))]
    lines += [
        _line(f"gap under {hours} h", ev.figures(gold, [pair.gap_minutes < 60 * hours for pair in pairs]))
        for hours in (1, 4)
    ]
    lines.append(_line("seed weights, above .7", ev.figures(gold, [seed().links(like) for like, _ in numbers])))
    for name, of in groups.items():
        verdicts = ev.held_out(numbers, of)
        low, high = interval(gold, verdicts, later)
        lines.append(_line(f"folds by {name}", ev.figures(gold, verdicts)) + f"  90 % {low:.3f}-{high:.3f}")
        for left in NAMES:
            lines.append(_line(f"  without {left}", ev.figures(gold, ev.held_out(without(numbers, left), of))))
    return lines


def _line(name: str, figures: dict[str, Any]) -> str:
    return f"{name:28s}" + " ".join(f"{key} {figures[key]:.3f}" for key in ("precision", "recall", "f1", "accuracy"))


def train(pairs: list[ev.Pair]) -> dict[str, Any]:
    """The formula fitted on all pairs, as it is stored."""
    known = ev.backgrounds(pairs)
    examples = [pair.example(known[pair.project])[1] for pair in pairs]
    centre, spread = scale([each.values for each in examples])
    return ev.trained(examples, centre, spread).to_dict()


def main(argv: Sequence[str] | None = None) -> None:
    """Print the report; with --weights, write the formula."""
    parser = argparse.ArgumentParser(description="Fit the linking formula.")
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--weights", type=Path)
    parser.add_argument("--people", type=Path)
    given = parser.parse_args(argv)
    pairs = list(ev.records(given.files))
    people = json.loads(given.people.read_text(encoding="utf-8")) if given.people else {}
    sys.stdout.write("\n".join(report(pairs, people)) + "\n")
    if given.weights:
        given.weights.write_text(json.dumps(train(pairs), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
