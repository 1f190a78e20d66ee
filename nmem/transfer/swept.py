"""Imports traces of records forgotten elsewhere (SQL): counts stay correct."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from capture.seal import identity

if TYPE_CHECKING:
    from nmem.transfer.incoming import Incoming

Row = dict[str, Any]
_ID, _PATH, _PROMPT = 0, 4, 9
"""Of a row of a trace: see nmem.store.trace."""


def moved(merge: Incoming, name: str, row: Row) -> Row:
    """A row of the tables of forgetting as it is here: ids, folders, nothing secret."""
    if name == "swept_keys":
        keys = "\n".join(identity(key) for key in row["keys"].split("\n"))
        return {**row, "session_id": identity(row["session_id"]), "keys": keys}
    if name == "swept_files":
        row = {**row, "file_path": merge.folders.here(row["file_path"])}
    if name == "swept_traces":
        row = {**row, "trace": _trace(merge, row["trace"])}
    return merge.wash(row)


def _trace(merge: Incoming, stored: str) -> str:
    """A trace with prompts of here, and with ids that no row here has or will get."""
    told = json.loads(stored)
    lines = told.get("rows", [])
    for line, number in zip(lines, _numbers(merge, "observations", [each[_ID] for each in lines]), strict=True):
        merge.numbers.note("observations", line[_ID], number)
        line[_ID], line[_PROMPT] = number, merge.numbers.of("prompts", line[_PROMPT])
        line[_PATH] = merge.folders.here(line[_PATH]) if line[_PATH] else None
    said = told.get("said", [])
    for one, number in zip(said, _numbers(merge, "prompts", [each[0] for each in said]), strict=True):
        one[0] = number
    return json.dumps(told, ensure_ascii=False, separators=(",", ":"))


def _numbers(merge: Incoming, table: str, old: list[int]) -> list[int]:
    """Ids for what has no row: its own where nothing else was here, and never anybody else's from now on."""
    if not old:
        return []
    if merge.fresh:
        new = old
    else:
        first = merge.here.execute(
            f"SELECT max(newest, coalesce((SELECT max(id) FROM {table}), 0)) FROM gone_ids WHERE name = ?",
            (table,),
        ).fetchone()[0]
        places = {number: place for place, number in enumerate(sorted(old), first + 1)}
        new = [places[number] for number in old]
    merge.here.execute("UPDATE gone_ids SET newest = max(newest, ?) WHERE name = ?", (max(new), table))
    return new
