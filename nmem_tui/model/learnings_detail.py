"""One learning in full: what it is, where it stands, what made it pass, its weeks, and where it was met."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import tzinfo

from nmem.learn.learning import (
    ACCEPTED,
    CORRECTION,
    FAILED_COMMAND,
    FIX,
    RECURRING_ERROR,
    REPEATED_INTENT,
    SKILL,
    UNRESOLVED_READ,
    Evidence,
    Learning,
    Remedy,
)
from nmem.read.brief import fitted
from nmem.read.views import SessionRow
from nmem.text import fit_path, pad, printable, width
from nmem_tui.model import heatmap, keyed, learnings, rows
from nmem_tui.model.figures import ago, clock, day, several
from nmem_tui.model.items import Item, plain
from nmem_tui.model.learnings_reading import Detail, fixes, grouped, moment
from nmem_tui.model.line import Line, cut, length, section, spread, wrap
from nmem_tui.model.unit import flat

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
        *plain(list(_head(found, cells, at, zone))),
        *_remedy(found, cells, zone),
        *plain([[], section("Weeks", cells, "how often in the week of a Monday")]),
        *plain([cut(line, cells) for line in heatmap.strip(one, at, cells)]),
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
        yield [
            (" " * _LABEL, "quiet"),
            (keyed.of("accept"), "key"),
            (" shows what it would change in the instructions", "quiet"),
        ]


def what(one: Learning) -> str:
    """The pattern in a sentence."""
    where = several(one.sessions, "session")
    often = f"{several(one.occurrences, 'time')} in {where}"
    if one.kind == FAILED_COMMAND:
        return f"The command failed {often}."
    if one.kind == RECURRING_ERROR:
        return f"The same error came {often}."
    if one.kind == REPEATED_INTENT:
        return f"It was asked for {often}, in words that mean the same."
    if one.kind == UNRESOLVED_READ:
        return f"It was looked into or reported {often}, and nothing settled it."
    if one.kind == CORRECTION:
        return f"You said so {often}."
    if one.kind == SKILL:
        return f"These commands were run in this order {often}."
    return f"Work went round in circles on it {often}."


def _remedy(found: Detail, cells: int, zone: tzinfo | None) -> Iterator[Item]:
    remedy = found.learning.remedy
    if remedy is None:
        yield from plain([[], section("What made it pass", cells)])
        if found.learning.kind in (REPEATED_INTENT, UNRESOLVED_READ, CORRECTION):
            said = "nothing passes or fails here: say yourself when it is settled, with v"
        elif mended := fixes(found.evidence):
            said = f"put right {mended}×, see ✓ below: not by one thing in most sessions yet, so nothing is sure"
        else:
            said = "not known yet: the first passing run after a failing one tells it"
        yield from plain([[(row, "quiet")] for row in wrap(said, cells, 3)])
        return
    yield from plain([[], section("What made it pass", cells, _sure(remedy))])
    yield from plain([[("✓ " if not n else "  ", "good"), (row, "text")] for n, row in enumerate(
        wrap(flat(remedy.text), cells - 2, 4))])  # fmt: skip
    share = f"{max(0.0, min(1.0, remedy.confidence)):.0%}"
    helped = several(remedy.times, "session")
    seen = f"  it helped in {helped}; {share} sure: its share of what ended well, less for few sessions"
    yield from plain([[(row, "quiet")] for row in wrap(seen, cells, 2)])
    yield from plain(list(_changed(found, remedy, cells)))
    for row in found.between:
        yield Item(lambda room, row=row: rows.draw(row, room, zone), DONE, str(row.key))  # type: ignore[misc]


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
    yield from plain(
        [[], section("Evidence", cells, f"{more} · {keyed.of('open')} goes there, {keyed.of('story')} to its story")]
    )
    if not shown:
        yield from plain([[("what it was met in is forgotten: only the figures above are kept", "quiet")]])
    number = 0
    for session_id, proofs in grouped(shown):
        yield from plain([_session(found.sessions.get(session_id), session_id, proofs, cells, zone)])
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
    left: Line = [
        ("│ ", "line"),
        (f"{clock(proof.at, zone)[:5]} ", "quiet"),
        (pad(mark[0][0], 9), mark[0][1]),
    ]
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
    yield from plain([[("│ ", "line"), (" " * 15, "text"), (row, "quiet")] for row in taken[:_EXCERPT]])
