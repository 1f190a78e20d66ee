"""Gauges of the screen Now: the context window, and the work of the last days."""

from __future__ import annotations

from datetime import datetime, tzinfo

from nmem.read.figures import Days
from nmem.read.views import ContextWindow, Forecast
from nmem_tui.model import symbols
from nmem_tui.model.figures import age, ago, count, filled, several, tokens
from nmem_tui.model.line import Line, cut, fitting, spread, wrap
from nmem_tui.model.symbols import Sign

_WORDS = ((0.9, "nearly full", "bad"), (0.7, "filling up", "warn"), (0.45, "half used", "text"), (0.0, "roomy", "good"))
"""From which share of what may be used before it is compacted; the word and its tone."""
_SOON = 3
"""Turns from which on a forecast is a warning."""
_ROOMY = 70


def level(window: ContextWindow) -> tuple[str, str]:
    """How full it is in a word, measured by where it is compacted; and the word's tone."""
    most = window.compacts_at or window.size or 0
    share = (window.tokens or 0) / most if most else 0.0
    return next((word, tone) for at, word, tone in _WORDS if share >= at)


def left(told: Forecast, short: bool = False) -> str:
    """When it is compacted: `compacts in about 12 turns, 40 m`."""
    long = f", {age(told.minutes * 60_000)}" if told.minutes else ""
    return f"{'' if short else 'compacts in about '}{several(told.turns, 'turn')}{long}"


def bar(window: ContextWindow, cells: int) -> Line:
    """Used, free, and what stays free because the client compacts before."""
    size = window.size or 1
    done = filled(window.tokens or 0, size, cells)
    until = max(done, filled(window.compacts_at, size, cells) if window.compacts_at else cells)
    tone = {"bad": "bad", "warn": "warn"}.get(level(window)[1], "bar")
    return [
        (symbols.now().full * done, tone),
        (symbols.now().free * (until - done), "rest"),
        (symbols.now().held * (cells - until), "quiet"),
    ]


def _spent(window: ContextWindow) -> Line:
    return [] if window.cost_usd is None else [(f"${window.cost_usd:,.2f}", "text")]


Reset = tuple[int, int]
"""How many things a session would be told after a compaction or a clear, and in how many tokens."""


def after_reset(told: Reset | None, cells: int) -> list[Line]:
    """What would be told after a reset, in a line; none while that is not known."""
    if told is None:
        return []
    if not told[0]:
        return [cut([("after a reset: nothing is told", "quiet")], cells)]
    parts: list[tuple[int, Line]] = [
        (0, [("after a reset: ", "quiet"), (several(told[0], "item"), "text")]),
        (1, [(f", {several(told[1], 'token')}", "text")]), (2, [("; 5 shows", "quiet")]),
    ]  # fmt: skip
    return [fitting(parts, cells, "")]


def window_card(window: ContextWindow | None, at: int, cells: int, reset: Reset | None = None) -> list[Line]:
    """How full the model's context is, and what comes of it."""
    return [*_filled(window, at, cells), *after_reset(reset, cells)]


def _filled(window: ContextWindow | None, at: int, cells: int) -> list[Line]:
    if window is None or (window.tokens is None and not window.compacted):
        size = f"window of {tokens(window.size)}: " if window and window.size else ""
        return [
            fitting(
                [(0, [(f"{size}use not known yet", "quiet")]), (1, [(": read from the transcript", "quiet")])],
                cells,
                "",
            )
        ]
    if window.tokens is None:
        said: Line = [("just compacted", "good"), (": known after the next answer", "quiet")]
        return [cut(said, cells), spread([], _spent(window), cells)]
    if not window.size:
        used: Line = [(f"{tokens(window.tokens)} tokens", "strong"), ("  of an unknown window", "quiet")]
        return [spread(used, _spent(window), cells), _seen(window, at, cells)]
    told: Line = [
        (f"{window.tokens / window.size:.0%}", "strong"),
        (f"  {tokens(window.tokens)} of {tokens(window.size)} tokens", "quiet"),
    ]
    return [bar(window, cells), spread(told, _spent(window), cells), _words(window, at, cells)]


def _words(window: ContextWindow, at: int, cells: int) -> Line:
    word, tone = level(window)
    parts: list[tuple[int, Line]] = [(1, [(word, tone)])]
    if window.compacts_at and (window.tokens or 0) >= window.compacts_at:
        parts.append((0, [("compaction is imminent", "bad")]))
    elif window.forecast:
        parts.append((0, [(left(window.forecast), "warn" if window.forecast.turns <= _SOON else "text")]))
    else:
        seen: Line = [(f"as of {ago(at - window.at)}", "quiet")] if window.at else []
        share = f"compacts at {window.compacts_at / (window.size or 1):.0%}" if window.compacts_at else ""
        parts += [(2, [(share, "quiet")]) if share else (3, []), (3, seen)]
    return cut(fitting([part for part in parts if part[1]], cells, ", "), cells)


def _seen(window: ContextWindow, at: int, cells: int) -> Line:
    return cut([(f"as of {ago(at - window.at)}", "quiet")] if window.at else [], cells)


def short(window: ContextWindow | None, cells: int) -> Line:
    """The window in a few words; with what is left where there is room."""
    if window is None or window.tokens is None:
        return []
    if not window.size:
        return [("window ", "quiet"), (f"{tokens(window.tokens)} tokens", "text")]
    tone = {"bad": "bad", "warn": "warn"}.get(level(window)[1], "text")
    said: Line = [
        ("window ", "quiet"),
        (f"{window.tokens / window.size:.0%}", tone),
        (f" of {tokens(window.size)}", "quiet"),
    ]
    if window.forecast is None or cells < _ROOMY:
        return said
    return [*said, (f", {left(window.forecast, short=True)} left", "quiet")]


TITLE = "Today ─ in this project"
_WEEK = "MTWTFSS"
_TODAY = "today"
_AFTER = "  today"
_WIDE, _STEP = 3, 2
"""Cells of a day, its blank among them: where there is room, and where not."""
_FEWEST = 5
"""Days below which bars say nothing."""


def days_card(days: Days | None, zone: tzinfo | None, cells: int, rows: int) -> list[Line]:
    """Bars, the names of their days, and today's figures; the names give way first, then the bars."""
    if days is None or not any(days.calls):
        first = "nothing done yet" if days is None or len(days.calls) < 2 else f"nothing in {len(days.calls)} days"
        said = f"{first}: each call is counted here by day"
        return [[(text, "quiet")] for text in wrap(said, cells, rows)] if rows > 0 else []
    step = _WIDE if cells >= (len(days.calls) - 1) * _WIDE + len(_TODAY) else _STEP
    shown = min(len(days.calls), (cells - len(_AFTER) * (rows == 2)) // step)
    lines = [cut(_day_words(days, cells), cells)]
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


def _day_words(days: Days, cells: int) -> Line:
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
    said = _day_words(days, max(8, cells - len(_TODAY) - 1))
    shown = min(len(days.calls), cells - len(_TODAY) - 3 - sum(len(text) for text, _ in said))
    if shown < _FEWEST:
        return cut([(f"{_TODAY} ", "quiet"), *said], cells)
    bars = _bars(days.calls[-shown:], 1)
    return cut([(f"{_TODAY} ", "quiet"), *bars, ("  ", "text"), *said], cells)


SIGNS = (
    Sign(
        "{full}{free}{held}",
        "the context window: used, free, and what stays free because it is compacted before",
        "bar",
    ),
    Sign("{levels}", "calls a day, the fullest day highest; a dot is a day without any", "bar"),
)
