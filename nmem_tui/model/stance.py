"""Puts a session's stance (how it moves between thinking and acting) into words: the screen Stance, Now's card."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from sqlite3 import Connection

from nmem.read import stream, views
from nmem.read.views import SessionRow, StreamRow
from nmem.stance import read
from nmem.stance.model import QUADRANTS, Advice, Compared, SessionStance, Share, Shift, Stance, Strip, Stuck
from nmem.stance.read import Following
from nmem.stance.words import early, needs, percents, stands, unsure
from nmem.text import fit, pad, width
from nmem_tui.model import figures, symbols
from nmem_tui.model.figures import age, clock, filled, plural, several
from nmem_tui.model.line import Line, cut, fitting, joined, length, spread, wrap
from nmem_tui.model.now_cards import flat
from nmem_tui.model.now_queries import Whose, pick
from nmem_tui.model.stance_chart import Trace, fill, path, small, tight, trace
from nmem_tui.model.stream import UNLABELLED
from nmem_tui.model.symbols import Sign

SESSIONS = 200
_FEW = 100
"""Rows of a session of few calls that are looked through for them."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A session, its stance, its trajectory made ready for the chart's width, and what goes on from there."""

    session: SessionRow
    stance: Stance
    trace: Trace
    following: Following
    calls: tuple[StreamRow, ...] = ()
    """Of a session of few calls each of them, the oldest first: what it did is told where shares say nothing."""


def reading(db: Connection, whose: Whose, one: Following | None, cells: int) -> Reading | None:
    """The stance of the session that the cockpit shows; None when there is no session.

    `one` is what an earlier reading left: only what is new is read. It belongs to one reading at a time.
    """
    row = views.session(db, pick(db, whose))
    found = go_on(db, row.id, one, whose.at) if row else None
    if row is None or found is None:
        return None
    stance, following = found
    return Reading(row, stance, trace(stance, cells), following, _calls(db, stance))


def _calls(db: Connection, stance: Stance) -> tuple[StreamRow, ...]:
    if not stance.few:
        return ()
    keys = [key for key in stream.page(db, stance.session_id, None, stream.Query(), _FEW).key if key & 1]
    rows = stream.rows(db, keys)
    calls = (row for row in rows.values() if row.word not in UNLABELLED)
    return tuple(sorted(calls, key=lambda row: (row.at, row.key)))


def go_on(db: Connection, session_id: str, one: Following | None, at: int) -> tuple[Stance, Following] | None:
    """The stance of a session, and what the next reading goes on from; None when there is no such session."""
    if one is None or one.session_id != session_id:
        one = read.follow(db, session_id, at)
    return (read.advance(db, one, at), one) if one else None


def sessions(db: Connection, project: str) -> Sequence[SessionStance]:
    """The newest sessions of a project."""
    return read.sessions(db, project, SESSIONS)


MEANING = {
    "explore": "thinks, widens",
    "reason": "thinks, narrows",
    "scaffold": "acts, widens",
    "finish": "acts, narrows",
}
DOES = {"act": "acts", "think": "thinks", "converge": "narrows", "diverge": "widens"}
"""What a session does on either side of a line."""
USUAL = {
    "think": "calls that think", "diverge": "calls that widen", "friction": "calls with friction",
    "novel": "calls on new ground", "failed": "calls that failed",
}  # fmt: skip
_UNUSUAL, _BROAD = 21, 54
_NAME = 9


def doing(stance: Stance) -> str:
    """The quadrant that a session is in, in a word; or what its few calls did."""
    return stands(stance) if stance.few or stance.quadrant in MEANING else "not clear yet"


def signed(value: float | None) -> str:
    """A score as people read it: +.62, −.08; a dash where there is none."""
    if value is None:
        return "–"
    text = f"{abs(value):.2f}".removeprefix("0")
    return ("−" if value < 0 and float(text) else "+") + text


