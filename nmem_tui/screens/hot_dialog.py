"""The dialog Hot: a project's hottest files, its hot folders, or what git moved; gives back what was chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from sqlite3 import Connection
from typing import ClassVar

from textual.binding import Binding
from textual.content import Content

from nmem import hot, structure
from nmem.hot import bar, remark
from nmem.text import fit_path, pad, printable
from nmem_tui.model.figures import day, several
from nmem_tui.model.line import Line
from nmem_tui.model.symbols import Sign
from nmem_tui.screens.modal import LEGEND, NOT_RECORDED, Choice
from nmem_tui.screens.prompt_dialogs import Listed
from nmem_tui.screens.reason_dialogs import Why

VIEWS = ("files", "folders", "moved")
_FILES, _FOLDERS = 100, 40
_BAR, _WIDE = 10, 100
_WIDTHS = (5, 6, 7, 5, 9, 7)


SIGNS = (
    Sign("{full}", "heat, 0 to 100: edits, failures and edits taken back of late; the hottest file has 100", "bar"),
    Sign("edits", "so often sessions edited it", "quiet"),
    Sign("failed", "so often an edit failed, or a test, build or command after one", "quiet"),
    Sign("back", "so many edits were taken back", "quiet"),
    Sign("sessions", "so many sessions worked on it", "quiet"),
    Sign("people", "so many people committed to it; – where the repository is not here", "quiet"),
    Sign("gone", "it is not in the checkout any more", "quiet"),
    Sign("was …", "git moved or renamed it", "quiet"),
    Sign("lockfile", "lockfiles, generated files and scratch stand below all others", "quiet"),
    Sign("57%", "of a folder: its part of the project's heat", "text"),
)


@dataclass(frozen=True, slots=True)
class _Found:
    """What was read of a project."""

    project: str
    spots: list[hot.Spot]
    changes: list[structure.Change]


class Hot(Listed):
    """Type to filter; enter lists the episodes of a file or folder."""

    HINT: ClassVar[str] = "enter its episodes · ^o why · tab folders, moved · f1 words · esc leaves"
    SIGNS = SIGNS
    BINDINGS: ClassVar[list[Binding]] = [  # type: ignore[assignment]
        Binding("tab", "turn(1)", show=False, priority=True),
        Binding("shift+tab", "turn(-1)", show=False, priority=True),
        Binding("ctrl+o", "why", show=False, priority=True),
        LEGEND,
    ]

    def __init__(self, project: str, unit_id: int, now: int) -> None:
        self.view = VIEWS[0]
        self.found: _Found | None = None

        def read(db: Connection) -> _Found | None:
            known = hot.project(db, project, unit_id)
            if known is None:
                return None
            return _Found(known.name, hot.hot(db, known.id, now), structure.changes(db, known.id))

        super().__init__("Hot", read)

    def choices_of(self, found: _Found | None) -> list[Choice]:
        """What the view shows of it."""
        self.found = found
        if found is None:
            return [Choice([(NOT_RECORDED, "quiet")], "", None)]
        counts = {"files": several(len(found.spots), "file"), "folders": "folders by heat", "moved": "moved by git"}
        title = f"Hot ─ {printable(found.project)} ─ {counts[self.view]}"
        self.query_one("#dialog").border_title = Content(title)  # a project's name is no markup
        if self.view == "files":
            return _files(found.spots[:_FILES]) or _nothing("no session edited a file of this project yet")
        if self.view == "folders":
            folders = hot.folders(found.spots, _FOLDERS)
            return [_folder(one, found.project) for one in folders] or _nothing("no session edited a file yet")
        zone = self.cockpit.zone
        lines = [_change(one, day(one.at, zone)[5:16]) for one in found.changes]
        return lines or _nothing("git moved, renamed, deleted or added no file since nmem first looked")

    def action_turn(self, by: int) -> None:
        """Files, folders, what moved."""
        self.view = VIEWS[(VIEWS.index(self.view) + by) % len(VIEWS)]
        if self.found is not None:
            self.offer(self.choices_of(self.found))

    def action_why(self) -> None:
        """Why the lines of the file under the cursor are as they are."""
        place = self.choices_list.highlighted
        chosen = self._shown[place].value if place is not None and place < len(self._shown) else None
        one = next((one for one in self.found.spots if one.recorded == chosen), None) if self.found else None
        if one is None or self.view != VIEWS[0]:
            self.notify("choose one of the hot files: tab shows them", timeout=3)
        elif one.gone:
            self.notify("it is not in the checkout any more", timeout=3)
        else:
            self.app.push_screen(Why(one.session, one.path))


def _nothing(said: str) -> list[Choice]:
    return [Choice([(said, "quiet")], "", None)]


def _files(spots: list[hot.Spot]) -> list[Choice]:
    head = ("heat", "edits", "failed", "back", "sessions", "people")
    rows = [
        Choice(
            lambda cells, one=one: [_spot(one, cells)],  # type: ignore[misc]
            f"{printable(one.path)} {one.made}", one.recorded,
        )
        for one in spots
    ]  # fmt: skip
    return [Choice(lambda cells: [_row(cells, 0, head, "file", "", "quiet")], "", None), *rows] if rows else []


def _spot(one: hot.Spot, cells: int) -> Line:
    counts = (one.heat, one.edits, one.failures, one.taken_back, one.sessions, len(one.people) or "–")
    tone = "quiet" if one.gone or one.made else "text"
    return _row(cells, one.heat, tuple(map(str, counts)), printable(one.path), printable(remark(one)), tone)


def _row(cells: int, heat: int, counts: Sequence[str], path: str, said: str, tone: str) -> Line:
    """Bar, figures, path; where there is little room, the last figures give way."""
    shown = list(zip(counts, _WIDTHS, strict=True))[: 6 if cells >= _WIDE else 4]
    figures = "".join(pad(count, width, right=True) for count, width in shown)
    room = max(12, cells - _BAR - len(figures) - 2 - len(said))
    drawn = pad(bar(heat / 100, _BAR) if heat else "", _BAR)
    return [(drawn, "bar"), (f"{figures}  ", "quiet"), (fit_path(path, room), tone), (said, "quiet")]


def _folder(one: hot.Folder, project: str) -> Choice:
    path = printable(one.name or project)
    line: Line = [
        (pad(bar(one.share, 2 * _BAR), 2 * _BAR), "bar"), (f"{one.share:5.0%}", "text"),
        (f"{pad(several(one.files, 'file'), 11, right=True)}  ", "quiet"), (f"{'  ' * one.depth}{path}", "text"),
    ]  # fmt: skip
    return Choice(line, printable(one.path) or path, f"{one.path}/" if one.path else None)


def _change(one: structure.Change, when: str) -> Choice:
    name = f" → {printable(one.name)}" if one.name not in ("", one.path) else ""
    tone = {structure.GONE: "bad", structure.NEW: "good"}.get(one.change, "change")
    line: Line = [
        (f"{when}  {one.commit[:7]:7}  ", "quiet"), (pad(one.change, 8), tone),
        (f"{printable(one.path)}{name}", "text"),
    ]  # fmt: skip
    return Choice(line, f"{printable(one.path)} {printable(one.name)} {one.change}", one.path)
