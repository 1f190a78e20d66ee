"""Updates stored learnings: extracts findings from changed sessions, then combines them by project.

Sessions and projects are read and thought about outside of any transaction, so that a hook never waits; what comes of
each is written in a short one of its own, which sees whether all still is as it was read. It can be stopped anywhere
and goes on where it was, and several may do it at once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from sqlite3 import Connection

from capture.storage import store as base
from nmem import tables
from nmem.learn import accept, config, find, findings_store, kinds, lifecycle, store, warnings
from nmem.learn.find import Finding
from nmem.learn.findings_store import Found
from nmem.learn.learning import EVIDENCE, FIX, OCCURRENCE, OPEN, PERSON, RESOLVED, SNOOZED, Remedy
from nmem.learn.patterns import Asked, Met, Pattern, Project
from nmem.text import json_list, json_object, whole

Beside = Callable[[Sequence[str]], Iterator[Found | None]]
_WAIT = 10.0
_TRIES = 3


@dataclass(slots=True)
class Refreshed:
    """What a refresh did."""

    sessions: int = 0
    projects: int = 0
    learnings: int = 0
    """Rows that changed."""
    warned: int = 0
    left: int = 0
    """Sessions that there was no time for, or that went on while they were read."""


def never() -> bool:
    """Nobody wants it to stop."""
    return False


def refresh(
    db: Connection, now: int, project_id: int | None = None, stopped: Callable[[], bool] = never,
    beside: Beside | None = None, patient: bool = False, step: Callable[[int, int], None] = lambda _done, _all: None,
) -> Refreshed:  # fmt: skip
    """Read what changed, of one project or of all, on a writing connection outside a transaction.

    `beside`: reads the sessions it is given in processes of its own, and answers in their order. `patient`: a
    session that goes on need not be read again for each of its turns. `step` gets how many sessions of how many are
    read.
    """
    done = Refreshed()
    at = now if patient else None
    waiting = findings_store.stale(db, project_id, at)
    read: dict[int, None] = {}
    ids = [session_id for session_id, _ in waiting]
    ready = beside(ids) if beside else (found_in(db, one, stopped) for one in ids)
    for number, (_, of) in enumerate(waiting):
        if stopped():
            break
        step(number, len(waiting))
        found = next(ready)
        if found is not None and findings_store.write(db, found, now):
            done.sessions += 1
            read[of] = None
    done.left = len(waiting) - done.sessions
    for number in dict.fromkeys([*read, *findings_store.changed(db, project_id, at)]):
        changed = project(db, number, now)
        if changed is not None:
            done.learnings += changed
            done.warned += warnings.warn_open(db, number, now)
            done.projects += 1
    return done


def found_in(db: Connection, session_id: str, stopped: Callable[[], bool] = never) -> Found | None:
    """What one session says, which is only read; None when it is gone, or when it was stopped on the way."""
    read = findings_store.reading(db, session_id)
    found = find.findings(read.rows, stopped) if read else None
    if read is None or found is None:
        return None
    others = (one for kind in kinds.every() for one in kind.find(read.rows, read.said))
    return findings_store.found_in(read, [*found, *others])


def project(db: Connection, project_id: int, now: int) -> int | None:
    """What the sessions of a project say together; how many learnings changed.

    None when others read its sessions each time that it was thought about: they, or the next refresh, sum them up.
    """
    for _ in range(_TRIES):
        with findings_store.snapshot(db):
            token = findings_store.token(db, project_id)
            said = said_in(db, project_id)
        found = kinds.patterns(said)
        with base.transaction(db):
            if findings_store.token(db, project_id) == token:
                changed = write(db, project_id, found, now)
                findings_store.summed(db, project_id, token)
                return changed
    return None


def fresh(
    db_path: str, now: int, project_id: int | None = None, stopped: Callable[[], bool] = never
) -> Refreshed:  # fmt: skip
    """A refresh before somebody reads; nothing when nothing changed. Raises sqlite3.Error, OSError, NewerDatabase."""
    with closing(base.connect(db_path, timeout=_WAIT)) as db:
        tables.ensure(db)
        return refresh(db, now, project_id, stopped)


PER_SESSION = 6
"""Occurrences of one pattern whose evidence is kept of a session."""


def said_in(db: Connection, project_id: int) -> Project:
    """What the sessions of a project say; of commands, only those that failed somewhere in it."""
    sessions = findings_store.sessions(db, project_id)
    order = {session_id: at for at, (session_id, _) in enumerate(sessions)}
    found = findings_store.told(db, project_id)
    told = [
        (session_id, finding)
        for session_id, kind, key, data in found
        if session_id in order and (finding := _finding(kind, key, data))
    ]
    told.sort(key=lambda one: (order[one[0]], one[1].kind, one[1].key))
    return Project(sessions, told, list(map(_asked, findings_store.asked(db, project_id))), config.load().sessions)


def _finding(kind: str, key: str, data: str) -> Finding | None:
    """One finding; None of one that is damaged: the next look at its session makes it anew."""
    try:
        return Finding(kind, key, **json.loads(data))
    except (ValueError, TypeError):
        return None


def _asked(row: tuple[int, str, int | None, int, int, str, int, str, str, str]) -> Asked:
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
    before = store.by_key(db, project_id)
    changed = 0
    for one in patterns:
        changed += _write(db, project_id, one, before.pop((one.kind, one.key), None), now)
    gone = [number for number, was in before.values() if was["state_by"] != PERSON and was["rule"] is None]
    store.drop(db, gone)
    return changed + len(gone)


def _write(db: Connection, project_id: int, one: Pattern, known: tuple[int, dict[str, object]] | None, now: int) -> int:
    values = _values(one)
    if known is None:
        return int(_evidence(db, store.add(db, project_id, one.kind, one.key, values), one) >= 0)
    number, was = known
    _stand(values, was, one, now)
    changed = 0
    if any(values[name] != was[name] for name in store.MADE):
        store.change(db, number, values, store.MADE)
        changed = 1
    return max(changed, int(_evidence(db, number, one) > 0))


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
    """Write the evidence where it changed; how many rows. What is kept of a session is its newest.

    What it names may be gone by now: it is forgotten, and numbers are used again.
    """
    both = [(role, each) for role, met in ((OCCURRENCE, one.met), (FIX, one.fixes)) for each in _bounded(met)]
    known = store.still_there(db, "observations", [_int(each.observation_id) for _, each in both])
    asked = store.still_there(db, "prompts", [_int(each.prompt_id) for _, each in both])
    rows = [
        (role, each.session_id, each.observation_id if (each.observation_id, each.session_id) in known else None,
         each.prompt_id if (each.prompt_id, each.session_id) in asked else None, each.at, each.excerpt)
        for role, each in both
    ]  # fmt: skip
    return max(1, len(rows)) if store.put_evidence(db, learning_id, rows) else 0


def _bounded(met: Sequence[Met]) -> list[Met]:
    kept: dict[str, list[Met]] = {}
    for one in met:
        kept.setdefault(one.session_id, []).append(one)
    out = [one for each in kept.values() for one in each[-PER_SESSION:]]
    return sorted(out, key=lambda one: (one.at, one.observation_id or 0, one.session_id))


GONE = "(what it was learned of is purged)"


def forget(db: Connection, session_ids: Iterable[str]) -> int:
    """Everything that was read of sessions goes; how many learnings it was in. Inside the transaction that purges.

    For an observation or a prompt, that of its session: the rest of the session is read again. A learning that nobody
    has said anything of goes and may come again; a person's word on one stays, and so does a rule in a file of theirs.
    """
    touched, projects = store.purge(db, json.dumps(list(session_ids)))
    for project_id in projects:
        findings_store.more(db, project_id)
    for learning_id in touched:
        _scrub(db, learning_id)
    return len(touched)


def _scrub(db: Connection, learning_id: int) -> None:
    """A learning without the words it was known by."""
    found, stands = store.standing(db, learning_id), bool(accept.stands_in(db, learning_id))
    columns = found[2] if found else {"state_by": None, "rule": None}
    if columns["state_by"] != PERSON and columns["rule"] is None:
        store.drop(db, [learning_id])
    else:
        store.unword(db, learning_id, GONE, stands=stands)
    store.unword_corrections(db, f"{lifecycle.TARGET}/{learning_id}", GONE, stands=stands)
