"""Draws the context budget bar and the exact text to inject, wrapped, with the selected item and changes marked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from capture.clients.said import BEGIN, END
from nmem.context.compose import HEADINGS
from nmem.context.items import (
    ASK,
    BESIDE,
    DROPPED,
    EPISODE,
    FILE,
    KINDS,
    LEARNING,
    MARKER,
    MOVED,
    NEXT,
    PIN,
    RECALL,
    TEAM,
    THREAD,
)
from nmem.context.preview import Preview
from nmem.context.recovery import DECISION, GOAL, OPEN, PASSED
from nmem.context.recovery import HEADINGS as RECOVERED
from nmem.context.recovery import HEADINGS as RECOVERY
from nmem.text import printable
from nmem_tui.model import symbols
from nmem_tui.model.figures import filled, several
from nmem_tui.model.line import Line, cut, fitting, joined, length, wrap
from nmem_tui.model.lists import Item
from nmem_tui.model.now_cards import flat
from nmem_tui.model.symbols import Sign

_LOOKS = {
    PIN: ("P", "pins", "accent"), THREAD: ("T", "thread", "user"), NEXT: ("N", "next steps", "user"),
    RECALL: ("D", "decisions", "agent"), LEARNING: ("L", "learnings", "change"), EPISODE: ("E", "episodes", "run"),
    MARKER: ("M", "notes", "agent"), MOVED: ("V", "moved", "warn"), FILE: ("F", "files", "look"),
    ASK: ("A", "asking", "agent"), BESIDE: ("B", "beside", "warn"), GOAL: ("G", "goal", "user"),
    DECISION: ("S", "said", "agent"), OPEN: ("O", "open ends", "warn"), DROPPED: ("C", "dropped", "warn"),
    PASSED: ("R", "passed", "run"), TEAM: ("W", "others", "user"),
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
    said = f"{number} left out" if short else f"left out {several(number, 'item')}, {tokens:,}"
    return [(f"{symbols.now().held} ", "quiet"), (said, "warn")]


SAME, MORE, LESS = "  ", "+ ", "− "
_CAME, _WENT = "+", "−"
_SAID, _NAMES = "said", "names"
"""Kinds of rows: of one thing, and of the names of files."""
_TONES = {MORE: "good", LESS: "bad"}
_FILES = f"{HEADINGS[FILE]}: "
_HEADS = frozenset(f"{each}:" for each in (*HEADINGS.values(), *RECOVERY.values()))
_NAME = re.compile(f"[{_CAME}{_WENT}]?`[^`]*`")
"""A file's name as it is told; its reason follows in brackets."""
_NEXT = re.compile("; (?=`)")
"""Between two files."""
_ROWS = 60
"""Rows that one line of the text may take."""


def changes(before: str, after: str) -> list[tuple[str, str]]:
    """(`SAME`, `MORE` or `LESS`, line): what the text is made of, and what is gone from it."""
    old, new = before.split("\n") if before else [], after.split("\n") if after else []
    out: list[tuple[str, str]] = []
    for what, first, last, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what == "equal":
            out += [(SAME, line) for line in new[start:end]]
        else:
            out += [(LESS, line) for line in old[first:last]] + [(MORE, line) for line in new[start:end]]
    return out


def summary(before: str | None, after: str) -> str:
    """How much is different, in words; empty when nothing is, or there is nothing to compare with."""
    if before is None or before == after:
        return ""
    signs = list(_by_name(changes(before, after)))
    if MORE not in signs and LESS not in signs:
        return "changed: order or reasons of files"
    return f"changed: +{signs.count(MORE)} −{signs.count(LESS)}"


Chosen = Callable[[], Sequence[str]]
"""What the thing under the cursor says, asked when a row is drawn: moving the cursor wraps nothing anew."""


def items(text: str, before: str | None, chosen: Chosen, cells: int) -> list[Item]:
    """The text in so many cells; `before`: what it is compared with, if with anything."""
    told = [(SAME, line) for line in text.split("\n")] if before is None else _one_list(changes(before, text))
    return [item for sign, one in told for item in _rows(sign, one, chosen, cells)]


