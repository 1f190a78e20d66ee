"""Evaluates injected context without a judge: automatic figures over one's own history.

A moment is the first prompt of a session with at least five earlier ones in its project. The memory is veiled as it
stood then (nmem.evaluate.context does the replay) and asked what the session is told at its start and at the prompt.
What the session did afterwards says how much of that was of its work. The baseline tells the latest session and the
files that the project edited most.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import Connection
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from capture.storage import store
from nmem import tables
from nmem.context import candidate_store, episodes, review_store, selection_store
from nmem.context.compose import compose
from nmem.context.fold import Checkouts
from nmem.context.items import EPISODE, FILE, NEXT, THREAD, Item, tokens
from nmem.context.places import Places
from nmem.errors import NmemError
from nmem.evaluate import store as records
from nmem.evaluate.context import present_of, told_at
from nmem.evaluate.store import Moment, as_it_was
from nmem.names import told
from nmem.retrieval.terms import mentions
from nmem.retrieval.words import words
from nmem.text import printable

if TYPE_CHECKING:
    from rich.table import Table

BASELINE = "latest session, most edited files"
COUNT, SEED, OF_A_PROJECT = 48, 11, 18
_EARLIER = 5
_SHORTEST = 15
"""Characters of a first prompt; a shorter one says too little to be judged by."""
_FILES = 5
"""Files that the baseline names: as many as a context may."""
_LEFT = "Left open: "
_COVERED = 0.5
"""The part of an open end's words that the message of a commit must have to close it."""
_AGE = re.compile(r"\b(?:\d+ (?:second|minute|hour|day|week|month|year)s? ago|episode \d+|thread \d+)\b", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?…])\s+|\n+")
_LETTERS = 20
"""Characters of a sentence that can be called a repetition."""
_NEXT = 3
"""The replayed sessions of the project just before, in which a repeated sentence is looked for."""


@dataclass(frozen=True, slots=True)
class Later:
    """What a session went on to do: names of files, and the thread that it belongs to."""

    edited: frozenset[str]
    read: frozenset[str]
    thread_id: int | None

    @property
    def touched(self) -> frozenset[str]:
        return self.edited | self.read


@dataclass(frozen=True, slots=True)
class Scored:
    """One text and what is known of it by now; counts, tokens as `tokens` counts them."""

    tokens: int
    names: int
    edited: int
    """Of the names, those that the session then edited; `touched`: edited or read."""
    touched: int
    episodes: int
    shared: int
    """Of the episodes told, those that share a file or the thread with the session."""
    sentences: int
    repeated: int
    """Of the sentences, those that one of the three replayed sessions of the project just before was told."""
    open_ends: int
    stale: int
    """Of the open ends told, those that were closed before."""


