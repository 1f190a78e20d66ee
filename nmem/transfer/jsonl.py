"""Writes and reads exports as lines of JSON, one record a line, so that any length takes little memory."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from sqlite3 import Connection
from typing import BinaryIO

from nmem.errors import NmemError
from nmem.text import to_json
from nmem.transfer.incoming import Report
from nmem.transfer.outgoing import FORMAT, Record, of_sessions

_LONGEST = 32 * 1024 * 1024
"""Bytes of one line."""


def write(db: Connection, sessions: Sequence[str], out: BinaryIO) -> dict[str, int]:
    """Write the records of some sessions, as they are at one moment; how many of each type."""
    counts = {"session": 0, "prompt": 0, "observation": 0}
    head = {"type": "export", "format": FORMAT, "at": time.time_ns() // 1_000_000, "nmem": version("nmem")}
    out.write(_line(head))
    for record in of_sessions(db, sessions):
        counts[record["type"]] += 1
        out.write(_line(record))
    return counts


def _line(record: Record) -> bytes:
    return to_json(record, compact=True).encode("utf-8", "replace") + b"\n"


def read(lines: BinaryIO, name: str, report: Report) -> Iterator[Record]:
    """The records of an export; lines that are none are counted. Raises NmemError for what is no export at all."""
    head = _record(lines.readline(_LONGEST))
    if head is None or head.get("type") != "export":
        raise NmemError(f"{name} is not an export of nmem")
    form = head.get("format")
    if not isinstance(form, int) or form > FORMAT:
        raise NmemError(f"{name} was exported by a newer nmem (format {form}): upgrade nmem")
    while line := lines.readline(_LONGEST):
        record = _record(line)
        if record is None or record.get("type") not in ("session", "prompt", "observation"):
            report.unreadable += bool(line.strip())
            continue
        yield record


def _record(line: bytes) -> Record | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
