"""Parses an output by tables of rules: finds the line that reports an error, and the cause within it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from nmem.learn.errors.normal import name, normal, plain, tail
from nmem.learn.errors.signature import KEY, LINE, MOST, Signature

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
