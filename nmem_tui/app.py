"""The cockpit app: opens its screens, follows changes of database and config, upgrades databases, plays the demo."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import tzinfo
from functools import partial
from importlib import import_module
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import SystemCommand
from textual.binding import Binding
from textual.events import AppBlur, AppFocus
from textual.screen import Screen
from textual.widget import AwaitMount, Widget

from nmem.text import printable
from nmem_tui import idle
from nmem_tui.appearance import themes
from nmem_tui.appearance.theming import StyledApp, ThemedApp
from nmem_tui.idle import collect
from nmem_tui.messages import Changed, FileChanged, Loaded, ReadFailed, StoreChanged, StoreGone
from nmem_tui.model import actions, figures, screens
from nmem_tui.model.actions import EVERYWHERE, Keys, bindings
from nmem_tui.model.locations import Link, Places
from nmem_tui.model.now_queries import Home
from nmem_tui.navigation import Navigator
from nmem_tui.screens.base import View
from nmem_tui.store.access import Writes, beside
from nmem_tui.store.feed import BLURRED_S, FOCUSED_S, Feed
from nmem_tui.widgets.drawn import COMPONENTS

if TYPE_CHECKING:
    from nmem.read.views import SessionRow
    from nmem_tui.screens.attention import Attention
    from nmem_tui.store.watch import Watch


def _screen(mode: str) -> Screen[None]:
    """The numbered screen of a mode: the last one that its module defines."""
    module = import_module(f"nmem_tui.screens.{mode}")
    made = [each for each in vars(module).values() if isinstance(each, type) and each.__module__ == module.__name__]
    return [each for each in made if issubclass(each, View)][-1]()


_LOOK_S = 5.0
"""How often is looked whether a coding client was connected, where nothing is recorded."""
LATER = tuple(f"nmem_tui.screens.{mode}" for mode in screens.MODES)
"""Modules of the screens, as their tabs stand."""


def _palette() -> type[Any]:
    from nmem_tui.screens.palette import Actions  # on use: start-up stays short

    return Actions


for _other in screens.OTHERS:
    import_module(f"nmem_tui.screens.{_other.mode}")  # its actions are known before the first frame


class Cockpit(StyledApp, ThemedApp, Navigator):
    """Runs beside a coding session; all it knows it reads from the database."""

    TITLE = "nmem"
    CSS_PATH: ClassVar[list[str | PurePath]] = [*screens.SHEETS]
    MODES: ClassVar[dict[str, Callable[[], Screen[None]]]] = {  # type: ignore[assignment]
        mode: partial(_screen, mode) for mode in screens.MODES
    }
    FIRST: ClassVar[str] = "now"
    DEFAULT_MODE = FIRST
    BINDINGS: ClassVar[list[Binding]] = bindings(EVERYWHERE)  # type: ignore[assignment]
    COMMANDS = {_palette}  # noqa: RUF012 -- as the base class has it
    COMMAND_PALETTE_BINDING = "ctrl+p"
    ENABLE_COMMAND_PALETTE = True
    COMPONENT_CLASSES: ClassVar[set[str]] = set(COMPONENTS)

    def __init__(
        self,
        db_path: str,
        *,
        project: str = "",
        home: str = "",
        theme: str = "",
        symbols: str = "",
        colours: Mapping[str, str] | None = None,
        demo: bool = False,
        watch: bool = True,
        clock: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
        zone: tzinfo | None = None,
        link: Link = Link(),  # noqa: B008 -- frozen
        keys: Keys | None = None,
        read_only: bool = False,
        wrong: Sequence[str] = (),
    ) -> None:
        self.DEFAULT_MODE = link.screen  # type: ignore[misc] # asked for once, when the base class is made
        # Without colours the terminal's own two are left alone; the filter for that is chosen here, before any theme.
        super().__init__(ansi_color=True if "NO_COLOR" in os.environ else None)
        self.db_path = db_path
        self.project = project
        self._said_elsewhere = False
        self.home = Home(home)
        """The project of the folder that the cockpit was started in; its newest session is shown first."""
        self.clock = clock
        self.zone = zone
        self.demo = demo
        self.chosen = link.session
        self.places = Places()
        """Where the person was before, to go back to."""
        self.wanted_episode = link.episode
        """The episode whose story the screen Episodes shall open; 0: none."""
        self.wanted_learning = link.learning
        """The learning that the screen Learnings shall go to; 0: none."""
        self.wanted_query = link.query
        """What the screen Search shall look for; None: what it looked for before."""
        self.asked: list[str] = []
        """What was looked for last, the newest first."""
        self.wanted_task = link.task
        """The task that the screen Tasks shall go to; 0: none."""
        self.wanted_row: tuple[int, int] | None = link.row
        """Time and key of the row that the screen Now shall go to."""
        self._watching = watch
        self._watch: Watch | None = None
        self._player: Any = None
        self.attention: Attention | None = None
        self.animation_level = "none"
        self.dress(themes.first(theme, no_color=self.no_color), symbols, colours)
        self.feed = Feed(db_path, self.post_message, lambda: figures.clock(clock(), zone)[:5], read_only=read_only)
        self.read_only = read_only
        self._wrong = wrong
        """What is wrong with the person's settings, a line each."""
        self.writes = Writes(self.post_message, read_only=read_only)
        self.keys: Keys = {}
        self.use_keys(keys or {})

    def on_mount(self) -> None:
        """Everything that is not the first frame comes after it."""
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        if self._wrong:
            self.say(f"config: {self._wrong[0]}", severity="warning")
        if self.demo:
            self._play()
        beside(self, self.feed.run, "feed")
        if not self.posed:
            self._attend()
        if self._watching:
            self.set_timer(1.0, self._watch_files)
            self.set_timer(1.0, self._load_ahead)
            beside(self, collect, "litter")

    def _attend(self) -> None:
        from nmem_tui.screens.attention import Attention  # on use: start-up stays short

        self.attention = Attention(self)
        self.attention.set_up()

    @on(Loaded)
    def hand_on(self, message: Loaded) -> None:
        """Who waits was read."""
        if self.attention is not None and (then := self.attention.reads.done(message)) and not self.leaving:
            then(message.value)

    @on(ReadFailed)
    def let_go(self, message: ReadFailed) -> None:
        """Who waits could not be read: the screen on top says why, for it could not be read either."""
        if self.attention is not None:
            self.attention.reads.done(message)

    # What the store and the files tell

    @on(StoreChanged)
    def pass_on(self, message: StoreChanged) -> None:
        """Only the screen on top catches up; others do when they are shown."""
        self.generation, self.gone = message.generation, None
        self.tell_view(StoreChanged(message.generation))
        if self.attention is not None:
            self.attention.look()

    @on(StoreGone)
    def pass_on_loss(self, message: StoreGone) -> None:
        """The database is not there or cannot be read; screens that are shown later say so as well."""
        self.gone = message.reason
        self.tell_view(StoreGone(message.reason))

    @on(FileChanged)
    def tell_file(self, message: FileChanged) -> None:
        """Config takes effect at once; a decision file is news."""
        if message.kind == "config":
            self._reload_config(message.path)
        elif message.kind == "decision":
            self.say(f"decision file changed: {Path(message.path).name}")
        elif message.kind == "replaced":
            self._begin_anew()
            if message.path:
                self.say(message.path, severity="warning")
        elif message.kind == "trouble":
            self.say(message.path, severity="warning")

    def _reload_config(self, path: str) -> None:
        from nmem_tui.config import read  # on use: start-up stays short

        own = read(path)
        if own.wrong:
            self.say(f"config{'' if own.readable else ' not read'}: {own.wrong[0]}", severity="warning")
        if not own.readable:
            return
        stays = self.no_color or not own.theme
        self.dress("" if stays else themes.first(own.theme, no_color=False), own.symbols, own.colours)
        self.use_keys(own.keys)
        if self.attention is not None:
            self.attention.set_up()

    def use_keys(self, keys: Keys) -> None:
        """The person's own keys from now on, here and on every screen that is open."""
        actions.use_keys(keys)
        if keys == self.keys:
            return
        from nmem_tui.keymap import bind  # on use: start-up stays short

        self.keys = keys
        bind(self, EVERYWHERE, keys)
        for screen in self._all_views():
            bind(screen, screen.CONTEXT, keys)
            screen.check_keys(anew=True)

    @on(AppBlur)
    def look_less_often(self) -> None:
        """The person looks elsewhere."""
        self.feed.every = BLURRED_S
        if screen := self.standing:
            screen.look_away()

    @on(AppFocus)
    def look_often(self) -> None:
        """The person looks here."""
        self.feed.every = FOCUSED_S

    def _watch_files(self) -> None:
        from nmem_tui.store.watch import Watch  # on use: start-up stays short

        self._watch = Watch(self.db_path, self.post_message, read_only=self.read_only)
        self._watch.follow(self.session)
        self.run_worker(self._watch.run, group="watch", thread=True, exit_on_error=False)

    def _load_ahead(self) -> None:
        beside(self, partial(idle.load, LATER, self._make_ahead), "ahead")

    def _make_ahead(self, name: str) -> None:
        """Have a screen's widgets stand before it is shown; what it begins with waits until then."""
        mode = name.rpartition(".")[2]
        if mode in self._screen_stacks or not self._running or self.leaving:
            return
        screen, _ = self._get_screen(self.MODES[mode]())
        assert isinstance(screen, View)
        screen.ahead = True
        self._load_screen_css(screen)
        self._screen_stacks[mode] = [screen]
        self.worn(screen)
        screen.call_later(lambda: screen._refresh_layout(self.size))

    def exit(self, *given: Any, **named: Any) -> None:  # noqa: ANN401 -- as the base class has it
        """Leave."""
        self.leaving = True
        super().exit(*given, **named)

    def on_unmount(self) -> None:
        """Stop what runs in threads, and take the demo's files away."""
        if self._watch is not None:
            self._watch.stop()
        if self._player is not None:
            self._player.stop()
        if self.job is not None:
            self.job.stop()
        if self.attention is not None:
            self.attention.close()
        self.feed.close()

    # Sessions

    def shown(self, session: SessionRow) -> None:
        """A screen shows this session now; the tabs count what is hot in its project."""
        other = self.session is None or (session.root, session.project) != (self.session.root, self.session.project)
        self.session = session
        if (name := self.home.unrecorded) and not self.chosen and not self._said_elsewhere:
            self._said_elsewhere = True
            self.say(f"project {printable(name)} has no recorded session yet: showing {printable(session.project)}")
        if other and (view := self.standing):
            view.call_after_refresh(view.count_hot)
        if self._watch is not None:
            self._watch.follow(session)

    def narrate(self, unit_id: int) -> None:
        """Write an episode's narrative in a process of its own, and say when it is there."""
        from nmem_tui.operations.processes import narrate  # on use: start-up stays short

        self.narrating = True
        self.say("the narrative is being written")
        path = self.db_path
        self.run_worker(
            lambda: self._narrated(narrate(path, unit_id)), group="narrate", thread=True, exit_on_error=False
        )

    def _narrated(self, told: Changed) -> None:
        self.narrating = False
        self.post_message(told)

    # Where nothing is recorded

    def look_connected(self) -> None:
        """Whether a coding client has nmem's hooks, in a thread: until one has, it is looked up again."""
        if self._watching and not (self.connected or self.demo or self.posed):
            self.run_worker(self._look_connected, group="connected", thread=True, exclusive=True, exit_on_error=False)

    def _look_connected(self) -> None:
        from nmem.doctor import registrations  # on use: start-up stays short

        self.call_from_thread(self._tell_connected, not registrations.unconnected(str(Path.cwd())))

    def _tell_connected(self, connected: bool) -> None:
        self.connected = connected
        empty = [
            panel for screen in self._all_views() if screen.has_class("-empty") for panel in screen.query("#empty")
        ]
        for panel in empty if connected else ():
            panel.refresh(layout=True)
        if empty and not connected:
            self.set_timer(_LOOK_S, self.look_connected)

    # A database of an older nmem

    def may_upgrade(self) -> str | None:
        """Only where one lies there."""
        return None if self.feed.older else "this database is already up to date"

    def do_upgrade(self) -> None:
        from nmem_tui.screens.health_dialogs import Upgrade  # on use: start-up stays short

        path = self.db_path
        self.push_screen(Upgrade(path), lambda wanted: self.aside(lambda: _upgraded(path)) if wanted else None)

    # The demo

    def _play(self) -> None:
        from nmem.demo.player import Player  # on use: start-up stays short

        self._player = Player(self.db_path)
        self.run_worker(self._player.run, group="demo", thread=True, exit_on_error=False)

    def may_demo(self) -> str | None:
        """Only once."""
        return "the demo is playing" if self.demo else None

    def do_demo(self) -> None:
        """Leave the real database alone and show a temporary one that fills up."""
        from nmem.demo import temporary  # on use: start-up stays short

        self.demo, self.db_path = True, temporary()
        self.feed.turn(self.db_path)
        if self._watch is not None:
            self._watch.stop()
            self._watch_files()  # of the demo from now on; what is configured is taken up as before
        self._begin_anew()
        self.switch_mode(self.FIRST)
        self._play()

    def switch_mode(self, mode: str) -> AwaitMount:
        """As the library does; while it closes its screens no other is made, because it walks through them."""
        return super().switch_mode(mode) if self._running else AwaitMount(Widget(), [])

    def _begin_anew(self) -> None:
        """Every screen anew, without what lies over it: nothing that was read of another database is shown or used."""
        if not self._running:
            return
        self.chosen, self.session, self.draft = "", None, None  # a task that was begun belongs to its projects
        self.wanted_episode = self.wanted_learning = self.wanted_task = 0
        self.wanted_row = self.gone = None
        self.places.clear()
        self.asked, self.hot, self.live = [], 0, (0, 0)
        if self._watch is not None:
            self._watch.follow(None)  # what a transcript of before still says belongs to the file before
        here = self.current_mode
        for mode in self.MODES:
            if mode != here:
                self._forget(mode)
        self.switch_mode(next(mode for mode in self.MODES if mode != here))  # the library removes none that is shown
        self._forget(here)
        self.switch_mode(here)

    def _forget(self, mode: str) -> None:
        self.remove_mode(mode)
        self.add_mode(mode, self.MODES[mode])

    def forget_asked(self) -> None:
        """Something was purged: what was looked for before may say it."""
        for screen in self._all_views():
            screen.forget_asked()

    def _all_views(self) -> Iterable[View]:
        return [
            screen
            for stack in self._screen_stacks.values()
            for screen in stack
            if isinstance(screen, View) and screen.composed
        ]

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:  # noqa: ARG002
        """None but our own."""
        return ()


def _upgraded(path: str) -> str:
    """Every migration that the database has not seen; waits for that: call it from a worker. Raises NmemError."""
    from nmem import upgrade  # on use: start-up stays short

    upgrade.reader(path).close()
    return "the database is up to date"
