"""Places to type in: nothing that a terminal would obey gets into them, be it typed, pasted or from the database."""

from __future__ import annotations

from textual.widgets import Input

from capture.text import clean


class Field(Input):
    """One line."""

    def validate_value(self, value: str) -> str:
        """Without controls and hidden characters; a line break is a blank."""
        return value if value.isascii() and value.isprintable() else " ".join(clean(value).split("\n"))
