"""What sessions were told, as the screen Context lists it: when, to whom, how much, and what became of it."""

from __future__ import annotations

from datetime import tzinfo

from nmem.context.past import Past, Telling, Told, ToldItem
from nmem.text import fit, fit_path, pad, printable
from nmem_tui.model import symbols
from nmem_tui.model.figures import age, ago, date, day, filled, several
from nmem_tui.model.items import Item, plain
from nmem_tui.model.line import Line, cut, fitting, spread, wrap

TELLING = "telling"
_EVENTS = {"prompt": "prompt", "startup": "start", "resume": "resumed", "clear": "cleared", "compact": "compacted",
           "fork": "forked", "failure": "failure", "call": "call"}  # fmt: skip
_EVENT, _CLIENT = 9, 6
_USED = {True: ("✓", "good", "of use"), False: ("✗", "quiet", "not of use"), None: ("?", "warn", "not known yet")}


def totals(found: Past, cells: int) -> Line:
    """What became of all that was told, as a bar with its words."""
    if not found.tellings:
        return cut([(" nothing was told in this project yet", "quiet")], cells)
    known = found.used + found.unused
    share = f"{found.used / known:.0%} of use" if known else "use not known yet"
    figures = f" {share}, {found.used} of {several(known, 'thing')}" if known else f" {share}"
    right = f"{several(found.tellings, 'text')} in {several(found.sessions, 'session')} "
    if len(figures) + len(right) + 17 > cells:
        right = ""
    room = max(6, min(32, cells - len(figures) - len(right) - 10))
    done = filled(found.used, known, room)
    return spread(
        [(" of use ", "quiet"), (symbols.now().much * done, "bar"),
         (symbols.now().free * (room - done), "rest"), (figures, "text")],
        [(right, "quiet")], cells,
    )  # fmt: skip


def columns(cells: int) -> Line:
    """The heads of the columns."""
    return cut(
        [(f" {pad('when', 11)} {pad('at', _EVENT)} {'tok':>4} {pad('of use', 8)} asked, or why", "quiet")], cells
    )


def items(found: Past, cells: int, at: int, zone: tzinfo | None) -> list[Item]:  # noqa: ARG001 -- a row is cut when it is drawn
    """One row each, the newest first."""
    out = [_row(one, at, zone) for one in found.found]
    rest = found.tellings - len(out)
    return [*out, *plain([[(f" {rest} older ones: nmem context --past --limit N", "quiet")]])] if rest > 0 else out


def _row(one: Told, at: int, zone: tzinfo | None) -> Item:
    event = _EVENTS.get(one.event, printable(one.event))

    def draw(cells: int) -> Line:
        room = cells - 11 - _EVENT - 18
        kept = "kept back" if one.withheld else ""
        words = printable(" ".join((one.prompt or one.reason).split()))
        return [
            (f" {pad(date(one.at, at, zone), 11)} ", "quiet"),
            (pad(fit(event, _EVENT), _EVENT) + " ", "look"),
            (f"{min(one.tokens, 9999):4} ", "quiet" if one.withheld else "text"),
            *_counts(one),
            (f"{kept}  " if kept else "", "warn"),
            (fit(words, max(0, room - (len(kept) + 2 if kept else 0))), "quiet" if one.withheld else "text"),
        ]

    return Item(draw, TELLING, str(one.id), one.at)


def _counts(one: Told) -> Line:
    if not one.items:
        return [(pad("–", 9), "quiet")]
    if one.undecided == one.items:
        return [(pad(f"? of {min(one.items, 99)}", 9), "warn")]
    return [(pad(f"✓ {min(one.used, 99)} of {min(one.items, 99)}", 9), "good" if one.used else "quiet")]


def detail(found: Telling, cells: int) -> list[Item]:
    """What became of each thing, then the exact text."""
    lines: list[Line] = []
    for one in found.items:
        lines += _became(one, cells)
    lines += [[], [("exactly as it was told" if not found.told.withheld else "what it would have been told", "title")]]
    for line in found.text.split("\n"):
        lines += [[(row, "text")] for row in wrap(printable(line), max(8, cells), 60) or [""]]
    return list(plain(lines))


def _became(one: ToldItem, cells: int) -> list[Line]:
    mark, tone, words = _USED[one.used]
    how = printable(one.how) or words
    why = f"  ·  told because {printable(one.reason)}" if one.reason else ""
    figures = f"{one.score:.2f}  {one.tokens:4} tok"
    name = fit_path(printable(one.id), max(12, cells - 18))
    first = spread([(f"{mark} ", tone), (name, "strong")], [(figures, "quiet")], cells)
    return [
        first,
        cut([("  ", "text"), (how, tone), (why, "quiet")], cells),
    ]


def about(one: Told | None, cells: int, at: int, zone: tzinfo | None) -> list[Line]:
    """One telling: when, to whom, why then."""
    if one is None:
        return [[("nothing was told yet", "quiet")]]
    kept: Line = [("kept back, to see what difference it makes", "warn")] if one.withheld else []
    lines: list[Line] = [
        fitting([
            (0, [(day(one.at, zone)[:16], "strong"), (f"  {ago(at - one.at)}", "quiet")]),
            (1, [(printable(one.client), "text")]), (2, [(several(one.tokens, "token"), "quiet")]),
            *([(1, kept)] if kept else []),
        ], cells, "  ·  "),
        cut([("session ", "quiet"), (printable(one.session_id), "text")], cells),
        cut([("because ", "quiet"), (printable(one.reason) or "unknown", "text")], cells),
    ]  # fmt: skip
    if one.prompt:
        lines += [[(row, "text")] for row in wrap(f"“{printable(' '.join(one.prompt.split()))}”", cells, 3)]
    return lines


def title(found: Past, at: int) -> str:
    """The list's title."""
    newest = f", the newest {age(at - found.found[0].at)} old" if found.found else ""
    return f"Told before ─ {several(found.tellings, 'text')}{newest}"
