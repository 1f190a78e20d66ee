"""What the records know of edits (SQL): those of a file and of an episode, the commits seen, and why one was made.

Every function takes a connection whose rows answer to names, as those of `nmem.database.reader` do.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from sqlite3 import Connection, Row

from capture.shell import parse
from nmem import tables
from nmem.blame.discarded import discarded
from nmem.blame.match import Edit, Made
from nmem.context.places import absolute, forward
from nmem.read.store import first_row
from nmem.text import json_list, json_object

_CHANGES = ("file_edit", "file_write")
_MOST = 20_000
"""Edits of one file that are looked at, the newest."""
_FAILURES, _EXCERPT = 4, 240
_CHECKS = ("test", "build", "lint", "command")
_COMMANDS = (*_CHECKS, "install", "github", "git_other", "git_commit", "git_push")
"""What a shell command that discards work may be recorded as."""
_NAMES = " OR ".join(f"instr(o.content, '{name}')" for name in ("git", "rm ", "unlink "))
"""Whether a command names a program that discards, in SQL: of a million, few are read."""


@dataclass(frozen=True, slots=True)
class Ran:
    """A call that failed, or a run of the tests."""

    id: int
    at: int
    what: str
    outcome: str
    said: str
    """The last line of its answer."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The prompt that an edit followed."""

    id: int
    text: str
    client: str


_ROWS = """SELECT o.id, o.at, o.session_id, o.prompt_id, {unit} AS unit_id, o.obs_type, o.tool_name, o.file_path,
o.content, o.outcome, o.metadata, o.lines_removed, coalesce(f.root, p.root) AS root FROM observations o
JOIN sessions s ON s.id = o.session_id JOIN projects p ON p.id = s.project_id
LEFT JOIN project_folders f ON f.folder = s.cwd
WHERE s.project_id = ? AND {which} ORDER BY o.at DESC, o.id DESC LIMIT ?"""


def edits(db: Connection, project: int, names: Iterable[str], roots: Sequence[str]) -> list[Edit]:
    """The recorded edits of a file that were not refused and did not fail, the oldest first, with the commands that
    discarded what was not committed. `names` are relative to a checkout of the project, `roots` where these lie."""
    names = list(names)
    known = [forward(root).rstrip("/") for root in roots]
    paths = [*names, *(f"{root}/{name}" for root in known for name in names)]
    which = "o.file_path IN (SELECT value FROM json_each(?))"
    found = db.execute(_ROWS.format(unit=_unit(db), which=which), (project, json.dumps(paths), _MOST)).fetchall()
    out: list[Edit] = []
    touched: set[str] = set()
    for row in reversed(found):
        root, name = _placed(forward(row["file_path"]), forward(row["root"] or ""), known)
        edit = _edit(row, root, name, first=name not in touched)
        touched.add(name)
        out += [edit] if edit else []
    if not out:
        return []  # nothing to take back
    return sorted([*out, *_discarded(db, project, names, known, out[0].at)], key=lambda one: (one.at, one.id))


def _discarded(db: Connection, project: int, names: Sequence[str], roots: Sequence[str], since: int) -> Iterator[Edit]:
    """Commands since a time that took uncommitted work on a file back, as edits after which nothing of it is left."""
    which = f"o.at >= ? AND o.obs_type IN {_COMMANDS} AND ({_NAMES})"
    for row in db.execute(_ROWS.format(unit="NULL", which=which), (project, since, _MOST)):
        found = list(discarded(row["content"]))
        if not found or (row["outcome"] == "failed" and len(parse(row["content"]).steps) == 1):
            continue  # of several steps another one may have failed
        here = (int(row["id"]), int(row["at"]), str(row["session_id"]), row["prompt_id"] or 0, 0)
        for one in found:
            own = _placed(f"{one.folder}/", "", roots)[0] or forward(row["root"] or "")
            for root, name in itertools.product(dict.fromkeys((own, *roots)), names):
                if one.holds(root, name) and (root == own or any(map(absolute, one.paths))):
                    yield Edit(*here, root, name, (), (), created=True)


