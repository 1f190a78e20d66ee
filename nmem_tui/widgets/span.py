"""How long a list is: another length only moves its scroll bar, unless that comes or goes."""

from __future__ import annotations

from textual.geometry import Size
from textual.scroll_view import ScrollView


def lengthen(view: ScrollView, count: int) -> None:
    """A list has so many lines from now on; the library would lay out the whole screen for it."""
    size = Size(view.size.width, count)
    if size == view.virtual_size:
        return
    turns = view.styles.overflow_y == "auto" and view.show_vertical_scrollbar != (count > view.container_size.height)
    if turns or not view.size:
        view.virtual_size = size
        return
    view.set_reactive(ScrollView.virtual_size, size)
    if view.show_vertical_scrollbar:
        view.vertical_scrollbar.window_virtual_size = count
    if view.scroll_y > view.max_scroll_y:
        view.scroll_to(y=view.max_scroll_y, animate=False, immediate=True, force=True)
