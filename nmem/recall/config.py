"""What config.toml says of recall, without reading TOML at each question: kept by the file's time and size.

[recall]
folders = ["notes/decisions"]    # looked for before the usual ones, in the project
index = "notes/index.md"         # looked for before the usual ones, in the project
"""

from __future__ import annotations

import os

from capture import cache, paths

_SHAPE = ((str, int, int), [str], str)


def load() -> tuple[tuple[str, ...], str]:
    """The folders and the index that a person named. Raises NmemError for a file that is wrong."""
    file = paths.config()
    try:
        found = os.stat(file)
    except OSError:
        return (), ""
    stamp = (file, found.st_mtime_ns, found.st_size)
    kept = cache.read(_cache(), _SHAPE)
    if isinstance(kept, tuple) and kept[0] == stamp:
        return tuple(kept[1]), kept[2]
    from nmem import config

    said = config.values("recall")
    folders, index = said.get("folders", ()), said.get("index", "")
    form = [str(each) for each in folders] if isinstance(folders, (list, tuple)) else [], str(index)
    cache.write(_cache(), (stamp, *form))
    return tuple(form[0]), form[1]


def _cache() -> str:
    return os.path.join(paths.cache(paths.database()), "recall-config.bin")
