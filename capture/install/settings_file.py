"""Edits a JSON settings file in place, leaving all other text untouched.

Comments, key order, indentation, line ends and a byte order mark stay as they are. A path is a tuple of names and
positions from the root. What `insert` puts in, `remove` takes out to the byte; only a container that was empty but
not written `{}` or `[]` has to be told how it looked (`left`).
"""

from __future__ import annotations

import json
import re

from capture.install.jsonc import BadJson, Node, parse

Path = tuple[str | int, ...]

_LAST_COMMENT = re.compile(r"(?:[ \t\r\n]*(?://[^\r\n]*|/\*[\s\S]*?\*/))*")


def find(root: Node, path: Path) -> Node | None:
    """The node at a path, or None."""
    node: Node | None = root
    for step in path:
        if node is None:
            return None
        if isinstance(step, str):
            node = node.member(step) if node.kind == "object" else None
        else:
            node = node.items[step] if node.kind == "array" and 0 <= step < len(node.items) else None
    return node


def value_at(text: str, path: Path, comments: bool = True) -> object:
    """The plain value at a path; None where there is nothing."""
    node = find(parse(text, comments), path)
    return None if node is None else node.plain()


def _newline(text: str) -> str:
    end = text.find("\n")
    return "\r\n" if end > 0 and text[end - 1] == "\r" else "\n"


def _indent_of(text: str, position: int) -> str:
    """The white space that the line of a position begins with."""
    start = max(text.rfind("\n", 0, position), text.rfind("\r", 0, position)) + 1
    if start == 0 and text.startswith("\ufeff"):
        start = 1
    found = re.compile(r"[ \t]*").match(text, start)
    return found.group() if found else ""


def _unit(text: str, root: Node) -> str:
    """One step of indentation, as the file does it; two spaces when it does not say."""
    todo = [root]
    while todo:
        node = todo.pop(0)
        for child in node.items:
            outer, inner = _indent_of(text, node.start), _indent_of(text, child.key_start)
            if inner.startswith(outer) and len(inner) > len(outer) and "\n" in text[node.start : child.key_start]:
                return inner[len(outer) :]
        todo += node.items
    return "  "


def _one_line(text: str, node: Node) -> bool:
    """Whether a container that has items is written without line breaks between them."""
    return bool(node.items) and not re.search(r"[\r\n]", text[node.start : node.items[-1].key_start])


def _inline_style(text: str) -> tuple[str, str]:
    """How a one-line file separates: after commas and after colons."""
    spaced = re.search(r'":[ \t]', text) is not None or re.search(r'":', text) is None
    return (", ", ": ") if spaced else (",", ":")


def _render(text: str, root: Node, value: object, indent: str | None) -> str:
    """JSON text of a value in the file's style; `indent` is that of its line, None keeps it on one line."""
    if indent is None:
        return json.dumps(value, ensure_ascii=False, separators=_inline_style(text))
    out = json.dumps(value, ensure_ascii=False, indent=_unit(text, root))
    return out.replace("\n", _newline(text) + indent)


def _member_text(text: str, key: str | None, rendered: str, inline: bool) -> str:
    if key is None:
        return rendered
    colon = _inline_style(text)[1] if inline else ": "
    return json.dumps(key, ensure_ascii=False) + colon + rendered


def _into_empty(text: str, root: Node, node: Node, key: str | None, value: object) -> str:
    interior = text[node.start + 1 : node.end - 1]
    outer = _indent_of(text, node.start)
    line = _newline(text) + outer + _unit(text, root)
    new = _member_text(text, key, _render(text, root, value, outer + _unit(text, root)), False)
    if interior.strip():  # only a comment is in it: stay behind it
        return (
            text[: node.start + 1]
            + interior.rstrip(" \t\r\n")
            + line
            + new
            + _newline(text)
            + outer
            + text[node.end - 1 :]
        )
    return text[: node.start + 1] + line + new + _newline(text) + outer + text[node.end - 1 :]


