"""The ledger of a session's compactions: what each dropped, what came again, what nmem gave back.

Derived when it is read. Given a session, gives a Compaction for each: what was known before it (nmem.context.dropped:
decisions, open ends, files that were changed or read, commands that pass), what its summary names of that, what was
needed again until the next one, and when the memory told it once more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from sqlite3 import Connection
from typing import TYPE_CHECKING

from nmem.context import dropped, session_store
from nmem.context.dropped import COMMAND, DECISION, FAILS, FILE, KINDS, OPEN, READ, TODO, Thing
from nmem.episodes import open_ends
from nmem.episodes.text import checkout_path
from nmem.learn import errors
from nmem.read import store
from nmem.text import json_object

if TYPE_CHECKING:
    from nmem.context.dropped import Fold, Names
    from nmem.context.session_store import Call, Said
    from nmem.episodes.open_ends import Row

__all__ = ["AGAIN", "COMMAND", "DECISION", "FAILS", "FILE", "KINDS", "OPEN", "READ", "TODO", "Again", "Compaction",
           "Known", "of_session"]  # fmt: skip
REREAD, FAILED, ASKED = "read again", "failed again", "asked again"
AGAIN = (REREAD, FAILED, ASKED)
_COMMAND = 200


@dataclass(frozen=True, slots=True)
class Known:
    """Something that was known when a session was compacted."""

    kind: str
    text: str
    id: str
    """The newest row that says it: obs/12, prompt/5, decision/3."""
    at: int
    named: bool
    """Whether the summary names it; False where there is no summary."""
    needed: str = ""
    """The row that touched it again before the next compaction: it was read, changed, run or asked about."""
    needed_at: int = 0
    given_at: int = 0
    """When the memory told it after the compaction; 0: it did not."""


@dataclass(frozen=True, slots=True)
class Again:
    """What was done or asked again after a compaction, and whether the summary had dropped it."""

    kind: str
    text: str
    id: str
    before: str
    """The row that knew it before."""
    dropped: bool


@dataclass(frozen=True, slots=True)
class Compaction:
    """One compaction of a session."""

    id: str
    at: int
    summary: str
    """The row that holds the summary; empty where none was recorded."""
    tokens: int
    """About how many tokens the summary takes."""
    known: tuple[Known, ...]
    again: tuple[Again, ...]

    @property
    def dropped(self) -> tuple[Known, ...]:
        """What the summary does not name; nothing where there is no summary to tell."""
        return tuple(one for one in self.known if not one.named) if self.summary else ()


def of_session(db: Connection, session_id: str) -> tuple[Compaction, ...]:
    """The compactions of a session, in its order; none where it was not compacted."""
    folds = dropped.folds(db, session_id)
    if not folds:
        return ()
    spoken, given = session_store.spoken(db, session_id), store.given(db, session_id)
    return tuple(_ledger(fold, [each for each in spoken if fold.at < each[1] <= fold.until], given) for fold in folds)


def _ledger(fold: Fold, said: Sequence[Said], given: Sequence[tuple[int, str]]) -> Compaction:
    known = []
    for one in fold.known:
        needed, needed_at = "", 0
        if call := dropped.met(one, fold.later):
            needed, needed_at = f"obs/{call[0]}", call[1][0]
        elif found := dropped.asked(one, said):
            needed, needed_at = f"prompt/{found[0]}", found[1]
        ids = {one.id, f"file/{one.text}"} if one.kind in (FILE, READ) else {one.id}
        told = next((at for at, item in given if item in ids and fold.at <= at <= fold.until), 0)
        known.append(Known(one.kind, one.text, one.id, one.at, one.named, needed, needed_at, told))
    summary = fold.summary
    return Compaction(f"obs/{fold.id}", fold.at, f"prompt/{summary[0]}" if summary else "",
                      summary[2] // 4 if summary else 0, tuple(known), tuple(_again(fold, said)))  # fmt: skip


# What came again


def _again(fold: Fold, said: Sequence[Said]) -> Iterator[Again]:
    """What the session did again of what it knew, each once."""
    yield from _reread(fold.before, fold.later, fold.names)
    yield from _failed(fold.before, fold.later, fold.names)
    for one in fold.known:
        if found := dropped.asked(one, said):
            yield Again(ASKED, dropped.line(found[2]), f"prompt/{found[0]}", one.id,
                        not one.named and bool(fold.names.text))  # fmt: skip


def _reread(before: Iterable[Call], later: Iterable[Call], names: Names) -> Iterator[Again]:
    """Files that were read or changed before, and read again before anything changed them."""
    seen: dict[str, str] = {}
    for number, (_, kind, path, _, outcome, _) in before:
        if path and outcome != "failed" and (kind == "file_read" or kind in open_ends.EDITS):
            seen[checkout_path(path)] = f"obs/{number}"
    for number, (_, kind, path, _, outcome, _) in later:
        name = checkout_path(path)
        if path and kind in open_ends.EDITS and outcome != "failed":
            seen.pop(name, None)
        elif path and kind == "file_read" and outcome != "failed" and name in seen:
            yield Again(REREAD, name, f"obs/{number}", seen.pop(name), _lost(FILE, name, names))


def _failed(before: Iterable[Call], later: Iterable[Call], names: Names) -> Iterator[Again]:
    """Commands that failed before and fail again with the same error."""
    seen: dict[tuple[str, str], str] = {}
    for number, row in before:
        if row[4] == "failed" and row[1] in open_ends.RUNS:
            seen[_way(row)] = f"obs/{number}"
    for number, row in later:
        way = _way(row) if row[4] == "failed" and row[1] in open_ends.RUNS else None
        if way in seen and way is not None:
            text = way[0] + (f": {way[1]}" if way[1] else "")
            yield Again(FAILED, text, f"obs/{number}", seen.pop(way), _lost(OPEN, FAILS + way[0], names))


def _lost(kind: str, text: str, names: Names) -> bool:
    """Whether a summary that is on record does not name it."""
    return bool(names.text) and not names.have(Thing(kind, text, "", 0))


def _way(row: Row) -> tuple[str, str]:
    """A command, and how it failed."""
    told = json_object(row[5])
    found = errors.signatures(str(told.get("response") or told.get("error") or row[5]))
    return open_ends.plain(row[3])[:_COMMAND], found[0].title if found else ""
