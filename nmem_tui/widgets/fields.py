"""Places to type in: nothing that a terminal would obey gets into them, be it typed, pasted or from the database."""

from __future__ import annotations

from textual.geometry import Size
from textual.reactive import reactive
from textual.validation import ValidationResult
from textual.widgets import Input

from capture.text import clean


class Field(Input):
    """One line."""

    virtual_size: reactive[Size] = reactive(Size(), layout=False)
    """The library lays the whole screen out anew for each letter; the room for a line stays the same."""

    def validate_value(self, value: str) -> str:
        """Without controls and hidden characters; a line break is a blank."""
        return value if value.isascii() and value.isprintable() else " ".join(clean(value).split("\n"))

    def fill(self, value: str) -> None:
        """Hold this instead, to go on with at its end."""
        self.value = value
        self.cursor_position = len(self.value)

    def update_node_styles(self, animate: bool = True) -> None:
        """Not before it is somewhere: the library styles it anew with the first class that it is made with."""
        if self.is_attached:
            super().update_node_styles(animate)

    def validate(self, value: str) -> ValidationResult | None:
        """Nothing that is typed here is wrong; the library styles it anew as right."""
        return super().validate(value) if self.validators else None
