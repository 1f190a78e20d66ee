"""Parses JSON, also with comments, into nodes that know their start and end in the text.

Every node knows its span, so that an edit can touch its own characters and no others.
Comments and trailing commas are read for the formats that allow them; the caller says whether they do.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache

_GAP = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*[\s\S]*?\*/)*")
_SPACE = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"')
_SCALAR = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
_DEEPEST = 200


class BadJson(ValueError):
    """The text is not JSON; the message says where."""


class Node:
    """A value and where it stands: text[start:end]."""

    __slots__ = ("end", "items", "key_start", "keys", "kind", "start", "trailing_comma", "value")

    def __init__(self, kind: str, start: int) -> None:
        self.kind = kind
        """object, array or scalar."""
        self.start = start
        self.end = start
        self.key_start = start
        """Where the member begins: at its key in an object, at the value in an array."""
        self.keys: list[str] = []
        """The names of an object's items, in order; a name may stand twice."""
        self.items: list[Node] = []
        self.trailing_comma = -1
        """Where a comma stands after the last item, or -1."""
        self.value: object = None
        """Only of a scalar; plain() gives everybody's."""

    def member(self, key: str) -> Node | None:
        """The item of that name; the last one counts, as it does for every JSON reader."""
        for name, item in zip(reversed(self.keys), reversed(self.items), strict=True):
            if name == key:
                return item
        return None

    def plain(self) -> object:
        """The value as Python sees it."""
        if self.kind == "object":
            return {key: item.plain() for key, item in zip(self.keys, self.items, strict=True)}
        if self.kind == "array":
            return [item.plain() for item in self.items]
        return self.value


class _Reader:
    def __init__(self, text: str, comments: bool) -> None:
        self.text = text
        self.comments = comments
        self.gap = _GAP if comments else _SPACE

    def fail(self, at: int, what: str) -> BadJson:
        line = self.text.count("\n", 0, at) + 1
        column = at - (self.text.rfind("\n", 0, at) + 1) + 1
        return BadJson(f"line {line}, column {column}: {what}")

    def skip(self, at: int) -> int:
        found = self.gap.match(self.text, at)
        return found.end() if found else at

    def at(self, position: int) -> str:
        return self.text[position : position + 1]

    def value(self, at: int, depth: int) -> Node:
        if depth > _DEEPEST:
            raise self.fail(at, "nested too deep")
        opener = self.at(at)
        if opener in ("{", "["):
            return self.container(at, depth, "}" if opener == "{" else "]")
        node = Node("scalar", at)
        found = (_STRING if opener == '"' else _SCALAR).match(self.text, at)
        if not found:
            raise self.fail(at, "a value was expected" if opener else "the text ends too early")
        node.end = found.end()
        try:
            node.value = json.loads(found.group())
        except ValueError as error:  # a number of thousands of digits
            raise self.fail(at, str(error)) from None
        return node

    def container(self, start: int, depth: int, closer: str) -> Node:
        node = Node("object" if closer == "}" else "array", start)
        at = self.skip(start + 1)
        while self.at(at) != closer:
            at = self.skip(self.item(node, at, depth))
            if self.at(at) == ",":
                comma, at = at, self.skip(at + 1)
                if self.at(at) == closer:
                    if not self.comments:
                        raise self.fail(comma, "a comma before the closing bracket")
                    node.trailing_comma = comma
            elif self.at(at) != closer:
                raise self.fail(at, f"a comma or {closer} was expected")
        node.end = at + 1
        return node

    def item(self, node: Node, at: int, depth: int) -> int:
        key_start = at
        if node.kind == "object":
            found = _STRING.match(self.text, at)
            if not found:
                raise self.fail(at, "a name in double quotes was expected")
            node.keys.append(json.loads(found.group()))
            at = self.skip(found.end())
            if self.at(at) != ":":
                raise self.fail(at, "a colon was expected")
            at = self.skip(at + 1)
        child = self.value(at, depth + 1)
        child.key_start = key_start
        node.items.append(child)
        return child.end


@lru_cache(maxsize=8)  # whoever edits a text asks for its values many times, and changes no node
def parse(text: str, comments: bool = True) -> Node:
    """The one value of a text.

    Raises BadJson, whose message says line and column.
    """
    reader = _Reader(text, comments)
    root = reader.value(reader.skip(0), 0)
    end = reader.skip(root.end)
    if end != len(text):
        raise reader.fail(end, "nothing was expected after the value")
    return root
