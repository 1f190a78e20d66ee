"""Matches the user's own redaction patterns within a time limit; returns None when that takes too long.

A timer of the process's own time ends the search, since the engine looks for signals now and then. Where there is none
(in a thread, or on a system without such timers) what could take long is searched in a process that can be ended.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]

from capture.redaction.rules_cache import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from re import Pattern

    Found = list[tuple[int, int, int]]
    """The number of the pattern, and where what it found begins and ends."""

FIRST = 0.15
"""Seconds of processor time for all patterns over one text."""
LEAST = 0.01
"""Each time that this is not enough it is halved, down to here: many slow texts together stay within a hook's time.
What is fast enough lengthens it again."""
_OUTSIDE = 1.0
"""Seconds, by the clock, for the same in another process."""
_LONG = 4_000
"""Characters from which even one repetition may take long."""

_limit = [FIRST]
_armed = [False]
_said = [False]


class TooSlow(Exception):
    """The time is over."""


def matches(sources: Sequence[str], text: str, *, whole: bool = False, limit: float = 0.0) -> Found | None:
    """Where patterns match, their first groups if they have any; `whole`: which of them match all of the text.

    None when that takes too long: then nothing is known. `limit`: seconds, instead of those of this process.
    """
    patterns = [pattern(source) for source in sources]
    found: Found | None
    try:
        found = _timed(patterns, text, whole, limit or _limit[0])
        _limit[0] = min(FIRST, _limit[0] * 1.1)
    except TooSlow:
        found = None
    except (AttributeError, ValueError):  # there is no such timer here
        if not any(_risky(source, text) for source in sources):
            return _search(patterns, text, whole)
        found = _outside(list(sources), text, whole)
    if found is None and not limit:
        _slow(len(text))
    return found


def _timed(patterns: list[Pattern[str]], text: str, whole: bool, limit: float) -> Found:
    _signal.signal(_signal.SIGVTALRM, _over)  # ValueError in a thread
    _armed[0] = True
    try:
        _signal.setitimer(_signal.ITIMER_VIRTUAL, limit)
        return _search(patterns, text, whole)
    finally:
        _armed[0] = False  # a signal that comes late finds nobody
        _signal.setitimer(_signal.ITIMER_VIRTUAL, 0)


def _over(number: int, frame: object) -> None:  # noqa: ARG001 - a handler's shape
    if _armed[0]:
        raise TooSlow


def _search(patterns: list[Pattern[str]], text: str, whole: bool) -> Found:
    if whole:
        return [(number, 0, len(text)) for number, one in enumerate(patterns) if one.fullmatch(text)]
    out = []
    for number, one in enumerate(patterns):
        for matched in one.finditer(text):
            begin, end = matched.span(1 if one.groups and matched.start(1) >= 0 else 0)
            if end > begin:
                out.append((number, begin, end))
    return out


def _risky(source: str, text: str) -> bool:
    """Whether it could take long: two repetitions of any length can, and one over a long text."""
    repeats = sum(source.count(sign) for sign in "*+,")
    return repeats > 1 or (repeats > 0 and len(text) > _LONG)


_CODE = (
    "import json, re, sys\n"
    "sources, text, whole = json.loads(sys.stdin.buffer.read())\n"
    "out = []\n"
    "for number, source in enumerate(sources):\n"
    "    one = re.compile(source)\n"
    "    for m in filter(None, [one.fullmatch(text)]) if whole else one.finditer(text):\n"
    "        begin, end = (0, len(text)) if whole else m.span(1 if one.groups and m.start(1) >= 0 else 0)\n"
    "        if end > begin: out.append((number, begin, end))\n"
    "print(json.dumps(out))\n"
)


def _outside(sources: list[str], text: str, whole: bool) -> Found | None:
    import json  # on use: start-up stays short
    import subprocess
    import sys

    words = [sys.executable, "-I", "-S", "-c", _CODE]
    given = json.dumps([sources, text, whole]).encode()
    try:
        done = subprocess.run(words, input=given, capture_output=True, timeout=_OUTSIDE, check=True)
        return [(number, begin, end) for number, begin, end in json.loads(done.stdout)]
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def _slow(size: int) -> None:
    """Less time for the next one, and one line in the log a process."""
    _limit[0] = max(LEAST, _limit[0] / 2)
    if _said[0]:
        return
    _said[0] = True
    from capture import log, paths  # on use: start-up stays short

    said = f"redaction: a pattern of yours takes too long for a text of {size} characters: withheld whole"
    log.note(paths.database(), f"{said}; nmem config check")
