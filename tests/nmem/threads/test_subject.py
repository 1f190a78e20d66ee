"""Within the timeout a session continues a thread only when its first prompt is about it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmem.episodes.text import tokens
from nmem.threads import steering, store, subject

World = Any
COUPON = "Coupons in the cart are rounded up, they must be rounded half down"
FOOTER = "Translate the footer into Danish, the legal notice too"
RETRIES = "The webhook retries forever when the partner answers 429"
ICONS = "Draw an icon set for the onboarding wizard"


def test_five_sessions_on_four_subjects_within_half_an_hour_are_four_threads(world: World) -> None:
    said = {"a": COUPON, "b": FOOTER, "c": RETRIES, "d": "Rounded coupons show three decimals in the cart", "e": ICONS}
    for number, (name, text) in enumerate(said.items()):
        world.session(name, 6 * number, text)
    a, b, c, d, e = (world.assign(name) for name in said)
    assert a == d
    assert len({a, b, c, e}) == 4
    assert world.how("d") == "timeout"


@pytest.mark.parametrize(
    "text", ["continue", "and on Thursday?", "go on", "commit it", "weiter", "続けて", "why is that still failing?"]
)
def test_a_terse_prompt_continues_what_was_last(world: World, text: str) -> None:
    world.session("a", 0, COUPON)
    world.session("b", 5, FOOTER)
    world.session("c", 9, text, client="codex")
    a, b, c = (world.assign(name) for name in "abc")
    assert c == b != a


@pytest.mark.parametrize("text", [FOOTER, RETRIES, ICONS, "Add a dark theme", "Hello, what can you do for me today?",
                                  "Please review https://github.com/acme/shop/pull/7 for me"])  # fmt: skip
def test_another_subject_begins_a_thread_however_soon_it_comes(world: World, text: str) -> None:
    world.session("a", 0, COUPON)
    world.session("b", 0.1, text)
    assert world.assign("a") != world.assign("b")


@pytest.mark.parametrize(
    ("text", "goes_on_with"),
    [
        ("continue with the rounding: the receipt as well", "coupon"),
        ("the legal notice is missing in Danish", "footer"),
        ("why does the coupon show three decimals then", "coupon"),
        ("ok, and for the imprint?", "footer"),
        ("what about the cookie banner on small screens?", "footer"),
        ("next file", "footer"),
        ("it fails on python 3.9", "footer"),
        ("document it in the openapi file", "footer"),
        ("Is it slow on Windows machines?", None),
        ("Which of our dependencies are outdated?", None),
        ("The partner still answers 429 when webhooks retry", None),
        ("Der Kunde sieht die Rechnung wieder doppelt im Postfach", None),
    ],
)
def test_a_prompt_that_leans_goes_on_with_what_it_speaks_of(
    world: World, text: str, goes_on_with: str | None
) -> None:  # fmt: skip
    world.session("coupon", 0, COUPON)
    world.session("footer", 5, FOOTER)
    world.session("new", 9, text)
    coupon, footer, new = (world.assign(name) for name in ("coupon", "footer", "new"))
    assert {coupon: "coupon", footer: "footer"}.get(new) == goes_on_with


def test_words_that_join_sentences_tie_nothing(world: World) -> None:
    world.session("a", 0, "Die alten Bilder werden beim Laden der Seite skaliert")
    world.session("b", 5, "Die Musik knackt beim Wechsel der Szene")
    assert world.assign("a") != world.assign("b")


def test_who_turns_to_a_branch_with_work_of_its_own_leaves_what_was_last(world: World) -> None:
    world.session("old", 0, "Type the reports", branch="chore/types")
    world.session("a", 2000, COUPON, branch="main")
    world.session("b", 2005, "continue", branch="chore/types")
    world.session("c", 2006, FOOTER, branch="main")
    world.session("d", 2009, "commit it", branch="feature/footer")
    old, a, b, c, d = (world.assign(name) for name in ("old", "a", "b", "c", "d"))
    assert b not in (old, a)
    assert c == d


def test_what_the_agent_said_and_which_files_it_touched_count(world: World) -> None:
    world.session("a", 0, "Something is off at checkout")
    world.say("a", 1, "The voucher validator dropped expired vouchers too early.", "closing", "agent")
    world.edit("a", 1, "src/checkout/voucher_validator.py")
    world.session("b", 5, "Expired vouchers: the validator should name the date")
    world.session("c", 7, "In voucher_validator.py the name of a voucher is cut")
    assert world.assign("a") == world.assign("b") == world.assign("c")


def test_words_that_every_session_of_the_project_says_tie_nothing(world: World) -> None:
    for number in range(25):
        world.session(f"s{number}", 100 * number, f"The cart shows coupons: task number {number}")
        world.assign(f"s{number}")
    world.session("a", 9000, COUPON)
    world.session("b", 9005, "Coupons in the cart have no picture")
    assert world.assign("a") != world.assign("b")


def test_a_prompt_about_the_branch_continues_what_was_on_it(world: World) -> None:
    world.session("a", 0, COUPON, branch="feature/coupons")
    world.session("b", 3, FOOTER, branch="main")
    world.session("c", 6, "Fix the failing tests", branch="feature/coupons")
    world.session("d", 8, "Fix the failing tests", branch="feature/other")
    a, b, c, d = (world.assign(name) for name in "abcd")
    assert a == c
    assert d not in (a, b)


def test_a_branch_that_everything_happens_on_says_nothing(world: World) -> None:
    for number in range(30):
        world.session(f"s{number}", 100 * number, f"Chore {number}", branch="next")
    assert store.shared(world.db, world.project(), "next", world.at(4000))
    assert not store.shared(world.db, world.project(), "feature/x", world.at(4000))


def test_of_two_threads_the_one_that_it_is_about_goes_on(world: World) -> None:
    world.session("a", 0, COUPON)
    world.session("b", 5, RETRIES)
    world.session("c", 9, "Rounded coupons: the cart forgets the currency")
    a, _, c = (world.assign(name) for name in "abc")
    assert a == c


def test_what_a_person_chose_wins_whatever_it_is_about(world: World) -> None:
    world.session("a", 0, COUPON)
    first = world.assign("a")
    steering.continue_next(world.db, first, world.at(1))
    world.session("b", 2, ICONS)
    assert world.assign("b") == first
    steering.start_next(world.db, world.project(), world.at(3))
    world.session("c", 4, "continue")
    assert world.assign("c") != first


def test_what_was_said_later_does_not_matter(world: World) -> None:
    world.session("a", 0, FOOTER)
    world.session("b", 5, RETRIES)
    world.assign("a")
    world.say("a", 20, "And now the webhook retries that the partner answers with 429")
    assert world.assign("b") != world.thread("a")


def test_a_long_thread_is_read_as_far_as_it_counts(world: World) -> None:
    world.session("s0", 0, COUPON)
    first = world.assign("s0")
    for number in range(1, 30):
        world.session(f"s{number}", number, "continue")
        assert world.assign(f"s{number}") == first
    asked: list[str] = []
    world.db.set_trace_callback(asked.append)
    newest = store.session(world.db, "s29")
    assert newest is not None
    before = store.before(world.db, newest, world.at(29), 0)
    subject.continued(world.db, world.project(), "new", "", world.at(30), RETRIES, before)
    assert len(asked) < 120


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=60), max_size=4), st.text(max_size=60))
def test_a_line_of_work_shares_the_words_that_its_texts_have(said: list[str], asked: str) -> None:
    wanted = set(tokens(f"lid seal {asked} {' '.join(said)[:40]}"))
    about = subject.About(said, ["src/lid_seal.py"])
    assert about.shared(wanted) == wanted & {word for text in [*said, "lid_seal"] for word in tokens(text)}
