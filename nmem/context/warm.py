"""Prepares recent learnings for hooks (SQL): their trigger words, and the text to tell."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext
from sqlite3 import Connection

from capture.storage.store import transaction
from nmem.context.known import fact
from nmem.learn import kinds, read, rules, warnings
from nmem.learn.kinds import skills
from nmem.learn.learning import (
    FAILED_COMMAND,
    OPEN,
    REPEATED_INTENT,
    SKILL,
    STUCK_LOOP,
    UNRESOLVED_READ,
    Learning,
)
from nmem.retrieval import naming

USUAL = 0.5
"""Share of the sessions with such work that went a skill's way, from which others are told of it."""
_FILES = 12
_ALL = 1_000_000
_RUNS, _MORE = 400, 2
"""Runs of a failing command that are looked at, and how many times more sessions in which it passed contradict it."""


def keep(db: Connection, now: int, project_id: int | None = None) -> None:
    """Bring the prepared learnings of a project, or of all, up to date; in the caller's transaction or its own."""
    listed = read.learnings(db, now, project_id, (OPEN,), kinds=kinds.names(), limit=_ALL)
    wanted = {one.id: _row(one) for one in listed if _warns(one) and not _passes(db, one, now)}
    ours, of = ("", ()) if project_id is None else (" WHERE project_id = ?", (project_id,))
    there = {row[0]: tuple(row) for row in db.execute(f"SELECT * FROM context_learnings{ours}", of).fetchall()}  # noqa: S608
    gone = [(each,) for each in there if each not in wanted]
    new = [row for each, row in wanted.items() if there.get(each) != row]
    if gone or new:
        with nullcontext() if db.in_transaction else transaction(db):
            db.executemany("DELETE FROM context_learnings WHERE learning_id = ?", gone)
            db.executemany("INSERT OR REPLACE INTO context_learnings VALUES (?, ?, ?, ?, ?, ?, ?, ?)", new)


def _warns(one: Learning) -> bool:
    if one.kind == SKILL:
        return one.remedy is not None and one.remedy.confidence >= USUAL
    return one.heat >= warnings.WARM


def _passes(db: Connection, one: Learning, now: int) -> bool:
    """Whether a command that is known to fail passed in many more sessions since: it fails somewhere else only."""
    phrases = warnings.phrases(one) if one.kind == FAILED_COMMAND else ()
    if not phrases:
        return False
    rows = db.execute(
        "SELECT o.session_id, o.content FROM observations o JOIN sessions s ON s.id = o.session_id"
        " WHERE s.project_id = ? AND o.at BETWEEN ? AND ? AND o.outcome = 'ok' AND o.obs_type IN ('command', 'test',"
        " 'build', 'lint', 'install') AND instr(o.content, ?) > 0 ORDER BY o.at DESC LIMIT ?",
        (one.project_id, one.first_at, now, phrases[0], _RUNS),
    ).fetchall()
    passed = {row[0] for row in rows if f" {phrases[0]} " in f" {' '.join(str(row[1]).lower().split())} "}
    return len(passed) > _MORE * one.sessions


def _row(one: Learning) -> tuple[int, int, float, str, str, str, str, str]:
    if one.kind == SKILL:
        endings = [each.removeprefix("*") for each in one.files]
        steps = one.remedy.commands if one.remedy else ()
        asked_by = skills.asked_by(steps)
        told = f"{rules.rule(one)} (so done in {one.sessions} sessions)"
        return one.id, one.project_id, float(one.heat), _lines(asked_by), _lines(steps), "", _lines(endings), told
    files = one.files[:_FILES] if one.kind in (STUCK_LOOP, UNRESOLVED_READ) else ()
    asked = sorted(set(naming.tokens(one.title))) if one.kind == REPEATED_INTENT else ()
    return (
        one.id, one.project_id, float(one.heat), _lines(warnings.phrases(one)), _lines(warnings.names(one)),
        _lines(asked), _lines(files),
        fact(one.title, one.sessions, one.remedy.text if one.remedy else ""),
    )  # fmt: skip


def _lines(values: Iterable[str]) -> str:
    return "\n".join(" ".join(value.lower().split()) for value in values)
