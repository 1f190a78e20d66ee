"""A row of the stream, drawn: time, what it was, on what, how much, how long, and how it went."""

from __future__ import annotations

from datetime import tzinfo

from nmem.read.brief import fitted
from nmem.read.views import StreamRow, outcome_words
from nmem.text import fit_path, pad, printable, width
from nmem_tui.model import labels
from nmem_tui.model.figures import clock, duration
from nmem_tui.model.line import Line, cut, length

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
    if refused := row.meta.get("refused"):
        return "not run" if refused == "sibling" else "refused"
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
    room -= width(middle) + end_cells + 3
    look = "quiet" if row.word in _UNMEASURED or tone == "look" else "text"
    tagged = _label_cells(cells) if row.labels else 0
    room -= tagged + bool(tagged)
    line += [(pad(_what(row, room), room), look), (f" {middle}  ", "quiet"), (pad(how, end_cells), how_tone)]
    return [*line, (" ", "text"), *labels.columns(row.labels, tagged)] if tagged else line


def _label_cells(cells: int) -> int:
    """Cells for the labels of a row: none unless the row's own words keep most of theirs."""
    return labels.CELLS + 2 * labels.MORE if cells >= 150 else labels.CELLS + labels.MORE if cells >= 116 else 0


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