def share(of: Mapping[str, Share], name: str) -> Share:
    """A share by its name; nothing where it is not known."""
    return of.get(name, Share())


def now(stance: Stance, cells: int) -> Line:
    """Where the session stands, in one line."""
    last = stance.points[-1] if stance.points else None
    head: Line = [(doing(stance), "strong")]
    parts: list[Line] = [head]
    if stance.few:
        parts.append([(needs(stance), "quiet")])
    elif last is not None:
        parts.append(_axis_now("phase", last.ema_phase, "act", "think", stance.phase_direction, 0.0))
        parts.append(
            _axis_now("scope", last.ema_scope, "converge", "diverge", stance.scope_direction, stance.scope_base)
        )
    left = joined(parts, " · ")
    right: Line = [(several(len(stance.shifts), "shift"), "quiet")]
    return spread(left, right, cells)


def _axis_now(axis: str, ema: float | None, above: str, below: str, direction: str, middle: float) -> Line:
    if ema is None:
        return []
    side = above if ema >= middle else below
    divides = f" (narrows from {signed(middle)} on)" if axis == "scope" and middle and side == below else ""
    moving = f", {turning(direction, side)}" if direction in DOES else ""
    return [(DOES[side], axis), (f" {signed(ema)}{divides}", "quiet"), (moving, "text")]


def turning(direction: str, side: str = "") -> str:
    """Where an axis is going, in words; of a session on that side already: further."""
    if direction not in DOES:
        return "steady"
    return "more and more" if direction == side else f"turning to {direction}"


def shares(stance: Stance, cells: int) -> list[Line]:
    """The quadrants, each with its bar, share and what it means; then what decides."""
    wordy = cells >= 40
    room = max(3, min(24, cells - 22 - (17 if wordy else 0)))
    lines: list[Line] = []
    of = stance.signs if stance.few else stance.quadrants
    parts = percents(of)
    for name in QUADRANTS:
        found = share(of, name)
        done = filled(found.share, 1, room)
        here = name == stance.quadrant and not stance.few
        lines.append([
            ("▸ " if here else "  ", "accent"), (pad(name, 9), "strong" if here else "text"),
            (fill(name) * done, name), (symbols.now().track * (room - done), "off"),
            (f" {tight(parts, name):>4}", "strong"), (f" {found.number:>5}", "quiet"),
            (f"  {MEANING[name]}" if wordy else "", "quiet"),
        ])  # fmt: skip
    lines += [[(f"  {row}", "quiet")] for row in wrap(decides(stance), cells - 2, 6)]
    return [cut(line, cells) for line in lines]


def decides(stance: Stance) -> str:
    """What all that is told of quadrants goes by, in a sentence; and of how many calls nothing is known."""
    if stance.few:
        return f"each call by its own scores: {needs(stance)}" + unread(stance)
    base = signed(stance.scope_base) if stance.scope_base else "0"
    told = f"where the lines stood after each call: it acts from phase (P) 0 on, narrows from scope (S) {base} on"
    return told + unread(stance)


def unread(stance: Stance) -> str:
    """Which calls are not among the quadrants, and why."""
    doubtful = unsure(stance)
    bare = f"; {several(stance.bare, 'call')} without labels: nmem backfill" if stance.bare > 0 else ""
    sure = f"; the model is not sure of {several(doubtful, 'call')}" if doubtful else ""
    before = early(stance)
    return bare + sure + (f"; {several(before, 'call')} came before both lines had begun" if before else "")


def shares_short(quadrants: Mapping[str, Share], cells: int) -> Line:
    """The quadrants as one bar of `cells` cells, in their shades."""
    total = sum(share(quadrants, name).number for name in QUADRANTS)
    if not total:
        return [(symbols.now().track * cells, "off")]
    line: Line = []
    done, reached = 0, 0
    for name in QUADRANTS:
        reached += share(quadrants, name).number
        end = round(cells * reached / total)
        if end > done:
            line.append((fill(name) * (end - done), name))
            done = end
    return line


