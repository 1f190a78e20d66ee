"""A learning as a rule: a short fact, whatever it was made of."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nmem.learn import rules
from nmem.learn.learning import KINDS, Learning, Remedy
from nmem.learn.wording import LIMIT, neat

Shop = Any
RULE = "`npm test` fails here; use `pnpm test`"
HELPED = {
    "spelled": ("spelling", "`pnpm test` works", (), ("pnpm test 2>&1 | tail -20",)),
    "before": ("command", "After `make db` it passes", (), ("make env", "make db")),
    "edit": ("edit", "a.rs was changed: +x", ("/home/me/shop/src/a.rs", "b.rs"), ()),
    "again": ("rerun", "It passes when it is run again", (), ()),
    "read": ("command", "Read the file (again)", (), ("Read",)),
}


@pytest.mark.parametrize(
    ("kind", "title", "helped", "said"),
    [
        ("failed_command", "`npm test` fails", "spelled", RULE),
        ("failed_command", "`npm test` fails: no script `test`", "spelled",
         "`npm test` fails here (`no script 'test'`); use `pnpm test`"),
        ("failed_command", f"`npm test` fails: {'long ' * 40}", "spelled", RULE),
        ("failed_command", "pytest", "before", "`pytest` fails here; it passes after `make db`"),
        ("failed_command", "`cargo test` fails", "edit",
         "`cargo test` fails here; what helped was a change of `src/a.rs` or `b.rs`"),
        ("failed_command", "e2e", "again", "`e2e` fails here: It passes when it is run again"),
        ("failed_command", "e2e", "", "`e2e` fails here"),
        ("recurring_error", "File has changed", "read",
         "`File has changed`: Read the file (again)"),
        ("recurring_error", "golangci: dupl", "edit", "`golangci` checks `dupl` here: write code that passes it"),
        ("recurring_error", "ECONNREFUSED <port> @x", "", "`ECONNREFUSED <port> @x` keeps coming back here"),
        ("stuck_loop", "`pytest` fails 6 times in a row", "",
         "`'pytest' fails 6 times in a row` keeps coming back here"),
        ("repeated_intent", "deploy @prod", "", "Asked for again and again: `deploy @prod`"),
        ("unresolved_read", "src/a.py", "",
         "`src/a.py` is read again and again and never changed"),
    ],
)  # fmt: skip
def test_rules_are_short_facts(shop: Shop, kind: str, title: str, helped: str, said: str) -> None:
    remedy = None
    if helped:
        names = ("kind", "text", "files", "commands")
        remedy = json.dumps({**dict(zip(names, HELPED[helped], strict=True)), "observation_ids": [], "confidence": 0.5,
                             "times": 2})  # fmt: skip
    assert shop.plan(shop.learning(title, kind, remedy=remedy)).rule == said


@pytest.mark.parametrize("doubt", [{"times": 1}, {"confidence": 0.49}])
def test_a_remedy_that_is_not_believed_is_no_rule(shop: Shop, doubt: dict[str, float]) -> None:
    remedy = {**dict(zip(("kind", "text", "files", "commands"), HELPED["spelled"], strict=True)),
              "observation_ids": [], "confidence": 1, "times": 9, **doubt}  # fmt: skip
    number = shop.learning(remedy=json.dumps(remedy))
    assert shop.plan(number).rule == "`npm test` fails here"


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(max_size=400), st.text(max_size=200), st.lists(st.text(max_size=120), max_size=4))
def test_any_rule_fits_a_line(title: str, text: str, many: list[str]) -> None:
    for kind in KINDS:
        for how in ("spelling", "command", "edit", "rerun"):
            remedy = Remedy(how, text, tuple(many), tuple(many), (), 0.5, 2)
            one = Learning(
                1, 1, "shop", kind, title, title, (), 0, 0, 2, 2, 50, "open", None, "", None, 0, remedy, "", ()
            )
            line = rules.rule(one)
            assert len(line) <= LIMIT
            assert line == neat(line) != ""


@pytest.mark.parametrize(
    ("kind", "key", "title", "said"),
    [
        ("recurring_error", "client: does not exist x.yml", "x.yml does not exist", "There is no `x.yml` here"),
        ("recurring_error", "client: unknown skill commit", "Unknown skill: commit", "There is no skill `commit`"),
        ("recurring_error", "golangci: gosec G304", "golangci-lint: gosec G304",
         "`golangci-lint` checks `gosec G304` here: write code that passes it"),
        ("recurring_error", "shell: cd relative", "A relative `cd` fails",
         "The shell keeps its folder from call to call: `cd` with a path from the project's folder"),
        ("recurring_error", "biome: format", "biome: the formatter would change files", ""),
        ("recurring_error", "python: no module yaml", "Python module yaml is not installed", ""),
        ("failed_command", "make seed", "`make seed` keeps failing", ""),
        ("repeated_intent", "basket deploy", "deploy the basket", ""),
    ],
)  # fmt: skip
def test_a_rule_says_what_to_do_or_is_for_a_person_to_word(
    shop: Shop, kind: str, key: str, title: str, said: str
) -> None:
    planned = shop.plan(shop.learning(title, kind, key=key, remedy=None))
    assert planned.helps == bool(said)
    assert planned.rule == said or not said
    assert "session" not in planned.rule
    assert shop.plan(1, text="Use pnpm").helps


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("PYTHONPATH must be set", "`npm test` fails here: PYTHONPATH must be set"),
        ("In the folder `web` it works", "`npm test` fails here: In the folder `web` it works"),
        ("In the folder `web` `pnpm test` works", "`npm test` fails here: In the folder `web` `pnpm test` works"),
    ],
)
def test_a_remedy_that_is_a_sentence_stays_as_it_is(shop: Shop, text: str, said: str) -> None:
    remedy = {"kind": "spelling", "text": text, "files": [], "commands": ["pnpm test"], "observation_ids": [],
              "confidence": 0.9, "times": 3}  # fmt: skip
    assert shop.plan(shop.learning(remedy=json.dumps(remedy))).rule == said
