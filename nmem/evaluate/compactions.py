"""Evaluates what compactions lose and what of it is given back: replayed without the future.

Each compaction of the database is a moment. The memory is veiled as it stood then (nmem.context.review_store) and
asked what the session is told right after it; then at each prompt, edit and command up to the next compaction. What a
later call touches of what the summary dropped was needed: the figures say how much of that had been told by then. The
baseline tells what was going on without a look at the summary and without checks that passed, and gives nothing back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from sqlite3 import Connection
from typing import TYPE_CHECKING, Any

from nmem.context import config, dropped, giveback, recovery, review_store, session_store
from nmem.context.compose import packed
from nmem.context.dropped import FILE, KINDS, READ, Fold
from nmem.context.items import Item
from nmem.context.present import Present
from nmem.episodes import open_ends
from nmem.errors import NmemError
from nmem.evaluate import store

if TYPE_CHECKING:
    from rich.table import Table

    from nmem.context.session_store import Said

BASELINE = "no look at the summary, nothing given back"
PACKET, PROMPT, CALL = "after the compaction", "at a prompt", "at a call"
WAYS = (PACKET, PROMPT, CALL)
COUNTS = ("known", "named", "dropped", "needed", "told")
_SUMMARY = 2_000
"""Milliseconds that a transcript may tell a summary after its compaction; a hook tells it before."""

Told = dict[str, tuple[int, str]]
"""Item -> when it was told first, and on which way."""


def evaluate(path: str, project: str = "", progress: Callable[[int], None] = lambda _: None) -> dict[str, Any]:
    """Counts by kind over the compactions with a summary, the baseline's, and those without. Raises NmemError."""
    ours: Counter[str] = Counter()
    theirs: Counter[str] = Counter()
    ways: Counter[str] = Counter()
    bare: Counter[str] = Counter()
    tokens: list[tuple[int, int]] = []
    with review_store.as_of(path) as db:
        sessions = store.compacted(db, project)
        found = [(one, each, session_store.spoken(db, one)) for one in sessions for each in dropped.folds(db, one)]
        if not found:
            raise NmemError("no compaction is recorded: nothing can be replayed")
        for number, (session_id, one, said) in enumerate(found):
            before, after = _packets(db, session_id, one)
            plain = _first(before, one.at, PACKET)
            if one.summary:
                told = _replayed(db, session_id, one, after)
                tokens.append((sum(item.tokens for item in before), sum(item.tokens for item in after)))
                _count(ours, ways, one, said, told)
                _count(theirs, Counter(), one, said, plain)
            else:
                _count(bare, Counter(), one, said, _first(after, one.at, PACKET))
                _count(theirs, Counter(), one, said, plain, "bare ")
            progress(number + 1)
    few = {kind: {name: ours[f"{kind} {name}"] for name in COUNTS} for kind in KINDS}
    return {
        "compactions": len(found), "with_summary": len(tokens), "by": {"kind": few},
        "told_by": {way: ways[way] for way in WAYS},
        "packet_tokens": sum(after for _, after in tokens),
        "baseline": {"name": BASELINE, "by": {"kind": {kind: theirs[f"{kind} told"] for kind in KINDS}},
                     "packet_tokens": sum(before for before, _ in tokens)},
        "without_summary": {kind: {"known": bare[f"{kind} known"], "needed": bare[f"{kind} needed"],
                                   "told": bare[f"{kind} told"], "baseline": theirs[f"bare {kind} told"]}
                            for kind in KINDS},
    }  # fmt: skip


def _packets(db: Connection, session_id: str, one: Fold) -> tuple[list[Item], list[Item]]:
    """What is told right after a compaction: without a look at its summary, and with one."""
    budget = int(config.DEFAULTS["recovery_tokens"])
    review_store.move(db, one.at + _SUMMARY)
    missing = giveback.lost(db, session_id, one.at)
    told = (recovery.recover(db, session_id, budget, missing=each) for each in ((), missing))
    before, after = told
    before = [item for item in before if item.kind != recovery.PASSED]
    review_store.move(db, review_store.END)
    return before, after


def _first(items: Iterable[Item], at: int, way: str) -> Told:
    return {item.id: (at, way) for item in items}


def _replayed(db: Connection, session_id: str, one: Fold, packet: list[Item]) -> Told:
    """All that is told up to the next compaction."""
    told = _first(packet, one.at, PACKET)
    for at, kind, path, text in store.said_and_done(db, session_id, one.at, one.until):
        review_store.move(db, at)
        if kind == "prompt":
            new, way = _asked(db, session_id, at, text, told), PROMPT
        elif kind in open_ends.EDITS or kind in open_ends.RUNS:
            edits = kind in open_ends.EDITS
            found = giveback.before_call(db, session_id, one.at, at, path if edits else "", "" if edits else text)
            new, way = [found] if found else [], CALL
        else:
            continue
        told = {**_first(new, at, way), **told}
    review_store.move(db, review_store.END)
    return told


def _asked(db: Connection, session_id: str, at: int, text: str, told: Told) -> list[Item]:
    """What a prompt is given back, as many as there is room for."""
    present = Present(0, session_id, at, text)
    items = [item for item in giveback.spoken_of(db, present) if item.id not in told]
    return packed(items, int(config.DEFAULTS["prompt_tokens"]))


def _count(
    counts: Counter[str], ways: Counter[str], of: Fold, said: Iterable[Said], told: Told, head: str = ""
) -> None:  # fmt: skip
    said = [each for each in said if of.at < each[1] <= of.until]
    for one in of.known:
        kind = head + one.kind
        counts[f"{kind} known"] += 1
        counts[f"{kind} named"] += one.named
        counts[f"{kind} dropped"] += not one.named
        call, again = dropped.met(one, of.later), dropped.asked(one, said)
        needed_at = call[1][0] if call else again[1] if again else 0
        if one.named or not needed_at:
            continue
        counts[f"{kind} needed"] += 1
        ids = (one.id, f"file/{one.text}") if one.kind in (FILE, READ) else (one.id,)
        first = min((told[each] for each in ids if each in told), default=None)
        if first and first[0] <= needed_at:
            counts[f"{kind} told"] += 1
            ways[first[1]] += 1


def table(figures: dict[str, Any]) -> Table:
    """A row a kind: of what compactions with a summary knew, what that named, dropped, was needed and told by then."""
    from rich.table import Table  # on use: start-up stays short

    many = figures["with_summary"]
    title = f"{many} of {figures['compactions']} compactions with a summary; packets {figures['packet_tokens']} tokens"
    out = Table("", *COUNTS, f"baseline: {BASELINE}", title=title, title_justify="left")
    theirs = figures["baseline"]["by"]["kind"]
    for kind, row in figures["by"]["kind"].items():
        out.add_row(kind, *(str(row[name]) for name in COUNTS), str(theirs[kind]))
    for kind, row in figures["without_summary"].items():
        if row["known"]:
            cells = (str(row.get(name, "")) for name in COUNTS)
            out.add_row(f"{kind}, no summary", *cells, str(row["baseline"]))
    return out
