"""Draws the cards of the review deck, one open question each, and a call's five labels for correction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import tzinfo

from nmem.audit.review import BY_REDACTION, Review
from nmem.labels.read import Doubt, Labelled, Word
from nmem.learn.learning import Learning
from nmem.queues import BOUNDARIES, LABELS, LEARNINGS, LINKS, QUEUES, REDACTIONS, Card
from nmem.read.episode_store import Link, cut_title
from nmem.read.stories import Offer
from nmem.text import fit_path, lines, pad, printable
from nmem_tui.model import actions, learnings, symbols
from nmem_tui.model.figures import age, ago, day, filled, several
from nmem_tui.model.learning_detail import what
from nmem_tui.model.line import Line, cut, joined, wrap
from nmem_tui.model.now_cards import flat
from nmem_tui.model.stream import POLES, sure
from nmem_tui.model.stream import word as kind
from nmem_tui.model.symbols import Sign


def redaction_card(one: Review, cells: int, rows: int) -> list[Line]:
    """One redaction: its kind, where it stands, and the text around it; the secret itself is gone, or masked."""
    kept = one.found_by != BY_REDACTION
    ask = "Is this a secret that redaction left?" if kept else "Was this a secret?"
    lines: list[Line] = [[(ask, "title")], []]
    seen = f"  seen by {printable(one.found_by)}, kept by redaction" if kept else ""
    lines.append([(pad("kind", 8), "quiet"), (printable(one.kind), "strong"), (seen, "warn")])
    lines.append([(pad("where", 8), "quiet"), (one.target, "text"), (f"  {printable(one.day)}", "quiet")])
    lines.append([])
    lines += _around(one, cells, max(2, rows - 8))
    if kept:
        then = "If it is: add a pattern, then `nmem redact --history` takes it out of what is stored."
        lines += [[], *([(row, "quiet")] for row in wrap(then, cells, 2))]
    return lines[:rows]


def _around(one: Review, cells: int, most: int) -> list[Line]:
    """The text around it, over several lines; the place itself stands out."""
    before, masked, after = (" ".join(printable(text).split()) for text in (one.before, one.masked, one.after))
    out: list[Line] = []
    for text, tone in ((before, "text"), (masked, "accent"), (after, "text")):
        out += [[("  │ ", "line"), (row, tone)] for row in (wrap(text, max(8, cells - 4), 4) if text else [])]
    return out[:most]


KEYS = {"phase": "p", "scope": "s", "locus": "l", "novelty": "n", "friction": "f"}
"""Dimension -> the key that flips it; the capital takes it back."""
MEANS = {
    "think": "work out what to do", "act": "do the work", "diverge": "look for more", "converge": "settle on one thing",
    "internal": "stay on this machine", "external": "leave this machine", "routine": "follow routine",
    "novel": "break new ground", "smooth": "go smoothly", "friction": "meet or work around a failure",
}  # fmt: skip
"""What a call does that has the word."""
_BAR = 10
_INDENT = 14


def flipped(word: Word) -> str:
    """The word that a flip says: the other one; where the model abstains, first the one that it leans to."""
    left, right = POLES[word.dimension]
    if not word.word:
        return word.thinks or right
    return left if word.word == right else right


def relabel_lines(found: Labelled, cells: int, *, why: int = 2) -> list[Line]:
    """The call, its five words, and the keys; the reasons of each in at most `why` rows."""
    name, tone = kind(found.obs_type)
    text = flat(found.content) or printable(found.file_path) or "–"
    first, *rest = wrap(text, cells - 8, 2) or ["–"]
    out: list[Line] = [[(pad(name, 8), tone), (first, "strong")], *([(" " * 8, "text"), (row, "text")] for row in rest)]
    if found.prompt:
        out.append([(pad("you", 8), "user"), (flat(found.prompt), "quiet")])
    out.append([])
    for word in found.words:
        out += _word(word, cells, why=why)
    keys: list[tuple[str, str]] = [("p s l n f", "the other word"), ("P S L N F", "the model's"), ("u", "undo")]
    out += [[], joined([[(key, "key"), (f" {does}", "quiet")] for key, does in keys], "  ")]
    return [cut(line, cells) for line in out]


def _word(word: Word, cells: int, *, why: int) -> Iterator[Line]:
    """The word, how sure it is, and what speaks for it."""
    said, size = word.word or "~", abs(word.score or 0.0)
    done = filled(size, 1, _BAR)
    by: Line
    if word.own:
        by = [("✓ by your word", "good"), (f"  the model says {flat(word.thinks)}" if word.thinks else "", "quiet")]
    elif word.word:
        by = [
            (symbols.now().bar * done, "bar"),
            (symbols.now().track * (_BAR - done), "off"),
            (f" {pad(sure(word.score), 11)}", "text"),
            (f"  {MEANS.get(word.word, '')}" if cells >= _MEANT else "", "quiet"),
        ]
    else:
        by = [(f"not clear: {flat(word.thinks)}?" if word.thinks else "no model has said", "quiet")]
    yield [
        (f" {KEYS[word.dimension]} ", "key"), (pad(word.dimension, _INDENT - 4), "quiet"),
        (pad(flat(said), 10), "strong"), *by,
    ]  # fmt: skip
    if why and not word.own:
        yield from ([(" " * (_INDENT - 1), "text"), (row, "quiet")] for row in because(word, cells - _INDENT, why))


_MEANT = 64
"""Cells in which what a word means has room beside how sure it is."""
_MOST_REASONS = 3


def because(word: Word, cells: int, rows: int) -> list[str]:
    """What speaks for the word, the strongest first: as many reasons as stand whole in so many rows, one at least."""
    told = [flat(reason.words) for reason in word.reasons if reason.weight > 0][:_MOST_REASONS]
    while told:
        drawn = wrap(f"because: {'; '.join(told)}", cells, rows + 1)
        if len(drawn) <= rows or len(told) == 1:
            return drawn[:rows]
        told.pop()
    return []


WORDS = {BOUNDARIES: "boundaries", LINKS: "links", LEARNINGS: "learnings", LABELS: "labels", REDACTIONS: "redactions"}
"""Queue -> its name."""
_ABOUT = {
    BOUNDARIES: "Prompts where a new task may begin: nmem never splits there without your answer.",
    LINKS: "Pairs of threads that look alike, but not enough to link them.",
    LEARNINGS: "Recurring failures and their fixes; accepting one adds its rule to the project's instructions.",
    LABELS: "Calls that the model cannot label. {draw} asks about ten more.",
    REDACTIONS: "Redacted texts: a secret, or a false alarm? Five verdicts are enough for the audit. d draws a sample.",
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
    titles = {BOUNDARIES: "A new task?", LINKS: "One line of work?", LEARNINGS: "A rule?",
              LABELS: "The right word?", REDACTIONS: "A secret?"}  # fmt: skip
    return titles[queue_of(card)]


def answers(card: Card) -> list[tuple[str, str]]:
    """The keys that answer the question on the card, and what each says, in the question's words."""
    if isinstance(card, Offer):
        return [("y", "yes, a new task begins"), ("n", "no, the task before goes on")]
    if isinstance(card, Link):
        return [("y", "yes, one line of work"), ("n", "no, two lines of work")]
    if isinstance(card, Learning):
        return [
            ("y", "yes, a rule: shown first"),
            ("n", "no, never ask again"),
            ("z", "ask again later"),
            ("R", "it is fixed"),
        ]
    if isinstance(card, Doubt):
        return [("y", f"yes, {card.word.thinks}"), ("n", f"no, {other(card)}: {MEANS[other(card)]}")]
    if card.found_by == BY_REDACTION:
        return [("y", "yes, a secret"), ("n", "no, a false alarm")]
    return [("y", "yes, a secret: redaction left it"), ("n", "no, rightly kept")]


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
        return redaction_card(one, cells, rows)
    return list(drawn)[:rows]


