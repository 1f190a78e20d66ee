"""Confirmation dialogs that first show the change: `y` applies it, and no other key does.

Neither the key that opened the dialog nor enter confirms: a key that is pressed twice destroys nothing, and enter is
cancel, which has the keyboard.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Event
from typing import ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content

from nmem.text import printable
from nmem_tui.model.figures import several
from nmem_tui.model.line import Line, wrap
from nmem_tui.model.lists import Item
from nmem_tui.screens.modal import NOT_RECORDED, SCROLLING, Modal
from nmem_tui.widgets.drawn import Panel
from nmem_tui.widgets.item_lists import Items
from nmem_tui.widgets.lines import Lines
from nmem_tui.widgets.option_bar import OptionBar, Way

_LEAVES = "esc leaves"


class ConfirmDialog(Modal[bool]):
    """What would be done; gives back whether it shall be."""

    VERB: ClassVar[str] = "does this"
    BINDINGS: ClassVar[list[Binding]] = [
        Binding("q,n,enter", "leave", show=False),
        Binding("y", "confirm", show=False),
        *SCROLLING,
        Binding("g,home", "scroll(-100000)", show=False),
        Binding("G,end", "scroll(100000)", show=False),
    ]

    VERTICAL_BREAKPOINTS = [(0, "-low"), (20, "-short")]  # noqa: RUF012 -- as the base class has it

    told = getters.query_one("#head", Panel)
    pane = getters.query_one("#what", Items)
    ends = getters.query_one("#ends", OptionBar)

    def __init__(self, title: str) -> None:
        super().__init__()
        self.title_text = title
        self.able = False
        """Whether it is shown, and there is something to do."""
        self._over = Event()

    def compose(self) -> ComposeResult:
        """A box: what it is about, over what would be done."""
        with Vertical(id="dialog", classes="-foresee") as box:
            box.border_title = Content(printable(self.title_text))
            box.border_subtitle = Content(_LEAVES)
            yield from self.above()
            yield Panel(id="head")
            yield Items(id="what")
            yield OptionBar(id="ends", stands=True)

    def on_mount(self) -> None:
        """Look what there is to do."""
        self.told.show(lambda _cells, _rows: [[("finding what goes …", "quiet")]])
        self._end(able=False)
        self.set_focus(self.ends)
        self.look()

    def above(self) -> ComposeResult:
        """What stands over what it is about."""
        return ()

    def _end(self, *, able: bool) -> None:
        """Cancel is chosen; the other way is there once there is something to do."""
        self.able = able
        self.ends.tell([Way("escape", "cancel", True, mark="enter"), *([Way("y", self.VERB)] if able else [])])

    @on(OptionBar.Taken, "#ends")
    def end_clicked(self, message: OptionBar.Taken) -> None:
        """One of the two was clicked."""
        if message.key == "y":
            self.action_confirm()
        else:
            self.action_leave()

    def look(self) -> None:
        """Read what would be done."""
        raise NotImplementedError

    def over(self) -> bool:
        """Whether the dialog is closed: what it reads may end."""
        return self._over.is_set()

    def show(
        self, head: Callable[[int], Sequence[Line]], items: Callable[[int], Sequence[Item]], *, able: bool
    ) -> None:
        """Show what would be done."""
        self._end(able=able)
        self.told.show(lambda cells, _rows: list(head(cells)))
        self.pane.tell(items, keep=False)
        self.call_after_refresh(self.call_after_refresh, self.tell_more)  # once the head has the height that it takes

    def refuse(self, reason: str) -> None:
        """It cannot be done: say so in place."""
        said = reason or NOT_RECORDED
        self._end(able=False)
        self.told.show(lambda cells, _rows: [[("✗ " if not n else "  ", "bad"), (row, "text")]
                                             for n, row in enumerate(wrap(said, cells - 2, 4))])  # fmt: skip

    def action_confirm(self) -> None:
        """Do what is shown, once it is."""
        if self.able:
            self._over.set()
            self.dismiss(True)

    def action_leave(self) -> None:
        """Change nothing."""
        self._over.set()
        self.dismiss(False)

    def action_scroll(self, by: int) -> None:
        """Scroll what is shown, line by line."""
        self.pane.roll(by)

    @on(Lines.Scrolled, "#what")
    def tell_more(self) -> None:
        """How many lines are below what is in sight; none once the dialog is being taken down."""
        if not self.query("#dialog #what"):
            return
        box, below = self.query_one("#dialog"), self.pane.count - self.pane.places()[1]
        box.set_class(below > 0, "-more")
        box.border_subtitle = Content(
            (f"{several(below, 'more line')} below · j k scroll · " if below > 0 else "") + _LEAVES
        )

    def on_resize(self) -> None:
        """Another height shows more of it, or less."""
        self.call_after_refresh(self.tell_more)


class ConfirmTask(Modal[bool]):
    """Says what would happen, and asks; the key that opened it does not answer it."""

    BINDINGS: ClassVar[list[Binding]] = [
        Binding("y", "answer(True)", show=False),
        Binding("escape,n,q", "answer(False)", show=False),
    ]

    def __init__(self, title: str, said: Sequence[Line], does: str) -> None:
        super().__init__()
        self.title_text, self.said, self.does = title, said, does

    def compose(self) -> ComposeResult:
        """A box with what would happen."""
        with Vertical(id="dialog", classes="-small") as box:
            box.border_title = Content(self.title_text)
            box.border_subtitle = Content(f"y {self.does} · esc leaves")
            yield Panel(lambda _cells, _rows: list(self.said), id="asked-about")

    def action_answer(self, answer: bool) -> None:
        """Done or left."""
        self.dismiss(answer)
