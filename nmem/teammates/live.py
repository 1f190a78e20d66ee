"""What others of the team said, and who they are: one look whether there is anything, then bounded walks (SQL).

On the hook's path. What a member said of their own holds, whatever others say of it: a later version by somebody else
stands beside it, as a correction. A walk goes along the index of others' facts, of each member who is heard from the
newest by that member's clock, and ends after so many rows: what one member says, and how much, takes no room of
another's.
"""

from __future__ import annotations

from json import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from sqlite3 import Connection
    from typing import Any

    Row = tuple[str, str, str, int, str, str, str]
    """Id, kind, author, time, title, beginning of the body, subject."""

DECISION, EPISODE, LEARNING, RECALL = "decision", "episode", "learning", "recall"
KINDS = (EPISODE, DECISION, LEARNING, RECALL)
HEARD = (
    "NOT EXISTS (SELECT 1 FROM team_facts n WHERE n.subject = f.subject AND n.author != f.author AND n.gone = 0"
    " AND n.team = f.team AND n.kind = f.kind AND n.project_id = f.project_id AND coalesce(n.seq, 1 << 62) > f.seq"
    " AND (substr(n.subject, 1, 12), n.author) IN (SELECT key, value FROM json_each(:owners)) AND NOT EXISTS"
    " (SELECT 1 FROM team_members m WHERE m.team = n.team AND m.author = n.author AND m.muted))"
)
"""Whose subject it is has not said it anew since; `:owners` is `owners` as JSON."""
OF_AUTHOR = (
    "g.own = 0 AND g.gone = 0 AND g.project_id = :project AND g.kind = :kind AND g.at >= :since AND g.at < :until"
    " AND g.author = m.author"
)
"""The condition of the index `team_facts_of_others`, as the planner knows it again."""
_DAY = 86_400_000
_EVER = -1 << 62
_WALK = 200
"""Facts of a kind that a hook looks at: of each member the newest."""
_BODY = 600
"""Characters of a body that are read."""
_COLUMNS = f"f.id, f.kind, f.author, f.at, f.title, substr(f.body, 1, {_BODY}), f.subject"
ANY = "SELECT 1 FROM team_facts f WHERE f.own = 0 AND f.gone = 0 AND f.project_id = ? LIMIT 1"
ROOM = (
    "SELECT (:walk - total(iif(c > :part, 0, c))) / max(1, total(c > :part)) FROM (SELECT (SELECT count(*)"  # noqa: S608
    f" FROM (SELECT 1 FROM team_facts g WHERE {OF_AUTHOR} LIMIT :part + 1)) AS c FROM team_members m WHERE NOT m.muted)"
)
"""What each may take of a walk: what members leave who have less than their part goes to the others."""
_WALKED = (
    f"FROM team_members m CROSS JOIN team_facts f ON f.rowid IN (SELECT g.rowid FROM team_facts g WHERE {OF_AUTHOR}"  # noqa: S608
    " ORDER BY g.at DESC LIMIT :room) AND +f.team = +m.team WHERE NOT m.muted"
)
_NTH = "row_number() OVER (PARTITION BY f.author ORDER BY"
"""Of several members each one's first comes before anybody's second."""
_HELD = f") w CROSS JOIN team_facts f ON f.rowid = w.number WHERE {HEARD} LIMIT :most"
"""What others said of it is looked at in turn, and only until enough is found; the walk inside keeps its order."""
DECIDED = (
    f"SELECT {_COLUMNS} FROM (SELECT number FROM (SELECT f.rowid AS number, f.id, f.author, f.at {_WALKED}"  # noqa: S608
    f" AND instr(f.data, '\"superseded\"') = 0) f ORDER BY {_NTH} f.at DESC, f.id), min(f.at, :now) DESC, f.id"
    f" LIMIT 1 << 30{_HELD}"
)


def any_of(db: Connection, project_id: int) -> bool:
    """Whether others said anything in a project: one look into an index."""
    return db.execute(ANY, (project_id,)).fetchone() is not None


