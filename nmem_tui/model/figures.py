"""Formats figures for people: ages, durations, tokens, sizes, bars and sparklines."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, tzinfo

from nmem_tui.model import symbols

_YEAR_S = 31_556_952
_LONG_S = 60 * 86_400
"""From here on in months."""
_WORDS = {"mo": "months", "y": "years"}


def age(ms: int) -> str:
    """How long: `now`, `40 s`, `14 m`, `3 h`, `5 d`, `9 mo`, `2 y`."""
    seconds = max(0, ms) // 1000
    if seconds < 5:
        return "now"
    if seconds >= _LONG_S:
        return f"{seconds // _YEAR_S} y" if seconds >= 2 * _YEAR_S else f"{seconds * 12 // _YEAR_S} mo"
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def ago(ms: int) -> str:
    """How long since: `now`, `14 m ago`, `9 months ago`."""
    number, _, unit = age(ms).partition(" ")
    if unit in _WORDS:
        unit = _WORDS[unit]
    return number if not unit else f"{number} {unit} ago"


def clock(at: int, zone: tzinfo | None) -> str:
    """The time of day."""
    try:
        return datetime.fromtimestamp(at / 1000, zone).strftime("%H:%M:%S")
    except (ValueError, OverflowError, OSError):
        return "--:--:--"


def day(at: int, zone: tzinfo | None) -> str:
    """Day and time."""
    try:
        return datetime.fromtimestamp(at / 1000, zone).strftime("%Y-%m-%d %H:%M:%S")
    except (ValueError, OverflowError, OSError):
        return "unknown"


def date(at: int, now: int, zone: tzinfo | None) -> str:
    """The day and the time of day as `02-13 14:27`; of another year the whole date instead, `2025-02-13`."""
    told = day(at, zone)
    return told[5:16] if told[:4] == day(now, zone)[:4] else told[:10]


def duration(ms: int | None) -> str:
    """How long something took: `40 ms`, `2.1 s`, `3.5 m`; nothing when unknown."""
    if ms is None or ms < 0:
        return ""
    if ms < 1000:
        return f"{ms} ms"
    if ms < 60_000:
        return f"{ms / 1000:.1f} s"
    return f"{ms / 60_000:.1f} m" if ms < 3_600_000 else f"{ms / 3_600_000:.1f} h"


def micro(us: float | None) -> str:
    """Microseconds as milliseconds."""
    if us is None:
        return "–"
    return f"{us / 1000:.0f} ms" if us >= 10_000 else f"{us / 1000:.1f} ms"


def count(number: int) -> str:
    """A count: `950`, `1,378`, `12.4 k`, `1.20 M`."""
    if number < 10_000:
        return f"{number:,}"
    return f"{number / 1000:.1f} k" if number < 1_000_000 else f"{number / 1_000_000:.2f} M"


def tokens(number: int) -> str:
    """Tokens: `950`, `82 k`, `1.2 M`."""
    if number < 1000:
        return str(number)
    return f"{number / 1000:.0f} k" if number < 1_000_000 else f"{number / 1_000_000:.1f} M"


def size(octets: int) -> str:
    """Bytes: `812 B`, `64 kB`, `3.2 MB`."""
    value = float(octets)
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if value >= 10 or unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


def several(number: int, one: str, many: str = "") -> str:
    """A number with its word."""
    return f"{number:,} {plural(number, one, many)}"


def plural(number: int, one: str, many: str = "") -> str:
    """The word for so many."""
    return one if number == 1 else many or one + "s"


def filled(part: float, whole: float, cells: int) -> int:
    """How many of `cells` cells a share fills: something is never nothing, nor everything."""
    if whole <= 0 or part <= 0:
        return 0
    if part >= whole:
        return cells
    return min(max(1, round(cells * part / whole)), max(1, cells - 1))


def scaled(part: float, whole: float, cells: int) -> int:
    """How many cells of a bar beside its number: what is too little for one has none, so that lengths compare."""
    return min(cells, round(cells * part / whole)) if whole > 0 else 0


def spark(values: Sequence[float], cells: int, top: float = 0.0) -> str:
    """The newest `cells` values as a row of bars, in braille twice as many; the highest, or `top`, is a full one."""
    signs = symbols.now()
    if signs.name == symbols.BRAILLE:
        return _dotted(list(values)[-2 * cells :], top)
    shown = list(values)[-cells:]
    high = len(signs.levels) - 1
    return "".join(signs.levels[_height(value, top or max(shown), high)] for value in shown)


def by_day(values: Sequence[float], cells: int) -> str:
    """As `spark`, but a day without anything is a dot, so that it is no small one."""
    drawn, signs = spark(values, cells), symbols.now()
    if signs.name == symbols.BRAILLE:  # two days in a cell: none has no dots
        return drawn
    shown = list(values)[-cells:]
    return "".join(bar if value > 0 else signs.track for bar, value in zip(drawn, shown, strict=True))


def _height(value: float, top: float, high: int) -> int:
    return min(high, max(0, round(high * value / top))) if top > 0 else 0


_LEFT, _RIGHT = (0x40, 0x44, 0x46, 0x47), (0x80, 0xA0, 0xB0, 0xB8)
"""The dots of a braille pattern for a bar of one to four dots."""


def _dotted(shown: Sequence[float], top: float) -> str:
    """Two bars in each cell; an odd one stands at the right, so that the newest end is filled."""
    heights = [_height(value, top or max(shown), 3) for value in shown]
    dots = [0] * (len(heights) % 2) + [side[one] for side, one in zip(_sides(len(heights)), heights, strict=True)]
    return "".join(chr(0x2800 + left + right) for left, right in zip(dots[::2], dots[1::2], strict=True))


def _sides(count: int) -> list[tuple[int, ...]]:
    return [_RIGHT if (count - place) % 2 else _LEFT for place in range(count)]
