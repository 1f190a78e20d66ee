"""The screen Episodes: the history by day and thread, with the story of the selected episode beside it."""

from __future__ import annotations

from sqlite3 import Connection
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content

from nmem.episodes import units
from nmem.read import episode_store
from nmem.read import episodes as episode_views
from nmem.read import stories as story_views
from nmem.read.episode_store import Filter
from nmem.read.episodes import EpisodeRow, Page, Slot, Stamp
from nmem.read.stories import Story
from nmem.text import printable
from nmem_tui.model import actions, episodes
from nmem_tui.model import episodes as reading
from nmem_tui.model.episodes import Look, Shelf, Told
from nmem_tui.model.figures import several
from nmem_tui.model.line import Line, fitting, plain
from nmem_tui.model.lists import NO_MATCH
from nmem_tui.model.story import StoryText, uncut
from nmem_tui.screens.base import Take
from nmem_tui.screens.episode_actions import EpisodeActions
from nmem_tui.widgets.charts import Band
from nmem_tui.widgets.drawn import Frame, Panel
from nmem_tui.widgets.lines import Lines

if TYPE_CHECKING:
    from nmem_tui.model.exports import Gather

_TYPED_S = 0.4
"""A filter that nobody types on for so long has its matches counted, and a story told."""
_EVERY_S = 0.3
"""The list is looked at again at most this often."""


