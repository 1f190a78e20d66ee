"""A word in any text column of any table goes, and comes back: the columns are read from the schema."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from capture.storage import store
from nmem import tables
from nmem.purge import journal, run
from nmem.purge.selection import Selection
from nmem.store import registry
from nmem.undo import undo
from tests.nmem.purge.conftest import dumped, holding

NOW = 1_760_000_000_000
WORD = "zqplanted"
Planted = dict[tuple[str, str], str]
"""Table and column -> the value that stands there, and there alone."""
HASHED = {("team_facts", "id"), ("team_facts", "subject")}
"""No words, and they stay where they say for ever what was taken from a team."""


class Planter:
    """Fills tables with rows that hold a word in one column each, with whatever rows these refer to."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        self.planted: Planted = {}
        self._number = Counter[str]()

    def everywhere(self) -> Planted:
        for table in journal.tables(self.db, registry.names(lambda table: table.ever)):
            for name, kind in self._columns(table.name):
                if (table.name, name) not in HASHED and kind.upper() not in ("INTEGER", "REAL"):
                    self._plant(table.name, name)
        return self.planted

    def _columns(self, table: str) -> list[tuple[str, str]]:
        return [(row[1], row[2]) for row in self.db.execute(f"PRAGMA table_info({table})")]

    def _plant(self, table: str, column: str) -> None:
        self._number[WORD] += 1
        value = f"{WORD}x{self._number[WORD]:03d}x"
        try:
            self.row(table, {column: value})
        except sqlite3.IntegrityError as error:
            assert f"CHECK constraint failed: {column} " in str(error), (table, column, error)
            return
        self.planted[table, column] = value

    def row(self, table: str, given: dict[str, object]) -> dict[str, object]:
        """A new row of a table, and rows that it refers to."""
        self._number[table] += 1
        refers = {
            row[3]: (row[2], row[4] or "id") for row in self.db.execute(f"PRAGMA foreign_key_list({table})").fetchall()
        }
        values: dict[str, object] = {}
        for _, name, kind, bound, default, key in self.db.execute(f"PRAGMA table_info({table})").fetchall():
            if name in given:
                values[name] = given[name]
                if name in refers and not self._there(*refers[name], given[name]):
                    self.row(refers[name][0], {refers[name][1]: given[name]})
            elif name in refers and (bound or key):
                values[name] = self.row(refers[name][0], {})[refers[name][1]]
            elif key or (bound and default is None):
                values[name] = self._value(table, name, kind)
        names, marks = ", ".join(values), ", ".join("?" * len(values))
        self.db.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", list(values.values()))
        return values

    def of_session(self, table: str, session_id: str) -> None:
        """A row of a session."""
        self.row(table, {"session_id": session_id})

    def _there(self, table: str, column: str, value: object) -> bool:
        found = self.db.execute(f"SELECT 1 FROM {table} WHERE {column} = ?", (value,))
        return found.fetchone() is not None

    def _value(self, table: str, name: str, kind: str) -> object:
        number = 1_000 + self._number[table]
        if kind.upper() == "BLOB":
            return b""
        (sql,) = self.db.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,)).fetchone()
        if allowed := re.search(rf"CHECK \({name} IN \('(\w+)'", sql):
            return allowed[1]
        return number if kind.upper() in ("INTEGER", "REAL") else f"{name}{number}"


def stands(db: sqlite3.Connection, planted: Planted) -> dict[tuple[str, str], str]:
    """The values that stand where they were planted."""
    return {
        (table, column): value for (table, column), value in planted.items()
        if db.execute(f"SELECT 1 FROM {table} WHERE {column} = ?", (value,)).fetchone()
    }  # fmt: skip


def rows(db: sqlite3.Connection) -> Iterator[tuple[str, list[str]]]:
    """Every row of every ordinary table, but for what counts up."""
    counted = {"purges", "gone_ids", "search_state", "context_projects", "corrections"}
    for table in journal.tables(db, counted | registry.names(lambda table: table.ever)):
        yield table.name, sorted(map(repr, db.execute(f"SELECT * FROM {table.name}").fetchall()))


