"""Keeps the tables that context is selected from up to date: adds new turns, recounts after deletions.

A turn that ends after all that are folded is added. Everything else (an older session imported, a turn that grew, a
prompt purged, rules of another version) makes the project's tables anew, beside the old ones, and puts them in place
in one transaction: a hook sees the old or the new.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from sqlite3 import Connection

from capture.storage.store import transaction
from nmem import database
from nmem.context import candidate_store
from nmem.context.fold import RULES, Folder, Past, in_order, session, sessions
from nmem.context.known import fact
from nmem.learn import kinds, read, rules, warnings
from nmem.learn.kinds import skills
from nmem.learn.learning import FAILED_COMMAND, OPEN, REPEATED_INTENT, SKILL, STUCK_LOOP, UNRESOLVED_READ, Learning
from nmem.retrieval import naming

CHUNK = 40
"""Turns folded in one transaction: a hook waits for the write lock meanwhile."""


def keep_all(db: Connection, now: int, stopped: Callable[[], bool] = lambda: False) -> int:
    """Bring every project's candidates up to date; how many turns were folded. On a writing connection."""
    folded = 0
    for project_id, name in candidate_store.project_ids(db):
        if stopped():
            break
        folded += keep(db, project_id, name, now, stopped)
    keep_learnings(db, now)
    return folded


def newest(db: Connection, some: Sequence[str], now: int, stopped: Callable[[], bool] = lambda: False) -> int:
    """Fold some sessions of projects of which nothing is folded yet, ahead of older ones; how many turns.

    The older ones come before what is folded then, so the next `keep` makes such a project's tables anew, once.
    """
    folded = 0
    for project_id, name in candidate_store.project_ids(db):
        told_of, taken, known = candidate_store.standing(db, project_id, RULES)
        if candidate_store.begun(db, project_id) or told_of != RULES or taken != known or stopped():
            continue
        mine = set(some).intersection(candidate_store.session_ids(db, project_id))
        pasts = [past for each in some if each in mine and (past := session(db, each, now)) is not None]
        if pasts:
            folded += _add(db, Folder(db, project_id, name), pasts, stopped)
    return folded


def keep(db: Connection, project_id: int, name: str, now: int, stopped: Callable[[], bool] = lambda: False) -> int:
    """Bring one project's candidates up to date; how many turns were folded."""
    told_of, taken, known = candidate_store.standing(db, project_id, RULES)
    if told_of != RULES or taken != known:
        return refold(db, project_id, name, now)
    some = candidate_store.changed(db, project_id)
    changed = [past for each in some if (past := session(db, each, now)) is not None]
    if not changed:
        return 0
    folder = Folder(db, project_id, name)
    if any(not _goes_on(folder, past) for past in changed):
        return refold(db, project_id, name, now)
    return _add(db, folder, changed, stopped)


def refold(db: Connection, project_id: int, name: str, now: int) -> int:
    """Make a project's candidates anew; how many turns they are made of."""
    _, taken, _ = candidate_store.standing(
        db, project_id, RULES
    )  # what is taken away from here on asks for another time
    with closing(candidate_store.empty()) as beside:
        count = fold_into(beside, list(sessions(db, project_id, now)), project_id, name)
        candidate_store.put_in_place(db, beside, project_id, taken)
    return count


def refold_past(db: Connection, project_id: int, name: str, at: int, without: str) -> list[Past]:
    """Make the candidates of a veiled moment, of all sessions but one: these as they were."""
    pasts = list(sessions(db, project_id, at, partly=True, without=without))
    database.one_moment(db)
    fold_into(db, pasts, project_id, name)
    keep_learnings(db, at, project_id)
    db.commit()
    return pasts


def fold_into(db: Connection, pasts: list[Past], project_id: int, name: str) -> int:
    """Fold whole sessions into empty tables; how many turns. Joins the caller's transaction."""
    folder = Folder(db, project_id, name)
    turns = in_order(pasts)
    for turn, past in turns:
        folder.turn(turn, past)
    folder.store(pasts)
    folder.close()
    return len(turns)


def _goes_on(folder: Folder, past: Past) -> bool:
    """Whether what is folded of a session still stands, and all that is new comes after everything folded."""
    one = folder.counted(past.session_id)
    if one.turns > len(past.turns) or (one.turns and past.facts(one.turns) != one.facts):
        return False
    return all(turn.order > folder.tables.upto for turn in past.turns[one.turns :])


def _add(db: Connection, folder: Folder, changed: list[Past], stopped: Callable[[], bool]) -> int:
    """Fold the new turns of sessions, some at a time."""
    new = [Past(past.session_id, past.branch, past.last_at, past.turns[folder.counted(past.session_id).turns :], False)
           for past in changed]  # fmt: skip
    turns = in_order(new)
    whole = {past.session_id: past for past in changed}
    with_turns = {turn.session_id for turn, _ in turns}
    rest = [past for past in changed if past.session_id not in with_turns]
    done = 0
    for start in range(0, max(1, len(turns)), CHUNK):
        if stopped() and start:
            break
        some = turns[start : start + CHUNK]
        touched = [whole[name] for name in dict.fromkeys(turn.session_id for turn, _ in some)] + (rest * (not start))
        with transaction(db):
            for turn, past in some:
                folder.turn(turn, past)
                done += 1
            for past in touched:
                folder.rebranch(folder.counted(past.session_id), past.branch)
            folder.store(touched)
            folder.close()
    return done


USUAL = 0.5
"""Share of the sessions with such work that went a skill's way, from which others are told of it."""
_FILES = 12
_ALL = 1_000_000
_RUNS, _MORE = 400, 2
"""Runs of a failing command that are looked at, and how many times more sessions in which it passed contradict it."""


def keep_learnings(db: Connection, now: int, project_id: int | None = None) -> None:
    """Bring the prepared learnings of a project, or of all, up to date; in the caller's transaction or its own."""
    listed = read.learnings(db, now, project_id, (OPEN,), kinds=kinds.names(), limit=_ALL)
    wanted = {one.id: _row(one) for one in listed if _warns(one) and not _passes(db, one, now)}
    there = candidate_store.prepared(db, project_id)
    gone = [each for each in there if each not in wanted]
    new = [row for each, row in wanted.items() if there.get(each) != row]
    if gone or new:
        candidate_store.prepare(db, gone, new)


def _warns(one: Learning) -> bool:
    if one.kind == SKILL:
        return one.remedy is not None and one.remedy.confidence >= USUAL
    return one.heat >= warnings.WARM


def _passes(db: Connection, one: Learning, now: int) -> bool:
    """Whether a command that is known to fail passed in many more sessions since: it fails somewhere else only."""
    phrases = warnings.phrases(one) if one.kind == FAILED_COMMAND else ()
    if not phrases:
        return False
    rows = candidate_store.passed(db, one.project_id, one.first_at, now, phrases[0], _RUNS)
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
