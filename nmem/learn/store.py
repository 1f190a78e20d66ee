"""The rows of learnings (SQL): what is read to find them, and the only place that writes what was found."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from sqlite3 import Connection

from nmem.learn.find import VERSION, Finding
from nmem.learn.learning import EVIDENCE, FIX, OCCURRENCE, OPEN, PERSON, RESOLVED, Remedy
from nmem.learn.patterns import Asked, Met, Pattern, Project
from nmem.learn.rows import Row

PER_SESSION = 6
"""Occurrences of one pattern whose evidence is kept of a session."""
_READ = "read"
"""A session that is read but not yet in the learnings of its project: whoever is stopped there, reads it again."""
_COLUMNS = ("title", "files", "first_at", "last_at", "sessions", "occurrences", "state", "state_at", "state_by",
            "reopened", "reopened_by_return", "remedy")  # fmt: skip


def stale(db: Connection, project_id: int | None = None) -> list[tuple[str, int]]:
    """The sessions that say more than was read of them, and their projects; the oldest first."""
    return db.execute(
        "SELECT s.id, s.project_id FROM sessions s LEFT JOIN learned_sessions l ON l.session_id = s.id"
        " WHERE (l.session_id IS NULL OR l.seq != s.seq OR l.told_of != ?) AND (? IS NULL OR s.project_id = ?)"
        " ORDER BY s.started_at, s.id",
        (VERSION, project_id, project_id),
    ).fetchall()


def rows(db: Connection, session_id: str) -> list[Row]:
    """What was done in a session, in its order."""
    root = db.execute(
        "SELECT coalesce(f.root, p.root) FROM sessions s JOIN projects p ON p.id = s.project_id"
        " LEFT JOIN project_folders f ON f.folder = s.cwd WHERE s.id = ?",
        (session_id,),
    ).fetchone()
    found = db.execute(
        "SELECT id, at, seq, prompt_id, obs_type, coalesce(tool_name, ''), coalesce(file_path, ''), content, outcome,"
        " CASE WHEN outcome = 'failed' THEN coalesce(json_extract(metadata, '$.response'), '') ELSE '' END"
        " FROM observations WHERE session_id = ? ORDER BY seq, id",
        (session_id,),
    )
    return [Row(*(*row, root[0] if root else "")) for row in found]


def put(db: Connection, session_id: str, project_id: int, found: Iterable[Finding], seq: int, now: int) -> None:
    """Write what a session says, instead of what was read of it before. Inside a transaction."""
    db.execute("DELETE FROM learning_findings WHERE session_id = ?", (session_id,))
    db.executemany(
        "INSERT INTO learning_findings (project_id, kind, key, session_id, at, data) VALUES (?, ?, ?, ?, ?, ?)",
        [(project_id, one.kind, one.key, session_id, now, _data(one)) for one in found],
    )
    db.execute("INSERT OR REPLACE INTO learned_sessions VALUES (?, ?, ?, ?)", (session_id, seq, _READ, now))


def summed(db: Connection, project_id: int) -> None:
    """What was read of a project's sessions is in its learnings now. Inside the transaction that wrote them."""
    db.execute(
        "UPDATE learned_sessions SET told_of = ? WHERE told_of = ? AND session_id IN"
        " (SELECT id FROM sessions WHERE project_id = ?)",
        (VERSION, _READ, project_id),
    )


def _data(one: Finding) -> str:
    kept = {key: value for key, value in asdict(one).items() if value and key not in ("kind", "key")}
    return json.dumps(kept, ensure_ascii=False, separators=(",", ":"))


def project(db: Connection, project_id: int) -> Project:
    """All that the sessions of a project say."""
    sessions = db.execute(
        "SELECT id, started_at FROM sessions WHERE project_id = ? ORDER BY started_at, id", (project_id,)
    ).fetchall()
    order = {session_id: at for at, (session_id, _) in enumerate(sessions)}
    found = db.execute("SELECT session_id, kind, key, data FROM learning_findings WHERE project_id = ?", (project_id,))
    told = [
        (session_id, Finding(kind, key, **json.loads(data)))
        for session_id, kind, key, data in found
        if session_id in order
    ]
    told.sort(key=lambda one: (order[one[0]], one[1].kind, one[1].key))
    return Project(sessions, told, _asked(db, project_id))


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
    files, phase, outcomes = (_json(text) for text in row[7:])
    hot = [one for one in files if isinstance(one, dict)] if isinstance(files, list) else []
    counts = phase if isinstance(phase, dict) else {}
    ended = outcomes if isinstance(outcomes, dict) else {}
    return Asked(
        row[0], row[1], row[2], row[3], row[4], row[5], bool(row[6]),
        {str(one.get("path")): int(one.get("reads") or 0) for one in hot if one.get("reads") and not one.get("edits")},
        {str(one.get("path")): int(one.get("edits") or 0) for one in hot if one.get("edits")},
        int(counts.get("failures") or 0), int(counts.get("execute") or 0),
        bool(ended.get("interrupted") or ended.get("abandoned")),
    )  # fmt: skip


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return None


