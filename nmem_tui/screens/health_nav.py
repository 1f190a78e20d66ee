"""Navigation on the screen Health: its views, its list or cards, the selected line."""

from __future__ import annotations

from textual import getters
from textual.containers import VerticalScroll

from nmem.audit import Finding
from nmem_tui.model import actions, exports, health
from nmem_tui.model.exports import Gather
from nmem_tui.model.health import FINDINGS, HOOKS, KEPT, MODES, SECRETS, STORAGE, Keeping, Secrets, Stored
from nmem_tui.screens.base import Take
from nmem_tui.screens.list_screen import ItemListScreen
from nmem_tui.widgets.item_lists import Items
from nmem_tui.widgets.lines import Lines

_ABOUT = {"redaction": SECRETS, "second opinion": SECRETS, "losses": HOOKS, "latency": HOOKS, "payloads": HOOKS,
          "captured": HOOKS, "orphans": STORAGE, "integrity": STORAGE, "search": STORAGE}  # fmt: skip
"""Findings whose figures stand in another view."""


class HealthNav(ItemListScreen):
    """The part of the screen Health that moves."""

    CONTEXT = "health"
    OPENS = "health"
    HINT = "words of the rows; !word"

    scroller = getters.query_one("#health", VerticalScroll)

    def __init__(self) -> None:
        super().__init__()
        self.pane = Items(id="entries")
        self.mode = FINDINGS
        self.found: tuple[Finding, ...] = ()
        """The findings, the worst first."""
        self.secrets: Secrets | None = None
        self.stored: Stored | None = None
        self.keeping: Keeping | None = None

    def turned(self) -> None:
        """Another view is shown."""
        raise NotImplementedError

    @property
    def active(self) -> Lines:
        """The list; cards have none."""
        return self.pane

    @property
    def finding(self) -> Finding | None:
        """The finding under the cursor."""
        item = self.pane.item
        if self.mode != FINDINGS or item is None or item.kind != health.FINDING:
            return None
        return health.keyed(self.found).get(item.key)

    # The views

    def do_next_check(self) -> None:
        """The next view."""
        self.turn(MODES[(MODES.index(self.mode) + 1) % len(MODES)])

    def do_last_check(self) -> None:
        """The view before."""
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
        """The view with the figures of the finding."""
        if one := self.finding:
            self.cockpit.leave()
            self.turn(_ABOUT[one.check])

    def show_job(self) -> None:
        """Work in the background went on, or is over."""
        raise NotImplementedError

    def do_back(self) -> None:
        """The filter off, then back to the findings; with nothing open the place is kept."""
        if self.cockpit.failed:
            self.cockpit.failed = ""
            self.show_job()
            return
        if not self.step_back() and self.mode != FINDINGS:
            self.turn(FINDINGS)

    # The filter, the way back

    @property
    def home(self) -> Items:
        """The list."""
        return self.pane

    def may_filter(self) -> str | None:
        """Cards are no rows."""
        if self.is_blank():
            return "nothing is recorded yet"
        return (
            f"these cards have no rows: {actions.key_of('next_check')} goes to a list" if self.mode == HOOKS else None
        )

    def spot(self) -> tuple[str, str, str]:
        """The view, and what the cursor is on."""
        item = self.pane.item if self.mode != HOOKS else None
        return self.mode, item.kind if item else "", item.key if item else ""

    def return_to(self, place: tuple[str, str, str]) -> None:
        """To the row of a place."""
        mode, kind, key = place
        self.turn(mode)
        self.pane.seek(kind, key)

    # Moving

    def do_down(self) -> None:
        """One row down."""
        self._move(1) if self.mode == HOOKS else super().do_down()

    def do_up(self) -> None:
        """One row up."""
        self._move(-1) if self.mode == HOOKS else super().do_up()

    def do_half_down(self) -> None:
        """Half a page down."""
        self._move(self.size.height // 2) if self.mode == HOOKS else super().do_half_down()

    def do_half_up(self) -> None:
        """Half a page up."""
        self._move(-self.size.height // 2) if self.mode == HOOKS else super().do_half_up()

    def do_top(self) -> None:
        """To the top."""
        self.scroller.scroll_home(animate=False) if self.mode == HOOKS else super().do_top()

    def do_bottom(self) -> None:
        """To the end."""
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
        app = self.cockpit
        return exports.health(app.db_path, app.clock(), app.zone, lambda: not self.is_attached)
