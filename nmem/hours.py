"""Parses times as people write them: start times, quiet hours, durations; and tells stored ones."""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta

from nmem.errors import NmemError
from nmem.text import fit, printable

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}
_SPAN = re.compile(r"(?:in\s+)?(\d{1,6}(?:\.\d{1,3})?)\s*(s|m|h|d|w)[a-z]*", re.ASCII)
_CLOCK = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)", re.ASCII)
_EVENING, _MORNING = time(21), time(9)
_FIRST_INT = 1_000_000_000
_FIRST, _LAST = 86_400_000, 253_370_764_800_000
_MOST = 5 * 366 * 86_400
TAKES = "now, 30m, 2h, 22:30, tonight, tomorrow, 2026-01-31 08:00"


def utc(at: int) -> datetime:
    """Stored milliseconds as a time; the nearest one that a calendar has, for what is stored may be damaged."""
    return datetime.fromtimestamp(max(_FIRST, min(at, _LAST)) / 1000, UTC)


def when(text: str, now: int) -> int:
    """A time to come in milliseconds: 2h, 22:30, tonight (21:00), tomorrow (09:00), a date, a unix time. 0 is now.

    Raises NmemError.
    """
    word = text.strip().lower()
    if word in ("", "now"):
        return 0
    here = datetime.fromtimestamp(now / 1000, UTC).astimezone()
    if word == "tonight":
        return _next(here, _EVENING)
    if word == "tomorrow":
        return _milliseconds(datetime.combine(here.date() + timedelta(days=1), _MORNING))
    if _SPAN.fullmatch(word):
        return now + 1000 * span(word.removeprefix("in").strip())
    if clock := _CLOCK.fullmatch(word):
        return _next(here, time(int(clock[1]), int(clock[2])))
    if word.isdecimal() and word.isascii() and len(word) < 12 and int(word) > _FIRST_INT:
        return int(word) * 1000
    try:
        return _milliseconds(datetime.fromisoformat(text.strip()))
    except (ValueError, OverflowError):
        raise NmemError(f"invalid time {_shown(text)!r}: use {TAKES}") from None


def span(text: str) -> int:
    """30s, 10m, 2h, 1d or 1w as seconds; a bare number is seconds. Raises NmemError."""
    word = text.strip().lower()
    found = _SPAN.fullmatch(word if not word.isdecimal() else f"{word}s")
    seconds = int(float(found[1]) * _UNITS[found[2]]) if found else -1
    if not 0 <= seconds <= _MOST:
        raise NmemError(f"invalid duration {_shown(text)!r}: use 90s, 10m, 2h or 1d")
    return seconds


def quiet(text: str) -> str:
    """Quiet hours in their one form, HH:MM-HH:MM; empty for none. Raises NmemError."""
    word = text.strip().lower()
    if word in ("", "none", "off"):
        return ""
    begin, dash, end = (part.strip() for part in word.partition("-"))
    first, last = _CLOCK.fullmatch(begin), _CLOCK.fullmatch(end)
    if not (dash and first and last) or first.groups() == last.groups():
        raise NmemError(f"invalid quiet hours {_shown(text)!r}: use 09:00-18:00, 22:00-07:00, or none")
    return "-".join(f"{int(hour):02d}:{minute}" for hour, minute in (first.groups(), last.groups()))


def within(held: str, now: int) -> bool:
    """Whether a moment lies in quiet hours, on the clock of this machine; they may run over midnight."""
    begin, end = (time.fromisoformat(part) for part in held.split("-"))
    clock = datetime.fromtimestamp(now / 1000, UTC).astimezone().time()
    return begin <= clock < end if begin < end else clock >= begin or clock < end


def _next(here: datetime, clock: time) -> int:
    """The next moment at which the clock shows this."""
    today = _milliseconds(datetime.combine(here.date(), clock))
    if today > here.timestamp() * 1000:
        return today
    return _milliseconds(datetime.combine(here.date() + timedelta(days=1), clock))


def _milliseconds(naive: datetime) -> int:
    return int(naive.astimezone().timestamp() * 1000)


def _shown(text: str) -> str:
    return fit(printable(text.strip()), 40) or "nothing"
