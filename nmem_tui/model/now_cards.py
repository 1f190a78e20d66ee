"""The cards of the screen Now: the current episode, progress, failures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import tzinfo

from nmem.read.episode_store import cut_title
from nmem.read.episodes import CurrentUnit, Outcome
from nmem.read.listing import fitted
from nmem.read.sessions import Clash
from nmem.read.store import Effort, HotFile
from nmem.read.views import NowView
from nmem.text import fit, fit_path, pad, printable, width
from nmem_tui.model import now_gauges, symbols
from nmem_tui.model.figures import age, ago, clock, filled, micro, several
from nmem_tui.model.line import Line, cut, fit_words, fitting, joined, spread, wrap
from nmem_tui.model.stream import word
from nmem_tui.model.symbols import Sign

_FRESH_MS = 30 * 60_000
_DAY_MS = 86_400_000
_COUNT = 3
"""Cells of a count of calls: bars below one another begin and end alike."""
_NAMED = 22
"""Cells of a path below which it gets those of its bar as well."""
_ROOMY = 64
"""Cells from which the counts of a file are written out."""
_WORDY = 76
"""Cells from which on the header says why no hook was seen."""


def state(view: NowView, at: int) -> tuple[str, str]:
    """The session's state in a glyph and words, and its tone."""
    row = view.session
    quiet = at - row.last_at
    if row.state == "ended":
        return f"○ ended {ago(quiet)}", "quiet"
    if quiet > _FRESH_MS:
        return f"○ silent {age(quiet)}", "quiet"
    if row.state == "working":
        return f"● working {age(at - row.started_at)}", "good"
    if row.state == "failed":
        return f"✗ turn failed {ago(quiet)}", "bad"
    if row.state == "waiting":
        return f"◐ asks for your answer {age(quiet)}", "warn"
    return f"◐ waits for you {age(quiet)}", "warn"


def hooks(view: NowView, at: int) -> Line:
    """Are the hooks alive, and was anything lost."""
    seen = view.hooks
    if view.session.origin == "import":
        alive: Line = [("hooks – imported", "quiet")]
    elif seen.last_at is None:
        demo = view.session.origin == "demo"
        alive = [("hooks – none ran in the demo yet" if demo else "hooks ? none ran", "quiet" if demo else "warn")]
    elif at - seen.last_at > _DAY_MS:
        alive = [(f"hooks ? silent {age(at - seen.last_at)}", "warn")]
    else:
        alive = [(f"hooks ✓ {micro(seen.wall_us)}", "good")]
    lost: Line = [(f"✗ {seen.lost} lost", "bad")] if seen.lost else [("0 lost", "quiet")]
    waiting: Line = [(f"{seen.spooled} spooled", "warn")] if seen.spooled else []
    return joined([alive, waiting, lost], "   ")


def thread(unit: CurrentUnit | None, cells: int) -> Line:
    """The thread that the work belongs to."""
    if unit is None or unit.thread is None or not unit.thread.title:
        return []
    title = fit_words(printable(cut_title(unit.thread.title)), 40 if cells >= 120 else 20)
    over = f" ({several(unit.thread.sessions, 'session')})" if unit.thread.sessions > 1 else ""
    return [("thread: ", "quiet"), (title, "text"), (over, "quiet")]


def header(view: NowView, at: int, cells: int, unit: CurrentUnit | None = None) -> Line:
    """The one line on top: where, who, how long, which thread, and whether capture works."""
    row = view.session
    told, tone = state(view, at)
    project: Line = [(printable(row.project) or "no project", "title")]
    branch: Line = [(printable(row.branch), "accent")] if row.branch else []
    client: Line = [(printable(row.client), "text")]
    others: Line = [(f"+{several(view.live_elsewhere, 'other live session')}", "accent")] if view.live_elsewhere else []
    right = hooks(view, at)
    if cells < 120:
        right = (
            [span for span in right if span[1] != "quiet" or "lost" not in span[0]] if not view.hooks.lost else right
        )
        others = [(f"+{view.live_elsewhere} live", "accent")] if view.live_elsewhere else []
    if cells < _WORDY:  # whether it works at all, so that what the session does keeps its place
        right = [(text.split(" – ")[0] + " –", tone) if " – " in text else (text, tone) for text, tone in right]
    project = [("nmem ▸ ", "quiet"), *project] if cells >= 100 else project
    parts = [(0, project), (2, branch), (3, client), (1, [(told, tone)]), (4, others)]
    if cells >= 120 and row.model:
        parts.insert(-1, (6, [(printable(row.model), "quiet")]))
    if cells >= 100:
        parts.append((5, thread(unit, cells)))
    room = cells - sum(width(text) for text, _ in right) - 4
    return spread([(" ", "text"), *fitting([part for part in parts if part[1]], room)], [*right, (" ", "text")], cells)