def place(rows: Sequence[Item], chosen: Sequence[str]) -> int | None:
    """The first row in which a thing stands."""
    return next((at for at, row in enumerate(rows) if any(_has(row, each) for each in chosen)), None)


def _has(row: Item, said: str) -> bool:
    return said in _NAME.findall(row.key) if row.kind == _NAMES else bool(row.kind) and row.key == said


def _one_list(told: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Names of files that came and went in the one line that lists them; what went stands without its reason."""
    old = next((line for sign, line in told if sign == LESS and line.startswith(_FILES)), "")
    new = next((line for sign, line in told if sign == MORE and line.startswith(_FILES)), "")
    if not old or not new:
        return told
    before, after = _names(old), _names(new)
    names = [told if name in before else f"{_CAME}{told}" for name, told in after.items()]
    names += [f"{_WENT}{name}" for name in before if name not in after]
    merged = (SAME, f"{_FILES}{'; '.join(names)}")
    return [merged if line == new else (sign, line) for sign, line in told if (sign, line) != (LESS, old)]


def _names(line: str) -> dict[str, str]:
    """Each file of the line that lists them: its name -> as it is told, with its reason."""
    each = _NEXT.split(line.removeprefix(_FILES))
    return {(found[0] if (found := _NAME.match(one)) else one): one for one in each}


def _rows(sign: str, line: str, chosen: Chosen, cells: int) -> Iterator[Item]:
    """One line of the text, wrapped; its sign stands once, so that signs are as many as changes."""
    tone = _TONES.get(sign) or _tone(line)
    names = sign == SAME and line.startswith(_FILES)
    said = line[2:] if sign == SAME and line.startswith("- ") else ""
    indent = "  " if line.startswith("- ") else ""

    def draw(row: str, mark: str) -> Line:
        if names:
            return [(mark, tone), *_named(row, chosen())]
        return [(mark, tone), (row, "accent" if said and said in chosen() else tone)]

    for number, row in enumerate(wrap(printable(line), max(8, cells - 2 - len(indent)), _ROWS) or [""]):
        body = (indent if number else "") + row
        kind, key = (_NAMES, body) if names else (_SAID if said else "", said)
        mark = SAME if number else sign
        yield Item(lambda _cells, body=body, mark=mark: draw(body, mark), kind, key)  # type: ignore[misc]


def _tone(line: str) -> str:
    if line in (BEGIN, END) or line.startswith("Recorded by nmem"):
        return "quiet"
    return "title" if line in _HEADS else "text"


def _named(row: str, chosen: Sequence[str]) -> Line:
    """A row of files; what came, what went and what is chosen in a tone of its own."""
    out: Line = []
    done = 0
    for found in _NAME.finditer(row):
        name = found[0]
        tone = {_CAME: "good", _WENT: "bad"}.get(name[0], "text")
        if any(printable(each) == name for each in chosen):
            tone = "accent"
        out += [(row[done : found.start()], "text"), (name, tone)]
        done = found.end()
    return [*out, (row[done:], "text")]


def _by_name(told: list[tuple[str, str]]) -> Iterator[str]:
    """The signs of all changes, the names of files one by one."""
    for sign, line in _one_list(told):
        if sign == SAME and line.startswith(_FILES):
            yield from map(_sign, _NAME.findall(line))
        elif line.startswith(_FILES):
            yield from (sign for _ in _names(line))
        else:
            yield sign


def _sign(name: str) -> str:
    return MORE if name.startswith(_CAME) else LESS if name.startswith(_WENT) else SAME


SIGNS = (
    Sign("F{much}{much}", "the budget's bar: its parts by their letters, named below it", "look"),
    *(Sign(letter, f"part of the budget: {word}", tone) for letter, word, tone in _LOOKS.values()),
    Sign("h", "part of the budget: headings", "quiet"),
    Sign("{free}{upright}", "what is free, and where the budget ends", "rest"),
    Sign("{held}", "what was weighed and left out for want of room", "quiet"),
    Sign("+ −", "in the text: new since it was told before, and gone", "good"),
)
