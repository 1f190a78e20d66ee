"""Candidates follow the facts: added to, or made anew, they are what folding everything at once would make."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from nmem.context import candidate_store, fold, keep
from nmem.context.fold import SILENT, Checkouts, sessions
from nmem.context.rank import rank
from nmem.store.schema.found import CANDIDATES
from tests.nmem.conftest import MINUTE

if TYPE_CHECKING:
    from tests.nmem.conftest import Recorded

LATE = 1 << 60
PROJECT = (1, "shop")


def tables(db: sqlite3.Connection) -> dict[str, list[tuple[Any, ...]]]:
    """The candidates as rows; heats rounded, what says how far it has come left out."""
    out: dict[str, list[tuple[Any, ...]]] = {}
    for table in candidate_store.TABLES:
        rows = db.execute(f"SELECT * FROM {table} WHERE project_id = 1").fetchall()
        out[table] = sorted(tuple(round(each, 9) if isinstance(each, float) else each for each in row) for row in rows)
    counts = db.execute("SELECT sessions, turns, files, roots, upto_at, upto_prompt FROM context_projects")
    out["project"] = counts.fetchall()
    return out


def scratch(db: sqlite3.Connection, now: int = LATE) -> dict[str, list[tuple[Any, ...]]]:
    """What folding everything at once makes."""
    beside = sqlite3.connect(":memory:", isolation_level=None)
    beside.executescript(CANDIDATES)
    keep.fold_into(beside, list(sessions(db, 1, now)), *PROJECT)
    return tables(beside)


def shop(record: Recorded, name: str, said: str, *files: str, branch: str = "") -> None:
    record.begin(name).user(said)
    for file in files:
        record.edit(file)
    record.act("file_read", "read", "src/tax.py").agent(f"Done with {name}: {said}")
    record.db.execute("UPDATE sessions SET state = 'ended', branch = ? WHERE id = ?", (branch, name))


def test_session_by_session_is_all_at_once(record: Recorded) -> None:
    for number in range(12):
        shop(record, f"s{number}", f"work on thing {number % 3} of the invoice", f"src/thing{number % 3}.py",
             f"src/new{number}.py", branch=f"feature/thing{number % 3}")  # fmt: skip
        assert keep.keep_all(record.db, LATE) == 1
        assert tables(record.db) == scratch(record.db)
    assert keep.keep_all(record.db, LATE) == 0


def test_a_session_that_goes_on_counts_its_files_once(record: Recorded) -> None:
    shop(record, "s", "fix the invoice", "src/invoice.py")
    keep.keep_all(record.db, LATE)
    shop(record, "other", "fix the tax", "src/tax.py")
    keep.keep_all(record.db, LATE)
    record.session, record.seq = "s", 50
    record.user("and once more the invoice").edit("src/invoice.py").edit("src/more.py").agent("done")
    assert keep.keep_all(record.db, LATE) == 1
    assert tables(record.db) == scratch(record.db)
    heats = dict(record.db.execute("SELECT path, edit_heat FROM context_files").fetchall())
    assert heats["src/more.py"] > heats["src/invoice.py"]


def test_a_turn_that_is_not_over_waits(record: Recorded) -> None:
    shop(record, "s", "fix the invoice", "src/invoice.py")
    record.begin("running").user("change the tax").edit("src/tax.py")
    record.db.execute("UPDATE sessions SET state = 'working' WHERE id = 'running'")
    now = record.at + MINUTE
    assert keep.keep_all(record.db, now) == 1
    record.edit("src/late.py").agent("done")
    record.db.execute("UPDATE sessions SET state = 'idle' WHERE id = 'running'")
    assert keep.keep_all(record.db, record.at + MINUTE) == 1
    assert tables(record.db) == scratch(record.db)
    assert "src/late.py" in {path for (path,) in record.db.execute("SELECT path FROM context_files")}


def test_a_killed_session_is_folded_once_it_is_silent(record: Recorded) -> None:
    record.begin("killed").user("change the tax").edit("src/tax.py")
    record.db.execute("UPDATE sessions SET state = 'working'")
    assert keep.keep_all(record.db, record.at + MINUTE) == 0
    assert keep.keep_all(record.db, record.at + SILENT + MINUTE) == 1


def test_older_sessions_that_come_later_are_put_in_their_place(record: Recorded) -> None:
    record.at += 10_000 * MINUTE
    shop(record, "new", "fix the invoice", "src/invoice.py", branch="feature/invoice")
    keep.keep_all(record.db, LATE)
    record.at -= 9_000 * MINUTE
    shop(record, "old", "fix the tax", "src/tax.py")
    assert keep.keep_all(record.db, LATE) == 2
    assert tables(record.db) == scratch(record.db)


def test_a_turn_that_grew_later_is_folded_anew(record: Recorded) -> None:
    shop(record, "s", "fix the invoice", "src/invoice.py")
    shop(record, "t", "fix the tax", "src/tax.py")
    keep.keep_all(record.db, LATE)
    record.session, record.seq = "s", 50
    record.edit("src/forgotten.py")
    assert keep.keep_all(record.db, LATE) == 2
    assert tables(record.db) == scratch(record.db)


def test_another_branch_takes_its_files_along(record: Recorded) -> None:
    shop(record, "s", "fix the invoice", "src/invoice.py", branch="feature/coupons")
    keep.keep_all(record.db, LATE)
    record.db.execute("UPDATE sessions SET branch = 'feature/rounding' WHERE id = 's'")
    keep.keep_all(record.db, LATE)
    words = {word for (word,) in record.db.execute("SELECT word FROM context_branches")}
    assert "round" in words
    assert "coupon" not in words
    assert tables(record.db) == scratch(record.db)


@pytest.mark.parametrize(
    "purge",
    [
        "DELETE FROM observations WHERE file_path = 'src/secret.py'",
        "UPDATE observations SET file_path = 'src/public.py' WHERE file_path = 'src/secret.py'",
    ],
)
def test_what_is_purged_is_told_no_more_at_once_and_forgotten_when_it_settles(record: Recorded, purge: str) -> None:
    shop(record, "s", "fix the invoice", "src/secret.py")
    shop(record, "t", "fix the tax", "src/tax.py")
    keep.keep_all(record.db, LATE)
    assert rank(record.db, 1, "fix secret.py").files
    record.db.execute(purge)
    assert not rank(record.db, 1, "fix secret.py").files
    assert keep.keep_all(record.db, LATE) == 2
    assert tables(record.db) == scratch(record.db)
    assert "secret" not in str(record.db.execute("SELECT path FROM context_files").fetchall())
    assert rank(record.db, 1, "fix the tax").files


def test_words_of_a_purged_prompt_are_forgotten(record: Recorded) -> None:
    shop(record, "s", "the zebra password", "src/a.py")
    shop(record, "t", "fix the tax", "src/tax.py")
    keep.keep_all(record.db, LATE)
    record.db.execute("UPDATE observations SET prompt_id = NULL WHERE session_id = 's'")
    record.db.execute("DELETE FROM prompts WHERE session_id = 's'")
    keep.keep_all(record.db, LATE)
    assert not record.db.execute("SELECT 1 FROM context_terms WHERE term = 'zebra'").fetchone()
    assert tables(record.db) == scratch(record.db)


def test_other_rules_make_everything_anew(record: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    shop(record, "s", "fix the invoice", "src/invoice.py")
    keep.keep_all(record.db, LATE)
    monkeypatch.setattr(fold, "RULES", "other")
    monkeypatch.setattr(keep, "RULES", "other")
    assert keep.keep_all(record.db, LATE) == 1
    assert keep.keep_all(record.db, LATE) == 0


def test_it_goes_on_where_it_was_stopped(record: Recorded) -> None:
    for number in range(3 * keep.CHUNK):
        record.begin(f"s{number}").user(f"turn {number}").edit(f"src/f{number % 7}.py").agent("ok")
    looks: Iterator[bool] = iter([False, False, True])
    done = keep.keep_all(record.db, LATE, lambda: next(looks, True))
    assert 0 < done < 3 * keep.CHUNK
    assert done + keep.keep_all(record.db, LATE) == 3 * keep.CHUNK
    assert tables(record.db) == scratch(record.db)


def test_any_order_of_arrival_gives_the_same(record: Recorded) -> None:
    dice = random.Random(5)
    for number in range(25):
        if number and dice.random() < 0.4:
            record.session, record.seq = f"s{dice.randrange(number)}", 1000 * number
            if not record.db.execute("SELECT 1 FROM sessions WHERE id = ?", (record.session,)).fetchone():
                continue
            record.user(f"again {number}")
        else:
            record.begin(f"s{number}").user(f"first {number}")
        for _ in range(dice.randrange(3)):
            record.edit(f"src/f{dice.randrange(9)}.py")
        record.agent("done")
        if dice.random() < 0.5:
            keep.keep_all(record.db, LATE)
    keep.keep_all(record.db, LATE)
    assert tables(record.db) == scratch(record.db)


def test_one_file_has_one_name_in_every_checkout() -> None:
    places = Checkouts("shop")
    places.learn(["src/invoice.py", "src/tax.py"])
    places.learn(["/home/ann/work/shop/src/invoice.py", "/home/ann/work/shop/src/tax.py"])
    places.learn(["D:\\code\\shop\\src\\invoice.py", "D:\\code\\shop\\src\\tax.py"])
    assert places.name_of("/home/ann/work/shop/src/new.py") == "src/new.py"
    assert places.name_of("D:\\code\\shop\\src\\new.py") == "src/new.py"
    assert places.name_of("/etc/passwd") is None
    assert places.name_of("/tmp/shop/src/new.py") is None
    assert places.name_of("src/new.py") == "src/new.py"
