"""The pane with all fields of one stream row (a prompt or call): beside the stream if there is room, else over it."""

from __future__ import annotations

import json
from datetime import tzinfo

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from nmem.read.views import StreamRow
from nmem.text import lines as text_lines
from nmem.text import printable
from nmem_tui.model import actions, stream
from nmem_tui.model.figures import day, duration, several
from nmem_tui.model.line import Line
from nmem_tui.model.stream import outcome, word
from nmem_tui.widgets.drawn import content

_LABELS = 3
"""Labels on the first of their two lines."""


def fields(row: StreamRow, zone: tzinfo | None) -> list[tuple[str, str, str]]:
    """Name, value and tone of what is known."""
    how, tone = outcome(row)
    changed = " ".join(part for part in (f"+{row.added}" if row.added is not None else "",
                                         f"−{row.removed}" if row.removed is not None else "") if part)  # fmt: skip
    known = [
        ("when", day(row.at, zone), "text"),
        ("what", _what(row), "text"),
        ("path", printable(row.path), "strong"),
        ("outcome", how, tone),
        ("exit code", "" if row.exit_code is None else str(row.exit_code), "text"),
        ("took", duration(row.duration_ms), "text"),
        ("lines", changed, "text"),
        ("repeated", f"{several(row.repeats, 'more time')} within five minutes" if row.repeats else "", "text"),
        *_labels(row),
        ("by", "a helper agent" if row.agent else "", "agent"),
        ("tool", printable(row.tool), "quiet"),
    ]
    return [(name, value, tone) for name, value, tone in known if value]


def _what(row: StreamRow) -> str:
    """The word on screen, and the stored one where it is another."""
    shown = word(row.word)[0]
    return shown if shown == row.word else f"{shown} ({printable(row.word)})"


def _labels(row: StreamRow) -> list[tuple[str, str, str]]:
    """Each dimension's word with its score, and which of them the person set; over two lines, as they are as many."""
    if len(row.labels) != len(stream.POLES):
        return []
    mine = stream.by_person(row.labelled_by)
    said = [
        f"{name} ~"
        if score is None
        else f"{stream.label_word(name, score)} {'by you' if name in mine else f'{abs(score):.2f}'}"
        for name, score in zip(stream.POLES, row.labels, strict=True)
    ]
    return [("labels", " · ".join(said[:_LABELS]), "text"), ("", " · ".join(said[_LABELS:]), "text")]


def _value(value: object) -> list[str]:
    """Words and short lists as one reads them, what is deeper as JSON."""
    if isinstance(value, str):
        return text_lines(value, 60)
    if isinstance(value, list) and value and all(map(_plain, value)):
        return text_lines(", ".join(map(str, value)), 60)
    if isinstance(value, dict) and value and all(map(_plain, value.values())):
        return text_lines(", ".join(f"{name} {each}" for name, each in value.items()), 60)
    return text_lines(json.dumps(value, ensure_ascii=False, indent=2, default=str), 60)


def _plain(value: object) -> bool:
    return (isinstance(value, str) and "\n" not in value) or (
        isinstance(value, int | float) and not isinstance(value, bool)
    )


def describe(row: StreamRow, zone: tzinfo | None) -> list[Line]:
    """The whole row: its fields, its text with its own line breaks, and what else was noted."""
    out: list[Line] = [[(f"{name:<10}", "quiet"), (value, tone)] for name, value, tone in fields(row, zone)]
    out.append([])
    out += [[(text, "text")] for text in text_lines(row.text, 600)]
    for name, value in row.meta.items():
        first, *rest = _value(value) or [""]
        out += [[], [(f"{printable(str(name))}  ", "quiet"), (first, "text")], *([(text, "text")] for text in rest)]
    return out


class Details(VerticalScroll):
    """The pane; hidden until a row is opened."""

    can_focus = False

    def __init__(self, zone: tzinfo | None) -> None:
        super().__init__(id="details")
        self.zone = zone
        self.border_title = Content("Details")
        self.border_subtitle = Content(
            f"esc closes · {actions.key_of('details_down')} {actions.key_of('details_up')} scroll"
        )
        self.key: int | None = None
        self._row: StreamRow | None = None

    def compose(self) -> ComposeResult:
        """One long text."""
        yield Static(id="description", markup=False)

    def show(self, row: StreamRow) -> None:
        """Show this row, from its top."""
        if row.key != self.key:
            self.scroll_home(animate=False)
        self.key = row.key
        if row == self._row:
            return  # another size, or a new row below: what it shows would be laid out anew
        self._row = row
        self.query_one("#description", Static).update(content(describe(row, self.zone)))
