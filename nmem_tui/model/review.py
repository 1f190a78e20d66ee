"""The cards of the review deck: one question each, with what a person needs to answer it, and what the keys answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import tzinfo

from nmem.audit.review import BY_REDACTION, Review
from nmem.labels.doubt import Doubt
from nmem.learn.learning import Learning
from nmem.read.queues import BOUNDARIES, LABELS, LEARNINGS, LINKS, QUEUES, REDACTIONS, Card
from nmem.read.stories import Offer
from nmem.read.threads import Link, whole
from nmem.text import fit_path, lines, pad, printable
from nmem_tui.model import keyed, learnings, secrets
from nmem_tui.model.figures import age, ago, day, several
from nmem_tui.model.labels import POLES
from nmem_tui.model.learnings_detail import what
from nmem_tui.model.line import Line, wrap
from nmem_tui.model.rows import word as kind
from nmem_tui.model.unit import flat

WORDS = {BOUNDARIES: "boundaries", LINKS: "links", LEARNINGS: "learnings", LABELS: "labels", REDACTIONS: "redactions"}
"""Queue -> its name."""
_ABOUT = {
    BOUNDARIES: "Where a task nearly changed it is asked here: what is unsure is never cut without you.",
    LINKS: "Where two threads look alike without being certain, it is asked here.",
    LEARNINGS: "What keeps failing, and what mended it: accepted, its rule goes into the project's instructions.",
    LABELS: "Calls whose labels the model cannot tell. {draw} asks about ten more.",
    REDACTIONS: "What was redacted, a secret or a false alarm: five verdicts tell the audit. d draws a sample.",
}
_WIDE = 9


def queue_of(card: Card) -> str:
    """The queue that a card belongs to."""
    kinds = {Offer: BOUNDARIES, Link: LINKS, Learning: LEARNINGS, Doubt: LABELS, Review: REDACTIONS}
    return kinds[type(card)]


def key(card: Card) -> tuple[str, int]:
    """What tells cards apart."""
    number = card.prompt_id if isinstance(card, Offer) else card.call.id if isinstance(card, Doubt) else card.id
    return queue_of(card), number


def title(card: Card) -> str:
    """The question in a few words."""
    titles = {BOUNDARIES: "New task?", LINKS: "The same line of work?", LEARNINGS: "Worth a rule?",
              LABELS: "Which was it?", REDACTIONS: "A secret?"}  # fmt: skip
    return titles[queue_of(card)]


def answers(card: Card) -> list[tuple[str, str]]:
    """The keys that answer, and what they say."""
    if isinstance(card, Offer):
        return [("y", "a new task begins here"), ("n", "it belongs to the task before")]
    if isinstance(card, Link):
        return [("y", "yes, the same line of work"), ("n", "no, two different things")]
    if isinstance(card, Learning):
        return [("y", "accept: its rule, previewed"), ("n", "dismiss"), ("z", "snooze"), ("v", "resolved")]
    if isinstance(card, Doubt):
        return [("y", f"yes: {card.word.thinks}"), ("n", f"no: {other(card)}")]
    kept = card.found_by != BY_REDACTION
    return [("y", "a secret, and it is stored" if kept else "a secret"),
            ("n", "none, rightly kept" if kept else "a false alarm")]  # fmt: skip


def other(doubt: Doubt) -> str:
    """The word that the model does not lean to."""
    left, right = POLES[doubt.word.dimension]
    return left if doubt.word.thinks == right else right


def card(one: Card, cells: int, rows: int, at: int, zone: tzinfo | None) -> list[Line]:
    """The card in at most so many rows."""
    if isinstance(one, Offer):
        drawn = _offer(one, cells, rows, zone)
    elif isinstance(one, Link):
        drawn = _link(one, cells, zone)
    elif isinstance(one, Learning):
        drawn = _learning(one, cells, at, zone)
    elif isinstance(one, Doubt):
        drawn = _doubt(one, cells, zone)
    else:
        return secrets.card(one, cells, rows)
    return list(drawn)[:rows]


def nothing(queue: str, counts: Mapping[str, int], answered: int, cells: int) -> list[Line]:
    """What stands where no card of a queue is left."""
    said = f"all answered: {several(answered, 'question')}" if answered else "nothing waits here"
    out: list[Line] = [[(f"✓ {said}", "good")], []]
    out += [[(row, "quiet")] for row in wrap(keyed.filled(_ABOUT[queue]), cells, 3)]
    if waits := [f"{WORDS[name]} {counts[name]}" for name in QUEUES if counts.get(name)]:
        out += [[], [(f"{keyed.of('next_queue')} ", "key"), (f"goes on: {' · '.join(waits)}", "text")]]
    return out


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
        yield [(pad(name, _WIDE), "quiet"), (day(at, zone)[:16], "text"), (f"  {printable(link.project)}", "quiet")]
        for row in wrap(flat(whole(text)) or "a thread without a title", cells - _WIDE, 4):
            yield [(" " * _WIDE, "text"), (row, "strong")]
        yield []
    verdict = "they look linked" if link.linked else "they do not look linked"
    yield [(pad("so far", _WIDE), "quiet"), (f"{verdict}, score {link.score:.2f}", "text"), ("  not certain", "warn")]
    for row in wrap(flat(link.reasoning), cells - _WIDE, 4) if link.reasoning else []:
        yield [(pad("", _WIDE), "quiet"), (row, "agent")]
    for row in wrap(flat(link.summary), cells - _WIDE, 4) if link.summary else []:
        yield [(pad("", _WIDE), "quiet"), (row, "text")]


def _learning(one: Learning, cells: int, at: int, zone: tzinfo | None) -> Iterator[Line]:
    yield [("Is this true, and worth a rule for the agent?", "title")]
    yield []
    for row in wrap(flat(one.title), cells, 4):
        yield [(row, "strong")]
    yield []
    yield [
        (pad("heat", _WIDE), "quiet"),
        *learnings.gauge(one, 10, at),
        (f"  last met {ago(at - one.last_at)}", "text"),
    ]
    first = day(one.first_at, zone)[:16]
    told = [("what", what(one)), ("where", printable(one.project)), ("since", first)]
    if one.remedy is not None:
        told.append(("mended", flat(one.remedy.text)))
    for name, text in told:
        for number, row in enumerate(wrap(text, cells - _WIDE, 3)):
            yield [(pad("" if number else name, _WIDE), "quiet"), (row, "text")]
    for number, path in enumerate(one.files[:4]):
        yield [(pad("" if number else "files", _WIDE), "quiet"), (fit_path(printable(path), cells - _WIDE), "text")]


def _doubt(one: Doubt, cells: int, zone: tzinfo | None) -> Iterator[Line]:
    call, word = one.call, one.word
    yield [(f"{word.dimension.capitalize()} of this call: {word.thinks}, or {other(one)}?", "title")]
    yield []
    name, tone = kind(call.obs_type)
    text = flat(call.content) or printable(call.file_path) or "–"
    for number, row in enumerate(wrap(text, cells - _WIDE, 4)):
        yield [(pad("" if number else name, _WIDE), tone), (row, "strong")]
    failed = "  failed" if call.outcome == "failed" else ""
    yield [(pad("when", _WIDE), "quiet"), (day(call.at, zone)[:16], "text"), (failed, "bad")]
    if call.prompt:
        for number, row in enumerate(wrap(flat(call.prompt), cells - _WIDE, 3)):
            yield [(pad("" if number else "you said", _WIDE), "quiet"), (row, "user")]
    yield []
    yield [(pad("so far", _WIDE), "quiet"), (f"not clear; leans to {word.thinks} {abs(word.leaning):.2f}", "text")]
    if why := ", ".join(flat(reason.words) for reason in word.reasons[:3] if reason.weight > 0):
        for row in wrap(f"as {why}", cells - _WIDE, 2):
            yield [(" " * _WIDE, "text"), (row, "quiet")]
    said = ", ".join(f"{each.dimension} {each.word}" for each in call.words if each.word)
    if said:
        yield [(pad("known", _WIDE), "quiet"), (said, "quiet")]
