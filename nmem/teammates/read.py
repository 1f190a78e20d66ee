"""Lists what others of the team said (SQL), by kind, text or file; and what this person said on another machine.

Nobody's order is believed: times are by their authors' clocks. A text is redacted by the rules in force before it
leaves here, for it was redacted by its author's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from sqlite3 import Connection

from capture import redaction
from nmem.teammates.live import HEARD, KINDS, OTHERS
from nmem.text import json_object, texts

WALK = 2_000
"""Facts of a kind in a project among which a text or a file is looked for: the newest."""
_TITLE, _BODY, _FILES = 300, 4_000, 40
_ELSEWHERE = "f.own = 1 AND f.gone = 0 AND f.source = ''"
"""Of this person, and not made here."""
_NEVER_MUTED = "1"
_SELECT = (
    "SELECT f.id, f.kind, f.author, iif(f.own, f.device, ''), f.at, f.title, f.body, f.files, f.data, f.project_id,"
    " p.name FROM (SELECT rowid AS number FROM team_facts f WHERE {which} AND f.project_id = ? AND f.kind = ?"
    " AND f.at >= ? AND f.at < ? ORDER BY f.at DESC LIMIT ?) w CROSS JOIN team_facts f ON f.rowid = w.number"
    " CROSS JOIN projects p ON p.id = f.project_id WHERE {heads} AND {heard}"
)
"""As the walk finds them, so that it ends with the last that is wanted."""
_HAS = "instr(lower(f.title || ' ' || f.body || ' ' || f.files || ' ' || f.data), ?)"
_EVER = 1 << 62


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that a member said. Texts are redacted and cut; they are to be escaped where they are shown."""

    id: str
    """team/ and a random word."""
    kind: str
    """episode decision learning recall"""
    author: str
    device: str
    """The word of the machine where this very person said it; empty of anybody else."""
    at: int
    """Milliseconds, by the author's clock."""
    title: str
    body: str
    files: tuple[str, ...]
    project_id: int
    project: str
    data: dict[str, object] = field(default_factory=dict)

    @property
    def who(self) -> str:
        """The author; of one's own other machine, which."""
        return f"you on {self.device}" if self.device else self.author

    def form(self) -> dict[str, object]:
        """As plain values, for JSON."""
        return {
            "id": self.id, "kind": self.kind, "author": self.author, "device": self.device, "at": self.at,
            "project": self.project, "title": self.title, "body": self.body, "files": list(self.files),
            "data": self.data,
        }  # fmt: skip


Fits = Callable[[str, str, str, str], bool]
"""Whether a fact is wanted, by its title, its body, and as JSON its files and its data."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is looked for; empty: anything."""

    kinds: Sequence[str] = KINDS
    projects: Sequence[int] | None = None
    """None: all that the team shares."""
    since: int = 0
    until: int = _EVER
    heads: Sequence[str] = ()
    """Beginnings of words in lower case, of which a text has one at least: what has none is not looked at further."""
    fits: Fits | None = None


def said(db: Connection, wanted: Wanted, most: int) -> list[Fact]:
    """Others' facts, and one's own of other machines, the newest first. Raises sqlite3.Error."""
    named, db.row_factory = db.row_factory, None
    try:
        shared = _projects(db)
        places = [one for one in shared if wanted.projects is None or one in wanted.projects]
        found = [fact for place in places for kind in wanted.kinds for fact in _of(db, place, kind, wanted, most)]
    finally:
        db.row_factory = named
    return [_redacted(one) for one in sorted(found, key=lambda one: (-one.at, one.id))[:most]]


def listed(db: Connection, kind: str, project: str, since: int, limit: int) -> list[Fact]:
    """The facts of one kind for a list; `project`: its key, "" for all. Raises sqlite3.Error."""
    rows = db.execute("SELECT id FROM projects WHERE key = ?", (project,)).fetchall() if project else []
    return said(db, Wanted((kind,), [int(row[0]) for row in rows] if project else None, since), limit)


def of_file(path: str) -> Fits:
    """Whether a fact is about a file, by the end of its name."""
    end = path.lower()
    return lambda _title, _body, files, _data: (
        end in files.lower() and any(one.lower().endswith(end) for one in texts(files))
    )


def one(db: Connection, item: str) -> Fact | None:
    """The fact of an id, whoever said it; None where there is none."""
    select = _SELECT.partition(" FROM (")[0]
    row = db.execute(
        f"{select} FROM team_facts f JOIN projects p ON p.id = f.project_id WHERE f.id = ?",
        (item.removeprefix("team/"),),
    ).fetchone()
    return _redacted(_fact(tuple(row))) if row else None


def _projects(db: Connection) -> list[int]:
    """The projects that hold anything of others, by steps through the index."""
    rows = db.execute(
        "WITH RECURSIVE each(id) AS (SELECT min(project_id) FROM team_facts f WHERE f.own = 0 AND f.gone = 0"
        " UNION ALL SELECT (SELECT min(project_id) FROM team_facts f WHERE f.own = 0 AND f.gone = 0"
        " AND f.project_id > each.id) FROM each WHERE each.id IS NOT NULL)"
        " SELECT id FROM each WHERE id IS NOT NULL UNION SELECT project_id FROM team_projects"
    )
    return [int(row[0]) for row in rows.fetchall()]


def _of(db: Connection, project: int, kind: str, wanted: Wanted, most: int) -> list[Fact]:
    """The newest of one kind in one project that fit."""
    given = (project, kind, wanted.since, wanted.until, WALK, *wanted.heads)
    heads = f"({' OR '.join([_HAS] * len(wanted.heads))})" if wanted.heads else "1"
    out: list[Fact] = []
    for which, heard in ((OTHERS, HEARD), (_ELSEWHERE, _NEVER_MUTED)):
        taken = 0
        for row in db.execute(_SELECT.format(which=which, heads=heads, heard=heard), given):
            if wanted.fits is None or wanted.fits(str(row[5]), str(row[6]), str(row[7]), str(row[8])):
                taken += 1
                out.append(_fact(row))
            if taken >= most:
                break
    return out


def _fact(row: Sequence[object]) -> Fact:
    number, kind, who, device, at, title, body, files, data, project_id, project = row
    return Fact(
        f"team/{number}", str(kind), str(who), str(device), int(str(at)), " ".join(str(title).split())[:_TITLE],
        str(body)[:_BODY], texts(files)[:_FILES], int(str(project_id)), str(project), json_object(data),
    )  # fmt: skip


def _redacted(one: Fact) -> Fact:
    """The same by the rules in force."""
    title, body = redaction.outward(one.title), redaction.outward(one.body)
    files = tuple(redaction.outward(path, place=True) for path in one.files)
    data = redaction.redact_tree(one.data)
    return Fact(one.id, one.kind, one.author, one.device, one.at, title, body, files, one.project_id, one.project,
                data if isinstance(data, dict) else {})  # fmt: skip
