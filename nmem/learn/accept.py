"""Accepts a learning: previews its rule, writes it into CLAUDE.md or AGENTS.md, and takes it out again on undo.

`plan` reads and shows, `accept` writes what was shown. `withdrawal` and `withdraw` do the same for an accepted learning
that is reopened. The file is written last in the transaction, so neither is done without the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from sqlite3 import Connection
from typing import Any

from nmem.errors import NmemError
from nmem.learn import files, instructions, lifecycle, places, read, rules, store
from nmem.learn.files import Instructions, Written
from nmem.learn.learning import Learning
from nmem.store import corrections as log
from nmem.store.corrections import Entry
from nmem.text import fit, printable


@dataclass(frozen=True, slots=True)
class Plan:
    """What accepting a learning would do."""

    learning: Learning
    rule: str
    file: Instructions
    after: bytes
    wrote: bool
    """False: the rule stands in the file already."""
    made: bool

    @property
    def helps(self) -> bool:
        """Whether the rule says what to do, or a person has worded it."""
        return self.rule != rules.rule(self.learning) or rules.helps(self.learning)

    @property
    def diff(self) -> list[str]:
        """A unified diff, printable; empty when the rule stands there already."""
        return files.difference(self.file, self.after)


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """What reopening a learning would take out of a file."""

    file: Instructions
    after: bytes | None

    @property
    def diff(self) -> list[str]:
        """A unified diff, printable; empty when the rule is not there any more, or another learning has it too."""
        return files.difference(self.file, self.after)


def plan(db: Connection, learning_id: int, now: int, file: str = "", text: str = "", folder: str = "") -> Plan:
    """What would be written where; for this a connection that reads is enough. Raises NmemError when it cannot be.

    `file`: a path in the project or the whole one of a file in a checkout of it, by default its clients' own; `text`:
    the person's wording of the rule; `folder`: where the person is, which counts when it is a checkout of the project.
    """
    one = read.learning(db, learning_id, now)
    if one is None:
        raise NmemError(f"there is no learning {learning_id}: `nmem learn --state all` lists them")
    lifecycle.allowed(lifecycle.standing(db, learning_id, now), lifecycle.ACCEPT)
    rule = _rule(one, text)
    file = file.replace("\0", "")
    file = str(Path(file).expanduser()) if file.startswith("~/") else file
    root = places.root_of(db, one.project_id, file, folder)
    found = files.read(root, file or files.chosen(root, store.clients(db, one.project_id)))
    done = files.edited(found, lambda: instructions.put(found.data, rule))
    return Plan(one, rule, found, done.data, done.wrote, done.made)


def _rule(one: Learning, text: str) -> str:
    """The rule's wording: the person's, the one it had before, or ours."""
    rule = rules.neat(text) if text else one.rule or rules.rule(one)
    if not rule:
        raise NmemError("the rule is empty")
    if len(rule) > rules.LIMIT:
        raise NmemError(f"a rule has at most {rules.LIMIT} characters, this one has {len(rule)}: shorten by --text")
    return rule


def accept(db: Connection, planned: Plan, now: int) -> None:
    """Do what was planned. Raises NmemError when the learning or the file is not what it was; then nothing is done."""
    file = planned.file
    with Written(db) as last:
        last.file(file, planned.after)
        one = lifecycle.standing(db, planned.learning.id, now)
        lifecycle.allowed(one, lifecycle.ACCEPT)
        here = [each for each in _accepted(db) if each.payload["path"] == file.real]
        lifecycle.move(
            db, lifecycle.ACCEPT, one, now, rule=planned.rule, text=planned.rule,
            root=file.root, file=file.name, path=file.real,
            wrote=planned.wrote or any(each.payload["text"] == planned.rule and each.payload["wrote"] for each in here),
            made=planned.made or any(each.payload["made"] for each in here),
            created=file.data is None or any(each.payload["created"] for each in here),
            whole=_digest(planned.after) if files.is_skill(file.name) else "",
        )  # fmt: skip


def withdrawal(db: Connection, learning_id: int, now: int) -> Withdrawal | None:
    """What reopening a learning takes out of a file; None when none of its rules stands anywhere.

    Raises NmemError when it cannot be reopened or its file cannot be written.
    """
    lifecycle.allowed(lifecycle.standing(db, learning_id, now), lifecycle.REOPEN)
    entry = next((each for each in reversed(_accepted(db)) if _id(each) == learning_id), None)
    return _without(db, entry) if entry else None


def withdraw(db: Connection, learning_id: int, planned: Withdrawal | None, now: int) -> None:
    """Reopen a learning and take its rule out. Raises NmemError; then nothing is done."""
    if planned is None:
        lifecycle.reopen(db, learning_id, now)
        return
    file = planned.file
    with Written(db) as last:
        last.file(file, planned.after)
        one = lifecycle.standing(db, learning_id, now)
        lifecycle.allowed(one, lifecycle.REOPEN)
        lifecycle.move(
            db, lifecycle.REOPEN, one, now, rule=None, text=one.columns["rule"] or "", root=file.root, file=file.name,
            path=file.real, taken=_cut(file.data, planned.after),
        )  # fmt: skip


def take_out(db: Connection, entry: Entry, last: Written) -> str:
    """Undo what accepting did to the file; what the person should know of it. Inside a transaction."""
    planned = _without(db, entry)
    if planned is None:
        return f"{entry.payload['file']} is no longer there"
    last.file(planned.file, planned.after)
    if planned.file.data != planned.after:
        return ""
    if not entry.payload["wrote"]:
        return f"its rule stays in {entry.payload['file']}: it was there before"
    if entry.payload["text"] in instructions.rules(planned.file.data or b""):
        return f"its rule stays in {entry.payload['file']}: another learning has it too"
    return f"its rule was no longer in {entry.payload['file']} as it was written"


def put_back(entry: Entry, last: Written) -> str:
    """Undo what reopening did to the file: the same bytes where nothing changed since, else the rule in its block."""
    asked = entry.payload
    try:
        file = files.read(asked["root"], asked["file"])
    except NmemError as error:
        return f"its rule was not put back: {error}"
    taken, data = asked["taken"], file.data or b""
    at, gone = taken["at"], taken["bytes"].encode("latin-1")
    if not gone:
        return ""
    if _digest(data) == taken["left"]:
        last.file(file, data[:at] + gone + data[at:])
    else:
        last.file(file, files.edited(file, lambda: instructions.put(file.data, asked["text"])).data)
    return ""


def stands_in(db: Connection, learning_id: int) -> str:
    """The file that a learning's rule was written into and not taken out of, as it was asked for; else empty."""
    return next((str(each.payload["file"]) for each in reversed(_accepted(db)) if _id(each) == learning_id), "")