@pytest.fixture
def sown(db_path: str) -> tuple[str, Planted]:
    with closing(store.connect(db_path, timeout=5)) as db:
        tables.ensure(db)
        return db_path, Planter(db).everywhere()


def test_a_word_in_any_column_goes_and_comes_back(sown: tuple[str, Planted]) -> None:
    db_path, planted = sown
    assert len(planted) > 200
    with closing(sqlite3.connect(db_path)) as db:
        assert stands(db, planted) == planted
        before = dict(rows(db))
    done = run.purge(db_path, Selection(texts=(WORD,)), NOW)
    assert (done.left, done.clean) == ((), True)
    with closing(sqlite3.connect(db_path)) as db:
        assert stands(db, planted) == {}
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
    assert holding(db_path, (WORD,)) == []
    with closing(store.connect(db_path, timeout=5)) as db:
        assert "could not" not in undo(db, NOW)
        # what a team was told stays taken back
        assert stands(db, planted) == {place: word for place, word in planted.items() if place[0] != "team_facts"}
        after = dict(rows(db))
    assert {name for name in before if before[name] != after[name]} == {"team_facts"}
    assert Path(db_path).exists()


OWN = ("user", "claude", "command", "PostToolUse", "observations", "spooled", "open", "session")
"""Words of nmem itself that a person may well purge by."""


@pytest.mark.parametrize("word", OWN)
def test_a_word_of_nmem_s_own_takes_no_row_that_only_is_of_that_kind(planted: str, word: str) -> None:
    with closing(store.connect(planted, timeout=5)) as db:
        db.execute("INSERT OR REPLACE INTO counters VALUES ('spooled', 3)")
        db.execute("INSERT INTO prompts (session_id, at, source, kind, content, dedup_key)"
                   " VALUES ('other', 1, 'user', 'prompt', ?, 'planted')", (f"about {word} here",))  # fmt: skip
    kept = ("SELECT * FROM counters WHERE name = 'spooled'", "SELECT name FROM gone_ids",
            "SELECT id, client, state FROM sessions", "SELECT source FROM search_state")  # fmt: skip
    with closing(sqlite3.connect(planted)) as db:
        before = [db.execute(sql).fetchall() for sql in kept]
        others = db.execute("SELECT id FROM prompts WHERE content LIKE '%readme of the invoice%'").fetchall()
    run.purge(planted, Selection(texts=(word,)), NOW)
    with closing(sqlite3.connect(planted)) as db:
        assert [db.execute(sql).fetchall() for sql in kept] == before
        left = db.execute("SELECT id FROM prompts WHERE content LIKE '%readme of the invoice%'").fetchall()
        assert left == others
        assert not db.execute("SELECT 1 FROM prompts WHERE content LIKE ?", (f"about {word} %",)).fetchall()


OF_A_SESSION = {"transcript_cursors", "usage_places", "purged_keys"}
"""That a transcript was read, and that a row is not heard again, stays known; neither holds a word."""


def test_nothing_of_a_session_that_goes_stays_in_any_table(db_path: str) -> None:
    with closing(store.connect(db_path, timeout=5)) as db:
        tables.ensure(db)
        planter = Planter(db)
        planter.row("sessions", {"id": "goes"})
        of = [table.name for table in journal.tables(db, ()) if "session_id" in table.columns]
        for name in of:
            planter.of_session(name, "goes")
    run.purge(db_path, Selection(sessions=("goes",)), NOW)
    with closing(sqlite3.connect(db_path)) as db:
        left = {name for name in of if db.execute(f"SELECT 1 FROM {name} WHERE session_id = 'goes'").fetchone()}
    assert left - OF_A_SESSION == set()


