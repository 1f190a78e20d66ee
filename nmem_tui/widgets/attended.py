"""A list that takes the keyboard: where that comes or goes, only what shows it is painted again."""

from __future__ import annotations

from textual.events import Blur, DescendantBlur, DescendantFocus, Focus
from textual.widget import Widget


class Attended(Widget):
    """The library paints the whole of it, and looks all of its styles up."""

    def on_focus(self, event: Focus) -> None:
        """The keyboard is here."""
        event.prevent_default()
        self.has_focus = True
        self.attend()
        if self.parent is not None:
            self.parent.post_message(DescendantFocus(self))

    def on_blur(self, event: Blur) -> None:
        """It is elsewhere."""
        event.prevent_default()
        self.has_focus = False
        self.attend()
        if self.parent is not None:
            self.parent.post_message(DescendantBlur(self))

    def watch_has_focus(self, has_focus: bool) -> None:
        """Only where it has a frame of its own do styles depend on it."""
        if self.styles.border_top[0]:
            super().watch_has_focus(has_focus)

    def attend(self) -> None:
        """Paint what shows where the keyboard is."""
