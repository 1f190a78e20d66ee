"""The stream of a session (its prompts and calls): caches loaded rows, draws a row, puts its labels into words.

A row is addressed by its place among the slots. Slots arrive newest first in pages, and one by one as rows are
stored; a late row goes where its time says. Row texts come in blocks and the blocks used least are forgotten.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from datetime import tzinfo

from nmem.read.listing import fitted
from nmem.read.stream import Slots
from nmem.read.views import StreamRow, outcome_words
from nmem.text import fit_path, pad, printable, width
from nmem_tui.model.figures import clock, duration
from nmem_tui.model.line import Line, cut, length
from nmem_tui.model.lists import Rows
from nmem_tui.model.symbols import Sign

BLOCK = 128


class Window(Rows[StreamRow]):
    """The slots of one stream and a bounded cache of its rows."""

    KEPT = 8 * BLOCK
    """About a megabyte; those that one walks back to further off are read again."""

    def __init__(self) -> None:
        super().__init__()
        self.slots = Slots.of(())
        self.complete = False
        """Whether the oldest slot is the stream's oldest."""

    def __len__(self) -> int:
        return len(self.slots)

    def older(self, page: Slots, *, complete: bool) -> None:
        """Put an older page before what there is."""
        self.slots.at[:0] = page.at
        self.slots.key[:0] = page.key
        self.complete = complete

    def newer(self, page: Slots) -> int:
        """Put stored rows where they belong; how many were not there yet."""
        added = 0
        for at, key in zip(page.at, page.key, strict=True):
            place = self._place(at, key)
            if place < len(self) and self.slots.key[place] == key:
                continue
            if place == 0 and not self.complete and len(self):
                continue  # it will come with its page
            self.slots.at.insert(place, at)
            self.slots.key.insert(place, key)
            added += 1
        return added

    def _place(self, at: int, key: int) -> int:
        low = bisect_left(self.slots.at, at)
        while low < len(self) and self.slots.at[low] == at and self.slots.key[low] < key:
            low += 1
        return low

    def key(self, place: int) -> int | None:
        """The key at a place."""
        return self.slots.key[place] if 0 <= place < len(self) else None

    def find(self, at: int, key: int) -> int:
        """The place of a slot, or where it would be; never past the end."""
        return max(0, min(self._place(at, key), len(self) - 1))

    def oldest(self) -> tuple[int, int] | None:
        """Where the next older page ends."""
        return (self.slots.at[0], self.slots.key[0]) if len(self) else None

    def row(self, place: int) -> StreamRow | None:
        """The row at a place if it is in memory."""
        key = self.key(place)
        return None if key is None else self.cached(key)

    def wanted(self, first: int, last: int) -> Sequence[int]:
        """Keys of the blocks around [first, last) that are neither in memory nor asked for; now they are asked for."""
        low = max(0, first // BLOCK * BLOCK)
        high = min(len(self), -(-last // BLOCK) * BLOCK)
        keys = [key for key in self.slots.key[low:high] if key not in self._rows and key not in self._asked]
        keys = keys[: 4 * BLOCK]
        self._asked.update(keys)
        return keys

    def stale(self, first: int, last: int) -> list[int]:
        """Keys on screen, to be read again: a stored row may have been merged into or mended since."""
        return list(self.slots.key[max(0, first) : max(0, last)])


POLES = {
    "phase": ("think", "act"),
    "scope": ("diverge", "converge"),
    "locus": ("internal", "external"),
    "novelty": ("routine", "novel"),
    "friction": ("smooth", "friction"),
}
"""Each dimension: the word below zero, and the one from zero on."""
UNLABELLED = frozenset(("session_start", "session_resume", "session_clear", "session_compact", "marker"))
"""Rows that are no calls."""
CELLS = 15
"""What phase and scope take."""
MORE = 10
"""What the telling pole of another dimension takes."""


def label_word(dimension: str, score: float | None) -> str:
    """The word for a score; `~` where the model abstains."""
    return "~" if score is None else POLES[dimension][score >= 0]


def sure(score: float | None) -> str:
    """How sure a score is, in words."""
    if score is None:
        return "not clear"
    size = abs(score)
    return "sure" if size >= 0.9 else "fairly sure" if size >= 0.6 else "not sure"


def by_person(labelled_by: str) -> frozenset[str]:
    """The dimensions that a person set, from who labelled a row."""
    named = labelled_by.partition("+")[2]
    return frozenset(named.split(",")) & frozenset(POLES)


def told(labels: Sequence[float | None]) -> Line:
    """Phase and scope, then only what is out of the ordinary: external, novel, friction; the ordinary is quiet."""
    if len(labels) != len(POLES):
        return []
    phase, scope, *others = labels
    wide = scope is not None and scope < 0
    line: Line = [
        (pad(label_word("phase", phase), 6), "quiet"),
        (pad(label_word("scope", scope), 9), "text" if wide else "quiet"),
    ]
    for (name, (_, telling)), score in zip(list(POLES.items())[2:], others, strict=True):
        if score is not None and score >= 0:
            line.append((f"{telling} ", "warn" if name == "friction" else "quiet"))
    return line


def columns(labels: Sequence[float | None], cells: int) -> Line:
    """The words in exactly `cells` cells."""
    line = told(labels)
    used = 0
    out: Line = []
    for text, tone in reversed(line[2:]):  # friction before novel, novel before external
        if CELLS + used + len(text) <= cells:
            out.insert(0, (text, tone))
            used += len(text)
    head = line[:2] if cells >= CELLS else []
    blank = cells - used - (CELLS if head else 0)
    return [*head, *out, (" " * max(0, blank), "text")]


WORDS: dict[str, tuple[str, str]] = {
    "user/prompt": ("you", "user"), "user/late": ("you", "user"), "user/command": ("you", "user"),
    "agent/thinking": ("think", "agent"), "agent/closing": ("agent", "agent"), "agent/summary": ("summary", "agent"),
    "agent/subagent": ("helper", "agent"), "agent/title": ("title", "agent"),
    "machine/notification": ("notice", "quiet"),
    "file_read": ("read", "look"), "search": ("search", "look"), "web_fetch": ("fetch", "look"),
    "web_search": ("web", "look"), "file_write": ("write", "change"), "file_edit": ("edit", "change"),
    "command": ("run", "run"), "test": ("test", "run"), "build": ("build", "run"), "lint": ("lint", "run"),
    "install": ("install", "run"), "git_commit": ("commit", "change"), "git_push": ("push", "change"),
    "git_other": ("git", "run"), "github": ("github", "run"), "task_spawn": ("spawn", "agent"),
    "skill": ("skill", "agent"), "mcp_call": ("mcp", "run"), "question": ("ask", "agent"), "plan": ("plan", "agent"),
    "todo": ("todo", "quiet"), "session_start": ("start", "quiet"), "session_resume": ("resume", "quiet"),
    "session_clear": ("clear", "quiet"), "session_compact": ("compact", "quiet"), "marker": ("mark", "accent"),
    "tool_other": ("tool", "look"),
}  # fmt: skip
"""Stored word -> (word on screen, its tone)."""
_FILES = frozenset(("file_read", "file_write", "file_edit"))
_NARROW, _NARROWEST = 64, 46
"""Fewer cells than these have no room for figures, or for the time."""
_UNMEASURED = frozenset(("session_start", "session_resume", "session_clear", "session_compact", "marker", "todo"))


def word(stored: str) -> tuple[str, str]:
    """The word for a row's kind, and its tone."""
    return WORDS.get(stored) or (printable(stored.rpartition("/")[2])[:7], "look")


def outcome(row: StreamRow) -> tuple[str, str]:
    """How it went: a glyph and a word, and its tone."""
    if told := _other_end(row):
        return f"– {told}", "quiet"
    if row.outcome == "failed":
        return f"✗ {outcome_words('failed', row.exit_code, row.meta)}", "bad"
    if row.outcome == "ok" and row.word not in _UNMEASURED:
        return f"✓ {outcome_words('ok', None, row.meta)}", "good"
    return ("", "quiet") if row.outcome in ("", "ok") or row.word in _UNMEASURED else ("· unsure", "quiet")


def _other_end(row: StreamRow) -> str:
    """The word for what neither succeeded nor failed: nobody let it run, or there was nothing to find."""
    if row.refusal:
        return row.refusal
    return "no match" if row.meta.get("nothing_found") is True and row.outcome != "failed" else ""


def change(row: StreamRow) -> str:
    """Lines added and removed."""
    parts = [f"+{row.added}" if row.added else "", f"−{row.removed}" if row.removed else ""]
    return " ".join(part for part in parts if part)


def draw(row: StreamRow, cells: int, zone: tzinfo | None) -> Line:
    """The row in exactly `cells` cells."""
    if cells < _NARROW:
        return _narrow(row, cells, zone)
    name, tone = word(row.word)
    roomy = cells >= 100
    how, how_tone = outcome(row)
    end_cells = 13 if roomy else 11
    line: Line = [(f" {clock(row.at, zone)} ", "quiet"), (pad(name, 7) + " ", tone)]
    room = cells - 18
    if not row.outcome:
        return [*line, (pad(_said(row), room), "strong" if tone == "user" else "text" if tone == "agent" else "quiet")]
    took = duration(row.duration_ms)
    middle = f"{pad(change(row), 9, right=True)} {pad(took, 7, right=True)}" if roomy else _tight(row, took)
    middle = middle.lstrip()  # it stands at the right: what it leaves blank belongs to the words
    room -= width(middle) + end_cells + 3
    look = "quiet" if row.word in _UNMEASURED or tone == "look" else "text"
    tagged = _label_cells(cells) if row.labels else 0
    room -= tagged + bool(tagged)
    line += [(pad(_what(row, room), room), look), (f" {middle}  ", "quiet"), (pad(how, end_cells), how_tone)]
    return [*line, (" ", "text"), *columns(row.labels, tagged)] if tagged else line


def labelled(row: StreamRow, cells: int, zone: tzinfo | None) -> Line:
    """The row with its labels instead of how it went, in exactly `cells` cells."""
    name, tone = word(row.word)
    labels = CELLS + MORE if cells >= _NARROW else CELLS if cells >= _NARROWEST else 0
    mark = ("✗ ", "bad") if row.outcome == "failed" else ("  ", "text")
    line: Line = [(f" {clock(row.at, zone)[:5]} ", "quiet"), (pad(name, 7) + " ", tone), mark]
    room = max(0, cells - length(line) - labels - 1)
    return cut([*line, (pad(_what(row, room), room) + " ", "text"), *columns(row.labels, labels)], cells)


def _label_cells(cells: int) -> int:
    """Cells for the labels of a row: none unless the row's own words keep most of theirs."""
    return CELLS + 2 * MORE if cells >= 150 else CELLS + MORE if cells >= 116 else 0


def _narrow(row: StreamRow, cells: int, zone: tzinfo | None) -> Line:
    """What it was and on what; the figures are gone, the time as soon as it would cost words."""
    name, tone = word(row.word)
    line: Line = [(f" {clock(row.at, zone)[:5]} ", "quiet")] if cells >= _NARROWEST else [(" ", "quiet")]
    line.append((pad(name, 7) + " ", tone))
    room = max(0, cells - length(line))
    if not row.outcome:
        look = "strong" if tone == "user" else "text" if tone == "agent" else "quiet"
        return cut([*line, (pad(_said(row), room), look)], cells)
    how, how_tone = outcome(row)
    how = how[:1] if how_tone == "good" and cells < _NARROWEST else how
    room -= width(how) + 1
    look = "quiet" if row.word in _UNMEASURED or tone == "look" else "text"
    return cut([*line, (pad(_what(row, room), room) + " ", look), (how, how_tone)], cells)


def _tight(row: StreamRow, took: str) -> str:
    """The one figure there is room for: what changed, else how long it took."""
    return pad(change(row) or took, 8, right=True)


def _said(row: StreamRow) -> str:
    text = printable(" ".join(row.text.split()))
    return f"late: {text}" if row.word == "user/late" else text


def _what(row: StreamRow, room: int) -> str:
    """Path, command or words of an observation; with how often it was repeated."""
    more = f" ×{row.repeats + 1}" if row.repeats else ""
    more += " ⤷helper" if row.agent else ""
    room -= width(more)
    if row.path and row.word in _FILES:
        return fit_path(printable(row.path), room) + more
    text = printable(" ".join(_words(row).split())) or printable(row.path) or "–"
    return fitted(text, room) + more


def _words(row: StreamRow) -> str:
    """A commit is known by its subject, everything else by its text."""
    commit = row.meta.get("commit")
    if row.word == "git_commit" and isinstance(commit, dict) and commit.get("subject"):
        return f"{commit['subject']} {commit.get('hash', '')}"
    return row.text


SIGNS = (
    Sign("✓ ok", "it worked; of tests: how many passed", "good"),
    Sign("✗ exit 1", "it failed, with its exit code or what failed", "bad"),
    Sign("– denied", "neither: you did not let it run, or there was nothing to find", "quiet"),
    Sign("· unsure", "how it went was not recorded", "quiet"),
    Sign("+3 −1", "lines added and removed", "quiet"),
    Sign("×2", "done so often in a row", "text"),
    Sign("⤷helper", "done by a subagent", "text"),
    Sign("think act", "label of a call: it finds out, or it changes", "quiet"),
    Sign("diverge converge", "label of a call: it widens the search, or narrows it", "quiet"),
    Sign(
        "novel external",
        "labels that are told where they are out of the ordinary: new ground, beyond the project",
        "quiet",
    ),
    Sign("friction", "label of a call: it met resistance", "warn"),
    Sign("~", "the model is not sure of this label", "quiet"),
)