def _unit(db: Connection) -> str:
    """The episode of an observation, in SQL; NULL before anything was settled."""
    return "(SELECT x.unit_id FROM unit_prompts x WHERE x.prompt_id = o.prompt_id)" if tables.version(db) else "NULL"


def _placed(path: str, root: str, roots: Sequence[str]) -> tuple[str, str]:
    """Checkout and name of a stored path: relative to the session's checkout, or absolute in another one."""
    if not absolute(path):
        return root, path
    best = max((one for one in roots if path.startswith(one + "/")), key=len, default="")
    return best, path.removeprefix(best + "/")


def _edit(row: Row, root: str, name: str, *, first: bool) -> Edit | None:
    """One edit; None of what changed nothing, or nothing that is known. `first`: nothing touched the file before."""
    told = json_object(row["metadata"])
    if row["obs_type"] not in _CHANGES or row["outcome"] == "failed" or told.get("refused"):
        return None
    added, removed = lines_of(row["content"])
    if not added and not removed and "<<" in row["content"]:
        added = _heredoc(row)
    counted = bool(removed) and row["lines_removed"] is not None
    replaces = row["obs_type"] == "file_write" and not told.get("created") and not counted
    unknown = any(text.startswith("(") and text.endswith(" more lines)") for text in removed)
    if (replaces and not first) or unknown:
        added = ()  # what it found there, or took out, is not all known: so is not what it added
    here = (int(row["id"]), int(row["at"]), str(row["session_id"]), row["prompt_id"] or 0, row["unit_id"] or 0)
    cut = unknown or row["content"].endswith("\n…")
    return Edit(*here, root, name, added, removed, replaces, bool(told.get("created")), cut)