def write(db: Connection, project_id: int, patterns: Sequence[Pattern]) -> int:
    """Bring the learnings of a project to what its sessions bear out; how many rows changed. Inside a transaction.

    A person's word stands, but for two things: what they resolved is open again when it occurs later, and what they
    opened by hand may resolve again. What is borne out no longer goes, unless a person has said something of it.
    """
    before = {
        (row[1], row[2]): row
        for row in db.execute(
            f"SELECT id, kind, key, {', '.join(_COLUMNS)} FROM learnings WHERE project_id = ?", (project_id,)  # noqa: S608
        ).fetchall()
    }  # fmt: skip
    changed = 0
    for one in patterns:
        changed += _write(db, project_id, one, before.pop((one.kind, one.key), None))
    gone = [(row[0],) for row in before.values() if row[3 + _COLUMNS.index("state_by")] != PERSON]
    db.executemany("DELETE FROM learnings WHERE id = ?", gone)
    return changed + len(gone)


def _write(db: Connection, project_id: int, one: Pattern, row: Sequence[object] | None) -> int:
    values = _values(one)
    was: dict[str, object] = {}
    if row is None:
        names = ", ".join(_COLUMNS)
        made = db.execute(
            f"INSERT INTO learnings (project_id, kind, key, {names}) VALUES (?, ?, ?{', ?' * len(_COLUMNS)})",  # noqa: S608
            (project_id, one.kind, one.key, *(values[name] for name in _COLUMNS)),
        ).lastrowid
        return int(_evidence(db, int(made or 0), one) >= 0)
    was = dict(zip(_COLUMNS, row[3:], strict=True))
    _stand(values, was, one)
    changed = 0
    if any(values[name] != was[name] for name in _COLUMNS):
        sets = ", ".join(f"{name} = ?" for name in _COLUMNS)
        db.execute(f"UPDATE learnings SET {sets} WHERE id = ?", (*(values[name] for name in _COLUMNS), row[0]))  # noqa: S608
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


def _stand(values: dict[str, object], was: dict[str, object], one: Pattern) -> None:
    """What a person said of it stands."""
    returned = _int(was["reopened_by_return"])
    if was["state_by"] == PERSON:
        said_at = _int(was["state_at"])
        if was["state"] == RESOLVED and one.met[-1].at > said_at:
            returned += 1
            values.update(state=OPEN, state_at=one.met[-1].at, state_by=EVIDENCE)
        elif not (was["state"] == OPEN and one.state == RESOLVED and (one.state_at or 0) > said_at):
            values.update(state=was["state"], state_at=was["state_at"], state_by=PERSON)
    elif returned and one.state == OPEN:
        values.update(state_at=was["state_at"], state_by=EVIDENCE)
    values["reopened"] = one.reopened + returned
    values["reopened_by_return"] = returned


def _int(value: object) -> int:
    return value if isinstance(value, int) else 0


def _remedy(remedy: Remedy | None) -> str | None:
    return json.dumps(asdict(remedy), ensure_ascii=False) if remedy else None


def _evidence(db: Connection, learning_id: int, one: Pattern) -> int:
    """Write the evidence where it changed; how many rows. What is kept of a session is its newest."""
    rows = [(OCCURRENCE, *_met(each)) for each in _bounded(one.met)] + [
        (FIX, *_met(each)) for each in _bounded(one.fixes)
    ]
    there = db.execute(
        "SELECT role, session_id, observation_id, prompt_id, at, excerpt FROM learning_evidence WHERE learning_id = ?"
        " ORDER BY id",
        (learning_id,),
    ).fetchall()
    if there == rows:
        return 0
    db.execute("DELETE FROM learning_evidence WHERE learning_id = ?", (learning_id,))
    for row in rows:
        db.execute(
            "INSERT INTO learning_evidence (learning_id, role, session_id, observation_id, prompt_id, at, excerpt)"
            " VALUES (?, ?, ?, (SELECT id FROM observations WHERE id = ?),"
            " (SELECT id FROM prompts WHERE id = ?), ?, ?)",
            (learning_id, *row),
        )
    return len(rows)


def _met(one: Met) -> tuple[str, int | None, int | None, int, str]:
    return one.session_id, one.observation_id, one.prompt_id, one.at, one.excerpt


def _bounded(met: Sequence[Met]) -> list[Met]:
    kept: dict[str, list[Met]] = {}
    for one in met:
        kept.setdefault(one.session_id, []).append(one)
    out = [one for each in kept.values() for one in each[-PER_SESSION:]]
    return sorted(out, key=lambda one: (one.at, one.observation_id or 0, one.session_id))


def forget(db: Connection, project_id: int | None = None) -> None:
    """Take all that was read of sessions back, so that all is read again; learnings stay. Inside a transaction."""
    ours = "SELECT id FROM sessions WHERE ? IS NULL OR project_id = ?"
    db.execute(f"DELETE FROM learning_findings WHERE session_id IN ({ours})", (project_id, project_id))  # noqa: S608
    db.execute(f"DELETE FROM learned_sessions WHERE session_id IN ({ours})", (project_id, project_id))  # noqa: S608
