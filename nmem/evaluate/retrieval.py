"""Evaluates retrieval: do search and context find the related earlier session? Compared with plain BM25.

A record is {project, title, text, sessions: [transcript names], superseded?: [transcript names]}. `search` asks with
the title, `search_long` with the whole text; `told` is what a first prompt with that text is told by default.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from math import log
from pathlib import Path
from sqlite3 import Connection
from typing import TYPE_CHECKING, Any

from nmem import database
from nmem.context import preview
from nmem.context.candidates import PROMPT_TOKENS
from nmem.context.preview import Asked
from nmem.errors import NmemError
from nmem.evaluate import store
from nmem.search.search import MOST, search
from nmem.text import printable

if TYPE_CHECKING:
    from rich.table import Table

BASELINE = "BM25 over whole sessions"
SECONDS = 2.0
"""A search of an evaluation may take longer than a keystroke."""
_WORD = re.compile(r"[^\W_]+")
_K, _B = 1.2, 0.75


@dataclass(frozen=True, slots=True)
class Record:
    """A query and the sessions that answer it, by the names of their transcripts."""

    project: str
    title: str
    text: str
    sessions: frozenset[str]
    superseded: frozenset[str]


@dataclass(frozen=True, slots=True)
class Told:
    """What one record's session would have been told."""

    related: bool
    tokens: int
    newer_first: bool | None
    """Whether the newer decision stands before the superseded one; None where nothing is superseded."""


def records(files: Iterable[Path]) -> list[Record]:
    """The records of JSONL files. Raises NmemError at the first line that is none."""
    out: list[Record] = []
    for file in files:
        for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
            if line.strip():
                out.append(_record(line, f"{printable(str(file))}:{number}"))
    if not out:
        raise NmemError("there are no queries to ask")
    return out


def _record(line: str, where: str) -> Record:
    try:
        found = json.loads(line)
        names = frozenset(Path(str(each)).name for each in found["sessions"])
        older = frozenset(Path(str(each)).name for each in found.get("superseded") or ())
        return Record(str(found["project"]), str(found["title"]), str(found["text"]), names, older)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise NmemError(f"{where}: a record is {{project, title, text, sessions}}: {error!r}") from None


def evaluate(
    path: str, asked: Sequence[Record], now: int, progress: Callable[[int, int], None] | None = None
) -> dict[str, Any]:
    """The figures of search, of what is told, and of the baseline; `by` project. Raises NmemError."""
    with closing(database.reader(path)) as db:
        db.row_factory = None
        names = {session: Path(path).name for session, path in store.transcripts(db).items()}
        projects = store.projects(db)
        missing = sorted({one.project for one in asked} - projects.keys())
        if missing:
            raise NmemError(
                f"nothing is recorded of project {printable(', '.join(missing))}: import its sessions first"
            )
        plain = {one.project: _Plain(db, projects[one.project][0]) for one in asked}
        rows = []
        for number, one in enumerate(asked, 1):
            number_of, key = projects[one.project]
            told = _told(db, one, key, names, now)
            places = {
                "search": _place(_found(db, one.title, number_of, names, now), one.sessions),
                "search_long": _place(_found(db, one.text, number_of, names, now), one.sessions),
                "bm25": _place(plain[one.project].find(one.title, names), one.sessions),
            }
            rows.append((one, places, told))
            if progress:
                progress(number, len(asked))
    by = {name: _figures([row for row in rows if row[0].project == name]) for name in sorted(plain)}
    return {**_figures(rows), "baseline": {"name": BASELINE, **_ranks([row[1]["bm25"] for row in rows])},
            "by": {"project": by}}  # fmt: skip


Row = tuple[Record, dict[str, int], Told]


def _figures(rows: Sequence[Row]) -> dict[str, Any]:
    told = [row[2] for row in rows]
    order = [one.newer_first for one in told if one.newer_first is not None]
    return {
        **{name: _ranks([row[1][name] for row in rows]) for name in ("search", "search_long", "bm25")},
        "told_rate": _mean([one.related for one in told]),
        "told_tokens": round(sum(one.tokens for one in told) / len(told), 1),
        "superseded_first": _mean([not newer for newer in order]) if order else None, "n": len(rows),
    }  # fmt: skip


def _ranks(places: Sequence[int]) -> dict[str, float]:
    """Shares of first and of the first five, and the mean reciprocal rank; place 0 is not found."""
    return {
        "hit_at_1": _mean([place == 1 for place in places]),
        "hit_at_5": _mean([0 < place <= 5 for place in places]),
        "mrr": round(sum(1 / place for place in places if place) / len(places), 4),
    }


def _mean(values: Sequence[bool]) -> float:
    return round(sum(values) / len(values), 4) if values else 0.0


def _place(found: Iterable[str], wanted: frozenset[str]) -> int:
    """Where the first wanted session stands among the different ones; 0: nowhere."""
    return next((place for place, name in enumerate(dict.fromkeys(found), 1) if name in wanted), 0)


def _found(db: Connection, text: str, project_id: int, names: dict[str, str], now: int) -> list[str]:
    hits = search(db, text, now, limit=MOST, seconds=SECONDS, projects=(project_id,)).hits
    return [names[hit.session_id] for hit in hits if hit.session_id in names]


def _told(db: Connection, one: Record, key: str, names: dict[str, str], now: int) -> Told:
    made = preview.of(db, Asked(project=key, prompt=one.text, now=now), PROMPT_TOKENS)
    units = [int(item.id.partition("/")[2]) for item in made.items if item.id.startswith("episode/")]
    told = [names[found[0]] for each in units if (found := store.unit(db, each))]
    newer, older = _place(told, one.sessions), _place(told, one.superseded)
    first = None if not one.superseded else newer > 0 and (not older or newer <= older)
    return Told(newer > 0, made.tokens, first)


class _Plain:
    """The baseline: BM25 over everything that was said and done in a session, as one text."""

    def __init__(self, db: Connection, project_id: int) -> None:
        self._bags: dict[str, Counter[str]] = {}
        for session_id, content in store.texts(db, project_id):
            self._bags.setdefault(session_id, Counter()).update(_WORD.findall(str(content).lower()))
        self._docs = Counter(word for bag in self._bags.values() for word in bag)
        self._usual = sum(bag.total() for bag in self._bags.values()) / max(1, len(self._bags))

    def find(self, text: str, names: dict[str, str]) -> list[str]:
        asked = set(_WORD.findall(text.lower()))
        scores = {session: self._score(asked, bag) for session, bag in self._bags.items()}
        return [names[session] for session in sorted(scores, key=scores.__getitem__, reverse=True) if scores[session]]

    def _score(self, asked: set[str], bag: Counter[str]) -> float:
        long = _K * (1 - _B + _B * bag.total() / self._usual)
        total = len(self._bags)
        return sum(
            log(1 + (total - self._docs[word] + 0.5) / (self._docs[word] + 0.5))
            * bag[word]
            * (_K + 1)
            / (bag[word] + long)
            for word in asked & bag.keys()
        )


def table(found: dict[str, Any]) -> Table:
    """The figures for a terminal."""
    from rich.table import Table  # on use: start-up stays short

    out = Table("", "hit@1", "hit@5", "MRR", title="related sessions", title_justify="left")
    for name, label in (("search", "search, the title"), ("search_long", "search, the whole text"), ("bm25", BASELINE)):
        out.add_row(label, *(f"{found[name][key]:.3f}" for key in ("hit_at_1", "hit_at_5", "mrr")))
    out.add_row("told at the first prompt", f"{found['told_rate']:.3f}", "", f"{found['told_tokens']:.0f} tokens")
    return out
