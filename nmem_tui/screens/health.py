"""The screen Health: audit findings, cost of hooks, redactions, storage with its forecast, backups and purges."""

from __future__ import annotations

import time
from pathlib import Path
from sqlite3 import Connection
from typing import TYPE_CHECKING, Any

from textual import getters, on
from textual.app import ComposeResult
from textual.containers import Container, Horizontal, Vertical, VerticalScroll
from textual.content import Content

from nmem.audit import WRONG, Finding
from nmem.doctor import registrations
from nmem.doctor.checks import switches
from nmem.read.health import HealthView, Pace
from nmem.read.health import health as vital_signs
from nmem.read.health import pace as pace_of
from nmem_tui.model import actions, health, health_cards, health_storage
from nmem_tui.model import health as reading
from nmem_tui.model.health import FINDINGS, HOOKS, KEPT, MODES, SECRETS, STORAGE, Keeping, Secrets, Stored
from nmem_tui.model.line import Line
from nmem_tui.screens.base import Take
from nmem_tui.screens.health_actions import HealthActions
from nmem_tui.screens.modal import NOT_RECORDED
from nmem_tui.widgets.drawn import Card, Frame, Panel
from nmem_tui.widgets.item_lists import Items
from nmem_tui.widgets.lines import Lines

if TYPE_CHECKING:
    from nmem_tui.model.exports import Gather

_BARS, _FRAME, _CARDS = 5, 2, 12
"""Rows of the bars, of a frame, and those from which on the cards say something."""
_EVERY_S = 1.0
"""Figures over whole tables are read at most this often."""
_OFTEN = {FINDINGS: 60.0, HOOKS: 10.0, SECRETS: 20.0, STORAGE: 300.0, KEPT: 2.0}
"""Seconds after which a view is read again when something was stored: each looks at more or at fewer rows."""
_NEVER = float("-inf")
_TITLES = {SECRETS: "Secrets removed before anything was stored", STORAGE: "Storage by type",
           KEPT: "Backups and purges"}  # fmt: skip
_ABOUT = {"redaction": SECRETS, "second opinion": SECRETS, "losses": HOOKS, "latency": HOOKS, "payloads": HOOKS,
          "captured": HOOKS, "orphans": STORAGE, "integrity": STORAGE, "search": STORAGE}  # fmt: skip
"""Findings whose figures stand in another view."""


