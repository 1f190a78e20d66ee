"""Storage by type on the screen Health: amounts, lifetimes and their reasons, past sweeps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import tzinfo

from nmem.retention.journal import Entry
from nmem.retention.policy import Life
from nmem.retention.read import Due
from nmem.retention.sweep import Swept
from nmem.text import fit, pad, printable
from nmem_tui.model import actions, symbols
from nmem_tui.model.figures import ago, count, date, duration, plural, scaled, several, size
from nmem_tui.model.health import Stored, say
from nmem_tui.model.line import Line, cut, wrap
from nmem_tui.model.lists import Item
from nmem_tui.model.symbols import Sign

TYPE, LIFE, SWEEP = "type", "life", "sweep"
_NAME = 15
_ROWS, _LIVES, _DUE = 9, 11, 9
"""Cells of the columns: how many, how long they live, how many go when."""
_SHORTEST = 8
_WHY = {"person": "by you", "settled": "by itself", "size": "for the size of the file"}


@dataclass(frozen=True, slots=True)
class Sum:
    """One type over all projects."""

    type: str
    total: int
    now: int
    week: int
    month: int
    days: tuple[float, ...]
    """Its lifetimes in force; 0: for ever."""


def sums(rows: tuple[Due, ...]) -> list[Sum]:
    """By type, the most first."""
    out: dict[str, list[Due]] = {}
    for one in rows:
        out.setdefault(one.type, []).append(one)
    found = [
        Sum(name, sum(one.total for one in some), sum(one.now for one in some), sum(one.week for one in some),
            sum(one.month for one in some), tuple(sorted({one.days for one in some})))
        for name, some in out.items()
    ]  # fmt: skip
    return sorted(found, key=lambda one: (-one.total, one.type))


def items(found: Stored | None, at: int, zone: tzinfo | None) -> list[Item]:
    """Types, what mediation changes, sweeps."""
    if found is None:
        return [say([("no lifetimes yet: `nmem settle` works out what goes when", "quiet")])]
    return [*_state(found, at, zone), say([]), *_types(found), say([]), *_mediated(found), say([]),
            *_sweeps(found, at, zone)]  # fmt: skip


def _state(found: Stored, at: int, zone: tzinfo | None) -> Iterator[Item]:
    state = found.standing
    gone = f"{state.gone:,} {plural(state.gone, 'call')}"
    most: Line = [(f" of at most {size(state.max_bytes)}", "text")] if state.max_bytes else []
    yield say([(size(state.bytes_used), "strong"), (" in use", "text"), *most,
               (f", {size(state.bytes_empty)} of empty pages" if state.bytes_empty else "", "quiet"),
               (f" · {gone} known only by their trace" if state.gone else "", "quiet")])  # fmt: skip
    if not state.enabled:
        yield say([("! ", "warn"), ("automatic sweeps are off: retention.enabled is false", "warn")])
    elif state.next_at > at:
        yield say([("sweeps automatically once a day, after a session; next from ", "quiet"),
                   (date(state.next_at, at, zone), "text")])  # fmt: skip
    else:
        yield say([("sweeps automatically once a day: after the next session", "quiet")])


def _types(found: Stored) -> Iterator[Item]:
    known = sums(found.forecast.rows)
    top = max((one.total for one in known), default=0)
    if not known:
        yield say([("no row is stored yet", "quiet")])
        return

    def head(cells: int) -> Line:
        bar = _room(cells)
        due = "".join(pad(name, _DUE, right=True) for name in ("past it", "in 7 d", "in 30 d")[: _dues(cells)])
        first = " " + pad("type", _NAME) + pad("rows", _ROWS, right=True) + " " * (bar + 1)
        return cut([(first + pad("lives", _LIVES, right=True) + due, "quiet")], cells)

    yield Item(head)
    for one in known:
        yield _type(one, top)


def _dues(cells: int) -> int:
    """How many of the columns of what goes when there is room for: the nearest first."""
    return max(0, min(3, (cells - _NAME - _ROWS - _LIVES - 2) // _DUE))


def _room(cells: int) -> int:
    """Cells for the bars; none where they were too short to tell anything."""
    room = min(30, cells - 66)
    return room if room >= _SHORTEST else 0


def _type(one: Sum, top: int) -> Item:
    low, high = one.days[0], one.days[-1]
    spread = f"{low:g}–{high:g} d" if low else f"≤ {high:g} d"
    lives = "for ever" if high <= 0 else f"{low:g} d" if low == high else spread

    def draw(cells: int) -> Line:
        room = _room(cells)
        full = scaled(one.total, top, room)
        return cut([
            (" " + pad(fit(printable(one.type).replace("_", " "), _NAME - 1), _NAME), "text"),
            (pad(count(one.total), _ROWS, right=True), "strong"), (" ", "text"),
            (symbols.now().bar * full, "bar"), (" " * (room - full), "text"), (pad(lives, _LIVES, right=True), "text"),
            *(
                (pad(count(number) if number else "·", _DUE, right=True), tone if number else "quiet")
                for number, tone in ((one.now, "warn"), (one.week, "text"), (one.month, "text"))[: _dues(cells)]
            ),
        ], cells)  # fmt: skip

    return Item(draw, TYPE, one.type)


def moved(found: Stored) -> list[Life]:
    """The lifetimes that are not as written, the most changed first."""
    return sorted((one for one in found.standing.lives if one.factor != 1.0),
                  key=lambda one: (-abs(one.factor - 1), one.project, one.type))  # fmt: skip


def _mediated(found: Stored) -> Iterator[Item]:
    changed = moved(found)
    yield say([("Lifetimes by use ", "title"), (_balance(found, len(changed)), "quiet")])
    for one in changed:
        yield _life(one)


def _balance(found: Stored, changed: int) -> str:
    if not found.standing.mediation:
        return "off: every lifetime is as written"
    return f"{changed:,} changed: used records live longer, unused ones go sooner" if changed else "all as written"


def _life(one: Life) -> Item:
    longer = one.factor > 1

    def draw(cells: int) -> Line:
        where = f"{printable(one.type).replace('_', ' ')} of {printable(one.project)}"
        return cut([
            ("   ▲ " if longer else "   ▼ ", "good" if longer else "warn"), (pad(fit(where, 30), 31), "text"),
            (f"{one.in_force:g} d", "strong"), (f" instead of {one.written:g}", "text"),
            (f": {printable(one.reason)}", "quiet"),
        ], cells)  # fmt: skip

    return Item(draw, LIFE, f"{one.project_id} {one.type}")


def _sweeps(found: Stored, at: int, zone: tzinfo | None) -> Iterator[Item]:
    yield say([("Sweeps ", "title"), (f"newest first; {actions.key_of('sweep')} sees what one would take", "quiet")])
    for one in found.standing.journal:
        yield _sweep(one, at, zone)
    if not found.standing.journal:
        yield say([("no sweep yet", "quiet")])
    for what, when, came in found.standing.upkeep:
        told = f"{printable(what)} {ago(at - when)}" + (f": {printable(came)}" if came else "")
        yield say([("  " + told, "quiet")])


def _sweep(one: Entry, at: int, zone: tzinfo | None) -> Item:
    parts = ", ".join(f"{each.count:,} {printable(each.type).replace('_', ' ')}" for each in one.counts[:6])

    def draw(cells: int) -> Line:
        return cut([
            ("   " + pad(date(one.started_at, at, zone), 13), "text"), (f"{one.count:,} forgotten ", "strong"),
            (f"{_WHY.get(one.why, printable(one.why))}, {printable(one.done) or 'running'}", "quiet"),
            (f": {parts}", "text"),
        ], cells)  # fmt: skip

    return Item(draw, SWEEP, str(one.id))


def about(found: Stored | None, kind: str, key: str, cells: int) -> list[Line]:
    """What is under the cursor, in full: lifetimes and why they are so; what a sweep took."""
    if found is None:
        return []
    if kind == SWEEP:
        entry = next((one for one in found.standing.journal if str(one.id) == key), None)
        return _about_sweep(entry, cells) if entry else []
    if kind == LIFE:
        life = next((one for one in moved(found) if f"{one.project_id} {one.type}" == key), None)
        return _about_lives([life], cells) if life else []
    return _about_lives([one for one in found.standing.lives if one.type == key], cells)


def _about_lives(lives: list[Life], cells: int) -> list[Line]:
    if not lives:
        return [[("put the cursor on a type: how long it lives in each project, and why", "quiet")]]
    lines: list[Line] = [[(printable(lives[0].type).replace("_", " "), "strong")]]
    alike: dict[tuple[float, float, str], list[str]] = {}
    for one in sorted(lives, key=lambda each: -abs(each.factor - 1)):
        alike.setdefault((one.in_force, one.written, one.reason), []).append(fit(printable(one.project), 24))
    for (in_force, written, reason), projects in list(alike.items())[:12]:
        changed = f" instead of {written:g}" if in_force != written else ", as written"
        days = f"{in_force:g} {plural(round(in_force), 'day')}" if in_force else "for ever"
        lines.append([(days, "strong"), (changed, "quiet")])
        lines += [[(f"  {row}", "text")] for row in wrap(", ".join(projects), cells - 2, 4)]
        why = printable(reason)
        lines += [[(f"  {row}", "quiet")] for row in (wrap(why, cells - 2, 3) if why else [])]
    return lines


def _about_sweep(one: Entry, cells: int) -> list[Line]:
    took = duration(one.last_at - one.started_at)
    lines: list[Line] = [
        [(f"Sweep {one.id}", "strong"), (f"  {one.count:,} of {several(one.sessions, 'session')}", "text"),
         (f"  {took}", "quiet")]
    ]  # fmt: skip
    for each in one.counts:
        kind, project = printable(each.type).replace("_", " "), printable(each.project)
        lines.append([(pad(f"{each.count:,}", 8, right=True), "strong"), (f"  {kind} of {project}", "text"),
                      (f", older than {each.days:g} d", "quiet")])  # fmt: skip
    for why, number in one.skipped.items():
        let = f"  sessions let alone: {printable(why)}"
        lines.append([(pad(f"{number:,}", 8, right=True), "text"), (let, "quiet")])
    return [cut(line, cells) for line in lines]


# before a sweep


def sweep_head(done: Swept, cells: int) -> list[Line]:
    """What a sweep would take."""
    if not done.count:
        return [[("nothing is past its lifetime", "strong")]]
    said = f"{done.count:,} records of {several(done.sessions, 'session')} would be forgotten; their traces stay."
    warned: Line = [("! ", "warn"), ("it cannot be undone; a backup before it can be restored", "warn")]
    return [*([(row, "strong")] for row in wrap(said, cells, 2)), cut(warned, cells)]


def sweep_items(done: Swept) -> list[Item]:
    """By type and project, what is kept although it is old, and why."""
    out = [say([("By type", "title")])] if done.count else []
    for (project, kind), number in done.counts.most_common():
        out.append(_counted(number, f"{printable(kind).replace('_', ' ')} of {printable(project)}"))
    if done.spared or done.skipped:
        out += [say([]), say([("Past their lifetime, and kept", "title")])]
        out += [_counted(done.spared, "pinned, decided, or evidence of what was accepted")] if done.spared else []
        out += [_counted(number, f"sessions: {printable(why)}") for why, number in done.skipped.most_common()]
    longer = [one for one in done.lives if one.factor != 1.0]
    if longer:
        out += [say([]), say([("Lifetimes changed by use", "title")]), *(_life(one) for one in longer[:20])]
    return out


def _counted(number: int, said: str) -> Item:
    return say([(pad(f"{number:,}", 9, right=True), "strong"), (f"  {said}", "text")])


SIGNS = (
    Sign("▲", "kept longer than written, because it is used", "good"),
    Sign("▼", "kept shorter than written, because nothing uses it", "warn"),
    Sign("·", "nothing is past its lifetime", "quiet"),
)
