"""Draws the queue of tasks, and one task in full with its prompt, tries, events and output."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import tzinfo

from nmem.dispatch.read import APPROVAL, FOLDER, LATER, NEEDS, QUIET, Place
from nmem.dispatch.task import (
    CANCELLED,
    FAILED,
    HEADLESS,
    NEEDS_INPUT,
    QUEUED,
    RUNNING,
    SUCCEEDED,
    TIMED_OUT,
    Task,
    TaskEvent,
)  # fmt: skip
from nmem.text import fit, fit_path, lines, pad, printable, width
from nmem_tui.model import actions
from nmem_tui.model.figures import age, ago, clock, date, several
from nmem_tui.model.line import Line, cut, fitting, fitting_head, section, wrap
from nmem_tui.model.lists import Item, plain_items
from nmem_tui.model.now_cards import flat
from nmem_tui.model.symbols import Sign
from nmem_tui.model.tasks_queries import Detail, Listing

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
    return f"no task here: {actions.key_of('new_task')} writes one"


def names(ids: Sequence[int]) -> str:
    """Tasks as a person writes them."""
    return ", ".join(f"task/{each}" for each in ids)


def waits(place: Place, at: int, zone: tzinfo | None) -> str:
    """Why a queued task waits, in full."""
    if place.waits == APPROVAL:
        return f"an agent queued it, and it waits for your approval: {actions.key_of('approve_task')} lets it run"
    if place.waits == NEEDS:
        return f"waits for {names(place.tasks)}"
    if place.waits == LATER:
        return f"not before {_moment(place.until, at, zone)}"
    if place.waits == QUIET:
        return f"quiet hours, {printable(place.quiet)}"
    if place.waits == FOLDER:
        return f"its folder is busy: {names(place.tasks)}"
    return f"ready: a runner takes it, or {actions.key_of('run_task')} starts it"


def _waits(place: Place, at: int, zone: tzinfo | None) -> str:
    """The same in a few words."""
    if place.waits == APPROVAL:
        return f"{actions.key_of('approve_task')} approves"
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


_MIDDLE, _WIDE = 70, 88
"""Cells from which on there is room for the tries; for client, exit code and how long it took as well."""


class _Shape:
    """Which columns there is room for, and how wide they are."""

    def __init__(self, cells: int) -> None:
        self.full = cells >= _ROOMY
        wanted = [
            ("project", 16 if self.full else 11, True), ("client", 7, cells >= _WIDE), ("exit", 5, cells >= _WIDE),
            ("try", 5, cells >= _MIDDLE), ("took", 6, cells >= _WIDE), ("when", 28 if self.full else 12, True),
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


SESSION, LEARNING, TASK = "session", "learning", "task"
"""What an item can stand for: enter goes there."""
_LABEL = 10
_PROMPT = 200
"""Lines of the prompt that are shown."""
_REASON = 4


def detail_items(found: Detail, cells: int, at: int, zone: tzinfo | None) -> list[Item]:
    """The whole pane for so many cells."""
    return [
        *_head(found, cells, at, zone),
        *plain_items([[], section("Prompt", cells, free=0)]),
        *plain_items(list(_prompt(found.task, cells))),
        *plain_items([[], section("Options", cells, free=0)]),
        *_options(found, cells, zone),
        *plain_items([[], section("What happened", cells, free=0)]),
        *plain_items(list(_events(found, cells, at, zone))),
    ]


def _field(name: str, text: str, cells: int, tone: str = "text", limit: int = 3) -> Iterator[Item]:
    for number, row in enumerate(wrap(text, max(8, cells - _LABEL), limit)):
        yield from plain_items([[(pad(name if not number else "", _LABEL), "quiet"), (row, tone)]])


def _leads() -> Line:
    """Which key leads there."""
    return [(f"  {actions.key_of('open')}", "key"), (" shows it", "quiet")]


def _link(name: str, line: Line, kind: str, key: str) -> Item:
    return Item(lambda cells: cut([(pad(name, _LABEL), "quiet"), *line], cells), kind, key)


def _path(name: str, path: str, cells: int) -> Iterator[Item]:
    yield from plain_items(
        [[(pad(name, _LABEL), "quiet"), (fit_path(printable(path), max(8, cells - _LABEL)), "text")]]
    )


def _head(found: Detail, cells: int, at: int, zone: tzinfo | None) -> Iterator[Item]:
    one = found.task
    word, tone = state(one)
    line: Line = [(pad("state", _LABEL), "quiet"), (word, tone)]
    if one.over and one.exit_code is not None:
        line += [("  exit code ", "quiet"), (str(one.exit_code), "bad" if one.exit_code else "good")]
    if span := took(one, at):
        line += [("  for ", "quiet") if one.live else ("  took ", "quiet"), (span, "text")]
    if one.over:
        line.append((f"  {ago(at - (one.ended_at or one.changed_at))}", "quiet"))
    yield from plain_items([line])
    why = waits(found.place, at, zone) if found.place else ""
    reason = flat(one.reason)
    if found.place and found.place.waits == "ready" and reason:
        why = f"{reason}; {why}"
    yield from _field("why", why or reason, cells, "warn" if one.live else "text", _REASON)
    if one.session_id:
        yield _link("session", [(printable(one.session_id)[:40], "text"), *_leads()], SESSION, one.session_id)
    if one.worktree_path:
        yield from _path("worktree", one.worktree_path, cells)
        yield from _field("branch", printable(one.branch), cells)


def _prompt(one: Task, cells: int) -> Iterator[Line]:
    shown = 0
    for text in lines(one.prompt, _PROMPT):
        for row in folded(text, cells):
            if shown == _PROMPT:
                yield [("… y copies all of it", "quiet")]
                return
            shown += 1
            yield [(row, "text")]


def folded(text: str, cells: int) -> Iterator[str]:
    """A printable line over as many as it needs: broken at blanks where there are some, its indent kept."""
    cells = max(8, cells)
    while width(text) > cells:
        head = fitting_head(text, cells)
        at = head.rfind(" ")
        if at > cells // 2:
            head = head[: at + 1]
        yield head.rstrip()
        text = text[len(head) :]
    yield text


def _options(found: Detail, cells: int, zone: tzinfo | None) -> Iterator[Item]:
    one = found.task
    yield from _field("client", f"{flat(one.client)}{', stays open' if one.interactive else ''}", cells)
    yield from _field("project", flat(one.project), cells)
    yield from _path("folder", one.cwd, cells)
    for number, need in enumerate(one.needs):
        yield _other("needs" if not number else "", need, found)
    if found.waiting:
        yield from _field("needed by", names(found.waiting), cells)
    for name, text in (
        ("priority", str(one.priority or "")),
        ("tries", _tries(one)),
        ("after", date(one.not_before, one.changed_at, zone) if one.not_before else ""),
        ("quiet", "" if one.quiet_hours is None else printable(one.quiet_hours) or "no quiet hours"),
        ("limit", _span(one.time_limit)),
        ("worktree", "of its own" if one.worktree and not one.worktree_path else ""),
        ("pane", printable(one.target) or (printable(f"{one.pane} of tmux") if one.live and one.pane else "")),
        ("runs", "without a terminal" if one.live and one.how == HEADLESS else ""),
        ("queued by", flat(one.source) if one.source != "person" else ""),
    ):
        yield from _field(name, text, cells)
    if one.parent_id:
        yield _other("parent", one.parent_id, found)
    if one.learning_id:
        yield _link("about", [(f"learning {one.learning_id}", "text"), *_leads()], LEARNING, str(one.learning_id))


def _other(name: str, number: int, found: Detail) -> Item:
    other = found.others.get(number)
    if other is None:
        return _link(name, [(f"task/{number}", "quiet"), (", which is gone", "quiet")], "", "")
    word, tone = state(other)
    line: Line = [(f"task/{number} ", "text"), (word, tone), (f"  {flat(other.title)}", "quiet")]
    return _link(name, line, TASK, str(number))


def _tries(one: Task) -> str:
    if one.retries:
        return f"{one.tries} of {one.retries + 1}" if one.tries else f"at most {one.retries + 1}"
    return str(one.tries) if one.tries > 1 else ""


def _span(seconds: int) -> str:
    if not seconds:
        return ""
    for size, word in ((3600, "hour"), (60, "minute")):
        if seconds >= size and seconds % size == 0:
            return several(seconds // size, word)
    return several(seconds, "second")


def _events(found: Detail, cells: int, at: int, zone: tzinfo | None) -> Iterator[Line]:
    today = date(at, at, zone)[:5]
    days = [date(each.at, at, zone) for each in found.events]
    whole = any(day[:5] != today for day in days)
    for each, day in zip(found.events, days, strict=True):
        yield from _event(each, day if whole else clock(each.at, zone)[:5], cells)


def _event(each: TaskEvent, when: str, cells: int) -> Iterator[Line]:
    text = "" if each.what == "claimed" else flat(each.text)
    number = f" (try {each.attempt})" if each.attempt > 1 and each.what in ("claimed", "started", "ended") else ""
    indent = width(when) + 2
    rows = wrap(text, max(8, cells - indent - 11), 3) or [""]
    for place, row in enumerate(rows):
        if place:
            yield [(" " * (indent + 11), "text"), (row, "text")]
        else:
            tone = _TONES.get(each.what, "text")
            yield [(pad(when, indent), "quiet"), (pad(flat(each.what), 10) + " ", tone), (row, "text"),
                   (number, "quiet")]  # fmt: skip


_TONES = {"asked": "warn", "answered": "text", "started": "accent", "cancelled": "quiet", "retried": "warn"}


def output(text: str, cells: int) -> list[Item]:
    """What it said, its own lines folded to the width."""
    if not text.strip():
        return []
    return list(plain_items([[(row, "text")] for each in lines(text, 4000) for row in folded(each, cells)]))


def plain_text(text: str) -> str:
    """A text as it may leave for the clipboard: its own lines, printable."""
    return "\n".join(lines(text, 20_000))


def output_title(one: Task, *, following: bool) -> str:
    """The title of the output's frame."""
    if one.live:
        return f"Output ─ live{', following' if following else ''}"
    return "Output ─ its last lines"


SIGNS = (
    *(Sign(sign, {RUNNING: "its client is at work", NEEDS_INPUT: "it asks you something", QUEUED: "it waits",
                  SUCCEEDED: "done", FAILED: "it ended with an error", CANCELLED: "you cancelled it",
                  TIMED_OUT: "it was stopped at its time limit"}[name], tone)
      for name, (sign, tone) in _STATES.items()),
    Sign("2/3", "which try it is at, of how many", "warn"),
)  # fmt: skip
