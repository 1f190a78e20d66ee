"""What an agent is given is small, plain JSON, and says where to go on."""

from __future__ import annotations

import json

from nmem.search.search import index, search
from tests.nmem.search.conftest import NOW, Stored


def test_an_index_is_small_and_leads_on(stored: Stored) -> None:
    for number in range(30):
        stored.do(f"pytest -k login{number} login", "test", outcome="failed")
    stored.settle()
    form = index(search(stored.db, "login", NOW, limit=10, seconds=30))
    assert json.loads(json.dumps(form)) == form
    assert form["found"] == 30
    hits = form["hits"]
    assert isinstance(hits, list)
    assert set(hits[0]) == {"id", "type", "at", "project", "text", "failed"}
    assert len(json.dumps(form)) < 3_000
    assert str(form["next"]).startswith("relevance.10.")
    assert form["facets"] == {"type": {"obs": 30, "test": 30}, "project": {"shop": 30}, "client": {"claude": 30}}
