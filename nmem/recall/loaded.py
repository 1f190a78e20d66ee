"""Loads the index of a project's decisions: cached beside the database, rebuilt when a file changes.

A kept index is believed only when it is the user's own (capture.cache) and every file has the time and size it had.
"""

from __future__ import annotations

import marshal
import os
from zlib import crc32

from capture import cache, paths
from nmem.errors import NmemError
from nmem.recall import config, corpus, folder, index, store
from nmem.recall import kept as names
from nmem.recall.folder import Place, Seen
from nmem.recall.index import Index
from nmem.recall.kept import form

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from sqlite3 import Connection

    Stamp = tuple[int, str, str, list[tuple[str, int, int]]]

_SHAPE = ((int, str, str, [(str, int, int)]), bytes, [str])


class Recall:
    """What can be asked: where it is, its index, and what could not be read."""

    __slots__ = ("index", "place", "seen", "stamp", "warnings")

    def __init__(self, place: Place, found: Index, seen: list[Seen], warnings: list[str]) -> None:
        self.place, self.index, self.seen, self.warnings = place, found, seen, warnings
        self.stamp = _stamp(place, seen)


def here(cwd: str = "") -> Recall:
    """The decisions of the project that a folder is in, by default the current one. Raises NmemError."""
    folders, name = config.load()
    return of(folder.find(cwd or os.getcwd(), folders, name))


def unchanged(recall: Recall) -> bool:
    """Whether the files are still as they were read."""
    return _stamp(recall.place, folder.files(recall.place)[0]) == recall.stamp


def of(place: Place, *, keep: bool = True) -> Recall:
    """The decisions of a place; `keep` false neither reads nor writes a kept index."""
    seen, warnings = folder.files(place)
    if keep and (recall := _kept(place, seen)) and os.path.exists(names.file(place)):
        return recall
    found = corpus.read(place, seen)
    made = index.build(found)
    warnings += found.warnings
    warnings += [made.fault] if made.fault else []
    if keep:
        # as bytes: looking at the shape of each posting would take longer than reading it
        cache.write(_file(place), (_stamp(place, seen), marshal.dumps(made.form), warnings))  # type: ignore[arg-type]
        names.write(place, seen, form(made))
    return Recall(place, made, seen, warnings)


def _kept(place: Place, seen: list[Seen]) -> Recall | None:
    found = cache.read(_file(place), _SHAPE)
    if not isinstance(found, tuple) or found[0] != _stamp(place, seen):
        return None
    try:
        made = Index(*marshal.loads(found[1]))  # noqa: S302 - ours alone, as the file that it was in
    except (ValueError, TypeError, EOFError):
        return None
    return Recall(place, made, seen, found[2])


def _file(place: Place) -> str:
    number = crc32(place.folder.encode("utf-8", "replace"))
    return os.path.join(paths.cache(paths.database()), f"recall-{number:08x}.bin")


def _stamp(place: Place, seen: list[Seen]) -> Stamp:
    try:
        found = os.stat(place.index) if place.index else None
    except OSError:
        found = None
    own = ("", found.st_mtime_ns, found.st_size) if found else ("", 0, 0)
    return index.VERSION, place.folder, place.index, [own, *((each.name, each.stamp, each.size) for each in seen)]


_RECENT = 30 * 86_400_000
_MOST = 20
"""Folders looked at: those that sessions worked in last."""


def make_ready(db: Connection, now: int, stopped: Callable[[], bool] = lambda: False) -> int:
    """Index the decisions of the folders that sessions worked in lately; how many folders have any."""
    count = 0
    for cwd in store.folders(db, now - _RECENT, _MOST):
        if stopped():
            break
        place = names.place(cwd)
        if place is not None and names.read(place) is None:
            try:
                of(place)
            except NmemError:
                continue  # `nmem when` and `nmem recall check` say what is wrong with them
        count += place is not None
    return count
