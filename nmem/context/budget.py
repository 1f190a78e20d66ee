"""Packs items into a budget of tokens: what was chosen by a person, then names of files, then what is worth its room.

On the hook's path. A file that an episode names is not named again.
"""

from __future__ import annotations

from nmem.context.items import EPISODE, FILE, KINDS, PIN, Item

FRAME = 48
"""Tokens of the marks and the first line."""
HEADING = 8
"""Tokens of a heading."""
BULLET = 1
PART = 2
"""Where files are to be named as well, what a person pinned takes no more than one part of so many."""
LEAST = 0.25
"""An item other than a file's name that scores less is not worth its room."""


def packed(items: list[Item], budget: int) -> list[Item]:
    """The items that fit, in the order in which they are told; empty when nothing does."""
    room = budget - FRAME
    pins = room // PART if any(one.kind == FILE for one in items) else room
    taken: list[Item] = []
    for item in sorted(items, key=_order):
        if item.kind not in (FILE, PIN) and item.score < LEAST:
            continue
        cost = item.tokens + BULLET + (0 if any(one.kind == item.kind for one in taken) else HEADING)
        instead = [one for one in taken if one.kind == FILE and set(one.files) <= set(item.files)] if (
            item.kind == EPISODE
        ) else []  # fmt: skip
        cost -= sum(one.tokens + BULLET for one in instead)
        if cost <= (min(room, pins) if item.kind == PIN else room):
            room -= cost
            pins -= cost if item.kind == PIN else 0
            taken = [one for one in taken if one not in instead]
            taken.append(item)
    place = {kind: at for at, kind in enumerate(KINDS)}
    taken.sort(key=lambda one: (place.get(one.kind, len(place)), -one.score))
    return taken


def _order(item: Item) -> tuple[int, float]:
    """A person's choices first, then names, which are cheap and what is asked for, then the best of the rest."""
    return (0 if item.kind == PIN else 1 if item.kind == FILE else 2), -item.score
