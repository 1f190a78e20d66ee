"""The task form, empty or filled in from a learning or an episode; saving queues the task, and starts nothing."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from sqlite3 import Connection
from typing import TYPE_CHECKING, Any, ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import DescendantFocus, Paste
from textual.widgets import Input, TextArea

from capture.text import clean
from nmem.dispatch import files
from nmem.dispatch.task import CLIENTS, LONGEST, NewTask
from nmem.errors import NmemError
from nmem.read.stories import task_left
from nmem.text import printable
from nmem_tui.messages import Changed
from nmem_tui.model import actions, symbols, task_form
from nmem_tui.model.figures import several
from nmem_tui.model.line import Line, cut, wrap
from nmem_tui.model.task_form import Checked, Draft
from nmem_tui.screens.modal import Modal
from nmem_tui.store.access import Writes, beside
from nmem_tui.widgets.drawn import Panel
from nmem_tui.widgets.inputs import Choice, Field

if TYPE_CHECKING:
    from nmem.dispatch.task import Task
    from nmem_tui.screens.host import Host

_CHECK_S = 0.12
_CHOICES = {"client": CLIENTS, "worktree": ("no", "yes"), "stays": ("no", "yes")}
_LINES = ("folder", "after", "priority", "needs", "retries", "limit", "quiet")
_ROWS = ("client", "folder", "worktree", "stays", "after", "quiet", "limit", "needs", "priority", "retries")
_HINT = "ctrl+s or enter in a field %s · esc leaves · ctrl+e editor"
Begin = Callable[[Connection, int], NewTask]


class Prompt(TextArea):
    """Several lines to type in; what is pasted is cleaned of what a terminal would obey."""

    async def _on_paste(self, event: Paste) -> None:
        await super()._on_paste(Paste(clean(event.text)[:LONGEST]))
        event.stop()
        event.prevent_default()


class TaskForm(Modal[Draft | int | None]):
    """Gives back the number of the task that was queued or changed, else the draft as it was left."""

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[Binding]] = [
        Binding("ctrl+s", "take", show=False, priority=True),
        Binding("ctrl+e", "editor", show=False, priority=True),
        Binding("tab", "app.focus_next", show=False, priority=True),
        Binding("shift+tab", "app.focus_previous", show=False, priority=True),
    ]

    prompt = getters.query_one("#prompt", Prompt)
    told = getters.query_one("#told", Panel)

    def __init__(
        self, title: str, draft: Draft, *, task: Task | None = None, begin: Begin | None = None,
        prompt: str | None = None, gone: str = "",
    ) -> None:  # fmt: skip
        super().__init__()
        self.edited_prompt = prompt
        """What an editor made of the prompt; None: it stands as it was."""
        self.title_text, self.first, self.edited, self.begin = title, draft, task, begin
        self.gone = gone
        """The folder that it would run in, were it still there."""
        self.instead = ("", "")
        """The folder that stands for it, and what is said of that."""
        self.base: NewTask | None = None
        self.writes = Writes(self.post_message, read_only=self.cockpit.read_only)
        self.checked: Checked | None = None
        self.failed = ""
        """Why it could not be queued."""
        self.insisted = False
        """Whether the person tried to queue it: then an empty field is wrong as well."""
        self.busy = False
        self._made = 0
        self._timer: Any = None

    def compose(self) -> ComposeResult:
        """The prompt, one line a field, and what is wrong."""
        does = "changes it" if self.edited else "queues it"
        with Vertical(id="dialog", classes="-form") as box:
            box.border_title = Content(printable(self.title_text))
            box.border_subtitle = Content(_HINT % does)
            begun = self.first.prompt if self.edited_prompt is None else self.edited_prompt[:LONGEST]
            yield Prompt(
                clean(begun), id="prompt", compact=True, highlight_cursor_line=False,
                placeholder="What is to be done? The client gets exactly this text.",
            )  # fmt: skip
            for name in _ROWS:
                with Horizontal(classes="field"):
                    yield Panel(self._label(name), classes="label")
                    yield self._field(name)
                    yield Panel(self._aside(name), id=f"aside-{name}", classes="aside")
            yield Panel(id="told")

    def _field(self, name: str) -> Input | Choice:
        value: str = asdict(self.first)[name]
        if name in _CHOICES:
            return Choice(_CHOICES[name], value, id=name)
        return Field(
            value, compact=True, max_length=1000, id=name, select_on_focus=False, placeholder=task_form.EMPTY[name]
        )

    def _label(self, name: str) -> Callable[[int, int], list[Line]]:
        def draw(_cells: int, _rows: int) -> list[Line]:
            here = self.is_mounted and self.query_one(f"#{name}").has_focus
            tone = "bad" if name in self._shown_wrong() else "strong" if here else "quiet"
            return [[("▌" if here else " ", "accent"), (name, tone)]]

        return draw

    def _aside(self, name: str) -> Callable[[int, int], list[Line]]:
        def draw(cells: int, _rows: int) -> list[Line]:
            if wrong := self._shown_wrong().get(name):
                return [cut([("✗ ", "bad"), (printable(wrong), "text")], cells)]
            known = self._known
            if name == "folder" and known and known.project:
                return [cut([("project ", "quiet"), (known.project, "good")], cells)]
            return [cut([(symbols.keys(task_form.HINTS[name]), "quiet")], cells)]

        return draw

    def on_mount(self) -> None:
        """The prompt has the keyboard, its end the cursor."""
        self.prompt.cursor_blink = False
        self.set_focus(self.prompt)
        self.prompt.move_cursor(self.prompt.document.end)
        if self.begin is not None:
            begin, now = self.begin, self.cockpit.clock()
            self.reads.ask("begun", lambda db: begin(db, now), self._begun)
        if gone := self.gone:
            here = self.first.folder
            self.reads.ask("instead", lambda db: task_form.instead(db, gone, here), self._instead)
        self.look()

    def _begun(self, made: NewTask) -> None:
        """What it is made of was read."""
        self.base = made
        draft = task_form.of_new(made, self.first.client)
        self.prompt.load_text(clean(draft.prompt))
        self.query_one("#folder", Field).fill(draft.folder)
        self.look()

    def _instead(self, found: tuple[str, str]) -> None:
        """Another folder was found, unless the person has named one meanwhile."""
        field = self.query_one("#folder", Field)
        if field.value == self.first.folder:
            self.instead = found
            field.fill(found[0])
            self.say()

    @property
    def draft(self) -> Draft:
        """What stands in the fields now."""
        texts = {name: self.query_one(f"#{name}", Input).value for name in _LINES}
        words = {name: self.query_one(f"#{name}", Choice).value for name in _CHOICES}
        return Draft(prompt=self.prompt.text, **texts, **words)

    @property
    def _before(self) -> Draft | None:
        return self.first if self.edited else None

    def _meant(self) -> task_form.Meant:
        return task_form.meant(self.draft, self.cockpit.clock(), self._before)

    def _wrong(self) -> dict[str, str]:
        if not self.is_mounted:
            return {}
        wrong = dict(self._meant().wrong)
        if not self.insisted and not self.prompt.text.strip():
            wrong.pop("prompt", None)
        return wrong

    @property
    def _known(self) -> Checked | None:
        """What the checks said of it as it stands now."""
        return self.checked if self.checked and self.checked.draft == self.draft else None

    def _shown_wrong(self) -> dict[str, str]:
        """What is wrong by field, also what only a look at the files tells."""
        wrong, known = self._wrong(), self._known
        if known and known.no_folder:
            wrong.setdefault("folder", known.no_folder)
        return wrong

    # What is said of it while it is typed

    @on(DescendantFocus)
    def mark_field(self) -> None:
        """The label says which field has the keyboard."""
        self.say()

    @on(TextArea.Changed)
    @on(Input.Changed)
    @on(Choice.Changed)
    def look(self) -> None:
        """Each change is looked at: at once what can be told at once, the rest once the person rests."""
        self.failed = ""
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(_CHECK_S, self._check)
        self.say()

    def _new(self) -> NewTask | None:
        """The task as it would be, for what is checked; None while something is wrong."""
        meant = self._meant()
        if meant.wrong:
            return None
        if self.edited is None:
            return task_form.new_task(self.base, meant.values)
        one = self.edited
        kept = NewTask(one.prompt, one.cwd, client=one.client, needs=one.needs, worktree=one.worktree)
        return task_form.new_task(kept, meant.values)

    def _check(self) -> None:
        self._timer = None
        draft, new, number = self.draft, self._new(), self.edited.id if self.edited else 0
        if new is not None:
            self.reads.ask("check", lambda db: task_form.checked(db, draft, new, number), self._checked)
        else:
            self.reads.ask("check", lambda db: task_form.placed(db, draft), self._checked)

    def _checked(self, found: Checked) -> None:
        self.checked = found
        self.say()

    def refuse(self, reason: str) -> None:
        """It could not be read; without a database there is nothing to check against."""
        if reason:
            self.failed = reason
            self.say()

    def say(self) -> None:
        """What is wrong, in place: beside its field, and in one line below."""
        if not self.is_mounted:
            return
        wrong = self._shown_wrong()
        for name in _ROWS:
            self.query_one(f"#aside-{name}", Panel).parent.set_class(name in wrong, "-wrong")  # type: ignore[union-attr]
        for panel in self.query(Panel):
            panel.refresh()
        self.told.show(self._tell)

    def _tell(self, cells: int, _rows: int) -> list[Line]:
        known, wrong = self._known, self._shown_wrong()
        if self.busy:
            return [[("…", "quiet")]]
        trouble = self.failed or wrong.get("prompt", "") or (known.wrong if known else "")
        if said := trouble or "; ".join(f"{name}: {printable(why)}" for name, why in wrong.items()):
            rows = wrap(said, cells - 2, 3)
            return [[("✗ " if not place else "  ", "bad"), (row, "text")] for place, row in enumerate(rows)]
        if known and known.secrets:
            said = f"{several(known.secrets, 'secret')} in it: the client is given a placeholder instead"
            return [cut([("! ", "warn"), (said, "text")], cells)]
        if self.instead[1] and self.query_one("#folder", Input).value == self.instead[0]:
            rows = wrap(self.instead[1], cells - 2, 3)
            return [[("! " if not place else "  ", "warn"), (row, "text")] for place, row in enumerate(rows)]
        return [cut([("saving only queues it: nothing starts by itself", "quiet")], cells)]

    # How it ends

    @on(Input.Submitted)
    def action_take(self) -> None:
        """Queue it, or change it; what is wrong keeps the form open."""
        self.insisted = True
        meant = self._meant()
        if meant.wrong or self.busy:
            first = next(iter(meant.wrong), "")
            self.say()
            if first:
                self.set_focus(self.query_one(f"#{first}"))
            return
        if "folder" in self._shown_wrong():
            self.set_focus(self.query_one("#folder"))  # it is tried all the same: the folder may be there by now
        self.busy, self.failed = True, ""
        self.say()
        values, base, task = dict(meant.values), self.base, self.edited
        path, now = self.cockpit.db_path, self.cockpit.clock()

        def change(db: Connection, at: int) -> str:
            from nmem.dispatch import act  # on use: start-up stays short

            if "cwd" in values:
                values["cwd"] = task_form.folder(db, values["cwd"])
            if task is None:
                made = act.add(db, task_form.new_task(base, values), at)
                runs = f"{actions.key_of('run_task')} starts it now, `nmem task run` all that is due"
                where = (
                    ""
                    if made.worktree or values.get("worktree") is False
                    else "; it runs in its folder itself, in no git"
                )
                said = f"task/{made.id} is {made.state}: {runs}{where}"
            else:
                made = act.edit(db, task.id, values, at)
                said = f"task/{made.id} is {'changed' if made != task else 'as it was'}"
            self._made = made.id
            return said

        beside(self, self.writes.begin(path, change, now), "change")

    @on(Changed)
    def done(self, message: Changed) -> None:
        """It is queued; or it could not be, and everything stands as it was typed."""
        self.busy = False
        if message.failed:
            self.failed = printable(message.text)
            self.say()
            return
        self.cockpit.say(message.text)
        self.dismiss(self._made)

    def action_editor(self) -> None:
        """The prompt in the person's editor; what is left there stands in the form."""

        def take(text: str) -> None:
            if not self.is_attached:
                return
            left = clean(text).rstrip("\n")
            if len(left) > LONGEST:
                self.cockpit.say(f"a prompt has at most {LONGEST:,} characters: the rest was cut", severity="warning")
            self.prompt.load_text(left[:LONGEST])
            self.prompt.move_cursor(self.prompt.document.end)
            self.set_focus(self.prompt)
            self.look()

        self.cockpit.edit_out(self.prompt.text, take)

    def action_leave(self) -> None:
        """Queue nothing."""
        self.dismiss(self.draft)


