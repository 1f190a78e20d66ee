"""Caches a table of the user's config.toml in parsed form, so that no hook reads TOML.

The parsed form is cached beside the database, keyed by the file's path, time and size.
"""

from __future__ import annotations

import os

from capture import cache, paths
from capture.files import regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    Form = TypeVar("Form")


def load(name: str, shape: object, parse: Callable[[dict[str, object], str], Form],
         refuse: Callable[[str], Form]) -> Form:  # fmt: skip
    """The form of table `name`, of the given `shape` (see `cache.read`).

    `parse` makes the form of a document and the file's name; no file is an empty document. `refuse` makes the form of a
    file that cannot be read or is no TOML, from what is wrong with it. Raises what these two raise.
    """
    file = paths.config()
    try:
        stat = os.stat(file)
    except OSError:
        return parse({}, file)
    stamp = (file, stat.st_mtime_ns, stat.st_size)
    kept = os.path.join(paths.cache(paths.database()), name + ".bin")
    found: tuple[tuple[str, int, int], Form] | None = cache.read(kept, ((str, int, int), shape))  # type: ignore[assignment]
    if found is not None and found[0] == stamp:
        return found[1]
    try:
        document = _document(file)
    except OSError as error:
        return refuse(f"{file}: {error}")  # what stands in the way may go without a new time of the file
    except ValueError as error:
        form = refuse(f"{file}: {error}")
    else:
        form = parse(document, file)
    cache.write(kept, (stamp, form))
    return form


def _document(file: str) -> dict[str, object]:
    import tomllib  # on use: start-up stays short

    with open(file, "rb", opener=regular) as handle:
        return tomllib.load(handle)
