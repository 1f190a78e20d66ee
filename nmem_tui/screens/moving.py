"""Moving the cursor through a list: the same keys on every screen that has one."""

from __future__ import annotations

from nmem_tui.widgets.lines import Lines


class Moving:
    """The part of a screen that moves through whichever of its lists has the keyboard."""

    @property
    def active(self) -> Lines:
        """Where the keyboard is."""
        raise NotImplementedError

    def do_down(self) -> None:
        """One row down."""
        self.active.move(1)

    def do_up(self) -> None:
        """One row up."""
        self.active.move(-1)

    def do_half_down(self) -> None:
        """Half a page down."""
        self.active.move(self.active.page())

    def do_half_up(self) -> None:
        """Half a page up."""
        self.active.move(-self.active.page())

    def do_top(self) -> None:
        """The first row."""
        self.active.scroll_to(y=0, animate=False, immediate=True, force=True)
        self.active.go(0)

    def do_bottom(self) -> None:
        """The last row."""
        self.active.go(self.active.count - 1, -1)
