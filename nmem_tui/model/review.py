"""The cards of the review deck: one question each, with what a person needs to answer it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import tzinfo

from nmem.read.stories import Offer
from nmem.read.threads import Link, whole
from nmem.text import lines, pad, printable
from nmem_tui.model.figures import age, day
from nmem_tui.model.line import Line, wrap
from nmem_tui.model.unit import flat

Question = Offer | Link


def title(question: Question) -> str:
    """The question in a few words."""
    return "New task?" if isinstance(question, Offer) else "The same line of work?"


def answers(question: Question, cells: int) -> list[Line]:
    """The keys and what they answer."""
    yes, no = ("a new task begins here", "it belongs to the task before") if isinstance(question, Offer) else (
        "yes, the same line of work", "no, two different things")  # fmt: skip
    answer: Line = [(" y ", "key"), (f"{yes}    ", "text"), (" n ", "key"), (no, "text")]
    others: Line = [(" j ", "key"), ("later    ", "quiet"), (" u ", "key"), ("undo the last answer", "quiet")]
    return [[*answer, ("    ", "text"), *others]] if cells >= 104 else [answer, others]


def card(question: Question, cells: int, rows: int, zone: tzinfo | None) -> list[Line]:
    """The card in at most so many rows."""
    body = _offer(question, cells, rows, zone) if isinstance(question, Offer) else _link(question, cells, zone)
    return list(body)[:rows]


def _quoted(label: str, text: str, cells: int, limit: int, tone: str) -> Iterator[Line]:
    """A label and a text below it, its own lines kept."""
    yield [(label, "quiet")]
    shown: list[str] = []
    for row in lines(text.strip(), limit * 2):
        shown += wrap(row, cells - 4, limit)
    for row in shown[:limit]:
        yield [("  │ ", "line"), (row, tone)]


def _offer(offer: Offer, cells: int, rows: int, zone: tzinfo | None) -> Iterator[Line]:
    each = max(2, (rows - 12) // 3)
    yield [("Does a new task begin with this prompt, or does the one before go on?", "title")]
    yield []
    yield [(pad("task", 8), "quiet"), (flat(offer.name), "text"), (f"  {printable(offer.project)}", "quiet")]
    score = "" if offer.score is None else f"{offer.score:.0%} likely a new task"
    why = flat(offer.reason)
    yield [(pad("unsure", 8), "quiet"), (", ".join(part for part in (score, why) if part) or "no reason noted", "text")]
    yield []
    if offer.previous:
        yield from _quoted("you said before", offer.previous, cells, each, "text")
    if offer.before:
        yield from _quoted("the agent ended with", offer.before, cells, each, "agent")
    gap = f"{age(offer.gap_ms)} later, " if offer.gap_ms >= 5000 else ""
    yield from _quoted(f"{gap}{day(offer.at, zone)[:16]}: you said", offer.prompt, cells, each + 2, "strong")


def _link(link: Link, cells: int, zone: tzinfo | None) -> Iterator[Line]:
    yield [("Are these two threads one line of work?", "title")]
    yield []
    for name, text, at in (("earlier", link.earlier, link.earlier_at), ("later", link.later, link.later_at)):
        yield [(pad(name, 9), "quiet"), (day(at, zone)[:16], "text"), (f"  {printable(link.project)}", "quiet")]
        for row in wrap(flat(whole(text)) or "a thread without a title", cells - 9, 4):
            yield [(" " * 9, "text"), (row, "strong")]
        yield []
    verdict = "they look linked" if link.linked else "they do not look linked"
    yield [(pad("so far", 9), "quiet"), (f"{verdict}, score {link.score:.2f}", "text"), ("  not certain", "warn")]
    for row in wrap(flat(link.reasoning), cells - 9, 4) if link.reasoning else []:
        yield [(pad("", 9), "quiet"), (row, "agent")]
    for row in wrap(flat(link.summary), cells - 9, 4) if link.summary else []:
        yield [(pad("", 9), "quiet"), (row, "text")]
