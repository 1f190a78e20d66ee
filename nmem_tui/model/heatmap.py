"""The heat map: patterns down, weeks across, a shade and a figure for how often. Shades are told apart without colour.

Weeks are named by the month and the day of their Monday. The newest week stands at the right. Weeks in which none of
the patterns was met are left out, and the oldest ones give way to the room there is.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from nmem.learn.heat import week
from nmem.learn.learning import Learning
from nmem.text import pad
from nmem_tui.model import symbols
from nmem_tui.model.line import Line, cut
from nmem_tui.model.unit import flat

WEEK_MS = 7 * 86_400_000
_SHADES = (8, 4, 2, 1)
"""From how many occurrences on a shade is drawn, the darkest first."""
_COLUMN = 3
_WIDEST = 26
"""Half a year of weeks."""


def shade(count: int) -> tuple[str, str]:
    """The glyph of a week with so many occurrences, and its tone."""
    darkest = len(_SHADES)
    place = next((darkest - place for place, least in enumerate(_SHADES) if count >= least), 0)
    return symbols.now().shades[
        place
    ], "rest" if count < 1 else "bad" if count >= 8 else "warn" if count >= 4 else "bar"


def legend() -> str:
    """What the glyphs mean: times in a week."""
    never, once, some, often, most = tuple(symbols.now().shades)
    gap = symbols.now().border
    return f"{never} never  {once} 1  {some} 2–3  {often} 4–7  {most} 8 or more   {gap} quiet weeks left out"


def columns(found: Sequence[Learning], at: int, cells: int) -> list[int]:
    """The Mondays shown in so many cells, oldest first: the newest weeks in which anything was met."""
    active = sorted({start for one in found for start, _ in one.weeks if start <= at}) or [week(at)]
    return active[-max(1, min(_WIDEST, cells // _COLUMN)) :]


def _names(mondays: Sequence[int]) -> tuple[str, str]:
    """Two lines: the months, and below them the days."""
    months, days, before = "", "", ""
    for place, monday in enumerate(mondays):
        month, number = _named(monday)
        if month != before and (not place or len(months) < place * _COLUMN):
            months = months.ljust(place * _COLUMN) + month
            before = month
        days += f"{number:<2}" + _between(mondays, place)
    return months, days


def _between(mondays: Sequence[int], place: int) -> str:
    """What stands after a week: a blank, or a mark where weeks without anything are left out."""
    skipped = place + 1 < len(mondays) and mondays[place + 1] - mondays[place] > WEEK_MS
    return symbols.now().border if skipped else " "


def _named(monday: int) -> tuple[str, str]:
    """Month and day; a question mark for a time that no calendar has."""
    try:
        moment = datetime.fromtimestamp(monday / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return "?", "?"
    return moment.strftime("%b"), str(moment.day)


def room(cells: int) -> int:
    """Cells for the name of a pattern."""
    return max(8, min(40, cells * 2 // 5))


def draw(found: Sequence[Learning], chosen: int, at: int, cells: int, rows: int) -> list[Line]:
    """As many patterns as there are rows for, the chosen place among them; the weeks' names stand above."""
    if rows < 3 or not found:
        return [[("no week to show", "quiet")]] if not found else []
    name = room(cells)
    mondays = columns(found, at, cells - name - 1)
    months, days = _names(mondays)
    lines: list[Line] = [
        [(pad("week of ", name + 1, right=True), "quiet"), (months, "quiet")],
        [(" " * (name + 1), "text"), (days, "quiet")],
    ]
    shown = rows - 2
    first = max(0, min(chosen - shown // 2, len(found) - shown))
    places = range(first, min(len(found), first + shown))
    lines += [_row(found[place], mondays, name, here=place == chosen) for place in places]
    return [cut(line, cells) for line in lines]


def _row(one: Learning, mondays: Sequence[int], name: int, *, here: bool) -> Line:
    line: Line = [
        ("▸" if here else " ", "accent"),
        (pad(flat(one.title), name - 1) + " ", "strong" if here else "quiet"),
    ]
    return line + _shades(one, mondays)


def _shades(one: Learning, mondays: Sequence[int]) -> Line:
    counts: dict[int, int] = dict(one.weeks)
    line: Line = []
    for place, monday in enumerate(mondays):
        glyph, tone = shade(counts.get(monday, 0))
        line += [
            (f"{glyph * 2 if glyph != symbols.now().shades[0] else f'{glyph} '}", tone),
            (_between(mondays, place), "rest"),
        ]
    return line


def strip(one: Learning, at: int, cells: int) -> list[Line]:
    """The weeks of one pattern with their names and figures, in four lines."""
    mondays = columns([one], at, cells)
    months, days = _names(mondays)
    counts = dict(one.weeks)
    figures = "".join(f"{min(counts.get(monday, 0), 99) or '':<{_COLUMN}}" for monday in mondays)
    return [[(months, "quiet")], [(days, "quiet")], _shades(one, mondays), [(figures.rstrip(), "text")]]
