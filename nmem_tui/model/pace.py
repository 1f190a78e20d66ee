"""What hooks cost over time, and how fast the memory grows: a row of bars each, and the answer in words."""

from __future__ import annotations

from datetime import datetime, tzinfo

from nmem.read.pace import HOUR, WEEK, Pace
from nmem.text import pad, width
from nmem_tui.model import symbols
from nmem_tui.model.figures import count, micro, size, spark
from nmem_tui.model.line import Line, cut, length, spread

_LABEL = 8
_NAMES = {HOUR: "hour", 6 * HOUR: "6 hours", 24 * HOUR: "day", WEEK: "week"}
_STORED = 15
"""Cells of a name on the card of what is stored."""


def hooks(found: Pace | None, zone: tzinfo | None, cells: int) -> list[Line]:
    """Whether hooks are slow, and since when; nothing while that is not read, or no hook ran."""
    if found is None or not found.spans or found.usual is None:
        return []
    room = max(1, min(len(found.spans), cells - _LABEL))
    shown = found.spans[-room:]
    top = max((one.p50 for one in shown if one is not None), default=0)
    bars: Line = []
    for one in shown:
        slow = one is not None and found.slower is not None and one.at >= found.slower.at
        glyph = spark([one.p50], 1, top) if one is not None and top > 0 else symbols.now().unsure
        bars.append((glyph, "rest" if one is None else "warn" if slow else "bar"))
    by = _NAMES.get(found.length, "span")
    if len(found.spans) < 2:
        return [cut(_said(found, zone), cells)]
    first = next((one.at for one in shown if one is not None), 0)
    below = spread([(_when(first, found.length, zone), "quiet")], [("now", "quiet")], max(room, 8))
    lines: list[Line] = [[(pad(f"by {by}" if len(by) < 5 else by, _LABEL), "quiet"), *bars]]
    if room >= 16:
        lines.append([(" " * _LABEL, "text"), *below])
    return [cut(line, cells) for line in [*lines, _said(found, zone)]]


def _said(found: Pace, zone: tzinfo | None) -> Line:
    known = [one for one in found.spans if one is not None]
    if found.slower is not None:
        newest = known[-1]
        return [
            ("! ", "warn"), (f"slower since {_when(found.slower.at, found.length, zone)}: ", "warn"),
            (f"{micro(newest.p50)}, before {micro(found.usual)}", "text"),
        ]  # fmt: skip
    if len(known) < 2:
        return [("not long enough yet to say whether they become slower", "quiet")]
    worst = max(one.worst for one in known)
    said = f"no slower than before: {micro(found.usual)}, {micro(worst)} at worst"
    return [(f"{symbols.now().ok} ", "good"), (said, "text")]


def _when(at: int, length: int, zone: tzinfo | None) -> str:
    try:
        return datetime.fromtimestamp(at / 1000, zone).strftime("%a %d %b" if length >= 24 * HOUR else "%a %H:%M")
    except (ValueError, OverflowError, OSError):
        return "?"


def growth(found: Pace | None, octets: int, rows: int, cells: int) -> list[Line]:
    """What came in by week, and about how much that takes: by the size of a row that is stored."""
    if found is None or not any(found.weeks):
        return []
    newest = found.weeks[-1]
    each = octets / rows if rows > 0 else 0
    about = f"about {size(round(newest * each))}" if newest and each else ""
    line: Line = [
        (pad("in 7 days", _STORED), "text"), (pad(count(newest), 9, right=True), "strong"), ("  ", "text"),
        (spark(found.weeks, len(found.weeks)), "bar"),
    ]  # fmt: skip
    for said in (f"  by week, {about}" if about else "  by week", f"  {about}" if about else ""):
        if length(line) + width(said) <= cells:
            return [[*line, (said, "quiet")]]
    return [cut(line, cells)]
