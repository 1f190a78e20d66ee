"""Loads the findings of a project's sessions, and writes the learnings that result from them (SQL)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from sqlite3 import Connection

from nmem.learn import accept, config, lifecycle, sessions
from nmem.learn.find import Finding
from nmem.learn.learning import EVIDENCE, FIX, OCCURRENCE, OPEN, PERSON, RESOLVED, SNOOZED, Remedy
from nmem.learn.patterns import Asked, Met, Pattern, Project
from nmem.store.schema.kept import FAILING
from nmem.text import json_list, json_object, whole

PER_SESSION = 6
"""Occurrences of one pattern whose evidence is kept of a session."""
_COLUMNS = ("title", "files", "first_at", "last_at", "sessions", "occurrences", "state", "state_at", "state_by",
            "reopened", "reopened_by_return", "remedy", "snoozed_until", "rule")  # fmt: skip
_WRITTEN = _COLUMNS[:-2]
"""What evidence says; the rest is a person's."""


_TOLD = f"""
SELECT session_id, kind, key, data FROM learning_findings WHERE project_id = ?1 AND kind < 'command'
UNION ALL
SELECT session_id, kind, key, data FROM learning_findings WHERE project_id = ?1 AND kind > 'command'
UNION ALL
SELECT session_id, kind, key, data FROM learning_findings WHERE project_id = ?1 AND kind = 'command' AND key IN (
  SELECT key FROM learning_findings INDEXED BY learning_findings_failing
  WHERE project_id = ?1 AND kind = 'command' AND {FAILING})
"""  # noqa: S608 - our words


def project(db: Connection, project_id: int) -> Project:
    """What the sessions of a project say; of commands, only those that failed somewhere in it."""
    sessions = db.execute(
        "SELECT id, started_at FROM sessions WHERE project_id = ? ORDER BY started_at, id", (project_id,)
    ).fetchall()
    order = {session_id: at for at, (session_id, _) in enumerate(sessions)}
    found = db.execute(_TOLD, (project_id,))
    told = [
        (session_id, finding)
        for session_id, kind, key, data in found
        if session_id in order and (finding := _finding(kind, key, data))
    ]
    told.sort(key=lambda one: (order[one[0]], one[1].kind, one[1].key))
    return Project(sessions, told, _asked(db, project_id), config.load().sessions)


def _finding(kind: str, key: str, data: str) -> Finding | None:
    """One finding; None of one that is damaged: the next look at its session makes it anew."""
    try:
        return Finding(kind, key, **json.loads(data))
    except (ValueError, TypeError):
        return None


def _asked(db: Connection, project_id: int) -> list[Asked]:
    found = db.execute(
        "SELECT u.id, u.session_id, coalesce(u.thread_id, t.thread_id), u.first_prompt_id, u.started_at, u.intent,"
        " u.resumes IS NOT NULL, u.hot_files, u.phase_signature, u.outcomes FROM work_units u"
        " JOIN sessions s ON s.id = u.session_id LEFT JOIN session_threads t ON t.session_id = u.session_id"
        " WHERE s.project_id = ? ORDER BY u.started_at, u.id",
        (project_id,),
    ).fetchall()
    return [_one_asked(row) for row in found]


def _one_asked(row: tuple[int, str, int | None, int, int, str, int, str, str, str]) -> Asked:
    hot = [one for one in json_list(row[7]) if isinstance(one, dict)]
    counts, ended = json_object(row[8]), json_object(row[9])
    return Asked(
        row[0], row[1], row[2], row[3], row[4], row[5], bool(row[6]),
        {str(one.get("path")): whole(one.get("reads")) for one in hot if one.get("reads") and not one.get("edits")},
        {str(one.get("path")): whole(one.get("edits")) for one in hot if one.get("edits")},
        whole(counts.get("failures")), whole(counts.get("execute")),
        bool(ended.get("interrupted") or ended.get("abandoned")),
    )  # fmt: skip