def prefix(member: str) -> str:
    """How the subjects of a member begin."""
    from hashlib import sha256  # on use: few share a project with a team

    return sha256(member.encode()).hexdigest()[:12]


def owners(db: Connection) -> dict[str, str]:
    """Whose a subject is that begins so."""
    return {prefix(row[0]): row[0] for row in db.execute("SELECT DISTINCT author FROM team_members").fetchall()}


def corrected(owners: Mapping[str, str], subject: str, author: str) -> str:
    """The member whose words a fact corrects; "" where it is of the author's own."""
    owner = owners.get(subject.partition(".")[0], "")
    return "" if owner == author else owner


def walk(db: Connection, project: int, kind: str, since: int, until: int, most: int) -> dict[str, object]:
    """The parameters of a walk that looks at so many facts at most; `room`: at how many of each member."""
    heard = db.execute("SELECT count(*) FROM team_members WHERE NOT muted").fetchone()[0]
    part = most // max(1, heard)
    given = {"project": project, "kind": kind, "since": since, "until": until}
    room = int(db.execute(ROOM, {**given, "walk": most, "part": part}).fetchone()[0])
    return {**given, "room": max(1, part, room), "owners": dumps(owners(db))}


def decided(db: Connection, project_id: int, since: int, now: int, most: int) -> list[Row]:
    """Others' decisions after a moment that no later one replaced: the newest of each member, then the rest.

    None of a clock that is more than a day ahead of ours.
    """
    given = walk(db, project_id, DECISION, since + 1, now + _DAY, _WALK)
    return db.execute(DECIDED, {**given, "now": now, "most": most}).fetchall()


def of_id(db: Connection, number: str) -> list[Row]:
    """The fact of an id, whether it holds or not; none where there is none."""
    return db.execute(f"SELECT {_COLUMNS} FROM team_facts f WHERE f.id = ?", (number,)).fetchall()  # noqa: S608


def named(words: int) -> str:
    """The statement that finds facts of a kind whose titles have some of so many beginnings of words."""
    has = " + ".join([f"(instr(lower(f.title), :head{each}) > 0)" for each in range(words)])
    return (
        f"SELECT {_COLUMNS} FROM (SELECT number FROM (SELECT f.rowid AS number, f.id, f.author, f.at, {has} AS has"  # noqa: S608
        f" {_WALKED} LIMIT 1 << 30) f WHERE f.has ORDER BY {_NTH} f.has DESC, f.at DESC, f.id) > 2, f.has DESC,"
        f" min(f.at, :now) DESC, f.id LIMIT 1 << 30{_HELD}"
    )


def speaking(db: Connection, project_id: int, kind: str, heads: Sequence[str], now: int, most: int) -> list[Row]:
    """Of the newest facts of a kind those whose titles have most of some words in lower case, at least one.

    Two of a member come before a third of anybody.
    """
    if not heads:
        return []
    given = walk(db, project_id, kind, _EVER, now + _DAY, _WALK)
    words = {f"head{number}": head for number, head in enumerate(heads)}
    return db.execute(named(len(heads)), {**given, **words, "now": now, "most": most}).fetchall()


# for lists: whole facts

WALK = 2_000
"""Facts of a kind in a project among which a text or a file is looked for: of each member the newest."""
_WHOLE = (
    "SELECT f.id, f.kind, f.author, iif(f.own, f.device, ''), f.at, f.title, f.body, f.files, f.data, f.project_id,"
    " p.name, f.subject"
)
_FROM = " CROSS JOIN team_facts f ON f.rowid = w.number CROSS JOIN projects p ON p.id = f.project_id WHERE "
_OF_MEMBER = (
    f"{_WHOLE} FROM (SELECT m.team, g.rowid AS number FROM team_members m CROSS JOIN team_facts g"  # noqa: S608
    f" WHERE m.team = :team AND m.author = :author AND {OF_AUTHOR} ORDER BY g.at DESC LIMIT :room) w{_FROM}"
    f" f.team = w.team AND {HEARD} AND "
)
_ELSEWHERE = (
    f"{_WHOLE} FROM (SELECT rowid AS number FROM team_facts g WHERE g.own = 1 AND g.gone = 0 AND g.source = ''"  # noqa: S608
    " AND g.project_id = :project AND g.kind = :kind AND g.at >= :since AND g.at < :until ORDER BY g.at DESC"
    f" LIMIT :room) w{_FROM}"
)
"""Of one other member, and of this person on other machines: as the walk finds them, so that it ends with the last
that is wanted."""
_HAS = "instr(lower(f.title || ' ' || f.body || ' ' || f.files || ' ' || f.data), :head{})"


