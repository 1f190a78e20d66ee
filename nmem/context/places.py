"""Gives a file one name across checkouts and commits; says what moved, and who edits it now.

Capture keeps a path relative to the project's root, or absolute where it lies outside. An absolute path may still be
the project's own file in another checkout, which settling has found (nmem.context.fold).
What git moved or deleted since is read from what settling kept (nmem.structure), believed as far as the disk agrees.
"""

from __future__ import annotations

import os

from nmem.context import selection_store
from nmem.context.items import MOVED, Item
from nmem.episodes.text import checkout_path
from nmem.names import told

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from sqlite3 import Connection

    from nmem.context.present import Present
    from nmem.context.selection_store import Edited

_NOISE = ("/.claude/", "/.codex/", "/.gemini/", "/appdata/", "/node_modules/", "/.git/", "/site-packages/")
_TEMPORARY = tuple(f"/{folder}/" for folder in ("tmp", "private", "var", "proc", "dev"))
_TOLD, _LOOKED, _MANY = 4, 40, 3
"""Sentences on files that moved or are gone, rows looked at for them, and files of a folder that one sentence tells."""


def forward(path: str) -> str:
    """A path with forward slashes; one in a worktree below the project is one of the project."""
    return checkout_path(path.replace("\\", "/"))


def absolute(path: str) -> bool:
    """Whether a path, with forward slashes, stands for itself."""
    return path[:1] in ("/", "~") or path[1:3] == ":/"


def noise(path: str) -> bool:
    """Whether a path is no file of any project: the clients' own, temporary, installed."""
    low = path.lower()
    return low.startswith(_TEMPORARY) or any(mark in low for mark in _NOISE) or not path or path == "."


class Places:
    """The checkouts of one project."""

    def __init__(self, name: str, known: Iterable[str] = (), roots: Iterable[str] = ()) -> None:
        """`name` is the project's; `known` its relative files; `roots` the checkouts found so far."""
        self.name = name.lower()
        self.known: set[str] = set(known)
        self.roots: list[str] = list(roots)

    def name_of(self, path: str) -> str | None:
        """The project-relative name of a path; None when it is no file of the project."""
        path = forward(path)
        if noise(path):
            return None
        return self.inside(path) if absolute(path) else path

    def inside(self, path: str) -> str | None:
        """The name of an absolute path; None outside of all checkouts."""
        best = max((root for root in self.roots if path.startswith(root + "/")), key=len, default=None)
        return path[len(best) + 1 :] if best is not None else None


def there(folder: str, paths: Iterable[str], most: int) -> list[str]:
    """The first `most` paths that are in a checkout; all count where the checkout is not on this machine."""
    known = bool(folder) and os.path.isdir(folder)  # noqa: PTH112 - pathlib costs a hook too much
    out: list[str] = []
    for looked, path in enumerate(paths):
        if len(out) >= most or looked >= 2 * most:
            break
        if not known or os.path.lexists(path if absolute(path) else f"{folder}/{path}"):
            out.append(path)
    return out


LATELY = 30 * 60_000
"""Milliseconds for which an edit is lately, and a session that does nothing is still at work."""


class Edit:
    """A file that a session which is not over edited lately; `home` is the checkout of the session that asks."""

    __slots__ = ("at", "client", "home", "name", "place", "project_id", "session_id", "state")

    def __init__(self, row: Edited) -> None:
        self.session_id, self.client, self.state, self.project_id, root, path, self.at, home = row
        path, root = path.replace("\\", "/"), root.rstrip("/")
        self.place = path if absolute(path) else f"{root}/{path}"
        """Where it lies on the disk: two checkouts hold two files of one name."""
        self.name = checkout_path(self.place.removeprefix(f"{root}/"))
        """What it is called in any checkout."""
        self.home = (home or root).rstrip("/")

    @property
    def where(self) -> str:
        """In which checkout it lies, for the session that asks; empty for a file outside all of them."""
        if absolute(self.name):
            return ""
        below = self.place.removeprefix(f"{self.home}/")
        here = below != self.place and checkout_path(below) == below
        return "in this checkout" if here else "in another checkout of this project"


