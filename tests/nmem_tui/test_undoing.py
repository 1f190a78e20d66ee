"""Whatever a person does by keys, `u` takes back, the newest first, until everything is as it was."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from typing import Any

import pytest

from capture.storage import store
from nmem.retrieval import index
from nmem.retrieval.store import forget
from nmem.settle import settle

PATH = "aurora.db"
LEFT_OUT = (
    "corrections", "purges", "purged_keys", "counters", "context_projects", "upkeep", "learned_projects",
    "history_redactions", "candidates", "hook_runs", "retrieval_projects", "retrieval_docs", "retrieval_postings",
    "unit_themes",
)  # fmt: skip
"""What tells of the doing itself, and what is made of facts by settling."""
DO = (
    ("1", "p"), ("1", "x", "y"), ("1", "k", "x", "y"), ("1", "k", "k", "L", "p", "escape"),
    ("2", "j", "p"), ("2", "j", "j", "m"), ("2", "j", "R", "*named*", "enter"), ("2", "j", "c"), ("2", "j", "x", "y"),
    ("2", "j", "j", "e"), ("4", "i"), ("4", "v"), ("4", "z", "enter"), ("4", "x", "y"),
    ("5", "x"), ("5", "i"), ("5", "p"), ("5", "greater_than_sign", "W"),
    ("r", "enter", "y", "escape"), ("r", "enter", "n", "escape"), ("r", "2", "y", "escape"), ("r", "4", "n", "escape"),
    ("r", "3", "n", "escape"), ("7", "x", "y"),
)  # fmt: skip
"""Each from the screen where it begins."""


def tables() -> dict[str, list[Any]]:
    """All rows of all tables, those aside that tell of the doing."""
    db = sqlite3.connect(PATH)
    names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE"
             " 'CREATE VIRTUAL%' AND name NOT LIKE '%fts%' AND name NOT LIKE 'sqlite%' AND name NOT LIKE 'search_%'"
             " AND (name NOT LIKE 'context_%' OR name = 'context_choices')")]  # fmt: skip
    found = {name: sorted(map(repr, db.execute(f"SELECT * FROM {name}"))) for name in names if name not in LEFT_OUT}
    db.close()
    return found


def documents(*, anew: bool = False) -> dict[int, tuple[str, dict[str, int]]]:
    """What the retrieval index says of each episode once it is kept: its result, and its words with their weights.

    `anew`: from the records alone, with nothing left of the index before.
    """
    with closing(store.connect(PATH)) as db:
        if anew:
            with store.transaction(db):
                forget(db, [row[0] for row in db.execute("SELECT id FROM projects").fetchall()])
        index.keep(db)
        docs = db.execute("SELECT project_id, doc, unit_id, result FROM retrieval_docs").fetchall()
        found: dict[int, tuple[str, dict[str, int]]] = {unit: (result, {}) for _, _, unit, result in docs}
        units = {(project, doc): unit for project, doc, unit, _ in docs}
        for project, word, packed in db.execute("SELECT project_id, word, postings FROM retrieval_postings").fetchall():
            for posting in memoryview(packed).cast("I"):
                if (unit := units.get((project, posting >> 8))) is not None:
                    found[unit][1][word] = posting & 255
    return found


def standing() -> int:
    """Corrections that are not undone."""
    db = sqlite3.connect(PATH)
    number = db.execute("SELECT count(*) FROM corrections WHERE undone_at IS NULL").fetchone()[0]
    db.close()
    return int(number)


@pytest.fixture
def lived(here: Any, seeds: Any, load: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    """A memory in which all of these can be done."""
    monkeypatch.setenv("NMEM_CONFIG", str(here / "config.toml"))
    db = seeds.database(PATH)
    seeds.story(db)
    units = seeds.history(db)
    load("learnings_seed").fill(db, seeds, units)
    load("tasks_seed").fill(db, seeds)
    seeds.label(db)
    db.execute("UPDATE observations SET phase = NULL WHERE obs_type = 'lint'")
    db.execute("DELETE FROM corrections")
    db.close()
    settle(PATH, 600, models=False, clock=lambda: seeds.NOW)
    return PATH


async def over(pilot: Any, settled: Any) -> None:
    """Wait until every change is carried out, however long it takes, and shown."""
    await pilot.pause(0)
    while any(worker.is_running for worker in pilot.app.workers if worker.group in ("change", "aside")):
        await pilot.pause(0.05)
    await settled(pilot)


@pytest.mark.parametrize("half", [0, 1])
async def test_all_that_was_done_is_taken_back(
    half: int, lived: str, cockpit: Any, until: Any, settled: Any, here: Any
) -> None:
    known = documents()
    before, config = tables(), here / "config.toml"
    done = []
    async with cockpit(lived, (120, 40)) as pilot:
        for keys in random.Random(1).sample(DO, len(DO))[half::2]:
            for key in keys:
                typed = list(key.strip("*")) if key.startswith("*") else [key]
                await pilot.press(*typed)
                await over(pilot, settled)
            await pilot.press("escape")
            await settled(pilot)
            done.append((keys, standing()))
    assert done[-1][1] >= 5, done
    assert tables() != before
    async with cockpit(lived, (120, 40)) as pilot:  # also after a restart
        for _ in range(60):  # a purge that is undone brings corrections back, which are undone after it
            wanted = "undone: " if standing() else "nothing to undo"
            await pilot.press("u")
            shown = await until(pilot, wanted)
            pilot.app.clear_notifications()
            await over(pilot, settled)
            if "nothing to undo" in shown:
                break
    assert standing() == 0, done
    after = tables()
    changed = {name: set(before[name]) ^ set(after[name]) for name in before if before[name] != after[name]}
    assert changed == {}, done
    assert not config.exists() or "context" not in config.read_text("utf-8")
    assert known
    assert documents() == documents(anew=True) == known, done


async def test_an_older_change_is_named_before_it_is_taken_back(
    lived: str, cockpit: Any, until: Any, settled: Any
) -> None:
    async with cockpit(lived, (80, 24)) as pilot:
        await pilot.press("2", "p")
        await until(pilot, "pinned")
        with closing(sqlite3.connect(PATH)) as db, db:
            db.execute("UPDATE corrections SET at = at - 3600000")
        await settled(pilot)
        await pilot.press("u")
        await until(pilot, "undo: pin of episode", "07:", "u again undoes it")
        assert standing() == 1
        await pilot.press("u")
        await until(pilot, "undone: pin of episode")
        assert standing() == 0
