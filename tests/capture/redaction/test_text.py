"""Escape sequences, control and hidden characters go; the words stay."""

from __future__ import annotations

import pytest

from capture.text import clean


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]never ended", "never ended"),
        ("\x1b[?25l\x1b[2Kline", "line"),
        ("\x1b(Btext\x1b=", "text"),
        ("cut\x1b", "cut"),
        ("cut\x1b[", "cut"),
        ("cut\x1b[31", "cut"),
        ("nul\0bel\x07back\x08", "nulbelback"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("bidi\u202eoverride\u2066isolate", "bidioverrideisolate"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("family 👨\u200d👩\u200d👧 stays", "family 👨\u200d👩\u200d👧 stays"),
        ("c1\x9b31mred", "c1red"),
        ("half\ud83d", "half\ufffd"),
        ("pair\ud83d\ude00", "pair😀"),
        ("한국어 прив", "한국어 прив"),
    ],
)
def test_clean(text: str, wanted: str) -> None:
    assert clean(text) == wanted
