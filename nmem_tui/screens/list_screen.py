"""The base class of screens with a list: cursor keys, marked rows, the filter, and the details of one row.

What lies over the list is what the keys are about: marks that nobody can see are kept, and rest until they show again.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.content import Content
from textual.widget import Widget

from nmem_tui.model import lists
from nmem_tui.model.empty import NO_WARNING
from nmem_tui.model.lists import MOST, Marked
from nmem_tui.screens.base import View
from nmem_tui.widgets.inputs import FilterBox
from nmem_tui.widgets.item_lists import Items
from nmem_tui.widgets.lines import Lines
from nmem_tui.widgets.stream import Stream

if TYPE_CHECKING:
    from nmem.learn.learning import Warned

_COVERED = "the list is behind this: esc returns to it"
SCROLLED = 5
"""One key scrolls the details by so many lines."""


class ListScreen(View):
    """A screen whose rows can be filtered and marked; its actions then are about all of them."""

    ALONE: ClassVar[frozenset[str]] = frozenset()
    """Actions that make no sense with several rows."""
    TOGETHER: ClassVar[frozenset[str]] = frozenset()
    """Actions that are about all marked rows."""
    HINT: ClassVar[str] = "words that must all be there, !word that must not"
    TYPING_S: ClassVar[float] = 0.0
    """Keys that come faster than this narrow together: where each asks the database."""
    REST_S: ClassVar[float] = 0.06
    """A cursor that stands so long rests: while a key is held, nothing is read of its row."""
    EVERY_S: ClassVar[float] = 0.5
    """A list that is read in one visit is read again at most this often."""
    listing: object = None
    """The list as it was read last; None: nothing was read yet."""
    index: Lines | Stream
    """The list."""
    pane: Lines
    """The details of one row."""
    warned: Sequence[Warned] = ()
    """Learnings that the episode runs into again, the hottest first."""

    def __init__(self) -> None:
        super().__init__()
        self.all_marked = Marked()
        """The marked rows, seen or not."""
        self._none = Marked()
        self.over: Widget | None = None
        """What is told of one row: in a narrow terminal it lies over the list once it is open."""
        self.search = FilterBox(self.HINT)
        self.filtered = ""
        """The filter in force."""

    # What is read

    def read_list(self) -> None:
        """Read what is listed."""
        raise NotImplementedError

    def refresh_data(self) -> None:
        self.catch_up_soon(self.EVERY_S, self.read_list, shown=self.listing is not None)

    def look_again(self) -> None:
        """The person changed something: show it at once."""
        self.read_list()

    # What is told of one row

    @property
    def covered(self) -> bool:
        """Whether what is open lies over the list."""
        return self.over is not None and self.has_class("-narrow") and self.over.has_class("-open")

    @property
    def home(self) -> Widget | None:
        return self.index

    @property
    def active(self) -> Lines | Stream:
        """Where the keyboard is."""
        return self.pane if self.pane.has_focus else self.index

    def into(self, lines: Lines) -> None:
        """What is told of the row gets the keyboard."""
        if self.over is not None:
            self.over.add_class("-open")
        self.set_focus(lines)
        self.check_keys()

    def uncover(self) -> None:
        """Close what lies over the list."""
        if self.over is not None:
            self.over.remove_class("-open")
            self.set_focus(self.index)

    def do_back(self) -> None:
        """Close the innermost thing that is open; where nothing is, the place is kept."""
        if self.active is self.index:
            self.step_back()
        else:
            self.uncover()
        self.check_keys()

    def do_details_down(self) -> None:
        self.pane.move(SCROLLED)

    def do_details_up(self) -> None:
        self.pane.move(-SCROLLED)

    def may_open(self) -> str | None:
        """What is under the cursor can be opened."""
        return None

    def do_open(self) -> None:
        raise NotImplementedError

    @property
    def clickable(self) -> tuple[Lines | Stream, ...]:
        """The lists whose rows a second click opens."""
        return (self.index,)

    @on(Lines.Opened)
    def open_clicked(self, message: Lines.Opened) -> None:
        """A second click opens."""
        if message.lines in self.clickable and not self.may_open():
            self.do_open()

    def may_warning(self) -> str | None:
        """Only where there is one."""
        return None if self.warned else NO_WARNING

    def do_warning(self) -> None:
        if self.warned:
            self.cockpit.show_learning(self.warned[0].learning.id)

    # The cursor, in whichever list has the keyboard

    def do_down(self) -> None:
        self.active.move(1)

    def do_up(self) -> None:
        self.active.move(-1)

    def do_half_down(self) -> None:
        self.active.move(self.active.page())

    def do_half_up(self) -> None:
        self.active.move(-self.active.page())

    def do_top(self) -> None:
        self.active.scroll_to(y=0, animate=False, immediate=True, force=True)
        self.active.go(0)

    def do_bottom(self) -> None:
        self.active.move(self.active.count)

    # The marks

    @property
    def marked(self) -> Marked:
        """The marked rows that actions are about; none while the list is covered."""
        return self._none if self.covered else self.all_marked

    @property
    def row_key(self) -> Hashable:
        """What the row under the cursor is; None where there is none that can be marked."""
        return None

    def row_keys(self) -> Sequence[Hashable] | None:
        """What all listed rows are; None: they are not all read yet."""
        return ()

    def listed_keys(self) -> Iterable[Hashable]:
        """What the listed rows are, as far as they are read."""
        return self.row_keys() or ()

    @property
    def meant(self) -> list[Hashable]:
        """The marked rows that an action is about: those that are listed; what a filter hides is left alone."""
        return self._listed(self.marked)

    def _listed(self, marked: Marked) -> list[Hashable]:
        if not marked:
            return []
        listed = {key for key in self.listed_keys() if key in marked}
        return [key for key in marked if key in listed]

    @property
    def marks_told(self) -> str:
        """How many are marked, and how many of them are not listed, for a title."""
        return self.all_marked.told(len(self._listed(self.all_marked)))

    def marks_changed(self) -> None:
        """Draw the list and its title anew."""
        self.index.redraw()
        self.name_list()

    def may_mark(self) -> str | None:
        """Only a row that can be seen."""
        if self.covered:
            return _COVERED
        return None if self.row_key is not None else "put the cursor on a row first"

    def do_mark(self) -> None:
        key = self.row_key
        if key not in self.all_marked and len(self.all_marked) >= MOST:
            self.cockpit.say(f"{MOST:,} rows are marked: that is the limit", severity="warning")
            return
        self.all_marked.flip(key)
        self.index.move(1)
        self._changed()

    def may_mark_all(self) -> str | None:
        """Not more than can be done at once, and nothing that cannot be seen."""
        if self.covered:
            return _COVERED
        keys = self.row_keys()
        if keys is None:
            return "not all rows are loaded yet: filter with /"
        if len(keys) > MOST:
            return f"{len(keys):,} rows are listed, at most {MOST:,} can be marked: filter with /"
        return None if keys else "nothing is listed"

    def do_mark_all(self) -> None:
        self.all_marked.every(self.row_keys() or ())
        self._changed()

    def unmark(self) -> bool:
        """Nothing that can be seen is marked any more; whether something was."""
        if not self.marked:
            return False
        self.all_marked.clear()
        self._changed()
        return True

    def _changed(self) -> None:
        self.marks_changed()
        self.check_keys()

    def may_alone(self, action_id: str) -> str | None:
        """Why an action cannot be about several rows; None where one is meant, or it can."""
        if self.marked and action_id in self.TOGETHER and not self.meant:
            return "no marked row is listed: esc clears the marks"
        if action_id not in self.ALONE or not self.marked:
            return None
        return f"{len(self.marked)} rows are marked, this works on one: esc clears the marks"

    def purge(self, ids: Sequence[str], note: str = "") -> None:
        """See what goes with these, then let it go; see purge_dialog."""
        from nmem_tui.screens.purge_dialog import ask  # on use: start-up stays short

        ask(self.cockpit, ids, note, self.unmark)

    def choose_session(self, current: str) -> None:
        """Choose a session from the list."""
        from nmem_tui.screens.prompt_dialogs import Sessions  # on use: start-up stays short

        self.app.push_screen(Sessions(current, self.cockpit.project), self.cockpit.choose)

    # The filter

    @property
    def words(self) -> lists.Words:
        """The filter in force, for a list that is in memory."""
        return lists.Words(self.filtered)

    def narrow(self) -> None:
        """List what the filter in force leaves."""
        assert isinstance(self.index, Items)
        self.index.narrow(self.words)
        self.name_list()
        self.index.post_message(Lines.Moved(self.index))

    def tally(self) -> tuple[int, int, bool]:
        """How many rows are listed, of how many, and whether more may come."""
        assert isinstance(self.index, Items)
        return self.index.taken, self.index.whole, False

    def name_list(self) -> None:
        """The list's title."""
        raise NotImplementedError

    def may_filter(self) -> str | None:
        """Only rows can be filtered, or a filter be changed."""
        _, whole, more = self.tally()
        return None if whole or more or self.filtered else "no list here to filter"

    def do_filter(self) -> None:
        self.uncover()
        self.search.open()
        self.tell_count()

    @on(FilterBox.Typed)
    def narrow_down(self, message: FilterBox.Typed) -> None:
        """Each keystroke filters anew."""
        if message.text == self.filtered:
            return
        self.filtered = message.text
        if self.TYPING_S:
            self.once_quiet(self.TYPING_S, self.narrow)
        else:
            self.narrow()

    @on(FilterBox.Kept)
    def keep_filter(self) -> None:
        """On to the rows that are left."""
        self.set_focus(self.index)

    def unfilter(self) -> bool:
        """Everything is listed again; whether anything was left out, or the box was open."""
        was = self.search.display
        focused = self.search.typing
        self.search.close()
        if focused:
            self.set_focus(self.index)
        if self.filtered:
            self.filtered = ""
            self.narrow()
        return was

    def step_back(self) -> bool:
        """Out of the box, else the marks off, else the filter; whether there was one of them."""
        return (self.search.typing and self.unfilter()) or self.unmark() or self.unfilter()

    def tell_count(self) -> None:
        """The box says how many are left."""
        number, whole, more = self.tally()
        self.search.tell(lists.count(number, whole, more=more), none=not number and not more)

    def titled(self, name: str, rest: str) -> Content:
        """The title of the list: the filter and the marks are never forgotten. `rest` is what else it tells."""
        self.tell_count()
        number, whole, more = self.tally()
        told = lists.count(number, whole, more=more)
        return Content(lists.title(name, rest, self.filtered, told, self.marks_told))
