"""A response as text: every shape, and no picture."""

from __future__ import annotations

import base64
import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capture.clients import output

PICTURE = base64.b64encode(b"\x89PNG\r\n\x1a\n" + random.Random(1).randbytes(40_000)).decode()
PAPER = base64.b64encode(b"%PDF-1.7\n" + random.Random(2).randbytes(40_000)).decode()


@pytest.mark.parametrize(
    "response",
    [
        PICTURE,
        f"see data:image/png;base64,{PICTURE} there",
        f'{{"image":"{PICTURE}"}}',
        [{"type": "image", "source": {"type": "base64", "data": PICTURE}}],
        {"type": "image", "file": {"base64": PICTURE}},
        {"content": [{"type": "document", "source": {"data": PAPER}}]},
        {"pages": [{"anything": PAPER}]},
        [{"inlineData": {"mimeType": "image/png", "data": PICTURE}}],
        {"nested": {"data": "Z" * 50_000}},
        f"{PICTURE}\n{PICTURE}\n{PAPER}",
    ],
)
def test_base64_never_enters_the_text(response: object) -> None:
    said = output.flat(response)
    assert len(said) < 200
    for blob in (PICTURE, PAPER, "Z" * 100):
        assert blob[50:150] not in said


def test_text_around_a_picture_stays() -> None:
    said = output.without_blobs(f"before ![x](data:image/png;base64,{PICTURE}) after")
    assert said == "before ![x](data:image/png;base64,[base64]) after"


def test_short_and_ordinary_texts_stay_as_they_are() -> None:
    for text in ("GET /9j/ok", "base64, as in the manual", "x" * 5000, "iVBORw0KGgo begins a PNG. " * 20):
        assert output.without_blobs(text) == text


def test_a_large_text_costs_little() -> None:
    text = ("a line of a log with /9j/ in it, base64, and more\n" * 40_000)[:2_000_000]
    start = time.process_time()
    assert output.without_blobs(text) == text
    assert time.process_time() - start < 20


KEYS = st.sampled_from(["content", "type", "text", "data", "x", "stdout", "resource", "source"])
LEAF = st.none() | st.booleans() | st.floats() | st.text()


@given(st.recursive(LEAF, lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner)))
def test_any_response_is_a_text(response: object) -> None:
    assert isinstance(output.flat(response), str)


def test_a_deep_response_ends() -> None:
    deep: object = "end"
    for _ in range(5000):
        deep = [deep]
    assert output.flat(deep) == ""
    nested: object = "end"
    for _ in range(5000):
        nested = {"x": nested}
    assert isinstance(output.flat(nested), str)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Exit code: 2\nmore", 2),
        ("out\n<exited with exit code 1>", 1),
        ("out\n[Process exited with code 127]\n", 127),
        ("Command failed with exit code -9", -9),
        ("the manual says that exit code 3 means no", None),
        ("exit code: none", None),
        ("Exit code 99999999999999999999", None),
        ("", None),
    ],
)
def test_an_exit_code_that_a_text_states(text: str, code: int | None) -> None:
    assert output.stated_code(text) == code