def _accepted(db: Connection) -> list[Entry]:
    """The acceptances whose rules stand, oldest first: neither undone nor followed by a reopening."""
    out: dict[str, list[Entry]] = {}
    for each in log.standing(db, lifecycle.TARGET):
        if each.kind == lifecycle.ACCEPT:
            out.setdefault(each.target, []).append(each)
        elif each.kind == lifecycle.REOPEN:
            out.pop(each.target, None)
    return sorted((each for group in out.values() for each in group), key=lambda each: each.id)


def _without(db: Connection, entry: Entry) -> Withdrawal | None:
    """The file without the rule that an acceptance put there; None when the file or its project is gone."""
    asked = entry.payload
    if not Path(asked["path"]).exists() or not Path(asked["root"]).is_dir():
        return None
    file = files.read(asked["root"], asked["file"])
    if asked.get("whole"):  # a file of nmem's own: as it was written, it goes; what somebody changed is theirs
        return Withdrawal(file, None if _digest(file.data or b"") == asked["whole"] else file.data)
    others = [each for each in _accepted(db) if each.id != entry.id and each.payload["path"] == asked["path"]]
    if not asked["wrote"] or any(each.payload["text"] == asked["text"] for each in others):
        return Withdrawal(file, file.data)
    data = file.data or b""
    left: bytes = files.edited(file, lambda: instructions.remove(data, asked["text"], asked["made"]))
    return Withdrawal(file, None if asked["created"] and not left else left)


def _cut(before: bytes | None, after: bytes | None) -> dict[str, Any]:
    """Where and what was taken out of a file in one piece: nmem's own lines, nothing of the person's."""
    old, new = before or b"", after or b""
    at = next((at for at, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), len(new))
    return {"at": at, "bytes": old[at : at + len(old) - len(new)].decode("latin-1"), "left": _digest(new)}


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()


def _id(entry: Entry) -> int:
    return int(entry.target.partition("/")[2])


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
    found, note = store.standing(db, number), ""
    now = found and found[2]
    if now == after:
        store.change(db, number, before)
    elif now is not None:
        store.change(db, number, {**now, "rule": before["rule"] if now["rule"] == after["rule"] else now["rule"]})
        note = f"the learning is {now['state']} by now, and that is kept"
    if entry.kind == lifecycle.ACCEPT:
        return take_out(db, entry, last) or note
    if entry.kind == lifecycle.REOPEN and entry.payload.get("taken"):
        return put_back(entry, last) or note
    return note
