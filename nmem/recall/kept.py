"""Names of a project's decisions for hooks: cached beside the index, valid while no file changes.

On the hook's path, and never made there: `nmem.recall.store` and settling write them.
"""

from __future__ import annotations

import os

from capture import cache, paths
from nmem.errors import NmemError
from nmem.recall import NAMES, config, folder
from nmem.recall.folder import Place, Seen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nmem.recall.offer import Form

VERSION = 1
_SHAPE = (int, str, str, [(str, int, int)])


def place(cwd: str) -> Place | None:
    """Where the decisions of a folder's project are; None where there are none. Never raises."""
    if not os.path.isabs(cwd):
        return None  # of another system, or not known: not what this process happens to stand in
    try:
        return folder.find(cwd, *config.load())
    except NmemError:
        return None


def seen(where: Place) -> list[Seen]:
    """The decision files of a place."""
    return folder.files(where)[0]


def read(where: Place) -> Form | None:
    """The names (nmem.recall.offer.Form); None when they are not kept, or a file is another. Never raises."""
    found = cache.read(file(where), (_SHAPE, bytes))
    if not isinstance(found, tuple) or found[0] != _stamp(where, folder.files(where)[0]):
        return None
    import marshal

    try:
        form: Form = marshal.loads(found[1])  # noqa: S302 - ours alone, as the file that it was in
    except (ValueError, TypeError, EOFError):
        return None
    return form


def write(where: Place, seen: list[Seen], form: Form) -> None:
    """Keep the names of a place whose files were as `seen`."""
    import marshal

    # as bytes: looking at the shape of thousands of names would take longer than reading them
    cache.write(file(where), (_stamp(where, seen), marshal.dumps(form)))


def file(where: Place) -> str:
    """Where they are kept."""
    from zlib import crc32

    number = crc32(where.folder.encode("utf-8", "replace"))
    return os.path.join(paths.cache(paths.database()), f"recall-{number:08x}{NAMES}")


def _stamp(where: Place, seen: list[Seen]) -> tuple[int, str, str, list[tuple[str, int, int]]]:
    try:
        found = os.stat(where.index) if where.index else None
    except OSError:
        found = None
    own = ("", found.st_mtime_ns, found.st_size) if found else ("", 0, 0)
    return VERSION, where.folder, where.index, [own, *((each.name, each.stamp, each.size) for each in seen)]
