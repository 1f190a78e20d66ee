"""Reads one observation in full (SQL)."""

from __future__ import annotations

from dataclasses import dataclass
from sqlite3 import Connection

from nmem import tables
from nmem.read.views import metadata, outcome_words


@dataclass(frozen=True, slots=True)
class Observation:
    """What was done, and what came of it. Text is as stored; times are milliseconds."""

    id: int
    at: int
    session_id: str
    prompt_id: int | None
    unit_id: int | None
    type: str
    mark: str
    """Of a marker: note, decision or rollback."""
    tool: str
    path: str
    text: str
    answer: str
    """What a failing call answered."""
    outcome: str
    added: int | None
    removed: int | None
    repeats: int
    pinned: bool


def observation(db: Connection, number: int) -> Observation | None:
    """The observation of an id, on a connection whose rows answer to names."""
    row = db.execute("SELECT * FROM observations WHERE id = ?", (number,)).fetchone()
    if row is None:
        return None
    unit = None
    if row["prompt_id"] and tables.version(db):
        unit = db.execute("SELECT unit_id FROM unit_prompts WHERE prompt_id = ?", (row["prompt_id"],)).fetchone()
    meta = metadata(row["metadata"])
    return Observation(
        row["id"], row["at"], row["session_id"], row["prompt_id"], unit[0] if unit else None, row["obs_type"],
        str(meta.get("kind") or "") if row["obs_type"] == "marker" else "", row["tool_name"] or "",
        row["file_path"] or "", row["content"], str(meta.get("response") or ""),
        outcome_words(row["outcome"], row["exit_code"], meta), row["lines_added"], row["lines_removed"],
        row["repeats"], bool(row["pinned"]),
    )  # fmt: skip
