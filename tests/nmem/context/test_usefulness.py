"""Whether what a session was told was of use to it, and what follows from that."""

from __future__ import annotations

import json

import pytest
from hypothesis import given as examples
from hypothesis import strategies as st

from nmem.context import usefulness
from nmem.context.candidates import LEAST_FACTOR, MOST_FACTOR, usefulness_factor, usefulness_factors
from nmem.context.items import Item
from nmem.context.store import Injection, remember
from tests.nmem.context.conftest import HOUR, Played

EPISODE = Item(
    "episode/1", "episode", "Episode 1: the quokka ledger rounds half up because truncation loses a cent",
    files=("shop/cart.py",), score=0.9, reason="r",
)  # fmt: skip
LEARNING = Item("learning/7", "learning", "make deploy fails; run make login first", score=0.8, reason="r")
FILE = Item("file/shop/till.py", "file", "shop/till.py", files=("shop/till.py",), score=0.5, reason="r")


def told(played: Played, session: str, *items: Item, withheld: bool = False) -> None:
    db = played.database()
    one = Injection(session, played.at, "prompt", "claude")
    one.items, one.text, one.withheld = items, "x", withheld
    assert remember(db, one)
    db.close()


def verdicts(played: Played, session: str, now: int | None = None) -> dict[str, tuple[int | None, str | None]]:
    db = played.database()
    usefulness.judge_due(db, played.at if now is None else now)
    rows = db.execute(
        "SELECT i.item, i.used, i.used_how FROM injection_items i JOIN injections j ON j.id = i.injection_id"
        " WHERE j.session_id = ?",
        (session,),
    ).fetchall()
    db.close()
    return {item: (used, how) for item, used, how in rows}


def started(played: Played, session: str = "b") -> None:
    played.begin(session)
    played.ask("make the till faster")


def test_a_file_that_is_touched_afterwards_was_of_use(played: Played) -> None:
    started(played)
    played.edit("shop/till.py")  # before it was told: that is no use of it
    told(played, "b", EPISODE, FILE)
    played.edit("shop/cart.py")
    played.end()
    assert verdicts(played, "b") == {"episode/1": (1, "edited shop/cart.py"), FILE.id: (0, "")}


def test_a_file_of_another_checkout_is_the_same_file(played: Played) -> None:
    started(played)
    told(played, "b", EPISODE)
    played.folder = "/src/elsewhere"
    played.read("../shop-2/shop/cart.py")
    assert verdicts(played, "b")["episode/1"][0] == 1


def test_a_remedy_that_is_run_was_of_use(played: Played) -> None:
    started(played)
    db = played.database()
    db.execute(
        "INSERT INTO learnings (id, project_id, kind, key, title, first_at, last_at, sessions, occurrences, state,"
        " remedy) VALUES (7, 1, 'failed_command', 'make deploy', 'make deploy fails', 0, 0, 4, 9, 'open', ?)",
        (json.dumps({"kind": "commands", "text": "run make login", "commands": ["make login"]}),),
    )
    db.close()
    told(played, "b", LEARNING)
    played.run("make test")
    assert verdicts(played, "b") == {"learning/7": (None, None)}
    played.run("cd /src/shop && make login 2>&1 | tail -3")
    assert verdicts(played, "b")["learning/7"][0] == 1


def test_words_that_only_the_item_had_were_of_use_when_the_agent_repeats_them(played: Played) -> None:
    started(played)
    told(played, "b", EPISODE)
    played.say("The till is faster now.")
    assert verdicts(played, "b") == {"episode/1": (None, None)}
    played.ask("why?")
    played.say("As in the quokka ledger, truncation was at fault; I round half up.")
    used, how = verdicts(played, "b")["episode/1"]
    assert used == 1
    assert how is not None and how.startswith("repeated ")


def test_words_of_the_prompt_prove_nothing(played: Played) -> None:
    played.begin("b")
    played.ask("the quokka ledger rounds half up because truncation loses a cent, is that so? see episode 1")
    told(played, "b", EPISODE)
    played.say("Yes: the quokka ledger rounds half up, truncation loses a cent.")
    played.end()
    assert verdicts(played, "b") == {"episode/1": (0, "")}


def test_nothing_is_decided_while_the_session_goes_on_and_nothing_is_final_if_it_does(played: Played) -> None:
    started(played)
    told(played, "b", EPISODE)
    assert verdicts(played, "b") == {"episode/1": (None, None)}
    assert verdicts(played, "b", played.at + HOUR)["episode/1"][0] == 0
    played.edit("shop/cart.py")
    assert verdicts(played, "b")["episode/1"] == (1, "edited shop/cart.py")


def test_what_was_of_use_is_counted_by_project_without_what_was_kept_back(played: Played) -> None:
    for number in range(3):
        started(played, f"b{number}")
        told(played, f"b{number}", EPISODE, FILE, withheld=number == 2)
        played.edit("shop/cart.py")
        played.end()
        verdicts(played, f"b{number}")
    db = played.database()
    kept = db.execute("SELECT item, given, used FROM context_usefulness ORDER BY item").fetchall()
    assert kept == [("episode/1", 2, 2), ("file/shop/till.py", 2, 0)]
    found = usefulness_factors(db, 1, ["episode/1", "file/shop/till.py", "thread/1"])
    assert found["episode/1"] > 1.0 > found["file/shop/till.py"]
    assert "thread/1" not in found
    assert usefulness_factors(db, 2, ["episode/1"]) == {}
    db.close()


def test_a_session_that_is_deleted_takes_its_record_along(played: Played) -> None:
    started(played)
    told(played, "b", EPISODE)
    db = played.database()
    for table in ("unit_prompts", "session_threads", "work_units", "observations", "prompts"):
        db.execute("PRAGMA foreign_keys=OFF")
        db.execute(f"DELETE FROM {table}")
    db.execute("PRAGMA foreign_keys=ON")
    db.execute("DELETE FROM sessions")
    assert db.execute("SELECT count(*) FROM injection_items").fetchone() == (0,)
    db.close()


@examples(st.integers(0, 1000).flatmap(lambda times: st.tuples(st.just(times), st.integers(0, times))))
def test_the_factor_is_bounded_and_grows_with_use(counts: tuple[int, int]) -> None:
    times, used = counts
    found = usefulness_factor(times, used)
    assert LEAST_FACTOR <= found <= MOST_FACTOR
    assert usefulness_factor(times + 1, used) <= found <= usefulness_factor(times + 1, used + 1)


def test_an_unknown_item_is_worth_what_it_is() -> None:
    assert usefulness_factor(0, 0) == pytest.approx(1.0)


def test_a_file_of_the_same_end_is_another_file() -> None:
    from nmem.context.places import Places
    from nmem.context.usefulness import _same

    places = Places("shop", roots=["/home/ann/shop"])
    for one, other in (("README.md", "vendor/lib/README.md"), ("src/__init__.py", "__init__.py"),
                       ("/home/ann/shop/vendor/README.md", "README.md"), ("/a/x.py", "/b/a/x.py")):  # fmt: skip
        assert not _same(places, one, other) and not _same(places, other, one)
    for one, other in (("README.md", "README.md"), ("/home/ann/shop/README.md", "README.md"),
                       ("src\\a.py", "src/a.py"), ("/elsewhere/shop/src/a.py", "src/a.py")):  # fmt: skip
        assert _same(places, one, other) and _same(places, other, one)
