"""Counts the open items of the review queues: boundaries, thread links, learnings, labels, redactions (SQL)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from sqlite3 import Connection

from nmem import tables
from nmem.audit import review
from nmem.audit.review import Review
from nmem.audit.store import unjudged
from nmem.labels import read
from nmem.labels.read import Doubt
from nmem.learn import read as learn
from nmem.learn.learning import Learning
from nmem.read import episode_store, stories
from nmem.read.episode_store import Link
from nmem.read.stories import Offer

BOUNDARIES, LINKS, LEARNINGS, LABELS, REDACTIONS = "boundaries", "links", "learnings", "labels", "redactions"
QUEUES = (BOUNDARIES, LINKS, LEARNINGS, LABELS, REDACTIONS)
MOST = 100
"""Cards of a queue that are read at once."""
DRAWN = 10
"""Calls whose labels are asked about at a time: there are always more."""
Card = Offer | Link | Learning | Doubt | Review


@dataclass(frozen=True)
class Queues:
    """The cards of each queue, and how many there are in all."""

    cards: Mapping[str, tuple[Card, ...]] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)


def queues(db: Connection, db_path: str, now: int, labels: int = DRAWN, links: Iterable[int] | None = None) -> Queues:
    """All five; `labels`: so many calls are asked about; `links`: only these, however many others are asked about."""
    if not tables.version(db):
        return Queues()
    deck = stories.deck(db, MOST, links)
    learned = learn.learnings(db, now)
    cards: dict[str, tuple[Card, ...]] = {
        BOUNDARIES: deck.offers,
        LINKS: deck.links,
        LEARNINGS: learned[:MOST],
        LABELS: read.doubts(db, db_path, labels),
        REDACTIONS: review.queue(db, MOST),
    }
    return Queues(cards, _counts(db, len(learned), len(cards[LABELS])))


def waiting(db: Connection, db_path: str, now: int) -> int:
    """How many questions are open in all five, as the review counts them when it is opened; no model is asked."""
    if not tables.version(db):
        return 0
    return sum(_counts(db, learn.count_open(db, now), read.count_doubts(db, db_path, DRAWN)).values())


def _counts(db: Connection, learnings: int, labels: int) -> dict[str, int]:
    boundaries, links = episode_store.asked(db)
    return {BOUNDARIES: boundaries, LINKS: links, LEARNINGS: learnings, LABELS: labels, REDACTIONS: unjudged(db)}
