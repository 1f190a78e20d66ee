"""Turns a command's options into search box text, so that one parser reads both."""

from __future__ import annotations

import re
from collections.abc import Sequence

from nmem.search.query import parse

_NAMED = re.compile(r"!?[a-z]+:(?=.*\s)")
_STANDS = re.compile(r'!?(?:[a-z]+:)?(?:"[^"]*"|\S+)')
"""A word, a phrase or a filter of a query."""


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


def standing(text: str) -> list[str]:
    """The filters that stand in a query, each as it was typed."""
    return [found[0] for found in _STANDS.finditer(text) if _is_filter(found[0])]


def toggled(text: str, one: str) -> str:
    """A query with a filter put in, or taken out where it stands already; another of its name gives way to it."""
    pieces = [found[0] for found in _STANDS.finditer(text)]
    name, _, value = one.partition(":")
    kept, there = list[str](), False
    for piece in pieces:
        if not piece.startswith(f"{name}:") or not _is_filter(piece):
            kept.append(piece)
        elif piece == one:
            there = True
        elif name == "is":  # failed and pinned stand side by side
            kept.append(piece)
    if not there and value:
        kept.append(one)
    return " ".join(kept)


def _is_filter(piece: str) -> bool:
    read = parse(piece, 0)
    return bool(read.filters) and not read.words
