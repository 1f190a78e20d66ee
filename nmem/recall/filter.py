"""Filters entries as a person types: every typed word must occur in an entry's line.

Right for a list that is looked at, wrong for a question: an agent's is ranked (nmem.recall.rank).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_LETTER, _GAP, _FURTHER, _TOGETHER, _CAMEL = 16, -3, -1, 4, 7
"""For a letter that is there; for the first one left out, and each more; for one right after another; for a hump."""
_BLANK, _DIVIDED, _OTHER = 10, 9, 8
"""For a letter at the beginning of a word: after a blank or nothing, after one of `/,:;|`, after another sign."""
_DIVIDERS = "/,:;|"
_STARTS = 12
"""Beginnings in a line that are tried for one word."""


@dataclass(frozen=True, slots=True)
class Narrowed:
    """A line that has all words: which it is, how well it has them, where, and whether each stands together in it."""

    place: int
    score: int
    marks: tuple[tuple[int, int], ...]
    tight: bool


def narrowed(lines: Sequence[str], typed: Sequence[str]) -> list[Narrowed]:
    """The lines that have all words, best first, then the shorter ones; all as they stand where none is typed."""
    terms = [term.casefold() for term in typed if term]
    out: list[Narrowed] = []
    for place, line in enumerate(lines):
        low = line.casefold()
        if len(low) != len(line):
            low = line.lower()[: len(line)].ljust(len(line))
        found = [_term(term, line, low) for term in terms]
        told = [each for each in found if each is not None]
        if len(told) == len(terms):
            marks = _merged(at for _, where, _ in told for at in where)
            out.append(Narrowed(place, sum(score for score, _, _ in told), marks, all(tight for _, _, tight in told)))
    return sorted(out, key=lambda each: (-each.score, len(lines[each.place]), each.place)) if terms else out


def _term(term: str, line: str, low: str) -> tuple[int, list[int], bool] | None:
    """The best way in which a word is in a line: its score, its letters' places, whether they stand together."""
    best: tuple[int, list[int], bool] | None = None
    at = -1
    for _ in range(_STARTS):
        at = low.find(term[0], at + 1)
        if at < 0:
            break
        where = _letters(term, line, low, at)
        if where is None:
            break  # later beginnings have less room
        scored = _score(line, where)
        if best is None or scored > best[0]:
            best = scored, where, _tight(line, where)
    return best


def _letters(term: str, line: str, low: str, start: int) -> list[int] | None:
    """Where the letters of a word stand from a place on: together, else in one word, else the next that there are."""
    if low.startswith(term, start):
        return list(range(start, start + len(term)))
    if _bonus(line, start) and (own := _in_word(term, low, start)):
        return own
    out = [start]
    for number, char in enumerate(term[1:], 1):
        after = out[-1] + 1
        if low[after : after + 1] != char:
            begun = _begun(char, line, low, after)
            if begun >= 0 and _rest(term[number + 1 :], low, begun + 1):
                after = begun
            else:
                after = low.find(char, after)
                if after < 0:
                    return None
        out.append(after)
    return out


def _in_word(term: str, low: str, start: int) -> list[int]:
    """The letters of one word that begins at a place; none where it has not all."""
    end = start
    while end < len(low) and low[end].isalnum():
        end += 1
    out = [start]
    for char in term[1:]:
        at = low.find(char, out[-1] + 1, end)
        if at < 0:
            return []
        out.append(at)
    return out


def _begun(char: str, line: str, low: str, at: int) -> int:
    while (at := low.find(char, at)) >= 0:
        if _bonus(line, at):
            return at
        at += 1
    return -1


def _rest(rest: str, low: str, at: int) -> bool:
    for char in rest:
        at = low.find(char, at) + 1
        if not at:
            return False
    return True


def _score(line: str, where: list[int]) -> int:
    out = begun = 0
    for number, at in enumerate(where):
        bonus = _bonus(line, at)
        if number == 0:
            out += _LETTER + 2 * bonus
            begun = bonus
        elif at == where[number - 1] + 1:
            out += _LETTER + max(bonus, begun, _TOGETHER)
        else:
            out += _LETTER + bonus + _GAP + _FURTHER * (at - where[number - 1] - 2)
            begun = bonus
    return out


def _bonus(line: str, at: int) -> int:
    before, here = line[at - 1 : at], line[at]
    if not before or before.isspace():
        return _BLANK
    if before in _DIVIDERS:
        return _DIVIDED
    if not before.isalnum() and here.isalnum():
        return _OTHER
    return _CAMEL if before.islower() and here.isupper() else 0


def _tight(line: str, where: list[int]) -> bool:
    """Whether letters are one piece, or of one word that they begin: `fmt` in `format`."""
    if where[-1] - where[0] == len(where) - 1:
        return bool(_bonus(line, where[0])) or len(where) > 3
    return bool(_bonus(line, where[0])) and line[where[0] : where[-1] + 1].isalnum()


def _merged(places: Iterable[int]) -> tuple[tuple[int, int], ...]:
    out: list[list[int]] = []
    for at in sorted(set(places)):
        if out and out[-1][1] == at:
            out[-1][1] = at + 1
        else:
            out.append([at, at + 1])
    return tuple((begin, end) for begin, end in out)
