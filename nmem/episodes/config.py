"""What the user's config.toml says about episodes, without reading TOML in a hook.

    [episodes]
    method = "default"                     # or "jaccard": the plain rule of keyword bags

The parsed form is cached beside the database, keyed by the file's time and size. What cannot be read leaves the default
in force.
"""

from __future__ import annotations

import os

from capture import cache, paths
from capture.files import regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    Form = tuple[str, list[str]]

METHODS = ("default", "jaccard")


def method() -> str:
    """How prompts are divided into episodes; never raises."""
    file = paths.config()
    try:
        stat = os.stat(file)
    except OSError:
        return METHODS[0]
    stamp = (file, stat.st_mtime_ns, stat.st_size)
    return (_cached(stamp) or _read(file, stamp))[0]


def _cache() -> str:
    return os.path.join(paths.cache(paths.database()), "episodes.bin")


_SHAPE = ((str, int, int), (str, [str]))


def _cached(stamp: tuple[str, int, int]) -> Form | None:
    kept: tuple[tuple[str, int, int], Form] | None = cache.read(_cache(), _SHAPE)  # type: ignore[assignment]
    return kept[1] if kept is not None and kept[0] == stamp else None


def _read(file: str, stamp: tuple[str, int, int]) -> Form:
    import tomllib

    try:
        with open(file, "rb", opener=regular) as handle:
            document = tomllib.load(handle)
    except (OSError, ValueError) as error:
        return METHODS[0], [f"{file}: {error}"]
    found = form(document, file)
    cache.write(_cache(), (stamp, found))
    return found


def form(document: dict[str, object], file: str = "config.toml") -> Form:
    """The [episodes] table of a document as (method, what is wrong with it)."""
    section = document.get("episodes", {})
    if not isinstance(section, dict):
        return METHODS[0], [f"{file}: [episodes] is not a table"]
    trouble = [f"{file}: episodes.{key} is not known" for key in section if key != "method"]
    found = section.get("method", METHODS[0])
    if found not in METHODS:
        trouble.append(f"{file}: episodes.method is one of {', '.join(METHODS)}")
        found = METHODS[0]
    return str(found), trouble
