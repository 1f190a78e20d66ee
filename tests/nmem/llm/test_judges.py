"""A model as judge of boundaries and of threads, through the code that the product and the evaluation use."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from nmem.episodes.boundary import load
from nmem.episodes.detect import decide
from nmem.episodes.judging import Segmenter
from nmem.llm.ask import Desk
from nmem.threads.link import Assessment, ModelAssessor, Question

if TYPE_CHECKING:
    from tests.nmem.llm.conftest import Book, Play, Scripted

GOLD = ["new", "cont", "ack", "new", "sub", "new", "ack"]


def prompts() -> list[dict[str, Any]]:
    words = "Retry failed uploads;it still gives up;ok;Write the billing guide;shorter;the uploads again;yes, both"
    agent = {"tools": {"Edit": 2}, "files": ["src/upload.py"], "said": "Done.", "events": ["commit"]}
    return [
        {
            "id": n,
            "ids": [n],
            "at": n,
            "text": text,
            "gap_minutes": 3.0 if n else None,
            "cleared": False,
            "agent": agent,
        }
        for n, text in enumerate(words.split(";"))
    ]


def gold(starts: dict[int, float], resumes: dict[int, int]) -> str:
    rows = [{"n": n, "sure": sure, "resumes": resumes.get(n)} for n, sure in starts.items()]
    return json.dumps({"starts": rows, "stories": []})


def test_gold_answers_give_gold_episodes_in_one_call(
    server: Scripted, desk: Callable[..., Desk], play: type[Play]
) -> None:
    server.plays = [play(gold({1: 1.0, 4: 0.9, 5: 0.3, 6: 0.6}, {6: 1}))]
    found, by = decide(prompts(), load(), "llm", Segmenter(desk()))
    assert ([each.label for each in found], by) == (GOLD, "llm")
    assert [each.cut for each in found] == [label == "new" for label in GOLD]
    assert [each.offer for each in found] == [label == "sub" for label in GOLD], "what is unsure is offered"
    assert found[5].resumes == 0
    assert len(server.requests) == 1
    shown = server.requests[0]["messages"][1]["content"]
    assert "the uploads again" in shown
    assert "src/upload.py" in shown


@pytest.mark.parametrize("nonsense", ["no idea", gold({1: 1.0, 9: 1.0}, {}), gold({1: 7.0}, {}), '{"starts": [7]}'])
def test_nonsense_falls_back_to_the_default(
    server: Scripted, desk: Callable[..., Desk], play: type[Play], nonsense: str
) -> None:
    server.plays = [play(nonsense)]
    judge = Segmenter(desk())
    found, by = decide(prompts(), load(), "llm", judge)
    expected, usual = decide(prompts(), load())
    assert ([each.label for each in found], by) == ([each.label for each in expected], usual)
    assert judge.failure is not None
    assert judge.failure.kind == "rejected"


QUESTION = Question("Uploads are retried.", ("Retry failed uploads",), ("src/upload.py",), "the uploads again", 90.0)
RELATED = {
    "related": True,
    "confidence": 0.8,
    "reasoning": "Both are about failed uploads.",
    "key_signals": ["uploads"],
}


def test_threads_are_assessed(server: Scripted, desk: Callable[..., Desk], play: type[Play]) -> None:
    server.plays = [play(json.dumps(RELATED))]
    assert ModelAssessor(desk())(QUESTION) == Assessment(True, 0.8, "Both are about failed uploads.", ("uploads",))


def test_a_failing_model_is_left_alone_and_never_raises(
    server: Scripted, desk: Callable[..., Desk], play: type[Play]
) -> None:
    server.plays = [play("nothing", status=401)]
    assess = ModelAssessor(desk())
    assert [assess(QUESTION) for _ in range(6)] == [None] * 6
    assert len(server.requests) == 2


def test_questions_of_several_threads_wait_for_each_other(
    server: Scripted, desk: Callable[..., Desk], play: type[Play], book: Book
) -> None:
    server.plays = [play(json.dumps(RELATED), wait=0.05)]
    assess = ModelAssessor(desk(daily_token_cap=1200))
    answers: list[Assessment | None] = []
    crowd = [threading.Thread(target=lambda: answers.append(assess(QUESTION))) for _ in range(8)]
    for thread in crowd:
        thread.start()
    for thread in crowd:
        thread.join()
    assert book.spent <= 1200, "each saw what the one before had spent"
    assert any(answers)


def test_a_ledger_that_cannot_be_written_stops_the_questions(
    server: Scripted, desk: Callable[..., Desk], play: type[Play], book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.plays = [play(json.dumps(RELATED))]

    def full(**_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(book, "record", full)
    assess = ModelAssessor(desk())
    assert [assess(QUESTION), assess(QUESTION)] == [None, None]
    assert len(server.requests) == 1
