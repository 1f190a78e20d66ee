"""The search's tables agree with its code, and are counted anew only when words went."""

from __future__ import annotations

from nmem.search.search import search
from nmem.search.text import UNSPACED_GLOB
from nmem.store.schema.found import SEARCH
from tests.nmem.search.conftest import NOW, Stored


def stale(stored: Stored) -> bool:
    return bool(stored.db.execute("SELECT done FROM search_state WHERE source = 'stale'").fetchone()[0])


def test_scripts_without_blanks_are_the_same_in_tables_and_code() -> None:
    assert SEARCH.count(f"GLOB\n    '{UNSPACED_GLOB}'") == SEARCH.count("GLOB") == 8


def test_a_call_found_to_have_failed_is_found_by_its_answer_and_nothing_is_counted_anew(stored: Stored) -> None:
    stored.do("make all", outcome="unknown")
    stored.settle()
    stored.db.execute("""UPDATE observations SET outcome = 'failed', metadata = '{"response": "quibbling linker"}'""")
    assert not stale(stored)
    assert [hit.id for hit in search(stored.db, "quibbling", NOW, seconds=30).hits] == ["obs/1"]
    stored.db.execute("UPDATE observations SET metadata = '{}'")
    assert stale(stored)
    assert search(stored.db, "quibbling", NOW, seconds=30).hits == ()
