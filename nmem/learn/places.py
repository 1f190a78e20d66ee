"""Finds the project of a folder or name and its checkout on this machine."""

from __future__ import annotations

from pathlib import Path
from sqlite3 import Connection

from capture.event import Project
from capture.project import resolve
from nmem.errors import NmemError
from nmem.learn import store
from nmem.store.project import named as project_named
from nmem.store.project import of_name
from nmem.text import printable


class FolderGone(NmemError):
    """No folder of a project is on this machine any more."""


def current(db: Connection, folder: str) -> tuple[int | None, str]:
    """The project that a folder belongs to, if anything is recorded of it, and its name."""
    found = resolve(folder)
    known = store.projects(db, "key", found.key)
    return (known[0][0], known[0][2]) if known else (None, found.name)


def named(db: Connection, project: str, folder: str = "") -> tuple[int, str]:
    """A project by its key, root folder or name; of several of one name that of `folder`, else the one still there.

    Raises NmemError when there is none, or when nothing says which of several.
    """
    if folder and (found := of_name(db, project, folder)):
        return found.id, found.name
    same = store.projects(db, "name", project)
    there = [row for row in same if Path(row[3]).is_dir()] if len(same) > 1 else []
    if len(there) == 1:
        return there[0][0], there[0][2]
    found = project_named(db, project)
    return found.id, found.name


def root(db: Connection, project_id: int, folder: str = "") -> str:
    """A project's folder: the checkout around `folder` when it is one of it, else the one worked in last.

    Where none of these is there any more, a checkout of the project's name around `folder` is taken for it: imported
    sessions know a project by a folder of another machine. Raises NmemError when there is none either.
    """
    [(_, key, name, first)] = store.projects(db, "id", project_id)
    here = resolve(folder) if folder else None
    if here is not None and here.key == key:
        return here.root
    roots = _roots(db, project_id, first)
    there = next((each for each in roots if each.is_absolute() and each.is_dir()), None)
    if there is not None:
        return str(there)
    if here is not None and _namesake(here, name):
        return here.root
    gone, called = printable(str(roots[0])), printable(name)
    raise FolderGone(
        f"the folder of {called}, {gone}, no longer exists: run this in a checkout of it, or name one:"
        f" a task's folder, a rule's file, as ~/src/{called}/CLAUDE.md"
    )


def root_of(db: Connection, project_id: int, file: str, folder: str = "") -> str:
    """The folder of a project that a file lies in, for a file that may be named by its whole path.

    Where the project's folders are all gone, that path may lead into any git checkout: whoever types it has moved the
    project there. Raises NmemError where it leads into none, and as `root` does.
    """
    [(_, key, _, first)] = store.projects(db, "id", project_id)
    if Path(file).is_absolute():
        around = resolve(str(Path(file).parent))
        gone = not any(each.is_absolute() and each.is_dir() for each in _roots(db, project_id, first))
        if around.key == key or (gone and _is_checkout(around)):
            return around.root
        if gone:
            where = printable(str(Path(file).parent))
            if not Path(file).parent.is_dir():
                raise NmemError(f"{where} does not exist: make it a checkout, or name a file in one")
            raise NmemError(f"{where} is in no git checkout: `git init` there, or name a file in a checkout")
    return root(db, project_id, folder)


def checkouts(db: Connection, project_id: int, folder: str = "") -> tuple[str, ...]:
    """Folders of this machine that look like checkouts of a project: where the person is, and beside other projects."""
    [(_, key, name, _)] = store.projects(db, "id", project_id)
    known = [Path(each) for each in store.every_root(db)]
    beside = dict.fromkeys(each.parent / name for each in known if each.is_absolute())
    found = [resolve(each) for each in (folder, *map(str, beside)) if each and Path(each).is_dir()]
    return tuple(dict.fromkeys(one.root for one in found if one.key == key or _namesake(one, name)))


def _roots(db: Connection, project_id: int, first: str) -> list[Path]:
    """The folders that a project was worked in, the last one first."""
    return [Path(each) for each in (*store.roots(db, project_id), first)]


def _is_checkout(one: Project) -> bool:
    return bool(one.remote or one.branch)


def _namesake(one: Project, name: str) -> bool:
    """Whether it is a git checkout that is called like the project, by its remote or by its folder."""
    return _is_checkout(one) and name in (one.name, Path(one.root).name)
