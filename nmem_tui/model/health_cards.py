"""Draws the cards of the screen Health: hooks, events, clients, storage, log; charts of hook cost and growth."""

from __future__ import annotations

from datetime import datetime, tzinfo

from nmem.audit import Finding
from nmem.read.health import HOUR, WEEK, EventCost, HealthView, Latency, Pace
from nmem.text import fit, fit_path, pad, printable, width
from nmem_tui.model import symbols
from nmem_tui.model.figures import ago, count, day, micro, plural, scaled, several, size, spark
from nmem_tui.model.line import Line, cut, fitting, length, spread, wrap
from nmem_tui.model.symbols import Sign

_LABEL = 8
_NAMES = {HOUR: "hour", 6 * HOUR: "6 hours", 24 * HOUR: "day", WEEK: "week"}
_STORED = 15
"""Cells of a name on the card of what is stored."""


def hook_bars(found: Pace | None, zone: tzinfo | None, cells: int) -> list[Line]:
    """Whether hooks are slow, and since when; nothing while that is not read, or no hook ran."""
    if found is None or not found.spans or found.usual is None:
        return []
    room = max(1, min(len(found.spans), cells - _LABEL))
    shown = found.spans[-room:]
    top = max((one.p50 for one in shown if one is not None), default=0)
    bars: Line = []
    for one in shown:
        slow = one is not None and found.slower is not None and one.at >= found.slower.at
        glyph = spark([one.p50], 1, top) if one is not None and top > 0 else symbols.now().unsure
        bars.append((glyph, "rest" if one is None else "warn" if slow else "bar"))
    by = _NAMES.get(found.length, "span")
    if len(found.spans) < 2:
        return [cut(_pace_words(found, zone), cells)]
    first = next((one.at for one in shown if one is not None), 0)
    below = spread([(_when(first, found.length, zone), "quiet")], [("now", "quiet")], max(room, 8))
    lines: list[Line] = [[(pad(f"by {by}" if len(by) < 5 else by, _LABEL), "quiet"), *bars]]
    if room >= 16:
        lines.append([(" " * _LABEL, "text"), *below])
    return [cut(line, cells) for line in [*lines, _pace_words(found, zone)]]


def _pace_words(found: Pace, zone: tzinfo | None) -> Line:
    known = [one for one in found.spans if one is not None]
    if found.slower is not None:
        newest = known[-1]
        return [
            ("! ", "warn"), (f"slower since {_when(found.slower.at, found.length, zone)}: ", "warn"),
            (f"{micro(newest.p50)}, before {micro(found.usual)}", "text"),
        ]  # fmt: skip
    if len(known) < 2:
        return [("too little history to say whether hooks become slower", "quiet")]
    worst = max(one.worst for one in known)
    said = f"no slower than before: {micro(found.usual)}, {micro(worst)} at worst"
    return [(f"{symbols.now().ok} ", "good"), (said, "text")]


def _when(at: int, length: int, zone: tzinfo | None) -> str:
    try:
        return datetime.fromtimestamp(at / 1000, zone).strftime("%a %d %b" if length >= 24 * HOUR else "%a %H:%M")
    except (ValueError, OverflowError, OSError):
        return "?"


def growth(found: Pace | None, octets: int, rows: int, cells: int) -> list[Line]:
    """What came in by week, and about how much that takes: by the size of a row that is stored."""
    if found is None or not any(found.weeks):
        return []
    newest = found.weeks[-1]
    each = octets / rows if rows > 0 else 0
    about = f"about {size(round(newest * each))}" if newest and each else ""
    line: Line = [
        (pad("in 7 days", _STORED), "text"), (pad(count(newest), 9, right=True), "strong"), ("  ", "text"),
        (spark(found.weeks, len(found.weeks)), "bar"),
    ]  # fmt: skip
    for said in (f"  by week, {about}" if about else "  by week", f"  {about}" if about else ""):
        if length(line) + width(said) <= cells:
            return [[*line, (said, "quiet")]]
    return [cut(line, cells)]


def hooks(
    view: HealthView, cells: int, *, registered: bool = False, stopped: Finding | None = None
) -> list[Line]:  # fmt: skip
    """What a hook costs the client it runs in; `registered`: a client is known to have some, which may be `stopped`."""
    if not view.runs and registered:
        if stopped is not None:
            return [*_said(stopped.evidence, "warn", cells), *_said(stopped.mend, "quiet", cells, 2)]
        return [
            [("hooks are registered, none has run yet", "quiet")],
            [("nmem doctor", "key"), ("  tries each; the next prompt runs one", "quiet")],
        ]
    if not view.runs:
        return [
            [("no hook has run yet", "quiet")],
            [("nmem init", "key"), ("  registers them, ", "quiet"), ("nmem doctor", "key"), ("  tries each", "quiet")],
        ]
    head: Line = [(pad("", _NAME), "quiet"), *((pad(name, 9, right=True), "quiet") for name in ("p50", "p95", "p99"))]
    lines = [head, _percentiles("inside", view.wall), _percentiles("cpu", view.cpu)]
    lines += [_event(one) for one in view.cost.events[:_EVENTS_SHOWN]]
    recent = view.recent[-min(cells - 8, 60) :]
    lines.append([(pad("recent", 8), "quiet"), (spark(recent, cells - 8), "bar")])
    tone = "warn" if view.cost.slow else "quiet" if view.cost.slow is None else "good"
    lines += _said(view.cost.verdict, tone, cells)
    lines += _said(f"why: {view.cost.why}", "text", cells) if view.cost.why else []
    newest = f"the newest {count(view.runs)} {plural(view.runs, 'run')} in sessions"
    lines += _said(f"{newest}; inside: first line to commit; cpu: of the whole process, its start too", "quiet", cells)
    return [cut(line, cells) for line in lines]


