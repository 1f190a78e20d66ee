"""All SQL of what a team shares, in the local database: versions of facts, what is gone, and what they are made of.

Every function that writes does it in short transactions: hooks write the same file. What came is data: a row of a
member who means ill changes no row of another's, and nothing that it says is more than a text or a relative path.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from sqlite3 import Connection
from typing import Any

from capture.storage.store import transaction
from nmem.store.taken_back import prefix
from nmem.team import wire
from nmem.team.config import Membership
from nmem.team.incoming import CHUNK, MOST_VERSIONS, fits, is_gone, newest, newest_versions, parts, row
from nmem.team.wire import Came, Fact, Gone, Left, Mark, Read, Shared, digest
from nmem.teammates.live import state
from nmem.text import json_object

MINE, THEIRS, HERE = "mine", "theirs", "here"
"""Where something gone was taken away: by this person, by another, or from this machine alone."""
_IN = "IN (SELECT value FROM json_each(?))"
_LAST = 1 << 62
_PAGE = 500
_BACK = "back/"
LOOKED = "looked/"
"""Under which is kept when a project was read last, and its stamp then (nmem.team.versions)."""
_PAUSE = 0.005
"""Seconds between transactions that follow each other at once: who waits for the file tries again in such a time."""


# what is known beside the facts


def keep(db: Connection, key: str, value: str) -> None:
    """Keep a word, or with "" keep it no longer."""
    if value:
        db.execute("INSERT OR REPLACE INTO team_state (key, value) VALUES (?, ?)", (key, value))
    else:
        db.execute("DELETE FROM team_state WHERE key = ?", (key,))


def how_far(db: Connection, key: str) -> Read:
    """How far a role has read."""
    found = json_object(state(db, key))
    mark = found.get("mark")
    numbers = int(found.get("facts", 0)), int(found.get("gone", 0))
    return Read(Mark(*mark) if mark else None, *numbers, str(found.get("of", "")))


def keep_far(db: Connection, key: str, read: Read, *, first: bool = False) -> None:
    """Keep it, inside the transaction that keeps the rows. Raises Left where the one before is gone."""
    if not first:
        _still(db, key)
    keep(db, key, json.dumps(asdict(read)))


def _still(db: Connection, key: str) -> None:
    if not state(db, key):
        raise Left("the team was left, or joined anew, meanwhile")


# projects


def share(db: Connection, team: str, project_id: int, shared_as: str, now: int) -> None:
    """Share a project, as it is now, under a name; the next pass reads all again: its facts were passed over so far."""
    with transaction(db):
        db.execute(
            "INSERT OR REPLACE INTO team_projects (project_id, team, shared_as, key, remote, root, at)"
            " SELECT id, ?, ?, key, coalesce(remote, ''), root, ? FROM projects WHERE id = ?",
            (team, shared_as, now, project_id),
        )


def unshare_all(db: Connection) -> None:
    """Share nothing any more."""
    db.execute("DELETE FROM team_projects")


def remote(db: Connection, project_id: int) -> str:
    """Where a project's repository lies for others; empty where it has no remote."""
    return str(db.execute("SELECT coalesce(remote, '') FROM projects WHERE id = ?", (project_id,)).fetchone()[0])


def unshare(db: Connection, project_id: int) -> bool:
    """Share it no longer; what others said of it is forgotten here. Whether there was anything to do.

    The project goes first: a pass that is under way takes nothing in any more, and after a kill this can be done again.
    """
    with transaction(db):
        shared = db.execute("DELETE FROM team_projects WHERE project_id = ?", (project_id,)).rowcount > 0
        db.execute("DELETE FROM team_state WHERE key LIKE 'back/%' AND value = ?", (str(project_id),))
    return _forget(db, "project_id = ?", project_id) > 0 or shared


def projects(db: Connection, team: str) -> list[Shared]:
    """The projects that are shared, by their numbers and never by a name."""
    rows = db.execute(
        "SELECT t.project_id, t.shared_as, t.key, p.name, t.root, p.key = t.key AND coalesce(p.remote, '') = t.remote,"
        " t.at FROM team_projects t JOIN projects p ON p.id = t.project_id WHERE t.team = ? ORDER BY t.shared_as",
        (team,),
    )
    return [Shared(int(row[0]), row[1], row[2], row[3], row[4], bool(row[5]), int(row[6])) for row in rows]


