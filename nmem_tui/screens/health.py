"""The screen Health: hook latency, losses, storage, redactions, drift, the log."""

from __future__ import annotations

from textual import getters
from textual.app import ComposeResult
from textual.containers import Container, Vertical, VerticalScroll

from nmem.read.health import HealthView, health
from nmem_tui.model import vitals
from nmem_tui.screens.base import View
from nmem_tui.widgets.card import Card

_EVERY_S = 1.0
"""Figures over whole tables are read at most this often."""


class Health(View):
    """Is capture alive, fast and complete?"""

    CONTEXT = "health"
    OPENS = "health"

    scroller = getters.query_one("#health", VerticalScroll)

    def __init__(self) -> None:
        super().__init__()
        self._due = False
        self._fresh = False

    def body(self) -> ComposeResult:
        """Cards in a scroll."""
        with VerticalScroll(id="health"):
            with Container(id="columns"):
                with Vertical():
                    yield from (Card(id=name) for name in ("hooks", "events"))
                with Vertical():
                    yield from (Card(id=name) for name in ("storage", "redactions", "clients", "drift"))
            yield Card(id="log")

    def on_mount(self) -> None:
        """Ages move on by themselves."""
        self.add_class("-blank")
        self.set_interval(10, self._read)

    def refresh_data(self) -> None:
        """At most once a second."""
        if not self._fresh:
            self._read()
        elif not self._due:
            self._due = True
            self.set_timer(_EVERY_S, self._read)

    def _read(self) -> None:
        self._due, self._fresh = False, True
        path = self.cockpit.db_path
        self.reads.ask("health", lambda db: health(db, path), self._show)

    def _show(self, view: HealthView) -> None:
        at, zone = self.cockpit.clock(), self.cockpit.zone
        if self.has_class("-blank"):
            self.remove_class("-blank")
            self.set_focus(self.scroller)
        self.header.show(lambda _cells: vitals.header(view, at, zone))
        show = self.query_one
        show("#hooks", Card).show(lambda c, _: vitals.hooks(view, c), "Hooks ─ what they cost")
        show("#events", Card).show(lambda c, _: vitals.events(view, c), "Events ─ what became of them")
        show("#storage", Card).show(lambda c, _: vitals.storage(view, c), "Storage ─ rows by table")
        show("#redactions", Card).show(lambda c, _: vitals.redactions(view, c), "Secrets taken out, by kind")
        show("#clients", Card).show(lambda c, _: vitals.clients(view, at, c), "Clients ─ their newest event")
        show("#drift", Card).show(lambda c, _: vitals.drift(view, c), "Drift ─ fields nobody knew")
        show("#log", Card).show(lambda c, _: vitals.log(view, c), "Log ─ the newest lines")

    def nothing_yet(self) -> None:
        """Nothing is recorded: say so in place, and only so."""
        self.add_class("-blank")
        self.lost("nothing is recorded yet: `nmem init` connects your client, `nmem import` loads past sessions")

    def is_blank(self) -> bool:
        """Whether no figure was read yet."""
        return self.has_class("-blank")

    def do_reload(self) -> None:
        """Now."""
        self._read()

    def do_scroll_down(self) -> None:
        """One line."""
        self.scroller.scroll_relative(y=1, animate=False)

    def do_scroll_up(self) -> None:
        """One line back."""
        self.scroller.scroll_relative(y=-1, animate=False)

    def do_page_down(self) -> None:
        """Half a page."""
        self.scroller.scroll_relative(y=self.size.height // 2, animate=False)

    def do_page_up(self) -> None:
        """Half a page back."""
        self.scroller.scroll_relative(y=-self.size.height // 2, animate=False)

    def do_scroll_top(self) -> None:
        """To the top."""
        self.scroller.scroll_home(animate=False)

    def do_scroll_bottom(self) -> None:
        """To the end."""
        self.scroller.scroll_end(animate=False)

    def do_back(self) -> None:
        """Nothing is open here: back to the top."""
        self.do_scroll_top()
