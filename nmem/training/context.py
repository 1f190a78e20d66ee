"""Fits the weights of context ranking on a database's own history (SQL), and reports what they are worth elsewhere.

    NMEM_DB=history.db python -m nmem.training.context [--curves]

Logistic regression on the features of nmem.context.rank, each session replayed as of its first prompt; folds leave a
project out (small ones together). What is printed last is rounded by hand into nmem/context/weights.py.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import exp
from sqlite3 import Connection

from capture import paths
from nmem.context import asof, weights
from nmem.context.choose import GAIN, NAMES, START_GAIN, START_NAMES, choose
from nmem.context.episodes import FILES, told, units
from nmem.context.episodes import found as episodes_found
from nmem.context.items import tokens
from nmem.context.rank import FEATURES, Ranking, rank, unpack
from nmem.evaluate.context import Moment, as_it_was, moments

Weights = tuple[float, ...]
STORIES = 12
"""Episodes told by themselves: as many as the largest budget holds."""
LARGE = 30
"""Moments from which a project is a fold of its own."""
_AT_START = (3, 4, 5, 6)
"""Features that are known before anything is asked."""


@dataclass(frozen=True, slots=True)
class Story:
    """An episode as it would be told: its tokens, the files it names, whether the session edits a file that it did."""

    tokens: int
    files: tuple[str, ...]
    of_use: bool


@dataclass(frozen=True, slots=True)
class Example:
    """A moment with what ranking saw of it."""

    moment: Moment
    group: str
    prompt: Ranking
    start: Ranking
    episodes: tuple[tuple[float, float, bool], ...]
    """(chance, likeness, of use) of each episode that edited a named file."""
    best: tuple[Story, ...]
    """Episodes by themselves, the likeliest of use first."""
    newest: tuple[Story, ...]
    """The same, newest first."""


def material(path: str) -> list[Example]:
    """Every moment of a database, replayed."""
    with asof.opened(path) as db:
        asked = moments(db)
    sizes = Counter(one.project for one in asked)
    out = []
    with asof.opened(path) as db:
        for one in asked:
            as_it_was(db, one)
            group = one.project if sizes[one.project] >= LARGE else "others"
            out.append(_example(db, one, group))
    return out


def _example(db: Connection, one: Moment, group: str) -> Example:
    prompt = rank(db, one.project_id, one.prompt)
    edited = _edited(db, one.project_id)
    named = episodes_found(db, one.project_id, prompt, choose(prompt.files))
    considered = tuple((each.chance, each.like, bool(edited.get(each.unit_id, set()) & one.gold)) for each in named)
    everything = [number for _, number in prompt.files]
    best = [each.unit_id for each in episodes_found(db, one.project_id, prompt, everything)] if everything else []
    likely = {prompt.paths[number]: chance for chance, number in prompt.files}
    rows = db.execute(
        "SELECT u.id FROM work_units u JOIN sessions s ON s.id = u.session_id WHERE s.project_id = ? AND s.id != ?"
        " ORDER BY u.last_at DESC, u.id DESC LIMIT ?",
        (one.project_id, one.session_id, STORIES),
    ).fetchall()
    newest = [row[0] for row in rows]
    return Example(one, group, prompt, rank(db, one.project_id), considered, _stories(db, one, best, edited, likely),
                   _stories(db, one, newest, edited, {}))  # fmt: skip


def _edited(db: Connection, project_id: int) -> dict[int, set[str]]:
    """Episode -> files that its turns edited."""
    path_of = dict(db.execute("SELECT file, path FROM context_files").fetchall())
    out: dict[int, set[str]] = {}
    for unit_id, packed in db.execute(
        "SELECT u.unit_id, t.edited FROM context_turns t JOIN unit_prompts u ON u.prompt_id = t.prompt_id"
        " WHERE t.project_id = ?",
        (project_id,),
    ).fetchall():
        out.setdefault(unit_id, set()).update(path_of[number] for number in unpack(packed))
    return out


def _stories(
    db: Connection, one: Moment, ids: Sequence[int], edited: dict[int, set[str]], likely: dict[str, float]
) -> tuple[Story, ...]:
    rows = {row[0]: row for row in units(db, ids[:STORIES])}
    out = []
    for each in ids[:STORIES]:
        files = sorted(edited.get(each, ()), key=lambda path: (-likely.get(path, 0.0), path))
        if each in rows:
            item = told(rows[each], one.at, tuple(files[:FILES]), 0.0, "")
            out.append(Story(item.tokens, item.files, bool(one.gold.intersection(files))))
    return tuple(out)


def within(stories: Sequence[Story], budget: int) -> tuple[list[str], list[bool]]:
    """The files that the first stories within a budget name, at most as many as a context may, and their use."""
    names: dict[str, None] = {}
    use = []
    for story in stories:
        budget -= story.tokens
        if budget < 0:
            break
        use.append(story.of_use)
        names.update(dict.fromkeys(story.files))
    return list(names)[:NAMES], use


def story_line(label: str, examples: Sequence[Example], budget: int, *, newest: bool) -> str:
    """Of episodes by themselves: hit rate, precision, and the share that is of use."""
    got = [(one, *within(one.newest if newest else one.best, budget)) for one in examples]
    use = [each for _, _, ones in got for each in ones]
    files = line(label, [(one, names) for one, names, _ in got])
    return f"{files}  of use {sum(use) / max(1, len(use)):.3f}"


def fit(rows: Sequence[Sequence[float]], right: Sequence[bool]) -> Weights:
    """A bias and a weight for each number."""
    from sklearn.linear_model import LogisticRegression

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


def fit_episodes(examples: Sequence[Example]) -> Weights:
    """Weights of an episode's chance and likeness."""
    told = [each for one in examples for each in one.episodes]
    return fit([each[:2] for each in told], [each[2] for each in told])


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
    out = [line("held out, at the prompt", _named(at_prompt, NAMES, GAIN))]
    out += [
        line(f"  {group}", _named([one for one in at_prompt if one[0].group == group], NAMES, GAIN))
        for group in sorted({one.group for one in examples})
    ]
    out.append(line("held out, at the start", _named(at_start, START_NAMES, START_GAIN, start=True)))
    shipped = [(one, ranked(one.prompt, weights.PROMPT)) for one in examples]
    out.append(line("shipped weights, in sample", _named(shipped, NAMES, GAIN)))
    if curves:
        for count in (5, 10, 20, 40):
            out.append(
                line(f"held out, {count} names", [(one, _paths(one.prompt, got[:count])) for one, got in at_prompt])
            )
            out.append(
                line(f"  at the start, {count} names", [(one, _paths(one.start, got[:count])) for one, got in at_start])
            )
        for budget in (200, 400, 1000, 1500):
            out.append(story_line(f"episodes alone, {budget} tokens", examples, budget, newest=False))
            out.append(story_line("  newest first", examples, budget, newest=True))
        out += [line(f"held out, gain {gain}", _named(at_prompt, NAMES, gain)) for gain in (0.004, 0.006, 0.008, 0.02)]
    for name, by in (("PROMPT", fit_files(examples)), ("START", fit_files(examples, start=True)),
                     ("EPISODE", fit_episodes(examples))):  # fmt: skip
        out.append(f"{name} = ({', '.join(f'{each:.1f}' for each in by)})")
    return out


def _named(
    got: Sequence[tuple[Example, list[tuple[float, int]]]], names: int, gain: float, *, start: bool = False
) -> list[tuple[Example, list[str]]]:
    out = []
    for one, files in got:
        ranking = one.start if start else one.prompt
        out.append((one, [ranking.paths[number] for number in choose(files, names, gain)]))
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