def spoken_of(db: Connection, team: str, shared: Sequence[Shared]) -> list[Shared]:
    """Projects of which this person has told a team something; also such as are shared no longer."""
    known = {each.project_id: each for each in shared}
    rows = db.execute(
        "SELECT id, key, name, root FROM projects WHERE id IN"
        " (SELECT project_id FROM team_facts WHERE own = 1 AND team = ?)",
        (team,),
    ).fetchall()
    return [known.get(int(row[0])) or Shared(int(row[0]), "", row[1], row[2], row[3], same=False) for row in rows]


# what goes out


def pending(db: Connection, team: str, member: str) -> list[int]:
    """Row numbers of versions that the server does not have, in the order in which they were made."""
    rows = db.execute(
        "SELECT rowid FROM team_facts INDEXED BY team_facts_to_send WHERE seq IS NULL AND refused IS NULL AND own = 1"
        " AND gone != 2 AND team = ? AND author = ? AND project_id IN (SELECT t.project_id FROM team_projects t"
        " JOIN projects p ON p.id = t.project_id AND p.key = t.key AND coalesce(p.remote, '') = t.remote"
        " WHERE t.team = ?)",
        (team, member, team),
    )
    return sorted(int(row[0]) for row in rows)


def facts(db: Connection, numbers: Sequence[int]) -> list[Fact]:
    """The versions of some rows as they travel; what was purged meanwhile is left out."""
    rows = db.execute(
        "SELECT f.id, f.kind, f.subject, t.shared_as, f.author, f.device, f.at, f.title, f.body, f.files, f.data"  # noqa: S608
        f" FROM team_facts f JOIN team_projects t ON t.project_id = f.project_id WHERE f.rowid {_IN} ORDER BY f.rowid",
        (json.dumps(numbers),),
    )
    return [Fact(*row) for row in rows]


def untold(db: Connection, member: str) -> tuple[list[str], list[str]]:
    """Subjects of a member, and versions, that were taken away and that the server was not told of."""
    rows = db.execute(
        "SELECT id, subject FROM team_gone WHERE origin = ? AND announced_seq IS NULL AND refused IS NULL", (MINE,)
    ).fetchall()
    own = prefix(member)  # a subject that was opened under another name waits until that one is used again
    return [row[0] for row in rows if row[1].startswith(own)], [row[0] for row in rows if not row[1]]


def told(db: Connection, ids: Sequence[str]) -> None:
    """The server knows that these are gone; its own number for it comes when they are read back."""
    with transaction(db):
        db.execute(
            f"UPDATE team_gone SET announced_seq = 0 WHERE announced_seq IS NULL AND refused IS NULL AND id {_IN}",  # noqa: S608
            (json.dumps(ids),),
        )


def refuse(db: Connection, table: str, refused: Mapping[str, str]) -> None:
    """Set rows aside that the server does not take."""
    assert table in ("team_facts", "team_gone")
    if refused:
        with transaction(db):
            db.executemany(f"UPDATE {table} SET refused = ? WHERE id = ?",  # noqa: S608 - one of two names
                           [(why, each) for each, why in refused.items()])  # fmt: skip


def withdraw(db: Connection, ids: Iterable[str], now: int) -> None:
    """Take versions away, here and with the next pass there; their subjects stay. Inside a transaction."""
    subjects = []
    for each in ids:
        db.execute("INSERT OR IGNORE INTO team_gone (id, origin, at) VALUES (?, ?, ?)", (each, MINE, now))
        subjects += db.execute("DELETE FROM team_facts WHERE id = ? RETURNING subject", (each,)).fetchall()
    hold(db, [str(row[0]) for row in subjects])


def taken_back(db: Connection) -> set[str]:
    """Subjects of which another machine of this person took back what was said: this one says nothing of them."""
    rows = db.execute("SELECT substr(key, 6) FROM team_state WHERE key > 'back/' AND key < 'back0'")
    return {str(row[0]) for row in rows}


def to_look_at(db: Connection, team: str, member: str) -> set[int]:
    """Projects of which this person said something on another machine that the rules of this one have not seen."""
    rows = db.execute(
        "SELECT DISTINCT project_id FROM team_facts INDEXED BY team_facts_to_look_at WHERE own = 1"
        " AND substr(digest, 1, 2) = '?.' AND author = ? AND team = ?",
        (member, team),
    )
    return {int(row[0]) for row in rows}


