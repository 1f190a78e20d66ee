"""Any text is redacted without an error, without harm to what is plain, and in time that grows with its length."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capture.redaction import find, redact, redact_tree
from capture.text import clean

FRAGMENTS = [
    "password", "token=", "key ", "secret: ", "://a:", "@", "eyJ", "-----BEGIN RSA PRIVATE " + "KEY-----\n",
    "-----END RSA PRIVATE " + "KEY-----", "bearer ", "basic ", "-u a:", "mysql -p", "\\", '"', "'", "\n", "sk-", ".",
    "|", "-us", "aaaa", "x9Y", "<pwd>", "</pwd>", "kty d:\"", "identified by '", "\x1b[", "\x1b]", "=", "${", "{{",
    "%3D", "[", ",", "\u202e", "é", "İ", "\ud800", "AK" + "IA", "[REDACTED:token]",
]  # fmt: skip
SIZE = 32_768


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=60).map("".join))
@settings(max_examples=100, deadline=None)
def test_spans_are_in_order_and_inside_the_text(text: str) -> None:
    last = 0
    for begin, end, kind in find(text):
        assert last <= begin < end <= len(text)
        assert kind
        last = end


@given(st.text())
@settings(max_examples=80, deadline=None)
def test_any_text_can_be_stored_once_it_is_clean(text: str) -> None:
    cleaned = clean(text)
    cleaned.encode()
    assert "\x1b" not in cleaned
    assert "\0" not in cleaned
    assert clean(cleaned) == cleaned
    redact(cleaned)


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=30).map("".join))
@settings(max_examples=80, deadline=None)
def test_a_second_time_changes_nothing(text: str) -> None:
    once = redact(clean(text))
    assert redact(once).count("[REDACTED") >= once.count("[REDACTED")


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(),
                    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20))  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_trees_keep_their_shape(tree: object) -> None:
    def shape(value: object) -> object:
        if isinstance(value, dict):
            return [shape(item) for item in value.values()]
        if isinstance(value, list):
            return [shape(item) for item in value]
        return type(value)

    out = redact_tree(tree)
    if not isinstance(tree, dict) or len(tree) == len(out):  # type: ignore[arg-type]
        assert isinstance(out, type(tree))
    if isinstance(tree, list):
        assert len(out) == len(tree)  # type: ignore[arg-type]


@pytest.mark.parametrize("unit", [*FRAGMENTS, "password=", 'password="', "pass:", "eyJaaaaaaaa.", '"token","',
                                  '"token":["aaaa","bbbb",', "-eyJ", "0/1234567890:", "SG.aaaaaaaaaaaaaaaaaaaa.",
                                  "token" + " " * 30, "cookie: ", "kind: Secret\n", "kind: Secret\ndata:\n  a: b\n",
                                  "password {", "curl -u", "key=a[",
                                  'pass"' + "\\" * 20, "t1.aaaaaaaa", "key = \t"])  # fmt: skip
def test_time_grows_with_the_length_and_not_with_its_square(unit: str) -> None:
    """Against plain prose of the same size on the same machine, so a slow machine does not fail it."""
    redact("password = 'warm up'")
    hostile = (unit * (SIZE // len(unit) + 1))[:SIZE]
    whole = _seconds(hostile)
    if whole >= 0.04:  # what is less is little, whatever a quarter of it takes
        quarter = min(_seconds(hostile[: SIZE // 4]) for _ in range(2))
        whole = min(whole, _seconds(hostile))
        assert whole < max(12 * quarter, 0.04)
    assert whole < 5.0


def _seconds(text: str) -> float:
    start = time.process_time()
    redact(clean(text))
    return time.process_time() - start
