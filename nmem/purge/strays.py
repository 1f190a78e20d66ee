"""Finds plain copies left by killed processes: of a deep audit, a backup, a file write.

Each carries the number of its process in its name. Settling, doctor and every purge take those away whose process is
gone; where no number is known, or it is another process's by now, those that nobody wrote to for hours.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from capture import paths
from capture.files import regular
from nmem.errors import NmemError

_NAMES = re.compile(r"(?:\.nmem-scratch-|audit-)(?:(\d+)-)?[^.]*(?:\.db(?:-wal|-shm|-journal)?)?|\..+\.(\d+)\.tmp")
_ABANDONED = 6 * 3600.0
"""Seconds without a write, where no process tells."""


def every(db_path: str) -> list[Path]:
    """All of them, also those that are being written."""
    return [path for path, _ in _found(db_path)]


def abandoned(db_path: str) -> list[Path]:
    """Those that nobody works on any more."""
    now = time.time()
    return [path for path, pid in _found(db_path)
            if (pid and not _alive(pid)) or now - _written(path) > _ABANDONED]  # fmt: skip


def clear(db_path: str) -> list[str]:
    """Overwrite and take away what nobody works on; the names of what went."""
    done = []
    for path in abandoned(db_path):
        with suppress(OSError):
            remove(each for each in _files(path))
            if path.is_dir():
                for folder in sorted((each for each in path.rglob("*") if each.is_dir()), reverse=True):
                    folder.rmdir()
                path.rmdir()
            done.append(path.name)
    return done


def files(db_path: str) -> list[Path]:
    """Every file of them."""
    return [file for path in every(db_path) for file in _files(path)]


def _found(db_path: str) -> Iterator[tuple[Path, int]]:
    """Paths, each with the number of its process; 0 where its name has none."""
    for folder in _folders(db_path):
        with suppress(OSError):
            if folder.is_symlink() and folder.parent == Path(paths.folder(db_path)):
                continue  # among our own folders none is a link
            for path in sorted(folder.iterdir()):
                if (name := _NAMES.fullmatch(path.name)) and not path.is_symlink():
                    yield path, int(name[1] or name[2] or 0)


def _folders(db_path: str) -> list[Path]:
    from nmem.backup import places

    found = [Path(paths.folder(db_path)), Path(paths.cache(db_path)), Path(paths.folder(db_path), "tasks")]
    with suppress(NmemError):  # settings that cannot be read: then it is where it is by itself
        found.append(places.folder(db_path))
    return list(dict.fromkeys([*found, Path(paths.folder(db_path), places.FOLDER)]))


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    return [each for each in sorted(path.rglob("*")) if each.is_file() and not each.is_symlink()]


def _written(path: Path) -> float:
    with suppress(OSError):
        return max(each.stat().st_mtime for each in (path, *_files(path)))
    return time.time()


def _alive(pid: int) -> bool:
    if os.name == "nt":
        return True  # asking would end it there: only its age tells
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def remove(paths_: Iterable[Path]) -> list[str]:
    """Overwrite and take away; what went."""
    done = []
    for path in paths_:
        overwritten(path)
        done.append(str(path))
    return done


def overwritten(path: Path) -> None:
    """Nothing of it stays in the file, should somebody hold it open; then it goes. One that has another name, which is
    none of ours, only goes."""
    try:
        with open(path, "r+b", opener=regular) as file:
            found = os.fstat(file.fileno())
            left = found.st_size if found.st_nlink < 2 else 0
            while left > 0:
                left -= file.write(bytes(min(left, 1 << 20)))
            file.flush()
            os.fsync(file.fileno())
    finally:
        path.unlink(missing_ok=True)