def announce_again(db: Connection, member: str) -> None:
    """The server is another one, or what it was some time ago: it is told all once more, what is gone first."""
    with transaction(db):
        db.execute("UPDATE team_gone SET announced_seq = NULL, refused = NULL WHERE origin = ?", (MINE,))
        db.execute("UPDATE team_facts SET seq = NULL, refused = NULL WHERE own = 1 AND author = ?", (member,))
        db.execute("DELETE FROM team_state WHERE key LIKE 'read/%'")


# what comes in


def take_gone(db: Connection, member: str, gone: Sequence[Gone], key: str, read: Read) -> int:
    """Take away here what was taken away; how many versions went. The mark of how far was read goes with it."""
    went = 0
    for at in range(0, len(gone), CHUNK):
        part = gone[at : at + CHUNK]
        meant = [each for each in part if is_gone(each)]
        with transaction(db):
            went += _take_gone(db, member, meant)
            keep_far(db, key, replace(read, gone=part[-1].seq))
    return went


def _take_gone(db: Connection, member: str, gone: Sequence[Gone]) -> int:
    db.executemany(
        "INSERT INTO team_gone (id, subject, origin, at, announced_seq) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (id) DO UPDATE SET announced_seq = excluded.announced_seq,"
        " origin = iif(origin = 'here', excluded.origin, origin)",
        # what this person took away on another machine is told again from here as well
        [(each.subject or each.id, each.subject, MINE if each.author == member else THEIRS, wire.now(), each.seq)
         for each in gone if each.subject or not _anothers(db, each)],
    )  # fmt: skip
    subjects = json.dumps([each.subject for each in gone if each.subject])
    went = db.execute(f"DELETE FROM team_facts WHERE subject {_IN}", (subjects,)).rowcount  # noqa: S608
    touched = []
    for each in gone:
        if each.subject:
            continue
        row = db.execute(
            "DELETE FROM team_facts WHERE id = ? AND author = ? RETURNING subject, own AND source != '', project_id",
            (each.id, each.author),
        ).fetchone()
        if row:
            touched.append(str(row[0]))
            if row[1]:  # another machine of this person took it back: this one does not say it again
                keep(db, f"{_BACK}{row[0]}", str(row[2]))
    hold(db, touched)
    return went + len(touched)


def _anothers(db: Connection, gone: Gone) -> bool:
    """Whether a version is not of the one who says that it is gone."""
    row = db.execute("SELECT author FROM team_facts WHERE id = ?", (gone.id,)).fetchone()
    return row is not None and row[0] != gone.author


def take_facts(
    db: Connection, team: str, member: str, came: Sequence[Came], known: Mapping[str, int], key: str, read: Read
) -> int:
    """Store what came of projects that are shared here; how many rows are new. `known`: the team's name -> number."""
    return sum(
        _take_facts(db, team, member, part, known, key, replace(read, facts=part[-1].seq)) for part in parts(came)
    )


def _take_facts(
    db: Connection, team: str, member: str, came: Sequence[Came], known: Mapping[str, int], key: str, read: Read
) -> int:
    words = [word for each in came for word in (each.fact.id, each.fact.subject)]
    named = json.dumps(words)
    had = f"SELECT id FROM team_facts WHERE id {_IN}"  # noqa: S608
    there = {row[0] for row in db.execute(had, (named,))}
    good = [each for each in came if each.fact.project in known and fits(each.fact)]
    # cleaning takes the most time: it is done before the file is locked
    new = {each.fact.id: (each.fact, row(team, member, each, known[each.fact.project]))
           for each in newest_versions(member, [each for each in good if each.fact.id not in there])}  # fmt: skip
    with transaction(db):
        away = gone(db, words)
        there = {row[0] for row in db.execute(had, (named,))}
        shared = {row[0] for row in db.execute("SELECT project_id FROM team_projects WHERE team = ?", (team,))}
        taken = [each for each in good if each.fact.id not in away and each.fact.subject not in away]
        db.executemany(
            "UPDATE team_facts SET seq = ?, refused = NULL WHERE id = ? AND author = ? AND subject = ?",
            [(each.seq, each.fact.id, each.fact.author, each.fact.subject) for each in taken if each.fact.id in there],
        )
        rows = [row for fact, row in new.values() if known[fact.project] in shared and fact.id not in there
                and fact.id not in away and fact.subject not in away]  # fmt: skip
        add(db, rows)
        hold(db, [each.fact.subject for each in taken])
        db.executemany(
            "INSERT INTO team_members (team, author, last_at) VALUES (?, ?, ?) ON CONFLICT (team, author)"
            " DO UPDATE SET last_at = max(coalesce(last_at, 0), excluded.last_at)",
            [(team, author, at) for author, at in newest(good).items()],
        )
        keep_far(db, key, read)
        return len(rows)


