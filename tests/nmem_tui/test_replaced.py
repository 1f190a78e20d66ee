"""Another file lies where the database lay: every screen says so, and shows nothing of the one before."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from capture.storage import store
from nmem import database, tables
from nmem.errors import OlderDatabase
from nmem.store import schema
from nmem_tui.model.actions import NUMBERED

OLDER, BROKEN, NOTHING = "was made by an older nmem", "the file is not a database", "nothing recorded"
FOREIGN = "the file is another program's database"
SCREENS = NUMBERED.split()


def older(db: Path) -> None:
    with closing(sqlite3.connect(db)) as one:
        one.execute("UPDATE nmem_schema SET version = ?", (tables.VERSION - 1,))
        one.commit()


def newer(db: Path) -> None:
    with closing(sqlite3.connect(db)) as one:
        one.execute("UPDATE nmem_schema SET version = ?", (tables.VERSION + 1,))
        one.commit()


def older_facts(db: Path) -> None:
    with closing(sqlite3.connect(db)) as one:
        version = one.execute("PRAGMA user_version").fetchone()[0]
        one.execute(f"PRAGMA user_version={version - 1}")


def broken(db: Path) -> None:
    db.write_bytes(b"no database" * 5000)


def foreign(db: Path) -> None:
    db.unlink()
    with closing(sqlite3.connect(db)) as one:
        one.execute("CREATE TABLE notes (text)")


def cut(db: Path) -> None:
    db.write_bytes(b"")


def fresh(db: Path) -> None:
    db.unlink()
    with closing(store.connect(str(db))) as one:
        tables.ensure(one)


def moved(made: Path, over: Path) -> None:
    made.replace(over)


def written(made: Path, over: Path) -> None:
    with over.open("r+b") as file:
        file.write(made.read_bytes())
        file.truncate()


@pytest.fixture
def swap(here: Path) -> Callable[..., None]:
    """Puts another file where the database lies."""

    def put(make: Callable[[Path], None], how: Callable[[Path, Path], None]) -> None:
        db, made = here / "aurora.db", here / "made.db"
        shutil.copyfile(db, made)
        make(made)
        for ending in ("-wal", "-shm"):
            Path(f"{db}{ending}").unlink(missing_ok=True)
        how(made, db)

    return put


async def noticed(pilot: Any, settled: Any) -> None:
    """The feed looked at the file, and the screen heard of it."""
    pilot.app.feed.check()
    pilot.app.feed.poll()
    await settled(pilot)


ONE_AND_ANOTHER = ("now", "health")
"""How a file came there is found out once for all screens: what the others say of it is tried once a reason."""


@pytest.mark.parametrize(
    ("make", "how", "told", "screens"),
    [
        (older, moved, OLDER, SCREENS), (older_facts, written, OLDER, ONE_AND_ANOTHER),
        (broken, moved, BROKEN, ONE_AND_ANOTHER), (broken, written, BROKEN, SCREENS), (cut, written, NOTHING, SCREENS),
        (fresh, moved, NOTHING, ONE_AND_ANOTHER), (newer, written, "upgrade nmem", ONE_AND_ANOTHER),
        (foreign, moved, FOREIGN, SCREENS), (foreign, written, FOREIGN, ONE_AND_ANOTHER),
    ],
)  # fmt: skip
async def test_every_screen_says_so_and_shows_nothing_of_before(
    make: Any, how: Any, told: str, screens: Any, whole: Any, swap: Any, cockpit: Any, settled: Any, text: Any
) -> None:
    async with cockpit("aurora.db", (100, 30)) as pilot:
        for screen in (*screens, "episodes"):
            pilot.app.visit(screen)
            await settled(pilot)
        swap(make, how)
        await noticed(pilot, settled)
        assert pilot.app.current_mode == "episodes"
        for screen in ("episodes", *screens):
            pilot.app.visit(screen)
            await settled(pilot)
            shown = text(pilot)
            if told != NOTHING or screen in ("now", "stance", "context"):
                assert told in " ".join(shown.split()), screen
            assert ("O brings it up to date" in shown) == (told == OLDER), screen
            for word in ("aurora-api", "avatar", "working", "8 MB", "may be old"):
                assert word not in shown, screen


async def test_a_cockpit_opened_on_another_programs_database_says_so_and_writes_nothing_there(
    here: Path, cockpit: Any, settled: Any, text: Any
) -> None:
    foreign_db = here / "aurora.db"
    foreign_db.touch()
    foreign(foreign_db)
    was = foreign_db.read_bytes()
    async with cockpit("aurora.db", (100, 30)) as pilot:
        for screen in SCREENS:
            pilot.app.visit(screen)
            await settled(pilot)
            assert FOREIGN in " ".join(text(pilot).split()), screen
            await pilot.press("u")
            await settled(pilot)
    assert foreign_db.read_bytes() == was


async def test_a_dialog_about_the_file_before_closes(
    whole: Any, swap: Any, cockpit: Any, settled: Any, text: Any
) -> None:
    async with cockpit("aurora.db", (100, 30)) as pilot:
        await pilot.press("2", "x")
        await settled(pilot)
        assert len(pilot.app.screen_stack) == 2
        swap(broken, moved)
        await noticed(pilot, settled)
        assert len(pilot.app.screen_stack) == 1
        assert BROKEN in text(pilot)


@pytest.mark.parametrize("screen", ["now", "search"])
async def test_the_older_one_is_offered_its_upgrade(
    screen: str, whole: Any, swap: Any, cockpit: Any, settled: Any, text: Any, until: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr("nmem.store.schema.MIGRATIONS", (*schema.MIGRATIONS[:-1], "CREATE TABLE brought (id);"))
    async with cockpit("aurora.db", (100, 30)) as pilot:
        assert pilot.app.why_not("upgrade")
        pilot.app.visit(screen)
        await settled(pilot)
        await pilot.press("escape")
        swap(older, moved)
        await noticed(pilot, settled)
        await pilot.press("escape")
        assert "O brings it up to date" in text(pilot)
        await pilot.press("u")  # nothing else brings it up to date by the way
        await settled(pilot)
        with pytest.raises(OlderDatabase):
            database.reader("aurora.db")
        await pilot.press("O")
        await until(pilot, "Upgrade ─ a database of an older nmem", "brings it up to date", seconds=20)
        await pilot.press("y")
        await until(pilot, "the database is up to date", seconds=20)
        database.reader("aurora.db").close()
        await noticed(pilot, settled)
        assert OLDER not in text(pilot)
        assert pilot.app.gone is None
        assert pilot.app.why_not("upgrade")


async def test_a_read_only_cockpit_leaves_the_older_one_and_the_right_one_put_back_is_shown_again(
    whole: Any, swap: Any, here: Path, cockpit: Any, settled: Any, text: Any
) -> None:
    shutil.copyfile("aurora.db", "kept.db")
    async with cockpit("aurora.db", (100, 30), read_only=True) as pilot:
        with closing(sqlite3.connect("aurora.db", isolation_level=None)) as db:
            db.execute("BEGIN EXCLUSIVE")
            await noticed(pilot, settled)
            db.execute("ROLLBACK")
        assert "aurora-api" in text(pilot), "one that is only busy keeps its rows"
        swap(older, moved)
        await noticed(pilot, settled)
        assert OLDER in text(pilot)
        assert "O brings" not in text(pilot)
        (here / "kept.db").replace(here / "aurora.db")
        await noticed(pilot, settled)
        assert "aurora-api" in text(pilot)
        assert OLDER not in text(pilot)
