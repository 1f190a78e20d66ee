"""The plane of phase and scope: where a session is, the way it came, and how much of it lies in each quadrant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from nmem.stance.model import Share, Stance
from nmem.text import width
from nmem_tui.model.line import Line
from nmem_tui.model.plot import ACROSS, DOWN, Canvas, level
from nmem_tui.model.stance_chart import lifted

Place = tuple[float, float]
"""Phase and scope, both from -1 to 1 with their middle at 0."""
_CORNERS = (("reason", 0, 0), ("finish", 0, 1), ("explore", 1, 0), ("scaffold", 1, 1))
"""Quadrant, whether it is below, whether it is at the right."""
NEWEST = 20
"""So many of the newest steps are drawn without gaps."""
_SHOWN = 80
"""Older steps are not drawn: they lie under each other."""


def way(stance: Stance) -> list[Place]:
    """The newest places of a session, the oldest first."""
    return [
        (point.ema_phase, lifted(point.ema_scope, stance.scope_base))
        for point in stance.points[-_SHOWN:]
        if point.ema_phase is not None and point.ema_scope is not None
    ]


def told(stance: Stance) -> Mapping[str, Share] | None:
    """The shares that its corners say; None of a session with too few calls to tell."""
    return None if stance.few else stance.quadrants


def draw(way: Sequence[Place], shares: Mapping[str, Share] | None, cells: int, rows: int) -> list[Line]:
    """The plane in `cells` by `rows` cells: act at the right, converge above; without shares, the corners' names."""
    canvas = Canvas(cells, rows)
    _way(canvas, way)
    for name, below, right in _CORNERS:
        said = name if shares is None else f"{name} {shares.get(name, Share()).share:.0%}"
        said = f" {said} " if cells >= 36 else said
        row = rows - 1 if below else 0
        canvas.text(cells - width(said) if right else 0, row, said, name)
    if len(way) > NEWEST:
        _point(canvas, way[-1 - NEWEST], "○", "quiet")
    if way:
        _point(canvas, way[-1], "●", "strong")
    poles = ((cells // 2 - 4, 0, "converge"), (cells // 2 - 3, rows - 1, "diverge"))
    for cell, row, pole in poles if cells >= 48 else ():
        canvas.text(cell, row, pole, "quiet")
    for pole, cell in (("think", 0), ("act", cells - 3)):
        canvas.text(cell, rows // 2, pole, "quiet")
    for cell in range(cells):
        canvas.behind(cell, rows // 2, "┼" if cell == cells // 2 else "─", "line")
    for row in range(rows):
        canvas.behind(cells // 2, row, "│", "line")
    return canvas.lines()


def _way(canvas: Canvas, way: Sequence[Place]) -> None:
    """Older steps are dotted, the newest are a line."""
    first = len(way) - 1 - NEWEST
    for number, (start, end) in enumerate(pairwise(way)):
        recent = number >= first
        ax, ay = _dot(canvas, start)
        bx, by = _dot(canvas, end)
        steps = max(abs(bx - ax), abs(by - ay), 1)
        for step in range(0, steps + 1, 1 if recent else steps):
            x, y = ax + (bx - ax) * step // steps, ay + (by - ay) * step // steps
            canvas.dot(x, y, "accent" if recent else "quiet")


def _dot(canvas: Canvas, place: Place) -> tuple[int, int]:
    """The dot of a place; the first and the last row belong to the corners' names."""
    across, down = canvas.cells * ACROSS, max(1, canvas.rows - 2) * DOWN
    return across - 1 - level(place[0], across), DOWN + level(place[1], down)


def _point(canvas: Canvas, place: Place, char: str, tone: str) -> None:
    x, y = _dot(canvas, place)
    canvas.text(x // ACROSS, y // DOWN, char, tone)
