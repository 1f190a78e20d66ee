"""The pane of one episode's story: its lines wrapped to the width, with a cursor that can jump between prompts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import tzinfo
from typing import ClassVar

from nmem.learn.learning import Warned
from nmem.read.stories import Story
from nmem.read.views import StreamRow
from nmem_tui.model.story import StoryText
from nmem_tui.widgets.lines import Lines

_LEAST = 12
"""Cells below which nothing is told."""


class StoryPane(Lines):
    """One story, or a word about why there is none."""

    resting: ClassVar[str] = " "

    def __init__(self) -> None:
        super().__init__(id="story")
        self.zone: tzinfo | None = None
        self.clock: Callable[[], int] = lambda: 0
        self.story: Story | None = None
        self.warned: Sequence[Warned] = ()
        self.text: StoryText | None = None
        self._cells = 0

    def writer(self) -> Callable[[Story | None, Sequence[Warned]], StoryText | None]:
        """What makes the lines of a story for the pane's width, for a thread: a long one takes a while."""
        cells, zone, at = self.scrollable_content_region.width, self.zone, self.clock()

        def write(story: Story | None, warned: Sequence[Warned]) -> StoryText | None:
            return StoryText(story, cells - 1, zone, at, warned) if story and cells >= _LEAST else None

        return write

    def tell(self, story: Story | None, warned: Sequence[Warned] = (), text: StoryText | None = None) -> None:
        """Show this story and what its episode runs into again, from its top unless it is the one that was shown.

        `text`: its lines, where a `writer` made them.
        """
        same = story is not None and self.story is not None and story.row.id == self.story.row.id
        if same and story == self.story and tuple(warned) == tuple(self.warned):
            return
        place = self.cursor if same else 0
        if not same:
            self.scroll_to(y=0, animate=False, immediate=True, force=True)
        self.story, self.warned = story, warned
        self._build(place, text)

    def _build(self, place: int, text: StoryText | None = None) -> None:
        self._cells = self.scrollable_content_region.width
        if self.story is None or self._cells < _LEAST:
            self.text = None
            self.show(0, lambda _place, _cells: [])
            return
        if text is None or text.cells != self._cells - 1:
            text = StoryText(self.story, self._cells - 1, self.zone, self.clock(), self.warned)
        self.text = text
        self.show(len(text), text.line, None, place)

    def on_resize(self) -> None:
        """Another width, other lines; the prompt under the cursor stays under it."""
        if self.story is not None and self.scrollable_content_region.width != self._cells:
            prompt = self.prompt
            self._build(self.cursor)
            place = self.text.place_of(prompt) if self.text and prompt else None
            if place is not None:
                self.go(place)
        super().on_resize()

    @property
    def prompt(self) -> int | None:
        """The prompt under the cursor."""
        return self.text.prompt(self.cursor) if self.text else None

    @property
    def row(self) -> StreamRow | None:
        """The recorded row under the cursor."""
        return self.text.row(self.cursor) if self.text else None

    @property
    def decision(self) -> int | None:
        """The decision under the cursor."""
        return self.text.decision(self.cursor) if self.text else None

    @property
    def path(self) -> str:
        """The file under the cursor; empty: none."""
        return self.text.path(self.cursor) if self.text else ""

    def to_prompt(self, step: int) -> bool:
        """Go to the next prompt, or the one before; whether there is one."""
        place = self.text.next_prompt(self.cursor, step) if self.text else None
        if place is not None:
            self.go(place, below=self.page())
        return place is not None
