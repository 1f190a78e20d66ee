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
    Stamp = tuple[str, int, int]

CALLING = ([str], str, [str])
"""The shape of [attention]: how the person is called, quiet hours, what is wrong. Hooks and the status line look at
what is kept of it without loading who reads it."""


def load(name: str, shape: object, parse: Callable[[dict[str, object], str], Form],
         refuse: Callable[[str], Form]) -> Form:  # fmt: skip
    """The form of table `name`, of the given `shape` (see `cache.read`).

    `parse` makes the form of a document and the file's name; no file is an empty document. `refuse` makes the form of a
    file that cannot be read or is no TOML, from what is wrong with it. Raises what these two raise.
    """
    file, now = paths.config(), stamp()
    if now is None:
        return parse({}, file)
    found: Form | None = kept(name, shape, now)  # type: ignore[assignment]
    if found is not None:
        return found
    try:
        document = _document(file)
    except OSError as error:
        return refuse(f"{file}: {error}")  # what stands in the way may go without a new time of the file
    except ValueError as error:
        form = refuse(f"{file}: {error}")
    else:
        form = parse(document, file)
    cache.write(_kept_at(name, ""), (now, form))
    return form


def stamp() -> Stamp | None:
    """The path, time and size of config.toml; None where there is none."""
    file = paths.config()
    try:
        stat = os.stat(file)
    except OSError:
        return None
    return file, stat.st_mtime_ns, stat.st_size


def kept(name: str, shape: object, now: Stamp, database: str = "") -> object | None:
    """The form of a table that `load` kept beside a database, made of the file with this stamp; else None."""
    found: tuple[Stamp, object] | None = cache.read(_kept_at(name, database), ((str, int, int), shape))  # type: ignore[assignment]
    return found[1] if found is not None and found[0] == now else None


def _kept_at(name: str, database: str) -> str:
    return os.path.join(paths.cache(database or paths.database()), name + ".bin")


def _document(file: str) -> dict[str, object]:
    import tomllib  # on use: start-up stays short

    with open(file, "rb", opener=regular) as handle:
        return tomllib.load(handle)
