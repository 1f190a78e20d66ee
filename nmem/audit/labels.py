"""Checks the five classifiers of calls for abstention and drift, and the set-up of the story model."""

from __future__ import annotations

from dataclasses import dataclass
from sqlite3 import Connection

from capture.labels import DIMENSIONS, WORDS
from nmem.audit import NOTE, OK, Finding, store
from nmem.audit.shift import Share, share, shifted
from nmem.labels import cards
from nmem.llm.chosen import standing

WINDOW = 20_000
_WEEK = 7 * 24 * 3_600_000
_FAR = 0.15
"""A model meets other work than that of its card: only so large a difference says something."""
_TURN = 0.2


@dataclass(frozen=True, slots=True)
class Dimension:
    """One classifier: how often it gave no answer, and of its answers how many were its second word."""

    name: str
    word: str
    abstained: Share
    abstained_before: Share
    expected: float | None
    """Of the card; None where there is none."""
    second: Share
    second_before: Share


def dimensions(db: Connection, path: str, now: int) -> tuple[Dimension, ...]:
    """Of the newest observations: the last seven days and those before. Raises sqlite3.Error."""
    rows = store.labelled(db, now - _WEEK, WINDOW)
    known = {card.dimension: card.folds for card in cards.cards(path)}
    return tuple(_dimension(at, name, [tuple(row) for row in rows], known) for at, name in enumerate(DIMENSIONS))


def _dimension(at: int, name: str, rows: list[tuple[float, ...]], known: dict[str, cards.Figures]) -> Dimension:
    def part(recent: bool, hit: int, of: tuple[int, ...]) -> Share:
        mine = (row[1 + 3 * at : 4 + 3 * at] for row in rows if bool(row[0]) == recent)
        return share((int(three[hit]), int(sum(three[each] for each in of))) for three in mine)

    folds = known.get(name)
    expected = 1.0 - folds.coverage if folds is not None and folds.n else None
    return Dimension(name, WORDS[at][1], part(True, 0, (0, 1)), part(False, 0, (0, 1)), expected,
                     part(True, 2, (1,)), part(False, 2, (1,)))  # fmt: skip


def findings(db: Connection, path: str, now: int) -> list[Finding]:
    """Dimensions that abstain more than they did or should, or whose words have turned; else one line."""
    found = dimensions(db, path, now)
    out = [one for each in found for one in _one(each)]
    seen = sum((found[0].abstained.cases, found[0].abstained_before.cases)) if found else 0
    if not out and seen:
        said = ", ".join(f"{each.name} {_both(each).value:.0%}" for each in found)
        out.append(Finding("label drift", OK, f"the model abstains on the {seen:,} newest calls as expected: {said}"))
    return out


def _both(one: Dimension) -> Share:
    now, was = one.abstained, one.abstained_before
    return Share(now.hits + was.hits, now.cases + was.cases, now.sessions + was.sessions, max(now.weight, was.weight))


def _one(one: Dimension) -> list[Finding]:
    out = []
    mend = "nmem relabel ID for what is wrong, then nmem train labels"
    if one.abstained.value > one.abstained_before.value and shifted(one.abstained_before, one.abstained, least=0.1):
        said = f"{one.name}: no answer for {one.abstained} of calls this week, {one.abstained_before} before"
        out.append(Finding("label drift", NOTE, said, mend))
    elif one.expected is not None:
        card = Share(round(one.expected * 10_000), 10_000)
        if _both(one).value > card.value and shifted(card, _both(one), least=_FAR):
            said = f"{one.name}: no answer for {_both(one)} of calls; the model's card expects {one.expected:.1%}"
            out.append(Finding("label drift", NOTE, said, mend))
    if shifted(one.second_before, one.second, least=_TURN):
        said = f"{one.name}: {one.word} in {one.second} of calls this week, {one.second_before} before"
        out.append(Finding("label drift", NOTE, said, "nmem relabel --unsure; other work is not a fault"))
    return out


_BUSY = 20
"""Sessions of a busy day: a cap that covers fewer is told."""


def model_findings(db: Connection) -> list[Finding]:
    """One finding: the way at work; a note where it is set up and does not work, or its day's cap is small."""
    found = standing(db)
    if found.problems:
        return [Finding("model", NOTE, found.problems[0], "nmem config check")]
    if not found.used:
        return [Finding("model", OK, f"stories are written without a model{_offered(enabled=found.enabled)}")]
    if found.last_failure:
        said = f"{found.sentence()}; the last question failed ({found.last_failure})"
        return [Finding("model", NOTE, said, "nmem model off")]
    if found.sessions_a_day < _BUSY:
        said = f"{found.sentence()}: the day's cap covers {found.sessions_a_day} sessions"
        return [Finding("model", NOTE, said, "nmem config set llm.daily_token_cap 200000")]
    return [Finding("model", OK, found.sentence(), "nmem model off")]


def _offered(*, enabled: bool) -> str:
    """Whom else to ask is said by the command: a finding reads the same on every machine."""
    return "; `nmem model` offers your own client" if enabled else ": switched off, `nmem model on` asks one again"
