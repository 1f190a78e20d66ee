"""Draws the lists of the screen Stance: shifts, episodes, sessions; and the cards of the label classifiers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from sqlite3 import Connection

from nmem.labels import cards, read
from nmem.labels.cards import Card, Figures
from nmem.labels.read import Standing
from nmem.read.views import StreamRow
from nmem.stance.model import SessionStance, Stance
from nmem.stance.words import few_means
from nmem.text import pad, printable, width
from nmem_tui.model import stance as words
from nmem_tui.model import stance_chart, stream, symbols
from nmem_tui.model.figures import count, date, filled, plural, several
from nmem_tui.model.line import Line, cut, section, wrap
from nmem_tui.model.lists import Item, plain_items
from nmem_tui.model.now_cards import flat

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
        out += [[], [("✗ the model card is missing: install nmem again", "bad")]]
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


_PLANE_ROWS = 11
CALL = "call"
"""What an item stands for: enter goes to its moment."""


def _heading(name: str, more: str = "") -> Item:
    return Item(lambda cells: section(name, cells, more))


def of_session(
    stance: Stance, cells: int, zone: tzinfo | None, calls: Sequence[StreamRow] = (), *, column: bool, plane: bool
) -> list[Item]:  # fmt: skip
    """The shifts and episodes of a session, of a short one its calls; in one column with all that stands in cards."""
    out: list[Item] = []
    if calls:
        out.append(_heading("Calls", f"{several(len(calls), 'call')}: too few for shares, each with its labels"))
        out += (
            Item(lambda cells, row=row: stream.labelled(row, cells, zone), CALL, str(row.key), row.at)  # type: ignore[misc]
            for row in calls
        )
    if column:
        out += plain_items(words.guidance(stance.guidance, cells))
        out += [_heading("Quadrants", "shades: the darker, the more is settled")]
        out += plain_items(words.shares(stance, cells))
    out.append(_heading("Shifts", several(len(stance.shifts), "shift") if stance.shifts else ""))
    out += _shifts(stance, zone)
    if stance.stuck:
        out.append(_heading("Stuck", "the same kept failing"))
        out += _stuck(stance, zone)
    out.append(_heading("Episodes", several(len(stance.strips), "episode") if stance.strips else ""))
    out += _strips(stance, zone)
    if column:
        out.append(_heading("Beside your other sessions"))
        out += plain_items(words.usual(stance.usual, cells))
        out.append(_heading("Figures"))
        out += plain_items(words.figure_lines(stance, cells))
    if plane:
        out.append(_heading("Plane", "act right, converge above, ● now, ○ 20 calls ago"))
        told = stance_chart.told(stance)
        out += plain_items(stance_chart.draw_plane(stance_chart.way(stance), told, min(cells, 60), _PLANE_ROWS))
    return out


def _shifts(stance: Stance, zone: tzinfo | None) -> Iterator[Item]:
    if not stance.shifts:
        yield Item(lambda cells: cut([("none yet: the lines have stayed on one side", "quiet")], cells))
    for each in reversed(stance.shifts):
        yield Item(
            lambda cells, each=each: words.shift(each, cells, zone),  # type: ignore[misc]
            "shift", f"{each.axis} {each.seq}", each.at,
        )  # fmt: skip


def _stuck(stance: Stance, zone: tzinfo | None) -> Iterator[Item]:
    for each in reversed(stance.stuck):
        yield Item(
            lambda cells, each=each: words.stuck(each, cells, zone),  # type: ignore[misc]
            "stuck", f"{each.started_at} {each.key}", each.started_at,
        )  # fmt: skip


def _strips(stance: Stance, zone: tzinfo | None) -> Iterator[Item]:
    if not stance.strips:
        yield Item(lambda cells: cut([("no episode yet: the next prompt opens one", "quiet")], cells))
    for each in reversed(stance.strips):
        yield Item(
            lambda cells, each=each: words.strip(each, cells, zone, told=not stance.few),  # type: ignore[misc]
            "episode", str(each.unit_id), each.started_at,
        )  # fmt: skip


def of_models(found: Models, cells: int) -> list[Item]:
    """The model cards, to be read."""
    return list(plain_items(lines(found, cells)))


def of_sessions(found: Sequence[SessionStance], current: str, zone: tzinfo | None, now: int) -> list[Item]:
    """The sessions of a project, one a row, the one worked in last first."""
    return [
        Item(
            lambda cells, each=each: _session(each, cells, zone, now, here=each.session_id == current),  # type: ignore[misc]
            "session", each.session_id, each.started_at,
        )
        for each in found
    ]  # fmt: skip


def _session(row: SessionStance, cells: int, zone: tzinfo | None, now: int, *, here: bool) -> Line:
    room = 32 if cells >= 120 else 16
    line: Line = [("▸ " if here else "  ", "accent"), (pad(date(row.last_at, now, zone), 11) + "  ", "quiet")]
    if not row.placed and not row.few:
        return cut(
            [
                *line,
                (pad("not clear" if row.count else "not labelled", room), "quiet"),
                (f"  {flat(row.intent)}", "quiet"),
            ],
            cells,
        )
    if row.few:
        line.append((pad(few_means(row), room + 11), "quiet"))
    else:
        most = max(words.MEANING, key=lambda name: words.share(row.quadrants, name).number)
        line += words.shares_short(row.quadrants, room)
        line.append((f"  {pad(most, 9)}", "strong"))
    if cells >= 120:
        rough = "" if row.friction is None else f"friction {row.friction:.0%}"
        novel = "" if row.novel is None else f"novel {row.novel:.0%}"
        line += [(pad(rough, 14), "quiet"), (pad(novel, 11), "quiet"), (pad(printable(row.client), 8), "quiet")]
    failed = f"✗ {row.failed}" if row.failed else ""
    line += [(pad(failed, 6), "bad"), (f"{row.observations:>5} {pad(plural(row.observations, 'call'), 5)}  ", "quiet")]
    return cut([*line, (flat(row.intent) or "no prompt", "text")], cells)
