"""What a hook reads by short cuts is what reading everything gives."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from nmem.episodes import features as ft
from nmem.episodes import text as tx
from nmem.episodes.resumption import Goal

_WORDS = ("retry", "Parser", "tests", "HTTPServer", "foo_bar2", "fixing", "des", "ok", "Σας", "ΟΔΟΣ", "é_s", "번역해줘",
          "İx", "class", "a_12", "the")  # fmt: skip
_PATHS = ("src/a/One.py", "/b//two.py", "c\\d\\e.rs", "x", "a/b/c/", "/q///")
said = st.lists(st.one_of(st.sampled_from(_WORDS), st.text(max_size=8)), max_size=6).map(" ".join)
agents = st.fixed_dictionaries({
    "said": said, "tools": st.just({}), "events": st.lists(st.just("commit"), max_size=1),
    "files": st.lists(st.sampled_from(_PATHS), max_size=3),
})  # fmt: skip
turns = st.lists(st.fixed_dictionaries({"text": said, "agent": agents}), max_size=32)


@given(turns, said)
def test_a_goal_weighs_the_words_asked_for_as_if_it_had_read_all(spoken: list[dict[str, Any]], asked: str) -> None:
    goal, weights = Goal(1), dict[str, float]()
    for turn in spoken:
        goal.learn(turn["text"], turn["agent"])
        weights.update(dict.fromkeys(tx.tokens(turn["agent"]["said"]), 0.7))
        weights.update(dict.fromkeys(tx.tokens(turn["text"]), 1.0))
    wanted = set(tx.tokens(asked))
    for _ in range(2):  # the second time what was read is remembered
        assert goal.words(wanted) == {word: weights[word] for word in wanted if word in weights}


@given(turns, said, agents)
def test_only_the_turns_that_have_not_faded_are_read(
    spoken: list[dict[str, Any]], asked: str, agent: dict[str, Any]
) -> None:
    quick, slow = ft.Past(), ft.Past()
    quick.read(spoken)
    for turn in spoken:
        slow.add(turn["text"], turn["agent"])
    assert ft.context(asked, 1.0, quick) == ft.context(asked, 1.0, slow)
    assert ft.turn(agent, quick) == ft.turn(agent, slow)


@given(st.lists(st.sampled_from(("/", "\\", "a", "Bc.py", "..")), max_size=9).map("".join))
def test_the_ends_of_a_path_are_its_last_components(path: str) -> None:
    parts = [part for part in path.replace("\\", "/").lower().split("/") if part]
    assert tx.path_ends(path) == ("/".join(parts[-2:]), "/".join(parts[-3:-1]))
