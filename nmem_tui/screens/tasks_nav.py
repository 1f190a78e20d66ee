"""Navigation on the screen Tasks: list, detail, output, and from a task to its session or learning."""

from __future__ import annotations

from textual import on

from nmem_tui.model import actions, tasks
from nmem_tui.screens.base import Take
from nmem_tui.screens.task_actions import TaskActions
from nmem_tui.widgets.drawn import Frame
from nmem_tui.widgets.item_lists import Items, Tail
from nmem_tui.widgets.lines import Lines


class TasksNav(TaskActions):
    """The part of the screen Tasks that moves."""

    HINT = "words of prompt, state, project, client; !word"

    def __init__(self) -> None:
        super().__init__()
        self.index, self.pane, self.tail = Items(id="tasks"), Items(id="task"), Tail(id="tail")
        self.over = self.side = Frame(id="side")

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
            self._into(self.pane)
        elif item is None:
            return
        elif item.kind == tasks.SESSION:
            self.cockpit.show_session(item.key)
        elif item.kind == tasks.LEARNING:
            self.cockpit.show_learning(int(item.key))
        elif item.kind == tasks.TASK:
            self.cockpit.leave()
            self._close()
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

    def name_output(self) -> None:
        """Say of the output whether it follows, and which key makes it whole or closes it."""
        raise NotImplementedError

    def do_output(self) -> None:
        """Its output over the whole screen, or back."""
        if self.has_class("-output"):
            self._close()
        else:
            self.add_class("-output")
            self._into(self.tail)
            self.name_output()

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

    def give_text(self, take: Take) -> None:
        """The output where that has the keyboard, else the whole prompt."""
        if self.tail.has_focus and self.known:
            take(tasks.plain_text(self.known.output))
        elif self.known:
            take(tasks.plain_text(self.known.task.prompt))

    def id_here(self) -> str:
        """The task's."""
        return f"task/{self.one.id}" if self.one else ""

    def do_editor(self) -> None:
        """A prompt that may be changed comes back into the form; anything else is a copy to read."""
        if not self.tail.has_focus and self.cockpit.why_not("edit_task") is None:
            self.edit_with(self.cockpit.edit_out)
        else:
            super().do_editor()

    def do_back(self) -> None:
        """Close the innermost thing that is open; where nothing is, the place is kept."""
        if self.active is not self.index or self.has_class("-output"):
            self._close()
        else:
            self.step_back()
        self.check_keys()

    def _close(self) -> None:
        self.remove_class("-output")
        self.side.remove_class("-open")
        self.name_output()
        self.set_focus(self.index)
        self.check_keys()

    uncover = _close

    # The filter, the marks, the way back

    @property
    def home(self) -> Lines:
        """The list."""
        return self.index

    def narrow(self) -> None:
        """List what the filter leaves."""
        self.index.narrow(self.words)
        self.name_list()
        self.tell_about()

    def tally(self) -> tuple[int, int, bool]:
        """Tasks that the filter leaves, of all that were read."""
        return self.index.taken, self.index.whole, False

    @property
    def row_key(self) -> int | None:
        """The task under the list's cursor."""
        return self.one.id if self.one and not self.pane.has_focus and not self.tail.has_focus else None

    def row_keys(self) -> list[int]:
        """All that are listed."""
        return [int(item.key) for item in self.index.items if item.kind]

    def marks_changed(self) -> None:
        """The gutter and the title."""
        self.index.refresh()
        self.name_list()

    def name_list(self) -> None:
        """The list's title."""
        raise NotImplementedError

    def tell_about(self) -> None:
        """Another task may be under the cursor."""
        raise NotImplementedError

    def spot(self) -> tuple[int, bool]:
        """The task under the cursor, and whether one is in it."""
        return (self.one.id if self.one else 0), self.pane.has_focus

    def return_to(self, place: tuple[int, bool]) -> None:
        """To the task of a place."""
        task_id, inside = place
        self._close()
        self.go_to(task_id)
        if inside:
            self._into(self.pane)
