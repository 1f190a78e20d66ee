"""Draws the rows of the screen Context: items for the next injection with their reasons, and past injections."""

from __future__ import annotations

from datetime import tzinfo

from nmem.context.config import HIGHEST
from nmem.context.decide import WAITS
from nmem.context.episodes import saying
from nmem.context.items import Item as Thing
from nmem.context.items import subject
from nmem.context.past import MEASURES, Effect, Past, Telling, Told, ToldItem
from nmem.context.pinned import EXCLUDE, INCLUDE, PINNED
from nmem.context.preview import UNKNOWN, Preview
from nmem.context.recovery import CHANGED
from nmem.read.views import SessionRow
from nmem.text import fit, fit_path, pad, printable, width
from nmem_tui.model import actions, context_text, symbols
from nmem_tui.model.context_queries import MODES, PAST, PROMPT, RESET, START
from nmem_tui.model.figures import age, ago, date, day, filled, several
from nmem_tui.model.line import Line, cut, fitting, joined, spread, wrap
from nmem_tui.model.lists import Item, plain_items
from nmem_tui.model.symbols import Sign

THING = "thing"
NAMES = {START: "at the start", PROMPT: "at a prompt", RESET: "after a reset", PAST: "told before"}
"""What the screen is turned to, in the words of its bar."""
SETTINGS = {START: "start_tokens", PROMPT: "prompt_tokens", RESET: "recovery_tokens"}
"""The setting that names each budget."""
STEP = 100
"""Tokens by which a key changes the budget."""
_MARKS = {PINNED: ("★", "warn"), INCLUDE: ("✚", "good"), EXCLUDE: ("✗", "quiet")}
_MEASURES = {"turns": "turns", "failures": "failed calls", "rereads": "files read again"}
_KIND = 8
_ROOMY = 26
"""Cells that it needs to say much: before that its source gives way."""
_NOTE = 9
"""Cells that it needs to say something of a file behind its name."""
_BAR = 19
"""Cells that the budget's bar needs, with its name and gaps."""
_LEAST, _MOST = 100, int(HIGHEST)


def bar(mode: str, cells: int) -> Line:
    """What can be shown, the current one marked."""
    line: Line = []
    for each in MODES:
        here = each == mode
        line += [("▸" if here else " ", "accent"), (NAMES[each], "tab" if here else "quiet"), ("  ", "text")]
    return spread(line, [(f"{actions.key_of('next_view')} next ", "quiet")], cells)


def header(row: SessionRow, mode: str, found: Preview | None, cells: int) -> Line:
    """Whose sessions, and what the next one is told."""
    brand: Line = [(" nmem ▸ ", "quiet")] if cells >= 100 else [(" ", "text")]
    branch: Line = [(f"  {printable(row.branch)}", "accent")] if row.branch else []
    where: Line = [*brand, (printable(row.project) or "no project", "title"), *branch]
    if mode == PAST or found is None:
        return spread(where, [], cells)
    who = {START: "the next session", PROMPT: "the prompt", RESET: "after a reset, the session"}[mode]
    verb = "brings" if mode == PROMPT else "is told"
    what = several(len(found.items), "item") if found.items else "nothing"
    return spread(where, [(f"{who} {verb} ", "quiet"), (what, "strong"), (" ", "text")], cells)


def gauge(found: Preview, configured: int, mode: str, cells: int) -> Line:
    """The budget: how much of it is used, and where it comes from."""
    figures: Line = [(f" {found.tokens:,}", "strong"), (f" of {found.budget:,} tokens", "text")]
    known = sum(width(text) for text, _ in figures)
    same = found.budget == configured
    source: Line = [(f"as configured: {SETTINGS[mode]}", "quiet")]
    if not same:
        source = [(f"configured {configured:,} · {actions.key_of('keep')} keeps {found.budget:,}", "warn")]
    if known + width(source[0][0]) + _BAR > cells:
        source = [("as configured", "quiet") if same else (f"{actions.key_of('keep')} keeps {found.budget:,}", "warn")]
    if same and cells - known - width(source[0][0]) < _ROOMY:
        source = [("", "quiet")]
    room = max(6, min(48, cells - known - width(source[0][0]) - 13))
    parts: Line = [(" budget ", "quiet"), *context_text.bar(found, room), *figures]
    return spread(parts, [*source, (" ", "text")], cells)


