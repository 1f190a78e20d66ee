"""Draws the history strip of the screen Episodes: a segment per episode with its thread's letter, in time order.

Time in which nothing was done takes a cell, a night three, so that work is what is seen. A segment is longer by a cell
for every five minutes that the episode was active. Which stretch is drawn, and whose letter is which, stays while the
cursor moves within it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from string import ascii_lowercase, ascii_uppercase

from nmem.read.episodes import EpisodeRow
from nmem.text import fit, width
from nmem_tui.model import symbols
from nmem_tui.model.episodes import Shelf, day_of, same
from nmem_tui.model.figures import age, clock, several
from nmem_tui.model.line import Line, cut, fitting, joined, length
from nmem_tui.model.now_cards import flat
from nmem_tui.model.symbols import Sign

IDLE_MS = 30 * 60_000
"""From here on nothing was done in between."""
_NIGHT = 3
_LEAST, _MOST = 3, 24
"""Cells of a segment: always, and for two hours or more."""
_CELL_MS = 5 * 60_000
_LONGEST_MS = 30 * 86_400_000
"""Longer is no work: a clock was wrong."""
_LETTERS = ascii_uppercase + ascii_lowercase
_TONES = ("run", "change", "agent", "user", "bar", "look")
_TITLES = (60, 44, 36, 28)
"""Cells of a thread's name: as many as all have room for."""
_TITLE = _TITLES[-1]


@dataclass(frozen=True, slots=True)
class Segment:
    """Where an episode stands on the strip."""

    row: EpisodeRow
    first: int
    cells: int
    day: int
    opens: bool
    """Whether it is the first of its day."""


class Letters:
    """A letter and a tone for each thread, given once."""

    def __init__(self) -> None:
        self._known: dict[int, int] = {}

    def of(self, thread_id: int | None) -> tuple[str, str]:
        """The letter of a thread and its tone; a dash for episodes without one."""
        if thread_id is None:
            return symbols.now().dash, "quiet"
        number = self._known.setdefault(thread_id, len(self._known))
        return _LETTERS[number % len(_LETTERS)], _TONES[number % len(_TONES)]


