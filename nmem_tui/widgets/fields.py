"""Places to type in: nothing that a terminal would obey gets into them, be it typed, pasted or from the database."""

from __future__ import annotations

from textual.widgets import Input

from capture.text import clean


class Field(Input):
    """One line."""

    def validate_value(self, value: str) -> str:
        """Without controls and hidden characters; a line break is a blank."""
        return value if value.isascii() and value.isprintable() else " ".join(clean(value).split("\n"))

    def update_node_styles(self, animate: bool = True) -> None:
        """Not before it is somewhere: the library styles it anew with the first class that it is made with."""
        if self.is_attached:
            super().update_node_styles(animate)