def lines_of(content: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What a stored edit added and removed, line by line, as far as it was kept; blank lines never are."""
    rows = content.split("\n")
    if not all(row.startswith(("+ ", "- ")) or row == "…" for row in rows):
        return (), ()
    return (tuple(row[2:] for row in rows if row[0] == "+"), tuple(row[2:] for row in rows if row[0] == "-"))


def _heredoc(row: Row) -> tuple[str, ...]:
    """The lines that a shell command wrote into its file with `cat > FILE <<EOF`."""
    main = parse(row["content"]).main if row["obs_type"] == "file_write" else None
    body = main.simple.body if main is not None and main.argv[:1] == ["cat"] else ""
    return tuple(line.rstrip() for line in body.split("\n") if line.strip())


def commits(db: Connection, project: int) -> list[Made]:
    """The commits that were seen made in sessions of a project, the oldest first."""
    rows = db.execute(
        f"""SELECT o.at, o.session_id, {_unit(db)} AS unit_id, o.outcome, o.metadata, coalesce(f.root, p.root) AS root
        FROM sessions s JOIN projects p ON p.id = s.project_id LEFT JOIN project_folders f ON f.folder = s.cwd
        JOIN observations o ON o.session_id = s.id WHERE s.project_id = ? AND o.obs_type = 'git_commit'
        AND o.outcome <> 'failed' ORDER BY o.at, o.id""",  # noqa: S608 - our words
        (project,),
    ).fetchall()
    out = [one for row in rows if (one := _made(row, json_object(row["metadata"]).get("commit")))]
    if tables.version(db):
        kept = {(one.session_id, one.at) for one in out}
        sql = """SELECT u.id AS unit_id, u.session_id, u.commits, u.last_at AS at, coalesce(f.root, p.root) AS root
            FROM work_units u JOIN sessions s ON s.id = u.session_id JOIN projects p ON p.id = s.project_id
            LEFT JOIN project_folders f ON f.folder = s.cwd WHERE s.project_id = ? AND u.commits <> '[]'"""
        units = db.execute(sql, (project,)).fetchall()
        tallied = (_made(row, each) for row in units for each in json_list(row["commits"]))
        out += [one for one in tallied if one and (one.session_id, one.at) not in kept]
    return sorted(out, key=lambda one: one.at)


def unit(db: Connection, unit_id: int) -> Row | None:
    """The session of an episode, its project, and the commits that were tallied."""
    sql = """SELECT u.session_id, u.commits, s.project_id
        FROM work_units u JOIN sessions s ON s.id = u.session_id WHERE u.id = ?"""
    return first_row(db, sql, (unit_id,))


def edits_of(db: Connection, unit_id: int) -> list[Row]:
    """The edits of an episode, the oldest first."""
    sql = """SELECT o.* FROM unit_prompts x JOIN observations o ON o.prompt_id = x.prompt_id WHERE x.unit_id = ?
        AND o.obs_type IN ('file_edit', 'file_write') AND o.file_path IS NOT NULL ORDER BY o.at, o.id"""
    return db.execute(sql, (unit_id,)).fetchall()


def _made(row: Row, told: object) -> Made | None:
    if not isinstance(told, dict):
        return None
    name, message = str(told.get("hash") or ""), str(told.get("message") or told.get("subject") or "")
    at = told.get("at")
    unit = row["unit_id"] or 0
    made = Made(name, at if isinstance(at, int) else row["at"], message.partition("\n")[0], row["session_id"], unit,
                forward(row["root"] or ""))  # fmt: skip
    return made if made.hash or made.subject else None


def asked(db: Connection, edit: Edit) -> Asked:
    """The prompt that an edit followed, and the client that was asked."""
    sql = """SELECT s.client, coalesce((SELECT content FROM prompts WHERE id = ?), '') AS said
        FROM sessions s WHERE s.id = ?"""
    row = db.execute(sql, (edit.prompt_id, edit.session_id)).fetchone()
    return Asked(edit.prompt_id, row["said"], row["client"])


def _where(edit: Edit) -> tuple[str, int]:
    """What an edit's episode holds, in SQL; its prompt's turn where none is known yet."""
    if edit.unit_id:
        return "o.prompt_id IN (SELECT prompt_id FROM unit_prompts WHERE unit_id = ?)", edit.unit_id
    return "o.prompt_id = ?", edit.prompt_id


def failed_before(db: Connection, edit: Edit) -> list[Ran]:
    """What failed on the file in the episode before the edit, or named it as it failed; the newest first."""
    where, number = _where(edit)
    base = PurePath(edit.name).name
    found = db.execute(
        f"""SELECT o.* FROM observations o WHERE {where} AND (o.at, o.id) < (?, ?) AND o.outcome = 'failed'
        AND (o.file_path = ? OR o.file_path = ? OR (o.obs_type IN {_CHECKS} AND (instr(o.content, ?)
        OR instr(coalesce(o.metadata, ''), ?)))) ORDER BY o.at DESC, o.id DESC LIMIT ?""",  # noqa: S608 - our words
        (number, edit.at, edit.id, edit.name, f"{edit.root}/{edit.name}", base, base, _FAILURES),
    ).fetchall()
    return [_ran(row) for row in found if not json_object(row["metadata"]).get("refused")]


def tested_after(db: Connection, edit: Edit) -> Ran | None:
    """The last run of the tests in the episode after the edit."""
    where, number = _where(edit)
    row = db.execute(
        f"""SELECT o.* FROM observations o WHERE {where} AND (o.at, o.id) > (?, ?) AND o.obs_type = 'test'
        AND o.outcome <> 'unknown' ORDER BY o.at DESC, o.id DESC LIMIT 1""",  # noqa: S608 - our words
        (number, edit.at, edit.id),
    ).fetchone()
    return _ran(row) if row else None


def _ran(row: Row) -> Ran:
    said = str(json_object(row["metadata"]).get("response") or "").strip().rpartition("\n")[2]
    what = row["content"].partition("\n")[0]
    return Ran(row["id"], row["at"], what[:_EXCERPT], row["outcome"], said[:_EXCERPT])
