"""What the screen Context says of things that are not told: the reason that is true of each."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nmem.context.decide import WAITS
from nmem.context.items import FILE, PIN, Item
from nmem.context.preview import UNKNOWN, Preview
from nmem_tui.model import context
from nmem_tui.model.context_queries import PROMPT, RESET, START

PINNED = Item("pin/episode/1", PIN, "Episode 1: “kettle”.", score=1.0, reason="it is pinned")
OTHER = Item("next/2", "next", "“descale it”.", score=0.7, reason="the newest episode that left something open")
NOTHING = Preview("p", 1, "", "", 0, 400, "", 0, (), (), "", choices={"episode/1": "pin"})


def headings(found: Preview, mode: str) -> list[str]:
    rows = ["".join(text for text, _ in item.draw(200)).strip() for item in context.items(found, mode)]
    return [row for row in rows if row.startswith(("Considered", "Not told", "Never"))]


@pytest.mark.parametrize(
    ("why", "mode", "expected"),
    [
        (WAITS, START, ["being rebuilt after a purge"]),
        (WAITS, PROMPT, ["being rebuilt after a purge"]),
        ("context is switched off", START, ["nothing is told"]),
        (UNKNOWN, START, ["too little room", "the work of a new session is not known yet"]),
        ("", START, ["too little room", "the work of a new session is not known yet"]),
        ("", PROMPT, ["too little room, or too low a score"]),
    ],
)
def test_what_is_left_out_says_the_true_reason(why: str, mode: str, expected: list[str]) -> None:
    found = replace(NOTHING, why_silent=why, left_out=(PINNED, OTHER))
    assert headings(found, mode) == [f"Considered, but not told: {each}" for each in expected]


@pytest.mark.parametrize("mode", [START, PROMPT, RESET])
def test_what_quotes_something_excluded_stands_by_itself(mode: str) -> None:
    held = Item("pin/prompt/3", PIN, "You said: “descale it”.", score=1.0, reason="you excluded its words: next/2")
    found = replace(NOTHING, text="x", items=(PINNED,), held=(held,))
    assert headings(found, mode) == ["Not told: it quotes what you excluded"]
    rows = ["".join(text for text, _ in item.draw(200)) for item in context.items(found, mode)]
    assert "you excluded its words: next/2" in rows[-1]
    assert context.thing(found, "prompt/3") is held


def test_a_file_says_before_what_excluding_it_does_not_do() -> None:
    file = Item("file/kettle.py", FILE, "kettle.py", files=("kettle.py",), score=0.5, reason="edited lately")
    found = replace(NOTHING, left_out=(file,))
    told = "\n".join("".join(text for text, _ in line) for line in context.about(file, found, START, 120, 9))
    assert "notes and stories may still name it" in told
    after = "\n".join("".join(text for text, _ in line) for line in context.about(file, found, RESET, 120, 9))
    assert "may still speak" not in after, "nothing is chosen there"
