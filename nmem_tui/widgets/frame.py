"""A frame whose title changes often: only the edge that it stands in is painted again."""

from __future__ import annotations

from typing import Any, Self

from rich.style import Style
from textual.color import Color
from textual.containers import Vertical
from textual.content import Content
from textual.geometry import Region, Size
from textual.widget import Widget


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
