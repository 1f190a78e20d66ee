"""Decisions on the command line, in searches and for an agent."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner

from nmem.commands.main import nmem
from nmem.decisions import store
from nmem.search.search import search
from nmem.settle import settle
from tests.nmem.conftest import Recorded


@pytest.fixture
def talked(record: Recorded, db_path: str) -> Recorded:
    """A retry policy, and its amendment."""
    record.begin("policy").user("The retry client locked accounts: we need a retry policy with a backoff.")
    record.agent(
        "I'd retry 5xx and 429 only. How many attempts, and **what backoff ceiling** should the retry policy have?"
    )
    record.user("Four attempts in all, and cap the backoff at 60 seconds.").agent(
        "Settled: backoff capped at 60 seconds."
    )
    record.begin("amended").user("The retry backoff of the client dies mid-wait behind the balancer.")
    record.agent("Which ceiling should the retry backoff of the policy have then?")
    record.user("Cap the retry backoff at 30 seconds instead of the old 60.")
    record.agent("Amending the retry policy, superseding the old cap: backoff capped at 30 seconds.")
    settle(db_path, models=False)
    return record


def ok(*args: str) -> str:
    result = CliRunner().invoke(nmem, args)
    assert result.exit_code == 0, (result.output, result.exception)
    return str(result.output)


def test_the_list_names_what_replaced_a_decision(talked: Recorded) -> None:
    listed = json.loads(ok("decisions", "--json"))["decisions"]
    assert [bool(one["superseded"]) for one in listed] == [False, True]
    shown = ok("decisions")
    assert f"superseded by decision/{listed[0]['id']}" in shown and "Four attempts in all" in shown
    assert "what backoff ceiling should the retry policy have?" in shown, "without marks of bold"
    assert ok("decisions", "--since", "2100-01-01").startswith("no decisions")


def test_a_decision_and_its_episode_are_shown_with_the_question(talked: Recorded) -> None:
    old = json.loads(ok("decisions", "--json"))["decisions"][1]
    for shown in (ok("show", f"decision/{old['id']}"), ok("show", f"episode/{old['unit_id']}")):
        assert "what backoff ceiling should the retry policy have?" in shown
        assert "superseded\tby decision/" in shown
    assert json.loads(ok("show", f"episode/{old['unit_id']}", "--json"))["decisions"][0]["id"] == old["id"]


def test_a_person_s_word_is_kept_and_undone(talked: Recorded) -> None:
    new, old = (one["id"] for one in json.loads(ok("decisions", "--json"))["decisions"])
    ok("decisions", "dismiss", str(new))
    listed = json.loads(ok("decisions", "--json"))["decisions"]
    assert [(one["id"], one["superseded"]) for one in listed] == [(old, None)]
    ok("decisions", "word", f"decision/{old}", "at", "most", "four")
    assert "at most four" in ok("decisions")
    ok("undo")
    ok("undo")
    assert len(json.loads(ok("decisions", "--json"))["decisions"]) == 2
    assert "kept" in ok("decisions", "keep", str(new))


def test_a_decision_is_written_as_an_entry(talked: Recorded, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    new = json.loads(ok("decisions", "--json"))["decisions"][0]["id"]
    shown = ok("recall", "remember", "capping", "retry", "backoff", "--decision", str(new), "--yes")
    assert "Cap the retry backoff at 30 seconds" in shown
    assert "Cap the retry backoff at 30 seconds" in ok("when", "capping retry backoff")


def test_a_search_says_which_hits_hold_no_more(talked: Recorded) -> None:
    found = search(talked.db, "retry backoff ceiling", talked.at, seconds=30)
    later = {hit.id: hit.superseded for hit in found.hits}
    old = store.listed(talked.db)[1]
    assert later[f"episode/{old.unit_id}"].startswith("decision/")
    assert later[f"prompt/{old.prompt_id - 1}"] == later[f"episode/{old.unit_id}"], "the question asks for the old one"
    assert [id_ for id_, said in later.items() if said and "amended" in id_] == []
    assert "superseded by decision/" in ok("search", "four", "attempts")
    hits = json.loads(ok("search", "four attempts", "--json"))["hits"]
    assert hits[0]["superseded_by"]
    own = {hit["id"] for hit in hits if hit["id"].startswith("episode/")}
    assert {hit["beneath"] for hit in hits if "beneath" in hit} <= own, "what says it names the episode above"
    assert any("beneath" in hit for hit in hits)