def add(db: Connection, rows: Iterable[tuple[object, ...]]) -> None:
    """New versions, with session and source where they were made here. Inside a transaction."""
    db.executemany(
        "INSERT INTO team_facts (id, team, kind, subject, project_id, author, device, at, seq, title, body, files,"
        " data, own, digest, session_id, source) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        rows,
    )


def gone(db: Connection, words: Sequence[str]) -> set[str]:
    """Those of some versions and subjects that were taken away."""
    found = db.execute(f"SELECT id FROM team_gone WHERE id {_IN}", (json.dumps(words),))  # noqa: S608
    return {row[0] for row in found}


def hold(db: Connection, subjects: Sequence[str]) -> None:
    """Of several versions by one author the one that the server took last holds. Inside a transaction.

    Of another member's old versions only some are kept; all of one's own are, which may yet be taken back.
    """
    found = db.execute(
        "SELECT number, place > ?2 AND own = 0 FROM (SELECT rowid AS number, gone, own, row_number() OVER"  # noqa: S608
        " (PARTITION BY subject, author, team ORDER BY coalesce(seq, ?3) DESC, rowid DESC) AS place FROM team_facts"
        f" WHERE subject {_IN.replace('?', '?1')} AND gone != 2) WHERE gone = (place = 1) OR (place > ?2 AND own = 0)",
        (json.dumps(subjects), MOST_VERSIONS, _LAST),
    ).fetchall()
    other, old = (json.dumps([row[0] for row in found if row[1] == past]) for past in (0, 1))
    db.execute(f"UPDATE team_facts SET gone = 1 - gone WHERE rowid {_IN}", (other,))  # noqa: S608
    db.execute(f"UPDATE team_facts SET gone = 2 WHERE rowid {_IN}", (old,))  # noqa: S608
    db.execute(f"DELETE FROM team_facts WHERE rowid {_IN}", (old,))  # noqa: S608


def counted(db: Connection, team: str) -> dict[str, int]:
    """How many versions there are on each side of the way, for a person."""
    row = db.execute(
        "SELECT total(own AND seq IS NOT NULL), total(own AND seq IS NULL AND refused IS NULL), total(own AND refused"
        " IS NOT NULL), total(NOT own), count(DISTINCT iif(own, NULL, author)) FROM team_facts WHERE team = ?",
        (team,),
    ).fetchone()
    names = ("shared", "waiting", "refused", "of_others", "others")
    told = db.execute(
        "SELECT total(announced_seq IS NULL AND refused IS NULL), total(refused IS NOT NULL) FROM team_gone"
        " WHERE origin = ?", (MINE,)
    ).fetchone()  # fmt: skip
    out = dict(zip(names, map(int, tuple(row)), strict=True))
    return out | {"deletions_waiting": int(told[0]), "deletions_refused": int(told[1])}


def take_members(db: Connection, team: str, members: Sequence[tuple[str, str]], key: str) -> None:
    """Who is in the team, and how each logs in; whom this person muted stays so. Raises Left."""
    with transaction(db):
        _still(db, key)
        db.executemany(
            "INSERT INTO team_members (team, author, role) VALUES (?, ?, ?)"
            " ON CONFLICT (team, author) DO UPDATE SET role = excluded.role",
            [(team, *each) for each in members],
        )


def join(db: Connection, member: str, device: str) -> None:
    """This memory speaks as a member from now on: all is announced again, and looked at by the rules of today."""
    announce_again(db, member)
    with transaction(db):
        keep(db, "device", device)
        keep(db, "rules", "")  # what was said to another team may be older than they
        db.execute("DELETE FROM team_state WHERE key LIKE ?", (f"{LOOKED}%",))
        keep(db, f"prefix/{digest(member)}", prefix(member))