class Health(HealthActions):
    """Is the memory alive, fast, complete, and no larger than it should be?"""

    OPENS = "health"
    HINT = "words of the rows; !word"
    DEFAULT_CLASSES = "-blank -findings"

    scroller = getters.query_one("#health", VerticalScroll)

    def __init__(self) -> None:
        super().__init__()
        self.index: Items = Items(id="entries")
        self.pane: Items = self.index
        self.mode = FINDINGS
        self.secrets: Secrets | None = None
        self.stored: Stored | None = None
        self.keeping: Keeping | None = None
        self.view: HealthView | None = None
        self.pace: Pace | None = None
        """What hooks cost over time, once it is read."""
        self._deep_at = 0
        """When everything was read; 0: what is shown was seen quickly."""
        self._fresh = False
        self._read_at: dict[str, float] = {}
        """When each view was read, on a clock that only goes on."""
        self._taken: set[str] = set()
        """The views that were read once."""
        self._asked: dict[str, int] = {}
        """The rows that each view's list, or what is told of one of it, has asked for: that grows, and moves seldom."""

    def body(self) -> ComposeResult:
        """The views' names, then a list with what is under its cursor, or the hooks' cards; both where both fit."""
        yield Panel(id="turned")
        yield Panel(id="working")
        with Horizontal(id="sheet"):
            with Frame(id="listed"):
                yield self.search
                yield self.pane
            yield Panel(id="entry")
        with VerticalScroll(id="health"):
            with Container(id="vitals"):
                with Vertical():
                    yield from (Card(id=name) for name in ("hooks", "events"))
                with Vertical():
                    yield from (Card(id=name) for name in ("storage", "clients", "drift"))
            yield Card(id="log")
        yield Panel(id="empty")

    def on_mount(self) -> None:
        """Ages move on by themselves."""
        self.query_one("#listed").border_title = Content("Findings")
        self.pane.hint = "  reading …"
        self.set_focus(self.pane)
        self.set_interval(10, self._read)

    # What is read

    def refresh_data(self) -> None:
        """At most once a second."""
        if self._fresh:
            self.soon(_EVERY_S, self._read_soon)
        else:
            self._read()
            self._read_view()

    def _read_soon(self) -> None:
        self._read()
        if time.monotonic() - self._read_at.get(self.mode, _NEVER) > _OFTEN.get(self.mode, _EVERY_S):
            self._read_view()

    @property
    def alone(self) -> bool:
        """Whether no client is connected, as far as is known."""
        return any(one.check == registrations.CHECK for one in self.found)

    @property
    def registered(self) -> bool:
        """Whether some client is known to have hooks: its settings were read, and they are the person's own."""
        looked = FINDINGS in self._taken and not (self.cockpit.demo or self.cockpit.posed)
        return looked and not self.alone

    @property
    def stopped(self) -> Finding | None:
        """The finding that says why registered hooks do not run; None: the clients' settings name no reason."""
        return next((one for one in self.found if one.severity == WRONG and one.check in switches.CHECKS), None)

    def _clients(self) -> tuple[Finding, ...]:
        """What the clients' settings say, as `nmem doctor` reads them."""
        if self.cockpit.demo or self.cockpit.posed:
            return ()
        folder = str(Path.cwd())
        return (*registrations.unconnected(folder), *switches.every(folder))

    def look_again(self) -> None:
        self._read_at.clear()
        self._read()
        self._read_view()

    def _read(self) -> None:
        self._fresh = True
        path = self.cockpit.db_path
        self.reads.ask("health", lambda db: vital_signs(db, path), self._show)

    def _read_view(self) -> None:
        path, at, mode = self.cockpit.db_path, self.cockpit.clock(), self.mode
        self._read_at[mode] = time.monotonic()

        def work(db: Connection) -> Any:  # noqa: ANN401 -- each view has its own
            if mode == FINDINGS:
                return reading.worst_first((*self._clients(), *reading.read_findings(db, path, at)))
            if mode == SECRETS:
                return reading.read_secrets(db, at)
            if mode == STORAGE:
                return reading.read_stored(db, at, lambda: self.mode != STORAGE or not self.is_attached)
            return reading.read_kept(db, path)

        if mode == HOOKS:
            self._read_pace()
            return
        if mode == FINDINGS and self._deep_at:
            return
        self.reads.ask(mode, work, lambda found: self._take(mode, found))

    def _read_pace(self) -> None:
        at = self.cockpit.clock()
        self.reads.ask("pace", lambda db: pace_of(db, at), self._show_pace)

    # What the answers change

    def _show_pace(self, found: Pace) -> None:
        self.pace = found
        if self.view is not None:
            self._show(self.view)

    def _show(self, view: HealthView) -> None:
        at, zone, known = self.cockpit.clock(), self.cockpit.zone, self.pace
        self.view = view
        self.remove_class("-blank", "-empty")
        alone, registered, stopped = self.alone, self.registered, self.stopped
        self.header.show(lambda cells: health_cards.header(view, at, zone, cells, alone=alone))
        show = self.query_one
        show("#hooks", Card).show(
            lambda c, _: [
                *health_cards.hooks(view, c, registered=registered, stopped=stopped),
                *health_cards.hook_bars(known, zone, c),
            ],
            "Hooks ─ what they cost",
        )
        show("#events", Card).show(lambda c, _: health_cards.events(view, c), "Events ─ what became of them")
        show("#storage", Card).show(
            lambda c, _: [
                *health_cards.storage(view, c), *health_cards.growth(known, view.database_bytes, view.stored, c)
            ],
            "Storage ─ rows by table",
        )  # fmt: skip
        show("#clients", Card).show(lambda c, _: health_cards.clients(view, at, c), "Clients ─ their newest event")
        show("#drift", Card).show(lambda c, _: health_cards.drift(view, c), "Drift ─ fields nobody knew")
        show("#log", Card).show(lambda c, _: health_cards.log(view, c), "Log ─ the newest lines")
        self._bars()
        self.show_job()

    def _take(self, mode: str, found: Any) -> None:  # noqa: ANN401 -- each view has its own
        self._taken.add(mode)
        if mode == FINDINGS:
            if not self._deep_at:
                self.found = found
            if self.view is not None:
                self._show(self.view)
        elif mode == SECRETS:
            self.secrets = found
        elif mode == STORAGE:
            self.stored = found
        else:
            self.keeping = found
        if mode == self.mode:
            self._list(keep=True)

    def read_everything(self, found: tuple[Finding, ...]) -> None:
        """The deep audit is over."""
        self._deep_at = self.cockpit.clock()
        ours = (registrations.CHECK, switches.SETTINGS, *switches.CHECKS)
        self.found = reading.worst_first((*(one for one in self.found if one.check in ours), *found))
        if self.mode == FINDINGS:
            self._list(keep=False)

    def mended(self, _done: object) -> None:
        """What was read before is old."""
        self._deep_at = 0

    def turned(self) -> None:
        """Another view: what is known of it at once, then as it is now."""
        for mode in reading.MODES:
            self.set_class(mode == self.mode, f"-{mode}")
        self.set_focus(self.scroller if self.mode == HOOKS else self.pane)
        self._bars()
        self._list(keep=False)
        self._read_view()
        self.check_keys()

    def _bars(self) -> None:
        mode = self.mode
        self.query_one("#turned", Panel).show(lambda cells, _rows: [health.bar(mode, cells)])

    def _list(self, *, keep: bool) -> None:
        at, zone, pane, mode = self.cockpit.clock(), self.cockpit.zone, self.pane, self.mode
        if mode == FINDINGS and FINDINGS in self._read_at:
            found, deep = self.found, self._deep_at
            pane.tell(lambda _cells: health.findings(found, deep, at, zone), keep=keep, free=False)
        elif mode == SECRETS and self.secrets is not None:
            known, second = self.secrets, self.second
            pane.tell(lambda cells: health.secrets(known, second, cells), keep=keep, free=False)
        elif mode == STORAGE and STORAGE in self._read_at and (self.stored or keep):
            stored = self.stored
            pane.tell(lambda _cells: health_storage.items(stored, at, zone), keep=keep)
            if not pane.cursor:
                pane.step(1)
        elif mode == KEPT and self.keeping is not None:
            keeping = self.keeping
            pane.tell(lambda _cells: health.kept(keeping, at, zone), keep=keep, free=False)
        else:
            pane.tell(lambda _cells: [], keep=False)
        self.name_list()
        self._tell_one()

    def name_list(self) -> None:
        title = health.findings_title(self.found) if self.mode == FINDINGS else _TITLES.get(self.mode, "")
        name, _, rest = title.partition(" ─ ")
        self.query_one("#listed").border_title = self.titled(name, rest)

    def _tell_one(self) -> None:
        self.query_one("#entry", Panel).show(lambda cells, _rows: self._about(cells), "In full")
        self.fit()
        self.check_keys()

    def _about(self, cells: int) -> list[Line]:
        item, mode = self.pane.item, self.mode
        kind, key = (item.kind, item.key) if item else ("", "")
        if mode == FINDINGS:
            return health.about_finding(self.finding, cells)
        if mode == SECRETS:
            return health.about_kind(self.secrets, key if kind == health.KIND else "", cells)
        if mode == STORAGE:
            return health_storage.about(self.stored, kind, key, cells)
        keeping = self.keeping
        if kind == health.PURGE and keeping is not None:
            purge = next((one for one in keeping.purges if str(one.number) == key), None)
            return health.about_purge(purge, self.cockpit.clock(), self.cockpit.zone, cells)
        backups = keeping.backups if keeping is not None else ()
        return health.about_backup(next((one for one in backups if one.path == key), None), cells)

    def on_resize(self) -> None:
        """Another size has room for the cards, or none."""
        self.call_after_refresh(self.fit)

    def fit(self) -> None:
        """What a short list leaves blank on a large screen belongs to the cards."""
        about = len(self.query_one("#entry", Panel).lines(self.size.height))
        asked = self._asked[self.mode] = max(self._asked.get(self.mode, 0), self.pane.count, about)
        room = self.size.height - _BARS - _FRAME - asked
        both = self.has_class("-wide") and self.mode != HOOKS and room >= _CARDS
        self.query_one("#sheet").styles.height = asked + _FRAME if both else "1fr"
        if both and self.pace is None:
            self._read_pace()
        self.set_class(both, "-both")

    @on(Lines.Moved, "#entries")
    def other_entry(self) -> None:
        """Another entry is under the cursor."""
        self._tell_one()

    def show_job(self) -> None:
        """How far the work in the background is; or why the last could not be done."""
        job, failed = self.cockpit.job, self.cockpit.failed
        self.set_class(job is not None or bool(failed), "-working")
        if job is None:
            self.query_one("#working", Panel).show(lambda c, _: [health.not_done(failed, c)])
        else:
            name, done, whole, said, stops = job.name, job.done, job.whole, job.said, job.stops
            self.query_one("#working", Panel).show(
                lambda c, _: [health.working(name, done, whole, said, c, stops=stops)]
            )
        self.check_keys()

    def nothing_yet(self) -> None:
        """Nothing is recorded: say so in place, and only so."""
        self._read_at.clear()
        self.add_class("-blank")
        super().nothing_yet()

    def lost(self, reason: str) -> None:
        """What cannot be read is not in order: neither the header nor the list's title says so."""
        super().lost(reason)
        if self.has_class("-error"):
            self.header.show(health_cards.unread)
            self.query_one("#listed").border_title = Content("Not known: the database cannot be read")

    def do_reload(self) -> None:
        self._deep_at = 0
        self.look_again()

    @property
    def finding(self) -> Finding | None:
        """The finding under the cursor."""
        item = self.pane.item
        if self.mode != FINDINGS or item is None or item.kind != health.FINDING:
            return None
        return health.keyed(self.found).get(item.key)

    # The views

    def do_next_check(self) -> None:
        self.turn(MODES[(MODES.index(self.mode) + 1) % len(MODES)])

    def do_last_check(self) -> None:
        self.turn(MODES[(MODES.index(self.mode) - 1) % len(MODES)])

    def turn(self, mode: str) -> None:
        """To a view."""
        if mode != self.mode:
            self.unfilter()
            self.mode = mode
            self.turned()

    def may_open(self) -> str | None:
        """Some findings have their figures in another view."""
        one = self.finding
        return None if one and one.check in _ABOUT else "no other view has more on it"

    def do_open(self) -> None:
        if one := self.finding:
            self.cockpit.leave()
            self.turn(_ABOUT[one.check])

    def do_back(self) -> None:
        """The filter off, then back to the findings; with nothing open the place is kept."""
        if self.cockpit.failed:
            self.cockpit.failed = ""
            self.show_job()
            return
        if not self.step_back() and self.mode != FINDINGS:
            self.turn(FINDINGS)

    # The filter, the way back

    def may_filter(self) -> str | None:
        """Cards are no rows."""
        if self.is_blank():
            return NOT_RECORDED
        return (
            f"these cards have no rows: {actions.key_of('next_check')} goes to a list" if self.mode == HOOKS else None
        )

    def spot(self) -> tuple[str, str, str]:
        """The view, and what the cursor is on."""
        item = self.pane.item if self.mode != HOOKS else None
        return self.mode, item.kind if item else "", item.key if item else ""

    def return_to(self, place: tuple[str, str, str]) -> None:
        mode, kind, key = place
        self.turn(mode)
        self.pane.seek(kind, key)

    # Moving

    def do_down(self) -> None:
        self._move(1) if self.mode == HOOKS else super().do_down()

    def do_up(self) -> None:
        self._move(-1) if self.mode == HOOKS else super().do_up()

    def do_half_down(self) -> None:
        self._move(self.size.height // 2) if self.mode == HOOKS else super().do_half_down()

    def do_half_up(self) -> None:
        self._move(-self.size.height // 2) if self.mode == HOOKS else super().do_half_up()

    def do_top(self) -> None:
        self.scroller.scroll_home(animate=False) if self.mode == HOOKS else super().do_top()

    def do_bottom(self) -> None:
        self.scroller.scroll_end(animate=False) if self.mode == HOOKS else super().do_bottom()

    def _move(self, rows: int) -> None:
        self.scroller.scroll_relative(y=rows, animate=False)

    # Copying

    def _text(self) -> str:
        """What `y` copies: the command that mends or restores, else the list."""
        item = self.pane.item
        if self.mode == FINDINGS:
            return self.finding.mend if self.finding else ""
        if self.mode == HOOKS:
            return ""
        if item is not None and item.kind == health.BACKUP and self.keeping:
            return next((health.restore(one) for one in self.keeping.backups if one.path == item.key), "")
        return self.pane.plain()

    def may_copy(self) -> str | None:
        """Only what mends or tells something."""
        if self.mode == FINDINGS and not self._text():
            return "this finding has no fix" if self.finding else "put the cursor on a finding"
        return None if self._text() else "nothing to copy here"

    def give_text(self, take: Take) -> None:
        """The command, or the list as text."""
        take(self._text())

    def id_here(self) -> str:
        """A backup's file; nothing else here has a place of its own but the screen."""
        item = self.pane.item
        return item.key if self.mode == KEPT and item and item.kind == health.BACKUP else "health"

    def gather(self) -> Gather:
        """Every view of the screen."""
        from nmem_tui.model import exports  # on use: start-up stays short

        app = self.cockpit
        return exports.health(app.db_path, app.clock(), app.zone, lambda: not self.is_attached)

    @property
    def clickable(self) -> tuple[Lines, ...]:
        """None: a key leads to another view."""
        return ()
