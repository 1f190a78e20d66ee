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
    return symbols.now().shades[place], "off" if count < 1 else "bad" if count >= 8 else "warn" if count >= 4 else "bar"


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


class Weeks:
    """Some patterns, row by row; what is drawn of one is kept while the cursor moves among them."""

    def __init__(self, found: Sequence[Learning] = (), at: int = 0) -> None:
        self._found, self._at = found, at
        self._for: tuple[int, object] = (0, None)
        """The cells and the symbols that the rest is for."""
        self._heads: list[Line] = []
        self._mondays: list[int] = []
        self._shades: dict[int, Line] = {}

    def draw(self, chosen: int, cells: int, rows: int) -> list[Line]:
        """As many as there are rows for, the chosen place among them; the weeks' names stand above."""
        if rows < 3 or not self._found:
            return [[("no week to show", "quiet")]] if not self._found else []
        self._lay(cells)
        shown = rows - len(self._heads)
        first = max(0, min(chosen - shown // 2, len(self._found) - shown))
        places = range(first, min(len(self._found), first + shown))
        return [*self._heads, *(self._row(place, cells, here=place == chosen) for place in places)]

    def _lay(self, cells: int) -> None:
        """The weeks for so many cells."""
        if self._for == (cells, symbols.now()):
            return
        self._for, self._shades, name = (cells, symbols.now()), {}, room(cells)
        self._mondays = columns(self._found, self._at, cells - name - 1)
        months, days = _names(self._mondays)
        self._heads = [
            cut([(pad("week of ", name + 1, right=True), "quiet"), (months, "quiet")], cells),
            cut([(" " * (name + 1), "text"), (days, "quiet")], cells),
        ]

    def _row(self, place: int, cells: int, *, here: bool) -> Line:
        one, name = self._found[place], room(cells)
        if place not in self._shades:
            self._shades[place] = _shades(one, self._mondays)
        title = (pad(flat(one.title), name - 1) + " ", "strong" if here else "quiet")
        return cut([("▸" if here else " ", "accent"), title, *self._shades[place]], cells)


def _shades(one: Learning, mondays: Sequence[int]) -> Line:
    """The weeks of one pattern; what looks the same is one stretch."""
    counts: dict[int, int] = dict(one.weeks)
    line: Line = []
    for place, monday in enumerate(mondays):
        glyph, tone = shade(counts.get(monday, 0))
        never = glyph == symbols.now().shades[0]
        for text, look in ((f"{glyph} " if never else glyph * 2, tone), (_between(mondays, place), "rest")):
            if line and line[-1][1] == look:
                line[-1] = (line[-1][0] + text, look)
            else:
                line.append((text, look))
    return line


def strip(one: Learning, at: int, cells: int) -> list[Line]:
    """The weeks of one pattern with their names and figures, in four lines."""
    mondays = columns([one], at, cells)
    months, days = _names(mondays)
    counts = dict(one.weeks)
    figures = "".join(f"{min(counts.get(monday, 0), 99) or '':<{_COLUMN}}" for monday in mondays)
    return [[(months, "quiet")], [(days, "quiet")], _shades(one, mondays), [(figures.rstrip(), "text")]]
