"""Decisions that a person marked are told to later sessions, as long as they hold."""

from __future__ import annotations

from contextlib import closing

import pytest

from nmem.context import pins
from nmem.context.pinned import FRESH
from nmem.marks import mark
from nmem.undo import undo
from tests.nmem.context.conftest import Played

RULE = "prices are rounded half up, to the cent"
UNLIKE = "write a haiku about autumn leaves into poem.txt"


def decide(played: Played, text: str = RULE, *, by_hand: bool = True, gap: int = 60_000) -> int:
    """What `nmem mark --kind decision` does; by an agent, what its tool does."""
    played.at += gap
    made = mark(played.path, text, "decision", cwd=played.folder, at=played.at)
    if by_hand:
        with closing(played.database()) as db:
            pins.marked(db, made, played.at)
    return made.id


def say(played: Played, text: str) -> None:
    """What a session finds in the person's words."""
    played.begin("talk")
    played.ask(text)
    played.say("Understood.")
    played.end()
    played.settle()
    with closing(played.database()) as db:
        assert db.execute("SELECT 1 FROM said_decisions").fetchone()


def start(played: Played, gap: int = 60_000) -> str:
    told = played.begin(f"s{next(played.numbers)}", gap=gap)
    played.end()
    return told


@pytest.fixture
def shop(played: Played) -> Played:
    played.fix()
    return played


def test_the_next_start_tells_a_decision_that_was_marked(shop: Played) -> None:
    assert "half up" not in start(shop)
    decide(shop)
    told = start(shop)
    assert f"The person decided, 1 minute ago: “{RULE}”" in told
    assert "half up" in start(shop), "every new session is told"


def test_it_is_told_once_in_a_session(shop: Played) -> None:
    decide(shop)
    assert RULE in shop.begin("next")
    assert RULE not in shop.ask("show the prices rounded half up in shop/receipt.py as well")


def test_an_old_one_is_told_at_the_first_prompt_that_speaks_of_its_matter(shop: Played) -> None:
    decide(shop)
    assert RULE not in start(shop, FRESH + 1)
    shop.begin("about something else")
    assert RULE not in shop.ask(UNLIKE)
    shop.begin("about that")
    assert RULE in shop.ask("the prices on the receipt look wrong, how are they rounded?")


def test_a_short_one_is_spoken_of_by_one_of_its_words(shop: Played) -> None:
    decide(shop, "use httpx, not requests")
    start(shop, FRESH + 1)
    shop.begin("about that")
    assert "use httpx" in shop.ask("the httpx client needs a timeout")


def test_what_an_agent_marked_waits_for_a_prompt_that_speaks_of_it(shop: Played) -> None:
    decide(shop, by_hand=False)
    assert RULE not in start(shop)
    shop.begin("about that")
    assert f"Marked as decided, 2 hours ago: “{RULE}”" in shop.ask("how are the prices of vouchers rounded?")


@pytest.mark.parametrize("later", [
    "prices are rounded half even, to the cent",
    "prices are no longer rounded half up: they are cut",
])  # fmt: skip
def test_a_later_one_on_the_same_matter_replaces_it(shop: Played, later: str) -> None:
    decide(shop)
    decide(shop, later)
    for told in (start(shop), shop.begin("q") + shop.ask("how are the prices rounded, to the cent?")):
        assert later in told
        assert RULE not in told


def test_one_on_another_matter_replaces_nothing(shop: Played) -> None:
    decide(shop)
    decide(shop, "logs have their timestamps in UTC")
    told = start(shop)
    assert RULE in told
    assert "UTC" in told


def test_what_was_said_in_conversation_since_replaces_it(shop: Played) -> None:
    decide(shop)
    say(shop, "rounding of prices: from now on prices are never rounded half up, we always cut to the cent instead")
    assert RULE not in start(shop)


@pytest.mark.parametrize("later", [RULE, "prices are rounded half even, to the cent", f"no longer: {RULE}"])
def test_what_an_agent_marks_replaces_only_what_an_agent_marked(shop: Played, later: str) -> None:
    decide(shop)
    decide(shop, "logs have their timestamps in UTC", by_hand=False)
    decide(shop, "logs no longer have their timestamps in UTC", by_hand=False)
    decide(shop, later, by_hand=False)
    assert f"The person decided, 4 minutes ago: “{RULE}”" in start(shop)
    shop.begin("logs")
    told = shop.ask("which timestamps do the logs have, those in UTC?")
    assert "“logs no longer have" in told
    assert "“logs have" not in told


