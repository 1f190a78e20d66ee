"""What the screen Episodes asks of the database, each in one visit: a story, the rest of the list, a look at it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo
from sqlite3 import Connection
from typing import TYPE_CHECKING

from nmem.read import episodes, stories
from nmem.read.episode_filter import Filter
from nmem.read.episodes import EpisodeRow, Slot, Stamp
from nmem.read.stories import Story
from nmem_tui.model.shelf import BLOCK, Shelf

if TYPE_CHECKING:
    from nmem.learn.learning import Warned


@dataclass(frozen=True, slots=True)
class Told:
    """A story, None where the episode is gone; and what the episode runs into again."""

    story: Story | None
    warned: tuple[Warned, ...] = ()


@dataclass(frozen=True, slots=True)
class Look:
    """What is on screen as it is now."""

    stamp: Stamp
    waiting: int
    rows: dict[int, EpisodeRow]
    told: Told


def told(db: Connection, unit_id: int, at: int) -> Told:
    """All that stands beside the list for one episode."""
    from nmem.learn import warnings

    story = stories.story(db, unit_id)
    return Told(story, tuple(warnings.of_unit(db, unit_id, at)) if story else ())


def rest(db: Connection, known: Sequence[Slot], query: Filter, project: str, zone: tzinfo | None) -> Shelf:
    """The list to its end, after what is known of it: grouped here, not where keys wait for it."""
    older = episodes.older(db, known[-1], query, project)
    shelf = Shelf(zone)
    shelf.add([*known, *older], complete=len(older) < episodes.COUNTED)
    shelf.fill(episodes.rows(db, [slot.id for slot in older[-BLOCK:]]))
    return shelf


def look(db: Connection, shown: Sequence[int], unit_id: int, at: int) -> Look:
    """The rows on screen, the story of one of them, and whether the list may have changed."""
    return Look(
        episodes.stamp(db),
        stories.waiting(db),
        episodes.rows(db, shown),
        told(db, unit_id, at) if unit_id else Told(None),
    )
