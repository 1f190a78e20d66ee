"""A widget whose content is lines: each is made ready for the terminal once, and only what changed is painted again."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import zip_longest
from typing import Self

from rich.segment import Segment
from rich.style import Style
from textual.content import Content
from textual.geometry import Region, Size
from textual.strip import Strip

from nmem_tui.model.line import Line, cut
from nmem_tui.widgets.frame import Titled
from nmem_tui.widgets.tones import Palette, content


class Drawn(Titled):
    """What it shows, it says in `drawn`. Selecting text with the mouse goes through `render`, as in any widget."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._palette: Palette | None = None
        self._held: list[Line] | None = None
        self._room = Size()
        """The size that the lines are for."""
        self._strips: dict[int, Strip] = {}

    def drawn(self, cells: int, rows: int) -> Iterable[Line]:
        """The lines for so much room."""
        raise NotImplementedError

    def render(self) -> Content:
        """The lines for the room there is."""
        return content(self._now())

    def _now(self) -> list[Line]:
        cells, rows = self.content_size
        return [cut(line, cells) for line in self.drawn(cells, rows)] if cells else []

    def redraw(self) -> None:
        """Repaint the lines that changed."""
        before = self._held
        if before is None or self._room != self.content_size:
            self.refresh()
            return
        self._held = self._now()
        pairs = enumerate(zip_longest(before, self._held))
        changed = [place for place, (old, new) in pairs if old != new]
        for place in changed:
            self._strips.pop(place, None)
        if changed:
            self._repaint([Region(0, place, self._room.width, 1) for place in changed])

    def _repaint(self, regions: list[Region]) -> None:
        super().refresh(*regions)

    def refresh(
        self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False
    ) -> Self:  # fmt: skip
        """Without regions everything is drawn anew."""
        if not regions and not self.retitling:
            self._held = None
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    def notify_style_update(self) -> None:
        """Another theme: resolve the tones again."""
        super().notify_style_update()
        self._palette = self._held = None

    def render_line(self, y: int) -> Strip:
        """The strip of one line of the content."""
        if self.text_selection is not None:
            return super().render_line(y)
        if self._held is None or self._room != self.content_size:
            self._held, self._room, self._strips = self._now(), self.content_size, {}
        if (known := self._strips.get(y)) is not None:
            return known
        if self._palette is None:
            self._palette = Palette(self)
        line = self._held[y] if y < len(self._held) else []
        strip = self._strips[y] = _placed(self._palette.strip(line, self._room.width), y)
        return strip


def _placed(strip: Strip, y: int) -> Strip:
    """The strip of a row that knows where each stretch stands, as the selecting of text asks for."""
    x, segments = 0, []
    for text, look, _ in strip:
        segments.append(Segment(text, _there(look or Style.null(), x, y)))
        x += len(text)
    return Strip(segments, strip.cell_length)


@lru_cache(maxsize=2048)
def _there(look: Style, x: int, y: int) -> Style:
    """A look at a place. The library makes a new one each time, which then is in nobody's cache."""
    return look + Style.from_meta({"offset": (x, y)})
