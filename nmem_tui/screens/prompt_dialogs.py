"""Small dialogs that ask for one value: a name, an episode, a session, an export format, a search filter."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import tzinfo
from functools import partial
from sqlite3 import Connection
from typing import Any, ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input

from nmem import themes as read
from nmem.read import store, views
from nmem.read.episodes import EpisodeRow
from nmem.read.views import SessionRow
from nmem.stance import store as stances
from nmem.text import fit, pad, printable, width
from nmem_tui.model import episodes
from nmem_tui.model.figures import age, day, several
from nmem_tui.model.line import Line, fit_words, length, wrap
from nmem_tui.model.now_cards import flat
from nmem_tui.model.search import MANUAL
from nmem_tui.screens.modal import Choice, Dialog, Modal
from nmem_tui.widgets.inputs import Field

Read = Callable[[Connection], Sequence[EpisodeRow]]


class Name(Modal[str | None]):
    """Type a name; enter takes it, an empty one takes the name away."""

    HINT: ClassVar[str] = "enter takes · empty removes the name · esc leaves"
    LONGEST: ClassVar[int] = 200

    field = getters.query_one(Input)

    def __init__(self, title: str, current: str, hint: str) -> None:
        super().__init__()
        self.title_text, self.current, self.hint = title, current, hint

    def compose(self) -> ComposeResult:
        """A box with one line to type in."""
        with Vertical(id="dialog", classes="-small") as box:
            box.border_title = Content(self.title_text)
            box.border_subtitle = Content(self.HINT)
            yield Field(value=self.current, placeholder=self.hint, compact=True, max_length=self.LONGEST)

    def on_mount(self) -> None:
        """The line has the keyboard."""
        self.set_focus(self.field)

    @on(Input.Submitted)
    def take(self) -> None:
        """This is the name."""
        self.dismiss(" ".join(self.field.value.split()))


class Words(Name):
    """Type a sentence; enter takes it, an empty one changes nothing."""

    HINT: ClassVar[str] = "enter takes · esc leaves"
    LONGEST: ClassVar[int] = 1_000


class Listed(Dialog):
    """Choose one of what is read of the database."""

    def __init__(self, title: str, read: Callable[[Connection], Any]) -> None:
        super().__init__()
        self.title_text, self._read = title, read

    @property
    def TITLE_TEXT(self) -> str:  # type: ignore[override] # noqa: N802 -- the base class's word for it
        """What is chosen."""
        return self.title_text

    def on_mount(self) -> None:
        """Read them."""
        super().on_mount()
        self.reads.ask("choices", self._read, lambda found: self.offer(self.choices_of(found)))

    def choices_of(self, found: Any) -> list[Choice]:  # noqa: ANN401 - what `read` gives
        """What was read, as lines to choose from."""
        raise NotImplementedError


_TITLE, _WITH_DAYS = 30, 80
"""Cells that a theme's title gets at least, words and project what is left; and those from which on days are shown."""


class Themes(Listed):
    """Choose what the episodes are to be about; the theme of the episode that one comes from stands first."""

    def __init__(self, project: str, unit_id: int) -> None:
        super().__init__(
            "Episodes by theme ─", lambda db: (read.themes(db, project), read.of_episode(db, unit_id), project)
        )

    def choices_of(self, found: tuple[list[read.Theme], int, str]) -> list[Choice]:
        """A theme a line, and its number with its words."""
        listed, mine, project = found
        if not listed:
            return [Choice([("no themes yet: twelve told episodes of a project make them", "quiet")], "", None)]

        def line(each: read.Theme, cells: int) -> list[Line]:
            at = day(each.last_at, self.cockpit.zone)[:10] if cells >= _WITH_DAYS else ""
            count = f"{at}{pad(several(each.episodes, 'episode'), 13, right=True)}  "
            head: Line = [("▸ " if each.id == mine else "  ", "accent"), (count, "quiet")]
            where = "" if project else f"  {printable(each.project)}"
            tail = f"  {flat(each.label) or 'no words in common'}{where}"
            room = max(_TITLE, cells - length(head) - width(tail))
            return [[*head, (pad(fit_words(flat(each.example), room), room), "text"), (tail, "quiet")]]

        return [
            Choice(
                partial(line, each),
                f"{flat(each.label)} {flat(each.example)} {printable(each.project)}",
                f"{each.id} {flat(each.label)}",
            )
            for each in sorted(listed, key=lambda one: one.id != mine)
        ]  # fmt: skip


class Pick(Listed):
    """Choose one of some episodes."""

    def __init__(self, title: str, read: Read, but: int) -> None:
        super().__init__(title, read)
        self._but = but

    def choices_of(self, found: Sequence[EpisodeRow]) -> list[Choice]:
        """An episode a line."""
        zone = self.cockpit.zone
        return [
            Choice(
                [
                    (day(row.started_at, zone)[5:16] + "  ", "quiet"),
                    (pad(episodes.state(row)[0], 10) + " ", episodes.state(row)[1]),
                    (flat(row.name), "text"),
                ],
                episodes.words(row),
                str(row.id),
            )
            for row in found
            if row.id != self._but
        ] or [Choice([("there is no other episode to choose", "quiet")], "", None)]


