"""The screen Search as lines: filter chips, counts of hits, each hit, and the help on the query syntax."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import tzinfo

from nmem.search import decisions, kinds, query
from nmem.search.examples import Example
from nmem.search.query import TIMES
from nmem.search.rows import Facet, Facets
from nmem.search.search import Hit, Results
from nmem.text import fit, fit_path, pad, printable, width
from nmem_tui.model import actions, stream, symbols
from nmem_tui.model.figures import date, several
from nmem_tui.model.line import Line, Span, cut, fitting, spread, wrap
from nmem_tui.model.lists import Item
from nmem_tui.model.symbols import Sign

QUERY = "query"
"""What an item of the empty box can stand for."""
_WORD = 9
_BENEATH = 2
"""Cells by which the rows beneath an episode are moved in."""
_FORM = 26
_LEAD = 24
"""Characters before the first mark, where the beginning is left out."""
_KINDS: dict[str, tuple[str, str]] = {
    kinds.PROMPT: ("you", "user"), kinds.EPISODE: ("episode", "accent"), kinds.SESSION: ("session", "accent"),
    kinds.LEARNING: ("learning", "warn"), kinds.MARKER: ("mark", "accent"), kinds.TASK: ("task", "accent"),
}  # fmt: skip
_USUAL = ("prompt", "reasoning", "episode", "learning", "test", "command", "file_edit", "git", "marker", "session")
"""Types to choose from while nothing is found yet."""
_STATES = (("is:failed", "failed"), ("is:pinned", "pinned"), ("since:today", "today"), ("since:7d", "7 days"))


@dataclass(frozen=True, slots=True)
class Chip:
    """A filter that can be put into the query, or taken out."""

    filter: str
    label: str
    count: int = 0
    """How many hits have it; 0 where that was not counted."""
    on: bool = False


def chips(text: str, found: Facets | None) -> list[tuple[str, list[Chip]]]:
    """The rows of chips for a query and what was found for it, each with its name."""
    left = dict.fromkeys(query.standing(text))
    types = _types(found, left)
    places = _places(found, left)
    states = [Chip(one, label, on=left.pop(one, 0) is None) for one, label in _STATES]
    rest = [Chip(piece, printable(piece), on=True) for piece in left]
    return [("type", types), ("only", [*rest, *places, *states])]


def _types(found: Facets | None, left: dict[str, None]) -> list[Chip]:
    if found is None or not (found.kinds or found.types):
        known = [Facet(name, 0, f"type:{name}") for name in _USUAL]
    else:
        calls = found.types[:]
        known = [each for each in found.kinds if each.value != kinds.OBSERVATION or not calls]
        known = sorted((*known, *calls), key=lambda each: -each.count)
    out = [_chip(each, left) for each in known]
    standing = [piece for piece in left if piece.startswith("type:")]
    return [*(Chip(piece, printable(piece.partition(":")[2]), on=left.pop(piece) is None) for piece in standing), *out]


def _places(found: Facets | None, left: dict[str, None]) -> list[Chip]:
    out = []
    for group in (found.projects, found.clients) if found else ():
        if len(group) > 1 or any(each.filter in left for each in group):
            out += [_chip(each, left) for each in group[:6]]
    return out


def _chip(one: Facet, left: dict[str, None]) -> Chip:
    on = left.pop(one.filter, 0) is None
    return Chip(one.filter, printable(one.value), one.count, on)


def header(results: Results | None, project: str) -> Line:
    """Where is searched."""
    where = printable(project) if project else "everything recorded"
    return [(" nmem ▸ ", "quiet"), ("Search", "title"), (f"   {where}", "text"), *(_header_more(results))]


def _header_more(results: Results | None) -> Line:
    if results is None:
        return []
    shown = sorted({hit.project for hit in results.hits if hit.project})
    return [(f"   {several(len(shown), 'project')} among the hits", "quiet")] if len(shown) > 1 else []


def count(results: Results) -> str:
    """How many there are."""
    if not results.found:
        return "nothing found"
    return f"{results.found}{'+' if results.more else ''} found"


def told(
    results: Results | None, *, newest: bool, searching: bool, stale: bool, cells: int, question: bool = False
) -> Line:
    """The live count, how long it took, in which order, and what a person should know."""
    if results is None:
        idle = " type: results come with every key · ? in the box asks · esc leaves the box"
        if question:
            idle = " type the question behind the ?: quotes from the records answer it · esc leaves the box"
        said: Line = [(" searching ..." if searching else idle, "quiet")]
        return cut(said, cells)
    left: Line = [
        (f" {count(results)}", "strong" if results.found else "warn"),
        (f" · {results.seconds * 1000:.0f} ms", "quiet"),
        (" · newest first" if newest or not results.query.wanted else " · best first", "quiet"),
    ]
    remarks = list(results.remarks)
    if stale:
        remarks.insert(0, f"more was recorded since: {actions.key_of('again')} looks again")
    if not remarks:
        return cut(left, cells)
    more = f" (+{len(remarks) - 1})" if len(remarks) > 1 else ""
    room = cells - sum(len(text) for text, _ in left) - 5 - len(more)
    return cut([*left, ("  ! ", "warn"), (fit(printable(remarks[0]), room) + more, "quiet")], cells)


def word(hit: Hit) -> Span:
    """What a hit is, in a word, and its tone."""
    if hit.kind == kinds.REASONING:
        return stream.word(f"agent/{hit.type}")
    if hit.kind == decisions.KIND:
        return ("how" if hit.snippet.text.startswith("/how") else "when"), "accent"
    return _KINDS.get(hit.kind) or stream.word(hit.type)


def first(hit: Hit, cells: int) -> Line:
    """What it is, and the piece of it that was found, with the words marked."""
    name, tone = word(hit)
    begin = _begin(hit)
    return [(" " * begin, "text"), (pad(name, _WORD), tone), *marked(hit, cells - _WORD - begin)]


def _begin(hit: Hit) -> int:
    """Cells before a hit: what says what an episode is about stands beneath it, further in."""
    return 1 + (_BENEATH if hit.beneath else 0)


def marked(hit: Hit, cells: int) -> Line:
    """A snippet with its marks; where the first of them would be cut away, it begins later."""
    text, out, skip = hit.snippet.text, list[Span](), _skipped(hit, cells)
    look = "text"  # also of a prompt: without colours the marked words are told by their weight
    if not text:
        return [("(empty)", "quiet")]
    if skip:
        out.append(("…", look))
    at = skip
    for begin, end in hit.snippet.marks:
        if begin > at:
            out.append((text[at:begin], look))
        if end > max(begin, at):
            out.append((text[max(begin, at) : end], "key"))
        at = max(at, end)
    return cut([*out, (text[at:], look)], cells)


def _skipped(hit: Hit, cells: int) -> int:
    """How many characters are left out at the beginning, so that the first mark is in sight."""
    text = hit.snippet.text
    first_end = hit.snippet.marks[0][1] if hit.snippet.marks else 0
    if width(text[:first_end]) < cells - 1:
        return 0
    begin = max(0, hit.snippet.marks[0][0] - _LEAD)
    blank = text.find(" ", begin, hit.snippet.marks[0][0])
    return blank + 1 if blank >= 0 else begin


def second(hit: Hit, cells: int, now: int, zone: tzinfo | None, *, where: bool) -> Line:
    """When and where it was, its id, and what is worth noting."""
    path = (
        ""
        if not hit.path or hit.kind == decisions.KIND or hit.path in hit.snippet.text
        else fit_path(printable(hit.path), 40)
    )
    parts: list[tuple[int, Line]] = [
        (1, [("✗ failed", "bad")] if hit.outcome == "failed" else []),
        (1, [(f"superseded by {hit.superseded}", "warn")] if hit.superseded else []),
        (2, [("★ pinned", "warn")] if hit.pinned else []),
        (0, [(date(hit.at, now, zone), "quiet")]),
        (3, [(fit(printable(hit.project), 24), "quiet")] if where and hit.project else []),
        (5, [(path, "quiet")] if path else []),
        (4, [(short(hit), "quiet")]),
        (6, [(f"×{hit.times}", "quiet")] if hit.times > 1 else []),
    ]
    before = _WORD + _begin(hit)
    return [(" " * before, "text"), *fitting([part for part in parts if part[1]], cells - before, " · ")]


def unpinned(hit: Hit) -> str | None:
    """Why a hit cannot be pinned, if it cannot."""
    name = {kinds.SESSION: "session", kinds.TASK: "task", decisions.KIND: "decision"}.get(hit.kind)
    return f"a {name} cannot be pinned" if name else None


def short(hit: Hit) -> str:
    """Its id; of a session the beginning is enough; a decision is told by its file."""
    if hit.kind == decisions.KIND:
        return fit_path(printable(hit.path), 30)
    return printable(hit.id[:16] if hit.kind == kinds.SESSION else hit.id)


def tail(results: Results, loaded: int, *, more: bool, reading: bool, cells: int) -> list[Line]:
    """What stands below the last hit: that there are more, or that this was all, and every remark in full."""
    if reading:
        end = "reading further ..."
    elif more:
        end = symbols.keys("↓ reads further")
    elif loaded < results.found:
        end = f"the first {loaded} are listed: another word narrows them"
    else:
        end = "these were the hits" if results.more else "these were all"
    out: list[Line] = [[], cut([(f" ── {end} ", "quiet"), ("─" * max(0, cells - len(end) - 6), "line")], cells)]
    for remark in results.remarks:
        out += [[("   ", "text"), (row, "quiet")] for row in wrap(printable(remark), max(8, cells - 4), 3)]
    return out


def nothing(results: Results, cells: int) -> list[Line]:
    """No hit: what was looked for, and what could be tried."""
    query = results.query
    out: list[Line] = [[], [(" nothing found", "title")], []]
    for remark in results.remarks:
        said = wrap(printable(remark), max(8, cells - 4), 3)
        out += [[("   " if place else " ! ", "warn"), (row, "text")] for place, row in enumerate(said)]
    if query.filters:
        out.append(
            [
                (" a filter may be too narrow: ", "quiet"),
                (actions.key_of("chips"), "key"),
                (" takes filters out again", "quiet"),
            ]
        )
    if query.unwanted:
        out.append([(" !word leaves out whatever holds the word", "quiet")])
    out.append([(f" {actions.key_of('manual')}", "key"), (" shows the query syntax", "quiet")])
    return [cut(line, cells) for line in out]


def guide(asked: Sequence[str], examples: Sequence[Example] | None, cells: int) -> list[Item]:
    """What an empty box offers: the last queries, and examples that find something here."""
    return list(_guide(asked, examples, cells))


def _guide(asked: Sequence[str], examples: Sequence[Example] | None, cells: int) -> Iterator[Item]:
    yield _still([])
    lines = wrap(
        "One box searches everything recorded: your prompts, the agent's thoughts and calls, output of failures,"
        " paths, episodes, summaries, markers, learnings and tasks.", max(8, cells - 2), 4,
    )  # fmt: skip
    yield from (_still([(" ", "text"), (row, "text")]) for row in lines)
    if asked:
        yield from (_still([]), _still([(" Asked before", "title"), (symbols.keys("   ↑ in the empty box"), "quiet")]))
        yield from (_query(text, "", cells) for text in asked[:6])
    if examples is None:
        yield from (_still([]), _still([(" looking for examples that work here ...", "quiet")]))
    elif examples:
        yield from (_still([]), _still([(" Try", "title"), (symbols.keys("   ↓ and enter, or a click"), "quiet")]))
        for one in examples:
            yield _query(one.text, f"{one.words} · {one.found}{'+' if one.more else ''}", cells)
    yield from (_still([]), _still([(f" {actions.key_of('manual')}", "key"), (" the query syntax", "quiet")]))


def _still(line: Line) -> Item:
    return Item(lambda cells: cut(line, cells))


def _query(text: str, words: str, cells: int) -> Item:
    shown = printable(text)
    return Item(
        lambda room: spread([("   ", "text"), (fit(shown, max(12, cells - 20)), "key")], [(words, "quiet")], room),
        QUERY, text,
    )  # fmt: skip


MANUAL: tuple[tuple[str, str], ...] = (
    ("coupon rounding", "both words in any form; with few of those, parts of words"),
    ("pars", "words that begin so; only as the last word"),
    ('"the test file"', "the phrase, in this order"),
    ("!legacy", "without that word"),
    ("?why round down", "a question: quotes that answer it, or that nothing is recorded about it"),
    ("type:test", "calls that ran tests"),
    ("type:prompt", "what you asked; also reasoning, episode, session, learning, marker, task"),
    ("type:recall", "only written decisions; so does /when or /how before words"),
    ("type:git", "commits, pushes and other git: the beginning of a type is enough"),
    ("type:file_edit,file_write", "several, with commas"),
    ("is:failed", "calls that failed, episodes whose last tests did, tasks that failed or timed out"),
    ("is:pinned", "what you pinned"),
    ("since:7d", f"since then: {TIMES}"),
    ("until:2026-01", "before then"),
    ("project:", "of a project; a part of its name is enough"),
    ("client:", "of a client: claude, codex, gemini ..."),
    ("file:", "done with a file; a part of its path is enough"),
)
"""What can be typed, and what it finds."""


def manual(cells: int) -> list[Item]:
    """What can be typed, to be read where there is room."""
    out = [_still([])]
    for form, words in MANUAL:
        for place, row in enumerate(wrap(words, max(8, cells - _FORM - 2), 3)):
            out.append(_still([(" " + pad("" if place else form, _FORM), "key"), (row, "text")]))
    return out


def whole_id(hit: Hit) -> str:
    """Its id, as commands take it."""
    return printable(hit.id)


SIGNS = (
    Sign("✗ failed", "of a hit: the call failed", "bad"),
    Sign("★ pinned", "of a hit: found first", "warn"),
    Sign("×3", "it was said or done so often: one hit stands for all", "quiet"),
    Sign("✓", "a filter that is on", "accent"),
)
