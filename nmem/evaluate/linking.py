"""Evaluates the linking of new threads to earlier ones, on labelled pairs.

A record is {linked, gap_minutes, repo, earlier: {session_id, prompts, files}, later: {session_id, first_prompt}}.
A project's background (what is rare there, what resembles what) is taken from all its sessions in the files, without
labels, as the product takes it from its history. Branch names are not read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmem.errors import NmemError
from nmem.retrieval import naming
from nmem.retrieval.background import Background
from nmem.text import printable
from nmem.threads.formula import (
    NAMES,
    Earlier,
    Example,
    Formula,
    Likeness,
    asked,
    fit,
    likeness,
    raw,
    said,
    scale,
    seed,
    shipped,
)

if TYPE_CHECKING:
    from rich.table import Table

PRIOR = (-1.6, 0.7, 0.7, 0.7, 0.35, 1.4)
"""Bias, then a weight for each of NAMES on the standardised numbers, before anything is fitted."""
RIDGE = 15.0
THRESHOLD = 0.4
"""Fixed beforehand: the score is calibrated, and F1 is best near half the F1 that is reached."""
BASELINE_MINUTES = 240.0


@dataclass(frozen=True, slots=True)
class Pair:
    """One labelled pair of sessions of a project."""

    project: str
    linked: bool
    gap_minutes: float
    earlier_id: str
    earlier: Earlier
    later_id: str
    message: str

    def example(self, background: Background) -> tuple[Likeness, Example]:
        """Its numbers, and the same with the truth."""
        like = likeness(self.earlier, self.message, self.gap_minutes, background)
        return like, Example(like.values(), self.linked)


def records(files: Iterable[Path]) -> Iterator[Pair]:
    """The pairs of JSONL files. Raises NmemError at the first line that is none."""
    for file in files:
        with file.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield _pair(line, f"{file}:{number}")


def _pair(line: str, where: str) -> Pair:
    try:
        record = json.loads(line)
        earlier, later = record["earlier"], record["later"]
        return Pair(
            str(record.get("repo") or ""), bool(record["linked"]), float(record.get("gap_minutes") or 0.0),
            str(earlier.get("session_id") or where),
            Earlier(tuple(map(str, earlier["prompts"])), tuple(map(str, earlier["files"]))),
            str(later.get("session_id") or where), str(later["first_prompt"]),
        )  # fmt: skip
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise NmemError(f"{where}: no pair {{linked, gap_minutes, earlier, later}}: {error!r}") from None


def backgrounds(pairs: Iterable[Pair]) -> dict[str, Background]:
    """What is known of each project: its sessions once each, the earlier ones whole."""
    documents: dict[str, dict[str, list[str]]] = {}
    texts: dict[str, dict[str, list[str]]] = {}
    for pair in pairs:
        held, whole = documents.setdefault(pair.project, {}), texts.setdefault(pair.project, {})
        held[pair.earlier_id] = said(pair.earlier)
        whole[pair.earlier_id] = naming.tokens(" ".join(pair.earlier.prompts))
        held.setdefault(pair.later_id, asked(pair.message))
        whole.setdefault(pair.later_id, naming.tokens(pair.message))
    return {name: Background(list(held.values()), list(texts[name].values())) for name, held in documents.items()}


def figures(gold: Sequence[bool], verdicts: Sequence[bool]) -> dict[str, Any]:
    """precision, recall, f1, accuracy, n; 0 where there is nothing to divide by."""
    hits = sum(a and b for a, b in zip(gold, verdicts, strict=True))
    linked, true, n = sum(verdicts), sum(gold), len(gold)
    precision, recall = hits / linked if linked else 0.0, hits / true if true else 0.0
    both = precision + recall
    return {
        "precision": round(precision, 4), "recall": round(recall, 4),
        "f1": round(2 * precision * recall / both, 4) if both else 0.0,
        "accuracy": round((n - linked - true + 2 * hits) / n, 4) if n else 0.0, "n": n,
    }  # fmt: skip


def trained(examples: Sequence[Example], centre: Sequence[float], spread: Sequence[float]) -> Formula:
    """The formula fitted on examples from the prior."""
    bias, weights = raw(fit(examples, centre, spread, PRIOR, RIDGE), centre, spread)
    names = [dict(zip(NAMES, values, strict=True)) for values in (weights, centre, spread)]
    return Formula("fitted", names[0], THRESHOLD, bias, names[1], names[2])


def held_out(numbers: Sequence[tuple[Likeness, Example]], groups: Sequence[str]) -> list[bool]:
    """Verdict on each pair by a formula fitted on the other groups only."""
    centre, spread = scale([like.values() for like, _ in numbers])
    verdicts = [False] * len(numbers)
    for group in sorted(set(groups)):
        formula = trained([each for (_, each), of in zip(numbers, groups, strict=True) if of != group], centre, spread)
        for number, ((like, _), of) in enumerate(zip(numbers, groups, strict=True)):
            if of == group:
                verdicts[number] = formula.links(like)
    return verdicts


def evaluate(found: Iterable[Pair], method: str = "fitted", *, folds: bool = False) -> dict[str, Any]:
    """The figures of the formula as shipped, or, with `folds`, of one fitted on the other projects of the files.

    `by` holds the same for each project, for each method, and for both ways of testing.
    """
    pairs = list(found)
    if not pairs:
        raise NmemError("there are no pairs in the files")
    known = backgrounds(pairs)
    numbers = [pair.example(known[pair.project]) for pair in pairs]
    gold = [pair.linked for pair in pairs]
    verdicts = {
        "shipped": [shipped().links(like) for like, _ in numbers],
        "seed": [seed().links(like) for like, _ in numbers],
        "folds by project": held_out(numbers, [pair.project for pair in pairs]),
    }
    name = "seed" if method == "seed" else "folds by project" if folds else "shipped"
    chosen = verdicts[name]
    baseline = figures(gold, [pair.gap_minutes < BASELINE_MINUTES for pair in pairs])
    projects = sorted({pair.project for pair in pairs})
    return {
        **figures(gold, chosen),
        "baseline": {"name": "gap under four hours", **baseline},
        "by": {
            "method": {each: figures(gold, said_so) for each, said_so in verdicts.items()},
            "project": {project: figures(*_of(project, pairs, gold, chosen)) for project in projects},
        },
    }


def table(figures: dict[str, Any]) -> Table:
    """The figures for a terminal."""
    from rich.table import Table  # on use: start-up stays short

    keys = ("precision", "recall", "f1", "accuracy", "n")
    shown = Table("", *keys, title="linking", title_justify="left")
    rows = {"nmem": figures, figures["baseline"]["name"]: figures["baseline"]}
    rows.update({f"method: {name}": row for name, row in figures["by"]["method"].items()})
    rows.update({f"project: {printable(name)}": row for name, row in figures["by"]["project"].items()})
    for name, row in rows.items():
        shown.add_row(name, *(f"{row[key]:.3f}" if key != "n" else str(row[key]) for key in keys))
    return shown


def _of(project: str, pairs: list[Pair], *columns: list[bool]) -> list[list[bool]]:
    return [[value for pair, value in zip(pairs, column, strict=True) if pair.project == project] for column in columns]
