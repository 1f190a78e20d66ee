"""Finds written decisions for a search (SQL: which projects): all filters apply; reread after a change.

`/when words` and `type:recall` ask for them alone; besides other hits the best of them stand first.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from sqlite3 import Connection

from nmem.errors import NmemError
from nmem.recall import kept, loaded, resolve
from nmem.recall.asked import told
from nmem.recall.filter import Narrowed, narrowed
from nmem.recall.index import EXTRAS, FILE, LINE, OPERATOR, TRIGGER
from nmem.recall.loaded import Recall
from nmem.search.match import Snippet
from nmem.search.query import Query, parse
from nmem.search.rank import RELEVANCE
from nmem.search.rows import Facet, Facets
from nmem.search.search import Hit, Results
from nmem.search.text import fold
from nmem.store.store import with_folders
from nmem.text import printable

KIND = "recall"
FEW, MANY = 3, 200
"""Entries besides other hits, and where nothing else is asked for."""
_PROJECTS = 5
"""Projects whose decisions are looked at: those worked on last."""
_ASKS = ("/when", "/how")


@dataclass(frozen=True, slots=True)
class Decision:
    """An entry as it is answered: the text that `nmem when` prints, its file and line."""

    text: str
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class _Read:
    """The decisions of a project, and its entries as lines."""

    recall: Recall
    lines: tuple[str, ...]
    times: dict[str, int]
    """When each file was written, in milliseconds."""


class Decisions:
    """The decisions of the projects that are looked at; kept while a cockpit is open, from any thread."""

    def __init__(self) -> None:
        self.generation = 0
        """Grows whenever decisions were read anew."""
        self._read: dict[str, _Read] = {}
        self._lock = threading.Lock()

    def of(self, root: str) -> _Read | None:
        """The decisions of a folder's project as they stand; None where there are none."""
        place = kept.place(root)
        if place is None:
            return None
        with self._lock:
            found = self._read.get(place.folder)
            if found is None or not loaded.unchanged(found.recall):
                recall = loaded.of(place)
                times = {seen.name: seen.stamp // 1_000_000 for seen in recall.seen}
                found = self._read[place.folder] = _Read(recall, tuple(map(_line, recall.index.docs)), times)
                self.generation += 1
        return found

    def find(self, db: Connection, text: str, now: int, projects: Sequence[int] = ()) -> list[Hit]:
        """Entries that have all words, best first; besides other hits only those that have each in one piece."""
        query, words, every = parse(text, now), _words(text, now), alone(text, now)
        if words is None or not (words or every):
            return []
        out: dict[str, Hit] = {}
        for name, root in _roots(db, projects, query.filters.project):
            try:
                found = self.of(root)
            except NmemError:
                continue  # `nmem recall check` says what is wrong with them
            if found is not None:
                wanted = [one for one in narrowed(found.lines, words) if every or one.tight][:MANY]
                for hit in (_hit(found, one, name) for one in wanted):
                    if hit is not None and _in(hit, query):
                        out.setdefault(hit.id, hit)
        return sorted(out.values(), key=lambda hit: -hit.score)

    def unsearched(self) -> tuple[str, ...]:
        """What of the indexes that were looked at is not searched, a line each."""
        with self._lock:
            return tuple(dict.fromkeys(one.recall.index.fault for one in self._read.values() if one.recall.index.fault))

    def shown(self, hit: Hit) -> Decision | None:
        """An entry in full; None when it is gone."""
        with self._lock:
            folder = next((each for each in self._read if hit.path.startswith(f"{each}/")), "")
        try:
            found = self.of(folder) if folder else None
        except NmemError:
            return None
        answer = resolve.Resolver(found.recall).ask(f"/{hit.id.partition('/')[2]}") if found else None
        return Decision(told(answer), f"{folder}/{answer.file}", answer.line) if answer and answer.good else None


OPEN = Decisions()
"""Those of this process."""


def folders(root: str) -> set[str]:
    """The folders that hold the decisions of a folder's project: to be watched."""
    place = kept.place(root)
    if place is None:
        return set()
    return {place.folder, *(str(Path(place.folder, seen.name).parent) for seen in kept.seen(place))}


def index(root: str) -> str:
    """The index of the decisions of a folder's project; "" where there is none."""
    place = kept.place(root)
    return place.index if place else ""


def alone(text: str, now: int) -> bool:
    """Whether a text asks for decisions and nothing else."""
    return text.split(" ", 1)[0] in _ASKS or parse(text, now).filters.type == (KIND,)


def joined(results: Results, hits: Sequence[Hit]) -> Results:
    """What was found, with the best entries before it."""
    if not hits or results.order != RELEVANCE:
        return results
    facets = replace(results.facets, kinds=(Facet(KIND, len(hits), f"type:{KIND}"), *results.facets.kinds))
    few, remarks = tuple(hits[:FEW]), results.remarks + OPEN.unsearched()
    return replace(results, hits=few + results.hits, found=results.found + len(few), facets=facets, remarks=remarks)


def only(text: str, now: int, order: str, hits: Sequence[Hit], seconds: float = 0.0) -> Results:
    """Entries as all that was found."""
    remarks: tuple[str, ...] = () if hits else ("no decision matches these words: nmem recall list shows all",)
    remarks += OPEN.unsearched()
    facets = Facets((Facet(KIND, len(hits), f"type:{KIND}"),) if hits else ())
    return Results(
        parse(text, now), order, tuple(hits[:MANY]), len(hits), len(hits) >= MANY, facets, remarks, "", seconds
    )


def _line(doc: tuple[str, str, tuple[str, ...], str, str, int, int, str]) -> str:
    extras = f" | {', '.join(doc[EXTRAS])}" if doc[EXTRAS] else ""
    return printable(" ".join(f"/{doc[OPERATOR]} {doc[TRIGGER]}{extras}".split()))


def _words(text: str, now: int) -> list[str] | None:
    """The words that an entry must have; None where filters ask for what no decision has."""
    first, _, rest = text.strip().partition(" ")
    if first in _ASKS:
        return rest.split()
    query = parse(text, now)
    asked = query.filters
    if (asked.type and KIND not in asked.type) or asked.failed or asked.pinned or asked.client:
        return None
    if asked.since is not None or asked.until is not None or query.unwanted:
        return None
    return [piece for word in query.wanted for piece in word.text.split()]


def _hit(found: _Read, one: Narrowed, project: str) -> Hit | None:
    index = found.recall.index
    doc = index.docs[one.place]
    if doc[LINE] < 0:
        return None
    link = resolve.entry_link(index, one.place)
    path = f"{found.recall.place.folder}/{doc[FILE]}"
    snippet = Snippet(found.lines[one.place], one.marks)
    return Hit(f"{KIND}/{link[1:]}", KIND, KIND, found.times.get(doc[FILE], 0), "", project, "", path, "", False,
               snippet, float(one.score))  # fmt: skip


def _in(hit: Hit, query: Query) -> bool:
    return all(fold(part) in fold(hit.path) for part in query.filters.file)


def _roots(db: Connection, projects: Sequence[int], named: Sequence[str]) -> list[tuple[str, str]]:
    """Names and folders of the projects that are meant, those worked on last first."""
    rows = with_folders(db)
    if named:
        rows = [row for row in rows if any(fold(one) in fold(row[1]) for one in named)]
    elif projects:
        rows = [row for row in rows if row[0] in projects]
    return [(name, root) for _, name, root in rows[:_PROJECTS]]
