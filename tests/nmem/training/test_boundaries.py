"""The labelled sessions: who is put aside, and what the shipped weights make of sessions put one after the other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nmem.episodes.boundary import load
from nmem.episodes.detect import decide
from nmem.training import boundaries


@pytest.fixture
def sessions(shared: Path) -> list[dict[str, Any]]:
    files = [shared / "data/episodes" / name for name in ("sessions.jsonl", "sessions_more.jsonl")]
    return [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]


def test_a_third_of_the_persons_is_put_aside(sessions: list[dict[str, Any]]) -> None:
    persons = {boundaries.who(session) for session in sessions}
    assert len(boundaries.aside(sessions)) * 3 == len(persons) == 18


@pytest.mark.parametrize(("online", "least"), [(True, 0.7), (False, 0.85)])
def test_most_unrelated_requests_are_cut(sessions: list[dict[str, Any]], online: bool, least: float) -> None:
    """By the shipped weights, which know these words; docs/boundaries.md says what is cut of persons not seen."""
    detector, spliced = load(), boundaries.spliced(sessions)
    cut = [decide(each["prompts"], detector, online=online)[0][each["from"]].cut for each in spliced]
    assert sum(cut) / len(cut) >= least


def test_weights_are_fitted_again_to_the_same_bytes() -> None:
    told = ["fix the lexer", "ok", "draw invoices per customer", "commit it"]
    made = [
        {"author": f"p{person}", "repo": f"r{person}", "labels": ["new", "ack", "new", "ack"],
         "prompts": [{"text": text, "gap_minutes": 2, "agent": {"said": text, "tools": {"Edit": 1}}} for text in told]}
        for person in range(6)
    ]  # fmt: skip
    once, twice = (
        boundaries.written(
            boundaries.spec(
                boundaries.Table(made, frozenset()),
                boundaries.Table(boundaries.spliced(made), frozenset()),
                frozenset(),
            )
        )
        for _ in range(2)
    )
    assert once == twice
    assert json.loads(once)["online"]["weights"]["worded"][0] == 1.0
