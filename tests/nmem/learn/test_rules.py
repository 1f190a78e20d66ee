"""A learning as a rule: what to do, whatever it was made of."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nmem.learn import kinds, rules
from nmem.learn.learning import Learning, Remedy
from nmem.learn.rules import LIMIT, neat

Shop = Any
RULE = "Use `pnpm test`: `npm test` fails here"
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
         "Use `pnpm test`: `npm test` fails here (`no script 'test'`)"),
        ("failed_command", f"`npm test` fails: {'long ' * 40}", "spelled", RULE),
        ("failed_command", "pytest", "before", "Run `make db` first: `pytest` fails here"),
        ("failed_command", "`cargo test` fails", "edit",
         "Look into `src/a.rs` or `b.rs`, a change of which helped: `cargo test` fails here"),
        ("failed_command", "e2e", "again", "It passes when it is run again: `e2e` fails here"),
        ("failed_command", "e2e", "", "Do not rely on `e2e`: it fails here"),
        ("recurring_error", "File has changed", "read",
         "Read the file (again), against `File has changed`"),
        ("recurring_error", "golangci: dupl", "edit", "Write code that passes `dupl` of `golangci`"),
        ("recurring_error", "ECONNREFUSED <port> @x", "",
         "Watch out for `ECONNREFUSED <port> @x`: this keeps coming back here"),
        ("stuck_loop", "`pytest` fails 6 times in a row", "",
         "Watch out for `'pytest' fails 6 times in a row`: this keeps coming back here"),
        ("repeated_intent", "deploy @prod", "", "Expect to be asked again: `deploy @prod`"),
        ("unresolved_read", "src/a.py", "",
         "Find out what is open about `src/a.py`, and write it down"),
    ],
)  # fmt: skip
def test_rules_say_what_to_do(shop: Shop, kind: str, title: str, helped: str, said: str) -> None:
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
    assert shop.plan(number).rule == "Do not rely on `npm test`: it fails here"


@settings(max_examples=75, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(max_size=400), st.text(max_size=200), st.lists(st.text(max_size=120), max_size=4))
def test_any_rule_fits_a_line(title: str, text: str, many: list[str]) -> None:
    for kind in kinds.names():
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
        ("recurring_error", "client: does not exist x.yml", "x.yml does not exist",
         "Do not look for `x.yml`: it is not here"),
        ("recurring_error", "client: unknown skill commit", "Unknown skill: commit",
         "Do not call the skill `commit`: there is none"),
        ("recurring_error", "golangci: gosec G304", "golangci-lint: gosec G304",
         "Write code that passes `gosec G304` of `golangci-lint`"),
        ("recurring_error", "shell: cd relative", "A relative `cd` fails",
         "Use `cd` with a whole path: the shell keeps its folder from call to call"),
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
        ("PYTHONPATH must be set", "PYTHONPATH must be set: `npm test` fails here"),
        ("In the folder `web` it works", "Run it in the folder `web`: `npm test` fails here"),
        ("In the folder `web` `pnpm test` works", "Run `pnpm test` in the folder `web`: `npm test` fails here"),
    ],
)
def test_what_helped_comes_first(shop: Shop, text: str, said: str) -> None:
    remedy = {"kind": "spelling", "text": text, "files": [], "commands": ["pnpm test"], "observation_ids": [],
              "confidence": 0.9, "times": 3}  # fmt: skip
    assert shop.plan(shop.learning(remedy=json.dumps(remedy))).rule == said