_FORMS = (("text", "as it reads"), ("json", "its rows with their ids"))
_PLACES = (("file", "into a new file here"), ("clipboard", "to the clipboard"))


SHARE = "share"
_SHARE = "for somebody else, redacted: Markdown and HTML files here"


class Export(Dialog):
    """Gives back the form and the place: `text file`; or SHARE, where that is offered."""

    HINT: ClassVar[str] = "enter takes · esc leaves"

    def __init__(self, name: str, *, shares: bool = False) -> None:
        self.TITLE_TEXT = f"Export ─ {name}"  # type: ignore[misc]
        self._shares = shares
        super().__init__()

    def on_mount(self) -> None:
        """Four ways, and one to share."""
        super().on_mount()
        share = [Choice([(pad(SHARE, 6), "key"), (_SHARE, "text")], f"{SHARE} {_SHARE}", SHARE)] if self._shares else []
        self.offer([
            *(Choice([(pad(form.upper() if form == "json" else form, 6), "key"), (f"{where}: {what}", "text")],
                     f"{form} {place} {where} {what}", f"{form} {place}")
              for place, where in _PLACES for form, what in _FORMS),
            *share,
        ])  # fmt: skip


FOLLOW = Choice([("↻ ", "accent"), ("follow the newest session", "strong")], "follow newest auto", "")
_FRESH_MS = 30 * 60_000
_WIDE, _NARROW, _NARROWEST = 112, 60, 36
"""Fewer cells than these have no room for branch and client, for the calls, or for the project."""
_BOTH = 40
"""Cells in which the last prompt has room beside the first."""
_Found = tuple[list[SessionRow], Mapping[str, int], int]
"""The newest sessions, the calls of each, where that is known, and how many sessions there are."""
_LISTED = 200


class Sessions(Listed):
    """The newest sessions, or the newest of those that have the typed words; the title says of how many."""

    def __init__(self, current: str, project: str) -> None:
        super().__init__("Sessions", lambda db: _read(db, project))
        self.current, self.project = current, project
        self.every = 0
        """How many sessions there are; only the newest are read before something is typed."""

    def choices_of(self, found: _Found) -> list[Choice]:
        """The newest, then a session a line."""
        sessions, calls, self.every = found
        at = self.cockpit.clock()
        return [FOLLOW, *(self._choice(row, at, calls.get(row.id)) for row in sessions)]

    def matching(self, words: list[str]) -> list[Choice]:
        """The newest of them; once something is typed, all sessions are looked through."""
        found = super().matching(words)
        first = [each for each in found if each is FOLLOW]
        sessions = found[len(first) :]
        listed = sessions[:_LISTED]
        reading = bool(words and self.choices) and len(self.choices) <= self.every
        if reading:
            self.reads.ask("all", lambda db: _read_all(db, self.project), self._offer_all)
        title = _counted(len(listed), len(sessions), self.every, filtered=bool(words), reading=reading)
        self.query_one("#dialog").border_title = Content(title)
        return first + listed

    def _offer_all(self, found: _Found) -> None:
        self.choices = self.choices_of(found)
        self.narrow_again()

    def _choice(self, row: SessionRow, at: int, calls: int | None) -> Choice:
        here, zone = row.id == self.current, self.cockpit.zone
        words = f"{row.project} {row.branch} {row.client} {row.name} {row.intent} {'live' if _live(row, at) else ''}"
        return Choice(lambda cells: [_line(row, calls, at, cells, zone, here=here)], printable(words), row.id)


def _read(db: Connection, project: str) -> _Found:
    found = views.sessions(db, _LISTED, project)
    return found, stances.counts(db, [row.id for row in found]), store.session_count(db, project)


def _read_all(db: Connection, project: str) -> _Found:
    found = views.sessions(db, store.session_count(db, project), project)
    ids = [row.id for row in found]
    calls: dict[str, int] = {}
    for place in range(0, len(ids), _LISTED):
        calls |= stances.counts(db, ids[place : place + _LISTED])
    return found, calls, len(found)


def _counted(listed: int, found: int, every: int, *, filtered: bool, reading: bool) -> str:
    """The title: how many are listed, of how many."""
    if reading:
        return f"Sessions ─ looking through all {every:,}"
    if filtered and listed < found:
        return f"Sessions ─ the newest {listed} of {found:,} that match"
    if filtered and every:
        return f"Sessions ─ {found:,} of {every:,} match{'es' * (found == 1)}"
    return f"Sessions ─ the newest {listed} of {every:,}" if listed < every else "Sessions"


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


_CELLS = 26


class Manual(Dialog):
    """The language of the box."""

    TITLE_TEXT = "Query syntax ─"
    HINT = "enter puts it into the box · esc leaves"

    def on_mount(self) -> None:
        """Every form."""
        super().on_mount()
        self.offer([Choice(partial(_drawn, form, words), f"{form} {words}", form) for form, words in MANUAL])


def _drawn(form: str, words: str, cells: int) -> list[Line]:
    rows = wrap(words, max(8, cells - _CELLS), 3)
    return [[(pad("" if place else form, _CELLS), "key"), (row, "text")] for place, row in enumerate(rows)]
