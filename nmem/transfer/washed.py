"""Cleans and redacts texts of imported rows, as for texts from a hook."""

from __future__ import annotations

import json

from capture.redaction import redact, redact_tree
from capture.text import clean


class Washer:
    """Redacts what it is given, and counts."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}

    @property
    def total(self) -> int:
        """How many secrets were taken out."""
        return sum(self.counts.values())

    def value(self, value: object) -> object:
        """A column's value; a text that is JSON stays JSON, byte for byte where nothing is taken out.

        Of a name that stands twice in an object, the first would be stored unseen: the text is made anew without it.
        """
        if not isinstance(value, str) or not value:
            return value
        if value[0] in "{[":
            hidden = 0

            def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
                nonlocal hidden
                found = dict(pairs)
                hidden += len(pairs) - len(found)
                return found

            try:
                tree = json.loads(value, object_pairs_hook=once)
            except (ValueError, RecursionError):
                return self.text(value)
            washed = redact_tree(_cleaned(tree), self.counts)
            return value if washed == tree and not hidden else json.dumps(washed, ensure_ascii=False)
        return self.text(value)

    def text(self, text: str) -> str:
        """A text."""
        return redact(clean(text), self.counts)


def _cleaned(value: object) -> object:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(str(name)): _cleaned(item) for name, item in value.items()}
    return [_cleaned(item) for item in value] if isinstance(value, list) else value
