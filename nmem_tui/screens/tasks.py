"""The screen Tasks: running, waiting and finished tasks, with the selected one in full beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content

from nmem.dispatch.read import Place
from nmem.dispatch.task import Task
from nmem_tui.model import actions, tasks
from nmem_tui.model import tasks_queries as reading
from nmem_tui.model.tasks_queries import Detail, Listing
from nmem_tui.operations.processes import take_up
from nmem_tui.screens.base import Take
from nmem_tui.screens.list_screen import SCROLLED
from nmem_tui.screens.task_actions import TaskActions
from nmem_tui.widgets.drawn import Frame, Panel
from nmem_tui.widgets.item_lists import Items, Tail
from nmem_tui.widgets.lines import Lines

if TYPE_CHECKING:
    from nmem_tui.model.exports import Gather

_TICK_S = 1.0
"""The output of one that runs is looked at this often."""
_TAKE_UP, _AGES = 5, 10
"""Ticks after which ends are brought in, and after which ages have moved on."""


class Tasks(TaskActions):
    """The queue of work for coding clients."""

    OPENS = "tasks"
    EVERY_S = 0.3
    HINT = "words of prompt, state, project, client; !word"

    def __init__(self) -> None:
        super().__init__()
        self.index: Items = Items(id="tasks")
        self.pane: Items = Items(id="task")
        self.tail = Tail(id="tail")
        self.over = self.side = Frame(id="side")
        self.queue = Frame(id="queue")
        self.listing: Listing | None = None
        self.listed: dict[int, tuple[Task, Place | None]] = {}
        self.detail: Detail | None = None
        self._ticks = 0

    def body(self) -> ComposeResult:
        """The list; beside it the task under the cursor over what it says."""
        self.index.marked = lambda place: int(self.index.items[place].key or 0) in self.all_marked
        with Horizontal(id="tasking"):
            with self.queue:
                yield self.search
                yield Panel(id="task-heads")
                yield self.index
            with self.side:
                yield self.pane
                yield self.tail
        yield Panel(id="empty")

    def on_mount(self) -> None:
        """The list has the keyboard; what ended unseen is brought in."""
        self.pane.border_title = Content("Task")
        self.set_focus(self.index)
        self.set_interval(_TICK_S, self._tick)
        self._take_up()

    # What is read

    def on_screen_resume(self) -> None:
        """A task that another screen made may be waiting to be shown."""
        if self.cockpit.wanted_task and self.listing is not None:
            self.read_list()

    def read_list(self) -> None:
        """What is queued, at work and over, in one visit."""
        at = self.cockpit.clock()
        self.reads.ask("tasks", lambda db: reading.listing(db, at), self._show)

    def _read_detail(self) -> None:
        one, place = self.one, self.place
        if one is None:
            self._show_detail(None)
            self.check_keys()
        else:
            self.reads.ask("task", lambda db: reading.detail(db, one.id, place), self._show_detail)

    def _tick(self) -> None:
        """While something runs: what it says now, whether it has ended, how long it is at it."""
        self._ticks += 1
        if not self.is_current or self.listing is None:
            return
        if self.one is not None and self.one.live:
            self._read_detail()
        if self.listing.live and self._ticks % _TAKE_UP == 0:
            self._take_up()
        if self._ticks % _AGES == 0:
            self.read_list()

    def _take_up(self) -> None:
        if self.cockpit.read_only:
            return
        path = self.cockpit.db_path
        self.run_worker(lambda: take_up(path), group="take-up", thread=True, exit_on_error=False)

    # What the answers change

    def _show(self, found: Listing) -> None:
        self.listing = found
        self.listed = {one.id: (one, None) for one in (*found.live, *found.over)}
        self.listed |= {each.task.id: (each.task, each) for each in found.queued}
        self.show_live((found.counts.get("running", 0), found.counts.get("needs-input", 0)))
        self.header.show(lambda cells: tasks.header(found.counts, cells))
        self.set_class(not found.total, "-empty")
        if not found.total:
            self.tell_empty()
        self.draw_list()
        if wanted := self.cockpit.wanted_task:
            self.cockpit.wanted_task = 0
            self.go_to(wanted)

    def draw_list(self) -> None:
        """Draw the list anew with the cursor on the task where it was, and tell what is under it."""
        found = self.listing
        if found is None:
            return
        at, zone = self.cockpit.clock(), self.cockpit.zone
        first = not self.index.count
        self.index.hint = f"  no task is left: {actions.key_of('new_task')} writes one"
        self.index.tell(lambda _cells: tasks.items(found, at, zone), keep=not first, free=False)
        self.query_one("#task-heads", Panel).show(lambda cells, _: [[(" ", "text"), *tasks.columns(cells - 2)]])
        self.name_list()
        self._read_detail()
        self.check_keys()

    def name_list(self) -> None:
        total = tasks.total(self.listing) if self.listing and not self.filtered else ""
        self.queue.border_title = self.titled("Tasks", total)

    def _show_detail(self, found: Detail | None) -> None:
        one = self.one
        if one is None or (found is not None and found.task.id != one.id):
            if one is None:
                self.detail = None
                self.pane.tell(lambda _cells: [], keep=False)
                self.pane.border_title = Content("Task")
                self.set_class(False, "-says")
            return
        same = self.detail is not None and found is not None and self.detail.task.id == found.task.id
        if found is None or (same and found == self.detail and not found.task.live):
            return
        old, self.detail = self.detail if same else None, found
        at, zone = self.cockpit.clock(), self.cockpit.zone
        self.pane.border_title = Content(tasks.title(found.task, 60))
        self.pane.tell(lambda cells: tasks.detail_items(found, cells, at, zone), keep=same)
        self.set_class(bool(found.output.strip()) or found.task.live, "-says")
        self.tail.hint = "  no output yet" if found.task.live else "  no output"
        if old is None or old.output != found.output:
            self.tail.grow(lambda cells: tasks.output(found.output, cells), fresh=not same)
        self.name_output()

    def name_output(self) -> None:
        """Say of the output whether it follows, and which key makes it whole or closes it."""
        if self.detail is not None:
            title = tasks.output_title(self.detail.task, following=self.tail.following)
            self.tail.border_title = Content(title)
            self.tail.border_subtitle = Content(
                "esc closes" if self.has_class("-output") else f"{actions.key_of('output')} whole"
            )

    def nothing_yet(self) -> None:
        self.listing, self.listed = None, {}
        super().nothing_yet()
        self.header.show(lambda cells: tasks.header({}, cells))

    def gather(self) -> Gather:
        """The queue, and the task under the cursor with all that it said last."""
        from nmem_tui.model import exports  # on use: start-up stays short

        app = self.cockpit
        return exports.tasks(self.words, self.one.id if self.one else 0, self.place, app.clock(), app.zone)

    def chosen(self) -> list[Task]:
        if not self.marked:
            return [self.one] if self.one else []
        meant = set(self.meant)
        return [one for key, (one, _) in self.listed.items() if key in meant]

    # What is under the cursor

    @property
    def one(self) -> Task | None:
        return self._under()[0]

    @property
    def place(self) -> Place | None:
        """Where it stands in the queue."""
        return self._under()[1]

    def _under(self) -> tuple[Task | None, Place | None]:
        item = self.index.item
        return self.listed.get(int(item.key), (None, None)) if item and item.kind else (None, None)

    @property
    def known(self) -> Detail | None:
        """All that is kept of it; None until that is read."""
        found = self.detail
        return found if found and self.one and found.task.id == self.one.id else None

    def go_to(self, task_id: int) -> None:
        """Put the cursor on a task; a filter that hides it is taken off."""
        if task_id in self.listed and not any(item.key == str(task_id) for item in self.index.items):
            self.unfilter()
        for place, item in enumerate(self.index.items):
            if item.kind and item.key == str(task_id):
                self.index.go(place)
                return
        self.cockpit.say(f"task/{task_id} is not in the list", severity="warning")

    @on(Lines.Moved, "#tasks")
    def tell_about(self) -> None:
        """Another task is under the cursor: what is kept of it follows once the cursor rests."""
        self.once_quiet(self.REST_S, self._read_detail)

    @on(Lines.Moved, "#task")
    def other_line(self) -> None:
        """Whether a link is under the cursor decides what can be done."""
        self.check_keys()

    @on(Lines.Moved, "#tail")
    def moved_in_output(self) -> None:
        """Further up it is not followed."""
        self.name_output()

    @property
    def active(self) -> Lines:
        return next((each for each in (self.tail, self.pane) if each.has_focus), self.index)

    def do_details_down(self) -> None:
        """Scroll what is told of it, or its output where that is whole."""
        (self.tail if self.has_class("-output") else self.pane).move(SCROLLED)

    def do_details_up(self) -> None:
        (self.tail if self.has_class("-output") else self.pane).move(-SCROLLED)

    def may_open(self) -> str | None:
        """A task can be opened, and what it names."""
        if self.one is None:
            return tasks.none_here()
        if self.tail.has_focus:
            return "this is the output: esc closes it"
        if not self.pane.has_focus:
            return None
        item = self.pane.item
        return None if item and item.kind else "put the cursor on a session, a task or a learning"

    def do_open(self) -> None:
        """Into what is told of it; from there to its session, another task, its learning."""
        item = self.pane.item
        if not self.pane.has_focus:
            self.into(self.pane)
        elif item is None:
            return
        elif item.kind == tasks.SESSION:
            self.cockpit.show_session(item.key)
        elif item.kind == tasks.LEARNING:
            self.cockpit.show_learning(int(item.key))
        elif item.kind == tasks.TASK:
            self.cockpit.leave()
            self.uncover()
            self.go_to(int(item.key))

    def may_copy(self) -> str | None:
        """Only of a task."""
        return None if self.one else tasks.none_here()

    def may_output(self) -> str | None:
        """Only of one that has said something, or may at any moment."""
        if self.one is None:
            return tasks.none_here()
        said = self.tail.count or self.one.live or self.has_class("-output")
        return (
            None
            if said
            else "it has no output" + ("" if self.one.over else f" yet: {actions.key_of('run_task')} starts it")
        )

    def do_output(self) -> None:
        if self.has_class("-output"):
            self.uncover()
        else:
            self.add_class("-output")
            self.into(self.tail)
            self.name_output()

    def give_text(self, take: Take) -> None:
        """The output where that has the keyboard, else the whole prompt."""
        if self.tail.has_focus and self.known:
            take(tasks.plain_text(self.known.output))
        elif self.known:
            take(tasks.plain_text(self.known.task.prompt))

    def id_here(self) -> str:
        return f"task/{self.one.id}" if self.one else ""

    def do_editor(self) -> None:
        """A prompt that may be changed comes back into the form; anything else is a copy to read."""
        if not self.tail.has_focus and self.cockpit.why_not("edit_task") is None:
            self.edit_with(self.cockpit.edit_out)
        else:
            super().do_editor()

    # The filter, the marks, the way back

    @property
    def row_key(self) -> int | None:
        return self.one.id if self.one and not self.pane.has_focus and not self.tail.has_focus else None

    def row_keys(self) -> list[int]:
        return [int(item.key) for item in self.index.items if item.kind]

    def spot(self) -> tuple[int, bool]:
        """The task under the cursor, and whether one is in it."""
        return (self.one.id if self.one else 0), self.pane.has_focus

    def return_to(self, place: tuple[int, bool]) -> None:
        task_id, inside = place
        self.uncover()
        self.go_to(task_id)
        if inside:
            self.into(self.pane)

    @property
    def clickable(self) -> tuple[Lines, ...]:
        """Tasks, and what one names."""
        return self.index, self.pane

    def do_back(self) -> None:
        """Close the innermost thing that is open; where nothing is, the place is kept."""
        if self.has_class("-output"):
            self.uncover()
        else:
            super().do_back()

    def uncover(self) -> None:
        """Close what lies over the queue."""
        self.remove_class("-output")
        super().uncover()
        self.name_output()
        self.check_keys()
