"""A whole view, taken out of the cockpit: as text and as data, beyond what fits on the screen."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from sqlite3 import Connection

from nmem.text import printable, to_json
from nmem_tui.model.line import Line, plain

MOST = 5_000
"""Rows of a list that are taken out; where there are more, the text and the data say so."""
CELLS = 120
"""Cells of a line of text."""


@dataclass(frozen=True, slots=True)
class Exported:
    """One view."""

    view: str
    title: str
    lines: tuple[Line, ...]
    data: Mapping[str, object]

    def written(self, form: str) -> str:
        """As text, or as JSON; that of a long list takes a moment."""
        return self.json() if form == "json" else self.text()

    def text(self) -> str:
        """As it would be read."""
        return f"{printable(self.title)}\n\n{plain(self.lines).rstrip()}\n"

    def json(self) -> str:
        """As another program takes it."""
        whole = {"view": self.view, "title": self.title, **self.data}
        return to_json(data(whole), indent=2) + "\n"


Gather = Callable[[Connection], Exported]
"""Reads what the view shows, all of it up to MOST rows."""


def data(value: object) -> object:
    """What JSON has a form for: records become objects with the names of their fields."""
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: data(getattr(value, each.name)) for each in fields(value) if not each.name.startswith("_")}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return data(value._asdict())
    if isinstance(value, Mapping):
        return {str(key): data(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset | array):
        return [data(each) for each in value]
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def with_id(kind: str, number: object, value: object) -> dict[str, object]:
    """A record with its id as commands take it."""
    made = data(value)
    return {**(made if isinstance(made, dict) else {"value": made}), "id": f"{kind}/{number}"}


def heading(text: str) -> list[Line]:
    """A line that begins a part."""
    return [[], [(text, "title")]]


def all_lines(*parts: Iterable[Line]) -> tuple[Line, ...]:
    """Parts one after the other."""
    return tuple(line for part in parts for line in part)
