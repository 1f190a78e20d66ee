"""Navigation on the screen Episodes: list, story, filter, marks."""

from __future__ import annotations

from textual import on

from nmem.read import stories
from nmem.read.episode_filter import Filter
from nmem.read.stories import Story
from nmem_tui.model import exports
from nmem_tui.model.episodes import Shelf
from nmem_tui.model.exports import Gather
from nmem_tui.model.line import plain
from nmem_tui.model.story import uncut
from nmem_tui.screens.base import Take
from nmem_tui.screens.episode_actions import EpisodeActions
from nmem_tui.widgets.drawn import Frame
from nmem_tui.widgets.lines import Lines
from nmem_tui.widgets.story import StoryPane


class EpisodesNav(EpisodeActions):
    """The part of the screen Episodes that moves."""

    CONTEXT = "episodes"
    OPENS = "list"
    HINT = "!word, is:failed (tests), thread:, theme:, file:, project:"
    TYPING_S = 0.06

    def __init__(self) -> None:
        super().__init__()
        self.index = Lines(id="episodes")
        self.pane = StoryPane()
        self.over = self.telling = Frame(id="telling")
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

    def read_list(self) -> None:
        """Read the list from its newest."""
        raise NotImplementedError

    def read_older(self) -> None:
        """Read the page after the oldest that is known."""
        raise NotImplementedError

    def read_rest(self) -> None:
        """Read the list to its end."""
        raise NotImplementedError

    def name_list(self) -> None:
        """The list's title."""
        raise NotImplementedError

    @property
    def unit_id(self) -> int | None:
        """The episode under the cursor."""
        return self.shelf.unit(self.index.cursor)

    # What the keys do

    @property
    def active(self) -> Lines:
        """Where the keyboard is."""
        return self.pane if self.pane.has_focus else self.index

    def do_bottom(self) -> None:
        """The last row, once all are known."""
        if self.active is self.index and not self.shelf.complete:
            self.to_end = True
            self.read_rest()
            return
        super().do_bottom()

    def do_details_down(self) -> None:
        """Scroll the story."""
        self.pane.move(5)

    def do_details_up(self) -> None:
        """Scroll the story back."""
        self.pane.move(-5)

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
        self.open_story()

    def open_story(self) -> None:
        """Into the story of the episode at the cursor."""
        self.telling.add_class("-open")
        self.set_focus(self.pane)
        self.check_keys()

    @on(Lines.Opened, "#episodes")
    def open_clicked(self) -> None:
        """A second click opens."""
        self.do_open()

    def do_back(self) -> None:
        """Close the innermost thing that is open; where nothing is, the place is kept."""
        if self.pane.has_focus:
            self.telling.remove_class("-open")
            self.set_focus(self.index)
        else:
            self.step_back()
        self.check_keys()

    def give_text(self, take: Take) -> None:
        """The whole story as text, whatever the pane has room for."""
        unit, zone, at, warned = self.unit_id, self.cockpit.zone, self.cockpit.clock(), self.pane.warned

        def give(story: Story | None) -> None:
            if story is not None:
                take(plain(uncut(story, zone, at, warned)))

        if unit is not None:
            self.reads.ask("whole", lambda db: stories.story(db, unit, whole=True), give)

    def id_here(self) -> str:
        """The episode's."""
        return f"episode/{self.unit_id}" if self.unit_id is not None else ""

    def gather(self) -> Gather:
        """The list, and the story that is told."""
        app = self.cockpit
        return exports.episodes(self.filter, app.project, self.unit_id or 0, app.clock(), app.zone)

    # The filter, the marks, the way back

    def do_browse_themes(self) -> None:
        """Choose what the episodes are to be about."""
        from nmem_tui.screens.prompt_dialogs import Themes  # on use: start-up stays short

        def take(chosen: str | None) -> None:
            if chosen:
                number, _, label = chosen.partition(" ")
                self.theme = f"theme:{number}", label
                self.telling.remove_class("-open")
                self.search.put(f"theme:{number}")
                self.set_focus(self.index)

        self.app.push_screen(Themes(self.cockpit.project, self.unit_id or 0), take)

    @property
    def about(self) -> str:
        """What the listed episodes are about, where a theme is chosen."""
        return self.theme[1] if self.theme[0] in self.filtered.split() else ""

    @property
    def home(self) -> Lines:
        """The list."""
        return self.index

    def narrow(self) -> None:
        """Read what the filter leaves; an answer to an older one is dropped."""
        self.filter, self.to_end = Filter(self.filtered), False  # the end that was meant is another list's
        self.read_list()

    def tally(self) -> tuple[int, int, bool]:
        """Episodes that the filter leaves, of all."""
        return self.total, max(self.whole, self.total), self.more

    @property
    def row_key(self) -> int | None:
        """The episode under the list's cursor."""
        return None if self.pane.has_focus else self.unit_id

    def row_keys(self) -> list[int] | None:
        """All that are listed."""
        return self.listed_keys() if self.shelf.complete else None

    def listed_keys(self) -> list[int]:
        """Those that are read so far."""
        return [slot.id for slot in self.shelf.slots]

    def marks_changed(self) -> None:
        """The gutter and the title."""
        self.index.redraw()
        self.name_list()

    def spot(self) -> tuple[int, bool]:
        """The episode under the cursor, and whether one is in its story."""
        return self.unit_id or 0, self.pane.has_focus

    def return_to(self, place: tuple[int, bool]) -> None:
        """To the episode of a place."""
        raise NotImplementedError
