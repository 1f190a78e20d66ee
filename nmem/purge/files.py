"""Removes chosen words from nmem's files beside the database (logs, lists), and verifies the result.

Ours are the database with its log and index, the spool, the log, caches, folders of tasks, marks of settling; backups
only when they are asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from capture import paths
from capture.files import own, regular, replace
from capture.storage import spool
from nmem.purge import strays
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
            strays.overwritten(path)
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
    from nmem.backup import places

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
    known = set(strays.files(db_path))
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
