"""Draws the list of sessions with their states, tags and last activity, and one session in full."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import tzinfo
from sqlite3 import Connection
from typing import TYPE_CHECKING, NamedTuple

from nmem.errors import NmemError
from nmem.read import sessions
from nmem.read.listing import of_session
from nmem.read.sessions import ALL, ARCHIVED, CURRENT, DONE, FAILED, WAITING, WORKING, AtWork, Listed
from nmem.store.project import meant
from nmem.text import fit, pad, printable, width
from nmem_tui.model import actions
from nmem_tui.model.figures import age, ago, day, several
from nmem_tui.model.line import Line, cut, fitting, length, wrap
from nmem_tui.model.lists import Item, plain_items
from nmem_tui.model.now_cards import clash, flat
from nmem_tui.model.symbols import Sign

if TYPE_CHECKING:
    from nmem.read.episodes import EpisodeRow
    from nmem.sessions.resume import Resume

SESSION, EPISODE = "session", "episode"
"""What an item stands for: enter goes there."""
LIMIT = 5_000
SORTED = {"last": "last active first", "started": "newest first", "prompts": "most prompts first",
          "project": "by project", "state": "by state"}  # fmt: skip
WHICH = {CURRENT: "", ARCHIVED: "the archived ones", ALL: "archived ones as well"}
_STATES = {
    WORKING: ("● working", "accent"), WAITING: ("! waiting", "warn"), DONE: ("○ done", "quiet"),
    FAILED: ("✗ failed", "bad"),
}  # fmt: skip
_LABEL, _EPISODES, _CLASHES = 11, 30, 4


class Detail(NamedTuple):
    """One session: what is listed of it, how it is resumed, its episodes."""

    session: Listed
    resume: Resume | None
    why_not: str
    """Why it cannot be resumed from here."""
    episodes: tuple[EpisodeRow, ...]
    work: AtWork | None = None
    """What it is at, where it is not over."""


class Listing(NamedTuple):
    """What is listed, and how it is drawn: made where it is read, for it may be thousands."""

    found: list[Listed]
    shape: Shape
    items: list[Item]


def listed(db: Connection, at: int, project: str, which: str, sort: str) -> Listing:
    """The sessions of a project (its name or key) or of all, ready for the screen."""
    found = listing(db, at, project, which, sort)
    shape = Shape(found)
    return Listing(found, shape, items(found, shape, at))


def listing(db: Connection, at: int, project: str, which: str, sort: str) -> list[Listed]:
    """The sessions of a project (its name or key) or of all."""
    found = meant(db, project) if project else None
    return sessions.sessions(db, at, found.key if found else project, which=which, sort=sort, limit=LIMIT)


def detail(db: Connection, session_id: str, at: int) -> Detail | None:
    """One of them in full; None when it is gone."""
    from nmem.sessions import resume  # on use: start-up stays short

    one = sessions.session(db, session_id, at)
    if one is None:
        return None
    plan, why_not = None, ""
    try:
        plan = resume.plan(db, session_id)
    except NmemError as error:
        why_not = str(error)
    work = sessions.of_work(db, [one], at)[0] if one.state in (WORKING, WAITING) else None
    return Detail(one, plan, why_not, tuple(of_session(db, session_id)), work)


# The list


class Shape:
    """Which columns there is room for, and how wide they are: what all rows say alike, or a name needs, has none."""

    def __init__(self, found: Sequence[Listed]) -> None:
        self._longest = max((width(called(one)) + width(tagged(one)) + 1 for one in found), default=0)
        self._projects = _column({flat(one.project) for one in found}, "project", 24)
        self._branches = _column({_branch(one) for one in found}, "branch", 24)
        self._clients = _column({one.client for one in found}, "client", 12)

    def columns(self, cells: int) -> tuple[int, list[tuple[str, int]]]:
        """The cells of the name, then the other columns with theirs."""
        kept: list[tuple[str, int]] = [("last", _LAST)]
        room = cells - _STATE - _LAST
        longest = self._longest + 1
        for name, size, least in (
            ("project", self._projects, _NAME), ("prompts", 9, min(longest, _WHOLE)),
            ("client", self._clients, longest), ("branch", self._branches, longest),
        ):  # fmt: skip
            if size and room - size >= least:
                kept.append((name, size))
                room -= size
        return max(8, room), sorted(kept, key=lambda each: _ORDER.index(each[0]))


def _column(words: set[str], head: str, most: int) -> int:
    """Cells of a column with these words; none where all rows say the same."""
    return min(most, max(width(head), *map(width, words)) + 1) if len(words) > 1 else 0


_STATE, _LAST, _NAME, _WHOLE = 12, 8, 40, 62
"""Cells of the state and of the last activity, what a name has before its project is told, and what one of ours is."""
_ORDER = ("project", "branch", "client", "prompts", "last")
_RIGHT = ("prompts", "last")


def columns(shape: Shape, cells: int) -> Line:
    """What stands over the list."""
    room, others = shape.columns(cells)
    end = "".join(pad(name, size, right=name in _RIGHT) for name, size in others)
    return cut([(pad("state", _STATE) + pad("session", room) + end, "quiet")], cells)


def row(one: Listed, shape: Shape, cells: int, at: int) -> Line:
    """A session in exactly `cells` cells."""
    size, others = shape.columns(cells)
    word, tone = _STATES[one.state]
    known = {
        "project": (flat(one.project), "quiet"), "branch": (_branch(one), "quiet"), "client": (one.client, "quiet"),
        "prompts": (str(one.prompts), "text"), "last": (age(at - one.last_at), "quiet"),
    }  # fmt: skip
    tags = tagged(one)
    room = size - 1 - (width(tags) + 1 if tags else 0)
    name = fit(called(one), max(8, room))
    loud = one.state in (WORKING, WAITING)
    state: Line = [(pad(word, _STATE - 2), tone), ("! ", "key")] if one.clashes else [(pad(word, _STATE), tone)]
    line: Line = [*state, (name, "strong" if loud else "text"), (f" {tags}" if tags else "", "accent")]
    line = cut(line, _STATE + size - 1)
    line.append((" " * (_STATE + size - length(line)), "text"))
    for column, wide in others:
        text, look = known[column]
        line.append((pad(fit(printable(text), wide - 1), wide, right=column in _RIGHT), look))
    return cut(line, cells)


def called(one: Listed) -> str:
    """Its name as one printable line; put away ones say so."""
    return f"{flat(one.name) or 'no prompt'}{' (archived)' if one.archived else ''}"


def tagged(one: Listed) -> str:
    """Its tags."""
    return printable(" ".join(f"#{each}" for each in one.tags))


def _branch(one: Listed) -> str:
    return "" if one.branch == "HEAD" else flat(one.branch)


def items(found: Sequence[Listed], shape: Shape, at: int) -> list[Item]:
    """The whole list."""
    return [Item(_drawn(one, shape, at), SESSION, one.id, at=one.last_at, words=_words(one)) for one in found]


def _drawn(one: Listed, shape: Shape, at: int) -> Callable[[int], Line]:
    return lambda cells: row(one, shape, cells, at)


def _words(one: Listed) -> str:
    said = f"{one.name} {tagged(one)} {one.state} {one.client} {one.project} {one.branch} {one.cwd} session/{one.id}"
    return f"{said} clash" if one.clashes else said


def header(found: Sequence[Listed], cells: int) -> Line:
    """The one line on top."""
    counts = Counter(one.state for one in found)
    clashing = sum(bool(one.clashes) for one in found)
    parts: list[tuple[int, Line]] = [
        (0, [("nmem ▸ ", "quiet"), ("Sessions", "title")]),
        (1, [(f"! {counts[WAITING]} waiting for you", "warn")] if counts[WAITING] else []),
        (2, [(f"● {counts[WORKING]} working", "accent")] if counts[WORKING] else []),
        (1, [(f"! {several(clashing, 'session')} on one file", "warn")] if clashing else []),
        (3, [(f"✗ {counts[FAILED]} failed", "bad")] if counts[FAILED] else []),
        (4, [(f"{counts[DONE]} done", "quiet")] if counts[DONE] else []),
    ]
    return cut([(" ", "text"), *fitting([each for each in parts if each[1]], cells - 1, "   ")], cells)


def total(found: Sequence[Listed], sort: str, which: str) -> str:
    """How many, in which order, and which."""
    return ", ".join(filter(None, (several(len(found), "session"), SORTED[sort], WHICH[which])))


# One session


def detail_items(found: Detail, cells: int, at: int, zone: tzinfo | None) -> list[Item]:
    """The whole pane for so many cells."""
    one = found.session
    word, tone = _STATES[one.state]
    out = [*_field("name", called(one), cells, "strong"), *_field("tags", tagged(one), cells, "accent")]
    out += [*_field("state", word, cells, tone), *_at_work(found.work, cells), *_field("client", one.client, cells)]
    where = f"{one.project}{f', branch {_branch(one)}' if _branch(one) else ''}"
    out += [*_field("project", flat(where), cells), *_field("folder", printable(one.cwd), cells)]
    out += _field("last", f"{day(one.last_at, zone)[:16]}, {ago(at - one.last_at)}", cells)
    lasted = age(one.last_at - one.started_at)
    out += _field("began", f"{day(one.started_at, zone)[:16]}, for {lasted.replace('now', '0 s')}", cells)
    out += [*_field("prompts", str(one.prompts), cells), *_field("id", printable(one.id), cells)]
    out += [*plain_items([[]]), *_resumed(found, cells), *plain_items([[]])]
    out.append(Item(lambda cells: cut([("▸ ", "quiet"), ("its stream, on Now", "text")], cells), SESSION, one.id))
    if found.episodes:
        out += plain_items([[], [(f"── {several(len(found.episodes), 'episode')} ", "title")]])
        out += [Item(_episode(each), EPISODE, str(each.id)) for each in found.episodes[:_EPISODES]]
    return out


def _at_work(work: AtWork | None, cells: int) -> Iterator[Item]:
    """On what, with whom, on which files; a line for each that another session edits as well."""
    if work is None:
        return
    parts = (f"task/{work.task}" if work.task else "", several(work.helpers, "helper") if work.helpers else "")
    yield from _field("on", flat(", ".join(filter(None, (work.on, *parts)))), cells)
    yield from _field("edited", flat(", ".join(work.files)), cells)
    for each in work.clashes[:_CLASHES]:
        yield from plain_items([[(" " * _LABEL, "text"), *clash([each], max(8, cells - _LABEL))]])


def _resumed(found: Detail, cells: int) -> Iterator[Item]:
    plan = found.resume
    if plan is None:
        yield from _field("resume", printable(found.why_not), cells, "warn")
        return
    yield from _field("resume", printable(shlex.join(plan.words)), cells)
    if not plan.deleted:
        told = "its client's own" + (f", copied {day(found.session.copied_at, None)[:10]}" if plan.copied else "")
        yield from _field("transcript", told, cells)
    elif plan.copied:
        back = f"deleted by its client: {actions.key_of('restore_transcript')} gives it back"
        yield from _field("transcript", back, cells, "warn")
    else:
        yield from _field("transcript", "deleted by its client, and no copy is kept", cells, "bad")


def _field(name: str, text: str, cells: int, tone: str = "text") -> Iterator[Item]:
    for number, line in enumerate(wrap(text, max(8, cells - _LABEL), 4)):
        yield from plain_items([[(pad(name if not number else "", _LABEL), "quiet"), (line, tone)]])


def _episode(row: EpisodeRow) -> Callable[[int], Line]:
    return lambda cells: cut([("▸ ", "quiet"), (flat(row.name) or "no name", "text")], cells)


SIGNS = tuple(
    Sign(sign, {WORKING: "the agent is at a turn", WAITING: "it is your turn",
                DONE: "over", FAILED: "over: its last tests failed, or its task did"}[name], tone)
    for name, (sign, tone) in _STATES.items()
)  # fmt: skip
