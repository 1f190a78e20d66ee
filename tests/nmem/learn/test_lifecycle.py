"""What a person says of a learning: each move stands, illegal ones are one line, and undo takes each back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nmem import undo
from nmem.errors import NmemError
from nmem.learn import lifecycle, read

Shop = Any
DAY = 86_400_000
MOVES: dict[str, Callable[[Shop, int], object]] = {
    "accept": lambda shop, number: shop.accept(number),
    "dismiss": lambda shop, number: lifecycle.dismiss(shop.db, number, shop.now),
    "snooze": lambda shop, number: lifecycle.snooze(shop.db, number, shop.now + DAY, shop.now),
    "resolve": lambda shop, number: lifecycle.resolve(shop.db, number, shop.now),
    "reopen": lambda shop, number: shop.reopen(number),
}
LEGAL = {
    "open": {"accept": "accepted", "dismiss": "dismissed", "snooze": "snoozed", "resolve": "resolved"},
    "accepted": {"resolve": "resolved", "reopen": "open"},
    "dismissed": {"reopen": "open"},
    "snoozed": {
        "accept": "accepted", "dismiss": "dismissed", "snooze": "snoozed", "resolve": "resolved", "reopen": "open"
    },
    "resolved": {"accept": "accepted", "dismiss": "dismissed", "reopen": "open"},
}  # fmt: skip
TO = {"open": None, "accepted": "accept", "dismissed": "dismiss", "snoozed": "snooze", "resolved": "resolve"}


@pytest.mark.parametrize("state", LEGAL)
@pytest.mark.parametrize("verb", MOVES)
def test_every_move_from_every_state(shop: Shop, state: str, verb: str) -> None:
    number = shop.learning()
    first = TO[state]
    if first:
        MOVES[first](shop, number)
    before, entries = shop.stored(), len(undo.history(shop.db))
    assert (verb in lifecycle.able(state)) == (verb in LEGAL[state])
    if verb not in LEGAL[state]:
        with pytest.raises(NmemError, match=f"learning 1 is {state}") as error:
            MOVES[verb](shop, number)
        assert "\n" not in str(error.value)
        assert (shop.stored(), len(undo.history(shop.db))) == (before, entries)
        return
    MOVES[verb](shop, number)
    assert shop.state(number) == LEGAL[state][verb]
    assert shop.stored()[0]["state_by"] == "person"
    assert shop.undo().startswith("learning 1 “npm test” ")
    assert shop.stored() == before


def test_a_snooze_ends_by_itself(shop: Shop) -> None:
    number = shop.learning()
    lifecycle.snooze(shop.db, number, shop.now + DAY, shop.now)
    assert [one.id for one in read.learnings(shop.db, shop.now, states=("snoozed",))] == [number]
    assert read.learnings(shop.db, shop.now + DAY - 1) == ()
    shop.now += DAY
    assert [one.id for one in read.learnings(shop.db, shop.now)] == [number]
    assert shop.state(number) == "open"
    with pytest.raises(NmemError, match="is open already"):
        shop.reopen(number)
    lifecycle.dismiss(shop.db, number, shop.now)
    assert shop.state(number) == "dismissed"
    with pytest.raises(NmemError, match="in the future"):
        lifecycle.snooze(shop.db, number, shop.now, shop.now)


def test_resolving_an_accepted_one_leaves_its_rule(shop: Shop) -> None:
    number = shop.learning()
    shop.accept(number)
    text = shop.file().read_bytes()
    lifecycle.resolve(shop.db, number, shop.now)
    assert shop.file().read_bytes() == text
    assert shop.stored()[0]["rule"]
    shop.reopen(number)
    assert not shop.file().exists()
    assert shop.stored()[0]["rule"] is None


def test_a_learning_that_nobody_knows(shop: Shop) -> None:
    for move in MOVES.values():
        with pytest.raises(NmemError, match="there is no learning 7"):
            move(shop, 7)


def test_undo_of_a_learning_that_is_gone_still_mends_the_file(shop: Shop) -> None:
    number = shop.learning()
    shop.accept(number)
    shop.db.execute("PRAGMA foreign_keys=ON")
    shop.db.execute("DELETE FROM learnings")
    assert shop.undo() == "learning 1 “npm test” accepted, its rule put into CLAUDE.md"
    assert not shop.file().exists()


def test_what_undo_says_of_each(shop: Shop) -> None:
    number = shop.learning("npm \x1b[2J test " + "long " * 20)
    for verb in ("dismiss", "reopen", "snooze", "resolve", "accept", "reopen"):
        MOVES[verb](shop, number)
    said = [undo.describe(entry) for entry in reversed(undo.history(shop.db))]
    assert all("\x1b" not in line and len(line) < 140 for line in said)
    assert [line.rpartition("”")[2] for line in said] == [
        " dismissed", " reopened", " snoozed until 2025-10-10 12:00", " resolved",
        " accepted, its rule put into CLAUDE.md", " reopened, its rule taken out of CLAUDE.md",
    ]  # fmt: skip


@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.tuples(st.sampled_from(list(MOVES)), st.integers(1, 3)), max_size=12))
def test_any_moves_undone_to_the_end_leave_the_start(
    shops: Callable[[Path], Any], tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]]
) -> None:
    with shops(tmp_path_factory.mktemp("any")) as shop:
        for number in range(3):
            shop.learning(f"step {number % 2}", kind=f"kind {number}", remedy=None)
        shop.file(b"# Shop\r\n")
        before, left = shop.stored(), 0
        for verb, number in steps:
            try:
                MOVES[verb](shop, number)
                left += 1
            except NmemError:
                continue
        for _ in range(left):
            shop.undo()
        assert (shop.stored(), shop.file().read_bytes()) == (before, b"# Shop\r\n")
