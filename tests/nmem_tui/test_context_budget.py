"""The bar of the budget on Context: kinds with letters, the limit, what was left out; whole at any width."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmem.context.compose import HEADINGS
from nmem.context.items import EPISODE, FILE, KINDS, PIN, Item
from nmem.context.preview import Preview
from nmem.context.recovery import HEADINGS as RECOVERED
from nmem_tui.model import context, context_text, symbols
from nmem_tui.model.context_queries import START
from nmem_tui.model.line import length, plain


@pytest.fixture(autouse=True)
def usual() -> Any:
    """Blocks again after a test that draws with another set."""
    yield
    symbols.use(symbols.BLOCKS)


def preview(*told: tuple[str, int], left: tuple[int, ...] = (), most: int = 400, around: int = 0) -> Preview:
    """What would be told, by kinds and tokens."""

    def thing(kind: str, size: int) -> Item:
        one = Item(f"{kind}/1", kind, "x")
        one.tokens = size
        return one

    items = tuple(thing(*each) for each in told)
    used = sum(size for _, size in told) + around
    return Preview("p", 1, "s", "", 0, most, "text", used, items, tuple(thing(EPISODE, size) for size in left), "")


KIND = st.sampled_from(KINDS) | st.text(max_size=9)


@given(
    st.lists(st.tuples(KIND, st.integers(0, 9999)), max_size=12), st.lists(st.integers(1, 9999), max_size=5),
    st.integers(1, 9999), st.integers(0, 200), st.integers(1, 200), st.sampled_from(symbols.NAMES),
)  # fmt: skip
def test_no_width_is_exceeded(
    told: list[tuple[str, int]], left: list[int], most: int, around: int, cells: int, name: str
) -> None:
    symbols.use(name)
    found = preview(*told, left=tuple(left), most=most, around=around)
    assert length(context_text.bar(found, cells)) == cells
    assert all(length(line) <= cells for line in context_text.legend(found, cells))
    assert length(context.gauge(found, most, START, cells)) <= cells
    assert sum(share.tokens for share in context_text.shares(found)) == found.tokens


def test_every_kind_has_a_letter_and_a_word_of_its_own() -> None:
    kinds = dict.fromkeys([*RECOVERED, *HEADINGS, *KINDS])
    told = context_text.shares(preview(*((kind, 5) for kind in kinds), around=9))
    assert len({share.letter for share in told}) == len({share.word for share in told}) == len(kinds) + 1
    assert "?" not in {share.letter for share in told}
    assert [share.letter for share in told[:3]] == ["G", "S", "O"]


@given(st.lists(st.integers(0, 9999), max_size=12), st.integers(0, 99), st.integers(0, 99))
def test_each_has_a_cell_while_there_is_one(amounts: list[int], cells: int, most: int) -> None:
    sizes = context_text.spread_over(amounts, cells, most)
    assert len(sizes) == len(amounts)
    assert sum(sizes) == (max(min(cells, most), min(len(amounts), most)) if amounts else 0)
    assert sum(size > 0 for size in sizes) == min(len(amounts), most)


def test_kinds_limit_and_what_is_left_out_are_said() -> None:
    found = preview((PIN, 100), (EPISODE, 200), (FILE, 20), left=(90, 30), around=40)
    drawn = plain([context_text.bar(found, 41)])
    assert (
        drawn.index("P") < drawn.index("E") < drawn.index("F") < drawn.index("h") < drawn.index("░") < drawn.index("│")
    )
    assert drawn.endswith("│" + "╌" * 10)
    legend = plain(context_text.legend(found, 90))
    assert legend == " P pins 100  E episodes 200  F files 20  h headings 40  ╌ left out 2 items, 120"
    assert plain(context_text.legend(found, 60)) == " P pins  E episodes  F files  h headings  ╌ 2 left out"
    assert plain(context_text.legend(found, 28)) == " E episodes  ╌ 2 left out"


def test_nothing_left_out_ends_at_the_limit_and_nothing_told_says_nothing() -> None:
    assert plain([context_text.bar(preview((PIN, 400)), 20)]).endswith("▓│")
    assert context_text.legend(preview(), 80) == []
    assert plain([context_text.bar(preview(), 10)]) == "░░░░░░░░░│"


async def test_the_screen_says_the_kinds_below_the_bar(cockpit: Any, make_db: Any, text: Any, settled: Any) -> None:
    async with cockpit(make_db("story"), size=(80, 24)) as pilot:
        await pilot.press("5")
        await settled(pilot)
        assert " P pins " in text(pilot)
        assert "░│" in next(row for row in text(pilot).splitlines() if row.startswith(" budget P"))
