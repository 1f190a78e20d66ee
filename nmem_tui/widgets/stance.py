"""The list of the screen Stance: shifts, episodes or sessions, with a cursor that keeps to what can be opened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from nmem_tui.model.line import Line, plain
from nmem_tui.model.stance_list import Item
from nmem_tui.widgets.lines import Lines

Make = Callable[[int], Sequence[Item]]
"""The items for so many cells."""


class StancePane(Lines):
    """Items that are made for the width there is."""

    resting: ClassVar[str] = " "

    def __init__(self) -> None:
        super().__init__(id="items")
        self.items: Sequence[Item] = ()
        self._make: Make = lambda _cells: ()
        self._free = False
        self._cells = 0

    def tell(self, make: Make, *, free: bool, keep: bool = True) -> None:
        """Show these items; `free`: the cursor may rest on every line, `keep`: it stays on its item."""
        here = self.item if keep else None
        self._make, self._free = make, free
        self._build(here, self.cursor if keep else 0)
        if not keep:
            self.scroll_to(y=0, animate=False, immediate=True, force=True)

    def _build(self, here: Item | None, place: int) -> None:
        self._cells = self.scrollable_content_region.width
        items = self.items = list(self._make(max(20, self._cells - 1)))
        if here is not None and here.kind:
            same = (i for i, item in enumerate(items) if (item.kind, item.key) == (here.kind, here.key))
            place = next(same, place)
        self.show(len(items), self._line, self._takes, place)

    def _takes(self, place: int) -> bool:
        return self._free or bool(self.items[place].kind)

    def _line(self, place: int, cells: int) -> Line:
        return self.items[place].draw(cells)

    @property
    def item(self) -> Item | None:
        """What the cursor is on."""
        return self.items[self.cursor] if 0 <= self.cursor < len(self.items) else None

    def on_resize(self) -> None:
        """Another width wraps otherwise."""
        if self.scrollable_content_region.width != self._cells:
            self._build(self.item, self.cursor)
        super().on_resize()

    def plain(self) -> str:
        """All lines as text."""
        return plain(item.draw(160) for item in self.items)
