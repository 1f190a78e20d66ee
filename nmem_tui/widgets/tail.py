"""The end of something that grows: it stays at its newest line until somebody looks further up."""

from __future__ import annotations

from nmem_tui.widgets.items import Items, Make


class Tail(Items):
    """Lines that are followed."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.following = True

    def grow(self, make: Make, *, fresh: bool) -> None:
        """Show these lines; `fresh`: they are of something else than those before, and followed from their end."""
        self.following = fresh or self.following
        self.tell(make, keep=not fresh)
        self._end()

    def _end(self) -> None:
        if self.following and self.count:
            self.set_reactive(Tail.cursor, self.count - 1)
            self.scroll_to(y=max(0, self.count - self.size.height), animate=False, immediate=True, force=True)
            self.redraw()

    def go(self, place: int, step: int = 1, below: int = 0) -> None:
        """Moving up stops following; at the end it begins again."""
        super().go(place, step, below)
        self.following = self.cursor >= self.count - 1

    def on_resize(self) -> None:
        """Another height: the end is elsewhere."""
        super().on_resize()
        self.call_after_refresh(self._end)
