"""The purge dialog: lists exactly what would go, grouped and counted; `y` purges, `u` undoes.

purging.ask(cockpit, ["obs/12", "obs/13"])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from sqlite3 import Connection
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input

from nmem.errors import NmemError
from nmem.purge import selection
from nmem.text import pad, printable
from nmem_tui.model import previews
from nmem_tui.model.line import Line
from nmem_tui.operations import commands
from nmem_tui.screens.confirm_dialog import ConfirmDialog
from nmem_tui.screens.modal import Modal
from nmem_tui.widgets.drawn import Panel
from nmem_tui.widgets.inputs import Field
from nmem_tui.widgets.option_bar import OptionBar, Way

if TYPE_CHECKING:
    from nmem.purge.preview import Preview, Wider
    from nmem.purge.selection import Selection
    from nmem_tui.screens.host import Host

MOST = 100
"""Rows of each kind that are shown one by one."""


def ask(cockpit: Host, ids: Sequence[str], note: str = "", then: Callable[[], object] = lambda: None) -> None:
    """Show what goes with some things (obs/12, episode/3 ...), and how far it may reach; purge it once confirmed.

    `note`: what a person should know beside it, in a line. `then` is called once it is purged.
    """
    if ids:
        _push(cockpit, Purge(tuple(ids), note=note), then)


def ask_words(cockpit: Host, typed: str = "", *, backups: bool = False, at_once: bool = False) -> None:
    """Type what shall go; then see what that is. How it shall go is kept from a dialog before."""

    def take(chosen: Selection | None) -> None:
        if chosen is not None:
            dialog = Purge((), chosen)
            dialog.backups, dialog.at_once = backups, at_once
            _push(cockpit, dialog)

    cockpit.push_screen(Choose(typed), take)


def _push(cockpit: Host, dialog: Purge, then: Callable[[], object] = lambda: None) -> None:
    def take(sure: bool | None) -> None:
        if sure and dialog.chosen is not None:
            cockpit.say(f"purging {dialog.name_text} …")
            purge = commands.purge(
                dialog.chosen, cockpit.db_path, cockpit.zone, backups=dialog.backups, at_once=dialog.at_once
            )

            def work(db: Connection, now: int) -> str:
                said = purge(db, now)
                cockpit.call_later(then)  # what could not be purged stays marked
                cockpit.call_later(cockpit.forget_asked)
                return said

            cockpit.change(work)
        elif dialog.words:
            ask_words(cockpit, backups=dialog.backups, at_once=dialog.at_once)

    cockpit.push_screen(dialog, take)


class Purge(ConfirmDialog):
    """What a selection takes away; a letter reaches further, or less far."""

    VERB = "purges this"
    BINDINGS: ClassVar[list[Binding]] = [
        *(Binding(key, f"reach({key!r})", show=False) for key in previews.REACHES),
        Binding("w", "words", show=False),
        Binding("b", "backups", show=False),
        Binding("o", "at_once", show=False),
    ]

    def __init__(self, ids: Sequence[str], chosen: Selection | None = None, note: str = "") -> None:
        name = " ".join(("by", *chosen.how)) if chosen else ids[0] if len(ids) == 1 else f"{len(ids)} items"
        super().__init__(f"Purge {name}")
        self.ids, self.chosen, self.name_text = tuple(ids), chosen, name
        self.note = printable(note)
        self.wider: tuple[Wider, ...] = ()
        self.kind = previews.ITEM
        self.backups = self.at_once = self.words = False
        self._token = object()
        self._found: tuple[Preview, int] | None = None

    def above(self) -> ComposeResult:
        """How far it reaches."""
        yield OptionBar(id="reaches")

    def look(self) -> None:
        """Count and read what goes."""
        chosen, ids, path = self.chosen, self.ids, self.cockpit.db_path
        token = self._token = object()

        def over() -> bool:
            return self.over() or token is not self._token

        def work(db: Connection) -> tuple[object, tuple[Wider, ...], Selection, Preview, int]:
            from nmem.purge.preview import (
                around,  # on use: start-up stays short
                preview,
            )
            from nmem.purge.run import window_minutes

            wider = around(db, ids) if ids and chosen is None else ()
            wanted = chosen or wider[0].chosen
            return token, wider, wanted, preview(db, wanted, path, MOST, over, each=True), window_minutes()

        self.reads.ask("purge", work, self._show)

    def _show(self, found: tuple[object, tuple[Wider, ...], Selection, Preview, int]) -> None:
        token, wider, chosen, shown, minutes = found
        if token is not self._token:
            return  # another reach was chosen meanwhile
        self.wider, self.chosen, self._found = self.wider or wider, chosen, (shown, minutes)
        self._tell()

    def _tell(self) -> None:
        self._tell_reaches()
        if self._found is None:
            return
        shown, minutes = self._found
        at, zone = self.cockpit.clock(), self.cockpit.zone
        left, gone = 0 if self.at_once else minutes, self.backups
        self.show(
            lambda cells: previews.head(
                shown, left, at, zone, cells, self.note, backups=gone, low=self.has_class("-low")
            ),
            lambda _cells: previews.purge_items(shown, at, zone, backups=gone),
            able=not shown.empty or (gone and bool(shown.backups)),
        )

    def _tell_reaches(self) -> None:
        here: list[Way] = []
        for one in self.wider:
            label = previews.reach(one, single=len(self.ids) == 1)
            here.append(Way(previews.KEYS[one.kind], label, one.kind == self.kind))
        here.append(Way("w", "words, a time, a file …", tone="quiet"))
        here.append(Way("b", f"backups {'go too' if self.backups else 'stay'}", self.backups, "quiet"))
        here.append(Way("o", "for good" if self.at_once else "can be taken back", self.at_once, "quiet"))
        self.query_one("#reaches", OptionBar).tell(here)

    @on(OptionBar.Taken, "#reaches")
    def reach_clicked(self, message: OptionBar.Taken) -> None:
        """A way was clicked."""
        toggles = {"w": self.action_words, "b": self.action_backups, "o": self.action_at_once}
        if message.key in toggles:
            toggles[message.key]()
        else:
            self.action_reach(message.key)

    def action_reach(self, key: str) -> None:
        """Another reach: look again what goes; nothing can be confirmed before it is shown."""
        one = next((one for one in self.wider if one.kind == previews.REACHES[key]), None)
        if one is None or one.kind == self.kind:
            return
        self.kind, self.chosen, self.name_text, self._found = one.kind, one.chosen, one.name, None
        self.query_one("#dialog").border_title = Content(f"Purge {one.name}")
        self.show(lambda _cells: [[("finding what goes …", "quiet")]], lambda _cells: [], able=False)
        self._tell_reaches()
        self.look()

    def action_words(self) -> None:
        """Type what shall go instead."""
        self.words = True
        self.action_leave()

    def action_backups(self) -> None:
        """Backups that hold it go as well, or stay."""
        self.backups = not self.backups
        self._tell()

    def action_at_once(self) -> None:
        """It cannot be taken back, or can."""
        self.at_once = not self.at_once
        self._tell()


class Choose(Modal["Selection | None"]):
    """Type what shall go: words, or an id, or where it is."""

    def __init__(self, typed: str = "") -> None:
        super().__init__()
        self.typed = typed

    def compose(self) -> ComposeResult:
        """A box with one line to type in, and what can be typed."""
        with Vertical(id="dialog", classes="-small") as box:
            box.border_title = Content("Purge what?")
            box.border_subtitle = Content("enter shows what goes · esc leaves")
            yield Field(
                self.typed, placeholder="words, since:2d, file:src/a.py, project:shop ...", compact=True, max_length=400
            )
            yield Panel(lambda _cells, _rows: list(_HELP), id="means")

    def on_mount(self) -> None:
        """The line has the keyboard."""
        self.set_focus(self.query_one(Input))

    @on(Input.Submitted)
    def take(self, event: Input.Submitted) -> None:
        """This shall go; what cannot be understood is said in place."""
        try:
            chosen = selection.read(event.value, self.cockpit.clock(), self.cockpit.zone)
        except NmemError as error:
            reason = printable(str(error))
            self.query_one("#means", Panel).show(lambda _c, _r: [[("✗ ", "bad"), (reason, "text")], *_HELP])
        else:
            self.dismiss(chosen)


_MEANS = (
    ("words", "rows that contain them, anywhere"),
    ("re:PATTERN", "rows where a regular expression matches"),
    ("file:PATH", "calls that touched a file"),
    ("since:7d before:14:20", "what was then; also 2026-01-31"),
    ("project:NAME", "all of a project; so session:ID"),
    ("obs/12 episode/3", "one item; so prompt/5, thread/4, task/7"),
    ("several of them", 'all must hold: "sk live" since:2d'),
)
_HELP: list[Line] = [[], *([(pad(typed, 23), "key"), (means, "text")] for typed, means in _MEANS)]
