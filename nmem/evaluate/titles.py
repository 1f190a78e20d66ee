"""Evaluates generated episode titles on labelled sessions: the share of a person's title words that they have.

A record is {session_id, prompts: [{text, agent}], titles: {index of the prompt that opens an episode: title},
second_titles?, author}. An episode goes on until the next title's prompt. The figure is the mean share of the content
words of a person's title, each by its first five letters, that ours has too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from nmem.episodes import titles
from nmem.episodes.titles.weights import keys
from nmem.errors import NmemError
from nmem.text import printable

if TYPE_CHECKING:
    from rich.table import Table

BASELINE = "the first prompt, cut to 60 characters"
SECOND = "a second annotator"


@dataclass(frozen=True, slots=True)
class Titled:
    """An episode with the title that a person gave it."""

    gold: str
    second: str
    """What another person called it; "" where nobody did."""
    material: titles.Material
    person: str


def records(files: Iterable[Path]) -> Iterator[Titled]:
    """The episodes of JSONL files. Raises NmemError at the first line that is none."""
    for file in files:
        with file.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield from _episodes(line, f"{file}:{number}")


def _episodes(line: str, where: str) -> list[Titled]:
    try:
        record = json.loads(line)
        golds = {int(at): str(title) for at, title in (record.get("titles") or {}).items()}
        others = {int(at): str(title) for at, title in (record.get("second_titles") or {}).items()}
        prompts, author = list(record["prompts"]), str(record.get("author") or record.get("repo") or "?")
        starts = sorted(golds)
        return [
            Titled(golds[at], others.get(at, ""), _material(prompts[at:end]), author)
            for at, end in zip(starts, [*starts[1:], len(prompts)], strict=True)
        ]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise NmemError(f"{where}: no session {{prompts, titles}}: {error}") from None


def _material(prompts: Sequence[dict[str, Any]]) -> titles.Material:
    """What the records have of an episode; without commits and without the client's title."""
    agents = [one["agent"] if isinstance(one.get("agent"), dict) else {} for one in prompts]
    return titles.Material(
        prompts=[str(one["text"]) for one in prompts],
        said=[str(one.get("said") or "") for one in agents],
        files=[str(path) for one in agents for path in one.get("files") or ()],
    )


def evaluate(found: Iterable[Titled]) -> dict[str, Any]:
    """`share said_nothing episodes`, the baseline, and in `by` a second annotator and persons. Raises NmemError."""
    episodes = list(found)
    if not episodes:
        raise NmemError("there are no titles in the files")
    ours = [titles.made(one.material) for one in episodes]
    plain = [" ".join(one.material.prompts[0].split())[: titles.ROOM] for one in episodes]
    persons: dict[str, list[int]] = {}
    for number, one in enumerate(episodes):
        persons.setdefault(one.person, []).append(number)
    both = [one for one in episodes if one.second]
    return {
        **_figures(episodes, ours),
        "baseline": {"name": BASELINE, **_figures(episodes, plain)},
        "by": {
            "person": {
                name: _figures([episodes[at] for at in places], [ours[at] for at in places])
                for name, places in sorted(persons.items())
            },
            "annotator": {SECOND: _figures(both, [one.second for one in both])} if both else {},
        },
    }


def _figures(episodes: Sequence[Titled], called: Sequence[str]) -> dict[str, Any]:
    return {
        "share": fmean(share(one.gold, title) for one, title in zip(episodes, called, strict=True)),
        "said_nothing": sum(not titles.says(title) for title in called),
        "episodes": len(episodes),
    }


def share(gold: str, title: str) -> float:
    """The share of a title's content words that another one has; 1 for one without any."""
    wanted = set(keys(gold))
    return len(wanted & set(keys(title))) / len(wanted) if wanted else 1.0


def table(found: dict[str, Any]) -> Table:
    """The figures for a terminal."""
    from rich.table import Table  # on use: start-up stays short

    out = Table("", "words of the person's title", "saying nothing", "episodes", title="titles", title_justify="left")
    rows = {"nmem": found, BASELINE: found["baseline"], **found["by"]["annotator"]}
    rows.update({f"person {person}": row for person, row in found["by"]["person"].items()})
    for name, row in rows.items():
        out.add_row(printable(name), f"{row['share']:.3f}", str(row["said_nothing"]), str(row["episodes"]))
    return out
