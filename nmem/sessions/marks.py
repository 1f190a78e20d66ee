"""A person's name, tags and archive flag of a session: each change is kept with what was before, for undo."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from sqlite3 import Connection
from typing import NamedTuple

from capture.redaction import redact
from capture.storage.store import transaction
from capture.text import clean
from nmem.errors import NmemError
from nmem.sessions import store
from nmem.store.corrections import Entry, write
from nmem.text import printable, texts

MARKED = "session"
"""The kind of these corrections; the target is session/ID."""
_TARGET = "session/"
LONGEST, MOST_TAGS = 120, 20
"""Characters of a name or a tag; tags of one session."""


class Marks(NamedTuple):
    """What a person says of a session; the name is empty where it has the one that nmem found."""

    name: str = ""
    tags: tuple[str, ...] = ()
    archived: bool = False


def of(db: Connection, session_id: str) -> Marks:
    """The marks of a session; those of none where nothing was said."""
    return read(*(store.marks(db, session_id) or (None, None, None)))


def read(name: object, tags: object, archived: object) -> Marks:
    """Marks from the columns of a row; None for each where there is none."""
    return Marks(str(name or ""), texts(tags), bool(archived))


def rename(db: Connection, session_id: str, name: str, now: int) -> str:
    """Call a session by a person's own name, or by the one that nmem found where it is empty; the name as kept."""
    kept = _word(name)
    _change(db, session_id, now, "named" if kept else "unnamed", lambda before: before._replace(name=kept))
    return kept


def retag(db: Connection, session_id: str, more: Iterable[str], gone: Iterable[str], now: int) -> tuple[str, ...]:
    """Add tags and take others away as one change; all that it has then. Raises NmemError, and changes nothing then."""
    wanted, unwanted = {_tag(each) for each in more}, {_tag(each) for each in gone}

    def after(before: Marks) -> Marks:
        tags = tuple(sorted({*before.tags} - unwanted | wanted))
        if wanted and len(tags) > MOST_TAGS:
            raise NmemError(f"a session can have {MOST_TAGS} tags at most: untag one first")
        return before._replace(tags=tags)

    return _change(db, session_id, now, "tagged" if wanted else "untagged", after).tags


def archive(db: Connection, session_id: str, on: bool, now: int) -> None:
    """Put a session away: lists leave it out; or bring it back."""
    done = "archived" if on else "back from the archive"
    _change(db, session_id, now, done, lambda before: before._replace(archived=on))


def _tag(text: str) -> str:
    """A tag as it is kept: one word, without its #."""
    word = "-".join(_word(text).lstrip("#").split()).lower()
    if not word:
        raise NmemError("a tag needs a word")
    return word


def _word(text: str) -> str:
    return redact(" ".join(clean(text).split()))[:LONGEST].strip()


def _change(db: Connection, session_id: str, now: int, done: str, make: Callable[[Marks], Marks]) -> Marks:
    """Change some marks in one transaction; those after. Raises NmemError where the session is gone, or all stays."""
    with transaction(db):
        columns = store.marks(db, session_id)
        if columns is None:
            raise NmemError(f"there is no session {printable(session_id)}: `nmem sessions` lists them")
        before = read(*columns)
        after = make(before)
        if after == before:
            raise NmemError(f"session {printable(session_id[:8])} is like that already: nothing changes")
        store.mark(db, session_id, after.name, after.tags, after.archived, now)
        write(db, MARKED, f"{_TARGET}{session_id}", {"session": session_id, "done": done, "after": _columns(after)},
              {"columns": _columns(before)}, now)  # fmt: skip
    return after


def _columns(marks: Marks) -> dict[str, object]:
    return {"name": marks.name, "tags": list(marks.tags), "archived": marks.archived}


# undo


def ours(entry: Entry) -> bool:
    """Whether a correction is one of these."""
    return entry.kind == MARKED


def describe(entry: Entry) -> str:
    """What a person did, in a few words."""
    after = entry.payload.get("after", {})
    done = str(entry.payload.get("done", "changed"))
    more = {"named": f" “{after.get('name', '')}”", "tagged": f" {_said(after)}", "untagged": f" {_said(after)}"}
    return f"session {printable(entry.target.removeprefix(_TARGET)[:8])} {done}{printable(more.get(done, ''))}".rstrip()


def _said(after: Mapping[str, object]) -> str:
    tags = after.get("tags")
    return " ".join(f"#{each}" for each in tags) if isinstance(tags, list) else ""


def take_back(db: Connection, entry: Entry, now: int) -> str:
    """Put back what was, inside a transaction; what the person should know beside it."""
    session_id = entry.target.removeprefix(_TARGET)
    there = store.marks(db, session_id)
    if there is None:
        return "the session is gone"
    if _columns(read(*there)) != entry.payload.get("after"):
        return "a later change replaced this one and is kept"
    columns = entry.before.get("columns") or {}
    tags = columns.get("tags")
    named, away = str(columns.get("name") or ""), bool(columns.get("archived"))
    store.mark(db, session_id, named, tuple(tags) if isinstance(tags, list) else (), away, now)
    return ""
