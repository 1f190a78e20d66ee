"""Draws the ledger of a compaction: what was known before it, what its summary kept, and what became of the rest."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo

from nmem.read.compactions import COMMAND, DECISION, FAILS, FILE, OPEN, READ, TODO, Compaction, Known
from nmem.text import fit, fit_path, pad, printable
from nmem_tui.model.figures import clock, day, several
from nmem_tui.model.line import Line, cut, fitting, section, spread, wrap
from nmem_tui.model.symbols import Sign

KEPT, DROPPED, GIVEN, ASKED, KNOWN = "kept", "dropped", "given back", "asked for", "known"
"""What became of a thing; ASKED: it was dropped, touched again, and not told by then."""
_TONES = {KEPT: ("✓", "good"), DROPPED: ("✗", "quiet"), GIVEN: ("●", "accent"), ASKED: ("!", "warn"),
          KNOWN: ("○", "quiet")}  # fmt: skip
_ORDER = (ASKED, GIVEN, DROPPED, KEPT, KNOWN)
_NAMES = {DECISION: "Decisions", OPEN: "Open ends", COMMAND: "Commands", FILE: "Files that were changed",
          READ: "Files that were only read"}  # fmt: skip
_SHOWN = (DECISION, OPEN, COMMAND, FILE, READ)
_BEFORE = {DECISION: "said", COMMAND: "passed", FILE: "changed", READ: "read"}
_STATE = 13
_WHEN, _AFTER = 14, 28
"""Cells of what was before, and of what came after; narrow ones leave out the latter's second half."""
_ROOMY = 100


def state(one: Known, of: Compaction) -> str:
    """What became of a thing that was known."""
    if not of.summary:
        return KNOWN
    if one.named:
        return KEPT
    if one.given_at and (not one.needed or one.given_at <= one.needed_at):
        return GIVEN
    return ASKED if one.needed else DROPPED


def title(found: Sequence[Compaction], place: int, zone: tzinfo | None) -> str:
    """Which compaction of how many, and when it was."""
    if not found:
        return "Ledger of compactions"
    return f"Ledger ─ compaction {place + 1} of {len(found)}, {day(found[place].at, zone)[:16]}"


def lines(found: Sequence[Compaction], place: int, cells: int, zone: tzinfo | None) -> list[Line]:
    """The ledger of one compaction, a section a kind."""
    if not found:
        return empty(cells)
    one = found[place]
    out = _head(one, cells)
    for kind in _SHOWN:
        some = sorted((each for each in one.known if each.kind == kind),
                      key=lambda each: (_ORDER.index(state(each, one)), -each.at))  # fmt: skip
        if some:
            kept = sum(each.named for each in some)
            said = f"{kept} of {len(some)} kept" if one.summary else str(len(some))
            out += [[], section(_NAMES[kind], cells, said), *(_row(each, one, cells, zone) for each in some)]
    return out


def _head(one: Compaction, cells: int) -> list[Line]:
    """How much was known, and what became of it."""
    if not one.summary:
        said = "No summary of the client is on record yet, so what it dropped is not known."
        return [[(row, "warn")] for row in wrap(said, cells, 3)]
    if not one.known:
        return [[(f"nothing was known before it; its summary takes {one.tokens:,} tokens", "quiet")]]
    counts = {each: sum(state(known, one) == each for known in one.known) for each in _ORDER}
    many = len(one.known)
    parts: list[tuple[int, Line]] = [
        (0, [(f"{counts[KEPT]} of {several(many, 'thing')} kept", "strong")]),
        (1, [(str(counts[GIVEN]), "accent"), (" given back", "text")]),
        (1, [(str(counts[ASKED]), "warn" if counts[ASKED] else "text"), (" asked for and not told", "text")]),
        (2, [(f"{counts[DROPPED]} dropped, not missed", "quiet")]),
    ]
    size = f"summary {one.tokens:,} tokens"
    if cells < _ROOMY:
        return [fitting(parts, cells, " · "), [(size, "quiet"), (f" ({printable(one.summary)})", "quiet")]]
    return [spread(fitting(parts, cells - len(size) - 2, " · "), [(size, "quiet")], cells)]


def _row(one: Known, of: Compaction, cells: int, zone: tzinfo | None) -> Line:
    how = state(one, of)
    mark, tone = _TONES[how]
    after = _after(one, zone)
    right = _WHEN + (_AFTER if cells >= _ROOMY else len(after) + 1 if after and how != KEPT else 0)
    room = max(8, cells - _STATE - right - 1)
    text = printable(one.text.removeprefix(FAILS).removeprefix(TODO))
    shown = fit_path(text, room) if one.kind in (FILE, READ) else fit(text, room)
    said = "fails" if one.text.startswith(FAILS) else "to do" if one.text.startswith(TODO) else _BEFORE[one.kind]
    return cut([
        (f"{mark} ", tone), (pad(how, _STATE - 2), tone), (pad(shown, room) + " ", "quiet" if how == KEPT else "text"),
        (pad(f"{said} {clock(one.at, zone)[:5]}", _WHEN), "quiet"),
        (after if cells >= _ROOMY or how != KEPT else "", "quiet" if how == KEPT else tone),
    ], cells)  # fmt: skip


def _after(one: Known, zone: tzinfo | None) -> str:
    """When it was told again, and when the session came to it."""
    told = f"told {clock(one.given_at, zone)[:5]}" if one.given_at else ""
    came = f"needed {clock(one.needed_at, zone)[:5]}" if one.needed else ""
    return ", ".join(each for each in (told, came) if each)


_WHEN_IT_FILLS = (
    "The ledger fills when the client compacts the conversation: at /compact, or by itself before the window is full.",
    "It lists decisions, open ends, commands and files: kept by the client's summary or dropped, told again, needed.",
    "Another session: esc, then s. Every compacted session: `nmem compactions`.",
)


def empty(cells: int) -> list[Line]:
    """When the ledger fills, where the session was not compacted."""
    out: list[Line] = [[("This session was not compacted yet.", "strong")], []]
    for said in _WHEN_IT_FILLS:
        out += [*([(row, "quiet")] for row in wrap(said, cells, 4)), []]
    return out[:-1]


_MEANS = {
    KEPT: "the client's summary names it",
    GIVEN: "the summary dropped it, and nmem told it again in time: before the session came back to it, if it did",
    ASKED: "dropped, asked for and not told: the session came back to it before nmem told it",
    DROPPED: "the summary does not name it; “not missed”: the session did not come back to it",
    KNOWN: "known before; no summary is on record to compare it with",
}
SIGNS = (
    *(Sign(f"{_TONES[each][0]} {each}", means, _TONES[each][1]) for each, means in _MEANS.items()),
    Sign("told 12:40", "when nmem told it again", "quiet"),
    Sign("needed 12:41", "when the session came back to it", "quiet"),
    Sign("3 of 9 kept", "so many of what was known are in the summary", "strong"),
    Sign("9 tokens", "the length of the client's summary", "quiet"),
)
