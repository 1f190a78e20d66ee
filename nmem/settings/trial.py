"""Tests a person's redaction pattern before use: speed on hostile text, no match on ordinary text.

The hostile samples are made of the pattern itself: each of its repetitions goes on for long, and then nothing fits.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from re import _parser  # type: ignore[attr-defined]
from typing import Any, TypeAlias

from capture.redaction import deadline

LIMIT = 0.15
"""Seconds of processor time for one sample; a hook gives all patterns together as much."""
_LONG = 2_000
"""Characters of a sample."""
_MOST = 40
"""Samples of one pattern."""
_TAILS = ("\0", " !\0")
EVERYDAY = (
    "fix the login page, it shows an error when the name is empty",
    "please look at why the test fails and mend it",
    "git commit -m 'Readme: how to install it'",
    "cd /home/someone/projects/shop && python -m pytest tests -q",
    "12 passed, 3 skipped in 4.21s",
    "Traceback (most recent call last):",
    '  File "/home/someone/projects/shop/app/views.py", line 42, in show',
    "ValueError: invalid literal for int() with base 10: 'x'",
    "def total(items: list[Item]) -> int:",
    "The change is done: all tests pass, and the docs say what is new.",
    "npm run build",
    "https://docs.python.org/3/library/re.html",
    '{"name": "shop", "version": "1.2.0", "private": true}',
    "TODO: what about users without an address?",
)
"""What is said and seen in any session, and holds nothing to hide."""
_BROAD = 2
"""So many of them a pattern may not find anything in."""

Given: TypeAlias = Any
Parts = list[tuple[Given, Given]]
"""What the parser of `re` makes of a pattern: operations and what they are given, nested."""


@lru_cache(maxsize=256)
def slow(source: str) -> str:
    """Why a pattern that compiles cannot be used, as the rest of a sentence; empty when it is fast enough."""
    for number, sample in enumerate(_samples(source)):
        if number >= _MOST:
            break
        for tail in _TAILS:
            if deadline.matches([source], sample + tail, limit=LIMIT) is None:
                return "takes too long for some texts: repeat nothing that repeats, and bound it, as in {1,40}"
    return ""


@lru_cache(maxsize=256)
def broad(source: str) -> str:
    """The same for one that finds something in ordinary texts."""
    hit = [line for line in EVERYDAY if deadline.matches([source], line, limit=LIMIT)]
    if len(hit) < _BROAD:
        return ""
    return f"is too broad: of {len(EVERYDAY)} ordinary lines it would change {len(hit)}, such as: {hit[0]}"


def _samples(source: str) -> Iterator[str]:
    """Texts that begin as the pattern wants it, and go on with one of its repetitions until they are long."""
    yield from _stretched(list(_parser.parse(source)), "")


def _stretched(parts: Parts, before: str) -> Iterator[str]:
    for name, given in parts:
        for body, most in _bodies(str(name), given):
            if most > 1:
                for unit in dict.fromkeys(_units(body)):
                    yield before[-_LONG:] + unit * (_LONG // len(unit) + 1)
            yield from _stretched(body, before)
        before += _example([(name, given)])


def _bodies(name: str, given: Given) -> Iterator[tuple[Parts, int]]:
    """What stands inside an operation, and how often it may be repeated."""
    if name.endswith("_REPEAT"):
        yield list(given[2]), int(given[1])
    elif name == "BRANCH":
        yield from ((list(each), 1) for each in given[1])
    elif name == "SUBPATTERN":
        yield list(given[3]), 1
    elif name == "ATOMIC_GROUP":
        yield list(given), 1
    elif name in ("ASSERT", "ASSERT_NOT"):
        yield list(given[1]), 1


def _units(body: Parts) -> list[str]:
    """What one round of a repetition may be: each of its alternatives."""
    while len(body) == 1 and str(body[0][0]) == "SUBPATTERN":
        body = list(body[0][1][3])
    if len(body) == 1 and str(body[0][0]) == "BRANCH":
        found = [_example(list(each)) for each in body[0][1][1]]
    elif len(body) == 1 and str(body[0][0]) == "IN":
        found = _members(body[0][1])
    else:
        found = [_example(body)]
    return [unit for unit in found if unit]


def _example(parts: Parts) -> str:
    """A short text that fits."""
    return "".join(_one(str(name), given) for name, given in parts)[:_LONG]


def _one(name: str, given: Given) -> str:
    if name == "LITERAL":
        return chr(given)
    if name in ("ANY", "NOT_LITERAL"):
        return "b" if given == ord("a") else "a"
    if name == "IN":
        return _members(given)[0]
    if name.endswith("_REPEAT"):
        return _example(list(given[2])) * min(max(int(given[0]), 1), int(given[1]), 40)
    if name in ("ASSERT", "ASSERT_NOT"):
        return ""
    inner = next(_bodies(name, given), None)
    return _example(inner[0]) if inner else ""


_KINDS = {"CATEGORY_DIGIT": "0", "CATEGORY_SPACE": " ", "CATEGORY_WORD": "a", "CATEGORY_NOT_DIGIT": "a",
          "CATEGORY_NOT_SPACE": "a", "CATEGORY_NOT_WORD": " "}  # fmt: skip


def _members(given: Given) -> list[str]:
    """Characters of a class, one for each of its parts; of one that excludes, what it does not name."""
    found = [
        chr(what if str(name) == "LITERAL" else what[0]) if str(name) != "CATEGORY" else _KINDS.get(str(what), "a")
        for name, what in given
        if str(name) != "NEGATE"
    ]
    if given and str(given[0][0]) == "NEGATE":
        return [next(char for char in "a0 -_\x01" if char not in found)]
    return found[:6] or ["a"]
