"""Moving through the screen Tasks: its list, what is told of one, its output, and where that leads."""

from __future__ import annotations

from textual import on
from textual.containers import Vertical
from textual.widgets import Input

from nmem_tui.model import tasks_detail
from nmem_tui.model.learnings import Words
from nmem_tui.screens.moving import Moving
from nmem_tui.screens.tasks_acting import TasksActing
from nmem_tui.widgets.items import Items
from nmem_tui.widgets.lines import Lines
from nmem_tui.widgets.tail import Tail

_NOTHING = "there is no task here: n writes one"


class TasksMoving(Moving, TasksActing):
    """The part of the screen Tasks that moves."""

    def __init__(self) -> None:
        super().__init__()
        self.index, self.pane, self.tail = Items(id="tasks"), Items(id="task"), Tail(id="tail")
        self.side = Vertical(id="side")
        self.search = Input(id="seek-tasks", placeholder="words of prompt, state, project, client; !word", compact=True)
        self.words = Words()

    def draw_list(self) -> None:
        """Draw the list anew."""
        raise NotImplementedError

    def go_to(self, task_id: int) -> None:
        """Put the list's cursor on a task."""
        raise NotImplementedError

    @property
    def active(self) -> Lines:
        """Where the keyboard is."""
        return next((each for each in (self.tail, self.pane) if each.has_focus), self.index)

    def do_details_down(self) -> None:
        """Scroll what is told of it, or its output where that is whole."""
        (self.tail if self.has_class("-output") else self.pane).move(5)

    def do_details_up(self) -> None:
        """Scroll it back."""
        (self.tail if self.has_class("-output") else self.pane).move(-5)

    def may_open(self) -> str | None:
        """A task can be opened, and what it names."""
        if self.one is None:
            return _NOTHING
        if self.tail.has_focus:
            return "this is its output: esc closes it"
        if not self.pane.has_focus:
            return None
        item = self.pane.item
        return None if item and item.kind else "put the cursor on a session, a task or a learning"

    def do_open(self) -> None:
        """Into what is told of it; from there to its session, another task, its learning."""
        item = self.pane.item
        if not self.pane.has_focus:
            self._into(self.pane)
        elif item is None:
            return
        elif item.kind == tasks_detail.SESSION:
            self.cockpit.show_session(item.key)
        elif item.kind == tasks_detail.LEARNING:
            self.cockpit.show_learning(int(item.key))
        elif item.kind == tasks_detail.TASK:
            self._close()
            self.go_to(int(item.key))

    def may_look(self) -> str | None:
        """Only of a task."""
        return None if self.one else _NOTHING

    may_copy = may_look

    def do_look(self) -> None:
        """Open what is told of it, or close that."""
        if self.active is self.index:
            self._into(self.pane)
        else:
            self._close()

    def may_output(self) -> str | None:
        """Only of one that has said something, or may at any moment."""
        if self.one is None:
            return _NOTHING
        said = self.tail.count or self.one.live or self.has_class("-output")
        return None if said else "it has said nothing" + ("" if self.one.over else " yet: r runs it")

    def do_output(self) -> None:
        """Its output over the whole screen, or back."""
        if self.has_class("-output"):
            self._close()
        else:
            self.add_class("-output")
            self._into(self.tail)

    def _into(self, lines: Lines) -> None:
        self.side.add_class("-open")
        self.set_focus(lines)
        self.check_keys()

    @on(Lines.Opened, "#tasks")
    def open_clicked(self) -> None:
        """A second click opens."""
        self.do_open()

    @on(Lines.Opened, "#task")
    def follow_link(self) -> None:
        """A second click goes there."""
        if not self.may_open():
            self.do_open()

    def do_copy(self) -> None:
        """The output where that has the keyboard, else the whole prompt."""
        if self.tail.has_focus and self.known:
            self.cockpit.copy_out(tasks_detail.plain_text(self.known.output))
        elif self.known:
            self.cockpit.copy_out(tasks_detail.plain_text(self.known.task.prompt))

    def do_back(self) -> None:
        """Close the innermost thing that is open."""
        if self.active is not self.index or self.has_class("-output"):
            self._close()
        elif self.search.display:
            self.search.value = ""
            self.search.display = False
            self.set_focus(self.index)
        else:
            self.do_top()
        self.check_keys()

    def _close(self) -> None:
        self.remove_class("-output")
        self.side.remove_class("-open")
        self.set_focus(self.index)
        self.check_keys()

    def do_filter(self) -> None:
        """Type a filter."""
        self._close()
        self.search.display = True
        self.set_focus(self.search)

    @on(Input.Changed, "#seek-tasks")
    def seek(self, event: Input.Changed) -> None:
        """Each keystroke filters anew."""
        if event.value.strip() != self.words.text:
            self.words = Words(event.value)
            self.draw_list()

    @on(Input.Submitted, "#seek-tasks")
    def keep_words(self) -> None:
        """Back to the tasks that are left."""
        if not self.words:
            self.search.display = False
        self.set_focus(self.index)