def write(db: Connection, project_id: int, patterns: Sequence[Pattern], now: int) -> int:
    """Bring the learnings of a project to what its sessions bear out; how many rows changed. Inside a transaction.

    A person's word stands, but for three things: what they resolved is open again when it occurs later, what they
    opened by hand may resolve again, and a snooze that is over says nothing more. What is borne out no longer goes,
    unless a person has said something of it or its rule stands in a file.
    """
    before = {
        (row[1], row[2]): row
        for row in db.execute(
            f"SELECT id, kind, key, {', '.join(_COLUMNS)} FROM learnings WHERE project_id = ?", (project_id,)  # noqa: S608
        ).fetchall()
    }  # fmt: skip
    changed = 0
    for one in patterns:
        changed += _write(db, project_id, one, before.pop((one.kind, one.key), None), now)
    gone = [(row[0],) for row in before.values() if _forgettable(dict(zip(_COLUMNS, row[3:], strict=True)))]
    db.executemany("DELETE FROM learnings WHERE id = ?", gone)
    return changed + len(gone)


def _forgettable(was: dict[str, object]) -> bool:
    """Whether nobody would miss a learning that the sessions do not bear out any more."""
    return was["state_by"] != PERSON and was["rule"] is None


def _write(db: Connection, project_id: int, one: Pattern, row: Sequence[object] | None, now: int) -> int:
    values = _values(one)
    if row is None:
        made = db.execute(
            f"INSERT INTO learnings (project_id, kind, key, {', '.join(_WRITTEN)})"  # noqa: S608
            f" VALUES (?, ?, ?{', ?' * len(_WRITTEN)})",
            (project_id, one.kind, one.key, *(values[name] for name in _WRITTEN)),
        ).lastrowid
        return int(_evidence(db, int(made or 0), one) >= 0)
    was = dict(zip(_COLUMNS, row[3:], strict=True))
    _stand(values, was, one, now)
    changed = 0
    if any(values[name] != was[name] for name in _WRITTEN):
        sets = ", ".join(f"{name} = ?" for name in _WRITTEN)
        db.execute(f"UPDATE learnings SET {sets} WHERE id = ?", (*(values[name] for name in _WRITTEN), row[0]))  # noqa: S608
        changed = 1
    return max(changed, int(_evidence(db, _int(row[0]), one) > 0))


def _values(one: Pattern) -> dict[str, object]:
    by_evidence = one.state == RESOLVED or one.reopened
    return {
        "title": one.title, "files": json.dumps(one.files, ensure_ascii=False), "first_at": one.met[0].at,
        "last_at": one.met[-1].at, "sessions": len(one.sessions), "occurrences": one.occurrences, "state": one.state,
        "state_at": one.state_at, "state_by": EVIDENCE if by_evidence else None, "reopened": one.reopened,
        "reopened_by_return": 0, "remedy": _remedy(one.remedy),
    }  # fmt: skip


def _stand(values: dict[str, object], was: dict[str, object], one: Pattern, now: int) -> None:
    """What a person said of it stands."""
    returned = _int(was["reopened_by_return"])
    if was["state_by"] == PERSON:
        said_at = _int(was["state_at"])
        if was["state"] == RESOLVED and one.met[-1].at > said_at:
            returned += 1
            values.update(state=OPEN, state_at=one.met[-1].at, state_by=EVIDENCE)
        elif not (_lets_go(was, now) and one.state == RESOLVED and (one.state_at or 0) > said_at):
            values.update(state=was["state"], state_at=was["state_at"], state_by=PERSON)
    elif returned and one.state == OPEN:
        values.update(state_at=was["state_at"], state_by=EVIDENCE)
    values["reopened"] = one.reopened + returned
    values["reopened_by_return"] = returned


def _lets_go(was: dict[str, object], now: int) -> bool:
    """Whether a person's word leaves it to evidence that a pattern is over: they opened it, or put it off until now."""
    return was["state"] == OPEN or (was["state"] == SNOOZED and _int(was["snoozed_until"]) <= now)


def _int(value: object) -> int:
    return value if isinstance(value, int) else 0


def _remedy(remedy: Remedy | None) -> str | None:
    return json.dumps(asdict(remedy), ensure_ascii=False) if remedy else None


