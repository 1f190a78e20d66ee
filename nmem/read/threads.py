"""Reads threads for the cockpit: one thread, the link decisions about it, and uncertain links to judge."""

from __future__ import annotations

from dataclasses import dataclass
from sqlite3 import Connection, Row

from nmem.read import episode_store
from nmem.threads.decisions import numbers, surety

STORED = 80
"""Characters of a title that are stored; what is longer was cut there, wherever that was."""


def whole(title: str) -> str:
    """A title as a person reads it: one that was cut ends with a whole word and an ellipsis."""
    title = " ".join(title.split())
    if len(title) < STORED - 1 or title.endswith("…"):
        return title
    return (title.rpartition(" ")[0].rstrip(" ,;:–-") or title) + "…"


@dataclass(frozen=True, slots=True)
class Thread:
    """One line of work over sessions."""

    id: int
    project_id: int
    title: str
    sessions: int
    state: str
    chosen: bool
    """A person chose it for the next session of its project."""


@dataclass(frozen=True, slots=True)
class Link:
    """A decision whether two threads are one line of work."""

    id: int
    earlier_id: int
    earlier: str
    earlier_at: int
    later_id: int
    later: str
    later_at: int
    project: str
    score: float
    linked: bool
    certainty: str
    """high, likely or uncertain."""
    outcome: str
    """correct or incorrect, once somebody said so."""
    reasoning: str
    summary: str
    unit_id: int
    """The episode that the later thread begins with; 0: none."""
    sure: str = ""
    """How sure nmem is of it, in a word."""
    because: str = ""
    """What speaks for a link, in a few words."""


def get(db: Connection, thread_id: int | None) -> Thread | None:
    """One thread."""
    row = episode_store.thread(db, thread_id) if thread_id is not None else None
    if row is None:
        return None
    return Thread(row["id"], row["project_id"], row["title"], row["sessions"], row["state"], bool(row["chosen"]))


def _linked(row: Row) -> bool:
    """The decision, or the person's word against it."""
    decided = row["decision"] == "link"
    return not decided if row["outcome"] == "incorrect" and row["outcome_by"] == "person" else decided


def _link(row: Row) -> Link:
    linked = _linked(row)
    agreed = None if row["agreement"] is None else bool(row["agreement"])
    return Link(
        row["id"], row["earlier_thread_id"], row["earlier"], row["earlier_at"], row["later_thread_id"], row["later"],
        row["later_at"], row["project"], row["algorithmic_score"], linked,
        row["certainty"], (row["outcome"] or "") if row["outcome_by"] == "person" else "",
        row["llm_reasoning"] or "", row["summary"] or "", row["unit_id"] or 0,
        *surety(linked, row["certainty"], numbers(row["components"]), agreed),
    )  # fmt: skip


def links(db: Connection, thread_id: int | None) -> tuple[Link, ...]:
    """The decisions about a thread, on either side; those that link first."""
    return tuple(map(_link, episode_store.links(db, thread_id))) if thread_id is not None else ()


def doubtful(db: Connection, limit: int = 100) -> tuple[Link, ...]:
    """Uncertain decisions that nobody judged yet, newest first."""
    return tuple(map(_link, episode_store.doubtful(db, limit)))