def nothing(queue: str, counts: Mapping[str, int], answered: int, cells: int) -> list[Line]:
    """What stands where no card of a queue is left."""
    said = f"all answered: {several(answered, 'question')}" if answered else "nothing waits here"
    out: list[Line] = [[(f"✓ {said}", "good")], []]
    out += [[(row, "quiet")] for row in wrap(actions.fill_keys(_ABOUT[queue]), cells, 3)]
    if waits := [f"{WORDS[name]} {counts[name]}" for name in QUEUES if counts.get(name)]:
        out += [[], [(f"{actions.key_of('next_queue')} ", "key"), (f"goes on: {' · '.join(waits)}", "text")]]
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
    each = max(1, (rows - 8) // 4)
    yield [("Does a new task begin with this prompt?", "title")]
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
    yield from _quoted(
        f"{gap}{day(offer.at, zone)[:16]}: you said", offer.prompt, cells, max(2, rows - 8 - 2 * each), "strong"
    )


def _link(link: Link, cells: int, zone: tzinfo | None) -> Iterator[Line]:
    yield [("Are these two threads one line of work?", "title")]
    yield []
    for name, text, at in (("earlier", link.earlier, link.earlier_at), ("later", link.later, link.later_at)):
        yield [(pad(name, _WIDE), "quiet"), (day(at, zone)[:16], "text"), (f"  {printable(link.project)}", "quiet")]
        for row in wrap(flat(cut_title(text)) or "a thread without a title", cells - _WIDE, 4):
            yield [(" " * _WIDE, "text"), (row, "strong")]
        yield []
    verdict = "they look linked" if link.linked else "they do not look linked"
    yield [(pad("so far", _WIDE), "quiet"), (f"{verdict}, score {link.score:.2f}", "text"), ("  not certain", "warn")]
    for row in wrap(flat(link.reasoning), cells - _WIDE, 4) if link.reasoning else []:
        yield [(pad("", _WIDE), "quiet"), (row, "agent")]
    for row in wrap(flat(link.summary), cells - _WIDE, 4) if link.summary else []:
        yield [(pad("", _WIDE), "quiet"), (row, "text")]


def _learning(one: Learning, cells: int, at: int, zone: tzinfo | None) -> Iterator[Line]:
    yield [("Is this worth a rule for the agent?", "title")]
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
    yield [(f"Does this call {MEANS[word.thinks]} ({word.thinks})?", "title")]
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
    yield [(pad(word.dimension, _WIDE), "quiet"), (f"not clear, rather {word.thinks}", "text")]
    for row in because(word, cells - _WIDE, 2):
        yield [(" " * _WIDE, "text"), (row, "quiet")]
    said = ", ".join(f"{each.dimension} {each.word}" for each in call.words if each.word)
    if said:
        yield [(pad("known", _WIDE), "quiet"), (said, "quiet")]


SIGNS = (
    Sign("▸enter to answer◂", "the question has no keyboard: letters do nothing", "accent"),
    Sign("│", "what was said or done, as it is recorded", "line"),
    Sign("{bar}{track}", "how sure the model is", "bar"),
    Sign("✓ by your word", "a label that you gave", "good"),
)