def _evidence(db: Connection, learning_id: int, one: Pattern) -> int:
    """Write the evidence where it changed; how many rows. What is kept of a session is its newest."""
    both = ((OCCURRENCE, one.met), (FIX, one.fixes))
    rows = [(role, *_met(each)) for role, met in both for each in _bounded(met)]
    there = db.execute(
        "SELECT role, session_id, observation_id, prompt_id, at, excerpt FROM learning_evidence WHERE learning_id = ?"
        " ORDER BY id",
        (learning_id,),
    ).fetchall()
    known, asked = _there(db, "observations", rows, 2), _there(db, "prompts", rows, 3)
    rows = [
        (
            role,
            session,
            did if (did, session) in known else None,
            said if (said, session) in asked else None,
            at,
            excerpt,
        )
        for role, session, did, said, at, excerpt in rows
    ]
    if there == rows:
        return 0
    db.execute("DELETE FROM learning_evidence WHERE learning_id = ?", (learning_id,))
    for row in rows:
        db.execute(
            "INSERT INTO learning_evidence (learning_id, role, session_id, observation_id, prompt_id, at, excerpt)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (learning_id, *row),
        )
    return max(1, len(rows))


def _there(db: Connection, table: str, rows: Sequence[Sequence[object]], place: int) -> set[tuple[int, str]]:
    """Which of the rows that evidence names are still there: they are forgotten, and numbers used again."""
    ids = json.dumps([row[place] for row in rows if row[place] is not None])
    found = db.execute(
        f"SELECT id, session_id FROM {table} WHERE id IN (SELECT value FROM json_each(?))",  # noqa: S608 - our names
        (ids,),
    )
    return {(number, session) for number, session in found.fetchall()}


def _met(one: Met) -> tuple[str, int | None, int | None, int, str]:
    return one.session_id, one.observation_id, one.prompt_id, one.at, one.excerpt


def _bounded(met: Sequence[Met]) -> list[Met]:
    kept: dict[str, list[Met]] = {}
    for one in met:
        kept.setdefault(one.session_id, []).append(one)
    out = [one for each in kept.values() for one in each[-PER_SESSION:]]
    return sorted(out, key=lambda one: (one.at, one.observation_id or 0, one.session_id))


GONE = "(what it was learned of is purged)"
_THEIRS = "SELECT value FROM json_each(?)"


def forget(db: Connection, session_ids: Iterable[str]) -> int:
    """Everything that was read of sessions goes; how many learnings it was in. Inside the transaction that purges.

    For an observation or a prompt, that of its session: the rest of the session is read again. A learning that nobody
    has said anything of goes and may come again; a person's word on one stays, and so does a rule in a file of theirs.
    """
    of = json.dumps(list(session_ids))
    touched = [row[0] for row in db.execute(
        f"SELECT DISTINCT learning_id FROM learning_evidence WHERE session_id IN ({_THEIRS}) ORDER BY 1", (of,)  # noqa: S608
    ).fetchall()]  # fmt: skip
    projects = db.execute(f"SELECT DISTINCT project_id FROM sessions WHERE id IN ({_THEIRS})", (of,)).fetchall()  # noqa: S608
    for table in ("learning_findings", "learned_sessions", "learning_evidence"):
        db.execute(f"DELETE FROM {table} WHERE session_id IN ({_THEIRS})", (of,))  # noqa: S608
    for (project_id,) in projects:
        sessions.more(db, project_id)
    for learning_id in touched:
        _scrub(db, learning_id)
    return len(touched)


def _scrub(db: Connection, learning_id: int) -> None:
    """A learning without the words it was known by."""
    said = db.execute("SELECT state_by = ?, rule IS NOT NULL FROM learnings WHERE id = ?", (PERSON, learning_id))
    by_person, rule = said.fetchone()
    stands = bool(accept.stands_in(db, learning_id))
    if not by_person and not rule:
        db.execute("DELETE FROM learnings WHERE id = ?", (learning_id,))
    else:
        left = db.execute("SELECT 1 FROM learning_evidence WHERE learning_id = ?", (learning_id,)).fetchone()
        db.execute("DELETE FROM unit_warnings WHERE learning_id = ?", (learning_id,))
        db.execute(
            "UPDATE learnings SET title = ?, files = '[]', remedy = NULL, key = iif(?, key, 'purged ' || id),"
            " rule = iif(?, rule, NULL) WHERE id = ?",
            (GONE, left is not None, stands, learning_id),
        )
    target = f"{lifecycle.TARGET}/{learning_id}"
    if stands:
        db.execute("UPDATE corrections SET payload = json_set(payload, '$.title', ?) WHERE target = ?", (GONE, target))
    else:
        db.execute("DELETE FROM corrections WHERE target = ?", (target,))
