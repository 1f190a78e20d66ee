"""Wider selections around some rows (SQL, reading only): their files, episodes, threads, sessions, projects.

A person who looks at one thing chooses how far a purge reaches from it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from sqlite3 import Connection

from nmem.errors import NmemError
from nmem.purge.selection import Selection, parse
from nmem.text import fit, printable

ITEM, FILE, EPISODE, THREAD, SESSION, PROJECT = "item", "file", "episode", "thread", "session", "project"
_IN = "IN (SELECT value FROM json_each(?))"
_NAME = 40


@dataclass(frozen=True, slots=True)
class Wider:
    """One reach: what it is, what of it, and the selection that takes it."""

    kind: str
    name: str
    """What is meant, printable: `episode/3`, `src/upload.py`, `4 sessions`."""
    chosen: Selection


@dataclass
class _Lies:
    """Where things lie; ids as they are stored."""

    files: set[str] = field(default_factory=set)
    prompts: set[int] = field(default_factory=set)
    episodes: set[int] = field(default_factory=set)
    sessions: set[str] = field(default_factory=set)
    threads: set[int] = field(default_factory=set)
    projects: dict[int, str] = field(default_factory=dict)


def around(db: Connection, ids: Sequence[str]) -> tuple[Wider, ...]:
    """The reaches of a purge of some ids (obs/12, episode/3 ...), the narrowest first. Raises NmemError for no id."""
    named = tuple(dict.fromkeys(map(parse, ids)))
    if not named:
        raise NmemError("nothing is chosen")
    kinds = {kind for kind, _ in named}
    lies = _lies(db, named)
    out = [Wider(ITEM, _several([f"{kind}/{rest}" for kind, rest in named], "items"), Selection(ids=named))]
    if lies.files and kinds == {"obs"} and len(lies.projects) == 1:  # of several, each has its own files
        within = tuple(f"project/{number}" for number in sorted(lies.projects))
        files = tuple(sorted(lies.files))
        out.append(Wider(FILE, _several(files, "files"), Selection(files=files, projects=within)))
    for kind, numbers in ((EPISODE, lies.episodes), (THREAD, lies.threads), (SESSION, lies.sessions)):
        if numbers and kinds != {kind}:
            wide = tuple((kind, str(one)) for one in sorted(numbers, key=str))
            out.append(Wider(kind, _several([f"{kind}/{rest}" for _, rest in wide], f"{kind}s"), Selection(ids=wide)))
    if lies.projects:
        out.append(
            Wider(
                PROJECT, _several(list(lies.projects.values()), "projects"),
                Selection(projects=tuple(f"project/{number}" for number in lies.projects)),
            )
        )  # fmt: skip
    return tuple(out)


def _several(names: Sequence[str], what: str) -> str:
    return fit(printable(names[0]), _NAME) if len(names) == 1 else f"{len(names)} {what}"


def _lies(db: Connection, named: Iterable[tuple[str, str]]) -> _Lies:
    of: dict[str, list[object]] = {}
    for kind, rest in named:
        of.setdefault(kind, []).append(rest if kind == "session" else min(int(rest), (1 << 63) - 1))
    out = _Lies(sessions=set(map(str, of.get("session", ()))))
    calls = db.execute(f"SELECT session_id, prompt_id, file_path FROM observations WHERE id {_IN}",  # noqa: S608
                       (json.dumps(of.get("obs", [])),)).fetchall()  # fmt: skip
    out.files = {row[2] for row in calls if row[2]}
    out.prompts = {row[1] for row in calls if row[1]} | {int(str(one)) for one in of.get("prompt", ())}
    told = json.dumps(of.get("prompt", []))
    out.sessions |= {row[0] for row in calls}
    out.sessions |= {row[0] for row in db.execute(f"SELECT session_id FROM prompts WHERE id {_IN}", (told,))}  # noqa: S608
    units = db.execute(f"SELECT id, session_id FROM work_units WHERE id {_IN} OR id IN"  # noqa: S608
                       f" (SELECT unit_id FROM unit_prompts WHERE prompt_id {_IN})",
                       (json.dumps(of.get("episode", [])), json.dumps(sorted(out.prompts)))).fetchall()  # fmt: skip
    out.episodes = {row[0] for row in units}
    out.sessions |= {row[1] for row in units}
    if "session" not in of:
        linked = db.execute(f"SELECT DISTINCT thread_id FROM session_threads WHERE session_id {_IN}",  # noqa: S608
                            (json.dumps(sorted(out.sessions)),))  # fmt: skip
        out.threads = {row[0] for row in linked}
    out.projects = _projects(db, of, out)
    return out


def _projects(db: Connection, of: dict[str, list[object]], lies: _Lies) -> dict[int, str]:
    rows = db.execute(
        "SELECT id, name FROM projects WHERE id IN"  # noqa: S608 -- our names
        f" (SELECT project_id FROM sessions WHERE id {_IN} UNION SELECT project_id FROM learnings WHERE id {_IN}"
        f" UNION SELECT project_id FROM threads WHERE id {_IN}) ORDER BY id",
        (json.dumps(sorted(lies.sessions)), json.dumps(of.get("learning", [])), json.dumps(of.get("thread", []))),
    )
    return {int(row[0]): str(row[1]) for row in rows}
