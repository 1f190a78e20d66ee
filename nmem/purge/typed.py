"""Parses a selection typed on one line: words, places and times, all of which must match.

read('"sk-live" project:shop since:7d', now, zone)
"""

from __future__ import annotations

import re
from datetime import datetime, tzinfo

from nmem.errors import NmemError
from nmem.purge.selection import KINDS, Selection, parse
from nmem.text import printable

_SPANS = {"m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_PART = re.compile(r'(project|file|session|since|before|until|re):(?:"([^"]*)"|(\S+))|"([^"]+)"|(\S+)')
_ID = re.compile(rf"(?:{'|'.join((*KINDS, 'observation'))})/\S+")


def read(typed: str, now: int, zone: tzinfo | None = None) -> Selection:
    """What was typed. Raises NmemError where it says nothing, or something that cannot be understood."""
    given: dict[str, list[str]] = {}
    words: list[str] = []
    ids: list[tuple[str, str]] = []
    for name, quoted, plain, phrase, word in _PART.findall(typed):
        if name and not (quoted or plain):
            raise NmemError(f"{name}: what? type it behind the colon")
        if name:
            given.setdefault("before" if name == "until" else name, []).append(quoted or plain)
        elif _ID.fullmatch(word):
            ids.append(parse(word))
        else:
            words.append(phrase or word)
    if not typed.strip():
        raise NmemError("type what shall go: words, an id, or where and when it was")
    times = {name: _moment(name, given.get(name, []), now, zone) for name in ("before", "since")}
    return Selection(
        ids=tuple(ids), sessions=tuple(given.get("session", ())), projects=tuple(given.get("project", ())),
        files=tuple(given.get("file", ())), texts=(" ".join(words),) if words else (),
        regexes=tuple(given.get("re", ())), before=times["before"], since=times["since"],
    )  # fmt: skip


def _moment(name: str, said: list[str], now: int, zone: tzinfo | None) -> int | None:
    """`7d`, `12h`, `14:20` of today, `2026-01-31`, `2026-01-31T10:00` in milliseconds; the last one said."""
    if not said:
        return None
    text = said[-1]
    try:
        if text[-1:] in _SPANS and not text.startswith("-"):
            return now - int(float(text[:-1]) * _SPANS[text[-1]])
        if re.fullmatch(r"\d{1,2}:\d\d", text):
            hour, minute = map(int, text.split(":"))
            day = datetime.fromtimestamp(now / 1000, zone)
            return int(day.replace(hour=hour, minute=minute, second=0, microsecond=0).timestamp() * 1000)
        when = datetime.fromisoformat(text)
        return int((when if when.tzinfo else when.replace(tzinfo=zone)).timestamp() * 1000)
    except (ValueError, OverflowError):
        raise NmemError(
            f"{name}: invalid time {printable(text)!r}: use 7d, 12h, 30m, 14:20, 2026-01-31 or 2026-01-31T10:00"
        ) from None
