"""The screen Context: the exact text that a session would be told, each item in it, and past injections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Input

from nmem.context.items import Item as Thing
from nmem.context.items import subject
from nmem.context.past import Effect, Telling, Told, telling
from nmem.context.preview import Preview
from nmem.text import printable
from nmem_tui.model import context, context_text
from nmem_tui.model import context_queries as reading
from nmem_tui.model.context_queries import MODES, PAST, PROMPT, RESET, START, Shown, Wanted
from nmem_tui.model.context_queries import Told as Before
from nmem_tui.model.figures import several
from nmem_tui.model.lists import Item
from nmem_tui.screens.base import Take
from nmem_tui.screens.context_actions import NOT_CHOSEN, ContextActions
from nmem_tui.widgets.drawn import Frame, Panel
from nmem_tui.widgets.inputs import Field
from nmem_tui.widgets.item_lists import Items
from nmem_tui.widgets.lines import Lines

if TYPE_CHECKING:
    from nmem_tui.model.exports import Gather

_LEADS = ("episode", "learning", "next")
"""What has a screen of its own to go to."""
_EVERY_S = 0.5
"""What is told is read again at most this often."""
_WORTH_S = 60.0
"""And whether it helps, which is counted over all sessions, at most this often."""


class ContextView(ContextActions):
    """What the next session is told, and what the person makes of it."""

    OPENS = "context"
    DEFAULT_CLASSES = "-blank"

    def __init__(self) -> None:
        super().__init__()
        self.index: Items = Items(id="context")
        self.pane: Items = Items(id="words-told")
        self.over = self.exact = Frame(id="exact")
        self.asked = Field(id="asked", placeholder="as if I asked a new session ...", compact=True, max_length=4000)
        self.before: Before | None = None
        """What was told, once it is read."""
        self.things = Frame(id="things")
        self.worth: Effect | None = None
        self.told: Telling | None = None
        """The text under the cursor that was told, once it is read."""
        self._text: str | None = None
        """What the text was before the person changed something; None: nothing is marked."""
        self._chosen: tuple[str, ...] = ()
        """What the thing under the cursor says."""
        self._drawn: tuple[str, str | None] | None = None
        """The text that is drawn, and what it is compared with."""
        self._worth_known = False
        """Whether the worth was read not long ago."""
        self._about = ""
        """The project that the worth is of."""

    def body(self) -> ComposeResult:
        """The list; beside it the text over the thing under the cursor."""
        self.index.marked = lambda place: self.index.items[place].key in self.all_marked
        yield Panel(id="turned")
        with Horizontal(id="given"):
            with self.things:
                yield self.asked
                yield self.search
                yield Panel(id="budget")
                yield Panel(id="silent")
                yield Panel(id="columns")
                yield self.index
                yield Panel(id="worth")
            with self.exact:
                yield self.pane
                yield Panel(id="thing")
        yield Panel(id="empty")

    def on_mount(self) -> None:
        """The list has the keyboard."""
        self.query_one("#thing", Panel).border_title = Content("Item")
        self.set_focus(self.index)

    def on_screen_resume(self) -> None:
        """Another session may have been chosen meanwhile."""
        if self.seen != -1 and self.is_old():
            self._read()

    def on_resize(self) -> None:
        """The legend stands only where there is room."""
        self.name_list()

    # What is read

    def refresh_data(self) -> None:
        self.catch_up_soon(_EVERY_S, self._read, shown=self.shown is not None)

    def look_again(self) -> None:
        self.person = True
        self._read()

    def session_changed(self) -> None:
        self.reads.forget("context", "told", "telling", "worth")
        self.before = self.told = self.worth = None
        self._about = ""
        self._read()

    def turned(self) -> None:
        """Something else is shown."""
        self._text, self.told, self._drawn = None, None, None
        self.set_class(self.mode == PROMPT, "-prompt")
        self.remove_class("-silent")
        self.index.tell(lambda _cells: [], keep=False, free=False)
        self._read()

    def _wanted(self) -> Wanted:
        prompt = self.asked.value.strip() if self.mode == PROMPT else ""
        return Wanted(self.mode, self.whose(), prompt, self.budgets.get(self.mode, 0))

    def _read(self) -> None:
        self.reads_now()
        if self.mode == PAST:
            self.read_before()
        else:
            self.read_shown()

    def read_shown(self) -> None:
        wanted = self._wanted()
        self.reads.ask("context", lambda db: reading.shown(db, wanted), self._show)

    def read_before(self) -> None:
        """What was told."""
        wanted = self._wanted()
        self.reads.ask("told", lambda db: reading.told(db, wanted), self._show_before)

    def _read_worth(self) -> None:
        row = self.shown.session if self.shown else None
        if row is None or (self._worth_known and self._about == row.root + row.project):
            return
        self._worth_known, self._about = True, row.root + row.project
        self.reads.ask("worth", lambda db: reading.worth(db, row), self._show_worth)
        self.set_timer(_WORTH_S, self._forget_worth)

    def _forget_worth(self) -> None:
        self._worth_known = False

    # What the answers change

    def _show(self, found: Shown | None) -> None:
        if found is None:
            self.nothing_yet()
            return
        if found.wanted.mode != self.mode:
            return
        last = self.shown
        self.shown = found
        if self.budgets.get(self.mode) == found.configured:
            del self.budgets[self.mode]
        self._mark(last, found)
        self.cockpit.shown(found.session)
        self.remove_class("-empty", "-blank")
        same = last is not None and last.wanted.mode == self.mode and last.wanted.prompt == found.wanted.prompt
        self._draw(keep=same)
        self._read_worth()

    def _mark(self, last: Shown | None, found: Shown) -> None:
        """What changed since the person's last key stays marked until something else changes it."""
        old = last.found.text if last and last.found and last.wanted.mode == self.mode else None
        new = found.found.text if found.found else ""
        if self.person:
            self._text, self.person = old, False
        elif old != new:
            self._text = None

    def _draw(self, *, keep: bool) -> None:
        shown = self.shown
        if shown is None:
            return
        found, mode = shown.found, self.mode
        self._bars(lambda cells: context.header(shown.session, mode, found, cells))
        if found is None:
            self.query_one("#budget", Panel).show(lambda _c, _r: [[(" type what you would ask", "quiet")]])
            self.index.tell(lambda cells: [Item(lambda _c, line=line: line) for line in context.waiting(cells)],  # type: ignore[misc]
                            keep=False, free=False)  # fmt: skip
        else:
            self._list(found, shown.configured, keep=keep)
        self._tell_one()

    def _list(self, found: Preview, configured: int, *, keep: bool) -> None:
        mode = self.mode
        self.query_one("#budget", Panel).show(
            lambda cells, _: [context.gauge(found, configured, mode, cells), *context_text.legend(found, cells)]
        )
        self.query_one("#columns", Panel).show(lambda cells, _: [[(" ", "text"), *context.columns(cells - 2)]])
        self.query_one("#silent", Panel).show(lambda cells, _: context.silence(found, mode, cells))
        self.set_class(not found.text, "-silent")
        self.index.hint = "" if found.text else "  nothing is known to choose from"
        self.index.tell(lambda _cells: context.items(found, mode), keep=keep, free=False)

    def _bars(self, header: object) -> None:
        mode = self.mode
        self.header.show(header)  # type: ignore[arg-type]
        self.query_one("#turned", Panel).show(lambda cells, _rows: [context.bar(mode, cells)])
        self.name_list()

    def name_list(self) -> None:
        shown = self.shown.found if self.shown else None
        if self.mode == PAST:
            past = self.before.past if self.before else None
            title = context.past_title(past, self.cockpit.clock()) if past else "Told before"
            name, _, rest = title.partition(" ─ ")
            self.things.border_subtitle = Content("")
        else:
            name, rest = f"Told {context.NAMES[self.mode]}", several(len(shown.items) if shown else 0, "item")
            legend = "".join(text for text, _ in context.legend()) if self.has_class("-wide") else ""
            self.things.border_subtitle = Content(NOT_CHOSEN if self.mode == RESET else legend)
        self.things.border_title = self.titled(name, rest)

    def _tell_one(self) -> None:
        """The text with the thing under the cursor, and that thing in full."""
        found, one, before = self.shown.found if self.shown else None, self.one, self._text
        self._chosen = (one.text,) if one else ()
        text = found.text if found else ""
        if found is None or not (text or before):
            self._drawn = None
            self.pane.tell(lambda _cells: [], keep=False)
            self.pane.hint = "  nothing is told" if found else "  the exact text appears here"
        elif self._drawn != (text, before):
            self._drawn = (text, before)
            self.pane.tell(lambda cells: context_text.items(text, before, lambda: self._chosen, cells), keep=True)
        self._point_out()
        changed = context_text.summary(before, text)
        size = f" ─ {several(found.tokens, 'token')}" if found and text else ""
        self.pane.border_title = Content(f"Exact text{size}")
        self.pane.border_subtitle = Content(f"{changed} · esc unmarks" if changed else "")
        panel = self.query_one("#thing", Panel)
        panel.border_title = Content("Item")
        mode = self.mode
        panel.show(lambda cells, rows: context.about(one, found, mode, cells, rows))
        self.check_keys()

    def _point_out(self) -> None:
        """Bring the thing into sight where the text is longer than its room."""
        self.pane.redraw()
        place = context_text.place(self.pane.items, self._chosen)
        if place is not None and not self.pane.has_focus:
            self.pane.go(place, below=2)

    def _show_before(self, found: Before | None) -> None:
        if found is None:
            self.nothing_yet()
            return
        if self.mode != PAST:
            return
        first = self.before is None or not self.index.count
        self.before = found
        at, zone, past = self.cockpit.clock(), self.cockpit.zone, found.past
        self.remove_class("-empty", "-blank")
        self._bars(lambda cells: context.header(found.session, PAST, None, cells))
        self.query_one("#budget", Panel).show(lambda cells, _: [context.past_totals(past, cells)])
        self.query_one("#columns", Panel).show(
            lambda cells, _: [[(" ", "text"), *context.past_columns(cells - 2)]] if past.found else [[]]
        )
        self.index.hint = "  no session of this project was told anything yet: hooks do so at its start"
        self.index.tell(lambda cells: context.past_items(past, cells, at, zone), keep=not first, free=False)
        self._tell_past()

    def _tell_past(self) -> None:
        if self.mode != PAST:
            return
        at, zone, one = self.cockpit.clock(), self.cockpit.zone, self.telling
        panel = self.query_one("#thing", Panel)
        panel.border_title = Content("Told")
        panel.show(lambda cells, _rows: context.past_about(one, cells, at, zone))
        if one is None:
            self.pane.hint = "  past injections appear here, with their use"
            self.pane.tell(lambda _cells: [], keep=False)
            self.pane.border_title, self.pane.border_subtitle = Content("Text"), Content("")
        else:
            self.reads.ask("telling", lambda db: telling(db, one.id), self._show_telling)
        self.check_keys()

    def _show_telling(self, found: Telling | None) -> None:
        one = self.telling
        if self.mode != PAST or one is None or found is None or found.told.id != one.id:
            return
        same = self.told is not None and self.told.told.id == one.id
        self.told = found
        self.pane.border_title = Content(f"What became of it ─ {several(len(found.items), 'item')}")
        self.pane.border_subtitle = Content("")
        self._drawn = None
        self.pane.tell(lambda cells: context.past_detail(found, cells), keep=same)

    def _show_worth(self, found: Effect) -> None:
        self.worth = found
        self.query_one("#worth", Panel).show(lambda cells, _rows: [context.effect(found, cells)])

    def nothing_yet(self) -> None:
        self.shown = self.before = None
        self.remove_class("-blank")
        super().nothing_yet()

    # What the cursor does

    @on(Lines.Moved, "#context")
    def other_thing(self) -> None:
        """Another thing is under the cursor; a text that was told is read once the cursor rests."""
        if self.mode != PAST:
            self._tell_one()
            return
        self.once_quiet(self.REST_S, self._tell_past)

    def forget_changes(self) -> bool:
        """What changed is no longer marked."""
        marked, self._text = self._text is not None, None
        if marked and self.mode != PAST:
            self._tell_one()
        return marked

    def give_text(self, take: Take) -> None:
        """The exact text."""
        if self.mode == PAST:
            take(printable_lines(self.told.text) if self.told else "")
        elif self.shown and self.shown.found:
            take(printable_lines(self.shown.found.text))

    def gather(self) -> Gather:
        """The text with each thing in it, or what was told before."""
        from nmem_tui.model import exports  # on use: start-up stays short

        return exports.context(self._wanted(), self.cockpit.zone)

    @property
    def one(self) -> Thing | None:
        item = self.index.item
        if item is None or item.kind != context.THING or self.shown is None:
            return None
        return context.thing(self.shown.found, item.key)

    @property
    def telling(self) -> Told | None:
        """The text under the list's cursor that was told."""
        item = self.index.item
        if item is None or item.kind != context.TELLING or self.before is None:
            return None
        return next((each for each in self.before.past.found if str(each.id) == item.key), None)

    # What is shown

    def do_next_view(self) -> None:
        self._turn(MODES[(MODES.index(self.mode) + 1) % len(MODES)])

    def do_last_view(self) -> None:
        self._turn(MODES[(MODES.index(self.mode) - 1) % len(MODES)])

    def do_past(self) -> None:
        self._turn(START if self.mode == PAST else PAST)

    def may_ledger(self) -> str | None:
        """Only of a session."""
        return None if self.shown or self.before else "nothing is shown yet"

    def do_ledger(self) -> None:
        from nmem_tui.screens.ledger_dialog import Ledger  # on use: start-up stays short

        if about := self.shown or self.before:
            self.app.push_screen(Ledger(about.session.id))

    def do_ask(self) -> None:
        self._turn(PROMPT)
        self.set_focus(self.asked)

    def _turn(self, mode: str) -> None:
        if self.mode == mode:
            return
        self.uncover()
        self.all_marked.clear()
        self.unfilter()
        self.mode = mode
        self.turned()

    @on(Input.Changed, "#asked")
    def ask_anew(self) -> None:
        """Each keystroke shows what it would bring."""
        if self.mode == PROMPT:
            self.read_shown()

    @on(Input.Submitted, "#asked")
    def keep_asked(self) -> None:
        """The things that it brings get the keyboard."""
        self.set_focus(self.index)

    # What the keys do

    def may_open(self) -> str | None:
        """The text can be read always; from there a thing leads somewhere."""
        if self.telling is None and (self.mode == PAST or not (self.shown and self.shown.found)):
            return "nothing is shown yet"
        return self.may_story() if self.pane.has_focus else None

    def do_open(self) -> None:
        if self.pane.has_focus:
            self.do_story()
        else:
            self.into(self.pane)

    def may_story(self) -> str | None:
        """Episodes and learnings have screens of their own; of a text the session that was told it."""
        if self.telling is not None:
            return None
        return None if self._leads() else "put the cursor on an episode or a learning"

    def _leads(self) -> tuple[str, int] | None:
        one = self.one
        kind, _, number = one.id.removeprefix("pin/").partition("/") if one else ("", "", "")
        return (kind, int(number)) if kind in _LEADS and number.isdecimal() else None

    def do_story(self) -> None:
        if told := self.telling:
            self.cockpit.show_session(told.session_id)
        elif leads := self._leads():
            kind, number = leads
            if kind == "learning":
                self.cockpit.show_learning(number)
            else:
                self.cockpit.show_episode(number)

    def id_here(self) -> str:
        """The thing's; of a text that was told the session's."""
        if self.mode == PAST:
            return f"session/{self.telling.session_id}" if self.telling else ""
        return self.one.id.removeprefix("pin/") if self.one else ""

    def may_copy(self) -> str | None:
        """Only where something is told."""
        if self.mode == PAST:
            return None if self.telling else "nothing to copy"
        return None if self.shown and self.shown.found and self.shown.found.text else "nothing is told"

    def do_sessions(self) -> None:
        shown = self.shown or self.before
        self.choose_session(shown.session.id if shown else "")

    def may_sessions(self) -> str | None:
        """Only where there are some."""
        return "no session is recorded yet" if self.has_class("-empty") else None

    def do_back(self) -> None:
        """Close the innermost thing that is open; where nothing is, the place is kept."""
        if self.pane.has_focus or self.asked.has_focus:
            self.uncover()
        elif not (self.step_back() or self.forget_changes()) and self.mode != START:
            self._turn(START)
        self.check_keys()

    # The filter, the marks, the way back

    @property
    def row_key(self) -> str | None:
        return subject(self.one.id) if self.one and not self.pane.has_focus else None

    def row_keys(self) -> list[str]:
        return [item.key for item in self.index.items if item.kind == context.THING]

    def may_mark(self) -> str | None:
        """What was told stays told."""
        return self.may_change() or super().may_mark()

    def may_mark_all(self) -> str | None:
        """What was told stays told."""
        return self.may_change() or super().may_mark_all()

    def spot(self) -> tuple[str, str, str]:
        """What is shown, and the thing under the cursor."""
        item = self.index.item
        return self.mode, item.kind if item else "", item.key if item else ""

    def return_to(self, place: tuple[str, str, str]) -> None:
        mode, kind, key = place
        self._turn(mode)
        self.uncover()
        self.index.seek(kind, key)


def printable_lines(text: str) -> str:
    """A text line by line, as it may be shown."""
    return "\n".join(printable(line) for line in text.split("\n"))
