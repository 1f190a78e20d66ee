"""Adds, updates and removes the MCP server entry in a TOML settings file; all other text stays untouched.

Every edit is read back by a TOML parser: when anything but nmem's own entry would change, nothing does.
"""

from __future__ import annotations

import json
import re
import tomllib

from capture.install import servers
from capture.install.servers import NAME, Server

TYPE_CHECKING = False
if TYPE_CHECKING:
    from capture.install.hook_entries import Left

_KEY = "mcp_servers"
_HEADER = re.compile(
    rf'^[ \t]*\[[ \t]*{_KEY}[ \t]*\.[ \t]*(?:{NAME}|"{NAME}")[ \t]*\][ \t]*(?:#[^\r\n]*)?\r?$', re.MULTILINE
)
_NEXT = re.compile(r"^[ \t]*\[", re.MULTILINE)
_BELOW = re.compile(rf'[ \t]*\[[ \t]*{_KEY}[ \t]*\.[ \t]*(?:{NAME}|"{NAME}")[ \t]*\.[ \t]*(?P<name>[^]\r\n]*?)[ \t]*\]')
"""A table of its own below nmem's."""
_OWN = re.compile(r"^[ \t]*(?:command|args|env)[ \t]*=[^\r\n]*\r?\n?", re.MULTILINE)
_DATABASE_LINE = re.compile(rf"^[ \t]*{servers.DATABASE}[ \t]*=[^\r\n]*\r?\n?", re.MULTILINE)
_END = ("end",)
"""Under which `left` remembers that the file did not end with a line break."""


class Odd(ValueError):
    """The entry is written in a way that is not nmem's to take apart."""


def _entry(text: str) -> object:
    found = tomllib.loads(text).get(_KEY)
    return found.get(NAME) if isinstance(found, dict) else None


def _without(text: str) -> dict[str, object]:
    """Everything that the file says, nmem's entry aside."""
    document = tomllib.loads(text)
    found = document.get(_KEY)
    if isinstance(found, dict):
        found.pop(NAME, None)
        if not found:
            del document[_KEY]
    return document


def _value(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_value(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _own_lines(server: Server, newline: str) -> str:
    return "".join(f"{key} = {_value(server[key])}{newline}" for key in ("command", "args", "env") if key in server)


def _block(text: str) -> tuple[int, int, int] | None:
    """Where nmem's table stands: its header, what is in it, its end."""
    header = _HEADER.search(text)
    if header is None:
        return None
    inside = min(header.end() + 1, len(text))
    return header.start(), inside, _end(text, inside)


def _end(text: str, inside: int) -> int:
    following = _NEXT.search(text, inside)
    return following.start() if following else len(text)


def _below(text: str, end: int) -> list[tuple[int, int, str]]:
    """The tables right below nmem's: where each begins, where what is in it ends, its name."""
    out = []
    while found := _BELOW.match(text, end):
        start, end = end, _end(text, found.end())
        out.append((start, end, found["name"].strip("\"'")))
    return out


def _renewed(text: str, server: Server, newline: str) -> str:
    """The text with nmem's own lines of its table, and of a table of its environment, as they should be."""
    place = _block(text)
    if place is None:
        raise Odd(f"{_KEY}.{NAME} is not a table of its own")
    _, inside, end = place
    apart = next((one for one in _below(text, end) if one[2] == "env"), None)
    env = server.get("env")
    if apart is not None and isinstance(env, dict):  # its lines are where their owner put them
        start, close, _ = apart
        head = text.index("\n", start) + 1 if "\n" in text[start:close] else close
        kept = _DATABASE_LINE.sub("", text[head:close])
        mine = f"{servers.DATABASE} = {_value(env[servers.DATABASE])}{newline}" if servers.DATABASE in env else ""
        text = text[:head] + mine + kept + text[close:]
    elif apart is not None:
        text = text[: apart[0]] + text[apart[1] :]
    lines = _own_lines(server if apart is None else {key: server[key] for key in server if key != "env"}, newline)
    before = text[:inside] if text[:inside].endswith("\n") else text[:inside] + newline
    return before + lines + _OWN.sub("", text[inside:end]) + text[end:]


def put(text: str, server: Server, left: Left) -> str:
    """The text with nmem's server. Raises TOMLDecodeError, Foreign or Odd."""
    have = _entry(text)
    wanted = servers.merged(have, server)
    if have == wanted:
        return text
    newline = "\r\n" if "\r\n" in text else "\n"
    if have is None:
        if text and not text.endswith("\n"):
            left.setdefault(_END, "")
            text += newline
        out = f"{text}{newline if text else ''}[{_KEY}.{NAME}]{newline}{_own_lines(wanted, newline)}"
    else:
        out = _renewed(text, wanted, newline)
    return _checked(out, _without(text), wanted)


def take_out(text: str, left: Left) -> str:
    """The text without nmem's server. Raises TOMLDecodeError, or Odd."""
    if not servers.is_ours(_entry(text)):
        return text
    place = _block(text)
    if place is None:
        raise Odd(f"{_KEY}.{NAME} is not a table of its own")
    start, _, end = place
    end = max([end, *(close for _, close, _ in _below(text, end))])
    head, tail = text[:start], text[end:]
    for blank in ("\r\n", "\n"):
        if head.endswith(("\n" + blank, "\r\n" + blank)) or head == blank:
            head = head[: -len(blank)]
            break
    if not tail and _END in left:
        head = head.removesuffix("\n").removesuffix("\r")
    return _checked(head + tail, _without(text), None)


def _checked(out: str, others: dict[str, object], wanted: Server | None) -> str:
    """The text, once a parser agrees that it says the same of everything else."""
    try:
        same = _without(out) == others and _entry(out) == wanted
    except tomllib.TOMLDecodeError:
        same = False
    if not same:
        raise Odd(f"{_KEY}.{NAME} is written in a way that cannot be changed without touching the rest")
    return out
