"""A person's choices on a project's items, and learnings that match a prompt. On the path of every prompt.

Nothing here ranks: most prompts load this and no more.
"""

from __future__ import annotations

from nmem.context import known, pinned
from nmem.context.items import Item, subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from nmem.context.present import Present


def chosen(db: Connection, present: Present) -> list[Item]:
    """What a person pinned or included, which is told whatever the session is about."""
    said = heed(db, present)
    return heeded(pinned.pins(db, present, said), present, said)


def warned(db: Connection, present: Present) -> list[Item]:
    """The learnings that a prompt runs into, nothing ranked."""
    return once(db, present, known.learnings(db, present, []))


def once(db: Connection, present: Present, items: list[Item]) -> list[Item]:
    """Without what a person excluded, and what the session was told before."""
    return heeded(items, present, heed(db, present))


def heed(db: Connection, present: Present) -> dict[str, str]:
    """What a person said about items of the project; whatever is told from now on leaves out what they excluded."""
    said = pinned.choices(db, present.project_id)
    out = [item for item, choice in said.items() if choice == pinned.EXCLUDE]
    if out and present.unsaid is None:
        from nmem.context import unsaid

        present.unsaid = unsaid.read(db, out)
    return said


def heeded(items: list[Item], present: Present, chosen: dict[str, str]) -> list[Item]:
    """Without what a person excluded, what was told before, and what is there twice: a pin is the episode itself."""
    out: dict[str, Item] = {}
    for item in items:
        key = subject(item.id)
        told = item.id in present.given or key in present.given or f"pin/{key}" in present.given
        if key not in out and not told and chosen.get(key) != pinned.EXCLUDE:
            out[key] = item
    excluded = {key[5:] for key, choice in chosen.items() if choice == pinned.EXCLUDE and key.startswith("file/")}
    kept = [item for item in out.values() if not excluded.intersection(item.files)]
    return present.unsaid.told(kept) if present.unsaid else kept