def effort(name: str, what: Effort, cells: int) -> Line:
    """Looking against doing, as a bar with its words and counts."""
    failed: Line = [(f"  ✗ {what.failed} failed", "bad")] if what.failed else [("  0 failed", "quiet")]
    if not what.investigate + what.execute:
        return cut([(name, "quiet"), ("nothing done yet", "quiet")], cells)
    looked, did = f"{what.investigate:>{_COUNT}} ", f" {what.execute}"
    word = " do" + " " * (_COUNT + 1 - len(did))
    used = width(name) + len("look ") + len(looked + did + word)
    if used + 4 + width(failed[0][0]) > cells and what.failed:
        failed = [(f"  ✗ {what.failed}", "bad")]
    room = max(4, min(24, cells - used - width(failed[0][0])))
    done = filled(what.investigate, what.investigate + what.execute, room)
    bar: Line = [(symbols.now().much * done, "bar"), (symbols.now().free * (room - done), "rest")]
    sides: tuple[Line, Line] = [("look ", "text"), (looked, "strong")], [(did, "strong"), (word, "text")]
    return cut([(name, "quiet"), *sides[0], *bar, *sides[1], *failed], cells)


def prompt(view: NowView, cells: int, rows: int) -> list[Line]:
    """The prompt that is being worked on, and how the work divides."""
    room = max(1, rows - 2)
    if view.prompt:
        said = wrap(printable(" ".join(view.prompt.split())), cells, room)
        lines: list[Line] = [[(text, "strong")] for text in said]
    else:
        lines = [[("no prompt yet: your next one appears here", "quiet")]]
    return [*lines, effort("prompt   ", view.turn, cells), effort("session  ", view.total, cells)][: max(3, rows)]


def prompt_title(view: NowView, at: int) -> str:
    """The title of the prompt card."""
    if view.prompt_at is None:
        return "Prompt"
    return f"Prompt {view.prompts} ─ {ago(at - view.prompt_at)}"


