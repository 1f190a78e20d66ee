"""Reads and writes decisions to link threads, a person's corrections of them, and refits of the formula."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from sqlite3 import Connection
from typing import Any

from nmem.text import json_object

LINK, DONT_LINK = "link", "dont_link"
CORRECT, INCORRECT = "correct", "incorrect"
PERSON, FILES, WORDS = "person", "files", "words"
COLUMNS = (
    "id", "at", "earlier_thread_id", "later_thread_id", "algorithmic_score", "components", "llm_related",
    "llm_confidence", "llm_reasoning", "decision", "certainty", "agreement", "outcome", "outcome_by", "outcome_at",
    "summary",
)  # fmt: skip
BRANCH, ISSUE = "branch", "issue"
"""Components that say more than a likeness: 1 on one feature branch; the number of the issue that both open with."""
CERTAIN, LIKELY, POSSIBLE, UNSURE = "certain", "likely", "possible", "unsure"
AT_PROMPT = "ratio"
"""The component that only a decision has that was made when the prompt arrived (nmem.threads.arrival)."""
AWAITING = f"(instr(components, '\"{AT_PROMPT}\"') AND outcome_by IS NOT 'person')"
"""SQL: does a decision still await settling, which compares the threads with everything that is known?"""
LINKED = (
    "(CASE WHEN outcome_by = 'person' AND outcome = 'incorrect' THEN decision = 'dont_link' ELSE decision = 'link' END)"
)
"""SQL: do the two threads count as one line of work? A person's word reverses a decision; nothing else does."""


def surety(linked: bool, certainty: str, components: Mapping[str, float], agreement: bool | None) -> tuple[str, str]:
    """(how sure nmem is, by what) of a decision that nobody confirmed, in a person's words; of no link the first alone.

    A likeness is never certain: two chores on one branch, or in one hour on the same files, may be two things.
    """
    if not linked:
        return (UNSURE if certainty == "uncertain" else CERTAIN), ""
    if issue := components.get(ISSUE):
        return CERTAIN, f"both open with #{issue:.0f}"
    reasons = ["one branch"] if components.get(BRANCH) else []
    if agreement:
        reasons.append("a model agrees")
    alike = sorted((-components.get(name, 0.0), why) for name, why in _ALIKE.items())
    reasons += [why for value, why in alike if -value >= _TELLS][: 2 - len(reasons)]
    if not reasons and alike[0][0] < 0:
        reasons = [alike[0][1]]
    return (POSSIBLE if certainty == "uncertain" else LIKELY), ", ".join(reasons)


_ALIKE = {
    "keywords": "shared words", "entities": "shared names", "files": "words of its files", "topic": "one subject",
    "recency": "close in time", AT_PROMPT: "found by the first prompt",
}  # fmt: skip
_TELLS = 0.3
"""From which on a component (0 to 1) is told as a reason."""


@dataclass(frozen=True, slots=True)
class Decision:
    """One recorded decision, with the scores behind it and what came of it."""

    id: int
    at: int
    earlier_thread_id: int
    later_thread_id: int
    algorithmic_score: float
    components: dict[str, float]
    llm_related: bool | None
    llm_confidence: float | None
    llm_reasoning: str
    decision: str
    """link or dont_link."""
    certainty: str
    """high, likely or uncertain: of the last a person is asked."""
    agreement: bool | None
    """Did algorithm and model say the same? None without a model."""
    outcome: str
    """correct, incorrect, or empty while nobody knows."""
    outcome_by: str
    outcome_at: int | None
    summary: str

    @property
    def awaits(self) -> bool:
        """Does it stand as the prompt decided it, and awaits settling? What a person said awaits nothing."""
        return AT_PROMPT in self.components and self.outcome_by != PERSON

    @property
    def linked(self) -> bool:
        """Do the two threads count as one line of work, after what the person said?"""
        reversed_ = self.outcome_by == PERSON and self.outcome == INCORRECT
        return (self.decision == LINK) != reversed_

    @property
    def related(self) -> bool | None:
        """The truth as far as the outcome tells it."""
        return None if not self.outcome else (self.decision == LINK) == (self.outcome == CORRECT)


def numbers(components: str) -> dict[str, float]:
    """The stored components of a score."""
    return {name: float(value) for name, value in json_object(components).items() if isinstance(value, int | float)}


def _decision(row: Sequence[Any]) -> Decision:
    values = dict(zip(COLUMNS, row, strict=True))
    for name in ("llm_related", "agreement"):
        values[name] = None if values[name] is None else bool(values[name])
    for name in ("llm_reasoning", "outcome", "outcome_by", "summary"):
        values[name] = values[name] or ""
    values["components"] = numbers(values["components"])
    return Decision(**values)


_SELECT = f"SELECT {', '.join(COLUMNS)} FROM episode_links"  # noqa: S608 - our names


def get(db: Connection, decision_id: int) -> Decision | None:
    """One decision."""
    row = db.execute(f"{_SELECT} WHERE id = ?", (decision_id,)).fetchone()
    return _decision(row) if row else None


def between(db: Connection, earlier: int, later: int) -> Decision | None:
    """The decision about two threads."""
    row = db.execute(f"{_SELECT} WHERE earlier_thread_id = ? AND later_thread_id = ?", (earlier, later)).fetchone()
    return _decision(row) if row else None