def edits(db: Connection, now: int, project_id: int = 0, session_id: str = "") -> list[Edit]:
    """What sessions of a project (0: of all) edited lately, the newest first; for a session that asks."""
    return [Edit(row) for row in selection_store.edits(db, now - LATELY, now, project_id, session_id)]


def called(db: Connection, project_id: int, folder: str, paths: Sequence[str]) -> dict[str, str]:
    """What files of a checkout are called now, by the names that are recorded; only those that have another one."""
    if not folder or not paths:
        return {}
    found = selection_store.renamed(db, project_id, folder, paths)
    return {path: name for path, name in found if _moved(folder, path, name)}


def _moved(folder: str, path: str, name: str) -> bool:
    """Whether a file is where it went to, or gone, and not at its old place again."""
    return not os.path.lexists(f"{folder}/{path}") and (not name or os.path.lexists(f"{folder}/{name}"))


def restructured(db: Connection, present: Present, *, resumed: bool = False) -> list[Item]:
    """Sentences on files that sessions edited and that git moved, renamed or deleted since the last session.

    `resumed`: since this session last spoke. Those edited last come first. Raises sqlite3.Error.
    """
    if present.over:
        return []
    first, last, begun = selection_store.spoke(db, present.session_id)
    before = selection_store.last_before(db, present.project_id, present.session_id, begun or present.at)
    since, until = (last, present.at) if resumed else (before, first or present.at)
    rows = selection_store.moved(db, present.project_id, since, until, _LOOKED) if since else []
    if not rows:
        return []
    folder = selection_store.root(db, present.project_id, present.session_id)
    when = "since this session was left" if resumed else "since the last session"
    return _sentences([row[1:] for row in rows if row[0] == folder and _moved(folder, row[1], row[2])], when)


def _sentences(rows: Sequence[tuple[str, str, str]], when: str) -> list[Item]:
    """A sentence for each old name, new name and commit; one for several files of a folder that went the same way."""
    ways: dict[tuple[str, str, str], list[tuple[str, str]]] = {}
    for path, name, commit in rows:
        (above, _, base), (below, _, other) = path.rpartition("/"), name.rpartition("/")
        way = (above, below if name else "\0", commit) if base == other or not name else (path, name, commit)
        ways.setdefault(way, []).append((path, name))
    said: list[tuple[bool, str, str, tuple[str, ...]]] = []
    for (above, below, commit), found in ways.items():
        for some in [found] if len(found) >= _MANY else [[one] for one in found]:
            path, name, more = *some[0], len(some) - 1
            old, new = told(path), told(below if more else name) if name else ""
            if not old or (name and not new and (below or not more)):
                continue  # a name that reads as a sentence
            called = name and not more and path.rpartition("/")[0] == name.rpartition("/")[0]
            verb = f"moved to {new or 'the top folder'}" if name else "are gone" if more else "is gone"
            since = f"{when} ({commit})"
            if not commit:  # none took it away: another branch was checked out
                verb, since = f"{'are' if more else 'is'} not on this branch,", f"which changed {when}"
            who = f"{old} and {more} other files of {told(above) or 'the top folder'}" if more else old
            text = f"{who} {f'was renamed to {new}' if called else verb} {since}."
            said.append((not name, path, text, tuple(each for _, each in some if each)))
    said.sort(key=lambda one: one[0])  # what moved is looked for at its old place, what is gone mostly by nobody
    left = len(said) - _TOLD
    return [
        Item(
            f"moved/{path}", MOVED,
            f"{text} {left} more changes like these: `nmem hot --moved`." if left > 0 and at == _TOLD - 1 else text,
            files=files, score=0.9 - at / 100, reason="sessions edited it before",
        )
        for at, (_, path, text, files) in enumerate(said[:_TOLD])
    ]  # fmt: skip
