"""The stance on the screen Now: a card with a small chart where there is room, one line where there is not."""

from __future__ import annotations

from datetime import tzinfo

from nmem.stance.model import ENOUGH, Stance
from nmem_tui.model import figures
from nmem_tui.model.figures import clock
from nmem_tui.model.line import Line, cut, fitting
from nmem_tui.model.stance import MEANING, doing
from nmem_tui.model.stance_chart import small, trace
from nmem_tui.model.unit import flat

_LAST = 200
"""Observations that the small chart shows."""
_LINE = 60
"""Those that the one line shows."""
_LETTERS, _LOW = 2, 3
"""Cells for the lines' letters; rows below which a chart says less than blocks do."""


def title(stance: Stance) -> str:
    """The title of the card."""
    if stance.few:
        return f"Stance ─ too few calls: {stance.placed} of {ENOUGH}"
    return f"Stance ─ {doing(stance)}"


def card(stance: Stance, cells: int, rows: int, zone: tzinfo | None) -> list[Line]:
    """The small chart, the newest shifts, and what to do: as much of it as there is room for."""
    below = [line for line in (shifts(stance, cells, zone), advice(stance, cells)) if line]
    below = below[-max(0, rows - 1) :]
    high = max(1, rows - len(below))
    if high < _LOW:
        return [line(stance, cells, told=False), *below][:rows]
    return [*small(trace(stance, cells, right=_LETTERS, last=_LAST), high), *below][:rows]


def shifts(stance: Stance, cells: int, zone: tzinfo | None) -> Line:
    """The newest shifts, as many as fit."""
    if not stance.shifts:
        return cut([("no shift yet", "quiet")], cells)
    parts: list[tuple[int, Line]] = []
    for rank, each in enumerate(reversed(stance.shifts[-3:])):
        before = each.before if rank == len(stance.shifts[-3:]) - 1 and each.before else ""
        way = flat(f"{before}→{each.after or each.to}")
        parts.append((rank, [(f"{clock(each.at, zone)[:5]} ", "quiet"), (way, "text")]))
    return [("shifts ", "quiet"), *fitting(parts[::-1], cells - 7, " · ")]


def advice(stance: Stance, cells: int) -> Line:
    """The weightiest piece of guidance."""
    if not stance.guidance:
        return []
    return cut([("◆ ", "accent"), (flat(stance.guidance[0].text), "text")], cells)


def spark(stance: Stance, cells: int) -> str:
    """The newest stretch of phase: the higher, the more acting."""
    values = [point.ema_phase for point in stance.points[-_LINE:] if point.ema_phase is not None]
    if not values or cells <= 0:
        return ""
    step = max(1, len(values) // cells)
    shown = values[::-1][::step][:cells][::-1]
    return figures.spark([max(-1.0, min(1.0, value)) + 1 for value in shown], cells, 2.0)


def line(stance: Stance, cells: int, *, told: bool = True) -> Line:
    """Phase as a line of blocks, where the session came from and where it is, and what to do."""
    last = stance.shifts[-1] if stance.shifts else None
    came = (
        f"{last.before} → "
        if last and last.before in MEANING and last.before != stance.quadrant and not stance.few
        else ""
    )
    parts: list[tuple[int, Line]] = [
        (1, [("phase ", "quiet"), (spark(stance, max(8, min(20, cells // 5))), "phase")]),
        (0, [(came, "quiet"), (doing(stance), "strong")]),
    ]
    if stance.guidance and told:
        parts.append((2, [("◆ ", "accent"), (flat(stance.guidance[0].text), "text")]))
    whole = fitting(parts, 10**6)
    return cut(whole, cells) if cells >= 40 else fitting(parts[:2], cells)