class Stretch:
    """The episodes that are drawn: those around the cursor, and the same ones while it moves among them."""

    def __init__(self) -> None:
        self.letters = Letters()
        self._newest = 0

    def around(self, shelf: Shelf, unit_id: int | None, cells: int) -> list[Segment]:
        """The segments for so many cells; none while the episode under the cursor is not in memory."""
        place = shelf.order.get(unit_id or 0)
        if place is None or cells <= 0:
            return []
        found = self._known(shelf, min(self._newest, place), cells)
        if not self._newest <= place < self._newest + len(found):
            self._newest = max(0, place - cells // (5 * _LEAST)) if self._newest or place >= len(found) else 0
            found = self._known(shelf, self._newest, cells)
            if place >= self._newest + len(found):
                self._newest = place
                found = self._known(shelf, place, cells)
        for row in found:
            self.letters.of(row.thread_id)
        return laid(found[::-1], cells, shelf.zone)

    def _known(self, shelf: Shelf, first: int, cells: int) -> list[EpisodeRow]:
        """The newest first, as many as there is room for and as are in memory."""
        out: list[EpisodeRow] = []
        room = cells
        for slot in shelf.slots[first : first + cells]:
            row = shelf.cached(slot.id)
            if row is None:
                break
            room -= _size(row, cells) + (_gap(row, out[-1], shelf.zone) if out else 0)
            if room < 0:
                break
            out.append(row)
        return out


def _gap(before: EpisodeRow, after: EpisodeRow, zone: tzinfo | None) -> int:
    """Cells between two episodes: a night, an idle while, or nothing."""
    if day_of(before.last_at, zone) != day_of(after.last_at, zone):
        return _NIGHT
    return int(after.started_at - before.last_at >= IDLE_MS)


def _active(row: EpisodeRow) -> int:
    long = row.active_ms or row.last_at - row.started_at
    return long if 0 <= long <= _LONGEST_MS else 0


def _size(row: EpisodeRow, cells: int) -> int:
    """Cells of an episode: by how long it was active."""
    return min(cells, _MOST, _LEAST + _active(row) // _CELL_MS)


def laid(rows: Sequence[EpisodeRow], cells: int, zone: tzinfo | None) -> list[Segment]:
    """Episodes, the oldest first, side by side; what does not fit is left out."""
    out: list[Segment] = []
    at = 0
    for number, row in enumerate(rows):
        gap = _gap(rows[number - 1], row, zone) if number else 0
        size = _size(row, cells)
        if at + gap + size > cells:
            break
        out.append(Segment(row, at + gap, size, day_of(row.last_at, zone), not number or gap == _NIGHT))
        at += gap + size
    return out


def draw(
    segments: Sequence[Segment], chosen: int | None, letters: Letters, cells: int, rows: int, now: int,
    zone: tzinfo | None,
) -> list[Line]:  # fmt: skip
    """The strip and what the chosen episode is; with more rows the days above, and whose letters these are below."""
    if not segments or cells <= 0:
        return []
    today = day_of(now, zone)
    lines = [_strip(segments, chosen, letters), _pointer(segments, chosen, letters if rows < 4 else None, cells, zone)]
    if rows > 2:
        lines.insert(0, _days(segments, today, cells))
    if rows > 3:
        lines.append(legend(segments, letters, cells))
    return [cut(line, cells) for line in lines[: max(0, rows)]]


def _strip(segments: Sequence[Segment], chosen: int | None, letters: Letters) -> Line:
    signs, line, at = symbols.now(), Line(), 0
    calm = signs.levels[len(signs.levels) // 2 - 1]
    for one in segments:
        gap = one.first - at
        if gap == _NIGHT:
            line += [(" ", "text"), (signs.border, "rest"), (" " * (gap - 2), "text")]
        elif gap:
            line.append((" " * gap, "text"))
        letter, tone = letters.of(one.row.thread_id)
        here = one.row.id == chosen
        line += [(letter, "strong" if here else tone), ((signs.full if here else calm) * (one.cells - 1), tone)]
        at = one.first + one.cells
    return line


def _pointer(
    segments: Sequence[Segment], chosen: int | None, letters: Letters | None, cells: int, zone: tzinfo | None
) -> Line:
    """A mark below the chosen episode, and at the side with more room its name; with `letters` its thread as well."""
    one = next((each for each in segments if each.row.id == chosen), None)
    if one is None:
        return []
    mark, right, left = (symbols.now().hot, "accent"), cells - one.first - 2, one.first - 1
    said = _named(one, letters, max(right, left), zone)
    if right >= left or not said:
        return [(" " * one.first, "text"), mark, *([(" ", "text"), *said] if said else [])]
    return [(" " * (left - length(said)), "text"), *said, (" ", "text"), mark]


def _named(one: Segment, letters: Letters | None, cells: int, zone: tzinfo | None) -> Line:
    """When an episode began, how long it took, what it is about; empty where there is no room for the first."""
    long = age(_active(one.row))
    when = f"{clock(one.row.started_at, zone)[:5]}{f', {long}' if long != 'now' else ''}"
    room = cells - width(when) - 2
    if room < -2:
        return []
    thread: Line = []
    if letters is not None and one.row.thread and room > 2 * _TITLE:
        letter, tone = letters.of(one.row.thread_id)
        says = "" if same(flat(one.row.thread), flat(one.row.name)) else f"{fit(flat(one.row.thread), _TITLE)}: "
        thread = [(f"{letter} ", tone), (says, "quiet")]
    name = fit(flat(one.row.name), max(0, room - length(thread)))
    return [*thread, (f"{name}  " if name else "", "text"), (when, "quiet")]


def _days(segments: Sequence[Segment], today: int, cells: int) -> Line:
    """The days' names, each where its first episode begins."""
    line, at = Line(), 0
    for one in segments:
        name = _name(one.day, today)
        if one.opens and one.first >= at + bool(at) and one.first + len(name) <= cells:
            line += [(" " * (one.first - at), "text"), (name, "strong" if one.day == today else "quiet")]
            at = one.first + len(name)
    return line


def _name(day: int, today: int) -> str:
    if day == today:
        return "Today"
    return datetime.fromordinal(day).replace(tzinfo=UTC).strftime("%a %d") if day > 0 else "?"


def legend(segments: Sequence[Segment], letters: Letters, cells: int) -> Line:
    """Whose letters these are, those with the most episodes first."""
    counts: dict[int | None, int] = {}
    titles: dict[int | None, str] = {}
    for one in segments:
        counts[one.row.thread_id] = counts.get(one.row.thread_id, 0) + 1
        titles[one.row.thread_id] = one.row.thread
    ranked = sorted(counts, key=lambda each: -counts[each])
    for size in _TITLES:
        parts: list[tuple[int, Line]] = []
        for rank, thread in enumerate(ranked):
            letter, tone = letters.of(thread)
            name = flat(titles[thread]) or ("a thread without a name" if thread is not None else "no thread")
            parts.append((rank, [(f"{letter} ", tone), (fit(name, size), "text"), (f" {counts[thread]}", "quiet")]))
        line = fitting(parts, cells)
        if length(joined(part for _, part in parts)) <= cells:
            break
    return line


def title(segments: Sequence[Segment], total: int) -> str:
    """How many of the episodes are drawn, and from when."""
    if not segments:
        return "Timeline"
    first = (
        datetime.fromordinal(segments[0].day).replace(tzinfo=UTC).strftime("%a %d %b") if segments[0].day > 0 else "?"
    )
    of = f" of {total:,}" if total > len(segments) else ""
    return f"Timeline ─ {len(segments)}{of} {several(total, 'episode').partition(' ')[2]}, from {first} on"


def at(segments: Sequence[Segment], cell: int) -> int | None:
    """The episode at a cell, or the nearest one beside it."""
    if not segments:
        return None
    return min(segments, key=lambda one: max(one.first - cell, cell - one.first - one.cells + 1, 0)).row.id


SIGNS = (
    Sign("A B C", "on the timeline: an episode, by the letter of its thread", "run"),
    Sign("▄▄", "the longer, the longer it was active: a cell for five minutes", "run"),
    Sign("{full}{full}", "the episode under the cursor; ▲ points at it", "accent"),
    Sign("{border}", "a night; a blank is an idle half hour or more", "rest"),
    Sign("A thread 3", "below it: whose letter it is, and how many of its episodes are drawn", "quiet"),
)
