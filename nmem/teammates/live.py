"""Finds what others of the team said, for hooks (SQL): one look whether there is anything, then bounded walks.

On the hook's path. Of a fact that several members hold a version of, the one that the server took last holds, without
those of muted members. All walks run along the index of others' facts, from the newest by its author's clock, and end
after so many rows, whatever a team has said in all.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from sqlite3 import Connection

    Row = tuple[str, str, str, int, str, str]
    """Id, kind, author, time, title, beginning of the body."""

DECISION, EPISODE, LEARNING, RECALL = "decision", "episode", "learning", "recall"
KINDS = (EPISODE, DECISION, LEARNING, RECALL)
OTHERS = "f.own = 0 AND f.gone = 0"
"""The condition of the index `team_facts_of_others`, as the planner knows it again."""
HEARD = (
    "NOT EXISTS (SELECT 1 FROM team_members m WHERE m.team = f.team AND m.author = f.author AND m.muted)"
    " AND NOT EXISTS (SELECT 1 FROM team_facts n WHERE n.subject = f.subject AND n.gone = 0 AND n.id != f.id"
    " AND coalesce(n.seq, 1 << 62) > f.seq AND NOT EXISTS (SELECT 1 FROM team_members m WHERE m.team = n.team"
    " AND m.author = n.author AND m.muted))"
)
"""Not by a muted member, and no later version of anybody else holds."""
_DAY = 86_400_000
_WALK = 200
"""Facts of a kind that a hook looks at: the newest."""
_BODY = 600
"""Characters of a body that are read."""
_COLUMNS = f"f.id, f.kind, f.author, f.at, f.title, substr(f.body, 1, {_BODY})"
ANY = "SELECT 1 FROM team_facts f WHERE f.own = 0 AND f.gone = 0 AND f.project_id = ? LIMIT 1"
DECIDED = (
    f"SELECT {_COLUMNS} FROM (SELECT rowid AS number FROM team_facts f WHERE {OTHERS} AND f.project_id = ?"  # noqa: S608
    f" AND f.kind = 'decision' AND f.at > ? AND f.at <= ? ORDER BY f.at DESC LIMIT {_WALK}) w"
    f" CROSS JOIN team_facts f ON f.rowid = w.number WHERE instr(f.data, '\"superseded\"') = 0 AND {HEARD}"
    " ORDER BY f.at DESC, f.id LIMIT ?"
)


def any_of(db: Connection, project_id: int) -> bool:
    """Whether others said anything in a project: one look into an index."""
    return db.execute(ANY, (project_id,)).fetchone() is not None


def decided(db: Connection, project_id: int, since: int, now: int, most: int) -> list[Row]:
    """Others' decisions since a moment that no later one replaced, the newest first.

    None of a clock that is more than a day ahead of ours.
    """
    return db.execute(DECIDED, (project_id, since, now + _DAY, most)).fetchall()


def of_id(db: Connection, number: str) -> list[Row]:
    """The fact of an id, whether it holds or not; none where there is none."""
    return db.execute(f"SELECT {_COLUMNS} FROM team_facts f WHERE f.id = ?", (number,)).fetchall()  # noqa: S608


def named(words: int) -> str:
    """The statement that finds facts of a kind whose titles have some of so many beginnings of words."""
    has = " + ".join(["(instr(lower(f.title), ?) > 0)"] * words)
    return (
        f"SELECT {_COLUMNS} FROM (SELECT rowid AS number, {has} AS has FROM team_facts f"  # noqa: S608
        f" WHERE {OTHERS} AND f.project_id = ? AND f.kind = ? AND f.at <= ? ORDER BY f.at DESC LIMIT {_WALK}) t"
        f" CROSS JOIN team_facts f ON f.rowid = t.number WHERE t.has AND {HEARD}"
        " ORDER BY t.has DESC, f.at DESC, f.id LIMIT ?"
    )


def speaking(db: Connection, project_id: int, kind: str, heads: Sequence[str], now: int, most: int) -> list[Row]:
    """Of the newest facts of a kind those whose titles have most of some words in lower case, at least one."""
    if not heads:
        return []
    return db.execute(named(len(heads)), (*heads, project_id, kind, now + _DAY, most)).fetchall()
