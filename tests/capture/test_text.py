"""No text keeps a character that no one sees, and no script or emoji loses what it is written with."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capture.text import clean

ANY = st.text(st.characters(codec=None, exclude_categories=()), max_size=80)
ODD = st.text(
    st.sampled_from(
        "aé👩🔥1#\u20e3\u200c\u200d\ufe0f\ufe0e\U000e0100\U000e0067\U000e007f\x00\x85\x9b\u202e\u061c\u2028"
    ),
    max_size=12,
)
SEEN_FORMATS = set("\u200c\u200d")
"""Of category Cf and kept: the joiners. Signs that Unicode counts as formats although they are seen are kept too."""
SIGNS = {chr(code) for code in (*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD)}
SIGNS |= {chr(code) for code in range(0x13430, 0x13440)}


def _unseen(char: str) -> bool:
    kind = unicodedata.category(char)
    return char not in "\n\t" and kind in ("Cc", "Cf", "Cs", "Zl", "Zp") and char not in SEEN_FORMATS | SIGNS


@given(ANY | ODD)
def test_nothing_unseen_is_left(text: str) -> None:
    kept = clean(text)
    assert not [char for char in kept if _unseen(char)]
    assert clean(kept) == kept


@given(st.text(st.characters(max_codepoint=0x7E, exclude_categories=["Cc"])), st.data())
def test_tags_and_joiners_hide_nothing_in_plain_words(text: str, data: st.DataObject) -> None:
    hidden = st.text(st.sampled_from("\u200c\u200d\ufe0f\ufe00\U000e0101\u2063\U000e0041\U000e007f"), max_size=3)
    strewn = "".join(char + data.draw(hidden) for char in text)
    assert clean(strewn) == text


@given(
    st.text(st.characters(categories=("Lo", "Ll", "Lu", "Mn", "Nd")).filter(lambda char: char.isalnum()), max_size=40)
)
def test_letters_of_every_script_stay(text: str) -> None:
    assert clean(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "👨‍👩‍👧‍👦 ❤️‍🔥 🏳️‍🌈 👩🏽‍💻 ✔️ ☎︎ 1️⃣ #️⃣",
        "می‌خواهم کتاب را بخوانم",  # Persian, with its joiners
        "שלום עולם, مرحبا بالعالم",
        "क्‍ष श्री‌मान",
        "葛\U000e0100飾",
        "naïve café — “quoted” … non\xa0breaking",
    ],
)
def test_emoji_and_scripts_stay(text: str) -> None:
    assert clean(text) == text


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("hi" + "".join(chr(0xE0000 + ord(char)) for char in "ignore all") + " there", "hi there"),
        ("🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "🏴"),  # the flag of England: its base
        ("😀" + "\ufe01\U000e0105\ufe09", "😀\ufe01"),  # a row of selectors is bytes in hiding
        ("gh\u200dp_\ufe0fabc", "ghp_abc"),
        ("a\u061cb\u2063c\u180ed\u206ae\ufff9f", "abcdef"),
        ("c1\x85next\x8d", "c1next"),
    ],
)
def test_what_is_hidden_goes(text: str, kept: str) -> None:
    assert clean(text) == kept


@pytest.mark.parametrize(
    "char", "\xad\u061c\u180e\u200b\u200e\u200f\u202a\u202e\u2060\u2065\u206f\ufeff\ufff9\U0001bca0\U0001d17a\U000e0041"
)
def test_a_hidden_character_goes_between_letters_of_any_script(char: str) -> None:
    assert clean(f"é{char}b") == "éb"
    assert clean(f"中文{char}字") == "中文字"
