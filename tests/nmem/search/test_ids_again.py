"""What the search keeps beside rows stays right when rows go: also the newest, and also when an id was given twice."""

from __future__ import annotations

import json

import pytest

from nmem.search import fts, refresh, store
from nmem.search.clock import Clock
from nmem.search.gather import Gatherer, narrowed
from nmem.search.meaning import meaning
from nmem.search.query import parse
from nmem.search.search import search
from nmem.search.text import UNSPACED_GLOB
from nmem.store.schema.found import KEYED
from tests.nmem.search.conftest import NOW, Stored

INDEXES = ("search_unspaced_fts", "search_outputs_fts", "search_docs_fts", "search_parts")


def sound(stored: Stored) -> None:
    """Every index holds what its content is, and nothing else."""
    for index in INDEXES:
        rank = "" if index == "search_parts" else ", rank"
        stored.db.execute(f"INSERT INTO {index}({index}{rank}) VALUES ('integrity-check'{', 1' if rank else ''})")


def found(stored: Stored, text: str) -> list[str]:
    return [hit.id for hit in search(stored.db, text, NOW, limit=50, seconds=30).hits]


def failing(stored: Stored, text: str) -> str:
    return stored.do(
        f"make for {text.rsplit(maxsplit=1)[-1]}", outcome="failed", metadata=json.dumps({"response": text})
    )


def counts(stored: Stored) -> dict[str, int]:
    return dict(stored.db.execute("SELECT term, n FROM search_terms").fetchall())


@pytest.mark.parametrize("table", ["prompts", "observations"])
def test_an_id_that_is_given_twice_is_a_new_text(stored: Stored, table: str) -> None:
    say = stored.say if table == "prompts" else stored.do
    say("always there 缓存页面")
    first = say("登录失败 quokka")
    stored.settle()
    stored.db.execute(f"DELETE FROM {table} WHERE id = 2")
    assert say("结账页面坏了 wombat") == first, "SQLite gives it again where nobody else does"
    stored.settle()
    assert found(stored, "结账") == found(stored, "wombat") == found(stored, "womb") == [first]
    assert found(stored, "登录") == found(stored, "quokka") == []
    sound(stored)
    stored.db.execute(f"DELETE FROM {table} WHERE id = 2")
    stored.db.execute(f"DELETE FROM {table}")
    sound(stored)
    assert not stored.db.execute("SELECT 1 FROM search_blocks").fetchone()


def test_a_failing_calls_id_given_twice(stored: Stored) -> None:
    failing(stored, "quibbling linker")
    stored.settle()
    stored.db.execute("DELETE FROM observations")
    failing(stored, "marauding linker")
    stored.settle()
    assert found(stored, "marauding") == ["obs/1"]
    sound(stored)
    stored.db.execute("UPDATE observations SET metadata = 'no json'")
    stored.db.execute("DELETE FROM observations")
    sound(stored)


def test_a_mark_above_every_id_heals(stored: Stored) -> None:
    for number in range(30):
        stored.do(f"登录失败 number{number}")
    stored.settle()
    before = counts(stored)
    stored.db.execute("UPDATE search_state SET done = 500, indexed = 900 WHERE source = 'observations'")
    stored.db.execute("UPDATE search_blocks SET last_id = 900")
    failing(stored, "结账页面坏了 wombat")
    stored.settle()
    assert found(stored, "结账") == found(stored, "womb") == ["obs/31"]
    assert counts(stored)["number3"] == before["number3"] == 1
    sound(stored)


def test_a_broken_index_is_made_anew_in_stretches(stored: Stored, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(refresh._STEPS, "observations", 4)
    for number in range(11):
        failing(stored, f"登录失败 number{number}")
        stored.do(f"登录失败 number{number}")
    stored.settle()
    before, state = counts(stored), stored.db.execute("SELECT * FROM search_state").fetchall()
    blocks = stored.db.execute("SELECT source, first_id, last_id FROM search_blocks").fetchall()
    stored.db.execute(  # what a row that came and went unnoticed leaves behind
        "INSERT INTO search_outputs_fts(search_outputs_fts, rowid, response) VALUES ('delete', 3, 'never there')"
    )
    stored.db.execute("UPDATE search_state SET done = 1 WHERE source = 'rebuild'")
    stored.do("new meanwhile 缓存")
    stops = iter([False, False, True])
    refresh.refresh(stored.db, lambda: next(stops, True))
    assert found(stored, "number9")[:1] == ["obs/19"], "by the indexes that were not broken"
    stored.settle()
    assert set(found(stored, "登录")) == {f"obs/{n}" for n in range(1, 23)}
    sound(stored)
    stored.db.execute("DELETE FROM observations WHERE id = 23")
    stored.settle()
    assert counts(stored) == before
    assert stored.db.execute("SELECT * FROM search_state").fetchall() == state
    assert stored.db.execute("SELECT source, first_id, last_id FROM search_blocks").fetchall() == blocks


def test_a_text_that_only_got_shorter_is_no_reason_to_count_anew(stored: Stored) -> None:
    number = stored.say("first one thing, then the other", source="agent").split("/")[1]
    stored.settle()
    stored.db.execute("UPDATE prompts SET content = 'then the other' WHERE id = ?", (number,))
    assert not stored.db.execute("SELECT done FROM search_state WHERE source = 'stale'").fetchone()[0]
    stored.db.execute("UPDATE prompts SET content = '' WHERE id = ?", (number,))
    assert stored.db.execute("SELECT done FROM search_state WHERE source = 'stale'").fetchone()[0]


def test_scripts_without_blanks_are_the_same_in_triggers_and_code() -> None:
    assert KEYED.count(f"AND new.content GLOB\n    '{UNSPACED_GLOB}'") == KEYED.count("new.content GLOB") == 2


def test_while_words_are_counted_anew_none_passes_for_rare(stored: Stored) -> None:
    for number in range(5):
        stored.do(f"widget {number}")
    stored.settle()
    query = parse("widget", NOW)
    walks = Gatherer(stored.db, narrowed(stored.db, query.filters), meaning(stored.db, query), Clock(30))
    assert walks._order(store.OBSERVATIONS, 0) is fts.EVERYWHERE
    stored.db.execute("UPDATE search_state SET done = 1 WHERE source = 'stale'")
    stops = iter([True])
    refresh.refresh(stored.db, lambda: next(stops, True))
    assert walks._order(store.OBSERVATIONS, 0) is not fts.EVERYWHERE
    assert len(found(stored, "widget")) == 5
