"""The dialog Cost: the screenful of `nmem cost` over any screen; keys choose what the rows are, and since when."""

from __future__ import annotations

from sqlite3 import Connection
from typing import ClassVar

from textual import getters
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content

from nmem.cost import prices, read, screenful, usage
from nmem.cost.read import Report
from nmem.cost.store import BY
from nmem.text import printable
from nmem_tui.model.line import Line, wrap
from nmem_tui.model.lists import plain_items
from nmem_tui.model.symbols import Sign
from nmem_tui.screens.modal import LEGEND, NOT_RECORDED, SCROLLING, Modal
from nmem_tui.widgets.item_lists import Items

_DAY = 86_400_000
SPANS = (("", 0), ("30 days ago", 30 * _DAY), ("7 days ago", 7 * _DAY), ("24 hours ago", _DAY))
_TONES = {
    screenful.HEAD: "strong", screenful.COLUMNS: "quiet", screenful.ROW: "text", screenful.TOTAL: "strong",
    screenful.NOTE: "quiet", screenful.WARN: "warn",
}  # fmt: skip
_TITLE, _HINT = "Cost ─ by {}", "v other rows · h l since when · j k scroll · ? words · esc leaves"


SIGNS = (
    Sign("answers", "replies of models, each counted once", "quiet"),
    Sign("input", "tokens sent to the model that no cache held", "quiet"),
    Sign("output", "tokens that the model wrote", "quiet"),
    Sign("written", "tokens put into the client's prompt cache, to be read again cheaply", "quiet"),
    Sign("cached", "tokens read from the prompt cache", "quiet"),
    Sign("unpriced", "no price is known for its models: counted in tokens alone", "text"),
    Sign("$1.23+", "at least so much: a part has no known price", "text"),
    Sign("subagents", "what helpers of the sessions cost, contained in the total", "quiet"),
    Sign("nmem's context", "what nmem told sessions, also contained in the total", "quiet"),
)


class Cost(Modal[None]):
    """Everything that `nmem cost` says, read anew once transcripts have been."""

    SIGNS = SIGNS
    BINDINGS: ClassVar[list[Binding]] = [
        Binding("q,enter,dollar_sign", "leave", show=False),
        Binding("v,tab", "turn(1)", show=False),
        Binding("V,shift+tab", "turn(-1)", show=False),
        Binding("l,right", "span(1)", show=False),
        Binding("h,left", "span(-1)", show=False),
        *SCROLLING,
        LEGEND,
    ]

    pane = getters.query_one("#costs", Items)

    def __init__(self) -> None:
        super().__init__()
        self.by = BY[0]
        self.span = 0
        self.report: Report | None = None

    def compose(self) -> ComposeResult:
        """A box with one list."""
        with Vertical(id="dialog") as box:
            box.border_subtitle = Content(_HINT)
            yield Items(id="costs")

    def on_mount(self) -> None:
        """What is stored is shown at once, and again once transcripts were read on."""
        self.set_focus(self.pane)
        self._say([("adding up …", "quiet")])
        self._look()
        path = self.cockpit.db_path
        if not (self.cockpit.read_only or self.cockpit.demo or self.cockpit.posed):
            self.reads.ask("usage", lambda _db: usage.fresh(path), lambda new: self._look() if new else None)

    def _look(self) -> None:
        by, now, back = self.by, self.cockpit.clock(), SPANS[self.span][1]
        zone = self.cockpit.zone
        self.query_one("#dialog").border_title = Content(_TITLE.format(by))

        def work(db: Connection) -> Report:
            return read.report(db, prices.load(), now, by=by, since=now - back if back else 0, zone=zone)

        self.reads.ask("cost", work, self._show)

    def _show(self, found: Report) -> None:
        self.report = found
        since = SPANS[self.span][0]
        self.pane.tell(
            lambda cells: list(plain_items([
                [(text, _TONES[kind])] for text, kind in screenful.lines(found, cells, self._rows(), since)
            ])),
            keep=False,
        )  # fmt: skip

    def _rows(self) -> int:
        """As many as fit beside what stands above and below them; the rest is one row."""
        return max(4, self.size.height * 4 // 5 - 11)

    def refuse(self, reason: str) -> None:
        """Say why nothing can be shown."""
        self._say(*([("✗ " if not n else "  ", "bad"), (row, "text")]
                    for n, row in enumerate(wrap(printable(reason or NOT_RECORDED), 70, 6))))  # fmt: skip

    def _say(self, *lines: Line) -> None:
        self.pane.tell(lambda _cells: list(plain_items(lines)), keep=False)

    def action_turn(self, by: int) -> None:
        """Other rows: days, models, projects, threads, episodes, sessions."""
        self.by = BY[(BY.index(self.by) + by) % len(BY)]
        self._look()

    def action_span(self, by: int) -> None:
        """Since another time."""
        self.span = (self.span + by) % len(SPANS)
        self._look()

    def action_scroll(self, by: int) -> None:
        """Line by line."""
        self.pane.roll(by)
