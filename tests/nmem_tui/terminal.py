"""A terminal beside the cockpit of a test: what it shows after partial repaints, and what a whole one would give."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from rich.console import Console
from textual._compositor import CompositorUpdate
from textual.app import App
from textual.pilot import Pilot
from textual.widget import Widget

from nmem_tui.widgets.drawn import Drawn
from tests.nmem_tui.vt import Screen

_STALE = "░"
"""Fills a terminal of another size: whatever is not painted then is seen."""


class Terminal:
    """Takes in whatever an app prints from now on."""

    def __init__(self, app: App[Any]) -> None:
        self.app = app
        self.screen = Screen(1, 1)
        self._printed(app.screen._compositor.render_full_update())

    def _printed(self, update: CompositorUpdate) -> None:
        columns, rows = self.app.size
        if (self.screen.columns, self.screen.rows) != (columns, rows):
            self.screen = Screen(columns, rows)
            self.screen.cells = [[_STALE] * columns for _ in range(rows)]
        self.screen.feed(update.render_segments(self._console()).encode())

    def _console(self) -> Console:
        return self.app.console

    @contextmanager
    def listening(self) -> Iterator[Terminal]:
        """What is printed meanwhile arrives."""
        plain = App._display

        def display(app: App[Any], screen: Any, renderable: Any) -> None:
            if app is self.app and isinstance(renderable, CompositorUpdate) and not app._batch_count:
                self._printed(renderable)
            plain(app, screen, renderable)

        with patch.object(App, "_display", display):
            yield self

    def differs(self, pilot: Pilot[None]) -> list[str]:
        """The rows that do not show what a whole repaint would: what stands there, and what should."""
        whole = Screen(*self.app.size)
        for screen in [*self.app._background_screens, pilot.app.screen]:
            for widget in [screen, *screen.walk_children(Widget)]:
                widget._styles_cache.clear()
                if isinstance(widget, Drawn):
                    widget._held = None
        pilot.app.screen._compositor._cuts = None
        whole.feed(pilot.app.screen._compositor.render_full_update().render_segments(self._console()).encode())
        every = zip(self.screen.cells, self.screen.looks, whole.cells, whole.looks, strict=True)
        wrong = []
        for row, (cells, looks, right, meant) in enumerate(every):
            if cells != right:
                wrong.append(f"{row}: {''.join(cells)!r} not {''.join(right)!r}")
            elif looks != meant:
                at = next(at for at, (one, other) in enumerate(zip(looks, meant, strict=True)) if one != other)
                wrong.append(f"{row}: {''.join(cells)!r} looks {looks[at]} not {meant[at]} from {at} on")
        return wrong
