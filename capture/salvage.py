"""Repairs a truncated JSON object: closes its head, and recovers its last fields from its tail."""

from __future__ import annotations

from capture.jsonio import BadJson, loads, raw_loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_CANDIDATES = 120
"""How many places of the tail are tried as the start of a field."""
_DEPTH = 4
_DEEPEST = 40
"""Levels of nesting that are followed; what lies deeper becomes text."""
_OWN_TAIL = 16_384
_KEY = "\x00open"
_OPEN = '{"\\u0000open":'
_LONG = 65_536
"""Characters from which a string is shortened."""
_ITEMS = 5_000
MARK = "\n[... {} bytes left out ...]\n"


class _Cut:
    """A head that was read up to its cut."""

    __slots__ = ("commas", "in_string", "members", "stack", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.stack: list[str] = []
        """Closing brackets of what is open at the cut."""
        self.commas: list[tuple[int, str]] = []
        """Where the last members ended, and what was open there."""
        self.members: list[tuple[int, str]] = []
        """The same of the outermost object."""
        self.in_string = False


def salvage(head: bytes, tail: bytes = b"", size: int = 0) -> dict[str, object] | None:
    """The object of which `head` is the start and `tail` the end of `size` bytes; None when there is no object.

    Whole members of the head stay as they are, a string that was cut keeps its start (and its end, where the tail
    shows it), and the members after it are taken from the tail as far as they are whole.
    """
    text = head.decode("utf-8", "ignore" if tail else "replace").lstrip("\ufeff \t\r\n")
    if not text.startswith("{"):
        return None
    cut = _read(text)
    value = _close(cut)
    if value is None:
        return None
    path = _path(value, cut)
    if not tail and (cut.stack or cut.in_string):
        return value
    found = _tail(tail.decode("utf-8", "ignore") if tail else text[-_OWN_TAIL:], len(path))
    if found is not None:
        _join(path, cut, found, size - len(head) - len(tail))
    return value


def _read(text: str) -> _Cut:
    """Find out what is open at the end of a text: brackets, and perhaps a string."""
    cut = _Cut(text)
    position, end = 0, len(text)
    while position < end:
        quote = text.find('"', position)
        _structure(cut, position, quote if quote >= 0 else end)
        if quote < 0:
            break
        position = _string_end(text, quote + 1)
        if position < 0:
            cut.in_string = True
            break
    return cut


def _structure(cut: _Cut, start: int, end: int) -> None:
    """Follow brackets and commas between two strings."""
    stack = cut.stack
    for index in range(start, end):
        char = cut.text[index]
        if char in "{[":
            stack.append("}" if char == "{" else "]")
        elif char in "}]" and stack:
            stack.pop()
        elif char == ",":
            place = (index, "".join(stack[:_DEEPEST]) if len(stack) <= _DEEPEST else "")
            if len(stack) == 1:
                cut.members.append(place)
            elif place[1]:
                cut.commas.append(place)
    del cut.commas[:-8], cut.members[:-64]


def _string_end(text: str, start: int) -> int:
    """Just after the quote that ends a string, or -1."""
    while True:
        quote = text.find('"', start)
        if quote < 0:
            return -1
        back = quote - 1
        while text[back] == "\\":
            back -= 1
        if (quote - back) % 2:
            return quote + 1
        start = quote + 1


def _close(cut: _Cut) -> dict[str, object] | None:
    """The head as an object, closed where it was cut or, if that does not parse, before its last members."""
    text = cut.text
    closing = "".join(reversed(cut.stack))
    if cut.in_string:
        for less in range(min(7, len(text))):
            value = _object(text[: len(text) - less] + '"' + closing)
            if value is not None:
                return value
    for attempt in ("", "null", ":null"):
        value = _object(text + attempt + closing)
        if value is not None:
            return value
    for index, stack in (*reversed(cut.commas), *reversed(cut.members)):
        value = _object(text[:index] + stack[::-1])
        if value is not None:
            return value
    return {} if cut.stack else None


def _object(text: str) -> dict[str, object] | None:
    try:
        value = loads(text)
    except BadJson:
        return None
    return value if isinstance(value, dict) else None


def _path(value: dict[str, object], cut: _Cut) -> list[dict[str, object]]:
    """The objects that are open at the cut, outermost first, as far as they are objects."""
    path: list[dict[str, object]] = [value]
    for closing in cut.stack[1:]:
        last = next(reversed(path[-1].values()), None) if path[-1] else None
        if closing != "}" or not isinstance(last, dict):
            break
        path.append(last)
    return path[:_DEPTH]


class _Found:
    """Members read from a tail: those of each object that was still open, innermost last."""

    __slots__ = ("levels", "start", "text")

    def __init__(self, text: str, start: int, levels: list[dict[str, object]]) -> None:
        self.text = text
        self.start = start
        self.levels = levels


def _tail(text: str, depth: int) -> _Found | None:
    """The members at the end of an object, read from the last place where all that follows is whole.

    A place is the comma before a member. It is a true one when the text from there closes exactly as many objects as
    were opened for it, at the very end; a comma inside a string never is.
    """
    text = text.rstrip()
    best: _Found | None = None
    for index in _places(text):
        for level in range(1, depth + 1):
            opened = _OPEN * (level - 1) + "{" + text[index + 1 :]
            try:
                value, end = raw_loads(opened)
            except BadJson:
                continue
            if end == len(opened) and isinstance(value, dict):
                best = _Found(text, index, _levels(value, level))
    return best


def _places(text: str) -> Iterator[int]:
    """Commas before what may be a key, from the end backwards."""
    tried, index = 0, text.rfind(",")
    while index >= 0 and tried < _CANDIDATES:
        if text[index + 1 : index + 12].lstrip()[:1] == '"':
            tried += 1
            yield index
        index = text.rfind(",", 0, index)


def _levels(value: dict[str, object], level: int) -> list[dict[str, object]]:
    out = [value]
    for _ in range(level - 1):
        inner = out[-1].pop(_KEY, None)
        if not isinstance(inner, dict):
            break
        out.append(inner)
    return out


def _join(path: list[dict[str, object]], cut: _Cut, found: _Found, dropped: int) -> None:
    """Put the tail's members where they belong: into the objects that were open at the cut."""
    top = next(reversed(path[0]), "")
    nested = top != "tool_input"  # between the arguments and the tail, a response may have begun
    if nested and cut.in_string and len(found.levels) == len(path):
        _string_tail(path[-1], found, dropped)
    for target, members in zip(path, found.levels, strict=False):
        if target is path[0] or nested:
            for key, member in members.items():
                target.setdefault(key, member)


def _string_tail(target: dict[str, object], found: _Found, dropped: int) -> None:
    """Give a string that was cut its end again: the last lines of an output say how it went."""
    key = next(reversed(target), "")
    value, text, end = target.get(key), found.text, found.start
    if not isinstance(value, str) or text[end - 1 : end] != '"':
        return
    start = text.find("\\n", 16)
    if start < 0 or start >= end or text[start - 1] == "\\":
        return
    try:
        rest, stop = raw_loads('"' + text[start + 2 : end])
    except BadJson:
        return
    if stop == end - start - 1 and isinstance(rest, str):
        target[key] = value + MARK.format(dropped + start) + rest


def shorten(value: object, depth: int = 0) -> object:
    """A payload without what nothing looks at: the middle of a very long string, the depth of a deep tree.

    A long string keeps whole lines of its start and of its end; a key block that lost its start loses its end as well.
    """
    if isinstance(value, str):
        return value if len(value) <= _LONG else _window(value)
    if depth > _DEEPEST:
        return "[...]" if isinstance(value, dict | list) else value
    if isinstance(value, dict):
        return {key: shorten(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [shorten(item, depth + 1) for item in value[:_ITEMS]]
    return value


def _window(text: str) -> str:
    head, tail = text[: _LONG * 3 // 4], text[-_LONG // 4 :]
    head = head[: head.rfind("\n") + 1] or head
    tail = tail[tail.find("\n") + 1 :] if "\n" in tail else ""
    end = tail.find("-----END ")
    if end >= 0 and "-----BEGIN " not in tail[:end]:
        tail = tail[end:].partition("\n")[2]
    return head + MARK.format(len(text) - len(head) - len(tail)) + tail
