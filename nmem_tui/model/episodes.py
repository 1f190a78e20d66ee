"""The list of episodes: its queries, its groups by day and thread, and how a line is drawn.

A session that is by itself gets no heading of its own: all of a day share one, and none when there are no threads.

Slots arrive newest first in pages; what a page adds is grouped, the day it begins in once more. No terminal, no
database. Row texts come in blocks, and those used least are forgotten.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from sqlite3 import Connection
from typing import TYPE_CHECKING, NamedTuple

from nmem.read import episode_store, episodes, stories
from nmem.read.episode_store import Filter, cut_title
from nmem.read.episodes import EpisodeRow, Outcome, Slot, Stamp
from nmem.read.stories import Story
from nmem.text import fit, pad, printable, width
from nmem_tui.model.figures import age, clock, several
from nmem_tui.model.line import Line, fit_words, length
from nmem_tui.model.lists import Rows
from nmem_tui.model.now_cards import flat
from nmem_tui.model.symbols import Sign

if TYPE_CHECKING:
    from nmem.learn.learning import Warned

BLOCK = 64


class Entry(NamedTuple):
    """One place: a heading of a day or of a thread, or an episode."""

    kind: str
    """day, thread, single (of sessions that are by themselves) or unit."""
    day: int
    """Days since the year 1."""
    id: int
    """The episode, or the first one below the heading."""
    size: int
    """Episodes below a heading."""


def day_of(at: int, zone: tzinfo | None) -> int:
    """The day of a time, as a number; 0 for a time no calendar has."""
    try:
        return datetime.fromtimestamp(at / 1000, zone).toordinal()
    except (ValueError, OverflowError, OSError):
        return 0


def day_name(day: int, today: int) -> str:
    """How a heading calls a day."""
    if day <= 0:
        return "at an unknown time"
    named = {today: "Today ─ ", today - 1: "Yesterday ─ "}.get(day, "")
    return named + datetime.fromordinal(day).replace(tzinfo=UTC).strftime("%a %d %b %Y")


class Shelf(Rows[EpisodeRow]):
    """What is known of the list."""

    def __init__(self, zone: tzinfo | None = None) -> None:
        super().__init__()
        self.zone = zone
        self.slots: list[Slot] = []
        self.entries: list[Entry] = []
        self.places: dict[int, int] = {}
        """Episode -> its place."""
        self.order: dict[int, int] = {}
        """Episode -> which of the slots is its own."""
        self.complete = True
        self._open: list[Slot] = []

    def __len__(self) -> int:
        return len(self.entries)

    def add(self, page: Sequence[Slot], *, complete: bool) -> None:
        """Put an older page after what there is."""
        self.complete = complete
        self.order |= {slot.id: number for number, slot in enumerate(page, len(self.slots))}
        self.slots += page
        pending = self._open + list(page)
        if self._open:  # the last day goes on: group it again
            first = next(place for place in range(len(self.entries) - 1, -1, -1) if self.entries[place].kind == "day")
            del self.entries[first:]
        days: dict[int, list[Slot]] = {}
        for slot in pending:
            days.setdefault(day_of(slot.last_at, self.zone), []).append(slot)
        for day, slots in days.items():
            self._put(day, slots)
        self._open = next(reversed(days.values()), [])

    def _put(self, day: int, slots: list[Slot]) -> None:
        self.entries.append(Entry("day", day, slots[0].id, len(slots)))
        threads: dict[int | None, list[Slot]] = {}
        for slot in slots:
            threads.setdefault(slot.thread_id, []).append(slot)
        for thread, group in threads.items():
            if thread is not None or len(threads) > 1:
                kind = "single" if thread is None else "thread"
                self.entries.append(Entry(kind, day, group[0].id, len(group)))
            for slot in group:
                self.places[slot.id] = len(self.entries)
                self.entries.append(Entry("unit", day, slot.id, 0))

    def able(self, place: int) -> bool:
        """Whether the cursor may rest there."""
        return 0 <= place < len(self.entries) and self.entries[place].kind == "unit"

    def oldest(self) -> Slot | None:
        """Where the next older page ends."""
        return self.slots[-1] if self.slots else None

    def unit(self, place: int) -> int | None:
        """The episode at a place."""
        return self.entries[place].id if self.able(place) else None

    def wanted(self, first: int, last: int) -> list[int]:
        """Episodes around [first, last) that are neither in memory nor asked for; now they are asked for."""
        low, high = max(0, first - BLOCK), min(len(self.entries), last + BLOCK)
        ids = {entry.id for entry in self.entries[low:high]}
        found = [each for each in ids if each not in self._rows and each not in self._asked]
        shown = {entry.id for entry in self.entries[max(0, first) : last]}
        if not shown & set(found):
            return []
        self._asked.update(found)
        return found

    def shown(self, first: int, last: int) -> list[int]:
        """The episodes on screen, to be read again."""
        return list({entry.id for entry in self.entries[max(0, first) : last]})

    def inherit(self, other: Shelf) -> None:
        """Take over the rows of an older list."""
        self._rows.update(other._rows)


_TELLING = 20
"""Cells of a name from which on what begins alike is alike."""


def state(row: EpisodeRow) -> tuple[str, str]:
    """The state of an episode: glyph and word, and its tone."""
    if row.state == "open":
        return ("● open", "good")
    return ("↩ resumed", "accent") if row.resumes else ("○ closed", "quiet")


_ENDED = {
    "reverted": ("↶ reverted", "warn", "its changes were taken back later"),
    "left": ("– left", "quiet", "given up, or never finished"),
    "failing": ("✗ failing", "bad", "its last test run failed, whatever else of it passed"),
    "pushed": ("✓ pushed", "good", "committed and pushed"),
    "commit": ("✓ commit", "good", "committed"),
    "tests": ("✓ tests", "good", "its last test run passed; nothing was committed"),
}
"""How an episode can end: as it is told, its tone, what that means."""
_ROUGH = {
    "rough": ("rough", "bad", "how it ended is not known; half of its calls or more met resistance"),
    "bumpy": ("bumpy", "warn", "how it ended is not known; a quarter of its calls or more met resistance"),
}


def ended(found: Outcome) -> tuple[str, str]:
    """How it ended, in a glyph and one word, and its tone."""
    if found.reverted:
        how = "reverted"
    elif found.abandoned:
        how = "left"
    elif found.tests == "failed":
        how = "failing"
    elif found.commits:
        how = "pushed" if found.pushed else "commit"
    else:
        how = "tests" if found.tests else ""
    return _ENDED[how][:2] if how else ("", "quiet")


def friction(value: float | None) -> tuple[str, str]:
    """How hard it went, in a word, and its tone."""
    if value is None or value < 0.25:
        return "", "quiet"
    return _ROUGH["rough" if value >= 0.5 else "bumpy"][:2]


def badge(row: EpisodeRow) -> tuple[str, str]:
    """The one sign for where an episode stands: open, else how it ended, else how hard it went; and its tone."""
    if row.state == "open":
        return state(row)
    how = ended(row.outcome)
    return how if how[0] else friction(row.friction)


def unit(row: EpisodeRow, cells: int, zone: tzinfo | None) -> Line:
    """An episode in exactly `cells` cells; what is not told leaves its room to the name."""
    told, tone = badge(row)
    took = age(row.active_ms or row.last_at - row.started_at)
    took = "" if took == "now" else took
    marks = ("★" if row.pinned else "") + ("?" if row.offered else "")
    begins: Line = [(f"{clock(row.started_at, zone)[:5]} ", "quiet")]
    head: Line = [*begins, ("↩ " if row.resumes else "", "accent"), (f"{marks} " if marks else "", "warn")]
    files = several(row.files, "file") if row.files else ""
    tail: Line = [
        (f" {told}" if told else "", tone), (f" {pad(files, 8, right=True)}" if cells >= _ROOMY else "", "quiet"),
        (f" {pad(took, 5, right=True)} ", "quiet"),
    ]  # fmt: skip
    room = cells - length(head) - length(tail)
    if room < _LEAST:
        return [*begins, (pad(f"{told[:1]} {flat(row.name)}", cells - length(begins)), "text")]
    return [*head, (pad(flat(row.name), room), "strong" if row.state == "open" else "text"), *tail]


_LEAST = 16
"""Cells of a name below which nothing else is told."""
_ROOMY = 84
"""Cells from which on there is room for how many files it changed."""


def heading(entry: Entry, row: EpisodeRow | None, today: int, cells: int, *, projects: bool) -> Line:
    """A day, a thread within it, or what is in none."""
    count = several(entry.size, "episode")
    if entry.kind == "day":
        name = day_name(entry.day, today)
        return [(name, "title"), (pad("  " + count, max(0, cells - width(name))), "quiet")]
    if entry.kind == "single":
        return [("┌ ", "line"), ("single sessions", "quiet"), (f"  {count}", "quiet")]
    if row is None:
        return [("  ·", "rest")]
    title = flat(cut_title(row.thread)) or "a thread without a title"
    if entry.size == 1 and same(title, flat(row.name)):
        title = "a thread of the same name"
    where = fit(f" ─ {printable(row.project)}", 24) if projects and row.project else ""
    tail = f"{where}  {count}"
    return [("┌ ", "line"), (fit_words(title, max(8, cells - 2 - width(tail))), "accent"), (tail, "quiet")]


def same(title: str, name: str) -> bool:
    """Whether a thread's title says what its episode's name does; either may be cut."""
    one, other = sorted((title.rstrip(".… "), name.rstrip(".… ")), key=len)
    return one == other or (len(one) >= _TELLING and other.startswith(one))


def words(row: EpisodeRow) -> str:
    """What finds it in a dialog."""
    return f"{flat(row.name)} {flat(row.thread)} {state(row)[0]} {ended(row.outcome)[0]}"


@dataclass(frozen=True, slots=True)
class Told:
    """A story, None where the episode is gone; and what the episode runs into again."""

    story: Story | None
    warned: tuple[Warned, ...] = ()


@dataclass(frozen=True, slots=True)
class Look:
    """What is on screen as it is now."""

    stamp: Stamp
    rows: dict[int, EpisodeRow]
    told: Told


def told(db: Connection, unit_id: int, at: int) -> Told:
    """All that stands beside the list for one episode."""
    from nmem.learn import warnings  # on use: start-up stays short

    story = stories.story(db, unit_id)
    return Told(story, tuple(warnings.of_unit(db, unit_id, at)) if story else ())


def rest(db: Connection, known: Sequence[Slot], query: Filter, project: str, zone: tzinfo | None) -> Shelf:
    """The list to its end, after what is known of it: grouped here, not where keys wait for it."""
    older = episodes.older(db, known[-1], query, project)
    shelf = Shelf(zone)
    shelf.add([*known, *older], complete=len(older) < episode_store.COUNTED)
    shelf.fill(episodes.rows(db, [slot.id for slot in older[-BLOCK:]]))
    return shelf


def look(db: Connection, shown: Sequence[int], unit_id: int, at: int) -> Look:
    """The rows on screen, the story of one of them, and whether the list may have changed."""
    return Look(episodes.stamp(db), episodes.rows(db, shown), told(db, unit_id, at) if unit_id else Told(None))


def waiting(db: Connection, db_path: str, at: int) -> int:
    """How many questions the review has."""
    from nmem import queues  # on use: start-up stays short

    return queues.waiting(db, db_path, at)


SIGNS = (
    Sign("● open", "it goes on", "good"),
    *(Sign(sign, means, tone) for sign, tone, means in (*_ENDED.values(), *_ROUGH.values())),
    Sign("★", "pinned", "warn"),
    Sign("?", "it was nearly cut in two: the review asks", "warn"),
    Sign("↩", "it goes on with an earlier episode", "accent"),
    Sign("┌", "a thread, or single sessions: the episodes below it", "line"),
)
