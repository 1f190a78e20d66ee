"""Learning settings from the user's config.toml.

    [learn]
    sessions = 3                           # distinct sessions that make a pattern
    half_life_days = 7                     # after which an occurrence warms half as much

What cannot be read leaves the defaults in force.
"""

from __future__ import annotations

from dataclasses import dataclass

from capture import config_table

SESSIONS, LEAST_SESSIONS, MOST_SESSIONS = 3, 2, 50
HALF_LIFE_DAYS, LONGEST_DAYS = 7.0, 3650.0
Form = tuple[int, float, list[str]]


@dataclass(frozen=True, slots=True)
class Config:
    """How often is often, and how fast heat fades."""

    sessions: int = SESSIONS
    """Distinct sessions that make a pattern."""
    half_life_days: float = HALF_LIFE_DAYS


def load() -> Config:
    """The [learn] table; never raises."""
    sessions, days, _ = config_table.load("learn", (int, float, [str]), form, _unread)
    return Config(sessions, days)


def _unread(trouble: str) -> Form:
    return SESSIONS, HALF_LIFE_DAYS, [trouble]


def form(document: dict[str, object], file: str = "config.toml") -> Form:
    """The [learn] table of a document as (sessions, half-life in days, what is wrong with it)."""
    section = document.get("learn", {})
    if not isinstance(section, dict):
        return _unread(f"{file}: [learn] is not a table")
    trouble = [f"{file}: learn.{key} is not known" for key in section if key not in ("sessions", "half_life_days")]
    sessions, days = section.get("sessions", SESSIONS), section.get("half_life_days", HALF_LIFE_DAYS)
    if not isinstance(sessions, int) or isinstance(sessions, bool) or not LEAST_SESSIONS <= sessions <= MOST_SESSIONS:
        trouble.append(f"{file}: learn.sessions is a whole number from {LEAST_SESSIONS} to {MOST_SESSIONS}")
        sessions = SESSIONS
    if not isinstance(days, int | float) or isinstance(days, bool) or not 0 < days <= LONGEST_DAYS:
        trouble.append(f"{file}: learn.half_life_days is a number of days above 0, at most {LONGEST_DAYS:g}")
        days = HALF_LIFE_DAYS
    return sessions, float(days), trouble
