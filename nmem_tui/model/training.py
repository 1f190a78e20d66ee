"""Texts on the result of refitting episode boundaries on a person's corrections, for the dialog and the toast."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nmem.text import printable
from nmem_tui.model.figures import several
from nmem_tui.model.line import Line, cut, wrap

if TYPE_CHECKING:
    from nmem.training.personal import Figures, Refit, Report

_KINDS = {"online": "when a prompt arrives", "revised": "when its turn has ended"}


def head(done: Report, cells: int) -> list[Line]:
    """On what it was fitted, or why it cannot be."""
    if not done.enough:
        said = f"Nothing to learn from yet: {done.reason}."
        hint = "Split, merge, move, and the answers in the review are decisions."
        return [*_rows(said, "text", cells), *_rows(hint, "quiet", cells)]
    own = f"{several(done.decisions, 'decision')} of yours in {several(done.sessions, 'session')}"
    said = f"{own}, {several(done.prompts - done.decisions, 'prompt')} beside them left as they were."
    return _rows(said, "text", cells)


def lines(done: Report, cells: int) -> list[Line]:
    """Before and after, of each of the two moments at which an episode is decided."""
    return [cut(line, cells) for refit in done.refits for line in _refit(refit)]


def said(done: Report) -> str:
    """What came of it, in one line."""
    if not done.enough:
        return f"nothing is learned yet: {done.reason}"
    return f"retrained: {done.reason}"


def _refit(one: Refit) -> list[Line]:
    good = one.adopted
    verdict = ("✓ better: adopted", "good") if good else ("– not better: the shipped weights stay", "quiet")
    out: list[Line] = [
        [(f"{_KINDS[one.kind]}  ", "strong"), verdict],
        [("  before  ", "quiet"), (_figures(one.before), "text")],
        [("  after   ", "quiet"), (f"{_figures(one.after)}, on sessions not seen", "text")],
    ]
    if good:
        for each in one.shifts:
            more = "more" if abs(each.after) > abs(each.before) else "less"
            moved = f"“{printable(each.words)}” counts {more} ({each.before:+.2f} to {each.after:+.2f})"
            out.append([("  changed ", "quiet"), (moved, "text")])
        out.append([("          ", "quiet"), (f"{one.cuts_before} cuts become {one.cuts_after}", "quiet")])
    return out


def _figures(found: Figures) -> str:
    return f"F1 {found.f1:.2f}, {found.wrong} wrong and {found.missed} missed of your decisions"


def _rows(text: str, tone: str, cells: int) -> list[Line]:
    return [[(row, tone)] for row in wrap(printable(text), cells, 4)]
