"""Makes records of prompts and calls for a stream of events: rows in, dictionaries fit to leave out; and their forms.

A record says when, where, who, what, on which file and how it ended; every text in it is redacted once more, and paths
are the project's. What says nothing is left out. Forms: a line of JSON, a line for VictoriaLogs, a body for Loki.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from datetime import datetime
from sqlite3 import Connection
from typing import Any

from nmem.hours import utc
from nmem.read.file_history import checkouts
from nmem.read.standing import row_id
from nmem.read.stream import LABELS, Whose
from nmem.read.views import StreamRow
from nmem.share import Outward
from nmem.text import to_json

Record = dict[str, Any]
CONTENT = 16_000
"""Characters of a content: both receivers refuse lines of more than 256 KB."""
_KNOWN = 64
"""Sessions whose folders are remembered."""
STREAMS = ("project", "client")
"""What tells one stream of a receiver from another: few values each, as both ask for."""


class Records:
    """Makes records; the folders of some sessions are remembered, to make paths the project's."""

    def __init__(self) -> None:
        self._ways: OrderedDict[str, Outward] = OrderedDict()
        self.replaced = 0
        """Secrets replaced now, that are stored as they were."""

    def of(self, db: Connection, rows: Iterable[tuple[Whose, StreamRow]]) -> list[Record]:
        """A record for each row."""
        return [self._record(db, whose, row) for whose, row in rows]

    def _record(self, db: Connection, whose: Whose, row: StreamRow) -> Record:
        out = self._way(db, whose)
        before = out.fresh
        out.learn(row.text)
        said: Record = {
            "time": moment(row.at), "id": row_id(row), "project": out.line(whose.project), "session": whose.id,
            "client": whose.client, "branch": out.line(whose.branch), "type": row.word, "tool": out.line(row.tool),
            "file": out.path(row.path) if row.path else "", "outcome": row.outcome, "exit_code": row.exit_code,
            "duration_ms": row.duration_ms, "lines_added": row.added, "lines_removed": row.removed,
            "helper": row.agent or None, "content": out.text(row.text, CONTENT),
            "labels": {name: round(value, 3) for name, value in zip(LABELS, row.labels, strict=False)
                       if value is not None},
        }  # fmt: skip
        self.replaced += out.fresh - before
        return {name: value for name, value in said.items() if value not in (None, "", {})}

    def _way(self, db: Connection, whose: Whose) -> Outward:
        out = self._ways.pop(whose.id, None) or Outward([whose.root, whose.cwd, *checkouts(db, whose.id)])
        out.names = (whose.project, whose.root, whose.key)
        self._ways[whose.id] = out
        if len(self._ways) > _KNOWN:
            self._ways.popitem(last=False)
        return out


def moment(at: int) -> str:
    """Milliseconds since 1970 as RFC 3339, in UTC."""
    return utc(at).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def line(record: Record) -> bytes:
    """One line of JSON."""
    return to_json(record, compact=True).encode("utf-8", "replace") + b"\n"


def for_victorialogs(records: Sequence[Record]) -> bytes:
    """Lines of JSON with a time and a message under the names that VictoriaLogs looks for."""
    out = []
    for record in records:
        rest = {name: value for name, value in record.items() if name not in ("time", "content")}
        out.append(line({"_time": record["time"], "_msg": _message(record), **rest}))
    return b"".join(out)


def for_loki(records: Sequence[Record]) -> bytes:
    """One push of Loki's: a stream for each project and client, its values a time in nanoseconds and a line of JSON."""
    streams: dict[tuple[str, ...], list[list[str]]] = {}
    for record in records:
        labels = tuple(str(record.get(name, "")) for name in STREAMS)
        at = datetime.fromisoformat(record["time"])
        nanoseconds = (int(at.timestamp()) * 1000 + at.microsecond // 1000) * 1_000_000
        streams.setdefault(labels, []).append([str(nanoseconds), line(record).decode().rstrip("\n")])
    found = [
        {"stream": {"job": "nmem", **{name: value for name, value in zip(STREAMS, labels, strict=True) if value}},
         "values": values}
        for labels, values in streams.items()
    ]  # fmt: skip
    return line({"streams": found})


def _message(record: Record) -> str:
    """What a person reads first: never empty, for a receiver would put words of its own there."""
    return str(record.get("content") or record.get("file") or record["type"])
