"""Evaluates context: does it name a file that the session edits later? Replayed without the future.

Each session with an edit that is not its project's first is a moment: its first prompt. The database is veiled as it
stood then (nmem.context.review_store), folded anew, and asked what the session would have been told, at its start
and at the prompt. The baseline names what the newest five sessions touched, newest first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from sqlite3 import Connection
from typing import TYPE_CHECKING, Any

from capture.storage.store import called_by
from nmem.context import candidate_store, decide, episodes, review_store, selection_store
from nmem.context.candidates import PROMPT_TOKENS, START_TOKENS, select
from nmem.context.compose import compose, packed
from nmem.context.decide import Decision
from nmem.context.episodes import goes_on
from nmem.context.fold import Checkouts, Past
from nmem.context.items import FILE, Item, tokens
from nmem.context.places import Places
from nmem.context.present import Present
from nmem.context.rank import NAMES
from nmem.errors import NmemError
from nmem.evaluate import store
from nmem.evaluate.store import Moment, as_it_was
from nmem.names import told
from nmem.retrieval.terms import base, mentions
from nmem.text import printable

if TYPE_CHECKING:
    from rich.table import Table

BASELINE = "newest five sessions"
NEWEST = 5
TOLD = 3
"""Episodes that the baseline tells where there is a budget: as many as a context may."""
_EDITS = ("file_edit", "file_write")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a context and the baseline named for one moment, and how long they were."""

    moment: Moment
    named: frozenset[str]
    tokens: int
    newest: frozenset[str]
    newest_tokens: int
    names_file: bool
    """Whether the prompt itself names a file that the project knew."""


def evaluate(
    path: str, project: str = "", budget: int | None = None, progress: Callable[[int, int], None] | None = None
) -> dict[str, Any]:
    """The figures over a database, those of the baseline, and `by` project and kind of prompt.

    Without a budget tokens are those of at most twenty names a context; with one, those of whole texts packed into it,
    the baseline's too. Raises NmemError when there is nothing to replay.
    """
    with review_store.as_of(path) as db:
        asked = moments(db, project)
    if not asked:
        raise NmemError("no session is left to replay: it takes a project with two sessions, the later with an edit")
    found = []
    for each in replayed(path, asked, budget):
        found.append(each)
        if progress:
            progress(len(found), len(asked))
    return {
        **_both(found),
        "by": {
            "project": {each: _both([one for one in found if one.moment.project == each]) for each in _projects(found)},
            "prompt": {
                word: _both([one for one in found if one.names_file == is_named])
                for word, is_named in (("names a known file", True), ("names none", False))
            },
        },
    }


def moments(db: Connection, project: str = "") -> list[Moment]:
    """Every session with an edit after its first prompt, but its project's first."""
    return [
        moment
        for number, title in candidate_store.project_ids(db)
        if not project or project in called_by(db, number)
        for moment in _of_project(db, number, title)
    ]


def _of_project(db: Connection, number: int, title: str) -> Iterator[Moment]:
    places = Checkouts(title)
    edits: dict[str, list[tuple[int, str]]] = {}
    sessions = candidate_store.session_ids(db, number)
    for each in sessions:
        rows = store.calls_on_files(db, each)
        places.learn(row[2] for row in rows)
        edits[each] = [(at, path) for at, kind, path in rows if kind in _EDITS]
    for each in sessions[1:]:
        asked = store.first_prompt(db, each)
        if asked:
            gold = {found for at, path in edits[each] if at >= asked[0] and (found := places.name_of(path))}
            if gold:
                yield Moment(number, title, each, asked[0], asked[1], frozenset(gold))


def replayed(path: str, asked: Sequence[Moment], budget: int | None = None) -> Iterator[Outcome]:
    """What would have been told at each moment."""
    with review_store.as_of(path) as db:
        for moment in asked:
            pasts = as_it_was(db, moment)
            newest = _newest(db, moment, pasts)
            if budget is None:
                named = told_names(db, moment)
                first = newest[:NAMES]
                yield Outcome(
                    moment, frozenset(named), _cost(named), frozenset(first), _cost(first), _names(db, moment)
                )
            else:
                present = present_of(moment, moment.prompt)
                ours = select(db, present, budget)
                theirs = _told_newest(db, present, newest, budget)
                yield Outcome(
                    moment, _files(ours), tokens(compose(ours, present)) if ours else 0, _files(theirs),
                    tokens(compose(theirs, present)) if theirs else 0, _names(db, moment),
                )  # fmt: skip