def evaluate(
    path: str, project: str = "", count: int = COUNT, seed: int = SEED,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """The figures over a database, those of the baseline, and `by` project. Raises NmemError without any moment."""
    rows: list[tuple[str, bool, Scored, Scored]] = []
    with review_store.as_of(path) as db:
        asked = moments(db, project, count, seed)
        if not asked:
            raise NmemError(f"no session is left to replay: it takes a project with more than {_EARLIER} sessions")
        said: dict[tuple[int, str], list[set[str]]] = {}
        places = {one.project_id: _places(db, one.project_id, one.project) for one in asked}
        for moment in sorted(asked, key=lambda one: (one.project_id, one.at)):
            as_it_was(db, moment)
            later = _later(db, moment, places[moment.project_id])
            ours, theirs = _ours(db, moment), _baseline(db, moment, places[moment.project_id])
            scored = [
                _scored(db, moment, later, text, items, said.setdefault((moment.project_id, whose), []))
                for whose, (text, items) in (("ours", ours), ("baseline", theirs))
            ]
            rows.append((moment.project, records.follows(db, moment, later.thread_id), scored[0], scored[1]))
            if progress:
                progress(len(rows), len(asked))
    by = {name: _both([row for row in rows if row[0] == name]) for name in sorted({row[0] for row in rows})}
    return {**_both(rows), "by": {"project": by}}


@contextmanager
def imported(
    folder: Path, settle: Callable[[str], object], left_out: Callable[[str], object] = lambda _: None
) -> Iterator[str]:
    """A database of its own with the transcripts of a folder, settled by `settle`; `left_out` hears of torn lines.

    Raises NmemError, OSError.
    """
    from nmem.episodes import detect  # on use: start-up stays short
    from nmem.importing.discover import find  # on use: start-up stays short
    from nmem.importing.importer import Importer  # on use: start-up stays short

    with TemporaryDirectory(prefix="nmem-told-") as place:
        path = str(Path(place, "told.db"))
        with closing(store.connect(path)) as db:
            importer = Importer(db)
            if torn := importer.run(find([folder])).torn():
                left_out(torn)
            tables.ensure(db)
            detect.sessions(db, sorted(importer.changed), path)
        settle(path)
        yield path


def moments(db: Connection, project: str = "", count: int = COUNT, seed: int = SEED) -> list[Moment]:
    """At most `count` moments, chosen at random by `seed`, at most 18 of a project unless one is asked for."""
    found = records.sessions(db, project)
    random.Random(seed).shuffle(found)  # noqa: S311 - a sample
    out: list[Moment] = []
    of: dict[int, int] = {}
    for session_id, number, name in found:
        asked = records.first_prompt(db, session_id)
        if not asked or len(asked[1]) < _SHORTEST or (not project and of.get(number, 0) >= OF_A_PROJECT):
            continue
        if records.begun_before(db, number, asked[0]) >= _EARLIER:
            of[number] = of.get(number, 0) + 1
            out.append(Moment(number, name, session_id, asked[0], asked[1], frozenset()))
            if len(out) == count:
                break
    return out


# -- what is told


def _ours(db: Connection, moment: Moment) -> tuple[str, list[Item]]:
    start, prompt = told_at(db, moment)
    return "\n".join(filter(None, (start.text, prompt.text))), [*start.items, *prompt.items]


def _baseline(db: Connection, moment: Moment, places: Places) -> tuple[str, list[Item]]:
    """The latest session's last episode as it would be told to who goes on with it, and the files edited most."""
    present = present_of(moment, moment.prompt)
    rows = selection_store.units(db, records.newest_units(db, moment.project_id, moment.session_id, 1))
    items = [episodes.tell_continued(db, row, moment.at, "the latest session") for row in rows]
    edited: dict[str, int] = {}
    for path, times in records.edits(db, moment.project_id):
        if path and (name := places.name_of(path)):
            edited[name] = edited.get(name, 0) + times
    best = sorted(edited, key=lambda name: (-edited[name], name))[:_FILES]
    items += [Item(f"file/{name}", FILE, told(name), files=(name,), reason="edited most") for name in best]
    return compose(items, present), items


# -- what became of it


def _places(db: Connection, number: int, name: str) -> Places:
    """The checkouts of a project, over all of its history."""
    out = Checkouts(name)
    for session_id in candidate_store.session_ids(db, number):
        out.learn(dict.fromkeys(path for _, _, path in records.calls_on_files(db, session_id)))
    return out


def _later(db: Connection, moment: Moment, places: Places) -> Later:
    rows = [(kind, path) for at, kind, path in records.calls_on_files(db, moment.session_id) if at >= moment.at]
    edited = {places.name_of(path) for kind, path in rows if kind in ("file_edit", "file_write")}
    read = {places.name_of(path) for kind, path in rows if kind == "file_read"}
    return Later(
        frozenset(filter(None, edited)), frozenset(filter(None, read)), records.thread_of(db, moment.session_id)
    )  # fmt: skip


def _scored(
    db: Connection, moment: Moment, later: Later, text: str, items: Sequence[Item], said: list[set[str]]
) -> Scored:  # fmt: skip
    """The counts of one text; `said` are the sentences of each of the project's earlier ones, and grows."""
    names = {path for item in items for path in item.files}
    units = _units(items)
    sentences = set(_sentences(items))
    repeated = len(sentences & set().union(*said[-_NEXT:]))
    said.append(sentences)
    ends = [(unit, end) for item in items if (unit := _unit(item)) for end in _open_ends(item)]
    return Scored(
        tokens(text) if text else 0, len(names), len(names & later.edited), len(names & later.touched), len(units),
        sum(_shares(db, unit, moment, later) for unit in units), len(sentences), repeated, len(ends),
        sum(_closed(db, unit, end, moment) for unit, end in ends),
    )  # fmt: skip


def _unit(item: Item) -> int:
    """The episode that an item tells of; 0 for none."""
    kind, _, number = item.id.partition("/")
    return int(number) if kind in ("episode", "next") and number.isdecimal() else 0


def _units(items: Iterable[Item]) -> list[int]:
    return sorted({unit for item in items if item.kind in (EPISODE, THREAD) and (unit := _unit(item))})


def _shares(db: Connection, unit: int, moment: Moment, later: Later) -> bool:
    """Whether an episode and the session after the moment touch a common file, or are of one thread."""
    row = records.unit(db, unit)
    if row and row[1] is not None and row[1] == later.thread_id:
        return True
    places = Checkouts(moment.project)
    paths = records.files_of_unit(db, unit)
    places.learn(paths)
    return any(places.name_of(path) in later.touched for path in paths)


def _sentences(items: Iterable[Item]) -> Iterator[str]:
    """The sentences told, without the ages and numbers that make equal ones differ; names of files are no sentences."""
    for item in items:
        for sentence in _SENTENCE.split(item.text) if item.kind != FILE else ():
            plain = " ".join(_AGE.sub("", sentence).split())
            if len(plain) >= _LETTERS:
                yield plain


def _open_ends(item: Item) -> list[str]:
    """What an item says is left to do."""
    if item.kind == NEXT:
        return item.text.rpartition(" (episode ")[0].rstrip(".").split("; ")
    _, mark, left = item.text.partition(_LEFT)
    return left.rstrip(".").split("; ") if mark else []


def _closed(db: Connection, unit: int, end: str, moment: Moment) -> bool:
    """Whether an open end of an episode was closed before the moment.

    By a check of its kind that passed, by an edit of a file that it names, by a commit that says most of its words.
    """
    row = records.unit(db, unit)
    if row is None:
        return False
    named = {each.rpartition("/")[2] for each in mentions(end)}
    wanted = set(words(end))
    for kind, path, content in records.passed_since(db, moment.project_id, row[2], moment.at):
        if kind in ("test", "build", "lint") and "still fails" in end:
            return True
        if kind in ("file_edit", "file_write") and path.rpartition("/")[2] in named:
            return True
        if kind == "git_commit" and wanted and len(wanted & set(words(content))) >= max(2, _COVERED * len(wanted)):
            return True
    return False


# -- figures

Count = Callable[[Scored], int]


def _both(rows: Sequence[tuple[str, bool, Scored, Scored]]) -> dict[str, Any]:
    """The figures of ours, and of the baseline beside them."""
    follows = [row[1] for row in rows]
    return {
        **_figures([row[2] for row in rows], follows),
        "baseline": {"name": BASELINE, **_figures([row[3] for row in rows], follows)},
    }


def _figures(rows: Sequence[Scored], follows: Sequence[bool]) -> dict[str, Any]:
    """Shares are 0 to 1, None where there is nothing to take a share of; tokens are the mean over all moments."""
    silent = [before for one, before in zip(rows, follows, strict=True) if not one.tokens]
    return {
        "moments": len(rows), "told_rate": _share(len(rows) - len(silent), len(rows)),
        "told_work_rate": _share(sum(one.episodes > 0 for one in rows), len(rows)),
        "tokens": round(sum(one.tokens for one in rows) / len(rows), 1) if rows else 0.0,
        "names": sum(one.names for one in rows),
        "names_edited": _of(rows, lambda one: one.edited, lambda one: one.names),
        "names_touched": _of(rows, lambda one: one.touched, lambda one: one.names),
        "episodes": sum(one.episodes for one in rows),
        "episodes_shared": _of(rows, lambda one: one.shared, lambda one: one.episodes),
        "repeats": _of(rows, lambda one: one.repeated, lambda one: one.sentences),
        "open_ends": sum(one.open_ends for one in rows),
        "stale": _of(rows, lambda one: one.stale, lambda one: one.open_ends), "silences": len(silent),
        "silences_missed": sum(silent),
    }  # fmt: skip


def _of(rows: Sequence[Scored], part: Count, whole: Count) -> float | None:
    return _share(sum(map(part, rows)), sum(map(whole, rows)))


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


_ROWS = (
    ("told", "told_rate", "moments"), ("told of earlier work", "told_work_rate", "moments"),
    ("names edited", "names_edited", "names"), ("names edited or read", "names_touched", "names"),
    ("episodes that share a file or the thread", "episodes_shared", "episodes"),
    ("sentences told before", "repeats", ""), ("open ends that were closed", "stale", "open_ends"),
)  # fmt: skip


def table(found: dict[str, Any]) -> Table:
    """The figures for a terminal."""
    from rich.table import Table  # on use: start-up stays short

    out = Table("", "nmem", BASELINE, title=f"told at {found['moments']} first prompts", title_justify="left")
    both = (found, found["baseline"])
    for label, share, whole in _ROWS:
        out.add_row(label, *(_cell(each[share], each[whole] if whole else None) for each in both))
    out.add_row("tokens, the mean", *(f"{each['tokens']:.0f}" for each in both))
    out.add_row("silences", *(str(each["silences"]) for each in both))
    out.add_row("silences with an earlier session of the thread", *(str(each["silences_missed"]) for each in both))
    for name, row in found["by"]["project"].items():
        cells = (_cell(each["told_rate"], each["moments"]) for each in (row, row["baseline"]))
        out.add_row(f"told in {printable(name)}", *cells, style="dim")
    return out


def _cell(share: float | None, whole: int | None) -> str:
    if share is None:
        return "none"
    return f"{share:.3f}" if whole is None else f"{share:.3f} of {whole}"
