"""Text from outside is safe to print, and widths are what they seem."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import dataclass
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from nmem.text import fit, fit_path, lines, pad, printable, to_json, width

ANY = st.text(st.characters(codec=None, exclude_categories=()), max_size=120)


@given(ANY)
def test_printable_has_no_control_and_can_be_encoded(text: str) -> None:
    shown = printable(text)
    assert not [char for char in shown if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp", "Cn")]
    shown.encode("utf-8")
    assert printable(shown) == shown


@given(ANY, st.integers(0, 60))
def test_fit_never_exceeds_and_pad_is_exact(text: str, cells: int) -> None:
    shown = printable(text)
    assert cell_len(fit(shown, cells)) <= cells
    assert cell_len(fit_path(shown, cells)) <= cells
    assert cell_len(pad(shown, cells)) == cells
    assert cell_len(pad(shown, cells, right=True)) == cells


@given(ANY)
def test_lines_are_printable(text: str) -> None:
    assert all(printable(line) == line for line in lines(text))


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "␛[31mred␛[0m"),
        ("a\nb\r\nc\td\x00", "a↵b↵c→d␀"),
        ("\x9b31m\x7f", "⍰31m␡"),
        ("abc\u202edef", "abc⍰def"),
        ("e\u0301\u0301\u0301\u0301", "e\u0301\u0301"),
        ("\ud800", "⍰"),
        ("plain [red]markup[/]", "plain [red]markup[/]"),
    ],
)
def test_examples(given: str, shown: str) -> None:
    assert printable(given) == shown


def test_wide_characters_are_not_split() -> None:
    assert fit("漢字漢字", 5) == "漢字…"
    assert width(pad("漢字漢字", 6)) == 6


def test_a_path_keeps_its_end() -> None:
    assert fit_path("src/aurora/api/upload.py", 16) == "…/api/upload.py"


def test_what_terminals_measure_differently_is_left_out_or_replaced() -> None:
    assert printable("👍🏽 \u3164\u115fx") == "👍 x"
    assert printable("☰ 𝍠 ㉈ ䷀") == "⍰ ⍰ ⍰ ⍰"


def test_a_duration_is_rounded_alike_wherever_it_is_told() -> None:
    from nmem.commands import terminal
    from nmem.stance import words

    ms = 7 * 60_000 + 59_000
    assert terminal.span(ms) == words.span(ms) == "7 min", "as 09:37 to 09:44 says"


class Point(NamedTuple):
    at: int


@dataclass(frozen=True)
class Path:
    points: tuple[Point, ...]
    named: dict[str, Point]
    _private: int = 0


def test_json_takes_records_as_they_are() -> None:
    found = to_json({"path": Path((Point(1), Point(2)), {"last": Point(2)}), "steps": iter([1.5, None, True])})
    assert json.loads(found) == {
        "path": {"points": [{"at": 1}, {"at": 2}], "named": {"last": {"at": 2}}},
        "steps": [1.5, None, True],
    }
