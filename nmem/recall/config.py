"""What config.toml says of recall, without reading TOML at each question: kept by the file's time and size.

[recall]
folders = ["notes/decisions"]    # looked for before the usual ones, in the project
index = "notes/index.md"         # looked for before the usual ones, in the project
offer = true                     # whether a session is told of decisions that it speaks of
"""

from __future__ import annotations

import os

from capture import cache, paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    Said = tuple[list[str], str, bool]

_SHAPE = ((str, int, int), [str], str, bool)


def load() -> tuple[tuple[str, ...], str]:
    """The folders and the index that a person named. Raises NmemError for a file that is wrong."""
    folders, index, _ = _said()
    return tuple(folders), index


def offers() -> bool:
    """Whether decisions are offered unasked. Raises NmemError."""
    return _said()[2]


def _said() -> Said:
    file = paths.config()
    try:
        found = os.stat(file)
    except OSError:
        return [], "", True
    stamp = (file, found.st_mtime_ns, found.st_size)
    kept = cache.read(_cache(), _SHAPE)
    if isinstance(kept, tuple) and kept[0] == stamp:
        return kept[1], kept[2], kept[3]
    from nmem import config

    said = config.values("recall")
    folders, index = said.get("folders", ()), said.get("index", "")
    names = [str(each) for each in folders] if isinstance(folders, (list, tuple)) else []
    form = names, str(index), said.get("offer", True) is not False
    cache.write(_cache(), (stamp, *form))
    return form


def _cache() -> str:
    return os.path.join(paths.cache(paths.database()), "recall-config.bin")
