"""Actions on tasks: new, edit, run, approve, cancel, retry, attach, remove. Nothing runs unasked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from sqlite3 import Connection
from typing import TYPE_CHECKING

from nmem.dispatch import act, read
from nmem.dispatch.read import Place
from nmem.dispatch.task import Task
from nmem.text import fit, fit_path, pad, printable
from nmem_tui.messages import Changed
from nmem_tui.model import actions, tasks
from nmem_tui.model.figures import several
from nmem_tui.model.line import Line
from nmem_tui.model.now_cards import flat
from nmem_tui.model.tasks_queries import Detail
from nmem_tui.operations import processes
from nmem_tui.screens.list_screen import ListScreen

if TYPE_CHECKING:
    from nmem_tui.model.task_form import Draft

_CELLS = 70
_NAMED = 8
"""So many tasks are named in a question."""


class TaskActions(ListScreen):
    """The part of the screen Tasks that changes things."""

    CONTEXT = "tasks"
    ALONE = frozenset({"run_task", "edit_task", "attach", "output", "copy_id"})
    TOGETHER = frozenset({"approve_task", "cancel_task", "retry_task", "purge"})

    @property
    def covered(self) -> bool:
        """Whether what is told of one task, or its output, lies over the queue."""
        return super().covered or self.has_class("-output")

    @property
    def one(self) -> Task | None:
        """The task under the cursor."""
        raise NotImplementedError

    @property
    def known(self) -> Detail | None:
        """All that is kept of it; None until that is read."""
        raise NotImplementedError

    @property
    def place(self) -> Place | None:
        """Where it stands in the queue."""
        raise NotImplementedError

    def chosen(self) -> list[Task]:
        """The marked tasks, else the one under the cursor."""
        raise NotImplementedError

    def _those(self, verb: str) -> list[Task]:
        """Those of the chosen that a verb applies to."""
        return [one for one in self.chosen() if verb in act.able(one)]

    def _able(self, verb: str, otherwise: Callable[[Task], str]) -> str | None:
        if self.marked:
            return None if self._those(verb) else f"none of the {len(self.marked)} marked ones allows that"
        one = self.one
        if one is None:
            return tasks.none_here()
        return None if verb in act.able(one) else otherwise(one)

    # New and changed

    def do_new_task(self) -> None:
        from nmem_tui.screens import task_form  # on use: start-up stays short

        task_form.new(self.cockpit)

    def may_edit_task(self) -> str | None:
        """Not while it runs."""
        return self._able(
            "edit", lambda one: f"the task is {one.state}: {actions.key_of('cancel_task')} cancels it first"
        )

    def do_edit_task(self) -> None:
        self.edit_with(None)

    def edit_with(self, editor: Callable[[str, Callable[[str], None]], None] | None) -> None:
        """The form; the editor has the prompt before where one is given. It is read whole: a list keeps it short."""
        one = self.one
        if one is None:
            return

        def whole(db: Connection) -> Task | None:
            return read.task(db, one.id)

        def edit(found: Task | None) -> None:
            if found is None or editor is None:
                self._edit(found)
            else:
                editor(found.prompt, lambda prompt: self._edit(found, prompt))

        self.reads.ask("whole", whole, edit)

    def _edit(self, one: Task | None, prompt: str | None = None) -> None:
        from nmem_tui.model import task_form  # on use: start-up stays short
        from nmem_tui.screens.task_form import TaskForm

        if one is None:
            self.cockpit.say("this task is gone", severity="warning")
        elif self.is_current:
            form = TaskForm(f"Task {one.id} ─ {one.state}", task_form.of_task(one), task=one, prompt=prompt)
            self.app.push_screen(form, lambda left: self._edited(one, form.first, left))

    def _edited(self, one: Task, before: Draft, left: Draft | int | None) -> None:
        if not isinstance(left, int) and left not in (None, before):
            self.cockpit.say(f"task {one.id} is unchanged: your text was dropped")
        self.look_again()

    # Run, cancel, retry, remove

    def may_run_task(self) -> str | None:
        """Only what is queued and waits for no other task."""
        if self.cockpit.demo:
            return "the demo runs nothing"
        return self._able("run", self._why_not_run)

    def _why_not_run(self, one: Task) -> str:
        if one.waits_for:
            return f"it waits for {tasks.names(one.waits_for)}"
        return f"the task is {one.state}" + (
            f": {actions.key_of('retry_task')} queues it again" if one.over else " already"
        )

    def do_run_task(self) -> None:
        one, path = self.one, self.cockpit.db_path
        if one is None:
            return
        at, zone = self.cockpit.clock(), self.cockpit.zone
        held = self.place if self.place and self.place.waits not in ("ready", "needs") else None
        said = self._about(one)
        if held:
            said += [[], [("! ", "warn"), (f"{tasks.waits(held, at, zone)}: it starts all the same", "text")]]

        def start() -> Changed:
            return processes.start(path, one.id)

        self._ask(f"Run task {one.id} now?", said, "starts it", f"task/{one.id} is being started", start)

    def _about(self, one: Task) -> list[Line]:
        where = "a worktree of its own at " if one.worktree else ""
        client = f"{flat(one.client)}{', stays open for you' if one.interactive else ''}"
        rows = [("task", flat(one.title)), ("client", client),
                ("in", where + fit_path(printable(one.cwd), _CELLS - 8 - len(where)))]  # fmt: skip
        return [[(pad(name, 8), "quiet"), (fit(text, _CELLS - 8), "text")] for name, text in rows]

    def _ask(self, title: str, said: Sequence[Line], does: str, begun: str, work: Callable[[], Changed]) -> None:
        """Ask; what takes a while is then done in a thread."""
        from nmem_tui.screens.confirm_dialog import ConfirmTask  # on use: start-up stays short

        def take(yes: bool | None) -> None:
            if yes:
                self.cockpit.say(begun)
                self.cockpit.aside(work)
                self.unmark()

        self.app.push_screen(ConfirmTask(title, said, does), take)

    def _ask_all(self, verb: str, what: str, work: Callable[[str, Sequence[int]], Changed]) -> None:
        """Ask about all marked ones; those to which it does not apply are said, and left alone."""
        those, path = self._those(verb), self.cockpit.db_path
        ids = [one.id for one in those]
        said: list[Line] = [[(pad(f"task/{one.id}", 10), "quiet"), (fit(flat(one.title), _CELLS - 10), "text")]
                            for one in those[:_NAMED]]  # fmt: skip
        if len(those) > _NAMED:
            said.append([(f"and {len(those) - _NAMED} more", "quiet")])
        said += [[], [(f"each {what}", "warn")]]
        if left := len(self.marked) - len(those):
            said.append([(f"{left} of the marked ones stay as they are", "quiet")])

        def do() -> Changed:
            return work(path, ids)

        does = f"{verb}s {'them' if len(ids) > 1 else 'it'}"
        self._ask(f"{verb.capitalize()} {several(len(ids), 'task')}?", said, does, f"{several(len(ids), 'task')} …", do)

    def may_approve_task(self) -> str | None:
        """Only what an agent queued and nobody has let run yet."""
        return self._able("approve", lambda one: f"the task needs no approval: it is {one.state}")

    def do_approve_task(self) -> None:
        """Let it run: the key is the answer, and what it asks for stands beside it."""
        ids = [one.id for one in self._those("approve")]

        def change(db: Connection, now: int) -> str:
            for each in ids:
                act.approve(db, each, now)
            return f"{tasks.names(ids)} {'is' if len(ids) == 1 else 'are'} approved: a runner takes what is due"

        if ids:
            self.cockpit.change(change)
            self.unmark()

    def may_cancel_task(self) -> str | None:
        """Only what is not over."""
        return self._able("cancel", lambda one: f"already over: the task {_was(one)}")

    def do_cancel_task(self) -> None:
        if self.marked:
            self._ask_all("cancel", "is cancelled", processes.cancel_many)
            return
        one, path, found = self.one, self.cockpit.db_path, self.known
        if one is None:
            return
        said = self._about(one)
        if one.live:
            said += [[], [("its client and all that it started are asked to end, and killed after 5 s", "warn")]]
        if found and found.waiting:
            said += [[], [("cancelled with it: ", "warn"), (fit(tasks.names(found.waiting), _CELLS - 20), "text")]]

        def cancel() -> Changed:
            return processes.cancel(path, one.id)

        self._ask(f"Cancel task {one.id}?", said, "cancels it", f"task/{one.id} is being cancelled", cancel)

    def may_retry_task(self) -> str | None:
        """Only what is over."""
        return self._able("retry", lambda one: f"the task is {one.state}: only finished tasks can be retried")

    def do_retry_task(self) -> None:
        if self.marked:
            self.cockpit.change(processes.retry([one.id for one in self._those("retry")]))
            self.unmark()
            return
        one = self.one
        if one is None:
            return

        def change(db: Connection, now: int) -> str:
            ids = act.retry(db, one.id, now)
            are = "is" if len(ids) == 1 else "are"
            return f"{tasks.names(ids)} {are} queued again: {actions.key_of('run_task')} starts it now"

        self.cockpit.change(change)

    def may_purge(self) -> str | None:
        """Only what does not run."""
        return self._able(
            "remove", lambda one: f"the task is {one.state}: {actions.key_of('cancel_task')} cancels it first"
        )

    def do_purge(self) -> None:
        """See what goes with it, then forget it with its history; u brings it back for a while."""
        those = self._those("remove") if self.marked else [self.one] if self.one else []
        found = self.known
        if not self.marked and found and found.waiting and found.task.state != "succeeded":
            waits = f"{tasks.names(found.waiting)} waits for it: cancel or edit that first"
            self.cockpit.say(waits, severity="warning")
            return
        places = [one.worktree_path for one in those if one.worktree_path]
        stays = f"its worktree stays: {places[0]}" if len(places) == 1 else f"{len(places)} worktrees stay"
        self.purge([f"task/{one.id}" for one in those], stays if places else "")

    # Being in its pane

    def may_attach(self) -> str | None:
        """Only where there is something to attach to."""
        return self._able("attach", _no_pane)

    def do_attach(self) -> None:
        """Copy the command that brings one into its pane, or into its session once it is over."""
        if self.one:
            self.cockpit.copy_out(f"nmem task attach {self.one.id}")
            what = "its pane" if self.one.live else "its session"
            self.cockpit.say(f"copied: nmem task attach {self.one.id} · run it in another terminal to enter {what}")


def _was(one: Task) -> str:
    return {"failed": "failed", "cancelled": "was cancelled", "timed-out": "ran out of time"}.get(one.state, one.state)


def _no_pane(one: Task) -> str:
    if one.live:
        return f"the task runs without a terminal: {actions.key_of('output')} shows what it says"
    return "it has no session to attach to" if one.over else f"it is queued: {actions.key_of('run_task')} starts it"
