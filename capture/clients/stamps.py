"""Parses a client's timestamps to milliseconds, without `datetime`."""

from __future__ import annotations

from capture.clients.fields import whole

_DAY = 86_400_000
# A stamp a little ahead is a clock that was set; further ahead it is not a time.
_AHEAD = 60_000


def stamp(value: object, now: int) -> int:
    """When the client says that it happened, in milliseconds; `now` when it does not say or cannot be right."""
    at = milliseconds(value) if isinstance(value, str) else whole(value)
    return at if at is not None and 0 < at <= now + _AHEAD else now


def milliseconds(value: str) -> int | None:
    """`2026-11-21T21:17:11.169Z` (or with an offset) as milliseconds since the epoch; None when it is no such text."""
    day, _, clock = value.strip().replace(" ", "T", 1).partition("T")
    date = _numbers(day.split("-"))
    clock, offset = _offset(clock.removesuffix("Z"))
    whole_clock, _, fraction = clock.partition(".")
    time = _numbers(whole_clock.split(":"))
    if len(date) != 3 or len(time) != 3 or offset is None or (fraction and not fraction.isdecimal()):
        return None
    seconds = (time[0] * 60 + time[1]) * 60 + time[2] - offset
    return _days(*date) * _DAY + seconds * 1000 + int((fraction + "000")[:3])


def _numbers(parts: list[str]) -> list[int]:
    return [int(part) for part in parts] if all(part.isdecimal() and len(part) < 5 for part in parts) else []


def _offset(clock: str) -> tuple[str, int | None]:
    """The clock without its offset from UTC, and the offset in seconds; None when it is not one."""
    for sign, factor in (("+", 60), ("-", -60)):
        head, found, tail = clock.partition(sign)
        if found:
            parts = _numbers([tail[:2], tail[-2:]])
            return head, factor * (parts[0] * 60 + parts[1]) if parts else None
    return clock, 0


def _days(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01 in the Gregorian calendar."""
    year -= month <= 2
    era, of_era = divmod(year, 400)
    of_year = (153 * (month - 3 if month > 2 else month + 9) + 2) // 5 + day - 1
    return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468
