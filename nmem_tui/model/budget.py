"""The budget of what a session is told as a bar: each kind with its letter, the limit, and what was left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from nmem.context.items import ASK, EPISODE, FILE, KINDS, LEARNING, MARKER, NEXT, PIN, RECALL, THREAD
from nmem.context.preview import Preview
from nmem.context.recovery import DECISION, GOAL, OPEN
from nmem.context.recovery import HEADINGS as RECOVERED
from nmem_tui.model import symbols
from nmem_tui.model.figures import filled, several
from nmem_tui.model.line import Line, cut, fitting, joined, length
from nmem_tui.model.unit import flat

_LOOKS = {
    PIN: ("P", "pins", "accent"), THREAD: ("T", "thread", "user"), NEXT: ("N", "next steps", "user"),
    RECALL: ("D", "decisions", "agent"), LEARNING: ("L", "learnings", "change"), EPISODE: ("E", "episodes", "run"),
    MARKER: ("M", "notes", "agent"), FILE: ("F", "files", "look"),
    ASK: ("A", "asking", "agent"), GOAL: ("G", "goal", "user"), DECISION: ("S", "said", "agent"),
    OPEN: ("O", "open ends", "warn"),
}  # fmt: skip
"""Kind -> letter, word, tone."""
_ORDER = (*(kind for kind in RECOVERED if kind not in KINDS), *KINDS)
"""As they are told; what only a reset brings comes first."""
_OVER = 4
"""What is left out takes at most this part of the bar."""


class Share(NamedTuple):
    """What one kind takes of the budget."""

    letter: str
    word: str
    tone: str
    tokens: int


def shares(found: Preview) -> list[Share]:
    """By kind, in the order in which they are told; the rest is headings and what says where it comes from."""
    counts: dict[str, int] = {}
    for one in found.items:
        counts[one.kind] = counts.get(one.kind, 0) + one.tokens
    known = [kind for kind in _ORDER if kind in counts]
    out: list[Share] = []
    for kind in [*known, *(kind for kind in counts if kind not in _ORDER)]:
        letter, word, tone = _LOOKS.get(kind) or ("?", flat(kind) or "other", "text")
        out.append(Share(letter, word, tone, counts[kind]))
    around = found.tokens - sum(counts.values())
    return [*out, Share("h", "headings", "quiet", around)] if around > 0 else out


def bar(found: Preview, cells: int) -> Line:
    """What is used, what is free, the limit, and beyond it what was weighed and left out."""
    signs = symbols.now()
    left = sum(one.tokens for one in found.left_out)
    over = min(cells // _OVER, max(1, round(left * cells / max(1, found.budget)))) if left else 0
    room = cells - over - 1
    if room <= 0:
        return [(signs.much * max(0, cells), "bar")]
    parts = shares(found)
    sizes = spread_over([part.tokens for part in parts], filled(found.tokens, found.budget, room), room)
    line: Line = []
    for part, size in zip(parts, sizes, strict=True):
        if size:
            line += [(part.letter, part.tone), (signs.much * (size - 1), part.tone)]
    full = found.tokens >= found.budget
    line += [(signs.free * (room - sum(sizes)), "rest"), (signs.upright, "warn" if full else "text")]
    return [*line, (signs.held * over, "quiet")]


def spread_over(amounts: Sequence[int], cells: int, most: int) -> list[int]:
    """Cells for each amount: all together as many as given, each at least one as far as `most` has room."""
    total, left = sum(amounts), max(min(cells, most), min(len(amounts), most))
    sizes: list[int] = []
    for place, amount in enumerate(amounts):
        others = len(amounts) - place - 1
        size = max(1, min(round(left * amount / max(1, total)), left - others)) if left > 0 else 0
        sizes.append(size)
        left, total = left - size, total - amount
    return sizes


def legend(found: Preview, cells: int) -> list[Line]:
    """What the letters mean with their tokens, and what was left out, in a line; none while nothing is weighed.

    Where there is little room the figures give way, then the kinds that take least.
    """
    parts = shares(found)
    ranks = sorted(range(len(parts)), key=lambda place: -parts[place].tokens)
    for short in (False, True):
        told: list[tuple[int, Line]] = []
        for place, part in enumerate(parts):
            figure: Line = [] if short else [(f" {part.tokens:,}", "text")]
            told.append((ranks.index(place) + 1, [(f"{part.letter} ", part.tone), (part.word, "quiet"), *figure]))
        told += [(0, _left_out(found, short=short))] if found.left_out else []
        whole = joined(line for _, line in told)
        if told and (short or length(whole) <= cells - 2):
            return [cut([(" ", "text"), *fitting(told, cells - 2)], cells)]
    return []


def _left_out(found: Preview, *, short: bool) -> Line:
    number, tokens = len(found.left_out), sum(one.tokens for one in found.left_out)
    said = f"{number} left out" if short else f"left out {several(number, 'thing')}, {tokens:,}"
    return [(f"{symbols.now().held} ", "quiet"), (said, "warn")]