def _hot(file: HotFile, top: int, cells: int) -> Line:
    counts = _counts(file) if cells < _ROOMY else f"{several(file.reads, 'read')}, {several(file.edits, 'edit')}"
    column = 11 if cells < _ROOMY else 24
    failed = f" ✗{file.failures}" if file.failures else ""
    bar_cells = max(4, min(10, cells // 5))
    if cells - column - 2 - bar_cells < _NAMED:  # the counts say it as well: a name that is cut says nothing
        bar_cells = 0
    done = filled(file.weight, top, bar_cells)
    room = cells - column - bar_cells - 2
    return [
        (pad(fit_path(printable(file.path), room), room) + "  ", "text"),
        (counts, "quiet"),
        (pad(failed, max(0, column - width(counts))), "bad"),
        (symbols.now().bar * done, "bar"),
        (" " * (bar_cells - done), "rest"),
    ]


def _counts(file: HotFile) -> str:
    """The edits of a file; its reads where there are none."""
    return several(file.edits, "edit") if file.edits else several(file.reads, "read")


def hot(files: Sequence[HotFile], cells: int, rows: int) -> list[Line]:
    """The files that are worked on."""
    if not files:
        return [[("no file read or changed yet", "quiet")]]
    return [_hot(file, files[0].weight, cells) for file in files[:rows]]


def failures(view: NowView, zone: tzinfo | None, cells: int, rows: int) -> list[Line]:
    """What failed last, and whether the same thing succeeded since."""
    if not view.failures:
        return [[("✓ nothing has failed in this session", "quiet")]]
    out: list[Line] = []
    for item in view.failures[:rows]:
        name, _ = word(item.obs_type)
        end = "✓ mended" if item.mended else f"✗ {item.detail}"
        text = printable(" ".join((item.content or item.path).split()))
        room = cells - width(end) - 2
        when = f"{clock(item.at, zone)[:5]} {name} "
        left = fit(when + fitted(text, room - width(when)), room)
        out.append([(pad(left, room + 2), "quiet" if item.mended else "text"), (end, "good" if item.mended else "bad")])
    return out


def failures_title(view: NowView) -> str:
    """The title of the failures card."""
    still = sum(not item.mended for item in view.failures)
    return f"Failures ─ {still} still open of {view.total.failed}" if view.failures else "Failures"


def narrow(
    view: NowView, at: int, zone: tzinfo | None, cells: int, rows: int, unit: CurrentUnit | None = None,
    stance: Line | None = None, warned: Sequence[Line] = (),
) -> list[Line]:  # fmt: skip
    """All cards in their first lines, for a screen of one column; `stance` and `warned` are lines of their own."""
    about = unit.name if unit else view.prompt
    since = unit.started_at if unit else view.prompt_at
    said = printable(" ".join(about.split())) or "no prompt yet: your next one appears here"
    when: Line = [(age(at - since), "quiet")] if since is not None else []
    lines = [
        spread([(said, "strong" if about else "quiet")], when, cells),
        effort("", unit.effort if unit else view.turn, cells),
    ]
    lines += warned
    files = unit.hot if unit else view.hot
    if still := tuple(item for item in view.failures if not item.mended):
        lines += [[("! ", "warn"), *line] for line in failures(view._replace(failures=still), zone, cells - 2, 1)]
    lines += [stance] if stance else []
    full = now_gauges.short(view.window, cells)
    room = cells - sum(width(text) for text, _ in full) - (3 if full else 0)
    lines.append(spread(_hot_short(files, room), full, cells))
    if rows > len(lines) + 1 and files:
        lines += hot(files, cells, min(5, rows - len(lines)))
    return lines[:rows]


def _hot_short(files: Sequence[HotFile], cells: int) -> Line:
    if not files:
        return [("no file touched yet", "quiet")]
    parts: list[tuple[int, Line]] = []
    for rank, file in enumerate(files[:3]):
        failed: Line = [(f" ✗{file.failures}", "bad")] if file.failures else []
        name = printable(file.path).rpartition("/")[2]
        parts.append((rank, [(fit(name, 28), "text"), (f" {_counts(file)}", "quiet"), *failed]))
    return [("hot ", "quiet"), *fitting(parts, cells - 4, " · ")]


_BY = {
    "first": "the session's first prompt", "online": "decided when the prompt arrived",
    "revised": "decided after the turn",
    "llm": "decided by a model", "agent": "named by the agent", "person": "cut by you",
}  # fmt: skip
_LABEL = 8
_HOT = 3
"""Files that are told; the intent keeps two lines before."""


def flat(text: str) -> str:
    """A stored text as one printable line."""
    return printable(" ".join(text.split()))


def why(reason: str, by: str, confidence: float) -> Line:
    """Why an episode was cut where it was, and how sure that is."""
    told = flat(reason) or _BY.get(by, "")
    if by == "person":
        return [("you cut it here", "text")]
    if by == "first":
        return [(told or _BY["first"], "text")]
    sure = "sure" if confidence >= 0.85 else "fairly sure" if confidence >= 0.6 else "not sure"
    tone = "good" if confidence >= 0.85 else "text" if confidence >= 0.6 else "warn"
    share = f" {max(0.0, min(1.0, confidence)):.0%}"
    return [(sure, tone), (share, "quiet"), (f"  {told or 'no reason noted'}", "text")]


def outcome(found: Outcome) -> Line:
    """How it ended, or stands, in glyphs and words; empty when nothing is known."""
    parts: list[Line] = []
    if found.reverted:
        parts.append([("↶ reverted", "warn")])
    if found.tests:
        tone = "bad" if found.tests == "failed" else "warn" if found.untested else "good"
        parts.append([(f"{'✗' if tone == 'bad' else '~' if found.untested else '✓'} {found.tested}", tone)])
    if found.commits:
        pushed = ", pushed" if found.pushed else ""
        parts.append([(f"✓ {several(found.commits, 'commit')}{pushed}", "good"),
                      *[(", edited since", "warn")] * found.edited])  # fmt: skip
    if found.abandoned:
        parts.append([("– abandoned", "quiet")])
    return joined(parts, " · ")


def title(unit: CurrentUnit, at: int) -> str:
    """The title of the card."""
    active = f", active {age(unit.active_ms)}" if unit.active_ms >= 5000 else ""
    pinned = " ─ ★ pinned" if unit.pinned else ""
    return f"Work unit ─ {age(at - unit.started_at)} old{active}{pinned}"


def card(
    view: NowView, unit: CurrentUnit, cells: int, rows: int, warned: Callable[[int], list[Line]] | None = None
) -> list[Line]:
    """The card, at most `rows` lines high and without blank ones: the intent gets the room that is left."""
    latest = flat(view.prompt) if view.prompt_at is not None and view.prompt_at > unit.started_at else ""
    so_far = [
        [(several(unit.turns, "turn"), "strong")],
        outcome(unit.outcome) or [("no test result and no commit yet", "quiet")],
    ]
    below: list[Line] = [
        *(warned(cells) if warned else []),
        *([[("goes on ", "quiet"), ("↩ ", "accent"), (flat(unit.resumes), "text")]] if unit.resumes else []),
        [("cut     ", "quiet"), *why(unit.cut_reason, unit.cut_by, unit.cut_confidence)],
        [("so far  ", "quiet"), *joined(so_far, " · ")],
        *_told("done    ", unit.done),
        *_told("open    ", unit.left),
        effort("unit    ", unit.effort, cells),
        *([effort("session ", view.total, cells)] if view.total != unit.effort else []),
    ]
    asked = min(_HOT, len(unit.hot), max(0, rows - len(below) - bool(latest) - 2))
    room = max(1, rows - len(below) - bool(latest) - asked)
    said = wrap(flat(unit.name), cells, room) or ["a prompt without words"]
    lines: list[Line] = [[(text, "strong")] for text in said]
    spare = room - len(said)
    if latest:
        more = wrap(latest, cells - _LABEL, 1 + min(spare, 2))
        lines += [
            [("now     " if not number else " " * _LABEL, "quiet"), (text, "user")] for number, text in enumerate(more)
        ]
    lines += below
    return [cut(line, cells) for line in [*lines, *hot_files(unit.hot, cells, rows - len(lines))]][:rows]


def _told(label: str, texts: Sequence[str]) -> list[Line]:
    """The first thing that the story of the episode says, and how many more there are."""
    more = f"  and {len(texts) - 1} more" if len(texts) > 1 else ""
    return [[(label, "quiet"), (flat(texts[0]), "text"), (more, "quiet")]] if texts else []


def clash(found: Sequence[Clash], cells: int) -> Line:
    """The newest file that another session edited as well, in one line, and how many more there are."""
    one, more = found[0], len(found) - 1
    said = f"{printable(one.client)} {printable(one.session[:8])} edited "
    tail = f" {'too' if one.same_checkout else 'in another checkout'}{f', +{more}' if more else ''}"
    name = fit_path(printable(one.file), max(8, cells - 2 - width(said) - width(tail)))
    return cut([("! ", "key"), (said, "warn"), (name, "text"), (tail, "warn")], cells)


def hot_files(files: Sequence[HotFile], cells: int, rows: int) -> list[Line]:
    """The files that are worked on most, with what was done to each: read, edited, failed."""
    if not files or rows <= 0:
        return []
    shown = hot(files, cells - _LABEL, min(rows, _HOT))
    return [
        cut([("hot     " if not number else " " * _LABEL, "quiet"), *line], cells) for number, line in enumerate(shown)
    ]


SIGNS = (
    Sign("● working", "the agent is at a turn", "good"),
    Sign("◐ waits", "it is your turn, or it asks you something", "warn"),
    Sign("○ ended", "over; `silent`: nothing came for a while", "quiet"),
    Sign(
        "hooks ✓ 27 ms",
        "capture works, and what the last hook took; `imported`: no hook, read from a transcript",
        "good",
    ),
    Sign("✗ 3 lost", "events that could not be stored", "bad"),
    Sign("look 5 {much}{free} 2 do", "calls that look against calls that change or run something"),
    Sign("{bar}", "of a hot file: how much was done with it, beside the hottest", "bar"),
    Sign("✗2", "of a file: failures it was part of", "bad"),
    Sign("✓ mended", "of a failure: the same passed later", "good"),
    Sign("!", "a failure still open; a learning that this runs into again", "warn"),
    Sign("↩", "the earlier episode that this one goes on with", "accent"),
    Sign("★", "pinned", "warn"),
)