def legend() -> Line:
    """What the shades mean."""
    return joined([[(f"{fill(name)} ", name), (name, "quiet")] for name in QUADRANTS], "  ")


def figure_lines(stance: Stance, cells: int) -> list[Line]:
    """The other three dimensions and the windows, each in a line."""
    rows: list[tuple[str, Mapping[str, Share], str]] = [
        ("locus", stance.locus, "external"),
        ("novelty", stance.novelty, "novel"),
        ("friction", stance.friction, "friction"),
    ]
    lines = [_figure(name, of, pole, cells) for name, of, pole in rows]
    tone = "bad" if stance.failed else "quiet"
    part = stance.failed / stance.observations if stance.observations else 0.0
    failed: Line = [
        (pad("failed", _NAME), "quiet"),
        (f"✗ {stance.failed}", tone),
        (f"  {part:.0%} of the calls", "quiet"),
    ]
    lines.append(failed)
    both = stance.novelty_friction.get("novel_friction", 0)
    if both:
        lines.append([(pad("", _NAME), "quiet"), (f"{both} on new ground met friction", "quiet")])
    for axis, five, twenty, direction in (
        ("phase", stance.phase_5, stance.phase_20, stance.phase_direction),
        ("scope", stance.scope_5, stance.scope_20, stance.scope_direction),
    ):
        way = turning(direction).removeprefix("" if cells >= _BROAD else "turning ")
        lines.append([
            (pad(axis, _NAME), axis), ("of 5 ", "quiet"), (pad(signed(five), 6), "strong"), ("of 20 ", "quiet"),
            (pad(signed(twenty), 6), "strong"), (way, "text"),
        ])  # fmt: skip
    return [cut(line, cells) for line in lines]


def _figure(name: str, of: Mapping[str, Share], pole: str, cells: int) -> Line:
    known = sum(each.number for each in of.values())
    if not known:
        return [(pad(name, _NAME), "quiet"), ("not read yet", "quiet")]
    found = share(of, pole)
    room = max(4, min(16, cells - 37))
    done = filled(found.share, 1, room)
    tone = "warn" if name == "friction" and found.share >= 0.3 else "bar"
    return [
        (pad(name, _NAME), "quiet"), (pad(pole, 9), "text"), (symbols.now().bar * done, tone),
        (symbols.now().track * (room - done), "off"),
        (f" {tight(percents(of), pole):>4}", "strong"),
        (f" {found.number:>5} of {known}", "quiet"),
    ]  # fmt: skip


def guidance(found: tuple[Advice, ...], cells: int, rows: int = 99) -> list[Line]:
    """What is worth knowing now, each with its reason below."""
    if not found:
        said = wrap("nothing to point out: no stall, no repeated failure", cells - 2, 2)
        return [[("  " if number else "✓ ", "good"), (text, "quiet")] for number, text in enumerate(said)]
    lines: list[Line] = []
    for advice in found:
        said = wrap(flat(advice.text), cells - 2, 3)
        lines += [[("◆ " if not number else "  ", "accent"), (text, "text")] for number, text in enumerate(said)]
        lines += [[("  ", "text"), (text, "quiet")] for text in wrap(flat(advice.reason), cells - 2, 2)]
    return lines[:rows]


def usual(found: tuple[Compared, ...], cells: int, rows: int = 99) -> list[Line]:
    """This session beside the person's earlier ones."""
    if not found:
        said = "nothing to compare with yet: it needs some earlier sessions of this project"
        return [[(text, "quiet")] for text in wrap(said, cells, 3)]
    lines: list[Line] = []
    told = [f"  usually {_between(each.low, each.high)}" for each in found]
    room = max(8, min(_UNUSUAL, cells - 7 - max(map(len, told))))  # a figure is never cut
    for each, usually in zip(found, told, strict=True):
        name = USUAL.get(each.name) or flat(each.name)
        line: Line = [
            ("! " if each.unusual else "  ", "warn"), (pad(name, room), "text"),
            (pad(f"{each.value:.0%}", 5, right=True), "strong"), (usually, "quiet"),
        ]  # fmt: skip
        lines.append(cut(line, cells))
    over = [[(f"  of {several(found[0].sessions, 'earlier session')} of this project", "quiet")]]
    return [*lines, *over][:rows]