class Episodes(EpisodeActions):
    """What was worked on, and how it went."""

    OPENS = "list"
    HINT = "!word, is:failed (tests), thread:, theme:, file:, project:"
    TYPING_S = 0.06

    def __init__(self) -> None:
        super().__init__()
        self.frame = Frame(id="listing")
        self.band = Band(id="band")
        self.shelf = Shelf()
        self.filter = Filter()
        self.theme = ("", "")
        """The theme that was chosen, as it stands in the filter, and what it is about."""
        self.total = self.whole = 0
        """Episodes that the filter leaves, and all."""
        self.more = False
        """Whether the first are not counted yet."""
        self.to_end = False
        """Whether the cursor goes to the last one, once all are known."""
        self._open_story = False
        self.waiting = 0
        self.stamp = Stamp()
        self._then: tuple[str, int | None] = ("", None)
        """The action that waits for the story of an episode."""
        self._keep = 0
        """The episode that the cursor goes to once it is in the list."""
        self._fresh = 0
        """One that the person has just made: a filter that would hide it is taken off."""

    def body(self) -> ComposeResult:
        """The list, the story beside it."""
        self.index.marked = lambda place: self.shelf.unit(place) in self.all_marked
        self.pane.zone, self.pane.clock = self.cockpit.zone, self.cockpit.clock
        yield self.band
        with Horizontal(id="history"):
            with self.frame:
                yield self.search
                yield self.index
            with self.telling:
                yield self.pane
        yield Panel(id="empty")

    def on_mount(self) -> None:
        """The list has the keyboard."""
        self.shelf.zone = self.cockpit.zone
        self._keep, self.cockpit.wanted_episode = self.cockpit.wanted_episode, 0
        self._open_story = bool(self._keep)
        self.set_focus(self.index)

    def open_wanted(self) -> None:
        wanted, self.cockpit.wanted_episode = self.cockpit.wanted_episode, 0
        if not wanted or not self.is_mounted:
            self.cockpit.wanted_episode = wanted
            return
        self._keep, self._open_story = wanted, True
        self.search.close()
        self.filtered, self.filter = "", Filter()
        self.read_list()

    def return_to(self, place: tuple[int, bool]) -> None:
        """To the episode of a place; what filters it away is taken off."""
        unit_id, inside = place
        self.uncover()
        if unit_id in self.shelf.places:
            self.index.go(self.shelf.places[unit_id])
            if inside:
                self.into(self.pane)
            return
        self.cockpit.wanted_episode = unit_id
        self.open_wanted()
        self._open_story = inside

    # What is read

    def refresh_data(self) -> None:
        """The list soon; at once where there is none yet."""
        if self.shelf.slots:
            self.soon(_EVERY_S, self._look)
        else:
            self.read_list()
            self._count_questions()

    def look_again(self) -> None:
        """The person changed something: show it at once, and what was split off under the cursor."""
        prompt, self.split_at = self.split_at, 0
        if prompt:
            self.reads.ask("split", lambda db: units.of_prompt(db, prompt), self._go_to_split)
        elif self.shelf.slots:
            self._look()

    def _go_to_split(self, unit_id: int | None) -> None:
        if unit_id is None or unit_id == self.unit_id:  # it could not be done
            self._look()
            return
        self._keep = self._fresh = unit_id
        self.read_list()

    def _look(self) -> None:
        """What is on screen as it is now; the whole list where that changed."""
        shown, unit_id, at = self.shelf.shown(*self.index.places()), self.unit_id or 0, self.cockpit.clock()
        self.reads.ask("look", lambda db: reading.look(db, shown, unit_id, at), self._show_look)
        self._count_questions()

    def _count_questions(self) -> None:
        """Apart from the list, which it would hold up: the questions are of learnings and labels, too."""
        path, at = self.cockpit.db_path, self.cockpit.clock()
        self.reads.ask("questions", lambda db: reading.waiting(db, path, at), self._show_questions)

    def _show_questions(self, waiting: int) -> None:
        if waiting != self.waiting:
            self.waiting = waiting
            self.name_list()

    def _show_look(self, found: Look) -> None:
        self.shelf.fill(found.rows)
        self.index.redraw()
        self._point_out()
        if found.stamp != self.stamp:
            self.read_list()
            return
        self.name_list()
        if found.told.story is not None:
            self._show_story(found.told)

    def read_list(self) -> None:
        query, project, counted = self.filter, self.cockpit.project, not self.search.typing
        self.reads.forget("older", "rest", "number")
        self.reads.ask(
            "list",
            lambda db: (query, episode_views.page(db, None, query, project=project, counted=counted)),
            self._show_list,
        )

    def _count(self) -> None:
        query, project = self.filter, self.cockpit.project
        self.reads.ask("number", lambda db: (query, episode_store.count(db, query, project)), self._show_number)

    def _show_number(self, found: tuple[Filter, int]) -> None:
        query, number = found
        if query is self.filter:
            self.total, self.more = number, False
            self.name_list()

    def read_older(self) -> None:
        query, project, before = self.filter, self.cockpit.project, self.shelf.oldest()
        if before is not None and not self.shelf.complete:
            self.reads.ask(
                "older",
                lambda db: (query, before, episode_views.page(db, before, query, project=project)),
                self._show_older,
            )

    def read_rest(self) -> None:
        query, project, zone, known = self.filter, self.cockpit.project, self.cockpit.zone, list(self.shelf.slots)
        if known and not self.shelf.complete:
            self.reads.forget("older")
            self.reads.ask(
                "rest", lambda db: (query, known[-1], reading.rest(db, known, query, project, zone)), self._show_rest
            )

    # What the answers change

    def _show_list(self, found: tuple[Filter, Page]) -> None:
        query, page = found
        if query is not self.filter:
            return
        keep = self._keep or self.unit_id or 0
        fresh, self._fresh = self._fresh, 0
        older, self.shelf = self.shelf, Shelf(self.cockpit.zone)
        self.shelf.inherit(older)
        self.shelf.fill(page.rows)
        self.shelf.add(page.slots, complete=len(page.slots) < episode_views.PAGE)
        self.total, self.stamp, self.more = page.total, page.stamp, page.more
        if not query:
            self.whole = page.total
        if fresh and query and fresh not in self.shelf.places:
            self.return_to((fresh, False))
            return
        self._keep = keep if keep not in self.shelf.places and not self.shelf.complete and not query else 0
        self.to_end = self.to_end and not self.shelf.complete
        empty = not page.slots and not query
        self.set_class(empty, "-empty")
        if empty:
            self.tell_empty()
        self._arrange(
            self.shelf.places.get(keep, 0 if keep == 0 or query else min(self.index.cursor, len(self.shelf) - 1))
        )
        if self._keep or self.to_end:
            self.read_rest()
        elif self._open_story and keep:
            self._open_story = False
            self.into(self.pane)

    def _arrange(self, cursor: int) -> None:
        """Draw the list anew, and tell the story under the cursor."""
        today = episodes.day_of(self.cockpit.clock(), self.cockpit.zone)
        known = self.shelf

        def draw(place: int, cells: int) -> Line:
            entry = known.entries[place]
            row = known.cached(entry.id)
            if entry.kind != "unit":
                return episodes.heading(entry, row, today, cells, projects=not self.cockpit.project)
            if row is None:
                self._want()
                return [(" ·" * min(12, cells // 2), "rest")]
            return episodes.unit(row, cells, self.cockpit.zone)

        self.index.show(len(known), draw, known.able, max(0, cursor))
        self._point_out()
        self.name_list()
        if self.search.typing:
            self.once_quiet(_TYPED_S, self._rested)
        else:
            self._read_story()

    def _show_older(self, found: tuple[Filter, Slot, Page]) -> None:
        query, before, page = found
        if query is not self.filter or before != self.shelf.oldest():
            return  # asked for twice, or for another list
        selected = self.unit_id
        self.shelf.add(page.slots, complete=len(page.slots) < episode_views.PAGE)
        self._arrange(self.shelf.places.get(selected or 0, self.index.cursor))

    def _show_rest(self, found: tuple[Filter, Slot, Shelf]) -> None:
        query, before, whole = found
        if query is not self.filter or before != self.shelf.oldest():
            return  # as above
        wanted = self._keep if self._keep in whole.places else self.unit_id
        whole.inherit(self.shelf)
        self.shelf = whole
        place = len(whole) - 1 if self.to_end else whole.places.get(wanted or 0, self.index.cursor)
        self._keep, self.to_end = 0, False
        self._arrange(place)

    def _want(self) -> None:
        keys = self.shelf.wanted(*self.index.places())
        known = self.shelf
        if keys:

            def keep(rows: dict[int, EpisodeRow]) -> None:
                known.fill(rows, keys)
                self.index.redraw()
                self._point_out()

            self.call_later(self.reads.ask, f"rows {min(keys)}", lambda db: episode_views.rows(db, keys), keep)

    @on(Lines.Moved, "#episodes")
    def tell_story(self) -> None:
        """Another episode is under the cursor: the strip follows at once, its story once the cursor rests."""
        self._point_out()
        self.once_quiet(self.REST_S, self._rested)

    def _point_out(self) -> None:
        """Where the episode under the cursor stands on the strip."""
        self.band.follow(self.shelf, self.unit_id, self.total, self.cockpit.clock(), self.cockpit.zone)

    @on(Band.Chosen)
    def go_to(self, message: Band.Chosen) -> None:
        """A segment of the strip was clicked."""
        place = self.shelf.places.get(message.unit_id)
        if place is not None:
            self.index.go(place)

    def _rested(self) -> None:
        self._read_story()
        if self.more:
            self._count()

    @on(Lines.Moved, "#story")
    def other_line(self) -> None:
        """Whether a prompt is under the cursor decides what can be done."""
        self.check_keys()

    @on(Lines.Scrolled, "#episodes")
    def read_further(self) -> None:
        """The view nears the oldest episode that is known."""
        if self.index.places()[1] + 200 > len(self.shelf) and not self.shelf.complete:
            self.read_older()

    def wait_for_story(self, action: str) -> bool:
        """A key that comes before the story is there is not lost."""
        if self.told:
            return False
        self._then = (action, self.unit_id)
        self._read_story()
        return True

    def _read_story(self) -> None:
        unit_id = self.unit_id
        if unit_id is None:
            self.pane.tell(None)
            self.telling.border_title = Content("Story")
            self.check_keys()
            return
        at = self.cockpit.clock()
        write = self.pane.writer()

        def work(db: Connection) -> tuple[Told, StoryText | None]:
            found = reading.told(db, unit_id, at)
            return found, write(found.story, found.warned)

        self.reads.ask("story", work, lambda found: self._show_story(*found))

    def _show_story(self, found: Told, text: StoryText | None = None) -> None:
        story = found.story
        if story is not None and story.row.id != self.unit_id:
            return
        self.warned = found.warned
        self.pane.tell(story, found.warned, text)
        (action, unit_id), self._then = self._then, ("", None)
        if action and story is not None and unit_id == story.row.id:
            self.call_later(self.cockpit.action_act, action)
        self.telling.border_title = Content(
            f"Story ─ episode {story.row.id}" if story else "Story ─ this episode is gone"
        )

    def name_list(self) -> None:
        name = f"Episodes ─ {self.about}" if self.about else "Episodes"
        self.frame.border_title = self.titled(name, "" if self.filter else several(self.total, "episode"))
        self.index.hint = NO_MATCH if self.filter and not self.total else ""
        asks = f"? {several(self.waiting, 'question')} · {actions.key_of('review')} answers" if self.waiting else ""
        self.frame.border_subtitle = Content(asks)
        total, waiting = self.total, self.waiting
        self.header.show(lambda cells: _header(total, waiting, self.cockpit.project, cells))

    def nothing_yet(self) -> None:
        self.shelf = Shelf(self.cockpit.zone)
        self._point_out()
        super().nothing_yet()

    @property
    def unit_id(self) -> int | None:
        return self.shelf.unit(self.index.cursor)

    # What the keys do

    def do_bottom(self) -> None:
        if self.active is self.index and not self.shelf.complete:
            self.to_end = True
            self.read_rest()
            return
        super().do_bottom()

    def may_open(self) -> str | None:
        """An episode can be opened, and what was said and done in it."""
        if self.pane.has_focus:
            return None if self.pane.row else "put the cursor on a prompt or a call to open its moment"
        return self.may_copy()

    def may_copy(self) -> str | None:
        """Only an episode."""
        return None if self.unit_id is not None else "no episode here"

    def do_open(self) -> None:
        """Into the story; from there to the moment of what was said or done."""
        if self.pane.has_focus:
            if (row := self.pane.row) and self.story:
                self.cockpit.show_moment(self.story.row.session_id, row.at, row.key)
            return
        self.into(self.pane)

    def give_text(self, take: Take) -> None:
        """The whole story as text, whatever the pane has room for."""
        unit, zone, at, warned = self.unit_id, self.cockpit.zone, self.cockpit.clock(), self.pane.warned

        def give(story: Story | None) -> None:
            if story is not None:
                take(plain(uncut(story, zone, at, warned)))

        if unit is not None:
            self.reads.ask("whole", lambda db: story_views.story(db, unit, whole=True), give)

    def id_here(self) -> str:
        return f"episode/{self.unit_id}" if self.unit_id is not None else ""

    def gather(self) -> Gather:
        """The list, and the story that is told."""
        from nmem_tui.model import exports  # on use: start-up stays short

        app = self.cockpit
        return exports.episodes(self.filter, app.project, self.unit_id or 0, app.clock(), app.zone)

    # The filter, the marks, the way back

    def do_browse_themes(self) -> None:
        from nmem_tui.screens.prompt_dialogs import Themes  # on use: start-up stays short

        def take(chosen: str | None) -> None:
            if chosen:
                number, _, label = chosen.partition(" ")
                self.theme = f"theme:{number}", label
                self.telling.remove_class("-open")
                self.search.put(f"theme:{number}")
                self.set_focus(self.index)

        self.app.push_screen(Themes(self.cockpit.project, self.unit_id or 0), take)

    def do_hot(self) -> None:
        from nmem_tui.screens.hot_dialog import Hot  # on use: start-up stays short

        def take(chosen: str | None) -> None:
            if chosen:
                self.telling.remove_class("-open")
                self.search.put(f"file:{chosen.rpartition(' ')[2]}")
                self.set_focus(self.index)

        self.app.push_screen(Hot(self.cockpit.project, self.unit_id or 0, self.cockpit.clock()), take)

    @property
    def about(self) -> str:
        """What the listed episodes are about, where a theme is chosen."""
        return self.theme[1] if self.theme[0] in self.filtered.split() else ""

    def narrow(self) -> None:
        """Read what the filter leaves; an answer to an older one is dropped."""
        self.filter, self.to_end = Filter(self.filtered), False  # the end that was meant is another list's
        self.read_list()

    def tally(self) -> tuple[int, int, bool]:
        """Episodes that the filter leaves, of all."""
        return self.total, max(self.whole, self.total), self.more

    @property
    def row_key(self) -> int | None:
        return None if self.pane.has_focus else self.unit_id

    def row_keys(self) -> list[int] | None:
        return self.listed_keys() if self.shelf.complete else None

    def listed_keys(self) -> list[int]:
        return [slot.id for slot in self.shelf.slots]

    def spot(self) -> tuple[int, bool]:
        """The episode under the cursor, and whether one is in its story."""
        return self.unit_id or 0, self.pane.has_focus


def _header(total: int, waiting: int, project: str, cells: int) -> Line:
    where = printable(project) if project else "all projects"
    parts: list[tuple[int, Line]] = [
        (0, [(" nmem ▸ ", "quiet"), (where, "title"), (f"   {several(total, 'episode')}", "text")]),
        (1, [(f"   ? {several(waiting, 'open question')}", "warn")] if waiting else []),
        (3, [(" of all projects", "warn")] if waiting and project else []),
        (2, [(f" · {actions.key_of('review')} answers", "quiet")] if waiting else []),
    ]
    return fitting([part for part in parts if part[1]], cells, "")
