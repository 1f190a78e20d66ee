"""Fits the weights of context ranking on a database's own history (SQL), and reports results on other data.

    NMEM_DB=history.db python -m nmem.training.context [--curves]

Logistic regression on the features of nmem.context.rank, each session replayed as of its first prompt; folds leave a
project out (small ones together). What is printed last is rounded by hand into nmem/context/rank.py.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import exp

from capture import paths
from nmem.context import review_store
from nmem.context.items import tokens
from nmem.context.rank import FEATURES, PROMPT, Ranking, choose, rank
from nmem.evaluate.context import moments
from nmem.evaluate.store import Moment, as_it_was

Weights = tuple[float, ...]
LARGE = 30
"""Moments from which a project is a fold of its own."""
_AT_START = (3, 4, 5, 6)
"""Features that are known before anything is asked."""


@dataclass(frozen=True, slots=True)
class Example:
    """A moment with what ranking saw of it."""

    moment: Moment
    group: str
    prompt: Ranking
    start: Ranking


def material(path: str) -> list[Example]:
    """Every moment of a database, replayed."""
    with review_store.as_of(path) as db:
        asked = moments(db)
    sizes = Counter(one.project for one in asked)
    out = []
    with review_store.as_of(path) as db:
        for one in asked:
            as_it_was(db, one)
            group = one.project if sizes[one.project] >= LARGE else "others"
            out.append(Example(one, group, rank(db, one.project_id, one.prompt), rank(db, one.project_id)))
    return out


def fit(rows: Sequence[Sequence[float]], right: Sequence[bool]) -> Weights:
    """A bias and a weight for each number."""
    from sklearn.linear_model import LogisticRegression  # on use: start-up stays short

    model = LogisticRegression(max_iter=1000).fit(rows, right)
    return (float(model.intercept_[0]), *(float(each) for each in model.coef_[0]))


def fit_files(examples: Sequence[Example], *, start: bool = False) -> Weights:
    """Weights of the features of files; 0 for what is not known at a start."""
    used = _AT_START if start else tuple(range(len(FEATURES)))
    rows, right = [], []
    for one in examples:
        ranking = one.start if start else one.prompt
        for number, values in ranking.features.items():
            rows.append([values[at] for at in used])
            right.append(ranking.paths[number] in one.moment.gold)
    bias, *each = fit(rows, right)
    known = dict(zip(used, each, strict=True))
    return (bias, *(known.get(at, 0.0) for at in range(len(FEATURES))))


def ranked(ranking: Ranking, by: Weights) -> list[tuple[float, int]]:
    """Files by other weights, the likeliest first."""
    bias, *each = by
    out = [
        (1.0 / (1.0 + exp(-bias - sum(w * v for w, v in zip(each, values, strict=True)))), number)
        for number, values in ranking.features.items()
    ]
    return sorted(out, reverse=True)


def held_out(examples: Sequence[Example], *, start: bool = False) -> Iterator[tuple[Example, list[tuple[float, int]]]]:
    """Each example ranked by weights that were fitted without its project."""
    for group in sorted({one.group for one in examples}):
        by = fit_files([one for one in examples if one.group != group], start=start)
        for one in examples:
            if one.group == group:
                yield one, ranked(one.start if start else one.prompt, by)


def line(label: str, named: Sequence[tuple[Example, list[str]]]) -> str:
    """Hit rate, precision, names and their tokens."""
    count = len(named)
    given = sum(len(names) for _, names in named)
    hits = [len(one.moment.gold.intersection(names)) for one, names in named]
    cost = sum(tokens(each) for _, names in named for each in names)
    return (
        f"{label:36s} hit {sum(map(bool, hits)) / count:.3f}  precision {sum(hits) / max(1, given):.3f}"
        f"  names {given / count:4.1f}  tokens {cost / count:4.0f}  n {count}"
    )


def report(examples: Sequence[Example], *, curves: bool) -> list[str]:
    """Lines of text: held out, in sample, curves, weights."""
    at_prompt = list(held_out(examples))
    at_start = list(held_out(examples, start=True))
    out = [line("held out, at the prompt", _named(at_prompt))]
    out += [
        line(f"  {group}", _named([one for one in at_prompt if one[0].group == group]))
        for group in sorted({one.group for one in examples})
    ]
    out.append(line("held out, at the start", _named(at_start, start=True)))
    shipped = [(one, ranked(one.prompt, PROMPT)) for one in examples]
    out.append(line("shipped weights, in sample", _named(shipped)))
    if curves:
        for count in (3, 5, 10, 20):
            out.append(
                line(f"held out, {count} names", [(one, _paths(one.prompt, got[:count])) for one, got in at_prompt])
            )
            out.append(
                line(f"  at the start, {count} names", [(one, _paths(one.start, got[:count])) for one, got in at_start])
            )
    for name, by in (("PROMPT", fit_files(examples)), ("START", fit_files(examples, start=True))):
        out.append(f"{name} = ({', '.join(f'{each:.1f}' for each in by)})")
    return out


def _named(
    got: Sequence[tuple[Example, list[tuple[float, int]]]], *, start: bool = False
) -> list[tuple[Example, list[str]]]:
    out = []
    for one, files in got:
        ranking = one.start if start else one.prompt
        out.append((one, [ranking.paths[number] for number in choose(ranking, files, asked=not start)]))
    return out


def _paths(ranking: Ranking, files: Sequence[tuple[float, int]]) -> list[str]:
    return [ranking.paths[number] for _, number in files]


def main(argv: Sequence[str] | None = None) -> None:
    """Print the report for the database in use."""
    parser = argparse.ArgumentParser(description="Fit the weights of context ranking.")
    parser.add_argument("--curves", action="store_true", help="Also by the number of names.")
    given = parser.parse_args(argv)
    examples = material(paths.database())
    sys.stdout.write("\n".join(report(examples, curves=given.curves)) + "\n")


if __name__ == "__main__":
    main()
