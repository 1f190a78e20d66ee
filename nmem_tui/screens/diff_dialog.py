"""Dialogs that show a change to the project's instructions or decisions as a diff before writing it.

`y` writes what is shown, and nothing else does: neither the key that opened the dialog nor enter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from sqlite3 import Connection
from typing import TYPE_CHECKING, Any, ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input

from nmem.text import printable
from nmem_tui.model import previews
from nmem_tui.model.learnings import Candidate, Offer, offer
from nmem_tui.model.line import Line
from nmem_tui.screens.modal import SCROLLING, Choice, Dialog, Modal
from nmem_tui.widgets.drawn import Panel
from nmem_tui.widgets.inputs import Field
from nmem_tui.widgets.item_lists import Items

if TYPE_CHECKING:
    from nmem.learn.accept import Plan, Withdrawal
    from nmem.recall.remember import Plan as DecisionPlan

_HINT = "y writes this · e edits the rule · f another file · esc leaves"
_REFUSED = "f another file · e edits the rule · esc leaves"
_TYPING = "enter keeps the words · y, e and f work again then"


class DiffDialog(Modal[Any]):
    """A diff, and whether it shall be so; gives back what was planned."""

    BINDINGS: ClassVar[list[Binding]] = [Binding("y", "confirm", show=False), *SCROLLING]

    told = getters.query_one("#plan", Panel)
    pane = getters.query_one("#diff", Items)

    HINT: ClassVar[str] = "y does this · esc leaves"

    def __init__(self) -> None:
        super().__init__()
        self.trouble = ""

    def compose(self) -> ComposeResult:
        """A box: the file, what else is asked, the diff."""
        with Vertical(id="dialog") as box:
            box.border_title = Content(self.heading())
            box.border_subtitle = Content(self.HINT)
            yield Panel(id="plan")
            yield from self.fields()
            yield Items(id="diff")

    def heading(self) -> str:
        """What would be done."""
        raise NotImplementedError

    def fields(self) -> ComposeResult:
        """What is asked between the file and the diff."""
        yield from ()

    def on_mount(self) -> None:
        """Plan it."""
        self.set_focus(self.pane)
        self.look()

    def look(self) -> None:
        """Read what would be changed."""
        raise NotImplementedError

    def action_confirm(self) -> None:
        """Do what is shown."""
        raise NotImplementedError

    def refuse(self, reason: str) -> None:
        """Say why it cannot be done."""
        self.trouble = reason or "the record no longer exists"
        self.told.show(lambda cells, _rows: previews.trouble(self.trouble, cells))
        self.pane.tell(lambda _cells: [], keep=False)

    def show(self, head: Sequence[Line], lines: Sequence[str], nothing: str) -> None:
        """What it is about, and the diff; or why nothing changes."""
        self.trouble = ""
        self.told.show(lambda _cells, _rows: list(head))
        self.pane.tell(lambda cells: previews.diff_items(lines, cells, nothing), keep=True)

    def action_scroll(self, by: int) -> None:
        """Move through the diff."""
        self.pane.move(by)


class Withdraw(DiffDialog):
    """An accepted learning is opened again: its rule comes out."""

    def __init__(self, learning_id: int, now: int) -> None:
        super().__init__()
        self.learning_id, self.now = learning_id, now

    def heading(self) -> str:
        """The learning by its number."""
        return f"Open learning {self.learning_id} again ─ its rule comes out"

    def look(self) -> None:
        """What its file would lose."""
        from nmem.learn import accept  # on use: start-up stays short

        learning_id, now = self.learning_id, self.now
        self.reads.ask("plan", lambda db: (accept.withdrawal(db, learning_id, now),), self._show)

    def _show(self, found: tuple[Withdrawal | None]) -> None:
        self.planned = found
        planned = found[0]
        head = previews.into(planned.file.name, planned.file.root, "out of") if planned else []
        self.show([head], planned.diff if planned else (), "no file has its rule: it is only reopened")

    planned: tuple[Withdrawal | None] | None = None

    def action_confirm(self) -> None:
        """Open it again."""
        if self.planned is not None and not self.trouble:
            self.dismiss(self.planned)


class Accept(DiffDialog):
    """The rule, the file that it goes into, and what that changes there."""

    BINDINGS: ClassVar[list[Binding]] = [Binding("e", "edit", show=False), Binding("f", "file", show=False)]

    field = getters.query_one("#rule", Input)
    HINT = _HINT

    def __init__(self, learning_id: int, now: int) -> None:
        super().__init__()
        self.learning_id, self.now = learning_id, now
        self.file, self.text = "", ""
        self.plan: Plan | None = None
        self.files: Sequence[Candidate] = ()

    def heading(self) -> str:
        """The learning by its number."""
        return f"Accept learning {self.learning_id} ─ its rule goes into the instructions"

    def fields(self) -> ComposeResult:
        """The rule."""
        yield Field(id="rule", compact=True, placeholder="the rule, in one line", max_length=400)

    def look(self) -> None:
        """What the file would gain."""
        learning_id, now, file, text, here = self.learning_id, self.now, self.file, self.text, str(Path.cwd())
        self.plan = None
        self.reads.ask("plan", lambda db: offer(db, learning_id, now, file, text, here), self._show)

    def _show(self, found: Offer) -> None:
        if found.text != self.text:
            return
        self.plan, self.files = found.plan, found.files
        if not found.text:
            with self.prevent(Input.Changed):
                self.field.value = found.rule
            self.text = found.rule
        if found.plan is None:
            self.refuse(printable(found.trouble))
            rule = found.rule or found.text
            self.pane.tell(lambda cells: previews.diff_items([f" {rule}"], cells, ""), keep=False)
        else:
            there = "a new file in" if found.plan.file.data is None else "in"
            head = [previews.into(found.plan.file.name, found.plan.file.root, "into", there)]
            self.show(head, found.plan.diff, "this file has the rule already: accepting only records that")
        self.hint()

    def on_descendant_focus(self) -> None:
        """Keys mean something else while the rule is edited: say so."""
        self.hint()

    def hint(self) -> None:
        """Which keys do something now."""
        said = _TYPING if self.field.has_focus else _REFUSED if self.trouble else _HINT
        if not self.field.has_focus:
            self.field.cursor_position = 0  # what is cut of a long one is its end
        self.query_one("#dialog", Vertical).border_subtitle = Content(said)

    def action_edit(self) -> None:
        """The rule gets the keyboard; enter gives it back."""
        self.set_focus(self.field)

    @on(Input.Changed, "#rule")
    def other_words(self, event: Input.Changed) -> None:
        """Each keystroke shows what it would write."""
        self.text = " ".join(event.value.split()) or " "
        self.look()

    @on(Input.Submitted, "#rule")
    def keep_words(self) -> None:
        """Back to the diff."""
        self.set_focus(self.pane)

    def action_leave(self) -> None:
        """Out of the rule first, then out of the dialog."""
        if self.field.has_focus:
            self.set_focus(self.pane)
        else:
            self.dismiss(None)

    def action_file(self) -> None:
        """Choose another file of the project."""

        def take(name: str | None) -> None:
            if name:
                self.file = name
                self.look()

        self.app.push_screen(File(self.files), take)

    def action_confirm(self) -> None:
        """Write what is shown, once it is."""
        if self.plan is not None and not self.trouble:
            self.dismiss(self.plan)


class File(Dialog):
    """A file of instructions: one that clients read, or any other Markdown file of the project."""

    TITLE_TEXT = "The rule goes into"
    HINT = "enter takes · or type a path · esc leaves"

    def __init__(self, found: Sequence[Candidate]) -> None:
        super().__init__()
        self.found = found

    def on_mount(self) -> None:
        """Those that are known."""
        super().on_mount()
        self.field.placeholder = "type to filter, or the path of another file"
        self.offer(self._known() or [_NO_FILE])

    def _known(self) -> list[Choice]:
        return [
            Choice(
                [(f"{printable(each.name):<22}", "text"), ("exists" if each.exists else "a new file", "quiet")],
                each.name,
                each.name,
            )
            for each in self.found
        ]

    @on(Input.Changed)
    def add_typed(self, event: Input.Changed) -> None:
        """A path that is typed can be taken as well."""
        typed = event.value.strip()
        known = self._known()
        if typed and typed not in {each.value for each in known} and "." in typed:
            known.append(Choice([(printable(typed), "text"), ("  another file", "quiet")], typed, typed))
        self.choices = known or [_NO_FILE]


_NO_FILE = Choice([("type the path of a Markdown file in a checkout: ~/src/shop/CLAUDE.md", "quiet")], "", None)


class Snooze(Dialog):
    """For how long a learning shall rest."""

    TITLE_TEXT = "Snooze ─ open again after"
    SPANS: ClassVar[dict[str, int]] = {"1 day": 1, "1 week": 7, "1 month": 30}

    def on_mount(self) -> None:
        """Three spans."""
        super().on_mount()
        self.query_one("#dialog").add_class("-small")
        self.offer([Choice([(words, "text")], words, words) for words in self.SPANS])


class Promote(DiffDialog):
    """A decision said in passing, or a skill, becomes an entry of /when or /how; gives back what was planned."""

    BINDINGS: ClassVar[list[Binding]] = [Binding("e", "edit", show=False)]
    HINT = "y writes this · e other words · esc leaves"
    planned: DecisionPlan | None = None

    def __init__(self, what: str, operator: str, trigger: str, plan: Callable[[Connection, str], DecisionPlan]) -> None:
        super().__init__()
        self.what, self.operator, self.trigger, self.plan = what, operator, trigger, plan

    def heading(self) -> str:
        """What it is of, and its situation."""
        return f"Write {self.what} as /{self.operator} {printable(self.trigger)}"

    def look(self) -> None:
        """What the files would become."""
        trigger, plan = self.trigger, self.plan
        self.planned = None
        self.query_one("#dialog", Vertical).border_title = Content(self.heading())
        self.reads.ask("plan", lambda db: plan(db, trigger), self._show)

    def action_edit(self) -> None:
        """Other words for the situation."""
        from nmem_tui.screens.prompt_dialogs import Words  # on use: start-up stays short

        def take(trigger: str | None) -> None:
            if trigger:
                self.trigger = trigger
                self.look()

        self.app.push_screen(Words(situation(self.operator), self.trigger, ""), take)

    def _show(self, planned: DecisionPlan) -> None:
        self.planned = planned
        remarks = [[(f"note: {printable(one)}", "warn")] for one in planned.remarks]
        head = previews.into(planned.file, planned.change.root, "into")
        self.show([head, *remarks], planned.change.diff().splitlines(), "nothing changes")

    def action_confirm(self) -> None:
        """Write it."""
        if self.planned is not None and not self.trouble:
            self.dismiss(self.planned)


def situation(operator: str) -> str:
    """What is asked of a person for an entry."""
    return f"/{operator} ─ what would one type who needs it?"
