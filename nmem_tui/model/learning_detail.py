"""Draws one learning (a recurring failure or request) in full, and the heat map of such patterns by week.

Weeks are named by the month and the day of their Monday. The newest week stands at the right. Weeks in which none of
the patterns was met are left out, and the oldest ones give way to the room there is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING

from nmem.learn import kinds
from nmem.learn.learning import (
    ACCEPTED,
    CORRECTION,
    FIX,
    REPEATED_INTENT,
    SKILL,
    UNRESOLVED_READ,
    Evidence,
    Learning,
    Remedy,
)
from nmem.learn.read import week
from nmem.read.listing import fitted
from nmem.read.views import SessionRow
from nmem.text import fit_path, pad, printable, width
from nmem_tui.model import actions, learnings, stream, symbols
from nmem_tui.model.figures import ago, clock, day, several
from nmem_tui.model.learnings import Detail, fixes, grouped, moment
from nmem_tui.model.line import Line, cut, length, section, spread, wrap
from nmem_tui.model.lists import Item, plain_items
from nmem_tui.model.now_cards import flat
from nmem_tui.model.symbols import Sign

if TYPE_CHECKING:
    from nmem.learn.lessons import Lesson
    from nmem.learn.skill_use import Use

WEEK_MS = 7 * 86_400_000
_SHADES = (8, 4, 2, 1)
"""From how many occurrences on a shade is drawn, the darkest first."""
_COLUMN = 3
_WIDEST = 26
"""Half a year of weeks."""


def shade(count: int) -> tuple[str, str]:
    """The glyph of a week with so many occurrences, and its tone."""
    darkest = len(_SHADES)
    place = next((darkest - place for place, least in enumerate(_SHADES) if count >= least), 0)
    return symbols.now().shades[place], "off" if count < 1 else "bad" if count >= 8 else "warn" if count >= 4 else "bar"


def legend() -> str:
    """What the glyphs mean: times in a week."""
    never, once, some, often, most = tuple(symbols.now().shades)
    gap = symbols.now().border
    return f"{never} never  {once} 1  {some} 2–3  {often} 4–7  {most} 8 or more   {gap} quiet weeks left out"


def columns(found: Sequence[Learning], at: int, cells: int) -> list[int]:
    """The Mondays shown in so many cells, oldest first: the newest weeks in which anything was met."""
    active = sorted({start for one in found for start, _ in one.weeks if start <= at}) or [week(at)]
    return active[-max(1, min(_WIDEST, cells // _COLUMN)) :]


def _names(mondays: Sequence[int]) -> tuple[str, str]:
    """Two lines: the months, and below them the days."""
    months, days, before = "", "", ""
    for place, monday in enumerate(mondays):
        month, number = _named(monday)
        if month != before and (not place or len(months) < place * _COLUMN):
            months = months.ljust(place * _COLUMN) + month
            before = month
        days += f"{number:<2}" + _between(mondays, place)
    return months, days


def _between(mondays: Sequence[int], place: int) -> str:
    """What stands after a week: a blank, or a mark where weeks without anything are left out."""
    skipped = place + 1 < len(mondays) and mondays[place + 1] - mondays[place] > WEEK_MS
    return symbols.now().border if skipped else " "


def _named(monday: int) -> tuple[str, str]:
    """Month and day; a question mark for a time that no calendar has."""
    try:
        moment = datetime.fromtimestamp(monday / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return "?", "?"
    return moment.strftime("%b"), str(moment.day)


def room(cells: int) -> int:
    """Cells for the name of a pattern, at least."""
    return max(8, min(40, cells * 2 // 5))


class Weeks:
    """Some patterns, row by row; what is drawn of one is kept while the cursor moves among them."""

    def __init__(self, found: Sequence[Learning] = (), at: int = 0) -> None:
        self._found, self._at = found, at
        self._for: tuple[int, object] = (0, None)
        """The cells and the symbols that the rest is for."""
        self._heads: list[Line] = []
        self._name = 0
        """Cells of a pattern's name: what the weeks leave."""
        self._mondays: list[int] = []
        self._shades: dict[int, Line] = {}

    def draw(self, chosen: int, cells: int, rows: int) -> list[Line]:
        """As many as there are rows for, the chosen place among them; the weeks' names stand above."""
        if rows < 3 or not self._found:
            return [[("no week to show", "quiet")]] if not self._found else []
        self._lay(cells)
        shown = rows - len(self._heads)
        first = max(0, min(chosen - shown // 2, len(self._found) - shown))
        places = range(first, min(len(self._found), first + shown))
        return [*self._heads, *(self._row(place, cells, here=place == chosen) for place in places)]

    def _lay(self, cells: int) -> None:
        """The weeks for so many cells."""
        if self._for == (cells, symbols.now()):
            return
        self._for, self._shades, name = (cells, symbols.now()), {}, room(cells)
        self._mondays = columns(self._found, self._at, cells - name - 1)
        longest = max(width(flat(one.title)) for one in self._found) + 1
        name = self._name = max(name, min(longest, cells - 1 - _COLUMN * len(self._mondays)))
        months, days = _names(self._mondays)
        self._heads = [
            cut([(pad("week of ", name + 1, right=True), "quiet"), (months, "quiet")], cells),
            cut([(" " * (name + 1), "text"), (days, "quiet")], cells),
        ]

    def _row(self, place: int, cells: int, *, here: bool) -> Line:
        one, name = self._found[place], self._name
        if place not in self._shades:
            self._shades[place] = _shades(one, self._mondays)
        title = (pad(flat(one.title), name - 1) + " ", "strong" if here else "quiet")
        return cut([("▸" if here else " ", "accent"), title, *self._shades[place]], cells)


def _shades(one: Learning, mondays: Sequence[int]) -> Line:
    """The weeks of one pattern; what looks the same is one stretch."""
    counts: dict[int, int] = dict(one.weeks)
    line: Line = []
    for place, monday in enumerate(mondays):
        glyph, tone = shade(counts.get(monday, 0))
        never = glyph == symbols.now().shades[0]
        for text, look in ((f"{glyph} " if never else glyph * 2, tone), (_between(mondays, place), "rest")):
            if line and line[-1][1] == look:
                line[-1] = (line[-1][0] + text, look)
            else:
                line.append((text, look))
    return line


def strip(one: Learning, at: int, cells: int) -> list[Line]:
    """The weeks of one pattern with their names and figures, in four lines."""
    mondays = columns([one], at, cells)
    months, days = _names(mondays)
    counts = dict(one.weeks)
    figures = "".join(f"{min(counts.get(monday, 0), 99) or '':<{_COLUMN}}" for monday in mondays)
    return [[(months, "quiet")], [(days, "quiet")], _shades(one, mondays), [(figures.rstrip(), "text")]]


EVIDENCE, DONE = "evidence", "done"
"""What an item can stand for: a piece of evidence, a row of what put it right."""
_LABEL = 9
_EXCERPT = 4
_FILES = 6


def title(one: Learning) -> str:
    """The title of the frame."""
    return f"Learning {one.id} ─ {learnings.kind(one)[1]}"


def items(found: Detail, cells: int, at: int, zone: tzinfo | None) -> list[Item]:
    """The whole pane for so many cells."""
    one = found.learning
    return [
        *plain_items(list(_head(found, cells, at, zone))),
        *(_remedy(found, cells, zone) if found.use is None else plain_items(list(_steps(found, found.use, cells)))),
        *plain_items(list(_holds(found.lesson, cells)) if found.lesson else []),
        *plain_items([[], section("Weeks", cells, "how often in the week of a Monday")]),
        *plain_items([cut(line, cells) for line in strip(one, at, cells)]),
        *_evidence(found, cells, zone),
    ]


def _field(name: str, text: str, cells: int, limit: int = 3, tone: str = "text") -> Iterator[Line]:
    for number, row in enumerate(wrap(text, max(8, cells - _LABEL), limit)):
        yield [(pad(name if not number else "", _LABEL), "quiet"), (row, tone)]


def _head(found: Detail, cells: int, at: int, zone: tzinfo | None) -> Iterator[Line]:
    one = found.learning
    for text in wrap(flat(one.title), cells, 4):
        yield [(text, "strong")]
    yield []
    yield [
        (pad("heat", _LABEL), "quiet"),
        *learnings.gauge(one, 10, at),
        (f"  last met {ago(at - one.last_at)}", "text"),
    ]
    yield from _field("what", what(one), cells)
    first, last = day(one.first_at, zone)[:16], day(one.last_at, zone)[:16]
    yield from _field("when", f"first {first}, last {last}", cells)
    yield from _field("where", ", ".join(printable(each) for each in one.projects) or printable(one.project), cells)
    for number, path in enumerate(one.files[:_FILES]):
        yield [
            (pad("files" if not number else "", _LABEL), "quiet"),
            (fit_path(printable(path), cells - _LABEL), "text"),
        ]
    if len(one.files) > _FILES:
        yield [(" " * _LABEL, "quiet"), (f"and {several(len(one.files) - _FILES, 'more file')}", "quiet")]
    yield [(pad("state", _LABEL), "quiet"), *learnings.since(one, at)]
    if one.state == ACCEPTED:
        yield from _field("rule", f"{flat(found.rule)}", cells, 4, "good")
    elif not one.members:
        yield from _field("rule", f"{flat(found.rule)}", cells, 4)
        into = (
            " shows it as a client's skill" if one.kind == SKILL else " shows what it would change in the instructions"
        )
        how: Line = [(" · ", "quiet"), (actions.key_of("write_how"), "key"), (" as an entry /how", "quiet")]
        yield [
            (" " * _LABEL, "quiet"), (actions.key_of("accept"), "key"), (into, "quiet"),
            *(how if one.kind == SKILL else []),
        ]  # fmt: skip


def what(one: Learning) -> str:
    """The pattern in a sentence."""
    where = several(one.sessions, "session")
    often = f"{several(one.occurrences, 'time')} in {where}"
    return kinds.words(one.kind).sentence.format(often=often)


def _remedy(found: Detail, cells: int, zone: tzinfo | None) -> Iterator[Item]:
    remedy = found.learning.remedy
    if remedy is None:
        yield from plain_items([[], section("What made it pass", cells)])
        if found.learning.kind in (REPEATED_INTENT, UNRESOLVED_READ, CORRECTION):
            said = "nothing passes or fails here: press v when it is settled"
        elif mended := fixes(found.evidence):
            said = f"put right {mended}×, see ✓ below; no single fix in most sessions yet, so none is sure"
        else:
            said = "not known yet: shown after the first passing run that follows a failure"
        yield from plain_items([[(row, "quiet")] for row in wrap(said, cells, 3)])
        return
    yield from plain_items([[], section("What made it pass", cells, _sure(remedy))])
    yield from plain_items([[("✓ " if not n else "  ", "good"), (row, "text")] for n, row in enumerate(
        wrap(flat(remedy.text), cells - 2, 4))])  # fmt: skip
    share = f"{max(0.0, min(1.0, remedy.confidence)):.0%}"
    helped = several(remedy.times, "session")
    seen = f"  it helped in {helped}; {share} sure: its share of what ended well, less for few sessions"
    yield from plain_items([[(row, "quiet")] for row in wrap(seen, cells, 2)])
    yield from plain_items(list(_changed(found, remedy, cells)))
    for row in found.between:
        yield Item(lambda room, row=row: stream.draw(row, room, zone), DONE, str(row.key))  # type: ignore[misc]


def _steps(found: Detail, use: Use, cells: int) -> Iterator[Line]:
    """The commands of a skill in their order, and whether it is of use."""
    one = found.learning
    remedy = one.remedy
    yield []
    yield section("Steps", cells, f"{remedy.confidence:.0%} of the sessions with such work" if remedy else "")
    for number, command in enumerate(remedy.commands if remedy else (), 1):
        for row, text in enumerate(wrap(flat(command), max(8, cells - 4), 3)):
            yield [(f"{number}. " if not row else "   ", "quiet"), (text, "run")]
    told = f"told {use.told}×, followed {use.followed_when_told}×"
    since = f"; since it was promoted followed in {use.followed_since} of {several(use.sessions_since, 'session')}"
    for text in wrap(told + (since if one.state == ACCEPTED else ""), cells, 2):
        yield [(text, "quiet")]


def _holds(one: Lesson, cells: int) -> Iterator[Line]:
    """In how many sessions it applied, was kept and was broken: before its acceptance and after, told and held out."""
    yield []
    yield section("Does it hold", cells, "sessions")
    for name, said in one.told():
        yield from _field(name, said, cells, 2) if name else [cut([(said, "quiet")], cells)]


def _sure(remedy: Remedy) -> str:
    return "sure" if remedy.confidence >= 0.75 else "likely" if remedy.confidence >= 0.4 else "a guess"


def _changed(found: Detail, remedy: Remedy, cells: int) -> Iterator[Line]:
    """Files and commands in full, but for those that the rows below show whole."""
    below = {flat(row.text) for row in found.between if width(flat(row.text)) <= cells - 42}
    for path in remedy.files[:_FILES]:
        yield [("  changed  ", "quiet"), (fit_path(printable(path), max(8, cells - 11)), "change")]
    for command in (each for each in remedy.commands[:_FILES] if flat(each) not in below):
        for number, row in enumerate(wrap(flat(command), max(8, cells - 11), 3)):
            yield [("  ran      " if not number else " " * 11, "quiet"), (row, "run")]


def _evidence(found: Detail, cells: int, zone: tzinfo | None) -> Iterator[Item]:
    shown = found.evidence
    mended = fixes(shown)
    more = f"met {len(shown) - mended}×, put right {mended}×"
    yield from plain_items(
        [
            [],
            section(
                "Evidence",
                cells,
                f"{more} · {actions.key_of('open')} goes there, {actions.key_of('story')} to its story",
            ),
        ]
    )
    if not shown:
        yield from plain_items([[("its evidence is forgotten: only the figures above are kept", "quiet")]])
    number = 0
    for session_id, proofs in grouped(shown):
        yield from plain_items([_session(found.sessions.get(session_id), session_id, proofs, cells, zone)])
        before = ""
        for proof in proofs:
            yield from _proof(proof, number, cells, zone, before)
            number, before = number + 1, proof.excerpt


def _session(
    row: SessionRow | None, session_id: str, proofs: Sequence[Evidence], cells: int, zone: tzinfo | None
) -> Line:
    when = day(proofs[0].at, zone)[:10]
    if row is None:
        return cut([("┌ ", "line"), (when, "title"), (f"  session {printable(session_id)[:8]}", "quiet")], cells)
    about = f"  {printable(row.client)}  {printable(row.project)}"
    branch = f"  {printable(row.branch)}" if row.branch else ""
    line: Line = [("┌ ", "line"), (when, "title"), (about, "quiet"), (branch, "accent")]
    return cut([*line, (f"  “{flat(row.name)}”" if row.name else "", "quiet")], cells)


def _proof(proof: Evidence, number: int, cells: int, zone: tzinfo | None, before: str) -> Iterator[Item]:
    """Its line, which can be opened, and below it the excerpt, unless it is the one of the line before."""
    fixed = proof.role == FIX
    mark: Line = [("✓ passed", "good")] if fixed else [("✗ failed", "bad")] if proof.outcome == "failed" else []
    if not mark:
        mark = (
            [("❯ asked", "user")]
            if proof.observation_id is None and proof.prompt_id is not None
            else [("· met", "quiet")]
        )
    gone: Line = [("forgotten", "quiet")] if moment(proof) is None else []
    said = flat(proof.command) or flat(proof.excerpt)
    left: Line = [("│ ", "line"), (f"{clock(proof.at, zone)[:5]} ", "quiet"), (pad(mark[0][0], 9), mark[0][1])]
    before_it = length(left) + length(gone) + bool(gone)
    yield Item(
        lambda room: spread([*left, (fitted(said, max(1, room - before_it)), "text")], gone, room),
        EVIDENCE,
        str(number),
    )
    if not flat(proof.command) or flat(proof.excerpt) == said or proof.excerpt == before:
        return
    taken: list[str] = []
    for text in proof.excerpt.strip().splitlines():
        taken += wrap(flat(text), max(8, cells - 17), 2)
    yield from plain_items([[("│ ", "line"), (" " * 15, "text"), (row, "quiet")] for row in taken[:_EXCERPT]])


SIGNS = (
    Sign("{shades}", "of the heat map: how often in a week, none first: 0, 1, 2–3, 4–7, 8 or more", "warn"),
    Sign("{border}", "of the heat map: quiet weeks left out", "rest"),
    Sign("✗ failed ✓ passed", "evidence: where it was met, and what put it right", "text"),
    Sign("❯ asked", "evidence: you asked for it", "user"),
    Sign("· met", "evidence: it was met", "quiet"),
)
