"""The context window as the Now screen shows it: a gauge with words, when it is compacted, what the session cost."""

from __future__ import annotations

from nmem.read.window import ContextWindow, Forecast
from nmem_tui.model import symbols
from nmem_tui.model.figures import age, ago, filled, several, tokens
from nmem_tui.model.line import Line, cut, fitting, spread

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
        (0, [("after a reset: ", "quiet"), (several(told[0], "thing"), "text")]),
        (1, [(f", {several(told[1], 'token')}", "text")]), (2, [("; 5 shows", "quiet")]),
    ]  # fmt: skip
    return [fitting(parts, cells, "")]


def card(window: ContextWindow | None, at: int, cells: int, reset: Reset | None = None) -> list[Line]:
    """How full the model's context is, and what comes of it."""
    return [*_filled(window, at, cells), *after_reset(reset, cells)]


def _filled(window: ContextWindow | None, at: int, cells: int) -> list[Line]:
    if window is None or (window.tokens is None and not window.compacted):
        size = f"window of {tokens(window.size)}: " if window and window.size else ""
        return [
            fitting(
                [(0, [(f"{size}use not known yet", "quiet")]), (1, [(": the transcript tells it", "quiet")])], cells, ""
            )
        ]
    if window.tokens is None:
        said: Line = [("just compacted", "good"), (": the next answer tells how full it is", "quiet")]
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
        parts.append((0, [("it compacts any moment", "bad")]))
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