def insert(text: str, path: Path, key: str | None, value: object, comments: bool = True) -> str:
    """The text with one more item at the end of the container at `path`: a member `key`, or an array's item."""
    root = parse(text, comments)
    node = find(root, path)
    if node is None or node.kind != ("array" if key is None else "object"):
        raise BadJson(f"{'.'.join(map(str, path)) or 'the file'} is not {'a list' if key is None else 'an object'}")
    if not node.items:
        return _checked(_into_empty(text, root, node, key, value), comments)
    inline = _one_line(text, node)
    last = node.items[-1]
    indent = None if inline else _indent_of(text, last.key_start)
    new = _member_text(text, key, _render(text, root, value, indent), inline)
    comma = node.trailing_comma
    at = comma + 1 if comma >= 0 else last.end
    found = _LAST_COMMENT.match(text, at) if comments else None
    anchor = found.end() if found else at
    gap = _newline(text) + (indent or "")
    if inline and not text[at:anchor].rpartition("*/")[2].lstrip().startswith("//"):
        gap = " " if _inline_style(text)[0] == ", " else ""
    if comma >= 0:
        return _checked(text[:anchor] + gap + new + "," + text[anchor:], comments)
    return _checked(text[: last.end] + "," + text[last.end : anchor] + gap + new + text[anchor:], comments)


def _comma_between(text: str, start: int, end: int) -> int:
    """Where the comma between two items stands, comments aside."""
    at = start
    while at < end:
        found = _LAST_COMMENT.match(text, at)
        at = found.end() if found else at
        if text[at] == ",":
            return at
        at += 1
    raise BadJson("a comma was expected")


def _in_line_comment(gap: str) -> bool:
    """Whether the end of a gap (comments, white space, one comma) still belongs to a // comment."""
    for found in re.finditer(r"/\*[\s\S]*?\*/|//[^\r\n]*", gap):
        if found.group().startswith("//") and found.end() == len(gap):
            return True
    return False


def _cut(text: str, floor: int, start: int, end: int) -> str:
    """Take text[start:end] out together with the white space before it, unless that would lengthen a comment.

    `floor` is where the gap before it begins.
    """
    before = floor + len(text[floor:start].rstrip(" \t\r\n"))
    rest = text[end:].lstrip(" \t")
    if _in_line_comment(text[floor:before]) and rest[:1] not in ("\r", "\n", ""):
        before = start
    return text[:before] + text[end:]


def remove(text: str, path: Path, left: str | None = None, comments: bool = True) -> str:
    """The text without the item at `path`; a container that becomes empty is written `left`, else `{}` or `[]`."""
    root = parse(text, comments)
    node, parent = find(root, path), find(root, path[:-1])
    if node is None or parent is None or not path:
        return text
    index = next(i for i, item in enumerate(parent.items) if item is node)
    if len(parent.items) == 1:
        return _checked(_emptied(text, parent, node, left), comments)
    floor = parent.items[index - 1].end if index else parent.start + 1
    if index < len(parent.items) - 1:
        comma = _comma_between(text, node.end, parent.items[index + 1].key_start)
    elif parent.trailing_comma >= 0:
        comma = parent.trailing_comma
    else:
        comma = _comma_between(text, floor, node.key_start)
        return _checked(_without(_cut(text, floor, node.key_start, node.end), comma), comments)
    return _checked(_cut(_without(text, comma), floor, node.key_start, node.end), comments)


def _without(text: str, at: int) -> str:
    return text[:at] + text[at + 1 :]


def _emptied(text: str, parent: Node, node: Node, left: str | None) -> str:
    """The text once a container has lost its only item; comments of the user's own stay."""
    if left is not None:
        return text[: parent.start] + left + text[parent.end :]
    if parent.trailing_comma >= 0:
        text = _without(text, parent.trailing_comma)
    end = parent.end - (1 if parent.trailing_comma >= 0 else 0)
    before, after = text[parent.start + 1 : node.key_start], text[node.end : end - 1]
    if not (before + after).strip():
        return text[: parent.start] + ("{}" if parent.kind == "object" else "[]") + text[end:]
    return _cut(text, parent.start + 1, node.key_start, node.end)


def replace(text: str, path: Path, value: object, comments: bool = True) -> str:
    """The text with another value at `path`."""
    root = parse(text, comments)
    node, parent = find(root, path), find(root, path[:-1])
    if node is None:
        raise BadJson(f"nothing at {'.'.join(map(str, path))}")
    if node.plain() == value and type(node.plain()) is type(value):
        return text
    inline = parent is not None and _one_line(text, parent)
    rendered = _render(text, root, value, None if inline else _indent_of(text, node.key_start))
    return _checked(text[: node.start] + rendered + text[node.end :], comments)


def _checked(text: str, comments: bool) -> str:
    """The text, which must still be JSON: an edit that breaks a file is refused, never written."""
    parse(text, comments)
    return text
