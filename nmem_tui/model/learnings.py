"""A line of the list of learnings: heat, kind, pattern, in how many sessions, how lately, and if a fix is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nmem.learn import shown
from nmem.learn.learning import (
    ACCEPTED,
    CORRECTION,
    DISMISSED,
    FAILED_COMMAND,
    OPEN,
    RECURRING_ERROR,
    REPEATED_INTENT,
    RESOLVED,
    SKILL,
    SNOOZED,
    STATES,
    STUCK_LOOP,
    UNRESOLVED_READ,
    Learning,
    Warned,
)  # fmt: skip
from nmem.text import fit, pad, printable, width
from nmem_tui.model import keyed, symbols
from nmem_tui.model.figures import age, ago, filled, several
from nmem_tui.model.line import Line, cut, fitting, length, spread
from nmem_tui.model.unit import flat
from nmem_tui.model.words import Words

ALL = "all"
SKILLS = "skills"
"""What goes well, listed apart."""
CHOICES = (*STATES, ALL, SKILLS)
"""What the list can be narrowed to, in the order in which the key goes through it; skills only where there are any."""
HOT = "hot"
"""The warmth that the tab counts."""
_WARMTH = {HOT: "bad", "warm": "warn", "cool": "quiet"}
_SHORT = {
    STUCK_LOOP: ("stuck", "bad"),
    FAILED_COMMAND: ("fails", "run"),
    RECURRING_ERROR: ("error", "warn"),
    REPEATED_INTENT: ("asked", "user"),
    UNRESOLVED_READ: ("open", "look"),
    CORRECTION: ("rule", "user"),
    SKILL: ("skill", "good"),
}
"""Kind -> its word where there is little room, its tone."""
_OLD_MS = 60 * 86_400_000
"""What was met last so long ago does not stand out any more."""
_READABLE = 28
"""Cells that a pattern keeps before more is said of it."""
_STATES = {
    OPEN: ("● open", "accent"), ACCEPTED: ("§ accepted", "good"), SNOOZED: ("◔ snoozed", "quiet"),
    DISMISSED: ("– dismissed", "quiet"), RESOLVED: ("✓ resolved", "good"),
}  # fmt: skip


def warmth(heat: int) -> tuple[str, str]:
    """The word for a heat, and its tone."""
    word = shown.word(heat)
    return word, _WARMTH.get(word, "text")


def state(one: Learning) -> tuple[str, str]:
    """Where it stands: glyph and word, and its tone."""
    return _STATES.get(one.state) or (printable(one.state)[:11], "quiet")


def kind(one: Learning) -> tuple[str, str, str]:
    """Its kind in a word, in a few words, and its tone."""
    short, tone = _SHORT.get(one.kind) or (printable(one.kind)[:6], "quiet")
    return short, shown.KIND.get(one.kind) or printable(one.kind), tone


def gauge(one: Learning, cells: int, at: int) -> Line:
    """Heat as a bar, a number and a word; quiet where it is old, and `past` where it is over."""
    heat = one.heat
    word, tone = warmth(heat)
    if one.state in (RESOLVED, DISMISSED):
        word, tone = "past", "quiet"
    elif at - one.last_at > _OLD_MS:
        tone = "quiet"
    done = filled(heat, 100, cells)
    return [
        (symbols.now().bar * done, tone),
        (symbols.now().track * (cells - done), "off"),
        (f" {heat:>3} ", "strong"),
        (pad(word, 4), tone),
    ]


def columns(cells: int, *, states: bool, where: bool) -> Line:
    """What stands over the list."""
    shape = _Shape(cells, states=states, where=where)
    end = "".join(pad(name, size, right=name != "state" and name != "project") for name, size in shape.end)
    line: Line = [(pad("heat", shape.bar + 11) + pad("kind", shape.kind) + pad("pattern", shape.title) + end, "quiet")]
    return cut(line, cells)


class _Shape:
    """Which columns there is room for, and how wide they are."""

    def __init__(self, cells: int, *, states: bool, where: bool) -> None:
        self.bar = 8 if cells >= 96 else 5
        self.kind = 17 if cells >= 100 else 6
        wanted = [
            ("state", 12, states and cells >= 72), ("project", 14, where and cells >= 72),
            ("sessions", 9, cells >= 76), ("last met", 15 if cells >= 96 else 9, True), ("fix", 5, True),
        ]  # fmt: skip
        self.end = [(name, size) for name, size, there in wanted if there]
        self.title = max(0, cells - self.bar - 11 - self.kind - sum(size for _, size in self.end))


def row(one: Learning, cells: int, at: int, *, states: bool, where: bool) -> Line:
    """A learning in exactly `cells` cells."""
    shape = _Shape(cells, states=states, where=where)
    short, words, tone = kind(one)
    back = f"↺{one.reopened} " if one.reopened else ""
    title = fit(flat(one.title), max(1, shape.title - width(back) - 1))
    hot = warmth(one.heat)[0] == HOT and one.state == OPEN and at - one.last_at <= _OLD_MS
    line: Line = [
        *gauge(one, shape.bar, at), ("  ", "text"), (pad(words if shape.kind > 6 else short, shape.kind), tone),
        (back, "warn"), (pad(title, max(0, shape.title - width(back))), "strong" if hot else "text"),
    ]  # fmt: skip
    known = {
        "state": (state(one)[0], state(one)[1]), "project": (flat(one.project), "quiet"),
        "sessions": (str(one.sessions), "text"),
        "last met": ((ago if cells >= 96 else age)(at - one.last_at), "quiet"),
        "fix": ("✓" if one.remedy else "", "good"),
    }  # fmt: skip
    for name, size in shape.end:
        text, look = known[name]
        left = name in ("state", "project")
        line.append((pad(text, size - 1) + " " if left else pad(text, size, right=True), look))
    return cut(line, cells)


def bar(counts: Mapping[str, int], chosen: str, cells: int) -> Line:
    """The states with their counts; the one that is listed is marked."""
    parts: list[tuple[int, Line]] = []
    for rank, name in enumerate(CHOICES):
        number = counts.get(name, 0)
        if name == SKILLS and not number:
            continue
        here = name == chosen
        look = "tab" if here else "quiet" if number else "off"
        parts.append(
            (
                -1 if here else rank if number else rank + len(CHOICES),
                [("▸" if here else " ", "accent"), (f"{name} {number}", look)],
            )
        )
    more: Line = [(f"{keyed.of('projects')} ", "key"), ("projects ", "quiet")]
    room = cells - 3 - length(more)
    if room < _READABLE:
        return [(f" {keyed.of('next_state')} ", "key"), *fitting(parts, max(8, cells - 3), "  ")]
    return spread([(f" {keyed.of('next_state')} ", "key"), *fitting(parts, room, "  ")], more, cells)


def header(counts: Mapping[str, int], hot: int, elsewhere: int, where: str, cells: int) -> Line:
    """The one line on top; what is hot in other projects is said where nothing is hot in this one."""
    warm: Line = [(f"▲ {hot} hot", "bad")] if hot else [("nothing hot", "good")]
    if elsewhere and not hot:
        warm = [("nothing hot here", "good"), (f", {elsewhere} elsewhere: ", "quiet"), (keyed.of("projects"), "key")]
    parts: list[tuple[int, Line]] = [
        (0, [(" nmem ▸ ", "quiet"), (where, "title")]),
        (1, [(several(counts.get(OPEN, 0), "open learning"), "text")]), (2, warm),
        (3, [(f"{counts.get(RESOLVED, 0)} resolved, {counts.get(ACCEPTED, 0)} accepted", "quiet")]),
    ]  # fmt: skip
    return fitting(parts, cells, "   ")


def matching(words: Words, found: Sequence[Learning]) -> list[Learning]:
    """The learnings that pass a filter."""
    return [one for one in found if words.match(_words(one))] if words else list(found)


def _words(one: Learning) -> str:
    mended = f"{one.remedy.text} {' '.join(one.remedy.files)} {' '.join(one.remedy.commands)}" if one.remedy else ""
    about = f"{one.title} {' '.join(kind(one)[:2])} {one.project} {' '.join(one.files)}"
    return f"{about} {one.rule} {mended} {warmth(one.heat)[0]}".lower()


def warning(found: Sequence[Warned], cells: int) -> Line:
    """The hottest learning that an episode runs into again, in one line."""
    first, more = found[0].learning, len(found) - 1
    word, tone = warmth(first.heat)
    said, title = f"{_before(first)}: ", flat(first.title)
    tail: Line = [(" heat ", "quiet"), (f"{first.heat} {word}", tone), (f" +{more}" if more else "", "quiet")]
    room = cells - width(said) - 4 - length(tail)
    extras: Line = [(f" ({several(first.sessions, 'session')})", "quiet")]
    extras += [(" ✓ fix known", "good")] if first.remedy else []
    for extra in extras:
        if room - width(extra[0]) >= min(_READABLE, width(title)):
            tail.append(extra)
            room -= width(extra[0])
    return cut([("! ", "key"), (said, "warn"), (f"“{fit(title, max(8, room))}”", "text"), *tail], cells)


def _before(one: Learning) -> str:
    return {
        REPEATED_INTENT: "asked before", UNRESOLVED_READ: "unsettled before", FAILED_COMMAND: "failed before",
        RECURRING_ERROR: "error seen before",
    }.get(one.kind, "stuck before")  # fmt: skip


def since(one: Learning, at: int) -> Line:
    """Where it stands, and since when, in words."""
    word, tone = state(one)
    line: Line = [(word, tone)]
    if one.state == SNOOZED and one.snoozed_until is not None:
        return [*line, (f" for another {age(one.snoozed_until - at)}", "quiet")]
    if one.state_at is not None and one.state != OPEN:
        by = " by you" if one.state_by == "person" else ": it passed since" if one.state == RESOLVED else ""
        line.append((f" {ago(at - one.state_at)}{by}", "quiet"))
    if one.reopened:
        line.append((f"  ↺ came back {several(one.reopened, 'time')} after it was resolved", "warn"))
    return line
