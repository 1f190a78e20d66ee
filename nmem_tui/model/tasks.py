"""A line of the list of tasks: where it stands, what is asked, of whom, how it ended, and when, or why it waits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import tzinfo

from nmem.dispatch.order import APPROVAL, FOLDER, LATER, NEEDS, QUIET, Place
from nmem.dispatch.task import (
    CANCELLED,
    FAILED,
    NEEDS_INPUT,
    QUEUED,
    RUNNING,
    SUCCEEDED,
    TIMED_OUT,
    Task,
)  # fmt: skip
from nmem.text import fit, pad, printable, width
from nmem_tui.model import keyed
from nmem_tui.model.figures import age, ago, clock, date, several
from nmem_tui.model.items import Item
from nmem_tui.model.line import Line, cut, fitting
from nmem_tui.model.tasks_reading import Listing
from nmem_tui.model.unit import flat

TASK = "task"
_STATES = {
    RUNNING: ("● running", "accent"), NEEDS_INPUT: ("! needs you", "warn"), QUEUED: ("○ queued", "text"),
    SUCCEEDED: ("✓ succeeded", "good"), FAILED: ("✗ failed", "bad"), CANCELLED: ("– cancelled", "quiet"),
    TIMED_OUT: ("✗ timed out", "bad"),
}  # fmt: skip
_DAY_MS = 86_400_000
_ROOMY = 120
"""Cells from which on a reason is told in full."""


def state(one: Task) -> tuple[str, str]:
    """Where it stands: glyph and word, and its tone."""
    if one.asks:
        return "? approve", "warn"
    return _STATES.get(one.state) or (printable(one.state)[:11], "quiet")


def none_here() -> str:
    """Why nothing can be made of a task where there is none."""
    return f"there is no task here: {keyed.of('new_task')} writes one"


def names(ids: Sequence[int]) -> str:
    """Tasks as a person writes them."""
    return ", ".join(f"task/{each}" for each in ids)


def waits(place: Place, at: int, zone: tzinfo | None) -> str:
    """Why a queued task waits, in full."""
    if place.waits == APPROVAL:
        return f"an agent queued it, and it waits for your approval: {keyed.of('approve_task')} lets it run"
    if place.waits == NEEDS:
        return f"waits for {names(place.tasks)}"
    if place.waits == LATER:
        return f"not before {_moment(place.until, at, zone)}"
    if place.waits == QUIET:
        return f"quiet hours, {printable(place.quiet)}"
    if place.waits == FOLDER:
        return f"its folder is busy: {names(place.tasks)}"
    return f"ready: a runner takes it, or {keyed.of('run_task')} starts it"


def _waits(place: Place, at: int, zone: tzinfo | None) -> str:
    """The same in a few words."""
    if place.waits == APPROVAL:
        return f"{keyed.of('approve_task')} approves"
    if place.waits in (NEEDS, FOLDER):
        more = "…" if len(place.tasks) > 1 else ""
        return f"{'after' if place.waits == NEEDS else 'folder:'} {place.tasks[0]}{more}"
    if place.waits == LATER:
        return _moment(place.until, at, zone)
    return f"until {place.quiet.rpartition('-')[2]}" if place.waits == QUIET else "ready"


def _moment(until: int, at: int, zone: tzinfo | None) -> str:
    return clock(until, zone)[:5] if until - at < _DAY_MS else date(until, at, zone)


def tries(one: Task) -> str:
    """Which try it is at, where that says something."""
    if one.tries > 1 or (one.retries and one.tries):
        return f"{one.tries}/{one.retries + 1}" if one.retries else f"{one.tries}"
    return ""


def took(one: Task, at: int) -> str:
    """How long it ran, or runs."""
    if one.started_at is None or one.state == QUEUED:
        return ""
    return age((one.ended_at if one.over and one.ended_at else at) - one.started_at).replace("now", "0 s")


class _Shape:
    """Which columns there is room for, and how wide they are."""

    def __init__(self, cells: int) -> None:
        self.full = cells >= _ROOMY
        wanted = [
            ("project", 16 if self.full else 11, True), ("client", 7, cells >= 70), ("exit", 5, True),
            ("try", 5, cells >= 70), ("took", 6, cells >= 88), ("when", 28 if self.full else 12, True),
        ]  # fmt: skip
        self.end = [(name, size) for name, size, there in wanted if there]
        self.title = max(0, cells - 12 - 5 - sum(size for _, size in self.end))


_LEFT = ("project", "client")


def columns(cells: int) -> Line:
    """What stands over the list."""
    shape = _Shape(cells)
    end = "".join(pad(name, size, right=name not in _LEFT) for name, size in shape.end)
    return cut([(pad("state", 12) + pad("id", 4, right=True) + " " + pad("what", shape.title) + end, "quiet")], cells)


def row(one: Task, place: Place | None, cells: int, at: int, zone: tzinfo | None) -> Line:
    """A task in exactly `cells` cells."""
    shape = _Shape(cells)
    word, tone = state(one)
    loud = one.live or one.state in (FAILED, TIMED_OUT)
    code = "" if one.exit_code is None or not one.over else str(one.exit_code)
    known = {
        "project": (flat(one.project), "quiet"), "client": (flat(one.client), "quiet"),
        "exit": (code, "quiet" if code in ("", "0") else "bad"), "try": (tries(one), "warn"),
        "took": (took(one, at) if one.over else "", "text"), "when": _when(one, place, at, zone, full=shape.full),
    }  # fmt: skip
    line: Line = [
        (pad(word, 12), tone), (pad(str(one.id), 4, right=True) + " ", "quiet"),
        (pad(fit(flat(one.title), shape.title - 1), shape.title), "strong" if loud else "text"),
    ]  # fmt: skip
    for name, size in shape.end:
        text, look = known[name]
        line.append((pad(fit(text, size - 1), size, right=name not in _LEFT), look))
    return cut(line, cells)


def _when(one: Task, place: Place | None, at: int, zone: tzinfo | None, *, full: bool) -> tuple[str, str]:
    if place is not None:
        return (waits if full else _waits)(place, at, zone), "good" if place.waits == "ready" else "quiet"
    if one.live:
        asks = one.state == NEEDS_INPUT and full
        return (flat(one.reason), "warn") if asks else (f"for {took(one, at)}", "text")
    return ago(at - (one.ended_at or one.changed_at)), "quiet"


def items(found: Listing, at: int, zone: tzinfo | None) -> list[Item]:
    """The whole list under its headings."""
    out: list[Item] = []
    out += _group("At work", "", [(one, None) for one in found.live], at, zone)
    queued = [(each.task, each) for each in found.queued]
    out += _group("Queued", "in the order in which they will run", queued, at, zone)
    out += _group("Over", "the newest first", [(one, None) for one in found.over], at, zone)
    return out


def _group(
    name: str, more: str, found: Sequence[tuple[Task, Place | None]], at: int, zone: tzinfo | None
) -> Iterator[Item]:
    if not found:
        return

    def head(number: int) -> Line:
        return [(f"── {name} ", "title"), (f" {number}{', ' if more else ''}{more}", "quiet")]

    yield Item(lambda cells: cut(head(len(found)), cells), counts=head)
    for one, place in found:
        yield Item(_drawn(one, place, at, zone), TASK, str(one.id), words=_words(one))


def _drawn(one: Task, place: Place | None, at: int, zone: tzinfo | None) -> Callable[[int], Line]:
    return lambda cells: row(one, place, cells, at, zone)


def _words(one: Task) -> str:
    return f"{one.prompt} {one.state} {one.client} {one.project} {one.cwd} task/{one.id} {one.reason} {one.branch}"


def header(counts: Mapping[str, int], cells: int) -> Line:
    """The one line on top."""
    live, asks = counts.get(RUNNING, 0), counts.get(NEEDS_INPUT, 0)
    bad = counts.get(FAILED, 0) + counts.get(TIMED_OUT, 0)
    parts: list[tuple[int, Line]] = [
        (0, [("nmem ▸ ", "quiet"), ("Tasks", "title")]),
        (1, [(f"! {asks} {'needs' if asks == 1 else 'need'} you", "warn")] if asks else []),
        (2, [(f"● {live} running", "accent")] if live else [] if asks else [("nothing runs", "quiet")]),
        (3, [(f"{counts[QUEUED]} queued", "text")] if counts.get(QUEUED) else []),
        (4, [(f"✗ {bad} failed", "bad")] if bad else []),
        (5, [(f"✓ {counts[SUCCEEDED]} succeeded", "good")] if counts.get(SUCCEEDED) else []),
    ]
    return cut([(" ", "text"), *fitting([each for each in parts if each[1]], cells - 1, "   ")], cells)


def total(found: Listing) -> str:
    """How many, in a few words."""
    listed = len(found.live) + len(found.queued) + len(found.over)
    return several(found.total, "task") + (f", the first {listed:,} of them" if listed < found.total else "")


def title(one: Task, cells: int) -> str:
    """The title of a frame."""
    head = f"Task {one.id} ─ "
    return head + fit(flat(one.title), max(8, cells - width(head)))