def columns(cells: int) -> Line:
    """The heads of the columns."""
    what, _ = _rooms(cells)
    return cut([(f"   score  tok {pad('kind', _KIND)} {pad('what', what)} why", "quiet")], cells)


def _rooms(cells: int) -> tuple[int, int]:
    """Cells for what an item says, and for why it is told."""
    room = max(10, cells - 15 - _KIND)
    what = max(8, room * 3 // 5)
    return what, max(0, room - what - 1)


def items(found: Preview, mode: str) -> list[Item]:
    """Told, weighed but left out, excluded: each with a heading."""
    out = [_row(one, found, "told") for one in found.items]
    if found.before:
        out += [*_gap(out), _say([("Told when the session starts, before the first prompt", "title")])]
        out += [_row(one, found, "before") for one in found.before]
    for why, left in _left(found, mode):
        out += [*_gap(out), _say([(f"Considered, but not told: {why}", "title")])]
        out += [_row(one, found, "left") for one in left]
    if found.held:
        out += [*_gap(out), _say([("Not told: it quotes what you excluded", "title")])]
        out += [_row(one, found, "left") for one in found.held]
    if found.excluded:
        out += [
            *_gap(out),
            _say([(f"Never told: you excluded it ({actions.key_of('exclude')} brings it back)", "title")]),
        ]
        out += [_row(one, found, "excluded") for one in found.excluded]
    return out


def _left(found: Preview, mode: str) -> list[tuple[str, list[Thing]]]:
    """What is left out, by the reason that is true of it."""
    every = list(found.left_out)
    if found.why_silent and found.why_silent != UNKNOWN:
        waits = "being rebuilt after a purge" if found.why_silent == WAITS else "nothing is told"
        return [(waits, every)] if every else []
    if mode != START or found.occasion:
        return [("too little room, or too low a score", every)] if every else []
    own = [one for one in every if found.choices.get(subject(one.id)) in (PINNED, INCLUDE)]
    rest = [one for one in every if one not in own]
    said = (("too little room", own), ("the work of a new session is not known yet", rest))
    return [(why, left) for why, left in said if left]


def silence(found: Preview, mode: str, cells: int) -> list[Line]:
    """Why nothing is told, and what could be done about it."""
    rows = wrap(f"Nothing is told: {printable(found.why_silent)}.", cells - 2, 5)
    lines: list[Line] = [[(" ", "text"), (row, "text")] for row in rows]
    head, colon, rest = rows[0].partition(":")
    lines[0][1:] = [(head + colon, "strong"), (rest, "text")]
    if mode == START:
        lines += [[(f" {actions.key_of('ask')}", "key"), (" shows what a prompt would add", "quiet")]]
    elif mode == PROMPT:
        lines += [[(f" {actions.key_of('ask')}", "key"), (" asks something else; naming a file helps most", "quiet")]]
    return lines


def _gap(above: list[Item]) -> list[Item]:
    return [_say([])] if above else []


def _say(line: Line) -> Item:
    return Item(lambda cells: cut([(" ", "text"), *line], cells) if line else [])


_WHERE = {"told": "told", "before": "told at the start", "left": "left out", "excluded": "excluded"}


def _row(one: Thing, found: Preview, where: str) -> Item:
    choice = found.choices.get(subject(one.id), "")
    mark, tone = _MARKS.get(choice, ("●", "good") if where in ("told", "before") else ("○", "quiet"))
    dim = where != "told"

    def draw(cells: int) -> Line:
        what, why = _rooms(cells)
        text = _file(one, what) if one.kind == "file" else fit(printable(saying(one.text)), what)
        score = "    –" if where == "excluded" else f"{one.score:5.2f}"
        return [
            (f" {mark} ", tone),
            (score.replace("0.", " .", 1) if one.score < 1 else score, "quiet" if dim else "text"),
            (f" {min(one.tokens, 9999):4} ", "quiet"),
            (pad(fit(printable(one.kind), _KIND), _KIND) + " ", "quiet" if dim else "look"),
            (pad(text, what) + " ", "quiet" if dim else "text"),
            (fit(printable(one.reason), why) if why > 6 else "", "quiet"),
        ]

    said = f"{one.id} {one.kind} {one.text} {one.reason} {' '.join(one.files)} {_WHERE.get(where, where)} {choice}"
    return Item(draw, THING, subject(one.id), words=said)


def _file(one: Thing, cells: int) -> str:
    """A path; what is said of it behind gives way first: a folder tells it from others of its name."""
    path = printable(one.text.removesuffix(CHANGED).strip("`"))
    left = cells - width(path)
    return path + fit(CHANGED, left) if one.text.endswith(CHANGED) and left > _NOTE else fit_path(path, cells)


def thing(found: Preview | None, key: str) -> Thing | None:
    """The item that a row stands for; pinned or not, it is the same thing."""
    if found is None:
        return None
    return next((one for one in found.every if subject(one.id) == key), None)


def about(one: Thing | None, found: Preview | None, mode: str, cells: int, rows: int) -> list[Line]:
    """One item in full: what it is, why it is told, its files, its words."""
    if one is None or found is None:
        return [[("select an item to see its reason and files", "quiet")]]
    told = any(each is one for each in found.items)
    choice = found.choices.get(subject(one.id), "")
    how = {PINNED: "pinned", INCLUDE: "always told: your choice", EXCLUDE: "never told: your choice"}.get(choice)
    begun = any(each is one for each in found.before)
    state = how or ("told" if told else "told at the start" if begun else "not told")
    score = f"{one.score:.2f}" if one.score else "none"
    lines: list[Line] = [
        fitting([
            (0, [(printable(one.id), "strong")]), (2, [(state, "accent" if how else "text")]),
            (3, [("score ", "quiet"), (score, "text")]), (4, [(several(one.tokens, "token"), "quiet")]),
        ], cells, "  ·  "),
        *([("why ", "quiet") if not number else ("    ", "quiet"), (row, "text")]
          for number, row in enumerate(wrap(printable(one.reason), cells - 4, 2))),
    ]  # fmt: skip
    if one.files and one.kind != "file":
        named = ", ".join(printable(path) for path in one.files)
        lines += [
            [("in  " if not n else "    ", "quiet"), (row, "text")] for n, row in enumerate(wrap(named, cells - 4, 2))
        ]
    left = rows - len(lines)
    if left > 0:
        lines += [[(row, "quiet")] for row in wrap(printable(one.text), cells, left)]
    if one.kind == "file" and mode != RESET and choice != EXCLUDE and rows - len(lines) > 1:
        row = f"{actions.key_of('exclude')} keeps it out of lists of files; notes and stories may still name it"
        lines += [[(row, "quiet")] for row in wrap(row, cells, rows - len(lines))]
    return lines


def effect(found: Effect | None, cells: int) -> Line:
    """Whether telling helps, in a line."""
    if found is None:
        return [(" does it help? …", "quiet")]
    if not found.without.sessions:
        said: Line = [("does it help? `holdout = 0.2` below [context] in config.toml compares", "quiet")]
        return cut([(" ", "text"), *said], cells)
    counts: Line = [
        (several(found.told.sessions, "session"), "text"), (" told, ", "quiet"), (str(found.without.sessions), "text"),
        (" kept without", "quiet"),
    ]  # fmt: skip
    if not found.enough:
        return cut([(" ", "text"), *counts, (": too few to say whether it helps", "quiet")], cells)
    parts: list[tuple[int, Line]] = [(0, counts)]
    for rank, each in enumerate(MEASURES, 1):
        verdict = found.verdict(each)
        tone = "good" if verdict.startswith("fewer") else "bad" if verdict.startswith("more") else "quiet"
        word = verdict.replace(" when told", "") if tone != "quiet" else "no difference"
        parts.append((rank, [(f"{_MEASURES[each]} ", "quiet"), (word, tone)]))
    return cut([(" ", "text"), *fitting(parts, cells - 1, " · ")], cells)


def next_budget(now: int, by: int) -> int:
    """Another budget, in even steps within what is allowed."""
    even = now // STEP * STEP if by > 0 or now % STEP == 0 else now // STEP * STEP + STEP
    return max(_LEAST, min(_MOST, even + by * STEP))


def waiting(cells: int) -> list[Line]:
    """The screen while nothing is asked yet."""
    rows = wrap(
        "What would a session be told if you asked it something? Type the prompt above; enter keeps it.", cells, 3
    )
    return [[(row, "quiet")] for row in rows]


_CHOICES = (
    Sign("●", "told", "good"), Sign("○", "left out", "quiet"), Sign("★", "pinned", "warn"),
    Sign("✚", "always", "good"), Sign("✗", "never", "quiet"),
)  # fmt: skip


def legend() -> Line:
    """What the marks mean."""
    return joined([(each.sign, each.tone), (f" {each.means}", "quiet")] for each in _CHOICES)


TELLING = "telling"
_EVENTS = {"prompt": "prompt", "startup": "start", "resume": "resumed", "clear": "cleared", "compact": "compacted",
           "fork": "forked", "failure": "failure", "call": "call"}  # fmt: skip
_EVENT = 9
_USED = {True: ("✓", "good", "of use"), False: ("✗", "quiet", "not of use"), None: ("?", "warn", "not known yet")}


def past_totals(found: Past, cells: int) -> Line:
    """What became of all that was told, as a bar with its words."""
    if not found.tellings:
        return []
    known = found.used + found.unused
    share = f"{found.used / known:.0%} of use" if known else "use not known yet"
    figures = f" {share}, {found.used} of {several(known, 'item')}" if known else f" {share}"
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


def past_columns(cells: int) -> Line:
    """The heads of the columns."""
    return cut(
        [(f" {pad('when', 11)} {pad('at', _EVENT)} {'tok':>4} {pad('of use', 8)} asked, or why", "quiet")], cells
    )


def past_items(found: Past, cells: int, at: int, zone: tzinfo | None) -> list[Item]:  # noqa: ARG001 -- a row is cut when it is drawn
    """One row each, the newest first."""
    out = [_past_row(one, at, zone) for one in found.found]
    rest = found.tellings - len(out)
    return (
        [*out, *plain_items([[(f" {rest} older ones: nmem context --past --limit N", "quiet")]])] if rest > 0 else out
    )


def _past_row(one: Told, at: int, zone: tzinfo | None) -> Item:
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


def past_detail(found: Telling, cells: int) -> list[Item]:
    """What became of each thing, then the exact text."""
    lines: list[Line] = []
    for one in found.items:
        lines += _became(one, cells)
    lines += [[], [("exactly as it was told" if not found.told.withheld else "what it would have been told", "title")]]
    for line in found.text.split("\n"):
        lines += [[(row, "text")] for row in wrap(printable(line), max(8, cells), 60) or [""]]
    return list(plain_items(lines))


def _became(one: ToldItem, cells: int) -> list[Line]:
    mark, tone, words = _USED[one.used]
    how = printable(one.how) or words
    why = f"  ·  told because {printable(one.reason)}" if one.reason else ""
    figures = f"{one.score:.2f}  {one.tokens:4} tok"
    name = fit_path(printable(one.id), max(12, cells - 18))
    first = spread([(f"{mark} ", tone), (name, "strong")], [(figures, "quiet")], cells)
    return [first, cut([("  ", "text"), (how, tone), (why, "quiet")], cells)]


def past_about(one: Told | None, cells: int, at: int, zone: tzinfo | None) -> list[Line]:
    """One telling: when, to whom, why then."""
    if one is None:
        return [[("nothing was told yet", "quiet")]]
    kept: Line = [("withheld, to measure the difference", "warn")] if one.withheld else []
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


def past_title(found: Past, at: int) -> str:
    """The list's title."""
    newest = f", the newest {age(at - found.found[0].at)} old" if found.found else ""
    return f"Told before ─ {several(found.tellings, 'text')}{newest}"


SIGNS = (
    *_CHOICES,
    Sign("–", "in place of a score: it is not weighed", "quiet"),
    *(Sign(sign, f"told before: {word}", tone) for sign, tone, word in _USED.values()),
)
