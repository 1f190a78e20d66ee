"""The screen Now: cards on a session (work unit, stance, failures), and its live stream of prompts and calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import tzinfo
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content

from nmem.read.episodes import CurrentUnit
from nmem.read.figures import Days, days, midnights
from nmem.read.views import NowView
from nmem_tui.model import now_cards, now_gauges
from nmem_tui.model.now_queries import Glance, Opening, glance, pick
from nmem_tui.operations import commands
from nmem_tui.screens.list_screen import SCROLLED
from nmem_tui.screens.now_stream import NowStream
from nmem_tui.widgets.details import Details
from nmem_tui.widgets.drawn import Frame, Panel, content
from nmem_tui.widgets.overview import Overview
from nmem_tui.widgets.stream import Stream

if TYPE_CHECKING:
    from sqlite3 import Connection

    from nmem.learn.learning import Warned
    from nmem.llm.chosen import Standing
    from nmem.read.sessions import Clash
    from nmem.stance.model import Stance
    from nmem.stance.read import Following
    from nmem_tui.model.exports import Gather
    from nmem_tui.model.line import Line
    from nmem_tui.model.now_gauges import Reset

_CARDS_S, _STANCE_S, _DAYS_S = 0.25, 1.0, 2.0
"""The cards, the stance and the days are read at most this often; the stream at once."""
_DAY_MS = 86_400_000
_FULL = 24
"""Rows of a terminal below which a narrow one keeps the line of the days for the stream."""


class Now(NowStream):
    """The session that is worked in, at a glance and row by row."""

    def __init__(self) -> None:
        super().__init__()
        self.view: NowView | None = None
        self.unit: CurrentUnit | None = None
        self.stance: Stance | None = None
        self.reset: Reset | None = None
        """What the session would be told after a reset, once it is read."""
        self._following: Following | None = None
        self.clashes: tuple[Clash, ...] = ()
        self.days: Days | None = None
        self.model: Standing | None = None
        """Who tells the stories, once that is read."""
        self._warns: int | None = None

    def body(self) -> ComposeResult:
        """Cards above, the stream below, details beside it."""
        yield Panel(id="summary")
        yield Overview()
        with Horizontal(id="lower"):
            with Frame(id="frame"):
                yield self.search
                yield Stream(self.cockpit.zone, id="stream")
            yield Details(self.cockpit.zone)
        yield Panel(id="empty")

    def on_mount(self) -> None:
        """The stream has the keyboard."""
        self.stream.marked = self.all_marked
        self.set_focus(self.stream)
        self.set_interval(5, self._go_by)

    def on_screen_resume(self) -> None:
        """Another session may have been chosen on another screen."""
        shown = self.cockpit.session
        if shown is not None and self.session_id and shown.id != self.session_id:
            self.session_changed()

    # What is read

    def refresh_data(self) -> None:
        """The stream at once, the cards soon."""
        if self.session_id:
            self._read_stream()
        self.catch_up_soon(_CARDS_S, self._read_cards, shown=self.view is not None)

    def _read_cards(self) -> None:
        whose = self.whose(self.session_id)
        self.reads.ask("cards", lambda db: glance(db, pick(db, whose), whose.at), self._show_cards)

    @property
    def _roomy(self) -> bool:
        """Whether there is room for cards over the stream."""
        return self.has_class("-wide") and not self.has_class("-low")

    def _read_stance(self) -> None:
        session_id, one, at = self.session_id, self._following, self.cockpit.clock()
        self.reads.ask("stance", lambda db: _go_on(db, session_id, one, at), self._show_stance)
        if self._roomy:
            self._read_reset()

    def _read_reset(self) -> None:
        session_id, at = self.session_id, self.cockpit.clock()
        self.reads.ask("reset", lambda db: _after_reset(db, session_id, at), self._show_reset)

    def _read_days(self) -> None:
        session_id, known, at, zone = self.session_id, self.days, self.cockpit.clock(), self.cockpit.zone
        self.reads.ask("days", lambda db: (session_id, _by_day(db, session_id, at, zone, known)), self._show_days)
        self.reads.ask("model", _who_tells, self._show_model)

    # What the answers change

    def _show_model(self, found: Standing | None) -> None:
        if found != self.model:
            self.model = found
            self._draw_cards()

    def _show_days(self, found: tuple[str, Days | None]) -> None:
        if found[0] == self.session_id and found[1] != self.days:
            self.days = found[1]
            self._draw_cards()

    def _show_stance(self, found: tuple[Stance, Following] | None) -> None:
        if found is None or found[0].session_id != self.session_id:
            return
        self.stance, self._following = found
        self._draw_cards()

    def _show_reset(self, found: tuple[str, Reset]) -> None:
        if found[0] == self.session_id and found[1] != self.reset:
            self.reset = found[1]
            self._draw_cards()

    def _show_cards(self, found: Glance | None) -> None:
        if found is None and self.cockpit.chosen:
            self.cockpit.chosen = ""  # it was purged: the newest instead
            self.reads.forget("cards")
            self._read_cards()
            return
        if found is None:
            self.nothing_yet()
            return
        view = self.view = found.view
        self.unit, self.clashes = found.unit, found.clashes
        self.remove_class("-empty")
        if view.session.id == self.session_id:
            self._draw_cards()
            self._read_beside()
            return
        self.session_id = view.session.id
        self.all_marked.clear()  # they stood in the session before
        self.stance = self._following = self.reset = self.days = None
        self.reads.forget("stance", "reset", "days")
        self.close_details()
        self._open_stream()
        self.cockpit.shown(view.session)
        self._draw_cards()

    def _show_stream(self, found: Opening) -> None:
        super()._show_stream(found)
        self.call_after_refresh(self._read_beside)

    def _read_beside(self) -> None:
        """What is told beside the session; of one that opens, once its rows are drawn."""
        self.catch_up_soon(_STANCE_S, self._read_stance, shown=self.stance is not None)
        self.catch_up_soon(_DAYS_S, self._read_days, shown=self.days is not None)
        self._read_warnings(self.unit.id if self.unit else None)

    def _read_warnings(self, unit_id: int | None) -> None:
        """Read those of one episode; what another one was warned of is gone at once."""
        if unit_id != self._warns:
            self._warns = unit_id
            self._show_warnings((unit_id, ()))
        if unit_id is None:
            return
        at = self.cockpit.clock()

        def work(db: Connection) -> tuple[int, Sequence[Warned]]:
            from nmem.learn import warnings  # on use: start-up stays short

            return unit_id, warnings.of_unit(db, unit_id, at)

        self.reads.ask("warnings", work, self._show_warnings)

    def _show_warnings(self, found: tuple[int | None, Sequence[Warned]]) -> None:
        unit_id, warned = found
        if unit_id == self._warns and tuple(warned) != tuple(self.warned):
            self.warned = warned
            self._draw_cards()
            self.check_keys()

    @property
    def warning(self) -> Callable[[int], list[Line]] | None:
        """What draws them, one line of so many cells each; None where nothing warns."""
        warned, clashes = self.warned, self.clashes
        if not warned:
            return (lambda cells: [now_cards.clash(clashes, cells)]) if clashes else None
        from nmem_tui.model import learnings  # on use: start-up stays short

        other = [now_cards.clash] if clashes else []
        return lambda cells: [*(draw(clashes, cells) for draw in other), learnings.warning(warned, cells)]

    def _go_by(self) -> None:
        """Ages move on by themselves, and so does what is today; behind another screen they need not."""
        if not self.is_current:
            return
        self._draw_cards()
        if self.days is not None and self.cockpit.clock() - self.days.starts[-1] >= _DAY_MS:
            self.soon(_DAYS_S, self._read_days)

    def on_resize(self) -> None:
        """Cards, or a few lines: what was hidden was not drawn, and what only the cards tell was not read."""
        self.call_after_refresh(self._drawn_anew)

    def _drawn_anew(self) -> None:
        self._draw_cards()
        if self._roomy and self.session_id and self.reset is None:
            self._read_reset()

    def _draw_cards(self) -> None:
        if self.view is None:
            return
        view, here, at = self.view, self.unit, self.cockpit.clock()
        self.header.show(lambda cells: now_cards.header(view, at, cells, here))
        model = self.model
        drawn_model = _model_line(model, self.size.width - 4)
        self.frame.border_subtitle = content(drawn_model) if self._roomy else Content("")
        if self._roomy:
            self.query_one(Overview).tell(
                view, here, self.stance, at, self.cockpit.zone, self.warning, self.reset, self.days
            )
            return
        rows, zone, stance = 9 if self.has_class("-tall") else 4, self.cockpit.zone, self.stance
        drawn, warned = _stance_line(stance), self.warning
        rows += bool(drawn) + bool(self.warned) + bool(self.clashes)
        days_shown = self.size.height >= _FULL
        days = self.days if days_shown else None
        self.query_one("#summary", Panel).show(
            lambda c, _: [
                *now_cards.narrow(
                    view, at, zone, c, rows, here, drawn(c) if drawn else None, warned(c) if warned else ()
                ),
                *_days_line(days, c),
                *_model_line(model if days_shown else None, c),
            ]
        )

    def nothing_yet(self) -> None:
        """The screen that says what to do first."""
        self.view, self.unit, self.session_id = None, None, ""
        super().nothing_yet()

    # What the keys do

    def do_details_down(self) -> None:
        self.details.scroll_relative(y=SCROLLED, animate=False)

    def do_details_up(self) -> None:
        self.details.scroll_relative(y=-SCROLLED, animate=False)

    def gather(self) -> Gather:
        """The session at a glance, and its stream."""
        from nmem_tui.model import exports  # on use: start-up stays short

        app = self.cockpit
        return exports.now(self.session_id, self.query_now, app.clock(), app.zone)

    def may_pin(self) -> str | None:
        """Only a work unit can be pinned."""
        return None if self.unit else "no work unit yet"

    may_story = may_pin_everywhere = may_pin

    def do_pin(self) -> None:
        if self.unit:
            self.cockpit.change(commands.pin(self.unit.id, not self.unit.pinned))

    def do_pin_everywhere(self) -> None:
        """Pin the work unit and tell it in every project, or in its own alone."""
        if self.unit:
            self.cockpit.change(commands.pin_everywhere("episode", self.unit.id))

    def do_story(self) -> None:
        if self.unit:
            self.cockpit.show_episode(self.unit.id)

    def do_sessions(self) -> None:
        self.choose_session(self.session_id)

    def may_sessions(self) -> str | None:
        """Only where there are some."""
        return "no session is recorded yet" if self.has_class("-empty") else None

    def session_changed(self) -> None:
        self.reads.forget("cards")
        self._read_cards()


def _go_on(db: Connection, session_id: str, one: Following | None, at: int) -> tuple[Stance, Following] | None:
    """Read the stance; what that and its card need is imported in the worker, after the first frame."""
    from nmem_tui.model import stance as stance_words  # noqa: F401  # on use: start-up stays short
    from nmem_tui.model.stance import go_on

    return go_on(db, session_id, one, at)


def _after_reset(db: Connection, session_id: str, at: int) -> tuple[str, Reset]:
    """Whose packet, how many things are in it, and in how many tokens; imported in the worker, too."""
    from nmem_tui.model.context_queries import after_reset  # on use: start-up stays short

    found = after_reset(db, session_id, at)
    return session_id, (len(found.items), found.tokens)


def _by_day(db: Connection, session_id: str, at: int, zone: tzinfo | None, known: Days | None) -> Days | None:
    """The days of the session's project, counted in the worker."""
    return days(db, session_id, midnights(at, zone), known)


def _who_tells(db: Connection) -> Standing | None:
    """Who tells the stories; imported in the worker, too."""
    from nmem_tui.model import model_path  # on use: start-up stays short

    return model_path.read(db)


def _model_line(found: Standing | None, cells: int) -> list[Line]:
    """Who tells the stories, in one line; none while that is not known."""
    if found is None:
        return []
    from nmem_tui.model import model_path  # on use: start-up stays short

    return model_path.line(found, cells)


def _days_line(days: Days | None, cells: int) -> list[Line]:
    """The days in one line; none while they are not known, or nothing was done in them."""
    drawn = now_gauges.line(days, cells)
    return [drawn] if drawn else []


def _stance_line(stance: Stance | None) -> Callable[[int], Line] | None:
    """What draws the stance in one line; None while no call is labelled."""
    if stance is None or not stance.points:
        return None
    from nmem_tui.model import stance as stance_words  # on use: start-up stays short

    return lambda cells: stance_words.line(stance, cells)
