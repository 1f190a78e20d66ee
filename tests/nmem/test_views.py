"""What the Now screen reads, on databases written row by row."""

from __future__ import annotations

import importlib.util
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capture.event import Batch
from capture.seal import seal
from capture.storage import spool
from nmem import database
from nmem.errors import NmemError, NoDatabase
from nmem.read import health, stream, views
from nmem.read.stream import Marks, Query
from nmem_tui.model import now_cards
from nmem_tui.model.stream import Window

_SPEC = importlib.util.spec_from_file_location(
    "cockpit_seed", Path(__file__).parents[1] / "nmem_tui" / "cockpit_seed.py"
)
assert _SPEC
assert _SPEC.loader
seeds: Any = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(seeds)
NOW: int = seeds.NOW


@pytest.fixture
def story(db_path: str) -> Any:
    db = seeds.database(db_path)
    seeds.story(db)
    db.close()
    return database.reader(db_path)


def test_nothing_recorded_is_its_own_error(tmp_path: Path) -> None:
    with pytest.raises(NoDatabase, match="nmem init"):
        database.reader(str(tmp_path / "none.db"))
    (tmp_path / "bad.db").write_bytes(b"no database" * 100)
    with pytest.raises(NmemError, match="doctor"):
        database.reader(str(tmp_path / "bad.db"))


def test_a_database_without_a_session_has_nothing_recorded(tmp_path: Path, db_path: str, story: Any) -> None:
    story.close()
    seeds.database(str(tmp_path / "new" / "nmem.db")).close()
    (tmp_path / "bad.db").write_bytes(b"no database" * 100)
    paths = (db_path, str(tmp_path / "new" / "nmem.db"), str(tmp_path / "none.db"), str(tmp_path / "bad.db"))
    assert [database.recorded(path) for path in paths] == [True, False, False, True]


def test_the_reader_cannot_write(story: Any) -> None:
    with pytest.raises(Exception, match=r"readonly|read-only"):
        story.execute("DELETE FROM prompts")
    assert not story.in_transaction


def test_what_waits_in_the_spool_is_said(story: Any, db_path: str) -> None:
    def header() -> str:
        view = views.now(story, seeds.SESSION, NOW)
        assert view is not None
        return "".join(text for text, _ in now_cards.header(view, NOW, 200))

    assert "spooled" not in header()
    made = Batch("claude", "s", NOW, "/srv/work")
    assert spool.put(db_path, seal(made))
    assert "1 spooled" in header()
    assert health.health(story, db_path).spool_files == 1
    assert health.health(story, db_path).counters["spooled"] == 4, "three were brought in, one waits"
    spool.tally(db_path, "errors")
    assert health.health(story, db_path).spool_files == 1, "a count is no batch"


def test_now_says_what_the_work_is(story: Any) -> None:
    view = views.now(story, seeds.SESSION, NOW)
    assert view is not None
    assert view.prompt.startswith("Raise it to 8 MB")
    assert view.prompts == 2
    assert (view.turn.investigate, view.turn.execute, view.turn.failed) == (0, 8, 2)
    assert view.total.investigate == 3
    assert [(f.path, f.reads, f.edits) for f in view.hot][:2] == [
        ("tests/test_limits.py", 0, 2),
        ("src/aurora/limits.py", 1, 1),
    ]
    assert view.hot[2].reads == 3, "a repeated read counts each time"
    assert [(f.detail, f.mended) for f in view.failures] == [("exit 1", False), ("1 failed", True)]
    assert views.now(story, "unknown", NOW) is None


def test_pages_of_any_size_give_the_whole_stream_in_order(story: Any) -> None:
    whole = stream.page(story, seeds.SESSION, None, Query())
    assert len(whole) == 17
    for limit in (1, 3, 5, 16):
        window, before = Window(), None
        while True:
            found = stream.page(story, seeds.SESSION, before, Query(), limit)
            window.older(found, complete=len(found) < limit)
            before = window.oldest()
            if window.complete:
                break
        assert (window.slots.at, window.slots.key) == (whole.at, whole.key)


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("is:failed", 2),
        ("type:edit", 2),
        ("file:limits", 4),
        ("limit", 11),
        ("!limit", 6),
        ("limit !type:agent", 9),
        ("100%", 0),
        ("_____nothing", 0),
    ],
)
def test_filter(story: Any, query: str, count: int) -> None:
    assert len(stream.page(story, seeds.SESSION, None, Query(query))) == count


def test_late_rows_go_where_their_time_says(db_path: str, story: Any) -> None:
    window = Window()
    seen = stream.marks(story)
    window.older(stream.page(story, seeds.SESSION, None, Query()), complete=True)
    writer = seeds.database(db_path)
    seeds.say(writer, NOW - 815_000, "late", "thinking", "agent")
    seeds.do(writer, NOW, "command", "newest")
    assert window.newer(stream.since(story, seeds.SESSION, seen, Query())) == 2
    whole = stream.page(story, seeds.SESSION, None, Query())
    assert (window.slots.at, window.slots.key) == (whole.at, whole.key)
    assert window.newer(stream.since(story, seeds.SESSION, seen, Query())) == 0
    assert window.newer(stream.since(story, seeds.SESSION, Marks(), Query())) == 0
    writer.close()


@given(
    st.lists(st.tuples(st.integers(0, 50), st.integers(0, 400)), unique_by=lambda pair: pair[1], max_size=60),
    st.randoms(),
)
@settings(deadline=None)
def test_window_is_sorted_whatever_the_order_of_arrival(pairs: list[tuple[int, int]], luck: random.Random) -> None:
    window = Window()
    window.complete = True
    luck.shuffle(pairs)
    for start in range(0, len(pairs), 7):
        window.newer(stream.Slots.of(pairs[start : start + 7]))
    assert list(zip(window.slots.at, window.slots.key, strict=True)) == sorted(pairs)


def test_rows_are_whole_only_when_asked(db_path: str) -> None:
    db = seeds.database(db_path)
    seeds.session(db)
    seeds.say(db, NOW, "x" * 5000)
    db.close()
    reader = database.reader(db_path)
    assert len(stream.rows(reader, [2])[2].text) == 400
    assert len(stream.rows(reader, [2], whole=True)[2].text) == 5000
