"""Words of texts: identifiers whole and in parts, endings, stop words, scripts without blanks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmem.retrieval.words import LONGEST, stem, words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("ASGIStaticFilesHandler", ["asgistaticfileshandler", "asgi", "static", "file", "handler"]),
        ("static_files", ["static_files", "static", "file"]),
        ("The tests are failing in the parser", ["test", "fail", "parser"]),
        ("ask it why", ["ask"]),
        ("não é o teste", ["test"]),
        ("회원가입 오류", ["회원", "원가", "가입", "오류"]),
        ("a" * (LONGEST + 1), []),
    ],
)
def test_a_text_is_cut_into_the_words_that_it_can_be_found_by(text: str, found: list[str]) -> None:
    assert words(text) == found


@pytest.mark.parametrize(
    "forms",
    [
        ("test", "tests", "tested", "testing"),
        ("cache", "caches", "cached", "caching"),
        ("query", "queries"),
        ("stop", "stopped", "stopping"),
        ("change", "changing"),
    ],
)
def test_forms_of_an_english_word_are_one(forms: tuple[str, ...]) -> None:
    assert len({stem(form) for form in forms}) == 1


@given(st.text(max_size=400))
def test_any_text_has_words_without_an_error_and_none_is_empty_or_long(text: str) -> None:
    assert all(0 < len(word) <= LONGEST + 1 for word in words(text))
