"""Base classes of dialogs: one that closes once, and a list with a filter on top."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.events import Event, Mount, ScreenResume
from textual.screen import ModalScreen, ScreenResultType
from textual.style import Style
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from nmem.text import printable
from nmem_tui.messages import Loaded, ReadFailed
from nmem_tui.model.line import Line, cut
from nmem_tui.model.symbols import Sign, explained
from nmem_tui.screens.host import Host
from nmem_tui.screens.paint_scheduler import Painter
from nmem_tui.store.access import Reads
from nmem_tui.widgets.drawn import COMPONENTS, content
from nmem_tui.widgets.inputs import Field


class CloseOnce:
    """Makes a screen leave with its first answer; stands before the screen's class."""

    left = False
    """Whether it is leaving."""

    def dismiss(self, result: Any = None) -> AwaitComplete:  # noqa: ANN401 -- whatever the screen answers
        """Leave; whatever comes later is too late."""
        if self.left:
            return AwaitComplete()
        self.left = True
        leaving: AwaitComplete = super().dismiss(result)  # type: ignore[misc]
        return leaving


class Modal(CloseOnce, ModalScreen[ScreenResultType], inherit_bindings=False):
    """A dialog: it reads of the database, says in place what cannot be read, and is left with escape."""

    SIGNS: ClassVar[Sequence[Sign]] = ()
    """What its legend explains; a dialog that has some binds LEGEND."""
    COMPONENT_CLASSES: ClassVar[set[str]] = set(COMPONENTS)
    BINDINGS: ClassVar[list[Binding]] = [Binding("escape", "leave", show=False)]  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__()
        self._painter = Painter(self)
        self.reads = Reads(self, lambda: self.cockpit.db_path)

    @property
    def cockpit(self) -> Host:
        """The app, by its own type."""
        app = self.app
        assert isinstance(app, Host)
        return app

    async def on_event(self, event: Event) -> None:
        """A dialog that is left before it stands has nothing to begin with."""
        if not (isinstance(event, Mount | ScreenResume) and (self._closing or self._pruning)):
            await super().on_event(event)

    def _compositor_refresh(self) -> None:
        self._painter.mark_moved()
        super()._compositor_refresh()

    @on(Loaded)
    def hand_out(self, message: Loaded) -> None:
        """It was read."""
        if (then := self.reads.done(message)) and self.is_attached:
            then(message.value)

    @on(ReadFailed)
    def tell(self, message: ReadFailed) -> None:
        """It could not be read."""
        if self.reads.done(message) and self.is_attached:
            self.refuse(printable(message.reason))

    def refuse(self, reason: str) -> None:
        """Say in place why it could not be read; no reason: nothing is recorded."""

    def action_legend(self) -> None:
        """List the signs and words of the dialog with what they mean."""
        self.app.push_screen(Legend(self.SIGNS))

    def action_leave(self) -> None:
        """Change nothing."""
        self.dismiss(None)


@dataclass(frozen=True, slots=True)
class Choice:
    """One choice, the words that find it, and what choosing it gives (None: it cannot be chosen)."""

    line: Line | Callable[[int], list[Line]]
    """How it is drawn: a line to be cut, or what draws it in so many cells."""
    words: str
    value: str | None

    def lines(self, cells: int) -> list[Line]:
        """The choice in at most `cells` cells a line."""
        drawn = self.line(cells) if callable(self.line) else [self.line]
        return [cut(line, cells) for line in drawn]


_HIGHLIGHTED = "option-list--option-highlighted"
_LEAST = 6
"""Rows: frame, box and three lines."""
NOT_RECORDED = "nothing is recorded yet"
"""Why nothing could be read where there is no database."""
NOTHING = Choice([("nothing matches", "quiet")], "", None)


class Options(OptionList):
    """A list whose highlight shows without colours as well: the library's own leaves reversing out."""

    def get_visual_style(self, *component_classes: str, partial: bool = False) -> Style:
        """As the base class, reversed where there are only the terminal's own colours."""
        style = super().get_visual_style(*component_classes, partial=partial)
        bare = self.app.no_color or self.app.native_ansi_color
        return style + Style(reverse=True) if bare and _HIGHLIGHTED in component_classes else style


SCROLLING = tuple(
    Binding(keys, f"scroll({lines})", show=False)
    for keys, lines in (("j,down", 1), ("k,up", -1), ("ctrl+d,pagedown", 10), ("ctrl+u,pageup", -10))
)
"""Keys that scroll the text of a dialog, in lines."""
LEGEND = Binding("question_mark,f1", "legend", show=False)
"""What the signs and words of a dialog mean; where a filter has the keyboard `?` is typed, and f1 is the key."""


