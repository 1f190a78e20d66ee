"""A line of the list of episodes, drawn: when, in which state, about what, how it ended, how rough, how long."""

from __future__ import annotations

from datetime import tzinfo

from nmem.read.episodes import EpisodeRow, Outcome
from nmem.read.threads import whole
from nmem.text import fit, pad, printable, width
from nmem_tui.model.figures import age, clock, several
from nmem_tui.model.line import Line, fit_words
from nmem_tui.model.shelf import Entry, day_name
from nmem_tui.model.unit import flat

_TELLING = 20
"""Cells of a name from which on what begins alike is alike."""


def state(row: EpisodeRow) -> tuple[str, str]:
    """The state of an episode: glyph and word, and its tone."""
    if row.state == "open":
        return ("● open", "good")
    return ("↩ resumed", "accent") if row.resumes else ("○ closed", "quiet")


def ended(found: Outcome) -> tuple[str, str]:
    """How it ended, in a glyph and one word, and its tone."""
    if found.reverted:
        return "↶ reverted", "warn"
    if found.abandoned:
        return "– left", "quiet"
    if found.tests == "failed":
        return "✗ failing", "bad"
    if found.commits:
        return ("✓ pushed" if found.pushed else "✓ commit"), "good"
    return ("✓ tests", "good") if found.tests else ("", "quiet")


def friction(value: float | None) -> tuple[str, str]:
    """How hard it went, in a word, and its tone."""
    if value is None or value < 0.25:
        return "", "quiet"
    return ("rough", "bad") if value >= 0.5 else ("bumpy", "warn")


def unit(row: EpisodeRow, cells: int, zone: tzinfo | None) -> Line:
    """An episode in exactly `cells` cells."""
    glyph, tone = state(row)
    how, how_tone = ended(row.outcome)
    rough, rough_tone = friction(row.friction)
    took = age(row.active_ms or row.last_at - row.started_at)
    took = "" if took == "now" else took
    marks = ("★" if row.pinned else " ") + ("?" if row.offered else " ") + " "
    end = 11 + 6 + 5 + 1
    room = cells - 6 - 10 - 3 - end
    if room < 16:
        return [(pad(f"{clock(row.started_at, zone)[:5]} {glyph[0]} {flat(row.name)}", cells), "text")]
    return [
        (f"{clock(row.started_at, zone)[:5]} ", "quiet"), (pad(glyph, 10), tone), (marks, "warn"),
        (pad(flat(row.name), room), "strong" if row.state == "open" else "text"), (" " + pad(how, 10), how_tone),
        (" " + pad(rough, 5), rough_tone), (pad(took, 5, right=True) + " ", "quiet"),
    ]  # fmt: skip


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
    title = flat(whole(row.thread)) or "a thread without a title"
    if entry.size == 1 and _same(title, flat(row.name)):
        title = "a thread of the same name"
    where = f" ─ {printable(row.project)}" if projects and row.project else ""
    return [
        ("┌ ", "line"), (fit_words(title, max(8, cells - 22 - width(where))), "accent"),
        (fit(where, 24), "quiet"), (f"  {count}", "quiet"),
    ]  # fmt: skip


def _same(title: str, name: str) -> bool:
    """Whether a thread's title says what its episode's name does; either may be cut."""
    one, other = sorted((title.rstrip(".… "), name.rstrip(".… ")), key=len)
    return one == other or (len(one) >= _TELLING and other.startswith(one))


def words(row: EpisodeRow) -> str:
    """What finds it in a dialog."""
    return f"{flat(row.name)} {flat(row.thread)} {state(row)[0]} {ended(row.outcome)[0]}"
