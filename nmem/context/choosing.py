"""Stores a person's choice on a context item: always tell it, never tell it, or neither; with undo.

Where an item stands for something that carries a pin of its own, `nmem.context.pins` sets that; a file has none.
"""

from __future__ import annotations

from sqlite3 import Connection

from capture.storage.store import transaction
from nmem.context import review_store, store
from nmem.context.items import subject
from nmem.context.pinned import EXCLUDE, INCLUDE, PINNED
from nmem.errors import NmemError
from nmem.store.corrections import Entry, write
from nmem.store.project import named

CHOICE = "choice"
"""The kind of these corrections; the target is context/PROJECT_ID."""
NEITHER = ""
_TARGET = "context/"
_KINDS = ("file", "episode", "thread", "learning", "obs", "prompt", "next", "recall", "team")
_WORDED = ("file", "recall", "team")
"""Kinds whose ids are no numbers."""
_NUMBERED = len(str(2**63 - 1)) - 1
_WORDS = {INCLUDE: "always told", EXCLUDE: "never told", PINNED: "pinned", NEITHER: "chosen by its score again"}


def choose(db: Connection, project_id: int, item: str, choice: str, now: int) -> str:
    """Choose `include`, `exclude` or `pin` for an item of a project, or '' for neither; gives the item's own id.

    Raises NmemError for an id that no item has, and when it is so already.
    """
    item = subject(item)
    _check(item, choice)
    with transaction(db):
        before = review_store.choice(db, project_id, item) or NEITHER
        if before == choice:
            raise NmemError(f"{item} is {_WORDS[choice]} already")
        review_store.put_choice(db, project_id, item, choice, now)
        write(db, CHOICE, f"{_TARGET}{project_id}", {"item": item, "after": choice}, {"choice": before}, now)
    return item


def promised(item: str, choice: str) -> str:
    """What a choice does, in words: a file is named no more, but what was said of it may name it."""
    if choice == EXCLUDE and item.startswith("file/"):
        return "never named among files; notes and stories may still speak of it"
    words = {INCLUDE: "always told", EXCLUDE: "never told, nor what quotes it"}
    return words.get(choice, "told when its score is high enough")


def pin(db: Connection, project_id: int, item: str, pinned: bool, now: int) -> str:
    """Pin what an item stands for, or take its pin away; gives the id of what was pinned. Raises NmemError."""
    item = subject(item)
    kind, _, rest = item.partition("/")
    if kind == "file":
        return choose(db, project_id, item, PINNED if pinned else NEITHER, now)
    from nmem.context import pins  # on use: start-up stays short

    kind = "episode" if kind == "next" else kind
    if not _number(rest):
        raise NmemError(f"{item} cannot be pinned")
    pins.pin(db, kind, int(rest), pinned, now)
    return f"{kind}/{rest}"


def _check(item: str, choice: str) -> None:
    kind, _, rest = item.partition("/")
    if kind not in _KINDS or not rest or (kind not in _WORDED and not _number(rest)):
        raise NmemError(f"{item} is not an item of a context: `nmem context --explain` lists their ids")
    if choice in (INCLUDE, PINNED) and kind == "recall":
        raise NmemError(f"{item} is offered when a prompt mentions it: put permanent rules into AGENTS.md")
    if choice in (INCLUDE, PINNED) and kind == "team":
        raise NmemError(f"{item} is of another member: write what should always be told into AGENTS.md")
    if choice in (INCLUDE, PINNED) and kind == "next":
        raise NmemError(f"{item} is told while open: choose episode/{rest} to have it always told")


def _number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= _NUMBERED


def ours(entry: Entry) -> bool:
    """Whether a correction is one of these."""
    return entry.kind == CHOICE and entry.target.startswith(_TARGET)


def describe(entry: Entry) -> str:
    """What a person did, in a few words."""
    return f"{entry.payload.get('item', '?')} {_WORDS.get(str(entry.payload.get('after', '')), 'chosen')}"


def take_back(db: Connection, entry: Entry, now: int) -> str:
    """Put back what was, inside a transaction; what the person should know beside it."""
    project_id, item = int(entry.target.removeprefix(_TARGET)), str(entry.payload.get("item", ""))
    if not any(store.names_of(db, project_id)):
        return "its project is gone"
    if (review_store.choice(db, project_id, item) or NEITHER) != entry.payload.get("after", NEITHER):
        return "a later choice replaced this one and is kept"
    review_store.put_choice(db, project_id, item, str(entry.before.get("choice") or NEITHER), now)
    return ""


def switched(db: Connection, project_id: int, at: int, *, off: bool) -> None:
    """Switch a project's context off, or on again; what was told before stays."""
    review_store.put_choice(db, project_id, store.EVERYTHING, EXCLUDE if off else NEITHER, at)


def project_of(db: Connection, project: str) -> int:
    """A project by its key, root or name. Raises NmemError."""
    return named(db, project).id