_EVENTS_SHOWN = 6
_NAME = 20
"""Cells of an event's name."""


def _said(text: str, tone: str, cells: int, most: int = 4) -> list[Line]:
    """A sentence in as many lines as it needs, up to so many."""
    return [[(row, tone)] for row in wrap(printable(text), cells, most)]


def _event(one: EventCost) -> Line:
    return [
        (pad(f"  {fit(printable(one.event), _NAME - 3)}", _NAME), "text"), (pad(micro(one.p50), 9, right=True), "text"),
        (pad(micro(one.p95), 9, right=True), "text"), (f"  {several(one.runs, 'run')}", "quiet"),
    ]  # fmt: skip


def _percentiles(name: str, what: Latency) -> Line:
    return [
        (pad(name, _NAME), "text"),
        *((pad(micro(value), 9, right=True), "strong") for value in (what.p50, what.p95, what.p99)),
    ]


_EVENTS = (
    ("stored", "rows written by hooks", "text"),
    ("duplicate", "seen before, kept once", "text"),
    ("dropped", "not kept by design", "text"),
    ("spooled", "saved aside while the database was busy", "text"),
    ("drained", "stored from the spool", "text"),
    ("lost", "could not be stored", "bad"),
    ("errors", "events that could not be understood; see the log", "bad"),
)


def events(view: HealthView, cells: int) -> list[Line]:
    """What became of the events."""
    lines: list[Line] = []
    tally = {**view.results, **view.counters}
    for name, meaning, tone in _EVENTS:
        number = tally.get(name, 0)
        wrong = tone == "bad" and number
        glyph = "✗ " if wrong else "✓ " if tone == "bad" else "  "
        lines.append(
            [
                (glyph, "bad" if wrong else "good"),
                (pad(name, 11), "text"),
                (pad(count(number), 9, right=True), "bad" if wrong else "strong"),
                ("  " + fit(meaning, cells - 24), "quiet"),
            ]
        )
    if view.spool_files:
        waits = f"{several(view.spool_files, 'file waits', 'files wait')} in the spool"
        lines.append([("! ", "warn"), (f"{waits}; the next event brings them in", "warn")])
    return lines


def storage(view: HealthView, cells: int) -> list[Line]:
    """What the database takes up."""
    lines: list[Line] = [
        [
            (pad("database", 15), "text"),
            (pad(size(view.database_bytes), 9, right=True), "strong"),
            (pad("log (WAL)", 12, right=True), "text"),
            (pad(size(view.wal_bytes), 9, right=True), "strong"),
        ]
    ]
    top = max(view.rows.values(), default=0)
    room = max(4, min(24, cells - 28))
    for name, number in view.rows.items():
        done = scaled(number, top, room)
        lines.append(
            [
                (pad(printable(name.replace("_", " ")), 15), "text"),
                (pad(count(number), 9, right=True), "strong"),
                ("  ", "text"),
                (symbols.now().bar * done, "bar"),
            ]
        )
    return lines


def clients(view: HealthView, at: int, cells: int) -> list[Line]:
    """Which clients report, and when each did last."""
    if not view.clients:
        return [[("none has reported through a hook yet", "quiet")]]
    return [
        [
            (pad(printable(row.client), 13), "strong"),
            (pad(ago(at - row.last_at), 10) + " ", "text"),
            (pad(printable(row.last_event), max(0, cells - 42)) + " ", "quiet"),
            (pad(micro(row.p50_us), 7, right=True), "text"),
            (pad(f"{count(row.runs)} {plural(row.runs, 'run')}", 10, right=True), "quiet"),
        ]
        for row in view.clients
    ]


def drift(view: HealthView, cells: int) -> list[Line]:
    """Fields that clients send and no adapter knows."""
    if not view.drift:
        return [[("✓ every received field was known", "quiet")]]
    return [
        [
            (pad(printable(row.client), 13), "text"),
            (pad(printable(row.event), 20) + " ", "quiet"),
            (fit(printable(row.field), max(6, cells - 46)), "strong"),
            (f"  since {printable(row.version) or '?'}", "quiet"),
        ]
        for row in view.drift[:6]
    ]


def log(view: HealthView, cells: int) -> list[Line]:
    """What went wrong, in the log's own words."""
    if not view.log:
        return [[("✓ the log is empty: no hook had anything to report", "quiet")]]
    return [[(fit(printable(text), cells), "text")] for text in view.log]


def unread(_cells: int) -> Line:
    """The header of the screen while nothing can be read."""
    return [(" nmem ▸ ", "quiet"), ("Health", "title"), ("  ✗ not known", "bad")]


def header(view: HealthView, at: int, zone: tzinfo | None, cells: int, *, alone: bool = False) -> Line:
    """The header of the screen: the file that all this is about."""
    lost = view.counters.get("lost", 0)
    state: Line = [("✗ events were lost", "bad")] if lost else [("✓ nothing lost", "good")]
    if alone:
        state = [("✗ no client is connected", "bad")]
    path, brand = printable(view.path), " nmem ▸ "
    room = max(12, cells - width(brand) - width(state[0][0]) - 2)
    parts: list[tuple[int, Line]] = [
        (0, [(brand, "quiet"), (fit_path(path, room), "title")]), (1, state),
        (2, [(f"read {day(at, zone)[11:]}", "quiet")]),
    ]  # fmt: skip
    return fitting(parts, cells)


SIGNS = (
    Sign("{levels}", "what hooks took at the median, by hour or day; a dot: none ran", "bar"),
    Sign("{bar}", "rows of a table beside the largest, and the like", "bar"),
)
