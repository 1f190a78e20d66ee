"""Errors keep their cause and lose their paths, numbers and days."""

from __future__ import annotations

import importlib.util
import string
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nmem.learn import errors
from nmem.learn.errors.normal import normal
from nmem.learn.errors.rules import KEY, LINE, MOST

_spec = importlib.util.spec_from_file_location("learn_samples", Path(__file__).with_name("samples.py"))
assert _spec and _spec.loader
samples = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(samples)
SAMPLES = samples.SAMPLES


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: f"{sample.ecosystem}: {sample.one[:30]!r}")
def test_one_cause_is_one_key_wherever_it_is_met(sample: Any) -> None:
    one, other = errors.signatures(sample.one), errors.signatures(sample.other)
    assert one and other
    assert one[0].key == other[0].key
    assert (one[0].ecosystem, one[0].nature) == (sample.ecosystem, sample.nature)


def test_different_causes_are_different_keys() -> None:
    keys = [errors.signatures(sample.one)[0].key for sample in SAMPLES]
    assert len(set(keys)) == len(keys), sorted(key for key in keys if keys.count(key) > 1)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("FAILED tests/test_cart.py::test_total - assert 1", "FAILED tests/test_cart.py::test_refund - assert 1"),
        ("ModuleNotFoundError: No module named 'yaml'", "ModuleNotFoundError: No module named 'toml'"),
        (
            "error TS2339: Property 'a' does not exist on type 'B'.",
            "error TS2339: Property 'c' does not exist on type 'B'.",
        ),
        ("--- FAIL: TestA (0.0s)", "--- FAIL: TestB (0.0s)"),
        ("x.go:1:1: G104: Errors unhandled (gosec)", "x.go:1:1: G304: file inclusion via variable (gosec)"),
        ('npm error Missing script: "a:b"', 'npm error Missing script: "a:c"'),
        ("bash: foo: command not found", "bash: bar: command not found"),
        ("File does not exist: /a/web/x.ts", "File does not exist: /a/api/x.ts"),
    ],
)
def test_what_is_the_cause_is_not_taken_out(one: str, other: str) -> None:
    assert errors.signatures(one)[0].key != errors.signatures(other)[0].key


@pytest.mark.parametrize("text", samples.REFUSED)
def test_what_somebody_did_not_let_run_has_not_failed(text: str) -> None:
    assert errors.refused(text)
    assert errors.signatures(text) == ()


@pytest.mark.parametrize("text", samples.SILENT)
def test_ordinary_output_is_no_error(text: str) -> None:
    assert errors.signatures(text) == ()


def test_an_output_may_tell_of_several_errors_each_once() -> None:
    text = "a.go:1:2: undefined: X\na.go:9:2: undefined: X\na.go:3:1: undefined: Y\n"
    assert [one.key for one in errors.signatures(text)] == ["go: a.go undefined: X", "go: a.go undefined: Y"]


@given(st.text(max_size=3_000))
@settings(max_examples=75, deadline=None)
def test_any_text_is_read(text: str) -> None:
    for one in errors.signatures(text):
        assert len(one.key) <= KEY
        assert len(one.title) <= KEY
        assert len(one.line) <= LINE
        assert one.title.strip()


_PIECES = st.sampled_from(
    ["error", "Error:", "error[E", "TS2339:", "'", '"', "`", "No such file", "cd:", "/a/b.py:3", "FAILED", "::", "(",
     ")", "E   ", "\n", "npm ERR!", "fatal:", "denied", "(errcheck)", ".go:1:2:", "● a › b", "No module named",
     "\x1b[31m"]
)  # fmt: skip


@given(st.lists(_PIECES, max_size=60).map(" ".join))
@settings(max_examples=75, deadline=None)
def test_broken_output_is_read(text: str) -> None:
    assert len(errors.signatures(text)) <= MOST


@given(
    st.sampled_from(SAMPLES),
    st.lists(st.text(string.ascii_lowercase, min_size=3, max_size=8), min_size=2, max_size=4),
    st.integers(1, 99_999),
)
@settings(max_examples=100, deadline=None)
def test_another_checkout_and_other_places_are_the_same_error(sample: Any, folders: list[str], number: int) -> None:
    """The folder that files are in, and the lines that are told, never make another error."""
    moved = sample.one.replace("/home/ana/shop", "/" + "/".join(folders)).replace(":12:", f":{number}:")
    assert [one.key for one in errors.signatures(moved)] == [one.key for one in errors.signatures(sample.one)]


def test_a_long_output_is_read_from_both_ends() -> None:
    text = "x" * 40_000 + "\nbash: foo: command not found\n" + "y" * 100
    assert errors.signatures(text)[0].key == "shell: no command foo"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("at 2025-03-01T10:11:12Z in 12.5s", "at <time> in <n>"),
        ("0x7ffe12 in commit deadbeef12", "<addr> in commit <hash>"),
        ("open '/a/b' on port 8080", "open <value> on port <n>"),
        ("/tmp/tmpab12cd/out.txt", "out.txt"),
        ("see https://acme.dev/a/b?c=1", "see https://acme.dev"),
        ("id 123e4567-e89b-12d3-a456-426614174000", "id <id>"),
    ],
)
def test_normal_text(text: str, expected: str) -> None:
    assert normal(text) == expected


@given(st.text(max_size=400))
@settings(max_examples=75, deadline=None)
def test_normal_text_never_grows_much_and_never_fails(text: str) -> None:
    assert len(normal(text)) <= 6 * len(text) + 10
