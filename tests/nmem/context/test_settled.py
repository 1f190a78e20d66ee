"""What a person settled in related work is told in their words; of what was replaced the later decision."""

from __future__ import annotations

import pytest

from nmem.context import settled
from nmem.context.candidates import PROMPT_TOKENS, select
from nmem.context.items import Item
from nmem.context.present import Present
from nmem.context.unsaid import Unsaid
from nmem.decisions import change, store
from nmem.episodes import corrections
from nmem.settle import settle
from tests.nmem.conftest import MINUTE, Recorded

FIRST = "Four attempts in all, and cap the backoff at 60 seconds."
SECOND = "The balancer drops idle connections at 32 seconds, so cap the backoff at 30 seconds instead of the old 60."
ASKED = "the retry client of the billing service dies in its backoff: what is the policy for attempts?"


@pytest.fixture
def talked(record: Recorded, db_path: str) -> Recorded:
    """Two conversations about one retry policy, and one about something else; no file was touched."""
    return record.once("context, talked", lambda: _talk(record, db_path))


def _talk(record: Recorded, db_path: str) -> None:
    record.begin("policy").user("The retry client locked accounts: we need a retry policy with a backoff.")
    record.agent(
        "I'd retry 5xx and 429 only. How many attempts, and what backoff ceiling should the retry policy have?"
    )
    record.user(FIRST).agent("Settled: retry 5xx and 429, at most 4 attempts, backoff capped at 60 seconds.")
    record.begin("colours").user("The header is hard to read.").agent("Should it be blue or dark grey?")
    record.user("Dark grey, never blue.").agent("Understood: dark grey headers.")
    record.begin("amended").user("The retry backoff of the client dies mid-wait behind the balancer.")
    record.agent("Which ceiling should the retry backoff of the policy have then?")
    record.user(SECOND).agent("Amending the retry policy, superseding the old cap: backoff capped at 30 seconds.")
    assert settle(db_path, models=False, clock=lambda: record.at + 60 * MINUTE) is not None


def told(record: Recorded, prompt: str) -> list[Item]:
    present = Present(1, "new", record.at + 24 * 60 * MINUTE, prompt)
    present.project = "shop"
    return [item for item in select(record.db, present, PROMPT_TOKENS) if item.kind in ("episode", "thread")]


def test_the_later_decision_is_told_with_its_question_and_the_replaced_one_is_not(talked: Recorded) -> None:
    text = " ".join(item.text for item in told(talked, ASKED))
    assert SECOND.rstrip(".") in text
    assert "(asked: “Which ceiling should the retry backoff of the policy have then?”)" in text
    assert FIRST.rstrip(".") not in text
    assert "Dark grey" not in text


def test_the_agents_words_are_told_once(talked: Recorded) -> None:
    text = " ".join(item.text for item in told(talked, ASKED))
    assert text.count("backoff capped at 30 seconds") == 1
    assert "The agent reported: “Amending the retry policy" in text or "The agent: “Amending the retry policy" in text


def test_two_sayings_of_the_agent_stand_in_marks_of_their_own(record: Recorded, db_path: str) -> None:
    record.begin("two").user("the price cache shows stale product prices, find the cause")
    record.agent("The cause was that the price cache is never cleared.").user("then clear it on each write")
    record.edit("shop/price_cache.py").agent("Moved the clearing into the write path, because both writers pass there.")
    assert settle(db_path, models=False, clock=lambda: record.at + 60 * MINUTE) is not None
    text = " ".join(item.text for item in told(record, "the price cache shows stale product prices again"))
    assert "“The cause was that the price cache is never cleared”; “Moved the clearing into the write path" in text


def test_a_dismissed_decision_is_told_no_more(talked: Recorded) -> None:
    for one in store.listed(talked.db, limit=10):
        if one.said == SECOND:
            change.dismiss(talked.db, one.id, talked.at)
    text = " ".join(item.text for item in told(talked, ASKED))
    assert f"The person decided: “{SECOND.rstrip('.')}”" not in text
    assert f"The person decided: “{FIRST.rstrip('.')}”" in text, "what it replaced holds again"


def test_a_sentence_that_was_redacted_since_is_not_quoted(talked: Recorded) -> None:
    talked.db.execute("SELECT 1 FROM sqlite_master").fetchone()  # the schema has changed under this connection
    talked.db.execute(
        "UPDATE prompts SET content = replace(content, 'idle', '[REDACTED:x]') WHERE content = ?", (SECOND,)
    )
    assert "The person decided: “The balancer" not in " ".join(item.text for item in told(talked, ASKED))


def test_what_was_answered_in_the_episode_after_is_told_with_the_question(talked: Recorded) -> None:
    unit, answer = talked.db.execute(
        "SELECT x.unit_id, p.id FROM prompts p JOIN unit_prompts x ON x.prompt_id = p.id WHERE p.content = ?", (FIRST,)
    ).fetchone()
    after = corrections.split(talked.db, unit, answer, talked.at)
    for one in store.listed(talked.db, limit=10):
        if one.said == SECOND:
            change.dismiss(talked.db, one.id, talked.at)  # else the earlier one holds no more
    found = settled.answered(talked.db, [unit], "what is the policy for the attempts and the backoff of retries?", None)
    assert FIRST.rstrip(".") in " ".join(found[unit].told(None, f"episode/{unit}"))
    assert settled.answered(talked.db, [unit], "which colour has the header?", None) == {}
    assert settled.answered(talked.db, [unit], ASKED, Unsaid([f"episode/{after}"], {})) == {}


def test_of_many_decisions_those_about_the_prompt_are_told() -> None:
    one = settled.Settled()
    one.holding = [(f"Rule {number} of the {word}: {'so it is, ' * 50}and no other way.", "", "", False)
                   for number, word in enumerate(("colours", "fonts", "retries", "margins", "headers"))]  # fmt: skip
    text = " ".join(one.told(None, "episode/1", prompt="how many retries are there?"))
    assert "Rule 2" in text and "Rule 0" not in text
    assert len(text) <= 2_000


@pytest.mark.parametrize(
    "choice", ["I like Option C", "C", "option C, " + "because every page is then as fresh as it can be " * 3]
)
def test_an_option_that_was_chosen_is_told_with_its_text(record: Recorded, db_path: str, choice: str) -> None:
    record.begin("cache").user("The product pages show stale prices: how should we invalidate the price cache?")
    record.agent(
        "Three ways to invalidate the price cache:\n\n**Option A: TTL** - entries expire.\n**Option B: Write-through**"
        " - each write updates.\n**Option C: Events** - writers publish, the cache drops the key.\n\nWhich one is it?"
    )
    record.user(choice).agent("Good.")
    record.edit("shop/price_cache.py")
    assert settle(db_path, models=False, clock=lambda: record.at + 60 * MINUTE) is not None
    text = " ".join(item.text for item in told(record, "the price cache shows stale product prices, invalidate it"))
    assert f"The person decided: “{choice.strip()[:40]}" in text
    assert "The agent: “Option C: Events - writers publish, the cache drops the key”" in text
    assert "TTL" not in text
