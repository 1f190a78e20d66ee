"""The model cards: per dimension what it was fitted on, how good it is, when it abstains, what it gets wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from sqlite3 import Connection

from nmem.labels import cards, read
from nmem.labels.cards import Card, Figures
from nmem.labels.read import Standing
from nmem.text import pad, width
from nmem_tui.model import symbols
from nmem_tui.model.figures import count, filled, plural, several
from nmem_tui.model.line import Line, cut, section, wrap
from nmem_tui.model.unit import flat

_LABEL = 14
_MOST = 120
"""Cells of a line: longer ones are hard to read."""
_MISSED = 6
_BETTER = "L on a row of the screen Now says it better; nmem train labels fits a model with that"


@dataclass(frozen=True, slots=True)
class Models:
    """The cards of the model in force, and how history is labelled."""

    cards: tuple[Card, ...]
    standing: Standing


def models(db: Connection, db_path: str) -> Models:
    """Read them; counts the whole table of observations once."""
    return Models(cards.cards(db_path), read.standing(db, db_path))


def lines(found: Models, cells: int) -> list[Line]:
    """All cards, one below the other."""
    cells = min(cells, _MOST)
    out = [cut(line, cells) for line in _standing(found.standing, cells)]
    if not found.cards:
        out += [[], [("✗ no card lies beside the table of weights: install nmem again", "bad")]]
    for card in found.cards:
        out += [cut(line, cells) for line in _card(card, cells)]
    return out


def _standing(found: Standing, cells: int) -> Iterator[Line]:
    yield [
        (pad("in force", _LABEL), "quiet"), (flat(found.model) or "none", "strong"),
        (f"  {flat(found.source)}  ", "quiet"),
        (f"labelled {count(found.by_it)} of {count(found.calls)} {plural(found.calls, 'call')}", "text"),
    ]  # fmt: skip
    if found.own:
        yield [
            (pad("", _LABEL), "quiet"),
            (f"✓ of {several(found.own, 'call')} you have said a label yourself", "good"),
        ]
    if found.due:
        told = f" labels {count(found.by_others)} by another model, {count(found.bare)} by none"
        yield [(pad("due", _LABEL), "quiet"), ("nmem backfill", "key"), (told, "text")]
    for row in wrap(_BETTER, cells - _LABEL, 2):
        yield [(pad("", _LABEL), "quiet"), (row, "quiet")]


def percent(part: float) -> str:
    """A share that is told as it was set: 95 %, 99.5 %."""
    return f"{100 * part:.1f}".removesuffix(".0") + "%"


def _card(card: Card, cells: int) -> Iterator[Line]:
    left, right = (flat(word) for word in card.words)
    name = f"{flat(card.dimension)} ─ {left} or {right}"
    yield []
    yield section(name, cells)
    made = ", ".join(f"{number} {flat(word) if word != '?' else 'unclear'}" for word, number in card.classes if number)
    yield [
        (pad("corpus", _LABEL), "quiet"),
        (f"{card.calls} written calls of {several(card.sessions, 'session')}: {made}", "text"),
    ]
    if card.own:
        yield [(pad("", _LABEL), "quiet"), (f"and {several(card.own, 'correction')} of yours", "good")]
    yield from _figures("the model", card.folds, cells, "bar")
    yield from _figures("rules alone", card.rules, cells, "quiet")
    if card.folds.coverage < 1:
        yield [
            (pad("abstains", _LABEL), "quiet"), (f"below {card.threshold:.2f}", "text"),
            (f": it answers {card.folds.coverage:.0%}, right in {card.folds.accuracy_answered:.1%} of these", "text"),
            (f"  held to {percent(card.held_to)}", "quiet"),
        ]  # fmt: skip
    else:
        yield [
            (pad("abstains", _LABEL), "quiet"),
            (f"never: always answering it is within {percent(card.held_to)} already", "text"),
        ]
    for word, reasons in zip((left, right), card.strongest, strict=True):
        said = wrap(" · ".join(flat(reason) for reason in reasons[:8]), cells - _LABEL, 2)
        for number, row in enumerate(said):
            yield [(pad(f"says {word}" if not number else "", _LABEL), "quiet"), (row, "text")]
    yield from _failures(card, cells)


def _figures(name: str, found: Figures, cells: int, tone: str) -> Iterator[Line]:
    room = max(4, min(30, cells - _LABEL - 46))
    done = filled(found.macro_f1, 1, room)
    yield [
        (pad(name, _LABEL), "quiet"), (symbols.now().bar * done, tone), (symbols.now().track * (room - done), "off"),
        (f" macro-F1 {found.macro_f1:.3f}", "strong"), (f"  accuracy {found.accuracy:.3f}", "text"),
        (f"  of {several(found.n, 'call')}", "quiet"),
    ]  # fmt: skip


def _failures(card: Card, cells: int) -> Iterator[Line]:
    """What it is known to get wrong, with confidence."""
    if not card.missed:
        yield [(pad("gets wrong", _LABEL), "quiet"), ("nothing with confidence", "text")]
    for number, each in enumerate(card.missed[:_MISSED]):
        truth = f" is {flat(each.truth)}"
        room = max(8, cells - _LABEL - 2 - width(truth))
        yield [
            (pad("gets wrong" if not number else "", _LABEL), "quiet"), ("✗ ", "bad"),
            (pad(flat(each.call), room), "text"), (truth, "strong"),
        ]  # fmt: skip
