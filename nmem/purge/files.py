"""Removes chosen words from nmem's files beside the database, and finds plain copies left by killed processes.

Ours are the database with its log and index, the spool, the log, caches, folders of tasks, marks of settling; backups
only when they are asked for.

A copy carries the number of its process in its name. Settling, doctor and every purge take those away whose process is
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
from capture.files import own, regular, replace
from capture.storage import spool
from nmem.errors import NmemError
from nmem.purge.needles import Needles

_CHUNK = 1 << 24
_SQLITE = b"SQLite format 3\0"
Kept = list[tuple[str, bytes, int]]
"""Path, content and mode of files as they were."""


def ours(db_path: str) -> Iterator[Path]:
    """Every file of ours that may hold what was recorded, the trash and backups aside; none behind a link."""
    yield from (path for path in _ours(db_path) if path.is_file() and not path.is_symlink())


def _ours(db_path: str) -> Iterator[Path]:
    top = Path(paths.folder(db_path))
    name = Path(db_path).name
    for suffix in ("", "-wal", "-shm", "-journal"):
        yield top / f"{name}{suffix}"
    yield from _log(db_path)
    yield from sorted(top.glob("settle*"))
    for folder in (*map(Path, spool.folders(db_path)), Path(paths.cache(db_path)), top / "tasks"):
        if not folder.is_symlink():
            yield from sorted(folder.rglob("*"))


def _log(db_path: str) -> list[Path]:
    return [Path(paths.log(db_path)), Path(paths.log(db_path) + ".1")]


def holding(files: Iterable[Path], words: Needles) -> list[Path]:
    """The files that hold one of some words."""
    return [path for path in files if words and holds(path, words)]


def holds(path: Path, words: Needles) -> bool:
    """Whether a file does, read piece by piece; pieces overlap by the longest word."""
    overlap = words.overlap
    try:
        with open(path, "rb", opener=regular) as file:
            tail = b""
            while chunk := file.read(_CHUNK):
                text = tail + chunk
                if words.within(text):
                    return True
                tail = text[len(text) - overlap :] if overlap else b""
    except OSError:
        return False
    return False


def clean(db_path: str, words: Needles) -> list[str]:
    """Take words out of files beside the database: lines of logs, whole caches and torn batches. What was changed."""
    done = []
    for path in holding(beside(db_path), words):
        if path in _log(db_path):
            data = own(str(path))
            replace(str(path), b"".join(line for line in data.splitlines(keepends=True)
                                        if not words.within(line)))  # fmt: skip
        else:
            overwritten(path)
        done.append(path.name)
    return done


def beside(db_path: str) -> list[Path]:
    """Files of ours but for the database's own."""
    name = Path(db_path).name
    return [path for path in ours(db_path) if not path.name.startswith(name)]


def found(db_path: str, words: Needles) -> Kept:
    """Files of tasks and torn batches that hold words, as they are: an undo writes them again."""
    logs = {*_log(db_path), *Path(paths.cache(db_path)).rglob("*")}
    return [(str(path), path.read_bytes(), path.stat().st_mode & 0o777)
            for path in holding(beside(db_path), words) if path not in logs]  # fmt: skip


def put_back(kept: Kept) -> None:
    """Write files again where nothing stands in their place. Raises OSError."""
    for name, data, _ in kept:
        if not Path(name).exists():
            paths.make(str(Path(name).parent))
            replace(name, data)


def backups(db_path: str) -> list[Path]:
    """All backups, whatever they are called, and what a restore set aside; encrypted ones cannot be looked into."""
    from nmem.backup import places  # on use: start-up stays short

    own = Path(paths.folder(db_path), places.FOLDER)
    found = []
    for folder in dict.fromkeys((places.folder(db_path), own)):
        kept = [Path(one.path) for one in places.kept(folder)]
        named = [path for path in _plain(folder) if path not in kept and path.suffixes[-2:] == [".db", ".age"]]
        found += [*kept, *named, *(path for path in _plain(folder) if path not in kept and _database(path))]
    return found


def copies(db_path: str) -> list[Path]:
    """Databases beside this one that are nobody's known: of processes at work, or a person's own."""
    own = Path(db_path).name
    known = set(files(db_path))
    return [*sorted(known), *(path for path in _plain(Path(paths.folder(db_path)))
            if path not in known and not path.name.startswith(own) and _database(path))]  # fmt: skip


def _plain(folder: Path) -> list[Path]:
    try:
        return [path for path in sorted(folder.iterdir()) if path.is_file() and not path.is_symlink()]
    except OSError:
        return []


def _database(path: Path) -> bool:
    """By what it begins with: a name says nothing; and what SQLite keeps beside one."""
    if path.name.endswith(("-wal", "-journal")):
        return True
    try:
        with open(path, "rb", opener=regular) as file:
            return file.read(len(_SQLITE)) == _SQLITE
    except OSError:
        return False


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
    from nmem.backup import places  # on use: start-up stays short

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
