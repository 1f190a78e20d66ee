"""Schedules layout and painting of a screen: never more often than the screen changes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from textual.events import Event, Mount, ScreenResume
from textual.geometry import Region, Size
from textual.screen import Screen
from textual.widget import Widget


class PaintMoved(Screen[Any], inherit_bindings=False):
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


_ROUNDS = 4
"""Rounds of messages that a new layout waits to be painted for: widgets hear of their size, and draw otherwise."""


class PaintScheduler(PaintMoved, inherit_bindings=False):
    """A screen that is painted once for a key that lays it out anew."""

    _laying_out = False
    _unpainted = False
    """Whether the layout of now still waits to be painted."""

    def _refresh_layout(self, size: Size | None = None, scroll: bool = False) -> None:
        """The library lays out once more for each widget that this gave another size; it has its place already."""
        self._tell_all()
        every = list(self.walk_children(Widget))
        asked = {each for each in every if each._layout_required}
        bars = {each: each.scrollbars_enabled for each in every}
        self._laying_out = True
        try:
            super()._refresh_layout(size, scroll)
        finally:
            self._laying_out = False
        for each, _ in self._compositor.layers:
            if each not in asked and each.scrollbars_enabled == bars.get(each, each.scrollbars_enabled):
                each._layout_required = False

    def _tell_all(self) -> None:
        """A map that was drawn in between has places of which widgets do not know: the library would not tell them."""
        places = self._compositor._full_map
        for each, place in list(places.items()):
            if place.region.size != each._size:
                places[each] = place._replace(region=Region.from_offset(place.region.offset, each._size))

    def _compositor_refresh(self) -> None:
        """The library paints a layout before its widgets have heard of it, and those that draw otherwise once more."""
        if self._unpainted:
            return
        if self._laying_out:
            self._unpainted = True
            self._wait(_ROUNDS)
        else:
            super()._compositor_refresh()

    def _wait(self, rounds: int) -> None:
        if rounds:
            asyncio.get_running_loop().call_soon(self._wait, rounds - 1)
        else:
            self.call_later(self._paint)

    def _paint(self) -> None:
        self._unpainted = False
        if self.is_current:
            self._compositor.update_widgets(self._dirty_widgets)
            super()._compositor_refresh()