def of_thread(db: Connection, thread_id: int) -> list[Decision]:
    """All decisions that a thread is part of, the newest first."""
    rows = db.execute(
        f"{_SELECT} WHERE earlier_thread_id = ?1 OR later_thread_id = ?1 ORDER BY at DESC, id DESC", (thread_id,)
    )
    return [_decision(row) for row in rows.fetchall()]


def with_outcome(db: Connection) -> list[Decision]:
    """Decisions whose truth is known, in the order in which it became known."""
    rows = db.execute(f"{_SELECT} WHERE outcome IS NOT NULL ORDER BY outcome_at, id")
    return [_decision(row) for row in rows.fetchall()]


def without_outcome(db: Connection, active: int = 0) -> list[Decision]:
    """Decisions about threads that have ended, whose truth is not known; of those active since a time alone."""
    rows = db.execute(
        f"{_SELECT} WHERE outcome IS NULL"  # noqa: S608 - our names
        " AND later_thread_id IN (SELECT id FROM threads WHERE state = 'closed' AND last_at >= ?) ORDER BY id",
        (active,),
    )
    return [_decision(row) for row in rows.fetchall()]


def open_since(db: Connection, since: int, active: int = 0) -> list[Decision]:
    """Decisions made since a time whose truth is not known; about threads that were active since one."""
    rows = db.execute(
        f"{_SELECT} WHERE outcome IS NULL AND at >= ?"  # noqa: S608 - our names
        " AND later_thread_id IN (SELECT id FROM threads WHERE last_at >= ?) ORDER BY later_thread_id, id",
        (since, active),
    )
    return [_decision(row) for row in rows.fetchall()]


def known(db: Connection) -> int:
    """How many decisions have an outcome."""
    return int(db.execute("SELECT count(*) FROM episode_links WHERE outcome IS NOT NULL").fetchone()[0])


def unassessed(db: Connection, since: int) -> list[int]:
    """Later threads of recent decisions that no model was asked about and nobody has confirmed."""
    rows = db.execute(
        "SELECT DISTINCT later_thread_id FROM episode_links WHERE llm_related IS NULL AND outcome IS NULL AND at >= ?"
        " ORDER BY 1",
        (since,),
    )
    return [row[0] for row in rows]


def write(db: Connection, values: dict[str, Any]) -> int:
    """Store a decision in place of an earlier one about the same threads; what a person said stays."""
    names = ", ".join(values)
    marks = ", ".join("?" for _ in values)
    updates = ", ".join(f"{name} = excluded.{name}" for name in values if not name.endswith("_thread_id"))
    row = db.execute(
        f"INSERT INTO episode_links ({names}) VALUES ({marks})"  # noqa: S608 - our names
        f" ON CONFLICT (earlier_thread_id, later_thread_id) DO UPDATE SET {updates}"
        " WHERE outcome_by IS NOT 'person' RETURNING id",
        [*values.values()],
    ).fetchall()
    return int(row[0][0]) if row else 0


def set_outcome(db: Connection, decision_id: int, outcome: str | None, by: str | None, at: int | None) -> None:
    """Say what came of a decision."""
    db.execute(
        "UPDATE episode_links SET outcome = ?, outcome_by = ?, outcome_at = ? WHERE id = ?",
        (outcome, by, at, decision_id),
    )


def delete(db: Connection, decision_id: int) -> None:
    """Forget a decision (undoing a link that a person made)."""
    db.execute("DELETE FROM episode_links WHERE id = ?", (decision_id,))


def set_summary(db: Connection, decision_id: int, summary: str | None) -> None:
    """The combined summary of a cross-thread episode."""
    db.execute("UPDATE episode_links SET summary = ? WHERE id = ?", (summary, decision_id))


def correct(db: Connection, kind: str, target: str, payload: dict[str, Any], before: dict[str, Any], at: int) -> int:
    """Note what a person changed, and the rows as they were; its id."""
    cursor = db.execute(
        "INSERT INTO corrections (at, kind, target, payload, before) VALUES (?, ?, ?, ?, ?)",
        (at, kind, target, json.dumps(payload), json.dumps(before)),
    )
    return int(cursor.lastrowid or 0)


@dataclass(frozen=True, slots=True)
class Tuning:
    """One re-fitting, adopted or not."""

    id: int
    at: int
    before: dict[str, Any]
    after: dict[str, Any]
    reason: str
    metrics: dict[str, Any]

    @property
    def adopted(self) -> bool:
        """Is `after` in force since?"""
        return bool(self.metrics.get("adopted"))


def tunings(db: Connection, limit: int = 50) -> list[Tuning]:
    """The history of the linking formula, the newest first."""
    rows = db.execute(
        "SELECT id, at, before, after, reason, metrics FROM tuning_history WHERE subject = 'linking'"
        " ORDER BY id DESC LIMIT ?",
        (limit,),
    )
    return [
        Tuning(row[0], row[1], json_object(row[2]), json_object(row[3]), row[4], json_object(row[5]))
        for row in rows.fetchall()
    ]


def keep_tuning(
    db: Connection, at: int, before: dict[str, Any], after: dict[str, Any], reason: str, metrics: dict[str, Any]
) -> None:
    """Add to the history."""
    db.execute(
        "INSERT INTO tuning_history (at, subject, before, after, reason, metrics) VALUES (?, 'linking', ?, ?, ?, ?)",
        (at, json.dumps(before), json.dumps(after), reason, json.dumps(metrics)),
    )
