"""The list of sessions: which one shall the cockpit show?"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import tzinfo
from sqlite3 import Connection

from textual import on

from nmem.read import views
from nmem.read.views import SessionRow
from nmem.stance import rows
from nmem.text import fit, pad, printable, width
from nmem_tui.messages import Loaded, ReadFailed
from nmem_tui.model.figures import age, day, several
from nmem_tui.model.line import Line, length
from nmem_tui.screens.dialog import Choice, Dialog
from nmem_tui.store.reads import Reads

FOLLOW = Choice([("↻ ", "accent"), ("follow the newest session", "strong")], "follow newest auto", "")
_FRESH_MS = 30 * 60_000
_WIDE, _NARROW, _NARROWEST = 112, 60, 36
"""Fewer cells than these have no room for branch and client, for the calls, or for the project."""
_BOTH = 40
"""Cells in which the last prompt has room beside the first."""
_Found = tuple[list[SessionRow], Mapping[str, int]]
"""The sessions, and the calls of each, where that is known."""


class Sessions(Dialog):
    """All sessions, newest first."""

    TITLE_TEXT = "Sessions"

    def __init__(self, current: str) -> None:
        super().__init__()
        self.current = current
        self.reads = Reads(self, lambda: self.app.db_path)  # type: ignore[attr-defined]

    def on_mount(self) -> None:
        """Read them."""
        super().on_mount()
        project = self.app.project  # type: ignore[attr-defined]
        self.reads.ask("sessions", lambda db: _read(db, project), self._offer_all)

    @on(Loaded)
    def hand_out(self, message: Loaded) -> None:
        """They were read."""
        if then := self.reads.done(message):
            then(message.value)

    @on(ReadFailed)
    def tell(self, message: ReadFailed) -> None:
        """They could not be read."""
        self.offer([Choice([("✗ ", "bad"), (printable(message.reason), "text")], "", None)])

    def _offer_all(self, found: _Found) -> None:
        sessions, calls = found
        at = self.app.clock()  # type: ignore[attr-defined]
        self.offer([FOLLOW, *(self._choice(row, at, calls.get(row.id)) for row in sessions)])

    def _choice(self, row: SessionRow, at: int, calls: int | None) -> Choice:
        here, zone = row.id == self.current, self.app.zone  # type: ignore[attr-defined]
        words = f"{row.project} {row.branch} {row.client} {row.name} {row.intent} {'live' if _live(row, at) else ''}"
        return Choice(lambda cells: [_line(row, calls, at, cells, zone, here=here)], printable(words), row.id)


def _read(db: Connection, project: str) -> _Found:
    found = views.sessions(db, 200, project)
    return found, rows.counts(db, [row.id for row in found])


def _live(row: SessionRow, at: int) -> bool:
    return row.state != "ended" and at - row.last_at < _FRESH_MS


def _line(row: SessionRow, calls: int | None, at: int, cells: int, zone: tzinfo | None, *, here: bool) -> Line:
    """One session by what it was begun for; branch and client give way first, then the last prompt, calls, project."""
    line: Line = [("▸" if here else " ", "accent"), ("● ", "good") if _live(row, at) else ("○ ", "quiet")]
    if cells >= _NARROWEST:
        line.append((pad(printable(row.project), 18 if cells >= _WIDE else 12) + " ", "strong"))
    if cells >= _WIDE:
        line.append((pad(printable(row.branch), 12) + " ", "accent"))
        line.append((pad(printable(row.client), 9) + " ", "text"))
    when = day(row.last_at, zone)[:16] if cells >= _WIDE else age(at - row.last_at)
    line.append((pad(when, 16 if cells >= _WIDE else 5, right=True) + "  ", "quiet"))
    if cells >= _NARROW:
        told = "" if calls is None else several(calls, "call")
        line.append((f"{pad(told, 10, right=True)}  ", "quiet"))
    name, last = _flat(row.name) or "no prompt", _flat(row.intent)
    room = cells - length(line)
    if last in ("", name) or room < _BOTH:
        return [*line, (name, "text")]
    name = fit(name, max(room * 2 // 3, room - width(last) - 8))
    return [*line, (name, "text"), (f"  last: {last}", "quiet")]


def _flat(text: str) -> str:
    return printable(" ".join(text.split()))
