"""Widgets drawn from toned lines: tones as terminal colours, frames with a title, cards."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import zip_longest
from typing import Any, Self
from weakref import WeakKeyDictionary

from rich.segment import Segment
from rich.style import Style
from textual.app import App
from textual.color import Color
from textual.containers import Vertical
from textual.content import Content
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget

from nmem_tui.model.line import TONES, Line, cut

COMPONENTS = frozenset(f"tone-{tone}" for tone in TONES)
"""Component classes that a style sheet gives a look; the app and every screen have them."""
_KEPT = 128
"""Lines that a palette remembers: a screen or two full. What is drawn again is mostly what was drawn before."""
_LOOKS: WeakKeyDictionary[App[Any], tuple[object, dict[str, Style]]] = WeakKeyDictionary()
"""Of each app the theme, and what its tones look like in it: the same for all of its widgets."""


def content(lines: Iterable[Line]) -> Content:
    """Lines as one Content."""
    parts: list[tuple[str, str] | str] = []
    for number, line in enumerate(lines):
        if number:
            parts.append("\n")
        parts += [(text, f".tone-{tone}") for text, tone in line]
    return Content.assemble(*parts)


def once_laid_out(widget: Widget, then: Callable[..., object], *given: object) -> None:
    """Call a widget's method after the next layout, unless the widget has left its screen by then."""

    def called() -> None:
        if widget.is_attached:
            then(*given)

    widget.call_after_refresh(called)


def _looks(app: App[Any]) -> dict[str, Style]:
    own = sorted((name, value) for name, value in app.theme_variables.items() if name.startswith("nm-"))
    theme = (app.theme, app.no_color, app.native_ansi_color, own)
    if (known := _LOOKS.get(app)) is not None and known[0] == theme:
        return known[1]
    found = {tone: app.get_component_styles(f"tone-{tone}").partial_rich_style for tone in TONES}
    _LOOKS[app] = (theme, found)
    return found


class Palette:
    """The looks of all tones on one widget, resolved once a theme."""

    def __init__(self, widget: Widget) -> None:
        looks, base = _looks(widget.app), widget.rich_style
        ground = base + looks["cursor"]
        self.grounds = (base, ground)
        self._plain = {tone: base + style for tone, style in looks.items()}
        self._here = {
            tone: ground if ground.reverse else ground + Style(color=style.color, bold=style.bold)
            for tone, style in (looks | {"rest": looks["off"]}).items()  # fainter, it would be lost on that ground
        }
        self._segments: dict[tuple[tuple[tuple[str, str], ...], int, bool], list[Segment]] = {}
        """No strips: each keeps every form that the library ever cut it into, and grows for as long as it is kept."""

    def strip(self, line: Line, cells: int, *, cursor: bool = False) -> Strip:
        """One line of `cells` cells; under the cursor its ground changes and its tones stay."""
        key = (tuple(line), cells, cursor)
        if (known := self._segments.get(key)) is not None:
            return Strip(known, cells)
        looks = self._here if cursor else self._plain
        segments = [Segment(text, looks[tone]) for text, tone in line]
        made = Strip(segments).adjust_cell_length(cells, self.grounds[cursor])
        if len(self._segments) >= _KEPT:
            self._segments.clear()
        self._segments[key] = list(made)
        return made


class _Title:
    """A title in an edge; set to what it was, it does nothing."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._plain = vars(Widget)[name]

    def __get__(self, frame: Titled | None, kind: type[Titled] | None = None) -> Any:  # noqa: ANN401 -- as the library's
        return self if frame is None else self._plain.__get__(frame, kind)

    def __set__(self, frame: Titled, title: Any) -> None:  # noqa: ANN401 -- as the library's
        before = self._plain.__get__(frame)
        frame.retitling = True
        try:
            self._plain.__set__(frame, title)
        finally:
            frame.retitling = False
        if self._plain.__get__(frame) != before:
            frame.repaint_edge(0 if self._name == "border_title" else frame.outer_size.height - 1)


class Titled(Widget):
    """What has titles in its edges."""

    retitling = False
    _said: Content | None = None
    border_title = _Title("border_title")
    border_subtitle = _Title("border_subtitle")

    @property
    def _border_title(self) -> Content | None:
        """What the edge says. Between corners the library puts blanks round it; a line without corners has none, and
        would run into it."""
        if self._said is None or self.styles.border_left[0]:
            return self._said
        return Content(" ") + self._said + " "

    @_border_title.setter
    def _border_title(self, title: Content | None) -> None:
        self._said = title

    def repaint_edge(self, row: int) -> None:
        """Paint one row of the whole widget again."""
        left, top = self.content_offset
        super().refresh(Region(-left, row - top, self.outer_size.width, 1))

    def refresh(
        self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False
    ) -> Self:  # fmt: skip
        """While a title is set, its edge is all there is to paint."""
        if self.retitling:
            return self
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    def _size_updated(self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True) -> bool:  # noqa: ARG002
        """Another size is painted with the layout that gave it; the library would do both once more."""
        return super()._size_updated(size, virtual_size, container_size, layout=False)


class Frame(Titled, Vertical):
    """Around what stands below one another; its title stands out where the keyboard is."""

    def light(self, *, on: bool) -> None:
        """Whether the keyboard is in it. The class is for the style sheet, which would paint what is inside anew."""
        if self.has_class("-lit") == on:
            return
        self.set_class(on, "-lit", update=False)
        colour = self.app.theme_variables["nm-strong" if on else "nm-quiet"]
        self.styles.base.set_rule("border_title_color", Color.parse(colour))
        self.styles.base.set_rule("border_title_style", Style(bold=True) if on else Style())
        self.repaint_edge(0)


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


Draw = Callable[[int, int], list[Line]]
"""Lines for so many cells and rows."""


class Panel(Drawn):
    """Lines without a frame; as high as what it shows where the style sheet says `height: auto`."""

    DEFAULT_CSS = "Panel { height: auto; }"

    def __init__(self, draw: Draw | None = None, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._draw: Draw = draw or (lambda _cells, _rows: [])
        self._title = ""

    def show(self, draw: Draw, title: str = "") -> None:
        """Draw this from now on."""
        self._draw = draw
        if title and title != self._title:
            self._title = title
            self.border_title = Content(title)
        size = self.content_size
        if self.styles.is_auto_height and (not size.width or max(1, len(draw(size.width, 99))) != size.height):
            self.refresh(layout=True)
        else:
            self.redraw()

    def drawn(self, cells: int, rows: int) -> list[Line]:
        """The lines for the room there is."""
        return self._draw(cells, rows or 99)

    def lines(self, rows: int) -> list[Line]:
        """What it would show in so many rows."""
        width = self.content_size.width
        return self._draw(width, rows) if width else []

    def get_content_height(self, container: object, viewport: object, width: int) -> int:  # noqa: ARG002
        """As many rows as there are lines."""
        return max(1, len(self._draw(width, 99)))


class Card(Panel):
    """A panel in a frame."""

    DEFAULT_CSS = "Card { height: 1fr; }"
