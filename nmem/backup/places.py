"""Names, lists and thins backups."""

from __future__ import annotations

import contextlib
import os
import re
import time
from dataclasses import dataclass
from pathlib import Path

from capture import paths
from capture.files import NotOurs, ours
from nmem.errors import NmemError
from nmem.settings import file

FOLDER = "backups"
BEFORE = "before-restore"
_NAME = re.compile(r"(nmem|before-restore)-(\d{8}-\d{6})(?:-\d+)?\.db(\.age)?")


@dataclass(frozen=True, slots=True)
class Kept:
    """One backup in the folder."""

    path: str
    bytes: int
    at: str
    """As its name says: 20260131-142500, local time."""
    encrypted: bool
    before_restore: bool


def folder(db_path: str) -> Path:
    """The folder of a database's backups; it may not exist. Raises NmemError for settings that cannot be used."""
    return chosen() or Path(paths.folder(db_path), FOLDER)


def chosen() -> Path | None:
    """The folder that a person chose, if any. Raises NmemError for settings that cannot be used."""
    named = str(file.values("backup")["folder"] or "")
    return Path(named).expanduser() if named else None


def made(place: Path) -> Path:
    """The folder, for the owner only where it is new. Raises NmemError."""
    try:
        paths.make(str(place.absolute()))
    except OSError as error:
        raise NmemError(f"{place} cannot be made: {error.strerror}") from None
    _own(place)
    return place


def _own(place: Path) -> None:
    """Refuse a folder of our own name that is another user's or a link; one that a person chose is theirs to keep."""
    if place.name != FOLDER or place == chosen():
        return
    try:
        ours(str(place.absolute()), folder=True)
    except NotOurs as error:
        raise NmemError(str(error)) from None


def fresh(place: Path, kind: str, ending: str) -> Path:
    """A name that comes after all others of its second."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    taken = [_number(path.name) for path in place.glob(f"{kind}-{stamp}*")]
    return place / f"{kind}-{stamp}{f'-{max(taken) + 1}' if taken else ''}{ending}"


def _number(name: str) -> int:
    """Which of its second a backup is."""
    found = re.search(r"-\d{6}-(\d+)\.", name)
    return int(found[1]) if found else 0


def kept(place: Path) -> list[Kept]:
    """The backups in a folder, the newest first; what else lies there is not looked at."""
    out = []
    _own(place)
    with contextlib.suppress(FileNotFoundError):
        for path in place.iterdir():
            found = _NAME.fullmatch(path.name)
            if found and path.is_file() and not path.is_symlink():
                out.append(Kept(str(path), path.stat().st_size, found[2], bool(found[3]), found[1] == BEFORE))
    return sorted(out, key=lambda one: (one.at, _number(Path(one.path).name)), reverse=True)


def thin(place: Path, keep: int) -> list[str]:
    """Take all but the newest `keep` backups away; what was kept before a restore stays. The paths that are gone."""
    gone = [one.path for one in kept(place) if not one.before_restore][keep:]
    for path in gone:
        os.unlink(path)  # noqa: PTH108 - a string already
    return gone
