"""Evaluates injected context without a judge: automatic figures over one's own history (SQL).

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
from nmem.evaluate.context import Moment, as_it_was, present_of, told_at
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
            rows.append((moment.project, _follows(db, moment, later), scored[0], scored[1]))
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
    found = db.execute(
        "SELECT s.id, s.project_id, p.name FROM main.sessions s JOIN main.projects p ON p.id = s.project_id"
        " WHERE ?1 IN ('', p.name, p.key, p.root) ORDER BY s.id",
        (project,),
    ).fetchall()
    random.Random(seed).shuffle(found)  # noqa: S311 - a sample
    out: list[Moment] = []
    of: dict[int, int] = {}
    for session_id, number, name in found:
        asked = db.execute(
            "SELECT at, content FROM main.prompts WHERE session_id = ? AND source = 'user' AND agent_id IS NULL"
            " ORDER BY at, id LIMIT 1",
            (session_id,),
        ).fetchone()
        if not asked or len(asked[1]) < _SHORTEST or (not project and of.get(number, 0) >= OF_A_PROJECT):
            continue
        earlier = db.execute(
            "SELECT count(*) FROM main.sessions s WHERE s.project_id = ?"
            " AND (SELECT min(at) FROM main.prompts p WHERE p.session_id = s.id) < ?",
            (number, asked[0]),
        ).fetchone()[0]
        if earlier >= _EARLIER:
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
    latest = db.execute(
        "SELECT u.id FROM work_units u JOIN sessions s ON s.id = u.session_id WHERE s.project_id = ? AND s.id != ?"
        " ORDER BY u.last_at DESC, u.id DESC LIMIT 1",
        (moment.project_id, moment.session_id),
    ).fetchone()
    rows = selection_store.units(db, [latest[0]]) if latest else []
    items = [episodes.tell_continued(db, row, moment.at, "the latest session") for row in rows]
    edited: dict[str, int] = {}
    for path, times in db.execute(
        "SELECT o.file_path, count(*) FROM observations o JOIN sessions s ON s.id = o.session_id"
        " WHERE s.project_id = ? AND o.obs_type IN ('file_edit', 'file_write') GROUP BY 1",
        (moment.project_id,),
    ).fetchall():
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
        rows = db.execute(
            "SELECT DISTINCT file_path FROM main.observations WHERE session_id = ? AND file_path IS NOT NULL",
            (session_id,),
        )
        out.learn(row[0] for row in rows.fetchall())
    return out


def _later(db: Connection, moment: Moment, places: Places) -> Later:
    rows = db.execute(
        "SELECT obs_type, file_path FROM main.observations WHERE session_id = ? AND at >= ? AND file_path IS NOT NULL"
        " AND obs_type IN ('file_edit', 'file_write', 'file_read')",
        (moment.session_id, moment.at),
    ).fetchall()
    edited = {places.name_of(path) for kind, path in rows if kind != "file_read"}
    read = {places.name_of(path) for kind, path in rows if kind == "file_read"}
    return Later(
        frozenset(filter(None, edited)), frozenset(filter(None, read)), _thread(db, moment.session_id)
    )  # fmt: skip


def _thread(db: Connection, session_id: str) -> int | None:
    row = db.execute("SELECT thread_id FROM main.session_threads WHERE session_id = ?", (session_id,)).fetchone()
    return row[0] if row else None


def _follows(db: Connection, moment: Moment, later: Later) -> bool:
    """Whether an earlier session is of the same thread: then a silence has missed it."""
    row = db.execute(
        "SELECT 1 FROM main.session_threads x JOIN main.sessions s ON s.id = x.session_id WHERE x.thread_id = ?"
        " AND s.id != ? AND s.started_at < ? LIMIT 1",
        (later.thread_id, moment.session_id, moment.at),
    ).fetchone()
    return row is not None


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
    row = db.execute("SELECT thread_id FROM main.work_units WHERE id = ?", (unit,)).fetchone()
    if row and row[0] is not None and row[0] == later.thread_id:
        return True
    places = Checkouts(moment.project)
    paths = [
        row[0] for row in db.execute(
            "SELECT DISTINCT o.file_path FROM main.observations o JOIN main.unit_prompts u ON u.prompt_id = o.prompt_id"
            " WHERE u.unit_id = ? AND o.file_path IS NOT NULL"
            " AND o.obs_type IN ('file_edit', 'file_write', 'file_read')", (unit,),
        ).fetchall()
    ]  # fmt: skip
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
    row = db.execute("SELECT last_at FROM main.work_units WHERE id = ?", (unit,)).fetchone()
    if row is None:
        return False
    named = {each.rpartition("/")[2] for each in mentions(end)}
    wanted = set(words(end))
    for kind, outcome, path, content in db.execute(
        "SELECT o.obs_type, o.outcome, coalesce(o.file_path, ''), o.content FROM observations o"
        " JOIN sessions s ON s.id = o.session_id WHERE s.project_id = ? AND o.at > ? AND o.at < ? AND o.outcome = 'ok'"
        " AND o.obs_type IN ('test', 'build', 'lint', 'file_edit', 'file_write', 'git_commit')",
        (moment.project_id, row[0], moment.at),
    ).fetchall():
        if kind in ("test", "build", "lint") and "still fails" in end and outcome == "ok":
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
        "moments": len(rows),
        "told_rate": _share(len(rows) - len(silent), len(rows)),
        "told_work_rate": _share(sum(one.episodes > 0 for one in rows), len(rows)),
        "tokens": round(sum(one.tokens for one in rows) / len(rows), 1) if rows else 0.0,
        "names": sum(one.names for one in rows),
        "names_edited": _of(rows, lambda one: one.edited, lambda one: one.names),
        "names_touched": _of(rows, lambda one: one.touched, lambda one: one.names),
        "episodes": sum(one.episodes for one in rows),
        "episodes_shared": _of(rows, lambda one: one.shared, lambda one: one.episodes),
        "repeats": _of(rows, lambda one: one.repeated, lambda one: one.sentences),
        "open_ends": sum(one.open_ends for one in rows),
        "stale": _of(rows, lambda one: one.stale, lambda one: one.open_ends),
        "silences": len(silent),
        "silences_missed": sum(silent),
    }


def _of(rows: Sequence[Scored], part: Count, whole: Count) -> float | None:
    return _share(sum(map(part, rows)), sum(map(whole, rows)))


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


_ROWS = (
    ("told", "told_rate", "moments"),
    ("told of earlier work", "told_work_rate", "moments"),
    ("names edited", "names_edited", "names"),
    ("names edited or read", "names_touched", "names"),
    ("episodes that share a file or the thread", "episodes_shared", "episodes"),
    ("sentences told before", "repeats", ""),
    ("open ends that were closed", "stale", "open_ends"),
)


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
