"""A person's changes to decisions: keep, dismiss, reword, each with undo; draft a /when entry from one."""

from __future__ import annotations

from pathlib import Path
from sqlite3 import Connection
from typing import TYPE_CHECKING

from capture.redaction import redact
from capture.storage.store import called_by, transaction
from capture.text import clean
from nmem.decisions import find, store
from nmem.decisions.store import DISMISSED, FOUND, KEPT, Decision
from nmem.errors import NmemError
from nmem.store.corrections import Entry, write
from nmem.text import fit, printable

if TYPE_CHECKING:
    from nmem.recall.remember import Plan

DECIDED = "decided"
"""The kind of these corrections; the target is decision/ID."""
_TARGET = "decision/"
_DONE = {KEPT: "kept", DISMISSED: "dismissed", FOUND: "as it was found"}
_LONGEST = 1_000


def keep(db: Connection, number: int, now: int) -> None:
    """The person confirms that this was decided. Raises NmemError when there is none, or nothing changes."""
    _change(db, number, KEPT, None, now)


def dismiss(db: Connection, number: int, now: int) -> None:
    """This was no decision: shown nowhere any more. Raises NmemError when there is none, or nothing changes."""
    _change(db, number, DISMISSED, None, now)


def word(db: Connection, number: int, text: str, now: int) -> None:
    """What was decided, in the person's words of today; it is kept thereby. Raises NmemError for no words."""
    wording = redact(" ".join(clean(text).split()))[:_LONGEST]
    if not wording:
        raise NmemError("a decision needs words: `nmem decisions dismiss ID` removes it from all lists")
    _change(db, number, KEPT, wording, now)


def written(db: Connection, one: Decision, trigger: str) -> Plan:
    """What /when entry a decision would become, and where in its project's files; `nmem.recall.changes` writes it.

    Raises NmemError for a name that cannot be one, or where the project is not on this machine.
    """
    from nmem.recall import config, corpus, remember  # on use: start-up stays short

    _, root, _ = called_by(db, one.project_id) or ("", "", "")
    if not root or not Path(root).is_dir():
        raise NmemError("the project's folder is not on this machine, so nothing can be written")
    place = remember.place(root, *config.load())
    return remember.plan(corpus.read(place, None if Path(place.folder).is_dir() else []), trigger, one.written)


def _change(db: Connection, number: int, state: str, wording: str | None, now: int) -> None:
    with transaction(db):
        before = store.columns(db, number)
        if before is None:
            raise NmemError(f"there is no decision {number}: `nmem decisions` lists them")
        after = {"state": state, "wording": before["wording"] if wording is None else wording}
        if after == before:
            raise NmemError(f"decision {number} is {_DONE[state]} already")
        one = store.get(db, number)
        asked = {"after": after, "title": fit(one.said, 80) if one else "",
                 "session": one.session_id if one else ""}  # fmt: skip
        _put(db, number, after)
        write(db, DECIDED, f"{_TARGET}{number}", asked, {"columns": before}, now)


def _put(db: Connection, number: int, columns: dict[str, str]) -> None:
    store.change(db, number, columns)
    find.weigh(db, store.project_of(db, number))


# undo


def ours(entry: Entry) -> bool:
    """Whether a correction is one of these."""
    return entry.kind == DECIDED


def describe(entry: Entry) -> str:
    """What a person did, in a few words."""
    after = entry.payload.get("after", {})
    done = "worded anew" if after.get("wording") and after.get("state") == KEPT else _DONE.get(after.get("state"), "")
    return f"{entry.target.replace('/', ' ')} “{printable(str(entry.payload.get('title', '')))}” {done}"


def take_back(db: Connection, entry: Entry, now: int) -> str:  # noqa: ARG001 - as every other's
    """Put back what was, inside a transaction; what the person should know beside it."""
    number = int(entry.target.removeprefix(_TARGET))
    there = store.columns(db, number)
    if there is None:
        return "the decision is gone"
    if there != entry.payload.get("after"):
        return "a later change replaced this one and is kept"
    _put(db, number, entry.before.get("columns") or {"state": FOUND, "wording": ""})
    return ""
