"""New files in the current folder; none is ever written over."""

from __future__ import annotations

import os
from datetime import UTC, datetime

from nmem.errors import NmemError
from nmem.text import printable

_MOST = 1000


def write(stem: str, ending: str, content: str, at: int) -> str:
    """The name of the file made, for the owner alone. Raises NmemError."""
    name = f"{stem}-{datetime.fromtimestamp(at / 1000, UTC).astimezone():%Y%m%d-%H%M%S}"
    for number in range(1, _MOST):
        path = f"{name}{f'-{number}' if number > 1 else ''}.{ending}"
        try:
            made = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
            with os.fdopen(made, "w", encoding="utf-8", errors="replace", newline="\n") as out:
                out.write(content)
        except FileExistsError:
            continue
        except OSError as error:
            raise NmemError(f"{printable(path)} cannot be written here: {error.strerror or error}") from None
        return path
    raise NmemError(f"{name}.{ending} is there {_MOST} times over")
