"""The plane of phase and scope in a frame, with the way of the newest observations."""

from __future__ import annotations

from nmem.stance.model import Stance
from nmem_tui.model import stance_plane
from nmem_tui.model.line import Line
from nmem_tui.model.stance import titles
from nmem_tui.widgets.card import Card


class Plane(Card):
    """Where the session is, and how it got there."""

    def tell(self, stance: Stance) -> None:
        """Show a stance."""
        way = stance_plane.way(stance)

        def lines(cells: int, rows: int) -> list[Line]:
            return stance_plane.draw(way, stance_plane.told(stance), cells, rows)

        self.show(lines, titles(stance)[1])
