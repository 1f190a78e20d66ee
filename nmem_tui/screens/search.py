"""The screen Search: one box over everything, results after every keystroke, the selected hit in full beside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Input

from nmem.ask.hits import NEAREST
from nmem.read import stories, stream
from nmem.read.stories import Story
from nmem.read.stream import Marks
from nmem.search import decisions
from nmem.search.decisions import Decision
from nmem.search.examples import Example
from nmem.search.search import Results
from nmem.text import fit, printable
from nmem_tui.model import lists, search, search_preview, tasks_queries
from nmem_tui.model import search_queries as reading
from nmem_tui.model.actions import key_of
from nmem_tui.model.line import Line, plain
from nmem_tui.model.search_queries import Found, Moment, Shown, Wanted
from nmem_tui.model.story import uncut
from nmem_tui.screens.base import Take
from nmem_tui.screens.search_actions import SearchActions
from nmem_tui.widgets.drawn import Frame, Panel
from nmem_tui.widgets.item_lists import TALL
from nmem_tui.widgets.lines import Lines

if TYPE_CHECKING:
    from nmem_tui.model.exports import Gather

_TYPING_S = 0.06
"""Keys that come faster than this are looked for together."""
_ASKING_S = 0.4
"""The same of a question, which takes longer to answer."""
_FILES_S = 0.5
"""How often is looked whether decisions were read anew, after their files changed."""
_NEAR = 6
"""Lines from the last hit at which the next page is read."""


class Search(SearchActions):
    """What was asked, done, answered, told and learned."""

    def __init__(self) -> None:
        super().__init__()
        self.frame = Frame(id="found")
        self.wanted: Wanted | None = None
        """What is looked for now."""
        self.results: Results | None = None
        """The newest page of it; the list has all of them."""
        self.examples: list[Example] | None = None
        self._next = ""
        self._reading = self._stale = False
        self._newest: dict[str, Marks] = {}
        """What was recorded last at any look, by the database: the demo has its own."""
        self._decided = 0
        """Which reading of the decisions is shown."""
        self._keep = ""
        """The hit that the cursor goes back to."""

    def body(self) -> ComposeResult:
        """The box over its chips, the hits, the preview beside them."""
        self.index.marked = self._is_marked
        yield self.box
        yield self.chips
        yield Panel(id="told")
        with Horizontal(id="searched"):
            with self.frame:
                yield self.index
                yield self.guide
            with self.side:
                yield self.pane
        yield Panel(id="empty")

    def on_mount(self) -> None:
        """The box has the keyboard."""
        self.set_focus(self.box)
        self.side.border_title = Content("Preview")
        self._draw()
        self._take_wanted()
        self._decided = decisions.OPEN.generation
        self.set_interval(_FILES_S, self._look_at_decisions)

    def may_order(self) -> str | None:
        """Only by words can one hit be better than another."""
        alone = self.results is not None and not self.results.query.wanted
        said = "no words to search for: the newest come first anyway" if alone else None
        return super().may_order() or said

    def _is_marked(self, place: int) -> bool:
        hit = place // TALL
        return hit < len(self.hits) and self.hits[hit].id in self.all_marked

    def go_to(self, hit_id: str) -> None:
        """The cursor goes to a hit, at once or when it is listed."""
        if hit_id:
            self.set_focus(self.index)
        else:
            self.arrive()
        place = next((place for place, hit in enumerate(self.hits) if hit.id == hit_id), None)
        if place is None or self.results is None:
            self._keep = hit_id
        else:
            self.index.go(TALL * place)

    def open_wanted(self) -> None:
        if self.is_mounted:
            self._take_wanted()

    def _take_wanted(self) -> None:
        text, self.cockpit.wanted_query = self.cockpit.wanted_query, None
        if text is not None:
            self.put(text)
            self.set_focus(self.box)

    # What is read

    def refresh_data(self) -> None:
        """What works as an example; hits stay as they are while somebody reads them, and say that there is more."""
        if self.examples is None and not self.asking:
            self._read_examples()
        elif self.results is not None and not self._stale:
            wanted = self.wanted
            self.reads.ask("newest", stream.marks, lambda last: self._tell_newer(wanted, last))

    def _tell_newer(self, wanted: Wanted | None, last: Marks) -> None:
        """Say that more was recorded; one's own purge, its undo and what is told of old sessions are not that."""
        known = self._newest.get(self.cockpit.db_path, last)
        if wanted is self.wanted and last.beyond(known):
            self._stale = True
            self._draw_told()

    def _look_at_decisions(self) -> None:
        """Decision files were read anew: what is shown of them follows, with the cursor where it is."""
        if self._decided != decisions.OPEN.generation:
            self._decided = decisions.OPEN.generation
            if any(hit.kind == decisions.KIND for hit in self.hits) or decisions.alone(self.box.value, 0):
                self.look_again()

    def look_again(self) -> None:
        """The person changed something: show it at once, with the cursor where it is."""
        self._keep = self.one.id if self.one else ""
        if self.asking:
            self._look(keep=True)
        self.shown = None

    def _read_examples(self) -> None:
        at, project = self.cockpit.clock(), self.cockpit.project
        self.reads.ask("search", lambda db: reading.examples(db, at, project, lambda: self.asking), self._show_examples)

    @on(Input.Changed, "#box")
    def typing(self, event: Input.Changed) -> None:
        """Look once no key came for a moment; what is looked for meanwhile ends early."""
        if self.wanted is not None and event.value.strip() == self.wanted.text:
            return
        self.wanted = None
        self.once_quiet(_ASKING_S if self.asked_for else _TYPING_S, self.look)

    def look(self) -> None:
        """Look for what stands in the box, from its first page."""
        self._look(keep=False)

    def _look(self, *, keep: bool) -> None:
        self.not_quiet(self.look)
        wanted = Wanted(self.box.value.strip(), self.newest, self.cockpit.clock(), self.cockpit.project)
        self.wanted, self._reading, self._stale = wanted, False, False
        self.reads.forget("further")
        if not keep:
            self._keep = ""
            self.all_marked.clear()
        if not self.asking:
            self.hits, self.results, self._next = [], None, ""
            self._draw()
            if self.examples is None:
                self._read_examples()
            return
        self.reads.ask("search", lambda db: reading.find(db, wanted, "", lambda: wanted is not self.wanted), self._show)
        self._draw_told()

    def further(self) -> None:
        """The page after the last hit."""
        wanted, cursor = self.wanted, self._next
        if wanted is None or not cursor or self._reading:
            return
        self._reading = True
        self.reads.ask(
            "further",
            lambda db: reading.find(db, wanted, cursor, lambda: wanted is not self.wanted),
            self._show_further,
        )

    @on(Lines.Scrolled, "#hits")
    @on(Lines.Moved, "#hits")
    def near_the_end(self) -> None:
        """The view nears the last hit that is listed."""
        if self.asking and self.index.places()[1] + _NEAR >= self.index.count and len(self.hits) < reading.MOST:
            self.further()

    def on_resize(self) -> None:
        """What stands below the last hit is as wide as the list."""
        if self.asking:
            self.call_after_refresh(lambda: self._draw_hits(self.index.hit))

    # What the answers change

    def _show_examples(self, found: list[Example]) -> None:
        self.remove_class("-empty")
        if not self.asking:  # else they ended early
            self.examples = found
            self._draw()

    def _show(self, found: Found) -> None:
        if found.wanted is not self.wanted:
            return
        self.remove_class("-empty")
        self.results, self.hits, self._next = found.results, list(found.results.hits), found.results.next
        path, last = self.cockpit.db_path, found.newest
        self._newest[path] = last.joined(self._newest.get(path, last))
        self._draw()

    def _show_further(self, found: Found) -> None:
        self._reading = False
        if found.wanted is not self.wanted or self.results is None:
            return
        known = {hit.id for hit in self.hits}
        self.hits += [hit for hit in found.results.hits if hit.id not in known]
        self._next = found.results.next
        self._draw_hits(self.index.hit)

    def _draw(self) -> None:
        results = self.results if self.asking else None
        stays = self.has_class("-guide")
        self.set_class(not self.asking, "-guide")
        self.chips.tell(search.chips(self.box.value, results.facets if results else None))
        self.header.show(lambda _cells: search.header(results, self.cockpit.project))
        self._draw_told()
        if not self.asking:
            asked, examples = tuple(self.cockpit.asked), self.examples
            self.guide.tell(lambda cells: search.guide(asked, examples, cells), keep=stays, free=False)
        kept = next((place for place, hit in enumerate(self.hits) if hit.id == self._keep), 0)
        self._keep = ""
        self._draw_hits(kept)

    def _draw_hits(self, at: int) -> None:
        hits, results, now, zone = self.hits, self.results, self.cockpit.clock(), self.cockpit.zone
        where = len({hit.project for hit in hits}) > 1
        cells = max(20, self.index.scrollable_content_region.width - 1)

        def draw(place: int, line: int, room: int) -> Line:
            if line:
                return search.second(hits[place], room, now, zone, where=where)
            return search.first(hits[place], room)

        tail: list[Line] = []
        if results is not None and hits:
            more = bool(self._next) and len(hits) < reading.MOST
            tail = search.tail(results, len(hits), more=more, reading=False, cells=cells)
        elif results is not None and self.asking:
            tail = search.nothing(results, cells)
        self.index.tell(len(hits), draw, tail, max(0, at))
        self.name_list()
        self.preview()
        self.check_keys()

    def _draw_told(self) -> None:
        results, stale, newest = self.results if self.asking else None, self._stale, self.newest
        asking, question = self.asking, self.asked_for
        self.query_one("#told", Panel).show(
            lambda cells, _rows: [
                search.told(results, newest=newest, searching=asking, question=question, stale=stale, cells=cells)
            ]
        )

    def name_list(self) -> None:
        results = self.results if self.asking else None
        if results is None:
            self.frame.border_title = Content("Search")
            self.frame.border_subtitle = Content("")
            return
        text = results.query.text.strip()
        answers = "Nearest" if NEAREST in results.remarks else "Answer"
        what, how = (answers, "to") if self.asked_for else ("Hits", "for")
        about = fit(printable(text.removeprefix("?").strip() if self.asked_for else text), 40)
        self.frame.border_title = Content(lists.title(what, f"{how} “{about}”", "", "", self.marks_told)
                                            if self.all_marked else f"{what} {how} “{about}”")  # fmt: skip
        listed = f"{len(self.hits)} listed" if self._next or len(self.hits) < results.found else ""
        self.frame.border_subtitle = Content(listed)

    @on(Lines.Moved, "#hits")
    def other_hit(self) -> None:
        """Another hit is under the cursor: what it is in full follows once the cursor rests."""
        self.once_quiet(self.REST_S, self._rested)

    def _rested(self) -> None:
        if self.one is None or self.known:
            self.check_keys()  # else that comes with what is read
        self.preview()

    def preview(self) -> None:
        """The hit under the cursor in full, unless it is shown already."""
        one, at = self.one, self.cockpit.clock()
        if one is None:
            self.shown = None
            self.pane.hint = "  the selected hit appears here in full"
            self.pane.tell(lambda cells: [] if self.asking else search.manual(cells), keep=False)
            self.side.border_subtitle = Content("")
            self.side.border_title = Content("Preview" if self.asking else "Query syntax")
        elif self.known is None:
            self.reads.ask("hit", lambda db: reading.shown(db, one, at), self._show_hit)

    def _show_hit(self, found: Shown) -> None:
        one = self.one
        if one is None or found.hit.id != one.id:
            return
        same = self.shown is not None and self.shown.hit.id == one.id
        self.shown = found
        at, zone = self.cockpit.clock(), self.cockpit.zone
        self.side.border_title = Content(search_preview.title(found))
        self.side.border_subtitle = Content(
            f"{key_of('details_down')} {key_of('details_up')} scroll · {key_of('go')} goes there"
        )
        self.pane.tell(lambda cells: search_preview.items(found, cells, at, zone), keep=same)

    def give_text(self, take: Take) -> None:
        """The whole text of a call or a saying, the prompt of a task; of anything else what is told of it."""
        found = self.known
        if isinstance(found.thing if found else None, (Moment, Decision, tasks_queries.Detail)):
            assert found is not None
            take(search_preview.text(found))
        elif found is not None and isinstance(found.thing, Story):
            self._give_story(found.thing.row.id, take)
        elif found is not None:
            take(self.pane.plain())
        elif self.one:
            take(self.one.snippet.text)

    def _give_story(self, unit_id: int, take: Take) -> None:
        zone, at = self.cockpit.zone, self.cockpit.clock()

        def give(story: Story | None) -> None:
            if story is not None:
                take(plain(uncut(story, zone, at)))

        self.reads.ask("whole", lambda db: stories.story(db, unit_id, whole=True), give)

    def id_here(self) -> str:
        """Its id, as commands take it."""
        return search.whole_id(self.one) if self.one else ""

    def gather(self) -> Gather:
        """All hits, as far as a list holds them."""
        from nmem_tui.model import exports  # on use: start-up stays short

        app = self.cockpit
        return exports.search(Wanted(self.box.value.strip(), self.newest, app.clock(), app.project), app.zone)

    def nothing_yet(self) -> None:
        self.set_focus(None)
        super().nothing_yet()
