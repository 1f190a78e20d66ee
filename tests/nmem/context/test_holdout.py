"""Sessions that are told nothing on purpose, and what can be said of the difference."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given as examples
from hypothesis import strategies as st

from capture import paths
from nmem.commands.main import nmem
from nmem.context.config import withheld
from nmem.context.items import Item
from nmem.context.past import FEW, effect
from nmem.context.store import Injection, remember
from nmem.errors import NmemError
from tests.nmem.context.conftest import Played

SAME = "the voucher total in shop/cart.py must never be negative, fix the cart"
IDS = [f"session-{number}" for number in range(2000)]


@pytest.mark.parametrize("fraction", [0.1, 0.25, 0.5])
def test_about_that_fraction_is_kept_without(fraction: float) -> None:
    share = sum(withheld(each, fraction) for each in IDS) / len(IDS)
    assert share == pytest.approx(fraction, abs=0.04)


@examples(st.text(), st.floats(0.0, 0.5), st.floats(0.0, 0.5))
def test_the_same_session_gets_the_same_answer_and_a_larger_fraction_keeps_more(
    session: str, one: float, other: float
) -> None:
    low, high = sorted((one, other))
    assert withheld(session, low) == withheld(session, low)
    assert withheld(session, high) or not withheld(session, low)
    assert not withheld(session, 0.0)


def configure(text: str) -> None:
    file = Path(paths.config())
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_a_session_that_is_kept_without_is_told_nothing_but_what_it_would_have_been_told_is_kept(
    played: Played,
) -> None:
    played.fix()
    configure("[context]\nholdout = 0.5\n")
    without = next(each for each in IDS if withheld(each, 0.5))
    played.begin(without)
    assert played.ask(SAME) == ""
    assert played.ask(SAME + " please") == ""
    told = next(each for each in IDS if not withheld(each, 0.5))
    played.begin(told)
    assert "truncated" in played.ask(SAME)
    db = played.database()
    rows = db.execute("SELECT session_id, withheld, text != '' FROM injections ORDER BY id").fetchall()
    assert rows == [(without, 1, 1), (told, 0, 1)]
    assert db.execute("SELECT count(*) > 0 FROM injection_items WHERE injection_id = 1").fetchone() == (1,)
    db.close()


def session(played: Played, name: str, turns: int, kept_without: bool) -> None:
    """A session of so many turns, each with a failure, that was told something or kept without."""
    played.begin(name)
    for number in range(turns):
        played.ask(f"step {number} of {name}")
        if not number:
            db = played.database()
            one = Injection(name, played.at, "prompt", "claude")
            one.items, one.text, one.withheld = (Item("file/a.py", "file", "a.py", files=("a.py",)),), "x", kept_without
            remember(db, one)
            db.close()
        played.fail(f"make step-{number}")
    played.read("a.py")
    played.edit("a.py")
    played.read("a.py")
    played.read("b.py")
    played.at += 10 * 60_000
    played.read("b.py")
    played.end()


def test_the_two_groups_are_counted_side_by_side(played: Played) -> None:
    session(played, "early", 9, False)
    session(played, "w1", 4, True)
    session(played, "t1", 2, False)
    session(played, "t2", 3, False)
    played.settle()
    db = played.database()
    found = effect(db)
    db.close()
    assert (found.told.sessions, found.without.sessions, found.told_before) == (2, 1, 1)
    assert found.told.figures == {"turns": (2, 3), "failures": (2, 3), "rereads": (1, 1)}
    assert found.without.figures["turns"] == (4,)
    assert found.told.use == 1.0
    assert found.without.use == 1.0
    assert not found.enough
    assert found.verdict("turns") == "too few sessions to say"


def test_a_difference_is_only_told_where_chance_would_not_make_it(played: Played) -> None:
    for number in range(FEW):
        session(played, f"w{number}", 3 + number % 2, True)
        session(played, f"t{number}", 1 + number % 2, False)
    db = played.database()
    found = effect(db)
    db.close()
    assert found.enough
    assert found.verdict("turns") == "fewer when told"
    assert found.verdict("rereads") == "no difference that chance would not make"


def test_nothing_is_said_of_nothing(played: Played) -> None:
    db = played.database()
    found = effect(db)
    db.close()
    assert (found.told.sessions, found.without.sessions) == (0, 0)
    assert found.told.mean("turns") is None
    assert found.told.use is None
    assert found.verdict("failures") == "too few sessions to say"


def test_the_report_is_honest_about_small_numbers(played: Played) -> None:
    session(played, "w1", 4, True)
    session(played, "t1", 2, False)
    said = CliRunner().invoke(nmem, ["context", "--report"]).output
    assert "too few sessions to say" in said
    assert "Under 20 sessions" in said
    told = json.loads(CliRunner().invoke(nmem, ["context", "--report", "--json"]).output)
    assert told["verdicts"]["turns"] == "too few sessions to say"
    assert told["told"]["sessions"] == 1


def test_a_project_is_switched_off_and_on_again(played: Played) -> None:
    played.fix()
    run = CliRunner()
    assert run.invoke(nmem, ["context", "--off", "--project", "/src/shop"]).exit_code == 0
    played.begin("b")
    assert played.ask(SAME) == ""
    assert run.invoke(nmem, ["context", "--on", "--project", "/src/shop"]).exit_code == 0
    played.begin("c")
    assert "truncated" in played.ask(SAME)
    assert isinstance(run.invoke(nmem, ["context", "--off", "--project", "/no/such"]).exception, NmemError)
