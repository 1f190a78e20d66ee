"""Parses a failed call's output by tables of regex rules, into errors: each with key, title, line and nature."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from nmem.learn.errors.normal import name, normal, plain, tail

_WINDOW = 16_384
_LINES = 400


@dataclass(frozen=True, slots=True)
class Rule:
    """A line that says an error. Its groups by name fill `key` and `title`.

    name, file   the last part of a path or dotted name, without counters
    tail         the last two parts of a path
    message      normalised, quoted values out
    said         normalised, quoted values kept: they are the cause
    others       as they are
    """

    ecosystem: str
    nature: str
    pattern: re.Pattern[str]
    key: str
    title: str = ""
    hints: tuple[str, ...] = field(default=())
    """One of these is in each line that it matches: saves trying the pattern."""


def rule(ecosystem: str, nature: str, pattern: str, key: str, title: str = "", hint: str = "") -> Rule:
    """A Rule; `hint` lists, separated by `|`, texts of which one is in each matching line."""
    return Rule(ecosystem, nature, re.compile(pattern), key, title or key, tuple(hint.split("|")) if hint else ())


def read(text: str, rules: Iterable[Rule]) -> tuple[Signature, ...]:
    """The signatures of a text in its order, each key once; the first rule that knows a line says what it is."""
    found: dict[str, Signature] = {}
    table = tuple(rules)
    for line in _lines(text):
        for one in table:
            if one.hints and not any(hint in line for hint in one.hints):
                continue
            match = one.pattern.search(line)
            if match:
                made = _made(one, match, line)
                found.setdefault(made.key, made)
                break
        if len(found) >= MOST:
            break
    return tuple(found.values())


def _lines(text: str) -> Iterator[str]:
    if len(text) > _WINDOW:
        text = text[: _WINDOW // 2] + "\n" + text[-_WINDOW // 2 :]
    for line in text.splitlines()[:_LINES]:
        shown = plain(line)
        if shown:
            yield shown


def _made(one: Rule, match: re.Match[str], line: str) -> Signature:
    groups = {key: _cause(key, value or "") for key, value in match.groupdict().items()}
    key = f"{one.ecosystem}: {one.key.format_map(groups)}"
    return Signature(one.ecosystem, key[:KEY], one.title.format_map(groups)[:KEY], line[:LINE], one.nature)


def _cause(key: str, value: str) -> str:
    if key in ("name", "file"):
        return name(value)
    if key == "tail":
        return tail(value)
    if key == "message":
        return normal(value)
    if key == "said":
        return normal(value, quotes=False)
    return value


WORLD = "world"
"""The machine, the network, a service: something is missing, in the way or does not answer."""
USAGE = "usage"
"""The call was wrong: an option, a path, a file that was not read before."""
RULE = "rule"
"""A linter's or formatter's rule was broken."""
CODE = "code"
"""The code does not compile or run; while it is being written, that is work."""
TEST = "test"
"""A test failed; while code is being written, that is work."""

WORK = "work"
"""Nothing is wrong: a merge that has conflicts, say."""

KEY, LINE = 160, 240
"""Longest key or title, longest line."""
MOST = 8
"""Signatures of one output."""


@dataclass(frozen=True, slots=True)
class Signature:
    """One error."""

    ecosystem: str
    """`program`: it does not say whose error it is, so the same words of another program are another error."""
    key: str
    """The same for the same cause."""
    title: str
    """As a person reads it."""
    line: str
    """The line that says it, as it was printed."""
    nature: str
