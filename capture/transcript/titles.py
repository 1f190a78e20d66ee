"""Stores session titles from Claude Code's files: `summary`, `custom-title` and `ai-title` records.

Background work only.

A record names the last message of a conversation (`leafUuid`), often that of another session than the one whose file
holds it. It is kept as a saying of the session that has this message, kind `title`; where no known session has it, it
is dropped. The two others name the session itself: their title is kept beside its first prompt. Each file has a place
of its own among the cursors: what was read once is not read again.
"""

from __future__ import annotations

import os
from time import time_ns

from capture.event import AGENT, Batch, Event, Prompt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from sqlite3 import Connection

    from capture.seal import Sealed
    from capture.transcript.cursor import Cursor

KIND = "title"
"""The kind of these sayings among the prompts."""
PLACE = "titles:"
"""Before the path in the names of the places."""
_NAMES = {"custom-title": "customTitle", "ai-title": "aiTitle"}
"""Records that name their own session, and where they hold the name."""
_MARKS = tuple(b'"type":%s"%s"' % (gap, one.encode()) for one in ("summary", *_NAMES) for gap in (b"", b" "))
_OF = "session:"
"""Before a session in the place of a leaf."""
_LONGEST = 2_000
"""Characters of a title; a longer record is something else."""


class _Leaf:
    """The message that a record names: whose it is, and when it was said (milliseconds)."""

    __slots__ = ("at", "session_id")

    def __init__(self, session_id: str, at: int) -> None:
        self.session_id = session_id
        self.at = at


def keep(db: Connection, files: Iterable[tuple[str, str]]) -> tuple[set[str], int]:
    """Store the titles that some files (path, session) have since the last time.

    The sessions that have them, and how many titles name no known session. The messages are looked for in the same
    folders. Raises sqlite3.Error; a file that cannot be read is passed over.
    """
    from capture.storage.rows import write_many  # on use: start-up stays short
    from capture.transcript.cursor import save

    found: list[tuple[str, str, str]] = []
    read: list[Cursor] = []
    for path, session_id in files:
        cursor, titles = _new(db, path, session_id)
        if cursor is not None:
            read.append(cursor)
            found += [(path, *title) for title in titles]
    if not read:
        return set(), 0
    leaves = _leaves(found)
    sealed = [one for _, leaf, title in found if (one := _saying(db, title, _owners(leaf, leaves)))]

    def rows() -> Iterator[Sealed]:
        yield from sealed
        for cursor in read:
            save(db, cursor, time_ns() // 1_000_000)

    write_many(db, rows())
    return {one.batch.session_id for one in sealed}, len(found) - len(sealed)


def _new(db: Connection, path: str, session_id: str) -> tuple[Cursor | None, list[tuple[str, str]]]:
    """(leaf, title) of a file's new records, with the place reached; None where there is nothing new."""
    from capture.jsonio import BadJson, loads  # on use: start-up stays short
    from capture.transcript.cursor import fingerprint, lines, named

    cursor = named(db, PLACE + path, path, session_id)
    out: list[tuple[str, str]] = []
    try:
        if os.stat(path).st_size <= cursor.offset:
            return None, []
        for end, line in lines(path, cursor.offset):
            cursor.offset = end
            if not any(mark in line for mark in _MARKS):
                continue
            try:
                record = loads(line.decode("utf-8", "replace"))
            except BadJson:
                continue
            if not isinstance(record, dict):
                continue
            leaf, title = _named(record)
            if isinstance(leaf, str) and leaf and isinstance(title, str) and 0 < len(title.strip()) <= _LONGEST:
                out.append((leaf, title.strip()))
    except OSError:
        return None, []
    cursor.head = fingerprint(path)
    return cursor, out


def _named(record: dict[str, object]) -> tuple[object, object]:
    """(the message, or the session, that a record names; its title)."""
    if record.get("type") == "summary":
        return record.get("leafUuid"), record.get("summary")
    kind, of = record.get("type"), record.get("sessionId")
    if not isinstance(kind, str) or kind not in _NAMES or not isinstance(of, str):
        return None, None
    return _OF + of, record.get(_NAMES[kind])


def _leaves(found: list[tuple[str, str, str]]) -> dict[str, list[_Leaf]]:
    """Leaf -> the messages of this id, those of the files that come first by name before others: a fork copies them."""
    from capture.transcript.cursor import lines  # on use: start-up stays short

    wanted: dict[str, set[str]] = {}
    for path, leaf, _ in found:
        if leaf.startswith(_OF):
            continue
        wanted.setdefault(os.path.dirname(path), set()).add(leaf)
    out: dict[str, list[_Leaf]] = {}
    for folder, leaves in wanted.items():
        for path in _transcripts(folder):
            try:
                for _, line in lines(path, tail=True):
                    _look(line, leaves, out)
            except OSError:
                continue
    return out


def _transcripts(folder: str) -> list[str]:
    """The sessions' files of a folder; those of subagents lie deeper, or are named so."""
    names = [one for one in os.listdir(folder) if one.endswith(".jsonl") and not one.startswith("agent-")]
    return [os.path.join(folder, name) for name in sorted(names)]


def _look(line: bytes, leaves: set[str], out: dict[str, list[_Leaf]]) -> None:
    """Note a record whose own id is wanted: the first text behind a `"uuid":` of the line tells most others apart."""
    from capture.clients.fields import text  # on use: start-up stays short
    from capture.jsonio import BadJson, loads
    from capture.transcript.reading import millis

    if not any(one in leaves for one in _ids(line)):
        return
    try:
        record = loads(line.decode("utf-8", "replace"))
    except BadJson:
        return
    if not isinstance(record, dict) or record.get("isSidechain") is True:
        return
    leaf, session_id, at = text(record.get("uuid")), text(record.get("sessionId")), millis(record.get("timestamp"))
    if leaf in leaves and session_id and at:
        out.setdefault(leaf, []).append(_Leaf(session_id, at))


def _ids(line: bytes) -> Iterator[str]:
    """What stands behind each `"uuid":` of a line."""
    for part in line.split(b'"uuid":')[1:]:
        yield part[:130].lstrip()[1:].partition(b'"')[0].decode("ascii", "replace")


def _owners(leaf: str, leaves: dict[str, list[_Leaf]]) -> list[_Leaf]:
    """Whom a record names; a session by itself from its beginning on."""
    return [_Leaf(leaf.removeprefix(_OF), 0)] if leaf.startswith(_OF) else leaves.get(leaf, [])


def _saying(db: Connection, title: str, owners: list[_Leaf]) -> Sealed | None:
    """The title as said at the end of the work that it names, by the first owner that is a known session."""
    from capture import keys  # on use: start-up stays short
    from capture.seal import identity, seal
    from capture.transcript.cursor import whose

    for owner in owners:
        row = whose(db, identity(owner.session_id))
        if row is None:
            continue
        at = min(owner.at, row[2]) if owner.at else row[3] or row[2]
        event = Event(row[0], "", owner.session_id, at)
        batch = Batch(row[0], owner.session_id, at, row[1], "import")
        batch.prompts.append(Prompt(at, AGENT, KIND, title, dedup_key=keys.saying("n", event, title)))
        return seal(batch)
    return None
