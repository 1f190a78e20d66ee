"""The dialog Team: what others of the team did, decided, learned and wrote down, and who they are; mutes and hears."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from sqlite3 import Connection
from typing import ClassVar

from textual.binding import Binding
from textual.content import Content

from nmem.store.project import Known, meant
from nmem.teammates import live, members, read
from nmem.teammates.members import Member, Standing
from nmem.teammates.read import Fact
from nmem.text import fit, pad, printable
from nmem_tui.model.figures import ago, day
from nmem_tui.model.line import Line, wrap
from nmem_tui.model.now_cards import flat
from nmem_tui.screens.modal import Choice
from nmem_tui.screens.prompt_dialogs import Listed

MEMBERS = "members"
VIEWS = (live.EPISODE, live.DECISION, live.LEARNING, live.RECALL, MEMBERS)
_NAMES = {live.EPISODE: "episodes", live.DECISION: "decisions", live.LEARNING: "learnings",
          live.RECALL: "written decisions", MEMBERS: "members"}  # fmt: skip
_MOST, _BADGE, _BODY = 200, 12, 2
_WIDE = 70
"""Cells from which on a row has room for its date."""


def first(context: str) -> str:
    """The kind that is listed first, by the screen that one comes from."""
    return {"learnings": live.LEARNING, "context": live.DECISION}.get(context, live.EPISODE)


@dataclass(frozen=True, slots=True)
class _Found:
    """What was read."""

    standing: Standing
    facts: Sequence[Fact]
    people: Sequence[Member]


class Team(Listed):
    """Type to filter; tab turns to the next kind, ^x mutes the author of the row or hears them again."""

    HINT: ClassVar[str] = "tab other kinds, members · ^x mutes, hears the author · esc leaves"
    BINDINGS: ClassVar[list[Binding]] = [  # type: ignore[assignment]
        Binding("tab", "turn(1)", show=False, priority=True),
        Binding("shift+tab", "turn(-1)", show=False, priority=True),
        Binding("ctrl+x", "mute", show=False, priority=True),
    ]

    def __init__(self, project: str, view: str, now: int) -> None:
        self.view, self.now = view, now
        self.found: _Found | None = None

        def look(db: Connection) -> _Found:
            known: Known | None = meant(db, project) if project else None
            wanted = read.Wanted(projects=[known.id] if known else None)
            facts = [one for kind in live.KINDS for one in read.said(db, replace(wanted, kinds=(kind,)), _MOST)]
            return _Found(members.standing(db), facts, members.members(db))

        super().__init__("Team", look)

    def choices_of(self, found: _Found) -> list[Choice]:
        """What the view shows of it."""
        self.found = found
        facts = [one for one in found.facts if one.kind == self.view]
        self.query_one("#dialog").border_title = Content(_title(found.standing, self.view, self.now))
        if self.view == MEMBERS:
            return [_member(one, self.now) for one in found.people] or [_nothing(members.NO_TEAM)]
        what = _NAMES[self.view]
        many = len({one.project_id for one in facts}) > 1
        zone = self.cockpit.zone
        return [_row(one, day(one.at, zone)[5:16], many=many) for one in facts] or [
            _nothing(f"no {what} of others yet" if found.standing.team else members.NO_TEAM)
        ]

    def action_turn(self, by: int) -> None:
        """The next kind; the last are the people themselves."""
        self.view = VIEWS[(VIEWS.index(self.view) + by) % len(VIEWS)]
        if self.found is not None:
            self.offer(self.choices_of(self.found))

    def action_mute(self) -> None:
        """Hear the author of the row no longer, or again."""
        place = self.choices_list.highlighted
        author = self._shown[place].value if place is not None and place < len(self._shown) else None
        one = next((one for one in self.found.people if one.author == author), None) if self.found else None
        if one is None or one.own:
            self.notify("choose what another member said" if one is None else "that is you", timeout=3)
            return

        def read_again() -> None:
            if self.is_attached:
                self.reads.ask("choices", self._read, lambda found: self.offer(self.choices_of(found)))

        def change(db: Connection, _now: int) -> str:
            name = members.mute(db, one.author, muted=not one.muted)
            self.call_later(read_again)
            return f"{name} is heard again" if one.muted else f"{name} is muted: nothing of theirs is shown or told"

        self.cockpit.change(change)


def _title(standing: Standing, view: str, now: int) -> str:
    """Whose team, what is listed, and whether sharing rests or fails."""
    rests = f"paused {ago(now - standing.paused_at)}" if standing.paused_at else ""
    fails = f"failing {ago(now - standing.failing_at)}" if standing.failing_at else ""
    return " ─ ".join(filter(None, (f"Team {printable(standing.team)}".strip(), _NAMES[view], rests, fails)))


def _nothing(said: str) -> Choice:
    return Choice([(said, "quiet")], "", None)


def _row(one: Fact, when: str, *, many: bool) -> Choice:
    """Who, when, what; below it the beginning of what it says beyond that."""
    who, title = printable(one.who), flat(one.title)
    later = "superseded " if one.data.get("superseded") else ""

    def draw(cells: int) -> list[Line]:
        badge = min(_BADGE, cells // 4)
        head: Line = [(pad(fit(who, badge), badge) + " ", "user")]
        head += [(f"{when}  ", "quiet")] if cells >= _WIDE else []
        head += [(later, "warn"), (title, "text"), (f"  {printable(one.project)}" if many else "", "quiet")]
        body = wrap(flat(one.body), max(8, cells - badge - 1), _BODY) if one.body.strip() else []
        return [head, *([(" " * (badge + 1), "text"), (line, "quiet")] for line in body)]

    return Choice(draw, f"{who} {title} {flat(one.body)} {printable(one.project)}", one.author)


def _member(one: Member, now: int) -> Choice:
    name = printable(one.author)
    heard = f"heard {ago(max(0, now - one.last_at))}" if one.last_at else "not heard yet"
    line: Line = [
        (pad(fit(name, _BADGE), _BADGE) + " ", "quiet" if one.muted else "user"),
        ("muted  " if one.muted else "", "warn"), ("you  " if one.own else "", "accent"),
        (f"{one.told}  ", "text"), (heard, "quiet"),
    ]  # fmt: skip
    return Choice(line, f"{name} {'muted' if one.muted else ''}", one.author)
