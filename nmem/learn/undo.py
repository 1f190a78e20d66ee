"""Undoes a person's decisions on learnings: the previous state, and the rule in the project's instructions."""

from __future__ import annotations

from datetime import UTC, datetime
from sqlite3 import Connection

from nmem.learn import accept, lifecycle
from nmem.learn.written import Written
from nmem.store.corrections import Entry
from nmem.text import fit, printable

_WORDS = {
    lifecycle.ACCEPT: "accepted, its rule put into {file}", lifecycle.DISMISS: "dismissed",
    lifecycle.SNOOZE: "snoozed until {until}", lifecycle.RESOLVE: "resolved", lifecycle.REOPEN: "reopened{taken}",
}  # fmt: skip
_TITLE = 60


def describe(entry: Entry) -> str:
    """What a person did, in a few words."""
    asked = entry.payload
    until = asked.get("after", {}).get("snoozed_until")
    words = _WORDS.get(entry.kind, entry.kind).format(
        file=printable(str(asked.get("file", ""))),
        until="" if until is None else f"{datetime.fromtimestamp(until / 1000, UTC).astimezone():%Y-%m-%d %H:%M}",
        taken=f", its rule taken out of {printable(str(asked['file']))}" if asked.get("taken") else "",
    )
    return f"{entry.target.replace('/', ' ')} “{fit(printable(str(asked.get('title', ''))), _TITLE)}” {words}"


def take_back(db: Connection, entry: Entry, last: Written) -> str:
    """Put back where it stood, unless that changed since; what the person should know beside it.

    Inside a transaction; `last` writes the file. Raises NmemError when the file cannot be read.
    """
    number, after, before = int(entry.target.partition("/")[2]), entry.payload["after"], entry.before["columns"]
    now, note = lifecycle.columns(db, number), ""
    if now == after:
        lifecycle.put(db, number, before)
    elif now is not None:
        lifecycle.put(db, number, {**now, "rule": before["rule"] if now["rule"] == after["rule"] else now["rule"]})
        note = f"it is {now['state']} since, and stays so"
    if entry.kind == lifecycle.ACCEPT:
        return accept.take_out(db, entry, last) or note
    if entry.kind == lifecycle.REOPEN and entry.payload.get("taken"):
        return accept.put_back(entry, last) or note
    return note
