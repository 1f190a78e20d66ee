"""JSON in and out without the json package, and what is saved of JSON that was cut."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capture.jsonio import BadJson, dumps, loads, raw_loads
from capture.salvage import MARK, salvage, shorten

LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4))
OBJECTS = st.dictionaries(st.text(), VALUES, max_size=6)


def storable(value: object) -> bool:
    return "\\ud" not in json.dumps(value).lower()


@given(VALUES)
def test_reads_what_json_writes(value: object) -> None:
    found = loads(json.dumps(value))
    assert found == value if storable(value) else json.dumps(found).encode()


@given(VALUES)
def test_json_reads_what_it_writes(value: object) -> None:
    assert json.loads(dumps(value)) == value


@given(st.text(max_size=60))
def test_any_text_is_a_value_or_refused(text: str) -> None:
    with contextlib.suppress(BadJson):
        loads(text)


def test_the_first_value_is_taken_and_its_end_is_told() -> None:
    assert raw_loads(' \ufeff{"a": 1} {"b": 2}') == ({"a": 1}, 10)


@pytest.mark.parametrize("text", ["", "  ", "{", '{"a"', "nope", "[1,]", "[" * 100_000])
def test_refuses_what_is_no_json(text: str) -> None:
    with pytest.raises(BadJson):
        loads(text)


def test_half_characters_are_replaced() -> None:
    value = loads('{"a\\ud800": ["\\udc00x", "\\ud83d\\ude00"]}')
    assert isinstance(value, dict)
    assert dumps(value).encode()
    assert list(value.values()) == [["\ufffdx", "😀"]]


def test_numbers_of_any_length_are_read() -> None:
    value = loads('{"n": ' + "9" * 50_000 + ', "f": 1e999, "c": NaN, "k": 12}')
    assert isinstance(value, dict)
    assert value["k"] == 12
    assert len(str(value["n"])) >= 4000
    assert value["c"] == "NaN"


def test_control_characters_inside_strings_are_read() -> None:
    assert loads('{"a": "one\ttwo\nthree\x01"}') == {"a": "one\ttwo\nthree\x01"}


def test_refuses_to_write_what_json_cannot_say() -> None:
    with pytest.raises(TypeError):
        dumps({"a": object()})


@given(OBJECTS, st.data())
@settings(max_examples=50)
def test_a_cut_object_keeps_its_whole_members(value: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    value = json.loads(text)
    cut = data.draw(st.integers(1, len(text)))
    found = salvage(text[:cut])
    assert isinstance(found, dict)
    for key in list(found)[:-1]:
        if key in value and key != list(found)[-1]:
            assert found[key] == value[key]


@given(st.binary(max_size=80), st.binary(max_size=80))
def test_salvaging_never_fails(head: bytes, tail: bytes) -> None:
    salvage(head, tail, len(head) + len(tail) + 10)
    salvage(b'{"a":{"b":"' + head, tail + b'"},"c":1}', 10_000)


def cut_out(payload: Mapping[str, object], head: int, tail: int) -> dict[str, Any]:
    text = json.dumps(payload).encode()
    assert len(text) > head + tail
    found = salvage(text[:head], text[-tail:], len(text))
    assert found is not None
    return found


def test_the_fields_after_a_huge_output_are_found_again() -> None:
    payload = {
        "session_id": "s", "tool_input": {"command": "pytest"},
        "tool_response": {"stdout": 'line "one", with \\ {braces}\n' * 4000 + "3 failed, 9 passed", "stderr": "warn",
                          "interrupted": False},
        "tool_use_id": "toolu_9", "duration_ms": 7,
    }  # fmt: skip
    found = cut_out(payload, 20_000, 8_000)
    assert (found["tool_use_id"], found["duration_ms"]) == ("toolu_9", 7)
    assert found["tool_response"]["interrupted"] is False
    assert found["tool_response"]["stderr"] == "warn"
    assert found["tool_response"]["stdout"].startswith('line "one"')
    assert found["tool_response"]["stdout"].endswith("3 failed, 9 passed")
    assert MARK.partition("{")[0] in found["tool_response"]["stdout"]


def test_what_follows_huge_arguments_is_not_taken_for_arguments() -> None:
    payload = {
        "session_id": "s", "tool_input": {"file_path": "/a", "content": "x = 1\n" * 9000},
        "tool_response": {"type": "create", "structuredPatch": [], "ok": True}, "tool_use_id": "toolu_9",
    }  # fmt: skip
    found = cut_out(payload, 10_000, 200)
    assert found["tool_use_id"] == "toolu_9"
    assert set(found["tool_input"]) == {"file_path", "content"}


def test_text_that_looks_like_a_field_is_not_one() -> None:
    payload = {"session_id": "s", "out": "y" * 9000 + ',"tool_use_id":"forged"}', "tool_use_id": "true"}
    assert cut_out(payload, 1000, 400)["tool_use_id"] == "true"


def test_a_tree_of_any_depth_keeps_the_fields_around_it() -> None:
    text = b'{"session_id":"s","deep":' + b"[" * 90_000 + b"]" * 90_000 + b',"tool_use_id":"t"}'
    found = salvage(text)
    assert found is not None
    assert (found["session_id"], found["tool_use_id"]) == ("s", "t")


def test_long_strings_keep_whole_lines_of_both_ends() -> None:
    found = shorten({"a": ["first\n" + "middle line\n" * 20_000 + "last"], "b": "short"})
    assert isinstance(found, dict)
    text = found["a"][0]
    assert found["b"] == "short"
    assert len(text) < 70_000
    assert text.startswith("first\n")
    assert text.endswith("\nlast")
    assert set(text.splitlines()[1:-1]) - {"middle line", ""} == {next(x for x in text.splitlines() if "left out" in x)}


def test_a_key_block_whose_start_was_left_out_loses_its_end() -> None:
    block = "A1b2" * 16 + "\n"
    text = "log\n" * 20_000 + "-----BEGIN PRIVATE KEY-----\n" + block * 400 + "-----END PRIVATE KEY-----\nafter"
    found = shorten(text)
    assert isinstance(found, str)
    assert "A1b2" not in found
    assert found.endswith("after")
