"""Chooses the quotes that answer a question, and decides whether any does: rows in, an Answer out.

How much of the question's informative words a quote says decides, rare words counting for more; what it answers and
the rest of its row count, too. Below a threshold nothing is recorded about it, and no noise is shown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from operator import mul
from sqlite3 import Connection

from nmem.ask import rows
from nmem.ask.question import Question, Says, asked, joined
from nmem.ask.rows import CLOSING, DECISION, LEARNING, PROMPT, RECALL, STORY, Said
from nmem.episodes.narrate.prose import clip, sentences
from nmem.llm.claims import CAUSE
from nmem.retrieval.words import words

ENOUGH, NEAR = 0.68, 0.4
"""Of the question, in a quote with what it answers: below it nothing is recorded about it; a model that reads the
quotes may find an answer in one that says less."""
SHOWN = 6
"""Quotes that a model is shown at least."""
_CLOSE = 0.7
"""A quote is shown that is worth this part of the best one."""
_WEIGHTS = {DECISION: 1.15, RECALL: 1.15, PROMPT: 1.0, LEARNING: 0.95, CLOSING: 0.9, STORY: 0.9}
_PARTS, _COVERED = (0.3, 0.3, 0.1, 0.15, 0.15), (0.0, 0.4, 0.3, 0.3, 0.0)
"""What counts how much, for a quote's place and for whether anything is recorded: the words of what was said, of the
best part of a decision, of all its parts, of the whole row with what it answers, of the episode."""
_BEFORE, _AGAIN, _FEW = 0.95, 0.85, 6
"""A decision's question and its restatement beside what was said; words of an answer that says what it answers."""
_ASKS, _SHOWN, _WHY, _OLD = 0.75, 0.7, 1.05, 0.9
"""A quote that asks itself; one that does not show what the question asks for; one that gives a cause; superseded."""
_CAUSED = re.compile(r"\bcaused\b|\b(?:that|which)(?:'s| is) (?:why|how|what)\b", re.IGNORECASE)
_SHORT = 260
"""Characters of a quote."""
_LONG = 1_500
"""Characters of a row that count beside its quote: a document says something of everything."""
_ALIKE = 0.75


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence or two of the records; text as it is stored."""

    id: str
    kind: str
    at: int
    session_id: str
    project: str
    unit_id: int
    text: str
    asked: str
    """What it answers, of a decision."""
    restated: str
    """How the agent said a decision again."""
    superseded: str
    """What replaced it, in words; empty where it still holds."""
    coverage: float
    """How much of the question it says with what it answers, 0 to 1."""
    score: float
    path: str = ""
    row: str = ""
    """Where it stands: prompt/N of a decision."""
    later: str = ""
    """The decision that replaced it, or by which the person answered what an agent proposed: it stands before it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What is recorded about a question; no quotes: nothing."""

    question: str
    words: tuple[str, ...]
    quotes: tuple[Quote, ...] = ()
    coverage: float = 0.0
    """Of the quote that says most of it."""


def answer(db: Connection, text: str, now: int, project: int | None = None, limit: int = 5, least: float = ENOUGH,
           folder: str = "") -> Answer:  # fmt: skip
    """The quotes that answer a question, best first; none below the `least` coverage. Raises sqlite3.Error.

    `folder` in place of a project: what is written down in it.
    """
    named, db.row_factory = db.row_factory, None
    try:
        question = asked(text)
        if not question.words:
            return Answer(text, ())
        about = " ".join(question.subject)
        found = rows.written_in(folder, about) if folder else rows.read(db, text, about, now, project)
        question.weigh(db, {one.project_id for one in found})
    finally:
        db.row_factory = named
    ranked = _ranked(question, found)
    most = max((one.coverage for one in ranked), default=0.0)
    if most < least:
        return Answer(text, question.subject, (), most)
    if most < ENOUGH:  # what is named is looked for: a quote without it is further off
        ranked.sort(key=lambda one: not question.names(f"{one.text} {one.asked} {one.restated}"))
    return Answer(text, question.subject, tuple(_chosen(ranked, limit)), most)


def _ranked(question: Question, found: Sequence[Said]) -> list[Quote]:
    """A quote of each row, the best first."""
    whole: dict[int, Says] = {}
    for one in found:
        if one.unit_id:
            whole[one.unit_id] = joined(whole.get(one.unit_id, {}), question.said(one.text))
    quotes = [quote for one in found if (quote := _quote(question, one, whole.get(one.unit_id, {})))]
    return sorted(quotes, key=lambda one: (-one.score, -one.at, one.id))


def _quote(question: Question, row: Said, episode: Says) -> Quote | None:
    """The sentences of a row that say most of a question; None where none says anything of it."""
    decision = row.kind == DECISION
    text = _best(question, row, row.text)
    asked, restated = (_best(question, row, part) if decision else "" for part in (row.before, row.restated))
    asked, restated = "" if asked == text else asked, "" if restated in (asked, text) else restated
    union = joined(*map(question.said, (text, asked, restated)))
    near = joined(union, *(question.said(part[:_LONG]) for part in (row.before, row.text, row.restated)))
    if not near or not text:
        return None
    said, before, again = (question.share(question.said(part), row.project_id) for part in (text, asked, restated))
    if len(text.split()) <= _FEW:  # "Down.": it says what it answers
        said = max(said, before)
    best = max(said, _BEFORE * before, _AGAIN * again)
    rest = (question.share(says, row.project_id) for says in (union, near, joined(near, episode)))
    values, factor = (said, best, *rest), _factor(question, text, f"{text} {asked} {restated}")
    score = sum(map(mul, _PARTS, values)) * factor * _WEIGHTS[row.kind] * (_OLD if row.superseded else 1.0)
    if question.why and (CAUSE.search(row.text) or _CAUSED.search(text)):
        score *= _WHY
    coverage = factor * sum(map(mul, _COVERED, values)) if question.informs(near) else 0.0
    replaced, later = (row.superseded.told, f"{DECISION}/{row.superseded.id}") if row.superseded else ("", row.answered)
    return Quote(row.id, row.kind, row.at, row.session_id, row.project, row.unit_id, text, asked, restated, replaced,
                 round(coverage, 3), round(score, 4), row.path, row.row or row.id, later)  # fmt: skip


def _factor(question: Question, text: str, shown: str) -> float:
    """Less than 1 for what asks itself, and for what does not show a number or a time where one is asked for."""
    asks = text.rstrip("\"'”’)*` ").endswith(("?", "？"))
    return (_ASKS if asks else 1.0) * (_SHOWN if question.shows and not question.shows.search(shown) else 1.0)


def _best(question: Question, row: Said, text: str) -> str:
    """A text where it is short, else its sentence that says most of a question, with a neighbour that adds."""
    flat = " ".join(text.split())
    if len(flat) <= _SHORT and "```" not in text:
        return flat
    parts = [one.text for one in sentences(text)]
    if not parts:
        return ""

    def worth(place: int) -> float:
        shown = bool(question.shows and question.shows.search(parts[place]))
        asks = parts[place].endswith(("?", "？"))
        return question.share(question.said(parts[place]), row.project_id) * (_ASKS if asks else 1.0) + 0.1 * shown

    best = max(range(len(parts)), key=lambda place: (worth(place), -place))
    quote = parts[best]
    for place in (best + 1, best - 1):
        if 0 <= place < len(parts) and len(quote) + len(parts[place]) < _SHORT:
            pair = " ".join((quote, parts[place]) if place > best else (parts[place], quote))
            if len(question.said(pair)) > len(question.said(quote)):
                return pair
    return clip(quote, _SHORT)


def _chosen(ranked: Sequence[Quote], limit: int) -> list[Quote]:
    """The best that say different things; what was superseded stands behind what replaced it, and what an agent said
    behind what the person decided on it.
    """
    least = _CLOSE * ranked[0].score
    by_id = {one.id: one for one in ranked}
    said = {one.restated: one for one in reversed(ranked) if one.restated}  # a "yes" to it says it once more
    out: list[Quote] = []
    for one in ranked:
        if len(out) >= limit or one.score < least:
            break
        newer = by_id.get(one.later)
        for either in [_holds(newer, ranked), one] if newer else [one]:
            each = said.get(either.asked, either)
            if each not in out and not any(_alike(each, other) for other in out):
                out.append(each)
    return out[:limit]


def _holds(newer: Quote, ranked: Sequence[Quote]) -> Quote:
    """The decision that is quoted for a newer one: of its episode the best that holds, not the "yes" that ends it."""
    ours = (one for one in ranked if one.unit_id == newer.unit_id and one.kind == DECISION and not one.superseded)
    return next(ours, newer)


def _alike(one: Quote, other: Quote) -> bool:
    """Whether a quote says what another of its episode does: a story or a closing that says a decision again."""
    if one.unit_id != other.unit_id or one.kind not in (CLOSING, STORY):
        return one.text == other.text
    mine, theirs = set(words(one.text)), set(words(f"{other.text} {other.restated}"))
    return bool(mine) and len(mine & theirs) >= _ALIKE * len(mine)
