"""Packs items into a budget of tokens: a person's choices first, then knowledge, then file names.

On the hook's path.
"""

from __future__ import annotations

from nmem.context.items import EPISODE, FILE, KINDS, PIN, THREAD, Item

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
    named: set[str] = set()
    for item in sorted(items, key=_order):
        if item.kind not in (FILE, PIN) and item.score < LEAST:
            continue
        if item.kind == FILE and named.issuperset(item.files):
            continue  # an episode that is told says more of it
        cost = item.tokens + BULLET + (0 if any(one.kind == item.kind for one in taken) else HEADING)
        if cost <= (min(room, pins) if item.kind == PIN else room):
            room -= cost
            pins -= cost if item.kind == PIN else 0
            taken.append(item)
            named.update(item.files if item.kind in (EPISODE, THREAD) else ())
    place = {kind: at for at, kind in enumerate(KINDS)}
    taken.sort(key=lambda one: (place.get(one.kind, len(place)), -one.score))
    return taken


def _order(item: Item) -> tuple[int, float]:
    """A person's choices first, then what is known, the best first; names last, for they are cheap."""
    return (0 if item.kind == PIN else 2 if item.kind == FILE else 1), -item.score
