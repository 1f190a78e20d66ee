"""Cuts the snippet of a hit: the part of a text with most query words, safe for a terminal, with highlights."""

from __future__ import annotations

from dataclasses import dataclass

from nmem.search.match import Matcher
from nmem.text import ELLIPSIS, printable

LENGTH = 160
_LEAD = 40
"""Characters before the first place that is shown."""
_PLACES = 200
"""Places of which the best is chosen."""


@dataclass(frozen=True, slots=True)
class Snippet:
    """One printable line and (start, end) places in it."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()


def snippet(text: str, matcher: Matcher, length: int = LENGTH) -> Snippet:
    """The stretch of a text with the most different words of the query in it."""
    at = _best(matcher.spans(text), length)
    cut = max(0, at - 2 * length)
    flat = printable(" ".join(text[cut : at + 4 * length].split()))
    spans = matcher.spans(flat)
    start = _start(flat, _best(spans, length), length)
    head = ELLIPSIS if start or cut else ""
    tail = ELLIPSIS if start + length < len(flat) or at + 4 * length < len(text) else ""
    shift = len(head) - start
    marks = tuple(
        (begin + shift, min(end, start + length) + shift) for begin, end, _ in spans if start <= begin < start + length
    )
    return Snippet(head + flat[start : start + length] + tail, marks)


def _best(spans: list[tuple[int, int, int]], length: int) -> int:
    """Where the window begins that holds the most different words, the first such."""
    best, most = 0, 0
    spans = spans[:_PLACES]
    for at, _, _ in spans:
        inside = len({word for begin, end, word in spans if at <= begin and end <= at + length - _LEAD})
        if inside > most:
            best, most = at, inside
    return best


def _start(flat: str, at: int, length: int) -> int:
    """A little before the place, at a blank where there is one; the whole text where it fits."""
    if len(flat) <= length or at <= _LEAD:
        return 0
    start = max(0, min(at - _LEAD, len(flat) - length))
    blank = flat.find(" ", start, at)
    return blank + 1 if blank >= 0 else start
