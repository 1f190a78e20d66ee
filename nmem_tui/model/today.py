"""What was done by day on the screen Now: a bar a day up to today, and today in figures."""

from __future__ import annotations

from datetime import datetime, tzinfo

from nmem.read.days import Days
from nmem_tui.model import symbols
from nmem_tui.model.figures import count, several
from nmem_tui.model.line import Line, cut, fitting, wrap

TITLE = "Today ─ in this project"
_WEEK = "MTWTFSS"
_TODAY = "today"
_AFTER = "  today"
_WIDE, _STEP = 3, 2
"""Cells of a day, its blank among them: where there is room, and where not."""
_FEWEST = 5
"""Days below which bars say nothing."""


def card(days: Days | None, zone: tzinfo | None, cells: int, rows: int) -> list[Line]:
    """Bars, the names of their days, and today's figures; the names give way first, then the bars."""
    if days is None or not any(days.calls):
        first = "nothing done yet" if days is None or len(days.calls) < 2 else f"nothing in {len(days.calls)} days"
        said = f"{first}: each call is counted here by day"
        return [[(text, "quiet")] for text in wrap(said, cells, rows)] if rows > 0 else []
    step = _WIDE if cells >= (len(days.calls) - 1) * _WIDE + len(_TODAY) else _STEP
    shown = min(len(days.calls), (cells - len(_AFTER) * (rows == 2)) // step)
    lines = [cut(_words(days, cells), cells)]
    if shown >= _FEWEST and rows > 1:
        bars = _bars(days.calls[-shown:], step)
        if rows > 2:
            lines.insert(0, cut(_names(days, shown, step, zone), cells))
        else:
            bars += [(f"{symbols.now().left} {_TODAY}", "quiet")]
        lines.insert(0, cut(bars, cells))
    return lines[: max(0, rows)]


def _bars(calls: tuple[int, ...], step: int) -> Line:
    """The highest day is a full bar; a day without anything is a dot, so that it is no small one."""
    signs, top = symbols.now(), max(calls)
    high = len(signs.levels) - 1
    line: Line = []
    for place, number in enumerate(calls):
        glyph = signs.levels[min(high, round(high * number / top))] if number > 0 else signs.track
        tone = "off" if not number else "accent" if place == len(calls) - 1 else "bar"
        thick = max(1, step - 1) if number > 0 else 1
        line += [(glyph * thick, tone), (" " * (step - thick), "text")]
    return line


def _names(days: Days, shown: int, step: int, zone: tzinfo | None) -> Line:
    """The days' first letters; today's name stands in words below its bar."""
    before = (shown - 1) * step
    letters = "".join(_letter(start, zone).ljust(step) for start in days.starts[-shown:-1])
    room = max(0, before if step == _WIDE else before - len(_TODAY) + 1)
    return [(letters[: max(0, room - 1)].ljust(room), "quiet"), (_TODAY, "accent")]


def _letter(start: int, zone: tzinfo | None) -> str:
    try:
        return _WEEK[datetime.fromtimestamp(start / 1000, zone).weekday()]
    except (ValueError, OverflowError, OSError):
        return "?"


def _words(days: Days, cells: int) -> Line:
    """Today's figures, each with its word; the calls stay longest."""
    parts: list[tuple[int, Line]] = [
        (1, _figure(days.episodes, "episode")),
        *([(2, _figure(days.pinned, "pinned", "pinned"))] if days.pinned else []),
        (0, _figure(days.calls[-1], "call")),
    ]
    return fitting(parts, cells)


def _figure(number: int, one: str, many: str = "") -> Line:
    word = several(number, one, many).partition(" ")[2]
    return [(count(number), "strong" if number else "quiet"), (f" {word}", "text" if number else "quiet")]


def line(days: Days | None, cells: int) -> Line:
    """All of it in one line, for a screen of one column."""
    if days is None or not any(days.calls):
        return []
    said = _words(days, max(8, cells - len(_TODAY) - 1))
    shown = min(len(days.calls), cells - len(_TODAY) - 3 - sum(len(text) for text, _ in said))
    if shown < _FEWEST:
        return cut([(f"{_TODAY} ", "quiet"), *said], cells)
    bars = _bars(days.calls[-shown:], 1)
    return cut([(f"{_TODAY} ", "quiet"), *bars, ("  ", "text"), *said], cells)
