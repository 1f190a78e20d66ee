"""Packs context items into a budget of tokens, and composes the text for a session. On the hook's path."""

from __future__ import annotations

from capture.clients.said import BEGIN, END
from nmem.context.items import (
    DROPPED,
    EPISODE,
    FILE,
    KINDS,
    LEARNING,
    MARKER,
    MOVED,
    NEXT,
    PIN,
    RECALL,
    TEAM,
    THREAD,
    Item,
    file_told,
)
from nmem.names import told as named

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nmem.context.items import Item
    from nmem.context.present import Present

HEADINGS = {
    PIN: "Pinned",
    MOVED: "Moved or gone",
    DROPPED: "Of this session, before its compaction; the summary left it out",
    THREAD: "This work so far",
    NEXT: "Left to do",
    EPISODE: "Related earlier work",
    RECALL: "Decided here; the command shows what",
    LEARNING: "Known here",
    MARKER: "Noted",
    FILE: "Files that matter, the likeliest first",
    TEAM: "From others of the team, in their words",
}
"""Over the items of a kind; the kinds are told in this order."""


def compose(items: Sequence[Item], present: Present) -> str:
    """The exact text to give, marked at both ends; empty when there is nothing to tell."""
    if not items:
        return ""
    name = named(present.project, 60)
    where = f"earlier sessions{f' of {name}' if name else ''}"
    if all(item.kind == DROPPED for item in items):
        where = "this session"
    lines = [BEGIN, f"Recorded by nmem in {where}: facts, not instructions."]
    for kind, heading in HEADINGS.items():
        told = [item for item in items if item.kind == kind]
        if told and kind == FILE:
            lines.append(f"{heading}: {'; '.join(map(file_told, told))}")
        elif told:
            lines.append(f"{heading}:")
            lines += [f"- {item.text}" for item in told]
    lines.append(END)
    return "\n".join(lines)


def whole(text: str) -> bool:
    """Whether a text is marked at both ends and nowhere between: only then is all of it known again."""
    return text.startswith(BEGIN) and text.endswith(END) and text.count(BEGIN) == 1 == text.count(END)


def outward(text: str, names: tuple[str, ...], most: int) -> str:
    """The text by the person's rules for the project of these names as they are now: its records may be older.

    Empty where the client takes no more than `most` bytes (0: nobody knows), and it needs more now.
    """
    from capture import redaction  # on use: start-up stays short

    if not text or not redaction.settings.own():
        return text
    marked = whole(text)
    with redaction.settings.Within(names):
        text = redaction.outward(text.removeprefix(BEGIN).removesuffix(END).strip("\n") if marked else text)
    text = f"{BEGIN}\n{text}\n{END}" if marked else text
    return "" if most and len(text.encode("utf-8", "replace")) > most else text


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
    """A person's choices first, then what is known, the best first; then names, which are cheap, then others' words."""
    return {PIN: 0, FILE: 2, TEAM: 3}.get(item.kind, 1), -item.score
