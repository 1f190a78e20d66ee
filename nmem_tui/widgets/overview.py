"""The cards above the stream on Now: work unit and files, stance, work by day, context window, failures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import tzinfo
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical

from nmem.read.episodes import CurrentUnit
from nmem.read.figures import Days
from nmem.read.views import NowView
from nmem_tui.model import now_cards, now_gauges
from nmem_tui.model.line import Line
from nmem_tui.widgets.drawn import Card, Draw, once_laid_out

if TYPE_CHECKING:
    from nmem.stance.model import Stance

_ROOMY = 36
"""Rows of the terminal from which on the cards may be higher."""
_LOW = 24
"""Rows below which the days give way to the stream."""
_FRAME = 2
_WINDOW = 5
_STANCE, _STANCE_LOW = 7, 5
"""Rows of the stance's card; fewer where the terminal is low."""
_DAYS = 5
"""Rows of the card of the days; one less where the terminal is low."""


class Overview(Horizontal):
    """As high as the fullest card asks for: what the cards leave blank belongs to the stream.

    A card that has nothing to tell gives its room to the one beside it.
    """

    def __init__(self) -> None:
        super().__init__(id="cards")
        self.window = _WINDOW
        """Rows of the window's card."""
        self.idle = False
        """Whether nothing was done on any of the days."""

    def compose(self) -> ComposeResult:
        """The work first; what is wrong last."""
        yield Card(id="unit")
        with Vertical(id="middle"):
            yield Card(id="stance")
            yield Card(id="today")
        with Vertical(id="side"):
            yield Card(id="window")
            yield Card(id="failures")

    def _draw(self, name: str, lines: Draw, title: str) -> None:
        self.query_one(f"#{name}", Card).show(lines, title)

    def tell(
        self, view: NowView, here: CurrentUnit | None, stance: Stance | None, at: int, zone: tzinfo | None,
        warned: Callable[[int], list[Line]] | None = None, reset: now_gauges.Reset | None = None,
        days: Days | None = None,
    ) -> None:  # fmt: skip
        """Show a session, its work unit, its stance once some call is labelled, its warnings, and its project's days.

        Days that are not read yet are left blank.
        """
        self.window = _FRAME + len(now_gauges.window_card(view.window, at, self.size.width // 3, reset))
        self.idle = days is not None and not any(days.calls)
        if stance is not None and stance.points:
            from nmem_tui.model import stance as stance_words  # on use: start-up stays short

            self._draw("stance", lambda c, r: stance_words.card(stance, c, r, zone), stance_words.title(stance))
        self.query_one("#stance").display = bool(stance and stance.points)
        if here is None:
            self._draw(
                "unit", lambda c, r: _prompt(view, c, r, warned(c) if warned else []), now_cards.prompt_title(view, at)
            )
        else:
            self._draw("unit", lambda c, r: now_cards.card(view, here, c, r, warned), now_cards.title(here, at))
        self._draw("today", lambda c, r: now_gauges.days_card(days, zone, c, r) if days else [], now_gauges.TITLE)
        self._draw("window", lambda c, _: now_gauges.window_card(view.window, at, c, reset), "Context window")
        self._draw("failures", lambda c, r: now_cards.failures(view, zone, c, r), now_cards.failures_title(view))
        self.fit()

    def fit(self) -> None:
        """Take the height that is needed."""
        tall, stance = self.screen.size.height >= _ROOMY, self.query_one("#stance")
        days = self.screen.size.height >= _LOW and not self.idle
        self.query_one("#today").display = days
        self.query_one("#middle").display = days or stance.display
        above = (_STANCE if tall else _STANCE_LOW) if stance.display else 0
        stance.styles.height = above if days else "100%"
        most = 12 if tall and above else 11 if tall else 9
        asked = len(self.query_one("#unit", Card).lines(most - 2)) + 2
        beside = above + (_DAYS - (not tall)) * days
        height = max(self.window + 3, min(most, max(asked, beside)))
        self.query_one("#window").styles.height = self.window
        self.query_one("#failures").styles.height = height - self.window
        if self.styles.height is None or self.styles.height.value != height:
            self.styles.height = height

    def on_resize(self) -> None:
        """Another width wraps otherwise."""
        once_laid_out(self, self.fit)


def _prompt(view: NowView, cells: int, rows: int, warned: Sequence[Line]) -> list[Line]:
    """The prompt where no work unit is known, what warns, and the session's files."""
    files = min(3, len(view.hot), max(0, rows - len(warned) - 4))
    said = [*now_cards.prompt(view, cells, rows - files - len(warned)), *warned]
    return [*said, *now_cards.hot_files(view.hot, cells, rows - len(said))]
