"""The card of the current work unit: what it is about, why it was cut there, how it goes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nmem.read.episodes import CurrentUnit, Outcome
from nmem.read.views import HotFile, NowView
from nmem.text import printable
from nmem_tui.model import cards
from nmem_tui.model.cards import effort
from nmem_tui.model.figures import age, several
from nmem_tui.model.line import Line, cut, joined, wrap

_BY = {
    "first": "the session's first prompt", "online": "decided when the prompt came",
    "revised": "decided by what the turn did",
    "llm": "decided by a model", "agent": "named by the agent", "person": "cut by you",
}  # fmt: skip
_LABEL = 8
_HOT = 3
"""Files that are told; the intent keeps two lines before."""


def flat(text: str) -> str:
    """A stored text as one printable line."""
    return printable(" ".join(text.split()))


def why(reason: str, by: str, confidence: float) -> Line:
    """Why an episode was cut where it was, and how sure that is."""
    told = flat(reason) or _BY.get(by, "")
    if by == "person":
        return [("you cut it here", "text")]
    if by == "first":
        return [(told or _BY["first"], "text")]
    sure = "sure" if confidence >= 0.85 else "fairly sure" if confidence >= 0.6 else "not sure"
    tone = "good" if confidence >= 0.85 else "text" if confidence >= 0.6 else "warn"
    share = f" {max(0.0, min(1.0, confidence)):.0%}"
    return [(sure, tone), (share, "quiet"), (f"  {told or 'no reason noted'}", "text")]


def outcome(found: Outcome) -> Line:
    """How it ended, or stands, in glyphs and words; empty when nothing is known."""
    parts: list[Line] = []
    if found.reverted:
        parts.append([("↶ reverted", "warn")])
    if found.tests:
        good = found.tests == "passed"
        parts.append([("✓ tests pass" if good else "✗ tests fail", "good" if good else "bad")])
    if found.commits:
        pushed = ", pushed" if found.pushed else ""
        parts.append([(f"✓ {several(found.commits, 'commit')}{pushed}", "good")])
    if found.abandoned:
        parts.append([("– abandoned", "quiet")])
    return joined(parts, " · ")


def title(unit: CurrentUnit, at: int) -> str:
    """The title of the card."""
    active = f", active {age(unit.active_ms)}" if unit.active_ms >= 5000 else ""
    pinned = " ─ ★ pinned" if unit.pinned else ""
    return f"Work unit ─ {age(at - unit.started_at)} old{active}{pinned}"


def card(
    view: NowView, unit: CurrentUnit, cells: int, rows: int, warned: Callable[[int], Line] | None = None
) -> list[Line]:
    """The card, at most `rows` lines high and without blank ones: the intent gets the room that is left."""
    latest = flat(view.prompt) if view.prompt_at is not None and view.prompt_at > unit.started_at else ""
    so_far = [
        [(several(unit.turns, "turn"), "strong")],
        outcome(unit.outcome) or [("nothing tested or committed yet", "quiet")],
    ]
    below: list[Line] = [
        *([warned(cells)] if warned else []),
        *([[("goes on ", "quiet"), ("↩ ", "accent"), (flat(unit.resumes), "text")]] if unit.resumes else []),
        [("cut     ", "quiet"), *why(unit.cut_reason, unit.cut_by, unit.cut_confidence)],
        [("so far  ", "quiet"), *joined(so_far, " · ")],
        *_told("done    ", unit.done),
        *_told("open    ", unit.left),
        effort("unit    ", unit.effort, cells),
        *([effort("session ", view.total, cells)] if view.total != unit.effort else []),
    ]
    asked = min(_HOT, len(unit.hot), max(0, rows - len(below) - bool(latest) - 2))
    room = max(1, rows - len(below) - bool(latest) - asked)
    said = wrap(flat(unit.name), cells, room) or ["a prompt without words"]
    lines: list[Line] = [[(text, "strong")] for text in said]
    spare = room - len(said)
    if latest:
        more = wrap(latest, cells - _LABEL, 1 + min(spare, 2))
        lines += [
            [("now     " if not number else " " * _LABEL, "quiet"), (text, "user")] for number, text in enumerate(more)
        ]
    lines += below
    return [cut(line, cells) for line in [*lines, *hot(unit.hot, cells, rows - len(lines))]][:rows]


def _told(label: str, texts: Sequence[str]) -> list[Line]:
    """The first thing that the story of the episode says, and how many more there are."""
    more = f"  and {len(texts) - 1} more" if len(texts) > 1 else ""
    return [[(label, "quiet"), (flat(texts[0]), "text"), (more, "quiet")]] if texts else []


def hot(files: Sequence[HotFile], cells: int, rows: int) -> list[Line]:
    """The files that are worked on most, with what was done to each: read, edited, failed."""
    if not files or rows <= 0:
        return []
    shown = cards.hot(files, cells - _LABEL, min(rows, _HOT))
    return [
        cut([("hot     " if not number else " " * _LABEL, "quiet"), *line], cells) for number, line in enumerate(shown)
    ]
