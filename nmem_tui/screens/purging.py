"""The dialog before a purge, for every screen: exactly what goes, grouped and counted; `y` purges, `u` undoes.

purging.ask(cockpit, Selection(ids=(("episode", "3"),)), "episode 3")
"""

from __future__ import annotations

from sqlite3 import Connection
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input

from nmem.errors import NmemError
from nmem.text import pad, printable
from nmem_tui import steering
from nmem_tui.model import purging
from nmem_tui.model.line import Line
from nmem_tui.screens.foreseeing import Foresee
from nmem_tui.widgets.card import Panel
from nmem_tui.widgets.tones import COMPONENTS

if TYPE_CHECKING:
    from nmem.purge.preview import Preview
    from nmem.purge.selection import Selection
    from nmem_tui.app import Cockpit

MOST = 500
"""Rows that are shown one by one."""


def ask(cockpit: Cockpit, chosen: Selection, name: str) -> None:
    """Show what a selection takes away; purge it once that is confirmed."""

    def take(sure: bool | None) -> None:
        if sure:
            cockpit.say(f"purging {name} …")
            cockpit.change(steering.purge(chosen, cockpit.db_path, cockpit.zone))

    cockpit.push_screen(Purge(chosen, name), take)


def ask_id(cockpit: Cockpit, kind: str, number: int) -> None:
    """The same for one thing by its id: obs/12, prompt/5, episode/3, learning/2, task/7."""
    from nmem.purge.selection import Selection

    ask(cockpit, Selection(ids=((kind, str(number)),)), f"{kind}/{number}")


class Purge(Foresee):
    """What a selection takes away."""

    VERB = "purges this"

    def __init__(self, chosen: Selection, name: str) -> None:
        super().__init__(f"Purge {name}")
        self.chosen = chosen

    def look(self) -> None:
        """Count and read what goes."""
        chosen, path = self.chosen, self.app.db_path  # type: ignore[attr-defined]

        def work(db: Connection) -> tuple[Preview, int]:
            from nmem.purge.preview import preview
            from nmem.purge.run import window_minutes

            return preview(db, chosen, path, MOST, self.over), window_minutes()

        self.reads.ask("purge", work, self._show)

    def _show(self, found: tuple[Preview, int]) -> None:
        shown, minutes = found
        at, zone = self.app.clock(), self.app.zone  # type: ignore[attr-defined]
        self.show(
            lambda cells: purging.head(shown, minutes, at, zone, cells),
            lambda _cells: purging.items(shown, at, zone),
            able=not shown.empty,
        )


class Choose(ModalScreen["Selection | None"]):
    """Type what shall go: words, or an id, or where it is."""

    COMPONENT_CLASSES = set(COMPONENTS)  # noqa: RUF012 -- as the base class has it
    BINDINGS = [Binding("escape", "leave", show=False)]  # noqa: RUF012

    def compose(self) -> ComposeResult:
        """A box with one line to type in, and what can be typed."""
        with Vertical(id="dialog", classes="-small") as box:
            box.border_title = Content("Purge what?")
            box.border_subtitle = Content("enter shows what goes · esc leaves")
            field = Input(placeholder="words, obs/12, episode/3, project:shop ...", compact=True, max_length=400)
            field.cursor_blink = False
            yield field
            yield Panel(lambda _cells, _rows: list(_HELP), id="means")

    def on_mount(self) -> None:
        """The line has the keyboard."""
        self.set_focus(self.query_one(Input))

    @on(Input.Submitted)
    def take(self, event: Input.Submitted) -> None:
        """This shall go; what cannot be understood is said in place."""
        try:
            self.dismiss(chosen(event.value))
        except NmemError as error:
            reason = printable(str(error))
            self.query_one("#means", Panel).show(lambda _c, _r: [[("✗ ", "bad"), (reason, "text")], *_HELP])

    def action_leave(self) -> None:
        """Purge nothing."""
        self.dismiss(None)


_MEANS = (
    ("words", "rows that say them, and wherever else they stand"),
    ("obs/12  prompt/5", "one row"),
    ("episode/3  thread/4", "all of it; so session/ID, learning/2, task/7"),
    ("project:NAME", "a project with everything in it"),
    ("file:PATH", "calls that touched a file"),
)
_HELP: list[Line] = [[], *([(pad(typed, 20), "key"), (means, "text")] for typed, means in _MEANS)]


def chosen(typed: str) -> Selection:
    """What a person typed, as a selection. Raises NmemError."""
    from nmem.purge.selection import KINDS, Selection, parse

    text = typed.strip()
    kind, colon, rest = text.partition(":")
    if colon and rest.strip() and kind in ("project", "file"):
        return Selection(projects=(rest.strip(),)) if kind == "project" else Selection(files=(rest.strip(),))
    kind, slash, rest = text.partition("/")
    if slash and kind in (*KINDS, "observation") and rest and " " not in rest:
        return Selection(ids=(parse(text),))
    return Selection(texts=(text,) if text else ())
