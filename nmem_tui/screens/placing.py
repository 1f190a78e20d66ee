"""What stands elsewhere than in the frame before is painted, however it came there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from textual.events import Event, Mount, ScreenResume
from textual.geometry import Region
from textual.screen import Screen
from textual.widget import Widget


class Placing(Screen[Any], inherit_bindings=False):
    """A screen that knows where its widgets stood when it was painted last.

    The library compares one layout with the map of the one before. Whoever asks for the place of a hidden widget in
    between has that map drawn anew: what had moved by then stands in it already, and its old place would stay painted.
    """

    _stood: Mapping[Widget, tuple[Region, Region]] = {}
    """Each widget's region and what it is clipped to, in the frame before; another mapping after each layout."""

    async def on_event(self, event: Event) -> None:
        """A screen that is left before it stands has nothing to begin with."""
        if not (isinstance(event, Mount | ScreenResume) and (self._closing or self._pruning)):
            await super().on_event(event)

    def _compositor_refresh(self) -> None:
        """Paint the old and the new place of whatever moved, came or went."""
        places = self._compositor.visible_widgets
        if places is not self._stood:
            moved = (clip.intersection(region) for _, (region, clip) in places.items() ^ self._stood.items())
            self._compositor._dirty_regions.update(region for region in moved if region)
            self._compositor._cuts = self._compositor._layers_visible = None  # of the map before
            self._stood = places
        super()._compositor_refresh()
