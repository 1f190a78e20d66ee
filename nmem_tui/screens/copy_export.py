"""Copying and exporting from a numbered screen: the text at the cursor, its id, the whole view."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from nmem_tui.model.exports import Gather
    from nmem_tui.screens.host import Host
    from nmem_tui.store.access import Reads

Take = Callable[[str], None]


class CopyExport:
    """The part of a screen that gives."""

    CONTEXT: ClassVar[str]
    reads: Reads

    @property
    def cockpit(self) -> Host:
        """The app."""
        raise NotImplementedError

    def give_text(self, take: Take) -> None:
        """Hand the text under the cursor, whole, to who asked for it; it may have to be read first."""
        raise NotImplementedError

    def id_here(self) -> str:
        """The id of what is under the cursor, as `nmem tui` takes it; nothing where there is none."""
        return ""

    def gather(self) -> Gather:
        """What reads the whole view."""
        raise NotImplementedError

    def do_copy(self) -> None:
        """The text to the clipboard."""
        self.give_text(self.cockpit.copy_out)

    def may_copy(self) -> str | None:
        """Whether there is any."""
        return None

    def may_editor(self) -> str | None:
        """Whatever can be copied can be read in an editor."""
        return self.may_copy()

    def do_editor(self) -> None:
        """The text in the person's editor, as a copy."""
        self.give_text(self.cockpit.edit_out)

    def may_copy_id(self) -> str | None:
        """Only of what has one."""
        return None if self.id_here() else "there is nothing with an id under the cursor"

    def do_copy_id(self) -> None:
        """The id to the clipboard."""
        self.cockpit.copy_out(self.id_here())

    def do_export(self) -> None:
        """Ask what it shall become, then read it whole."""
        from nmem_tui.screens.prompt_dialogs import Export  # on use: start-up stays short

        def take(how: str | None) -> None:
            if how:
                form, _, place = how.partition(" ")
                gather, view = self.gather(), self.CONTEXT
                self.reads.ask(
                    "export", lambda db: gather(db).written(form),
                    lambda content: self.cockpit.export_out(view, content, form, place),
                )  # fmt: skip

        self.cockpit.push_screen(Export(self.CONTEXT.capitalize()), take)
