"""Collects what a person pinned, noted or chose, and drops what they excluded. On the hook's path."""

from __future__ import annotations

from nmem.context import known, store
from nmem.context.items import FILE, LEARNING, MARKER, PIN, RECALL, TEAM, TEXT, Item, subject
from nmem.names import told
from nmem.retrieval.terms import ago, terms
from nmem.sanitize import quoted

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Collection
    from sqlite3 import Connection

    from nmem.context.present import Present

EXCLUDE, INCLUDE, PINNED = "exclude", "include", "pin"
MOST, ASKED = 40, 8
"""Pins looked at: the newest, and at a prompt the newest of those not told yet; told as far as there is room."""
ELSEWHERE = 10
"""Pins of other projects looked at: the newest that are told everywhere."""
MARKERS = 2
FRESH = 14 * 86_400_000
"""A marker as old as this is told only when the prompt speaks of it."""
_SHORT = 3
"""A prompt that has one of at most so many words of a decision speaks of it."""
_ABROAD = 0.9
"""The score of a pin of another project: a project's own come first."""


def pins(db: Connection, present: Present, chosen: dict[str, str], most: int = MOST) -> list[Item]:
    """What is pinned in the project, and whatever else was chosen to be told, the newest first."""
    out: dict[str, Item] = {}
    every = store.pinned(db, present.project_id, most)
    new = [item for item in every if chosen.get(item) != EXCLUDE and not _given(present, item)]
    for item in new[:ASKED] if present.prompt else new:
        reason = "you chose that it is always told" if item in chosen else "it is pinned"
        for one in resolved(db, item, present, reason):
            out.setdefault(one.id, one)
    for item, project in store.everywhere(db, present.project_id, ELSEWHERE):
        if not store.is_pinned(db, item):
            continue
        reason = f"it is pinned in every project; it is of {project}"
        for one in resolved(db, item, present, reason) if chosen.get(item) != EXCLUDE else ():
            out.setdefault(one.id, _abroad(one, project))
    return list(out.values())


def _abroad(one: Item, project: str) -> Item:
    """A pin of another project: after those of one's own, and said to be of the other."""
    return Item(
        one.id, PIN, f"Of project {quoted(project, 60)}: {one.text}", files=(), score=_ABROAD, reason=one.reason
    )


def resolved(db: Connection, item: str, present: Present, reason: str) -> list[Item]:
    """The item that an id stands for, told whatever the present is; none when it is there no more."""
    kind, _, rest = item.partition("/")
    if kind == "file":
        text = told(rest)
        return [Item(item, FILE, text, files=(rest,), score=1.0, reason=reason)] if text else []
    if kind == RECALL:
        return [Item(item, RECALL, quoted(f"/{rest}"), score=1.0, reason=reason)]
    if kind == TEAM:
        from nmem.context.teammates import of_id  # on use: what a person excluded of others

        return of_id(db, rest, present.at, reason)
    if not (rest.isascii() and rest.isdigit() and len(rest) < 19):
        return []
    number = int(rest)
    if kind == "episode":
        from nmem.context import episodes, selection_store  # on use: start-up stays short

        return [
            episodes.tell(row, present.at, 1.0, reason, f"pin/{item}", PIN, present.unsaid)
            for row in selection_store.units(db, [number])
        ]
    if kind == "thread":
        from nmem.context import work  # on use: start-up stays short

        return work.of_thread(db, number, present, reason, f"pin/{item}", PIN, 1.0)
    row = store.said(db, kind, number)
    if row is None:
        return []
    at, what, content, path = row
    if kind == "learning":
        return [Item(item, LEARNING, quoted(content, TEXT), score=1.0, reason=reason)]
    word = {"user": "You said", "agent": "The agent said", "marker": "Noted"}.get(what, what.replace("_", " "))
    about = f" of {named}" if path and (named := told(path)) else ""
    text = f"{word}{about}, {ago(present.at - at)}: {quoted(content, TEXT)}"
    return [Item(f"pin/{item}", PIN, text, score=1.0, reason=reason)]


