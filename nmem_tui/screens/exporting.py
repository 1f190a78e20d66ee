"""What a whole view shall become: text or JSON, a file or the clipboard."""

from __future__ import annotations

from typing import ClassVar

from nmem.text import pad
from nmem_tui.screens.dialog import Choice, Dialog

_FORMS = (("text", "as it reads"), ("json", "its rows with their ids"))
_PLACES = (("file", "into a new file here"), ("clipboard", "to the clipboard"))


class Export(Dialog):
    """Gives back the form and the place: `text file`."""

    HINT: ClassVar[str] = "enter takes · esc leaves"

    def __init__(self, name: str) -> None:
        self.TITLE_TEXT = f"Export ─ {name}"  # type: ignore[misc]
        super().__init__()

    def on_mount(self) -> None:
        """Four ways."""
        super().on_mount()
        self.offer([
            Choice([(pad(form.upper() if form == "json" else form, 6), "key"), (f"{where}: {what}", "text")],
                   f"{form} {place} {where} {what}", f"{form} {place}")
            for place, where in _PLACES for form, what in _FORMS
        ])  # fmt: skip
