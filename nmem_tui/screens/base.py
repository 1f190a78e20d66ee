"""The base class of all screens: header, tabs, body, key bar, database reads, and errors shown in place."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from sqlite3 import Connection
from typing import TYPE_CHECKING, Any, ClassVar, Self

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.css.query import NoMatches
from textual.events import DescendantBlur, DescendantFocus, Event, Mount, ScreenResume, Unmount
from textual.geometry import Size
from textual.reactive import reactive
from textual.screen import Screen
from textual.timer import Timer
from textual.widget import Widget

from nmem.text import pad, printable
from nmem_tui.messages import Loaded, ReadFailed, StoreChanged, StoreGone
from nmem_tui.model import actions
from nmem_tui.model.actions import bindings
from nmem_tui.model.empty import told
from nmem_tui.model.line import Line, wrap
from nmem_tui.model.now_queries import Whose
from nmem_tui.screens.host import Host
from nmem_tui.screens.paint_scheduler import Painter
from nmem_tui.store.access import Reads
from nmem_tui.widgets.bars import Header, KeyBar, Tabs
from nmem_tui.widgets.drawn import COMPONENTS, Frame, Panel

if TYPE_CHECKING:
    from nmem_tui.model.exports import Gather

_COUNT_S = 2.0
"""What the tabs count is read at most this often."""
_AGES_MS = 60_000
"""How long something is ago may be so old on a screen that comes back."""
DEMO_BANNER = "a recorded session in a temporary database: nothing of yours is read or written · q leaves"
_BANNER_SHORT = "a recorded session: nothing of yours is read or written · q leaves"
"""Where there is too little room for all of it: how to leave stays."""


Take = Callable[[str], None]


class View(Screen[Any], inherit_bindings=False):
    """One of the numbered screens."""

    CONTEXT: ClassVar[str] = ""
    AUTO_FOCUS = ""
    """The keyboard goes where the screen says, never to the first field there is."""
    OPENS: ClassVar[str]
    """The read with whose answer the screen can be worked with."""
    COMPONENT_CLASSES: ClassVar[set[str]] = set(COMPONENTS)
    BINDINGS: ClassVar[list[Binding]] = [  # type: ignore[assignment]
        Binding("ctrl+c,super+c", "screen.copy_text", show=False)
    ]
    """What every screen of Textual has but tab, which leads to the next screen here."""
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (120, "-wide")]  # noqa: RUF012 -- as the base class has it
    VERTICAL_BREAKPOINTS = [(0, "-low"), (20, "-short"), (36, "-tall")]  # noqa: RUF012

    focused: reactive[Widget | None] = reactive(None, repaint=False)
    """The library paints the whole screen again where the keyboard goes elsewhere; who gets or loses it is enough."""

    header = getters.query_one(Header)
    notice = getters.query_one("#notice", Panel)

    def __init_subclass__(cls, **kwargs: Any) -> None:  # noqa: ANN401 -- the base class takes what it takes
        """Each screen gets the bindings of its context."""
        cls.BINDINGS = bindings(cls.CONTEXT)
        super().__init_subclass__(**kwargs)

    def __init__(self) -> None:
        super().__init__()
        self._painter = Painter(self)
        self.reads = Reads(self, lambda: self.cockpit.db_path)
        self.ready = asyncio.Event()
        """Whether what it was opened for is shown, or is known not to be there."""
        self.recorded = True
        """Whether there is a database, as far as is known."""
        self.filled = False
        """Whether anything that was read is shown."""
        self.composed = False
        """Whether its widgets stand: from its mounting until it is taken away."""
        self._keys_due: bool | None = None
        """Whether the key bar is to be drawn, whatever it says; None: nobody asked."""
        self.ahead = False
        """Whether it is made before anybody asks for it."""
        self._held: Mount | None = None
        """With it a screen that was made ahead begins, once it is shown."""
        self._due: set[Callable[[], object]] = set()
        """Calls that `soon` has scheduled."""
        self._resting: dict[Callable[[], object], Timer] = {}
        """The timers of calls that `once_quiet` holds back."""
        self.seen = -1
        """The generation of the store that this screen shows."""
        self._as_of: tuple[object, ...] = ()
        """What all it shows was read for: see `reads_now` and `is_old`."""

    @property
    def cockpit(self) -> Host:
        """The app, by its own type."""
        app = self.app
        assert isinstance(app, Host)
        return app

    def whose(self, current: str | None = None) -> Whose:
        """Which session the screen is about; `current`: the one that it shows, else the one on screen."""
        app = self.cockpit
        shown = current if current is not None else app.session.id if app.session else ""
        return Whose(app.chosen, shown, app.project, app.clock(), app.home)

    def compose(self) -> ComposeResult:
        """Bars around the body."""
        self._fit(self.app.size)
        yield Panel(id="banner")
        yield Header()
        yield Tabs(self.CONTEXT)
        yield Panel(id="notice")
        yield from self.body()
        yield KeyBar(self.CONTEXT)

    def _fit(self, size: Size) -> None:
        """Have the classes of its size before its widgets are styled; with the first resize it is too late for that."""
        breadth = self._get_breakpoint_classes(size.width, self.HORIZONTAL_BREAKPOINTS)
        height = self._get_breakpoint_classes(size.height, self.VERTICAL_BREAKPOINTS)
        self.add_class(*breadth, *height)

    def body(self) -> ComposeResult:
        """What is between the tabs and the key bar."""
        raise NotImplementedError

    def add_class(self, *class_names: str, update: bool = True) -> Self:
        """The library styles all of the screen anew for each; what a rule with that class is about is enough."""
        new = {name for name in class_names if not self.has_class(name)}
        return self._reclassed(super().add_class(*class_names, update=False), new, update=update)

    def remove_class(self, *class_names: str, update: bool = True) -> Self:
        """As `add_class`."""
        gone = {name for name in class_names if self.has_class(name)}
        return self._reclassed(super().remove_class(*class_names, update=False), gone, update=update)

    def _reclassed(self, view: Self, classes: set[str], *, update: bool) -> Self:
        if update and classes and self.is_attached:
            self.cockpit.restyle(self, classes)
        return view

    async def on_event(self, event: Event) -> None:
        """A screen that closes, or was asked for just before the cockpit does, may not be whole: it begins nothing."""
        if isinstance(event, Mount) and self.ahead:
            self._held = event
            return
        if isinstance(event, ScreenResume) and self._held is not None:
            held, self._held, self.ahead = self._held, None, False
            await self.on_event(held)
        if isinstance(event, Mount | Unmount):
            self.composed = isinstance(event, Mount)
        closes = self.cockpit.leaving or self._closing or self._pruning
        if not (closes and isinstance(event, Mount | ScreenResume)):
            await super().on_event(event)

    def _refresh_layout(self, size: Size | None = None, scroll: bool = False) -> None:
        with self._painter.laying_out():
            super()._refresh_layout(size, scroll)

    def _compositor_refresh(self) -> None:
        if self._painter.may_paint():
            super()._compositor_refresh()

    def soon(self, seconds: float, do: Callable[[], object]) -> None:
        """Do it in so many seconds: once, however often it is asked for until then."""
        if do not in self._due:
            self._due.add(do)
            self.set_timer(seconds, partial(self._do_due, do))

    def _do_due(self, do: Callable[[], object]) -> None:
        self._due.discard(do)
        do()

    def catch_up_soon(self, seconds: float, read: Callable[[], object], *, shown: bool) -> None:
        """Read at once where nothing is shown yet, else soon."""
        if shown:
            self.soon(seconds, read)
        else:
            read()

    def once_quiet(self, seconds: float, do: Callable[[], object]) -> None:
        """Do it once nobody has asked for it for so many seconds: while a key is held, nothing is read."""
        self.not_quiet(do)
        self._resting[do] = self.set_timer(seconds, do)

    def not_quiet(self, do: Callable[[], object]) -> None:
        """Cancel a call that `once_quiet` holds back."""
        if timer := self._resting.pop(do, None):
            timer.stop()

    def action_copy_text(self) -> None:
        """Copy what the mouse has marked; where nothing is, say what leaves, which ctrl+c does elsewhere."""
        if self.get_selected_text() is None:
            self.cockpit.say(f"{actions.key_of('quit')} quits; ctrl+c copies text marked with the mouse")
        else:
            super().action_copy_text()

    def on_mount(self) -> None:
        """Start with what there is; a screen's own `on_mount` runs before this one, and does not call it."""
        self.seen = self.cockpit.generation
        if self.cockpit.keys:
            from nmem_tui.keymap import bind  # on use: start-up stays short

            bind(self, self.CONTEXT, self.cockpit.keys)
        self.tell_demo()
        self.refresh_data()

    def tell_demo(self) -> None:
        """A banner while the demo plays."""
        self.query_one("#banner", Panel).show(lambda cells, _rows: [banner(cells)])
        self.set_class(self.cockpit.demo, "-demo")

    def refresh_data(self) -> None:
        """Read again what the screen shows."""
        raise NotImplementedError

    # What the app tells a screen; one that does not care does nothing

    def look_again(self) -> None:
        """The person changed something."""

    def look_away(self) -> None:
        """The person went to another window."""

    def arrive(self) -> None:
        """The person came here by the screen's number."""

    def spot(self) -> Any:  # noqa: ANN401 -- each screen's own
        """Where the person is on the screen, for the way back."""

    def return_to(self, place: Any) -> None:  # noqa: ANN401 -- what `spot` gave
        """Back to such a spot."""

    def session_changed(self) -> None:
        """The person chose another session."""

    def open_row(self) -> None:
        """Show the row that the app wants."""

    def open_wanted(self) -> None:
        """Show what the app wants: an episode, a learning, a task, a query."""

    def show_job(self) -> None:
        """How far the work in the background is."""

    def forget_asked(self) -> None:
        """Something was purged: what was looked for before may say it."""

    def may_alone(self, action_id: str) -> str | None:  # noqa: ARG002 -- for screens whose rows can be marked
        """Why an action cannot be about several marked rows; None where one is meant, or it can."""
        return None

    @property
    def home(self) -> Widget | None:
        """The list, where the keyboard goes; None: there is none."""
        return None

    @on(ScreenResume)
    def keep_look(self, event: ScreenResume) -> None:
        """Only a screen that was behind another theme is styled anew; a new one was just styled."""
        if self.cockpit.wears(self):
            event.refresh_styles = False

    @on(ScreenResume)
    def sweep_toasts(self) -> None:
        """A toast that was over while another screen was shown goes; its place stays in the library, for ever."""
        self.query("ToastHolder:empty").remove()

    def on_screen_resume(self) -> None:
        """Catch up with what was committed while another screen was shown."""
        if self.seen not in (-1, self.cockpit.generation):
            self.seen = self.cockpit.generation
            self.refresh_data()
        self.show_hot(self.cockpit.hot)
        self.show_live(self.cockpit.live)
        if self.cockpit.gone is not None:
            self.lost(self.cockpit.gone)

    def reads_now(self) -> None:
        """It reads all that it shows."""
        self._as_of = self._what_counts()

    def is_old(self) -> bool:
        """Whether it may show something else once it is read again: after a commit, for another session or size."""
        return self._as_of != self._what_counts()

    def _what_counts(self) -> tuple[object, ...]:
        app = self.cockpit
        session = app.session.id if app.session else ""
        return app.generation, app.chosen, session, app.project, self.size, app.clock() // _AGES_MS

    @on(StoreChanged)
    def catch_up(self, message: StoreChanged) -> None:
        """Another process committed."""
        self.seen = message.generation
        self.refresh_data()
        self.soon(_COUNT_S, self.count_hot)

    def count_hot(self) -> None:
        """How many hot learnings wait where the screen Learnings looks, and how many tasks run; the tabs say it."""
        if not self.ready.is_set():
            return  # what the screen was opened for comes first: it is counted after that
        self._count_live()
        app, at = self.cockpit, self.cockpit.clock()
        kind, project, session = app.listed, app.project, app.session
        if not project and session is None:
            return  # whose learnings is not known yet: the session that is shown tells

        def count(db: Connection) -> int:
            from nmem_tui.model import learnings as reading  # on use: start-up stays short

            return reading.hot(db, reading.scope_of(kind or reading.PROJECT, project, session), at)

        self.reads.ask("hot", count, self.show_hot)

    def show_hot(self, number: int) -> None:
        """So many are hot."""
        self.cockpit.hot = number
        for tabs in self.query(Tabs):
            tabs.hot = number
            tabs.redraw()

    def _count_live(self) -> None:
        def count(db: Connection) -> tuple[int, int]:
            from nmem_tui.model import tasks_queries  # on use: start-up stays short

            return tasks_queries.live(db)

        self.reads.ask("live", count, self.show_live)

    def show_live(self, numbers: tuple[int, int]) -> None:
        """So many tasks run, and so many wait for the person."""
        self.cockpit.live = numbers
        for tabs in self.query(Tabs):
            if tabs.live != numbers:
                tabs.live = numbers
                tabs.redraw()

    @on(Loaded)
    def hand_out(self, message: Loaded) -> None:
        """Give an answer to who asked; a cockpit that closes has no screen any more that could show it."""
        if (then := self.reads.done(message)) and self.is_attached and self.app.screen_stack:
            if self.has_class("-error"):
                self.remove_class("-error")
                self.header.redraw()
            self.recorded = self.filled = True
            then(message.value)
            self.check_keys()
            if self.focused is None:
                self.call_after_refresh(self.take_keys)
            if not self.ready.is_set() and (message.topic == self.OPENS or message.value is None):
                self.ready.set()
                self.call_after_refresh(self.count_hot)

    def take_keys(self) -> None:
        """The list has the keyboard again, where it had gone with the list: one that was empty has its first row."""
        with suppress(NoMatches):  # a screen that is being taken down has no list any more
            if self.focused is None and (home := self.home) is not None and self.is_attached:
                self.set_focus(home, scroll_visible=False)

    @on(DescendantFocus)
    @on(DescendantBlur)
    def focus_moved(self) -> None:
        """Where a box has the keyboard, the keys are letters; the frame that has it stands out."""
        for frame in self.query(Frame):
            frame.light(on=self.focused is not None and frame in self.focused.ancestors)
        self.check_keys()

    def check_keys(self, *, anew: bool = False) -> None:
        """The key bar shows what applies now: however often this is asked for until the screen has time for it."""
        if self._keys_due is None:
            self.call_later(self._check_keys)
        self._keys_due = anew or bool(self._keys_due)

    def _check_keys(self) -> None:
        anew, self._keys_due = bool(self._keys_due), None
        for bar in self.query(KeyBar):  # while the cockpit closes, there may be none any more
            bar.check(anew=anew)

    @on(ReadFailed)
    def tell_failure(self, message: ReadFailed) -> None:
        """Say in place what could not be read."""
        if self.reads.done(message):
            self.lost(message.reason)

    @on(StoreGone)
    def tell_gone(self, message: StoreGone) -> None:
        """The database went away, or never was."""
        self.lost(message.reason)

    def lost(self, reason: str) -> None:
        """Show that nothing is recorded (no reason), or the reason why it cannot be read."""
        self.ready.set()
        if not reason:
            self.cockpit.feed.check()
            reason = self.cockpit.feed.deleted
        self.header.redraw()
        if not reason:
            self.recorded = False
            self.nothing_yet()
            return
        said = printable(reason)
        self.notice.show(lambda cells, _rows: _trouble(said, cells, self._below()))
        self.add_class("-error")
        self.check_keys()

    def _below(self) -> str:
        """What stands under the reason: what can be done, or whether what is below may be old."""
        if self.cockpit.why_not("upgrade") is None:
            return f"{actions.key_of('upgrade')} brings it up to date"
        old = "" if self.is_blank() else "what is below may be old; "
        return f"{old}nmem keeps retrying"

    def is_blank(self) -> bool:
        """Whether nothing stands below the notice."""
        return self.has_class("-blank") or not self.filled

    def nothing_yet(self) -> None:
        """Nothing is recorded: say what will be seen here, and which command begins it."""
        self.add_class("-empty")
        self.tell_empty()
        self.header.show(lambda _cells: [(" nmem ▸ ", "quiet"), ("nothing recorded yet", "title")])
        self.check_keys()

    def tell_empty(self) -> None:
        """Say what is to be seen here once there is something."""
        app, screen = self.cockpit, self.CONTEXT
        begins = app.demo and screen == "now"
        self.query_one("#empty", Panel).show(
            lambda cells, rows: told(
                screen, cells, rows, app.project, connected=app.connected, writes=not app.read_only, demo=begins
            )
        )
        app.look_connected()

    # What goes out of it: the text at the cursor, its id, the whole view

    def give_text(self, take: Take) -> None:
        """Hand the text under the cursor, whole, to who asked for it; it may have to be read first."""
        raise NotImplementedError

    def id_here(self) -> str:
        """The id of what is under the cursor, as `nmem tui` takes it; nothing where there is none."""
        return ""

    def gather(self) -> Gather:
        """What reads the whole view."""
        raise NotImplementedError

    def shares(self) -> bool:
        """Whether something is here that can be shared: an episode."""
        return False

    def share(self) -> None:
        """Write what can be shared into new files."""
        raise NotImplementedError

    def do_copy(self) -> None:
        self.give_text(self.cockpit.copy_out)

    def may_copy(self) -> str | None:
        """Whether there is any."""
        return None

    def may_editor(self) -> str | None:
        """Whatever can be copied can be read in an editor."""
        return self.may_copy()

    def do_editor(self) -> None:
        self.give_text(self.cockpit.edit_out)

    def may_copy_id(self) -> str | None:
        """Only of what has one."""
        return None if self.id_here() else "nothing with an id is under the cursor"

    def do_copy_id(self) -> None:
        self.cockpit.copy_out(self.id_here())

    def do_export(self) -> None:
        from nmem_tui.screens.prompt_dialogs import SHARE, Export  # on use: start-up stays short

        def take(how: str | None) -> None:
            if how == SHARE:
                self.share()
            elif how:
                form, _, place = how.partition(" ")
                gather, view = self.gather(), self.CONTEXT
                self.reads.ask(
                    "export", lambda db: gather(db).written(form),
                    lambda content: self.cockpit.export_out(view, content, form, place),
                )  # fmt: skip

        self.cockpit.push_screen(Export(self.CONTEXT.capitalize(), shares=self.shares()), take)


def banner(cells: int) -> Line:
    """That the demo plays, and how to leave it."""
    said = DEMO_BANNER if len(DEMO_BANNER) + 7 <= cells else _BANNER_SHORT
    return [(" DEMO ", "key"), (pad(f" {said}", max(0, cells - 6)), "warn")]


def _trouble(reason: str, cells: int, below: str) -> list[Line]:
    first, *rest = wrap(reason, cells - 4, 3)
    lines: list[Line] = [[(" ✗ ", "bad"), (first, "text")], *([("   ", "text"), (row, "text")] for row in rest)]
    return [*lines, [(f"   {below}", "quiet")]]
