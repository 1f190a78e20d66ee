"""Options of a command as what would be typed into the box, so that both are read by the same rules."""

from __future__ import annotations

import re
from collections.abc import Sequence

from nmem.search.query import parse

_NAMED = re.compile(r"!?[a-z]+:(?=.*\s)")


def filters(name: str, values: Sequence[str], now: int) -> list[str]:
    """Filters as typed. Raises ValueError, with the value, for one that would be taken for a word."""
    out = []
    for value in values:
        typed = f'{name}:"{value}"' if re.search(r"\s", value) else f"{name}:{value}"
        if '"' in value or parse(typed, now).words or not parse(typed, now).filters:
            raise ValueError(value)
        out.append(typed)
    return out


def words(arguments: Sequence[str]) -> str:
    """A shell's arguments as one line: project:"my shop" lost its quotation marks on the way, and gets them back.

    One argument alone is the whole query, as it would be typed.
    """
    if len(arguments) == 1:
        return arguments[0]
    return " ".join(map(_quoted, arguments))


def _quoted(argument: str) -> str:
    named = _NAMED.match(argument)
    if '"' in argument or not re.search(r"\s", argument):
        return argument
    at = named.end() if named else 0
    return f'{argument[:at]}"{argument[at:]}"'