class Dialog(Modal[str | None]):
    """Choose one of a list by typing."""

    TITLE_TEXT: ClassVar[str]
    HINT: ClassVar[str] = "enter takes · esc leaves"
    BINDINGS: ClassVar[list[Binding]] = [
        Binding("down,ctrl+n,ctrl+j", "step(1)", show=False, priority=True),
        Binding("up,ctrl+k", "step(-1)", show=False, priority=True),
        Binding("pagedown,ctrl+d", "step(10)", show=False, priority=True),
        Binding("pageup", "step(-10)", show=False, priority=True),
    ]

    field = getters.query_one(Input)
    choices_list = getters.query_one(OptionList)

    def __init__(self) -> None:
        super().__init__()
        self.choices: list[Choice] = []
        self._shown: list[Choice] = []

    def compose(self) -> ComposeResult:
        """A box with the filter and the list."""
        with Vertical(id="dialog") as box:
            box.border_title = Content(self.TITLE_TEXT)
            box.border_subtitle = Content(self.HINT)
            yield Field(placeholder="type to filter", compact=True)
            options = Options(compact=True, markup=False)
            options.can_focus = False
            yield options

    def on_mount(self) -> None:
        """The filter has the keyboard."""
        self.set_focus(self.field)

    def offer(self, choices: list[Choice]) -> None:
        """These are the choices."""
        self.choices = choices
        self.narrow()
        self._fit()

    @on(Input.Changed)
    def narrow(self) -> None:
        """Only the choices that have every word."""
        words = self.field.value.lower().split()
        self._shown = self.matching(words)
        if words and not self._shown:
            self._shown = [NOTHING]
        cells = self._cells()
        self.choices_list.clear_options()
        self.choices_list.add_options(
            Option(content(item.lines(cells)), disabled=item.value is None) for item in self._shown
        )
        first = next((place for place, item in enumerate(self._shown) if item.value is not None), None)
        self.choices_list.highlighted = first

    def matching(self, words: list[str]) -> list[Choice]:
        """The choices that have every word."""
        return [item for item in self.choices if all(word in item.words.lower() for word in words)]

    def narrow_again(self) -> None:
        """As `narrow`; the highlight stays where it is."""
        here = self.choices_list.highlighted
        self.narrow()
        if here is not None and here < len(self._shown):
            self.choices_list.highlighted = here

    def on_resize(self) -> None:
        """The lines are cut to the room there is."""
        self.narrow_again()
        self._fit()

    def refuse(self, reason: str) -> None:
        """The reason stands instead of the choices."""
        self.offer([Choice([("✗ ", "bad"), (reason or NOT_RECORDED, "text")], "", None)])

    def _fit(self) -> None:
        """As high as all choices ask for, so that typing never moves it; at most four fifths of the screen."""
        cells = self._cells()
        lines = sum(len(item.lines(cells)) for item in self.choices[: self.app.size.height])
        self.query_one("#dialog").styles.height = max(_LEAST, min(lines + 3, self.app.size.height * 4 // 5))

    def _cells(self) -> int:
        return (self.choices_list.scrollable_content_region.width or self.app.size.width) - 2

    def action_step(self, by: int) -> None:
        """Move the highlight over the lines that can be taken."""
        able = [place for place, item in enumerate(self._shown) if item.value is not None]
        if not able:
            return
        here = self.choices_list.highlighted
        at = able.index(here) if here in able else 0
        self.choices_list.highlighted = able[max(0, min(at + by, len(able) - 1))]

    @on(Input.Submitted)
    def take(self) -> None:
        """Give back the highlighted one."""
        place = self.choices_list.highlighted
        if place is not None and place < len(self._shown):
            self.dismiss(self._shown[place].value)

    @on(OptionList.OptionSelected)
    def take_clicked(self, event: OptionList.OptionSelected) -> None:
        """A click takes."""
        self.dismiss(self._shown[event.option_index].value)


def sign_choice(one: Sign, words: str = "") -> Choice:
    """A sign and what it means: to be read, and found by either."""

    def draw(cells: int) -> list[Line]:
        return [[("  ", "text"), *row] for row in explained(one, cells - 2)]

    return Choice(draw, f"{words} {one.sign} {one.means}", "")


class Legend(Dialog):
    """What the signs and words of a dialog mean."""

    TITLE_TEXT = "What the signs and words mean"
    HINT = "esc leaves"

    def __init__(self, signs: Sequence[Sign]) -> None:
        super().__init__()
        self._signs = signs

    def on_mount(self) -> None:
        """Each of them."""
        super().on_mount()
        self.offer([sign_choice(one) for one in self._signs])
