"""An undo of a purge when the world went on: it restores what can be, says what cannot, and stands in nobody's way."""

from __future__ import annotations

import time
from sqlite3 import Connection

import pytest

from capture.storage.store import transaction
from nmem.context import pins
from nmem.errors import NmemError
from nmem.purge import run, trash
from nmem.purge.selection import Selection, parse
from nmem.retention import sweep as sweeping
from nmem.retention.policy import Policy
from nmem.retrieval import index
from nmem.retrieval.store import forget
from nmem.settle import settle
from nmem.undo import undo
from tests.nmem.conftest import Recorded

DAY = 86_400_000
NOW = time.time_ns() // 1_000_000


@pytest.fixture
def three(record: Recorded, db_path: str) -> Connection:
    """A session of three prompts with actions, settled."""
    record.begin("s1")
    for word in ("one", "two", "three"):
        record.user(f"please fix number {word} of the invoice totals")
        record.act("command", f"make {word}")
        record.act("command", f"make {word}", None, "failed")
        record.agent("Done.")
    record.db.execute("UPDATE sessions SET state = 'ended'")
    settle(db_path, 600, models=False, clock=lambda: record.at + DAY)
    return record.db


def prompts(db: Connection) -> list[int]:
    return [row[0] for row in db.execute("SELECT id FROM prompts WHERE source = 'user' ORDER BY id")]


def purged(db_path: str, *ids: str, now: int = NOW, window: int | None = None) -> None:
    run.purge(db_path, Selection(ids=tuple(map(parse, ids))), now, window=window)


def undo_past(db: Connection, final: str) -> str:
    """Take back what was done before a purge for good, which is said first."""
    with pytest.raises(NmemError, match=f"nothing was undone: {final}: .* for good; the next undo reverts: "):
        undo(db, NOW + 2)
    return undo(db, NOW + 2)


def sound(db: Connection, db_path: str) -> None:
    assert db.execute("PRAGMA foreign_key_check").fetchall() == []
    assert settle(db_path, 600, models=False) is not None
    assert (
        db.execute("SELECT count(*) FROM work_units WHERE first_prompt_id NOT IN (SELECT id FROM prompts)").fetchone()[
            0
        ]
        == 0
    )


def test_another_purge_took_what_it_refers_to(three: Connection, db_path: str) -> None:
    first, second, third = prompts(three)
    purged(db_path, f"prompt/{second}")
    purged(db_path, f"prompt/{third}", now=NOW + 1, window=0)
    said = undo_past(three, "purge/2")
    assert "of it are not restored: what they belonged to was removed since" in said
    assert prompts(three) == [first, second]
    assert three.execute("SELECT count(*) FROM observations WHERE prompt_id IS NULL").fetchone() == (0,)
    sound(three, db_path)


@pytest.mark.parametrize("settled", [False, True])
def test_the_whole_session_is_gone(three: Connection, db_path: str, settled: bool) -> None:
    purged(db_path, f"prompt/{prompts(three)[1]}")
    if settled:
        settle(db_path, 600, models=False)
    purged(db_path, "session/s1", now=NOW + 1, window=0)
    assert "are not restored" in undo_past(three, "purge/2")
    assert three.execute("SELECT count(*) FROM prompts").fetchone() == (0,)
    sound(three, db_path)


def test_a_sweep_took_what_it_refers_to(three: Connection, db_path: str, record: Recorded) -> None:
    first = three.execute("SELECT min(id) FROM observations").fetchone()[0]
    purged(db_path, f"obs/{first}")
    settle(db_path, 600, models=False)
    sweeping.sweep(three, Policy(mediation=False), record.at + 2_000 * DAY)
    assert undo(three, NOW + 2) == "purge/1: 1 call"
    assert three.execute("SELECT 1 FROM observations WHERE id = ?", (first,)).fetchone()
    sound(three, db_path)


@pytest.mark.parametrize("damage", ["key", "sealed", "both", "torn"])
def test_trash_that_is_gone_stands_in_nobodys_way(three: Connection, db_path: str, damage: str) -> None:
    first, second, _ = prompts(three)
    pins.pin(three, "prompt", first, True, NOW - 1)
    purged(db_path, f"prompt/{second}")
    number = three.execute("SELECT max(id) FROM purges").fetchone()[0]
    if damage == "torn":
        trash.sealed(db_path, number).write_bytes(b"age-encryption.org/v1 torn")
    if damage in ("key", "both"):
        trash.key(db_path, number).unlink()
    if damage in ("sealed", "both"):
        trash.sealed(db_path, number).unlink()
    assert "cannot be opened" in undo(three, NOW + 2)
    assert "pin" in undo(three, NOW + 3)
    with pytest.raises(NmemError, match="nothing to undo"):
        undo(three, NOW + 4)


def indexed(db: Connection) -> dict[int, tuple[str, set[str]]]:
    """Episode -> its result and its words in the retrieval index."""
    docs = db.execute("SELECT doc, unit_id, result FROM retrieval_docs").fetchall()
    found: dict[int, tuple[str, set[str]]] = {unit: (result, set()) for _, unit, result in docs}
    units = {doc: unit for doc, unit, _ in docs}
    for word, packed in db.execute("SELECT word, postings FROM retrieval_postings").fetchall():
        for posting in memoryview(packed).cast("I"):
            if posting >> 8 in units:
                found[units[posting >> 8]][1].add(word)
    return found


def test_what_was_indexed_between_a_purge_and_its_undo_is_indexed_anew(three: Connection, db_path: str) -> None:
    before = indexed(three)
    assert any("two" in words for _, words in before.values())
    purged(db_path, f"prompt/{prompts(three)[1]}", "obs/3", "obs/4")
    assert not three.execute("SELECT 1 FROM retrieval_postings WHERE word = 'two'").fetchall()
    sound(three, db_path)
    assert not any("two" in words for _, words in indexed(three).values())
    undo(three, NOW + 1)
    sound(three, db_path)
    assert indexed(three) == before
    with transaction(three):
        forget(three, [1])
    index.keep(three)
    assert indexed(three) == before
