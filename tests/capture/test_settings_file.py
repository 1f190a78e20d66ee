"""Edits of settings files: what is put in comes out to the byte, and nothing else is ever touched."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capture.install.jsonc import BadJson, Node, parse
from capture.install.settings_file import find, insert, remove, replace, value_at

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**9), 10**9),
    st.text(max_size=12),
    st.sampled_from(["}{//", "/*", '"', "\\"]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=6), inner, max_size=4)),
    max_leaves=12,
)
SPACE = st.text(alphabet=" \t\n", max_size=3)
COMMENT = st.sampled_from(["", "", "", "/* a } , */", '// b ] "\n', "/**/", "//\n", "/* x\n y */"])


@st.composite
def gap(draw: st.DrawFn, comments: bool) -> str:
    """White space, and a comment where the format has them."""
    return draw(SPACE) + (draw(COMMENT) + draw(SPACE) if comments else "")


@st.composite
def written(draw: st.DrawFn, value: Any, comments: bool) -> str:
    """One of the many ways to write a value."""
    space = gap(comments)
    if isinstance(value, (dict, list)):
        opener, closer = ("{", "}") if isinstance(value, dict) else ("[", "]")
        items = []
        for entry in value.items() if isinstance(value, dict) else value:
            if isinstance(value, dict):
                key = json.dumps(entry[0], ensure_ascii=draw(st.booleans())) + draw(space) + ":" + draw(space)
                items.append(key + draw(written(entry[1], comments)))
            else:
                items.append(draw(written(entry, comments)))
        body = "".join(
            draw(space) + item + draw(space) + ("," if i < len(items) - 1 else "") for i, item in enumerate(items)
        )
        if items and comments and draw(st.booleans()):
            body += "," + draw(space)
        return opener + (body or draw(space)) + closer
    return json.dumps(value, ensure_ascii=draw(st.booleans()))


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, Any, bool]:
    """A text, its value, and whether comments are allowed in it."""
    comments = draw(st.booleans())
    value = draw(st.dictionaries(st.text(max_size=6), VALUES, max_size=4))
    text = draw(gap(comments)) + draw(written(value, comments)) + draw(gap(comments))
    return (text.replace("\n", "\r\n") if draw(st.booleans()) else text), value, comments


def paths(node: Node, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Every container's path."""
    out = [path] if node.kind != "scalar" else []
    for index, item in enumerate(node.items):
        out += paths(item, (*path, node.keys[index] if node.kind == "object" else index))
    return out


@given(documents())
@settings(max_examples=50, deadline=None)
def test_any_document_is_read_as_json_reads_it(document: tuple[str, Any, bool]) -> None:
    text, value, comments = document
    assert parse(text, comments).plain() == value
    if not comments:
        assert json.loads(text) == value


@given(documents(), VALUES, st.data())
@settings(max_examples=100, deadline=None)
def test_what_is_inserted_comes_out_to_the_byte(document: tuple[str, Any, bool], new: Any, data: st.DataObject) -> None:
    text, value, comments = document
    root = parse(text, comments)
    path = data.draw(st.sampled_from(paths(root)))
    node = find(root, path)
    assert node is not None
    key = "nmem\u00e9 key" if node.kind == "object" else None
    after = insert(text, path, key, new, comments)

    expected = json.loads(json.dumps(value))
    holder = expected
    for step in path:
        holder = holder[step]
    holder.append(new) if key is None else holder.__setitem__(key, new)
    assert parse(after, comments).plain() == expected

    left = None if node.items else text[node.start : node.end]
    step = key if key is not None else len(node.items)
    assert remove(after, (*path, step), left, comments) == text


@given(documents(), st.data())
@settings(max_examples=75, deadline=None)
def test_removing_or_replacing_any_item_leaves_the_others(document: tuple[str, Any, bool], data: st.DataObject) -> None:
    text, value, comments = document
    items = [
        (*path, step) for path in paths(parse(text, comments)) for step in _steps(find(parse(text, comments), path))
    ]
    if not items:
        return
    path = data.draw(st.sampled_from(items))
    expected = json.loads(json.dumps(value))
    holder = expected
    for step in path[:-1]:
        holder = holder[step]
    replaced = replace(text, path, {"n": [1]}, comments)
    holder[path[-1]] = {"n": [1]}
    assert parse(replaced, comments).plain() == expected
    del holder[path[-1]]
    after = remove(text, path, None, comments)
    assert parse(after, comments).plain() == expected
    assert after.count("/* a } , */") == text.count("/* a } , */") or _holds(text, path, comments, "/*")


def _steps(node: Node | None) -> list[str | int]:
    assert node is not None
    return list(node.keys) if node.kind == "object" else list(range(len(node.items)))


def _holds(text: str, path: tuple[str | int, ...], comments: bool, mark: str) -> bool:
    node = find(parse(text, comments), path)
    return node is not None and mark in text[node.key_start : node.end]


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("", "line 1, column 1"),
        ("{", "line 1, column 2"),
        ('{"a": 1,}', "line 1, column 8"),
        ('{\n  "a" 1}', "line 2, column 7"),
        ("{'a': 1}", "line 1, column 2"),
        ('{"a": 01}', "line 1, column 8"),
        ('{"a": "\n"}', "line 1, column 7"),
        ('{"a": 1} x', "line 1, column 10"),
        ("{} // c", "line 1, column 4"),
        ('{"a": NaN}', "line 1, column 7"),
        ("[" * 5000, "nested too deep"),
    ],
)
def test_what_is_not_json_is_refused_with_its_place(text: str, where: str) -> None:
    with pytest.raises(BadJson, match=where):
        parse(text, comments=False)


def test_indentation_line_ends_and_comments_are_the_files_own() -> None:
    text = '{\r\n\t"theme": "dark", // why\r\n\t"hooks": {\r\n\t\t"Stop": []\r\n\t}\r\n\t// the end\r\n}\r\n'
    after = insert(text, ("hooks",), "Go", [{"a": 1}])
    assert after == (
        '{\r\n\t"theme": "dark", // why\r\n\t"hooks": {\r\n\t\t"Stop": [],\r\n\t\t"Go": [\r\n\t\t\t{\r\n'
        '\t\t\t\t"a": 1\r\n\t\t\t}\r\n\t\t]\r\n\t}\r\n\t// the end\r\n}\r\n'
    )


def test_a_new_last_member_does_not_steal_a_comment() -> None:
    text = '{\n  "a": 1 // about a\n}'
    assert insert(text, (), "b", 2) == '{\n  "a": 1, // about a\n  "b": 2\n}'


def test_a_one_line_file_stays_on_one_line() -> None:
    assert insert('{"a":1}', (), "b", [2, {"c": 3}]) == '{"a":1,"b":[2,{"c":3}]}'
    assert insert('{"a": 1}', (), "b", [2, 3]) == '{"a": 1, "b": [2, 3]}'


def test_of_a_name_that_stands_twice_the_last_counts() -> None:
    text = '{"a": 1, "a": {"b": 2}}'
    assert value_at(text, ("a", "b")) == 2
    assert value_at(replace(text, ("a", "b"), 3), ("a", "b")) == 3


def test_inserting_into_something_else_is_refused() -> None:
    with pytest.raises(BadJson, match="hooks is not an object"):
        insert('{"hooks": []}', ("hooks",), "Stop", [])
    with pytest.raises(BadJson, match=r"hooks\.Stop is not a list"):
        insert('{"hooks": {"Stop": 1}}', ("hooks", "Stop"), None, {})