def markers(db: Connection, present: Present, thread_id: int | None = None) -> list[Item]:
    """Notes and decisions that a person or an agent set down: those that the prompt speaks of; at a start the newest.

    `thread_id`: only notes of a thread; decisions hold in the whole project. Those that a later one replaces are not
    told. Raises sqlite3.Error.
    """
    rows = store.notes(db, present.project_id, decided=False, thread_id=thread_id)
    asked = terms(present.prompt) if rows and present.prompt else {}
    out = []
    for number, at, content in rows:
        shared = [word for word in terms(content) if word in asked]
        fresh = present.at - at < FRESH and not present.prompt
        if len(shared) >= 2 or fresh:
            reason = _spoken_of(shared) or "noted lately"
            text = f"{quoted(content, TEXT)} (noted {ago(present.at - at)})"
            out.append(Item(f"marker/{number}", MARKER, text, score=0.8 if shared else 0.5, reason=reason))
    return [*decisions(db, present), *out[:MARKERS]]


def decisions(db: Connection, present: Present, also: Collection[int] = ()) -> list[Item]:
    """Marked decisions: those that the prompt speaks of; at a start the newest fresh ones that the person marked, or
    that are of `also`, whoever did.

    None that a later decision replaces. Raises sqlite3.Error.
    """
    rows = store.notes(db, present.project_id, decided=True)
    asked = terms(present.prompt) if rows and present.prompt else {}
    near = {}
    for number, at, content in rows:
        words = terms(content) if asked else {}
        shared = [word for word in words if word in asked]
        fresh = not present.prompt and present.at - at < FRESH
        if fresh or len(shared) >= 2 or (shared and _SHORT * len(shared) >= len(words)):
            near[number] = _spoken_of(shared)
    if not near:
        return []
    from nmem.context.marked import holding  # on use: few projects have marked decisions

    return holding(db, present, rows, near, also)


def _spoken_of(shared: list[str]) -> str:
    """The words of a prompt that speak for something, as a reason; "" where there are none."""
    return f"the prompt speaks of {', '.join(shared[:3])}" if shared else ""


def chosen(db: Connection, present: Present) -> list[Item]:
    """What a person pinned or included, told whatever the session is about; and what they marked as decided."""
    said = heed(db, present)
    return heeded([*pins(db, present, said), *decisions(db, present)], present, said)


def warned(db: Connection, present: Present) -> list[Item]:
    """The learnings that a prompt runs into, nothing ranked."""
    return once(db, present, known.learnings(db, present, []))


def once(db: Connection, present: Present, items: list[Item]) -> list[Item]:
    """Without what a person excluded, and what the session was told before."""
    return heeded(items, present, heed(db, present))


def heed(db: Connection, present: Present) -> dict[str, str]:
    """What a person said about items of the project; whatever is told from now on leaves out what they excluded."""
    said = store.choices(db, present.project_id)
    out = [item for item, choice in said.items() if choice == EXCLUDE]
    if out and present.unsaid is None:
        from nmem.context import unsaid  # on use: start-up stays short

        present.unsaid = unsaid.read(db, out)
    return said


def _given(present: Present, key: str) -> bool:
    """Whether the session was told of something before, as itself or as a pin."""
    return key in present.given or f"pin/{key}" in present.given


def heeded(items: list[Item], present: Present, chosen: dict[str, str]) -> list[Item]:
    """Without what a person excluded, what was told before, and what is there twice: a pin is the episode itself."""
    out: dict[str, Item] = {}
    for item in items:
        key = subject(item.id)
        told = item.id in present.given or _given(present, key)
        if key not in out and not told and chosen.get(key) != EXCLUDE:
            out[key] = item
    excluded = {key[5:] for key, choice in chosen.items() if choice == EXCLUDE and key.startswith("file/")}
    kept = [item for item in out.values() if not excluded.intersection(item.files)]
    return present.unsaid.told(kept) if present.unsaid else kept
