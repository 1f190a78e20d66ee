"""The labels of one call as a person corrects them: the word of each dimension, how sure it is, why, and the keys."""

from __future__ import annotations

from collections.abc import Iterator

from nmem.labels.read import Labelled, Word
from nmem.text import pad, printable
from nmem_tui.model import symbols
from nmem_tui.model.figures import filled
from nmem_tui.model.labels import POLES, sure
from nmem_tui.model.line import Line, cut, joined, wrap
from nmem_tui.model.rows import word as kind
from nmem_tui.model.unit import flat

KEYS = {"phase": "p", "scope": "s", "locus": "l", "novelty": "n", "friction": "f"}
"""Dimension -> the key that flips it; the capital takes it back."""
_BAR = 10
_INDENT = 14


def flipped(word: Word) -> str:
    """The word that a flip says: the other one; where the model abstains, first the one that it leans to."""
    left, right = POLES[word.dimension]
    if not word.word:
        return word.thinks or right
    return left if word.word == right else right


def lines(found: Labelled, cells: int, *, why: bool = True) -> list[Line]:
    """The call, its five words, and the keys; the reasons where there is room."""
    name, tone = kind(found.obs_type)
    text = flat(found.content) or printable(found.file_path) or "–"
    first, *rest = wrap(text, cells - 8, 2) or ["–"]
    out: list[Line] = [[(pad(name, 8), tone), (first, "strong")], *([(" " * 8, "text"), (row, "text")] for row in rest)]
    if found.prompt:
        out.append([(pad("you", 8), "user"), (flat(found.prompt), "quiet")])
    out.append([])
    for word in found.words:
        out += _word(word, cells, why=why)
    keys: list[tuple[str, str]] = [("p s l n f", "the other word"), ("P S L N F", "the model's"), ("u", "undo")]
    out += [[], joined([[(key, "key"), (f" {does}", "quiet")] for key, does in keys], "  ")]
    return [cut(line, cells) for line in out]


def _word(word: Word, cells: int, *, why: bool) -> Iterator[Line]:
    left, right = POLES[word.dimension]
    said = word.word or "~"
    size = abs(word.score or 0.0)
    done = filled(size, 1, _BAR)
    by: Line
    if word.own:
        by = [("✓ by your word", "good"), (f"  the model says {flat(word.thinks)}" if word.thinks else "", "quiet")]
    elif word.word:
        by = [
            (symbols.now().bar * done, "bar"),
            (symbols.now().track * (_BAR - done), "off"),
            (f" {size:.2f} {sure(word.score)}", "text"),
        ]
    else:
        lean = (
            f"not clear; leans to {flat(word.thinks)} {abs(word.leaning):.2f}" if word.thinks else "no model has said"
        )
        by = [(lean, "quiet")]
    yield [
        (f" {KEYS[word.dimension]} ", "key"), (pad(word.dimension, _INDENT - 4), "quiet"),
        (pad(flat(said), 10), "strong"), *by, (f"   {left}/{right}" if cells >= 72 else "", "quiet"),
    ]  # fmt: skip
    if why and word.reasons and not word.own:
        told = ", ".join(flat(reason.words) for reason in word.reasons[:3] if reason.weight > 0)
        if told:
            yield [(" " * (_INDENT - 1), "text"), (f"as {told}", "quiet")]
