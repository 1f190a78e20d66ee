"""Resolves a project: by key, by root folder, or by a unique name."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from sqlite3 import Connection
from typing import TYPE_CHECKING, NamedTuple

from nmem.errors import NmemError
from nmem.store import store
from nmem.text import fit, printable

if TYPE_CHECKING:
    from capture.event import Project

_LONGEST = 80
_SEVERAL = 2
_LISTED, _SAID, _LIKE = 200, 4, 3
"""The most projects read, the most named in a message, and the first letters by which a project is put first."""


class Known(NamedTuple):
    """A project that is recorded."""

    id: int
    key: str
    name: str


class Recorded(NamedTuple):
    """A project in a list of them."""

    name: str
    root: str
    sessions: int
    last_at: int | None
    """Milliseconds; None where no session is left of it."""


def recorded(db: Connection, limit: int = 30) -> list[Recorded]:
    """Projects, the most recently active first."""
    return [Recorded(str(row[0]), str(row[1] or ""), int(row[2]), row[3]) for row in store.recorded(db, limit)]


def meant(db: Connection, named: str) -> Known | None:
    """The project of a key, a root or a name, in this order; None when there is none.

    Raises NmemError when several have the name and nothing else says which.
    """
    for column in ("key", "root", "name"):
        found = store.projects(db, column, named)
        if len(found) > 1 and column == "name":
            raise several(named, [str(row[3] or row[1]) for row in found])
        if found:
            return Known(int(found[0][0]), str(found[0][1]), str(found[0][2]))
    return None


def of_unit(db: Connection, unit_id: int) -> Known | None:
    """The project of an episode."""
    row = store.project_of_unit(db, unit_id)
    return Known(*row) if row else None


def several(named: str, folders: Sequence[str]) -> NmemError:
    """That a name says too little, and what says enough."""
    listed = ", ".join(fit(printable(one), _LONGEST) for one in folders)
    return NmemError(f"several projects are called {fit(printable(named), _LONGEST)}: name one by its folder, {listed}")


def unknown(db: Connection, named: str) -> NmemError:
    """That there is no such project, or that nothing was done in a folder; and what to name instead.

    `named`: what was typed; the key, the root or the path of the current folder is told as `called` says.
    """
    try:
        cwd = os.getcwd()  # noqa: PTH109 - a string is what is compared
        place = _place(cwd)
        named = called(db, place) if named in (place.key, place.root, cwd) else named
    except OSError:
        pass  # the current folder is gone: it is nobody's
    return NmemError(f"nothing is recorded of project {printable(named)}: {instead(db, named)}")


def called(db: Connection | None, place: Project) -> str:
    """What a person calls a folder's project without records: by the folder's name, where git knows it by a remote.

    Where another project has that name, it is the folder's whole path.
    """
    name = place.root.rpartition("/")[2] if place.remote else place.name
    return place.root if db is not None and store.projects(db, "name", name) else name


def worked_on(db: Connection) -> list[str]:
    """The names of the projects with sessions as they are shown, the most recently active first."""
    return list(dict.fromkeys(fit(printable(one.name), _LONGEST) for one in recorded(db, _LISTED) if one.sessions))


def instead(db: Connection, named: str = "") -> str:
    """What to do where the project that was named, or that a folder belongs to, has no records."""
    every = worked_on(db)
    if not every:
        return "no session is recorded yet; `nmem init` connects your clients, `nmem import` loads earlier sessions"
    asked = named.rpartition("/")[2].lower()
    every.sort(key=lambda one: one.lower()[:_LIKE] != asked[:_LIKE])
    names = ", ".join(f"'{one}'" if " " in one else one for one in every[:_SAID])
    more = "; `nmem status` lists more" if len(every) > _SAID else ""
    return f"name one that has records with --project ({names}{more}), or run this in its folder"


tell: Callable[[str], None] | None = None
"""Told that one of several projects of a name is taken; the command line has it print."""


def named(db: Connection, project: str) -> Known:
    """The project of a key, a root or a name; of several of one name that of the current folder, which `tell` is told.

    Raises NmemError for none, and for several elsewhere.
    """
    found = of_name(db, project)
    if found is not None and tell is not None:
        tell(f"several projects are called {fit(printable(project), _LONGEST)}: the current folder's is taken")
    found = found or meant(db, project)
    if found is None:
        raise unknown(db, project)
    return found


def of_name(db: Connection, name: str, folder: str = "") -> Known | None:
    """The project of a folder, else of the current one, where that is one of several of a name.

    None where the name is a project's key or root.
    """
    count, exact = store.of_name(db, name)
    if count < _SEVERAL or exact:
        return None
    found = here(db, folder or os.getcwd())  # noqa: PTH109 - a string is what is compared
    return found if found is not None and found.name == name else None


def key_of(db: Connection, project: str) -> str:
    """What stands for this project alone in a list's filter; "" for all. Raises NmemError as `named` does."""
    return named(db, project).key if project else ""


def here(db: Connection, cwd: str) -> Known | None:
    """The project that a folder belongs to."""
    place = _place(cwd)
    return next((found for one in (place.key, place.root) if one and (found := _exactly(db, one)) is not None), None)


def _place(cwd: str) -> Project:
    from capture.project import resolve  # on use: start-up stays short

    return resolve(cwd)


def _exactly(db: Connection, one: str) -> Known | None:
    row = next((row for column in ("key", "root") for row in store.projects(db, column, one)), None)
    return Known(int(row[0]), str(row[1]), str(row[2])) if row else None