def withdraw_all(db: Connection, member: str, project_id: int = 0) -> int:
    """Take back every version of a member, of one project or of all; how many."""
    rows = db.execute("SELECT id FROM team_facts WHERE own = 1 AND author = ? AND ? IN (0, project_id)",
                      (member, project_id)).fetchall()  # fmt: skip
    for at in range(0, len(rows), CHUNK):
        with transaction(db):
            withdraw(db, [str(row[0]) for row in rows[at : at + CHUNK]], wire.now())
    return len(rows)


def leave(db: Connection) -> int:
    """Forget the team but for one's own versions and all that is gone; how many rows of others went."""
    with transaction(db):
        unshare_all(db)
        db.execute("DELETE FROM team_state WHERE key != 'device' AND key NOT LIKE 'prefix/%'")
        db.execute("DELETE FROM team_members WHERE muted = 0")
    return forget_others(db)


def forget_others(db: Connection) -> int:
    """Forget what others said, which is not the same as taking it away; how many rows."""
    return _forget(db, "1 = ?", 1)


def _forget(db: Connection, where: str, value: int) -> int:
    """Rows of others that go without a note, in many short transactions: the mark 2 keeps the trigger still."""
    rows = db.execute(f"SELECT rowid FROM team_facts WHERE own = 0 AND {where}", (value,)).fetchall()  # noqa: S608
    went = 0
    for at in range(0, len(rows), CHUNK):
        some = json.dumps([row[0] for row in rows[at : at + CHUNK]])
        with transaction(db):
            db.execute(f"UPDATE team_facts SET gone = 2 WHERE own = 0 AND rowid {_IN}", (some,))  # noqa: S608
            went += db.execute(f"DELETE FROM team_facts WHERE gone = 2 AND rowid {_IN}", (some,)).rowcount  # noqa: S608
        time.sleep(_PAUSE)
    return went


# what is made of the records


_TEXTS = (
    "u.heading", "u.intent", "u.summary", "u.learned", "u.completed", "u.next_steps", "u.notes", "u.files_edited",
    "n.outcome", "n.obstacle", "u.outcomes",
)  # fmt: skip
_TITLE = "coalesce(u.title, u.agent_title)"
EPISODES = f"""
SELECT u.id, u.session_id, p.at, u.last_at, {_TITLE}, {", ".join(_TEXTS)}
FROM work_units u JOIN sessions s ON s.id = u.session_id JOIN narrations n ON n.unit_id = u.id
JOIN prompts p ON p.id = u.first_prompt_id
WHERE s.project_id = ? AND u.id > ? AND u.state = 'closed' AND u.narrated_at IS NOT NULL ORDER BY u.id LIMIT ?
"""  # noqa: S608 - names of columns
LEARNINGS = """
SELECT id, kind, key, title, rule, files, coalesce(state_at, last_at) FROM learnings
WHERE project_id = ? AND id > ? AND state = 'accepted' ORDER BY id LIMIT ?
"""
_SEEN_EPISODES = f"""
SELECT count(*), total(u.id), total(u.first_prompt_id), total(u.last_at), total(u.narrated_at),
  total(u.state = 'closed'), count(n.unit_id), {", ".join(f"total(length({each}))" for each in (_TITLE, *_TEXTS))}
FROM work_units u JOIN sessions s ON s.id = u.session_id LEFT JOIN narrations n ON n.unit_id = u.id
WHERE s.project_id = ?
"""  # noqa: S608 - names of columns
_SEEN_DECISIONS = """
SELECT count(*), total(d.id), total(d.said_from), total(d.said_to), total(d.state = 'dismissed'),
  total(d.superseded_by), total(length(d.wording)), total(d.asked_id), total(d.restated_id)
FROM said_decisions d JOIN sessions s ON s.id = d.session_id WHERE s.project_id = ?
"""
_SEEN_LEARNINGS = """
SELECT count(*), total(id), total(state = 'accepted'), total(coalesce(state_at, last_at)), total(length(title)),
  total(length(rule)), total(length(files)) FROM learnings WHERE project_id = ?
"""
_SEEN_CHANGES = "SELECT ?, (SELECT max(id) FROM purges), max(id), count(undone_at) FROM corrections"
_SEEN = (_SEEN_EPISODES, _SEEN_DECISIONS, _SEEN_LEARNINGS, _SEEN_CHANGES)
"""Sums that tell whether something of a project changed, without reading its texts into this process."""


