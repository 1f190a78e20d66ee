"""Shows an answer's quotes as search hits: a typed question in, Results out, as every list of hits takes them."""

from __future__ import annotations

import re
import time
from sqlite3 import Connection

from nmem.ask import answer as asking
from nmem.ask.answer import Quote
from nmem.ask.question import Question, asked
from nmem.ask.rows import CLOSING, DECISION, LEARNING, PROMPT, RECALL, STORY
from nmem.search import kinds
from nmem.search.match import Snippet
from nmem.search.query import parse
from nmem.search.rank import RELEVANCE
from nmem.search.rows import Facet, Facets
from nmem.search.search import Hit, Results
from nmem.text import printable

SIGN = "?"
"""What makes a question of a query."""
NOTHING = "nothing is recorded about it"
ELSEWHERE = f"{NOTHING} in this project: these are of others"
NEAREST = "no answer is recorded: these come nearest"
MOST, FEW = 12, 2
"""Quotes, and those that come near where none is an answer."""
_KINDS = {DECISION: kinds.PROMPT, PROMPT: kinds.PROMPT, CLOSING: kinds.REASONING, STORY: kinds.EPISODE,
          LEARNING: kinds.LEARNING, RECALL: RECALL}  # fmt: skip
_RUN = re.compile(r"\w+")


def asks(text: str) -> bool:
    """Whether a query is a question: whether it begins with `?`."""
    return text.lstrip().startswith(SIGN)


def subject(text: str) -> str:
    """What is looked for or asked in a query: nothing where only the sign of a question stands there."""
    return text.strip().removeprefix(SIGN).strip()


def results(db: Connection, text: str, now: int, project: int | None = None) -> Results:
    """The quotes that answer the question in a query, best first; without any, a remark that nothing is recorded.

    Where a project has none, a remark says so, and what others have is listed, else what comes near. Raises
    sqlite3.Error.
    """
    began = time.monotonic()
    question = asked(subject(text))
    found = asking.answer(db, question.text, now, project, MOST, asking.NEAR)
    quotes, remark = found.quotes, ""
    if found.coverage < asking.ENOUGH:
        theirs = asking.answer(db, question.text, now, None, MOST).quotes if project is not None else ()
        quotes, remark = (theirs, ELSEWHERE) if theirs else (quotes[:FEW], NEAREST if quotes else _nothing(question))
    first = {one.row: one for one in reversed(quotes)}
    hits = tuple(_hit(question, one) for one in quotes if first[one.row] is one)
    counted: dict[str, int] = {}
    for hit in hits:
        counted[hit.kind] = counted.get(hit.kind, 0) + 1
    facets = Facets(tuple(Facet(kind, count, f"type:{kind}") for kind, count in counted.items()))
    took = round(time.monotonic() - began, 4)
    return Results(parse(text, now), RELEVANCE, hits, len(hits), False, facets, (remark,) if remark else (), "", took)


def _nothing(question: Question) -> str:
    if not question.text:
        return "a leading ? asks: type the question behind it, and quotes from the records answer it"
    return NOTHING if question.words else "the question names no subject"


def _hit(question: Question, quote: Quote) -> Hit:
    """A quote as a hit: of a decision what it answers before it, its words marked."""
    shown = printable(f"“{quote.asked}” → {quote.text}" if quote.asked else quote.text)
    marks = tuple(found.span() for found in _RUN.finditer(shown) if question.said(found[0]))
    return Hit(quote.row, _KINDS[quote.kind], quote.kind, quote.at, quote.session_id, quote.project, "", quote.path, "",
               False, Snippet(shown, marks), quote.score, 1, quote.unit_id, False, quote.superseded)  # fmt: skip