def test_what_an_agent_repeats_is_told_once_as_the_persons(shop: Played) -> None:
    decide(shop, gap=FRESH)
    decide(shop, by_hand=False)
    shop.begin("q", gap=FRESH + 1)
    told = shop.ask("how are the prices of vouchers rounded, to the cent?")
    assert told.count(RULE) == 1
    assert "The person decided" in told


@pytest.mark.parametrize(("first", "again"), [
    (RULE, "From now on prices are always rounded half up, to the cent."),
    ("use httpx for the client", "Always use httpx for the client."),
    ("use httpx, not requests", "From now on always use httpx, not requests."),
])  # fmt: skip
def test_one_that_is_said_again_still_holds(shop: Played, first: str, again: str) -> None:
    decide(shop, first)
    say(shop, again)
    assert first in start(shop)


@pytest.mark.parametrize(("first", "other"), [
    ("use httpx, not requests", "From now on always use requests, not httpx."),
    ("use httpx for the client", "From now on never use httpx for the client."),
    ("try httpx 3 times for the client", "From now on always try httpx 4 times for the client."),
])  # fmt: skip
def test_one_whose_words_are_said_the_other_way_does_not_hold(shop: Played, first: str, other: str) -> None:
    decide(shop, first)
    say(shop, other)
    assert first not in start(shop)


@pytest.mark.parametrize("by", [decide, "said"])
@pytest.mark.parametrize(("first", "other"), [
    ("Use postgres", "Replace the postgres driver by asyncpg"),
    ("Sort by name", "Replaceable parts are sorted by name and price, then by the day they came"),
    ("tests run in docker", "lint no longer runs in docker"),
    ("migrations are appended, never edited", "migrations are named by date instead of numbered, and appended"),
])  # fmt: skip
def test_a_later_one_on_something_else_silences_none(shop: Played, first: str, other: str, by: object) -> None:
    decide(shop, first)
    say(shop, f"We decided that from now on: {other}.") if by == "said" else decide(shop, other)
    assert first in start(shop)


@pytest.mark.parametrize("later", ["Replace postgres by sqlite", "Postgres is replaced: use sqlite"])
def test_one_that_is_replaced_in_so_many_words_is_not_told(shop: Played, later: str) -> None:
    decide(shop, "Use postgres")
    decide(shop, later)
    assert "Use postgres" not in start(shop)


def test_notes_leave_room_for_decisions(shop: Played) -> None:
    decide(shop)
    for number in range(4):
        mark(shop.path, f"note {number}: prices rounded half up to the cent", cwd=shop.folder, at=shop.at + number)
    shop.begin("q", gap=FRESH + 1)
    assert RULE in shop.ask("how are the prices rounded, to the cent?")


def test_none_that_was_taken_back_or_excluded(shop: Played) -> None:
    number = decide(shop)
    with closing(shop.database()) as db:
        undo(db, shop.at)
        assert not db.execute("SELECT 1 FROM observations WHERE id = ?", (number,)).fetchone()
    assert RULE not in start(shop)
    number = decide(shop)
    with closing(shop.database()) as db:
        db.execute("INSERT INTO context_choices VALUES (1, ?, 'exclude', ?)", (f"obs/{number}", shop.at))
    assert RULE not in start(shop)


def test_many_keep_to_the_newest_and_the_budget(shop: Played) -> None:
    made = [RULE, "logs in UTC", "four attempts at most", "no colours without a terminal", "migrations are appended"]
    for text in made:
        decide(shop, text)
    told = start(shop)
    assert [text for text in made if text in told] == made[-3:]


@pytest.mark.parametrize("source", ["clear", "compact"])
def test_a_conversation_that_begins_anew_is_told_again(shop: Played, source: str) -> None:
    decide(shop)
    shop.begin("b")
    shop.ask("add a receipt for vouchers in shop/receipt.py")
    shop.edit("shop/receipt.py")
    shop.say("Added.")
    if source == "clear":
        shop.end("clear")
        told = shop.begin("c", source="clear", gap=0)
    else:
        told = shop.hook("SessionStart", source="compact")
    assert RULE in told


def test_after_a_compaction_only_what_holds_is_told(shop: Played) -> None:
    shop.begin("b")
    shop.ask("add a receipt for vouchers in shop/receipt.py")
    decide(shop)
    decide(shop, "prices are rounded half even, to the cent")
    decide(shop, "vouchers have a receipt of their own", by_hand=False)
    mark(shop.path, "the printer is slow", cwd=shop.folder, at=shop.at)
    shop.edit("shop/receipt.py")
    shop.say("Added.")
    told = shop.hook("SessionStart", source="compact")
    assert "half up" not in told
    assert told.count("half even") == told.count("receipt of their own") == told.count("printer is slow") == 1
    assert "The person decided" in told
    assert "Marked as decided" in told