def new(app: Host) -> None:
    """An empty one, or as it was left."""
    gone = app.session.root if app.session and not app.draft and not _is_there(app) else ""
    _open(app, "New task", app.draft or Draft(client=_client(), folder=_folder(app)), None, gone)


def of_learning(app: Host, learning_id: int) -> None:
    """What keeps going wrong, with what was recorded of it."""

    def begin(db: Connection, now: int) -> NewTask:
        return files.of_learning(db, learning_id, now)

    _open(app, f"New task ─ about learning {learning_id}", Draft(client=_client()), begin)


def of_episode(app: Host, unit_id: int) -> None:
    """What an episode left to do."""

    def begin(db: Connection, now: int) -> NewTask:  # noqa: ARG001 -- nothing of it is dated
        return task_left(db, unit_id)

    _open(app, f"New task ─ goes on with episode {unit_id}", Draft(client=_client()), begin)


def _open(app: Host, title: str, draft: Draft, begin: Begin | None, gone: str = "") -> None:
    def take(made: Draft | int | None) -> None:
        if isinstance(made, int):
            app.wanted_task = made
            if begin is None:
                app.draft = None
            app.look_again()
        elif begin is None:
            app.draft = made if made and made.prompt.strip() else None
            if app.draft not in (None, draft):
                app.say(f"your text is kept: {actions.key_of('new_task')} continues it")

    app.push_screen(TaskForm(title, draft, begin=begin, gone=gone), take)


def _client() -> str:
    """As configured; the first one where that cannot be read."""
    from nmem.dispatch.config import load  # on use: start-up stays short

    try:
        return load().client
    except NmemError:
        return Draft().client


def _is_there(app: Host) -> bool:
    """Whether the folder of the session that is shown is there."""
    one = app.session
    return one is not None and os.path.isdir(one.root)  # noqa: PTH112 -- says no, too, of one that may not be looked at


def _folder(app: Host) -> str:
    """Of the session that is shown, while it is there; else the one that the cockpit was started in."""
    return app.session.root if app.session and _is_there(app) else _here()


def _here() -> str:
    try:
        return str(Path.cwd())
    except OSError:
        return ""
