"""Schedules a screen's repaints: each layout once, after its widgets know their sizes; repaints what moved."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from textual.geometry import Region
from textual.screen import Screen
from textual.widget import Widget

_ROUNDS = 4
"""Rounds of messages that a new layout waits to be painted for: widgets hear of their size, and draw otherwise."""


class Painter:
    """Knows where the widgets of a screen stood when it was painted last, and whether a layout waits to be painted."""

    def __init__(self, screen: Screen[Any]) -> None:
        self._screen = screen
        self._stood: Mapping[Widget, tuple[Region, Region]] = {}
        """Each widget's region and what it is clipped to, in the frame before; another mapping after each layout."""
        self._laying_out = False
        self._unpainted = False
        """Whether the layout of now still waits to be painted."""

    def mark_moved(self) -> None:
        """Have the old and the new place painted of whatever moved, came or went.

        The library compares one layout with the map of the one before. Whoever asks for the place of a hidden widget
        in between has that map drawn anew: what had moved by then stands in it already, and its old place would stay
        painted.
        """
        compositor = self._screen._compositor
        places = compositor.visible_widgets
        if places is not self._stood:
            moved = (clip.intersection(region) for _, (region, clip) in places.items() ^ self._stood.items())
            compositor._dirty_regions.update(region for region in moved if region)
            compositor._cuts = compositor._layers_visible = None  # of the map before
            self._stood = places

    def may_paint(self) -> bool:
        """Whether to paint now: the library paints a layout before its widgets have heard of it, and then once more."""
        if self._unpainted:
            return False
        if self._laying_out:
            self._unpainted = True
            self._wait(_ROUNDS)
            return False
        self.mark_moved()
        return True

    @contextmanager
    def laying_out(self) -> Iterator[None]:
        """The library lays out once more for each widget that this gave another size; it has its place already."""
        screen = self._screen
        self._tell_all()
        every = list(screen.walk_children(Widget))
        asked = {each for each in every if each._layout_required}
        bars = {each: each.scrollbars_enabled for each in every}
        self._laying_out = True
        try:
            yield
        finally:
            self._laying_out = False
        for each, _ in screen._compositor.layers:
            if each not in asked and each.scrollbars_enabled == bars.get(each, each.scrollbars_enabled):
                each._layout_required = False

    def _tell_all(self) -> None:
        """A map that was drawn in between has places of which widgets do not know: the library would not tell them."""
        places = self._screen._compositor._full_map
        for each, place in list(places.items()):
            if place.region.size != each._size:
                places[each] = place._replace(region=Region.from_offset(place.region.offset, each._size))

    def _wait(self, rounds: int) -> None:
        if rounds:
            asyncio.get_running_loop().call_soon(self._wait, rounds - 1)
        else:
            self._screen.call_later(self._paint)

    def _paint(self) -> None:
        self._unpainted = False
        if self._screen.is_current:
            self._screen._compositor.update_widgets(self._screen._dirty_widgets)
            self._screen._compositor_refresh()