def _between(low: float, high: float) -> str:
    return f"{low:.0%}" if f"{low:.0%}" == f"{high:.0%}" else f"{100 * low:.0f}–{high:.0%}"


def stuck(found: Stuck, cells: int, zone: tzinfo | None) -> Line:
    """A stretch in which the same thing kept failing: when, for how long, how often, on what, how it ended."""
    end: Line = [("✓ got through", "good") if found.over else ("✗ not solved", "bad")]
    left: Line = [
        (clock(found.started_at, zone)[:5] + "  ", "quiet"), (pad(age(found.ms), 6), "text"),
        (pad(f"✗ {found.failures}", 6), "bad"), (flat(found.key), "text"),
    ]  # fmt: skip
    return spread(left, end, cells)


def shift(found: Shift, cells: int, zone: tzinfo | None) -> Line:
    """A shift: when, over to what, and what had been asked for."""
    said = flat(found.prompt) or "before the first prompt"
    tone = found.axis if found.axis in ("phase", "scope") else "text"
    line: Line = [(clock(found.at, zone)[:5] + "  ", "quiet")]
    if cells >= 96:
        way = f"{flat(found.before)} → {flat(found.after)}" if found.before else ""
        line.append((pad(way, 21), "text"))
    line += [(pad(flat(found.from_), 8, right=True), "quiet"), (" → ", "quiet"), (pad(flat(found.to), 9), tone)]
    return [*line, (pad(said, max(0, cells - length(line))), "text")]


def strip(found: Strip, cells: int, zone: tzinfo | None, *, told: bool = True) -> Line:
    """An episode: when, the way through the quadrants, what it was about; `told`: and where it stood most."""
    room = 24 if cells >= 96 else 16 if cells >= 72 else 12
    way = path(found.path, room)
    failed: Line = [(f"  ✗ {found.failed}", "bad")] if found.failed else []
    left: Line = [(clock(found.started_at, zone)[:5] + "  ", "quiet"), *way, ("  ", "text")]
    title = cells - 9 - room - sum(width(text) for text, _ in failed) - 14
    most = max(QUADRANTS, key=lambda name: share(found.quadrants, name).number)
    part = tight(percents(found.quadrants), most)
    stood = f"{most} {part}" if told and share(found.quadrants, most).number else ""
    title -= 14 if cells >= 72 else 0
    said: Line = [(pad(flat(found.title), max(8, title)), "text")]
    far: Line = [(pad(stood, 13), "quiet")] if cells >= 72 else []
    calls: Line = [(f" {found.count:>5} {pad(plural(found.count, 'call'), 5)}  ", "quiet")]
    return cut([*left, *said, *calls, *far, *failed], cells)


def titles(stance: Stance) -> tuple[str, str]:
    """The titles of the chart and of the plane."""
    base = signed(stance.scope_base) if stance.scope_base else "0"
    return (f"Trajectory ─ phase P solid, scope S dotted; middle 0 of P, {base} of S", "Plane ─ ● now, ○ 20 calls ago")


def header(stance: Stance | None, project: str, intent: str, cells: int) -> Line:
    """The header of the screen: which session this is about."""
    where: Line = [(" nmem ▸ ", "quiet"), (flat(project) or "no project", "title")]
    if stance is None:
        return where
    said: Line = [("   ", "text"), (fit(flat(intent), 80), "text")] if intent else []
    read = several(stance.observations, "call")
    return joined([cut([*where, *said], max(16, cells - width(read) - 4)), [(read, "quiet")]], "   ")