def told_at(db: Connection, moment: Moment) -> tuple[Decision, Decision]:
    """What a session is told when it starts, if anything says what it goes on with, and when it asks."""
    begins = present_of(moment, "")
    start = decide.start(db, begins, None, START_TOKENS, 0, goes_on(db, begins))
    present = present_of(moment, moment.prompt)
    present.given = frozenset(item.id for item in start.items)
    present.given_files = _files(start.items)
    return start, decide.prompt(db, present, None, PROMPT_TOKENS, 0, "the first prompt")


def told_names(db: Connection, moment: Moment) -> list[str]:
    """The files that a session is told of at its start and its first prompt."""
    return list(dict.fromkeys(path for made in told_at(db, moment) for item in made.items for path in item.files))


def present_of(moment: Moment, prompt: str) -> Present:
    """The branch of a session is stored as it is last: here it is not known."""
    present = Present(moment.project_id, moment.session_id, moment.at, prompt)
    present.project = moment.project
    return present


def _newest(db: Connection, moment: Moment, pasts: Sequence[Past]) -> list[str]:
    """What the newest sessions touched, newest session first."""
    places = Places(moment.project, roots=selection_store.roots(db, moment.project_id))
    out: dict[str, None] = {}
    sessions = 0
    for past in reversed(pasts):
        paths = (path for turn in past.turns for path in (*turn.edited, *turn.read))
        names = [found for path in paths if (found := places.name_of(path))]
        out.update(dict.fromkeys(names))
        sessions += bool(names)
        if sessions == NEWEST:
            break
    return list(out)


def _told_newest(db: Connection, present: Present, names: Sequence[str], budget: int) -> list[Item]:
    """The same shape, newest first: the newest episodes, told as ours are, and the names."""
    newest = store.newest_units(db, present.project_id, present.session_id, TOLD)
    items = [Item(f"file/{path}", FILE, told(path), files=(path,), score=0.5) for path in names[:NAMES]]
    items += [episodes.tell(row, present.at, 0.5, "newest") for row in selection_store.units(db, newest)]
    return packed(items, budget)


def _files(items: Sequence[Item]) -> frozenset[str]:
    return frozenset(path for item in items for path in item.files)


def _cost(names: Sequence[str]) -> int:
    return sum(tokens(told(path)) for path in names)


def _names(db: Connection, moment: Moment) -> bool:
    """Whether the prompt names a file that the project had."""
    said = {base(each) for each in mentions(moment.prompt)}
    return any(store.knows_file(db, moment.project_id, each) for each in said)


def _projects(found: Sequence[Outcome]) -> list[str]:
    return sorted({one.moment.project for one in found})


def _both(found: Sequence[Outcome]) -> dict[str, Any]:
    """The figures of ours, and of the baseline beside them."""
    ours = [(one.named, one.tokens, one.moment.gold) for one in found]
    theirs = [(one.newest, one.newest_tokens, one.moment.gold) for one in found]
    return {**_figures(ours), "baseline": {"name": BASELINE, **_figures(theirs)}}


def _figures(rows: Sequence[tuple[frozenset[str], int, frozenset[str]]]) -> dict[str, Any]:
    """hit_rate: contexts that name a file later edited; precision: names that are, of all; tokens: the mean."""
    count = len(rows)
    given = sum(len(named) for named, _, _ in rows)
    return {
        "hit_rate": round(sum(bool(named & gold) for named, _, gold in rows) / count, 4) if count else 0.0,
        "precision": round(sum(len(named & gold) for named, _, gold in rows) / given, 4) if given else 0.0,
        "tokens": round(sum(cost for _, cost, _ in rows) / count, 1) if count else 0.0,
        "sessions": count,
    }


def table(found: dict[str, Any], budget: int | None) -> Table:
    """The figures for a terminal."""
    from rich.table import Table  # on use: start-up stays short

    what = f"whole texts within {budget} tokens" if budget else f"at most {NAMES} names"
    shown = Table("", "hit rate", "precision", "tokens", "sessions", title=f"context, {what}", title_justify="left")
    rows = [("all", found), *found["by"]["prompt"].items(), *found["by"]["project"].items()]
    for label, row in rows:
        shown.add_row(printable(label), *_cells(row))
        shown.add_row(f"  {BASELINE}", *_cells(row["baseline"]), style="dim")
    return shown


def _cells(row: dict[str, Any]) -> list[str]:
    return [f"{row['hit_rate']:.3f}", f"{row['precision']:.3f}", f"{row['tokens']:.0f}", str(row["sessions"])]
