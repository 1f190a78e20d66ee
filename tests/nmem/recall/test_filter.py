"""Entries narrowed while somebody types."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from nmem.recall.filter import narrowed

LINES = [
    "/when writing mock tests | mock patch, doubles",
    "/how format token counts",
    "/how encode file paths",
    "/when a mockery of a test is found in a long line",
    "/when scoring parseHTTPResponse",
]


def places(*typed: str) -> list[int]:
    return [one.place for one in narrowed(LINES, typed)]


def test_every_word_must_be_in_a_line_its_letters_in_order() -> None:
    assert places("fmt") == [1]
    assert places("enc", "path")[0] == 2
    assert places("zq") == [] == places("mock", "zq")
    assert places() == [0, 1, 2, 3, 4]


def test_beginnings_of_words_and_letters_together_go_first_then_short_lines() -> None:
    assert places("mock") == [0, 3]
    assert places("PATHS")[0] == 2 and places("http")[0] == 4
    one = narrowed(LINES, ["mock"])[0]
    assert [LINES[0][begin:end] for begin, end in one.marks] == ["mock"] and one.tight
    assert not narrowed(LINES, ["wmt"])[0].tight, "letters of several words"
    assert narrowed(LINES, ["fmt"])[0].tight, "the letters of one word, from its beginning"


@given(st.lists(st.text(max_size=30), max_size=6), st.lists(st.text(min_size=1, max_size=6), max_size=3))
def test_what_is_found_has_the_letters_and_marks_lie_in_the_line(lines: list[str], typed: list[str]) -> None:
    for one in narrowed(lines, typed):
        line = lines[one.place]
        assert all(0 <= begin < end <= len(line) for begin, end in one.marks)
        assert list(one.marks) == sorted(one.marks)
    for place, line in enumerate(lines):
        if line and line.isascii():
            assert place in {one.place for one in narrowed(lines, [line[:5]])}, "a line has its own beginning"