def shared(db: Connection) -> list[int]:
    """The projects that hold anything of others, by steps through the index."""
    rows = db.execute(
        "WITH RECURSIVE each(id) AS (SELECT min(project_id) FROM team_facts f WHERE f.own = 0 AND f.gone = 0"
        " UNION ALL SELECT (SELECT min(project_id) FROM team_facts f WHERE f.own = 0 AND f.gone = 0"
        " AND f.project_id > each.id) FROM each WHERE each.id IS NOT NULL)"
        " SELECT id FROM each WHERE id IS NOT NULL UNION SELECT project_id FROM team_projects"
    )
    return [int(row[0]) for row in rows.fetchall()]


def fact(db: Connection, number: str) -> list[tuple[Any, ...]]:
    """The whole fact of an id; none where there is none."""
    sql = f"{_WHOLE} FROM team_facts f JOIN projects p ON p.id = f.project_id WHERE f.id = ?"
    return db.execute(sql, (number,)).fetchall()


def facts(
    db: Connection, given: dict[str, object], heads: int, member: tuple[str, str] | None
) -> Iterable[tuple[Any, ...]]:
    """Whole facts of another member (None: of this person on other machines) with one of so many beginnings of words.

    As a walk finds them, so that it ends with the last that is wanted.
    """
    has = f"({' OR '.join(map(_HAS.format, range(heads)))})" if heads else "1"
    if member is None:
        return db.execute(_ELSEWHERE + has, {**given, "room": WALK})
    return db.execute(_OF_MEMBER + has, {**given, "team": member[0], "author": member[1]})


# members


def people(db: Connection) -> list[tuple[str, str, str, int, int]]:
    """Team, name and login of everybody, the time of the newest fact, and whether this person mutes them."""
    return db.execute("SELECT team, author, role, coalesce(last_at, 0), muted FROM team_members").fetchall()


def heard(db: Connection) -> list[tuple[str, str]]:
    """Team and name of everybody who is not muted."""
    return [(one[0], one[1]) for one in people(db) if not one[4]]


def counted(db: Connection) -> list[tuple[str, str, str, int, int]]:
    """Team, author, kind, whether they are one's own, and how many: of the facts that hold."""
    return db.execute(
        "SELECT team, author, kind, max(own), count(*) FROM team_facts WHERE gone = 0 GROUP BY team, author, kind"
    ).fetchall()


def mute(db: Connection, team: str, author: str, muted: bool) -> None:
    """Keep whether a member is heard. Inside a transaction."""
    db.execute(
        "INSERT INTO team_members (team, author, muted) VALUES (?, ?, ?)"
        " ON CONFLICT (team, author) DO UPDATE SET muted = excluded.muted",
        (team, author, int(muted)),
    )


def teams(db: Connection) -> list[tuple[str, int]]:
    """The teams that projects are shared with, and how many: the most first."""
    return db.execute("SELECT team, count(*) FROM team_projects GROUP BY team ORDER BY 2 DESC").fetchall()


def state(db: Connection, key: str) -> str:
    """A word that was kept; "" where none is."""
    row = db.execute("SELECT value FROM team_state WHERE key = ?", (key,)).fetchone()
    return str(row[0]) if row else ""