def told(stance: Stance, cells: int) -> Iterator[Line]:
    """What stands in cards where there is room, as lines of one column: what to do first."""
    yield from guidance(stance.guidance, cells)
    yield []
    yield from shares(stance, cells)


_LAST = 200
"""Observations that the small chart shows."""
_LINE = 60
"""Those that the one line shows."""
_LETTERS, _LOW = 2, 3
"""Cells for the lines' letters; rows below which a chart says less than blocks do."""


def title(stance: Stance) -> str:
    """The title of the card."""
    return f"Stance ─ {doing(stance)}"


def card(stance: Stance, cells: int, rows: int, zone: tzinfo | None) -> list[Line]:
    """The small chart, the newest shifts, and what to do: as much of it as there is room for."""
    below = [line for line in (shifts(stance, cells, zone), advice(stance, cells)) if line]
    below = below[-max(0, rows - 1) :]
    high = max(1, rows - len(below))
    if high < _LOW:
        return [line(stance, cells, told=False), *below][:rows]
    return [*small(trace(stance, cells, right=_LETTERS, last=_LAST), high), *below][:rows]


def shifts(stance: Stance, cells: int, zone: tzinfo | None) -> Line:
    """The newest shifts, as many as fit."""
    if not stance.shifts:
        return cut([("no shift yet", "quiet")], cells)
    parts: list[tuple[int, Line]] = []
    for rank, each in enumerate(reversed(stance.shifts[-3:])):
        before = each.before if rank == len(stance.shifts[-3:]) - 1 and each.before else ""
        way = flat(f"{before}→{each.after or each.to}")
        parts.append((rank, [(f"{clock(each.at, zone)[:5]} ", "quiet"), (way, "text")]))
    return [("shifts ", "quiet"), *fitting(parts[::-1], cells - 7, " · ")]


def advice(stance: Stance, cells: int) -> Line:
    """The weightiest piece of guidance."""
    if not stance.guidance:
        return []
    return cut([("◆ ", "accent"), (flat(stance.guidance[0].text), "text")], cells)


def spark(stance: Stance, cells: int) -> str:
    """The newest stretch of phase: the higher, the more acting."""
    values = [point.ema_phase for point in stance.points[-_LINE:] if point.ema_phase is not None]
    if not values or cells <= 0:
        return ""
    step = max(1, len(values) // cells)
    shown = values[::-1][::step][:cells][::-1]
    return figures.spark([max(-1.0, min(1.0, value)) + 1 for value in shown], cells, 2.0)


def line(stance: Stance, cells: int, *, told: bool = True) -> Line:
    """Phase as a line of blocks, where the session came from and where it is, and what to do."""
    last = stance.shifts[-1] if stance.shifts else None
    came = (
        f"{last.before} → "
        if last and last.before in MEANING and last.before != stance.quadrant and not stance.few
        else ""
    )
    parts: list[tuple[int, Line]] = [
        (1, [("phase ", "quiet"), (spark(stance, max(8, min(20, cells // 5))), "phase")]),
        (0, [(came, "quiet"), (doing(stance), "strong")]),
    ]
    if stance.guidance and told:
        parts.append((2, [("◆ ", "accent"), (flat(stance.guidance[0].text), "text")]))
    whole = fitting(parts, 10**6)
    return cut(whole, cells) if cells >= 40 else fitting(parts[:2], cells)


SIGNS = (
    Sign("◆", "advice, with its reason below", "accent"),
    Sign("!", "unusual beside your other sessions", "warn"),
    Sign("✓", "nothing to point out; of a stuck stretch: it got through", "good"),
    Sign("✗ 2", "calls that failed", "bad"),
    Sign("{bar}{track}", "a share of the calls", "bar"),
)
