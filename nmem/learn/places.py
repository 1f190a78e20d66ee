"""Where a project's instructions are: its folder on this machine, its clients, the project of a folder (SQL)."""

from __future__ import annotations

from pathlib import Path
from sqlite3 import Connection

from capture.project import resolve
from nmem.errors import NmemError
from nmem.text import printable


def current(db: Connection, folder: str) -> tuple[int | None, str]:
    """The project that a folder belongs to, if anything is recorded of it, and its name."""
    found = resolve(folder)
    row = db.execute("SELECT id, name FROM projects WHERE key = ?", (found.key,)).fetchone()
    return (row[0], row[1]) if row else (None, found.name)


def named(db: Connection, project: str) -> tuple[int, str]:
    """A project by its name, key or root folder. Raises NmemError when there is none."""
    row = db.execute("SELECT id, name FROM projects WHERE ? IN (name, key, root) LIMIT 1", (project,)).fetchone()
    if row is None:
        raise NmemError(f"nothing is recorded of project {printable(project)}")
    return row[0], row[1]


def root(db: Connection, project_id: int, folder: str = "") -> str:
    """A project's folder: the checkout around `folder` when it is one of it, else the one worked in last.

    Raises NmemError when none of them is there any more.
    """
    key, name, first = db.execute("SELECT key, name, root FROM projects WHERE id = ?", (project_id,)).fetchone()
    here = resolve(folder) if folder else None
    if here is not None and here.key == key:
        return here.root
    found = db.execute(
        "SELECT f.root FROM project_folders f"
        " LEFT JOIN sessions s ON s.cwd = f.folder AND s.project_id = f.project_id"
        " WHERE f.project_id = ? GROUP BY f.root ORDER BY max(s.last_at) DESC",
        (project_id,),
    )
    roots = [Path(row[0]) for row in found] + [Path(first)]
    there = next((each for each in roots if each.is_absolute() and each.is_dir()), None)
    if there is None:
        gone = printable(str(roots[0]))
        raise NmemError(f"the folder of {printable(name)}, {gone}, is no longer there: run this in a checkout of it")
    return str(there)


def clients(db: Connection, project_id: int) -> tuple[str, ...]:
    """The clients used in a project, the one with most sessions first."""
    found = db.execute(
        "SELECT client FROM sessions WHERE project_id = ? GROUP BY client ORDER BY count(*) DESC, max(last_at) DESC",
        (project_id,),
    )
    return tuple(row[0] for row in found)
