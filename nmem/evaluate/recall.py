"""Evaluates decision search: labelled queries on an index, compared with word overlap.

Records: {query, operator, heading, file, also_ok, kind}; nonsense, which nothing should answer: {query}.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmem.errors import NmemError
from nmem.recall import folder, kept, loaded, resolve, words
from nmem.recall.index import FILE, HEADING, LINE, TRIGGER, Index
from nmem.recall.rank import FLOOR, rank

if TYPE_CHECKING:
    from rich.table import Table

_KEYS = ("hit_at_1", "hit_at_5", "mrr", "answered", "precision_answered", "nonsense_answered", "ms_per_query", "n")
_DEEP = 10
"""Places that count for the mean reciprocal rank."""


@dataclass(frozen=True, slots=True)
class Query:
    """A query and what answers it."""

    text: str
    operator: str
    kind: str
    wanted: frozenset[tuple[str, str]]
    """Headings and files; a file of "" is any."""


@dataclass(frozen=True, slots=True)
class _Asked:
    query: Query
    place: int
    """Of the first right entry, from 0; _DEEP: not found."""
    answered: bool
    ms: float


def records(files: Sequence[Path]) -> list[dict[str, Any]]:
    """The records of JSONL files. Raises NmemError for a line that is none."""
    out: list[dict[str, Any]] = []
    for file in files:
        for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
            if not line.strip():
                continue
            try:
                found = json.loads(line)
            except ValueError as error:
                raise NmemError(f"{file}:{number}: {error}") from None
            if not isinstance(found, dict) or not isinstance(found.get("query"), str):
                raise NmemError(f"{file}:{number}: a record has a `query`")
            out.append(found)
    return out


def evaluate(
    index: Path, decisions: Path, queries: Sequence[dict[str, Any]], nonsense: Sequence[dict[str, Any]] = ()
) -> dict[str, object]:  # fmt: skip
    """The figures; shares between 0 and 1, `nonsense_answered` a share too (None without nonsense)."""
    found = loaded.of(folder.named(str(index), str(decisions)), keep=False).index
    if not found.docs:
        raise NmemError(f"{index} has no /when entries and {decisions} no decisions: are these the right places?")
    wanted = [_query(each) for each in queries]
    if not wanted:
        raise NmemError("there are no queries to ask")
    none = [each["query"] for each in nonsense]
    asked = [_asked(found, each, _ranked) for each in wanted]
    out = _figures(asked, _nonsense(found, none, _ranked))
    kinds = dict.fromkeys(each.kind for each in wanted)
    by = {kind: _figures([each for each in asked if each.query.kind == kind], None) for kind in kinds}
    out["by"] = {"kind": by, "unasked": {"offered": _offered(found, wanted, none)}}
    plain = [_asked(found, each, _plain) for each in wanted]
    out["baseline"] = {"name": "words in common with the trigger", **_figures(plain, _nonsense(found, none, _plain))}
    return out


def _query(record: dict[str, Any]) -> Query:
    wanted = {(str(record.get("heading", "")), str(record.get("file", "")))}
    for other in record.get("also_ok") or ():
        wanted.add((other["heading"], other.get("file", "")) if isinstance(other, dict) else (str(other), ""))
    return Query(record["query"], str(record.get("operator", "")), str(record.get("kind", "")), frozenset(wanted))


Method = Callable[[Index, str, str], tuple[list[int], bool]]


def _ranked(index: Index, query: str, operator: str) -> tuple[list[int], bool]:
    """Entries, best first, and whether the first would answer: as a question is really answered."""
    own, text = words.bare(query)
    exact = resolve.exact(index, own or operator, text)
    if exact:
        return exact[:_DEEP], len(exact) == 1
    found, sure = rank(index, text, own or operator, _DEEP)
    return [each.doc for each in found], bool(found) and sure >= FLOOR and index.docs[found[0].doc][LINE] >= 0


def _plain(index: Index, query: str, operator: str) -> tuple[list[int], bool]:  # noqa: ARG001 - a Method
    """The baseline: the share of words that query and trigger have in common; it answers where half are."""
    asked = set(words.words(words.bare(query)[1]))
    said = []
    for doc, entry in enumerate(index.docs):
        own = set(words.words(entry[TRIGGER]))
        said.append((-len(asked & own) / (len(asked | own) or 1), doc))
    said.sort()
    return [doc for share, doc in said[:_DEEP] if share < 0], said[0][0] <= -0.5


def _asked(index: Index, query: Query, method: Method) -> _Asked:
    start = time.perf_counter()
    docs, answered = method(index, query.text, query.operator)
    ms = (time.perf_counter() - start) * 1000
    right = (
        at for at, doc in enumerate(docs)
        if query.wanted & {(index.docs[doc][HEADING], index.docs[doc][FILE]), (index.docs[doc][HEADING], "")}
    )  # fmt: skip
    return _Asked(query, next(right, _DEEP), answered, ms)


def _nonsense(index: Index, queries: Iterable[str], method: Method) -> float | None:
    answered = [method(index, each, "")[1] for each in queries]
    return round(sum(answered) / len(answered), 4) if answered else None


def _figures(asked: Sequence[_Asked], nonsense: float | None) -> dict[str, object]:
    count = len(asked)
    told = [each for each in asked if each.answered]
    return {
        "hit_at_1": _share(sum(each.place == 0 for each in asked), count),
        "hit_at_5": _share(sum(each.place < 5 for each in asked), count),
        "mrr": _share(sum(1 / (each.place + 1) for each in asked if each.place < _DEEP), count),
        "answered": _share(len(told), count),
        "precision_answered": _share(sum(each.place == 0 for each in told), len(told)), "nonsense_answered": nonsense,
        "ms_per_query": round(sum(each.ms for each in asked) / count, 3), "n": count,
    }  # fmt: skip


def _offered(index: Index, wanted: Sequence[Query], nonsense: Sequence[str]) -> dict[str, object]:
    """The same figures of what would be offered if the queries were prompts: each offer is an answer."""
    names = kept.form(index)
    told = [[bool(each.wanted & {(one.heading, one.file), (one.heading, "")}) for one in kept.best(names, each.text)]
            for each in wanted]  # fmt: skip
    made = [one for each in told for one in each]
    return {
        **dict.fromkeys(_KEYS), "hit_at_1": _share(sum(each[:1] == [True] for each in told), len(told)),
        "hit_at_5": _share(sum(any(each) for each in told), len(told)),
        "answered": _share(sum(bool(each) for each in told), len(told)),
        "precision_answered": _share(sum(made), len(made)),
        "nonsense_answered": _share(sum(bool(kept.best(names, each)) for each in nonsense), len(nonsense)),
        "n": len(told),
    }  # fmt: skip


def _share(part: float, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def table(figures: dict[str, Any]) -> Table:
    """The figures, the baseline's and those by kind, as a table."""
    from rich.table import Table  # on use: start-up stays short

    out = Table("", *(key.replace("_", " ") for key in _KEYS), title="recall", title_justify="left")
    for name, row in (
        ("nmem", figures),
        (figures["baseline"]["name"], figures["baseline"]),
        *figures["by"]["kind"].items(),
        ("offered unasked", figures["by"]["unasked"]["offered"]),
    ):
        out.add_row(name, *("" if row[key] is None else f"{row[key]:g}" for key in _KEYS))
    return out