@pytest.mark.parametrize("chosen", [{"ids": (("prompt", "1"),)}, {"sessions": ("told",)}, {"before": 5_000}])
def test_how_a_memory_was_of_use_goes_with_what_says_it(db_path: str, chosen: dict[str, object]) -> None:
    with closing(store.connect(db_path, timeout=5)) as db:
        tables.ensure(db)
        planter = Planter(db)
        planter.row("sessions", {"id": "told"})
        planter.row("prompts", {"id": 1, "at": 1_000, "session_id": "told", "source": "user"})
        planter.row("prompts", {"id": 2, "at": 9_000, "session_id": "told", "source": "user"})
        made = planter.row("injections", {"session_id": "told"})
        planter.row("injection_items", {"injection_id": made["id"], "item": "episode/77", "used_how": "ran make it"})
    run.purge(db_path, Selection(**chosen), NOW)  # type: ignore[arg-type]
    with closing(sqlite3.connect(db_path)) as db:
        assert not db.execute("SELECT 1 FROM injection_items WHERE used_how IS NOT NULL").fetchall()


@pytest.mark.parametrize(
    ("chosen", "gone"),
    [
        ({"ids": (("prompt", "1"),)}, {"file/src/other.py", "decision/7", "beside/a"}),
        ({"sessions": ("a",)}, {"decision/7", "beside/a", "said/5"}),
        ({"files": ("src/zebra.py",)}, {"beside/a", "file/src/other.py", "moved/src/zebra.py", "moved/lib/first.py"}),
        ({"files": ("src/old.py",)}, {"beside/a", "file/src/other.py", "moved/src/zebra.py", "moved/lib/first.py"}),
    ],
)
def test_what_was_told_in_its_words_under_another_name_goes(
    chosen: dict[str, object], gone: set[str], db_path: str
) -> None:
    with closing(store.connect(db_path, timeout=5)) as db:
        tables.ensure(db)
        planter = Planter(db)
        project = planter.row("projects", {})["id"]
        for session in ("a", "b"):
            planter.row("sessions", {"id": session, "project_id": project})
        for number, session in ((1, "a"), (2, "a"), (3, "b")):
            planter.row("prompts", {"id": number, "at": 1, "session_id": session, "source": "user"})
        for number, path in enumerate(("src/zebra.py", "src/old.py"), 1):
            planter.row("observations", {"id": number, "session_id": "a", "prompt_id": 2, "file_path": path})
        planter.row("work_units", {"id": 5, "session_id": "a"})
        planter.row("said_decisions", {"id": 7, "session_id": "a", "prompt_id": 1, "asked_id": None})
        for old, new in (("src/old.py", "src/zebra.py"), ("src/zebra.py", "src/old.py"), ("x.py", "y.py")):
            planter.row("moved_files", {"project_id": project, "root": "/x", "path": old, "name": new})
        told = [("a", "file/src/other.py", "dropped"), ("b", "decision/7", "decision"), ("b", "beside/a", "beside"),
                ("b", "said/5", "goal"), ("b", "moved/src/zebra.py", "moved"), ("b", "moved/lib/first.py", "moved"),
                ("b", "moved/x.py", "moved"), ("b", "file/src/kept.py", "file")]  # fmt: skip
        for session, item, kind in told:
            files = '["lib/first.py", "src/zebra.py", "src/old.py"]' if item == "moved/lib/first.py" else "[]"
            made = planter.row("injections", {"session_id": session, "prompt_id": 3, "text": f"zebra {item}"})
            planter.row("injection_items", {"injection_id": made["id"], "item": item, "kind": kind, "files": files,
                                            "text": "zebra"})  # fmt: skip
        names = [item for _, item, _ in told]
    before = dumped(db_path)["moved_files"]
    run.purge(db_path, Selection(**chosen), NOW)  # type: ignore[arg-type]
    with closing(sqlite3.connect(db_path)) as db:
        left = {row[0] for row in db.execute("SELECT item FROM injection_items WHERE text = 'zebra'")}
        assert {item for item in names if db.execute(
            "SELECT 1 FROM injections WHERE text = 'zebra ' || ?", (item,)).fetchone()} == left  # fmt: skip
        moved = {row[0] for row in db.execute("SELECT path FROM moved_files")}
    assert gone & left == set() and {"moved/x.py", "file/src/kept.py"} <= left
    assert moved == ({"x.py"} if "files" in chosen else {"x.py", "src/old.py", "src/zebra.py"})
    with closing(store.connect(db_path, timeout=5)) as db:
        undo(db, NOW)
    assert dumped(db_path)["moved_files"] == before