def pages(db: Connection, what: str, project_id: int) -> Iterator[list[tuple[Any, ...]]]:
    """EPISODES, or LEARNINGS, some at a time by their numbers."""
    last = 0
    while page := [tuple(row) for row in db.execute(what, (project_id, last, _PAGE)).fetchall()]:
        yield page
        last = int(page[-1][0])


def sums(db: Connection, project_id: int) -> list[str]:
    """Sums over a project's records: they change where one of these does."""
    return [str(tuple(db.execute(sql, (project_id,)).fetchone())) for sql in _SEEN]


def open_episodes(db: Connection, project_id: int) -> list[tuple[Any, ...]]:
    """Id, session and beginning of episodes that go on, or are to be told."""
    return db.execute(
        "SELECT u.id, u.session_id, p.at FROM work_units u JOIN sessions s ON s.id = u.session_id"
        " JOIN prompts p ON p.id = u.first_prompt_id LEFT JOIN narrations n ON n.unit_id = u.id"
        " WHERE s.project_id = ? AND (u.state != 'closed' OR u.narrated_at IS NULL OR n.unit_id IS NULL)",
        (project_id,),
    ).fetchall()


def roots(db: Connection, project_id: int) -> list[str]:
    """The roots of a project's folders."""
    rows = db.execute("SELECT root FROM project_folders WHERE project_id = ?", (project_id,)).fetchall()
    return [str(row[0]) for row in rows]


def other_projects(db: Connection, project_id: int) -> list[tuple[str, ...]]:
    """Name, key, remote and roots of every project but one."""
    return db.execute(
        "SELECT p.name, p.key, coalesce(p.remote, ''), p.root, coalesce(f.root, '') FROM projects p"
        " LEFT JOIN project_folders f ON f.project_id = p.id WHERE p.id != ?",
        (project_id,),
    ).fetchall()


def newest_purge(db: Connection) -> int:
    """The number of the newest purge."""
    return int(db.execute("SELECT coalesce(max(id), 0) FROM purges").fetchone()[0])


def own_versions(db: Connection, us: Membership, project_id: int) -> list[tuple[Any, ...]]:
    """Subject, id, whether made on this machine, digest and source of what this person said, in the server's order."""
    return db.execute(
        "SELECT subject, id, device = ?, digest, source FROM team_facts WHERE project_id = ? AND own = 1"
        " AND author = ? AND team = ? AND gone != 2 ORDER BY coalesce(seq, ?), rowid",
        (us.device, project_id, us.member, us.team, _LAST),
    ).fetchall()


def said(db: Connection, us: Membership, project_id: int, every: bool) -> list[tuple[Any, ...]]:
    """What this person said of a project, all of it or what the rules of this machine have not seen."""
    return db.execute(
        "SELECT id, kind, subject, at, title, body, files, data, gone, session_id, source, digest FROM team_facts"
        " WHERE project_id = ? AND own = 1 AND author = ? AND team = ? AND gone != 2"
        " AND (? OR substr(digest, 1, 2) = '?.') ORDER BY rowid",
        (project_id, us.member, us.team, every),
    ).fetchall()


def made_here(db: Connection, device: str, subjects: Sequence[str]) -> list[str]:
    """Versions of some subjects that this machine made of records."""
    rows = db.execute(
        f"SELECT id FROM team_facts WHERE subject {_IN} AND own = 1 AND device = ? AND source != ''",  # noqa: S608
        (json.dumps(subjects), device),
    )
    return [str(row[0]) for row in rows.fetchall()]


def originate(db: Connection, about: str, origin: tuple[str, str | None], same: str, mark: str) -> None:
    """Versions of another machine, or of a backup, are known by source and session from now on; one by its digest."""
    db.execute(
        "UPDATE team_facts SET source = ?, session_id = ?, digest = iif(id = ?, ?, digest)"
        " WHERE subject = ? AND own = 1",
        (*origin, same, mark, about),
    )


def mark(db: Connection, digests: Iterable[tuple[str, str]]) -> None:
    """(digest, id): the rules of this machine have seen it."""
    db.executemany("UPDATE team_facts SET digest = ? WHERE id = ?", digests)


def secure(db: Connection) -> None:
    """What is deleted is overwritten."""
    db.execute("PRAGMA secure_delete=ON")
