"""The spool: keeps sealed batches while the database cannot be written; the next process stores them.

One file a batch, written aside and renamed, so a file is there whole or not at all.
"""

from __future__ import annotations

import os
from time import monotonic, time, time_ns

from capture import paths
from capture.files import opened, ours, remove, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from capture.seal import Sealed

_OLD_TMP = 3600.0
"""Seconds after which a half-written file belongs to nobody."""
_COUNTS_AT_ONCE = 500
_FREE, _TAKEN = "slot", f"{paths.COUNTS}.slot"
_SLOTS = ("lost", "errors")
_TRIES = 100
"""How often a count is tried that others take at the same time."""


def folders(db_path: str) -> tuple[str, str]:
    """The spool beside the database, and the one of last resort in the machine's temporary folder."""
    return paths.spool(db_path), paths.last_spool(db_path)


def _own(folder: str, make: bool = True) -> bool:
    """Whether a folder may be used; that of last resort lies where others can write, so it must be ours alone."""
    try:
        if make:
            paths.make(folder)
        if not hasattr(os, "getuid") or os.path.basename(folder) == "spool":
            return ours(folder, folder=True)
        above, found = os.lstat(os.path.dirname(folder)), os.lstat(folder)
    except OSError:
        return False
    mine = os.getuid()
    is_folder = found.st_mode & 0o170000 == 0o040000 == above.st_mode & 0o170000
    return is_folder and found.st_uid == mine == above.st_uid and not found.st_mode & 0o077


def put(db_path: str, sealed: Sealed) -> bool:
    """Keep one batch for later; False when no folder takes it, and it is lost."""
    from capture.jsonio import dumps  # on use: start-up stays short

    text = dumps(sealed.to_dict()).encode("utf-8", "replace")
    name = f"{time_ns():020d}-{os.getpid()}{paths.BATCH}"
    return any(_own(folder) and _keep(folder, name, text) for folder in folders(db_path))


def _keep(folder: str, name: str, text: bytes) -> bool:
    try:
        replace(os.path.join(folder, name), text)
    except OSError:
        return False
    return True


def tally(db_path: str, name: str) -> None:
    """Count something (lost, errors) while the database is not to be had; `drain` adds it up.

    A full disk takes an empty file, whose name is the count. Where it has no inode left either, a file that was made
    before is renamed: its name says how many.
    """
    own = [folder for folder in folders(db_path) if _own(folder)]
    any(_tally(folder, name) for folder in own) or any(_slot(folder, name) for folder in own)


def _tally(folder: str, name: str, many: int = 1) -> bool:
    """A file for each count, there whole or not at all: nobody can add to what another has just read."""
    path = os.path.join(folder, f"{paths.COUNTS}.{time_ns()}-{os.getpid()}.{many}.{name}")
    try:
        os.close(opened(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
    except OSError:
        return False
    return True


def reserve(db_path: str) -> None:
    """Make the files by which losses are counted on a disk without inodes; while there are some."""
    for folder in folders(db_path):
        if _own(folder):
            names = _names(folder)
            for name in _SLOTS:
                if not any(_is_slot(each, name) for each in names):
                    try:
                        os.close(opened(os.path.join(folder, f"{_FREE}.{name}"), os.O_WRONLY | os.O_CREAT))
                    except OSError:
                        break


def _is_slot(file: str, name: str) -> bool:
    return file == f"{_FREE}.{name}" or (file.startswith(_TAKEN) and file.endswith(f".{name}"))


def _slot(folder: str, name: str) -> bool:
    """One more in the name of the file made for it; who was quicker is counted, then this one."""
    for _ in range(_TRIES):
        for file in [each for each in _names(folder) if _is_slot(each, name)]:
            fresh = f"{_TAKEN}.{_many(file) + 1 if file.startswith(_TAKEN) else 1}.{name}"
            try:
                os.rename(os.path.join(folder, file), os.path.join(folder, fresh))
            except FileNotFoundError:
                continue
            except OSError:
                return False
            return True
    return False


def _many(file: str) -> int:
    """How many a file of counts says: `counts.<when>-<process>.<many>.<name>`."""
    many = file.split(".")[2]
    return int(many) if many.isdecimal() else 0


def tallied(db_path: str) -> dict[str, int]:
    """What is counted in files and not yet in the database."""
    found: dict[str, int] = {}
    for folder in folders(db_path):
        if _own(folder, make=False):
            for file in _names(folder):
                for name, many in _counted(os.path.join(folder, file), take=False).items():
                    found[name] = found.get(name, 0) + many
    return found


def drain(db: Connection, db_path: str, most: int = 0, seconds: float = 0.0) -> int:
    """Store what waits, oldest first, and return how many batches; 0 for `most` or `seconds` is no bound.

    However little time there is, some are stored: else nothing would be, on a machine that is slow enough.
    Raises sqlite3.Error when the database cannot be written; then everything stays where it is.
    """
    until = monotonic() + seconds if seconds else float("inf")
    done, begun = 0, False
    for folder in folders(db_path):
        if not _own(folder, make=False):
            continue
        _sweep(folder)
        names = _batches(folder)
        while names and (not begun or monotonic() < until) and not (most and done >= most):
            begun = True
            size = min(most - done, 20) if most else 100
            done += _take(db, folder, names[:size])
            del names[:size]
        _add_up(db, folder)
    return done


def waiting(db_path: str) -> int:
    """How many batches wait."""
    return sum(len(_batches(folder)) for folder in folders(db_path) if _own(folder, make=False))


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _batches(folder: str) -> list[str]:
    return [name for name in _names(folder) if name.endswith(paths.BATCH)]


def _sweep(folder: str) -> None:
    """Remove what killed processes left half-written; their hooks never said that they were done."""
    for name in _names(folder):
        path = os.path.join(folder, name)
        try:
            if name.endswith(".tmp") and time() - os.stat(path).st_mtime > _OLD_TMP:
                remove(path)
        except OSError:
            continue


def _take(db: Connection, folder: str, names: list[str]) -> int:
    """Store some files, then remove them. One that cannot be read or that the tables refuse is set aside."""
    from capture.storage.sqlite import IntegrityError, InterfaceError, ProgrammingError  # on use: start-up stays short

    try:
        return _store(db, folder, names)
    except (ValueError, OverflowError, TypeError, IntegrityError, InterfaceError, ProgrammingError):
        if len(names) == 1:
            _set_aside(os.path.join(folder, names[0]))
            return 0
    return sum(_take(db, folder, [name]) for name in names)


def _store(db: Connection, folder: str, names: list[str]) -> int:
    """All of some files in one transaction."""
    from capture.storage.rows import Writer  # on use: start-up stays short
    from capture.storage.store import count, transaction

    taken: list[str] = []
    with transaction(db):
        writer = Writer(db)
        for name in names:
            path = os.path.join(folder, name)
            sealed = _read(path)
            if sealed is not None:
                writer.add(sealed.batch)
                taken.append(path)
        writer.finish()
        if taken:
            count(db, "drained", len(taken))
    for path in taken:
        remove(path)
    return len(taken)


def _read(path: str) -> Sealed | None:
    from capture.jsonio import loads  # on use: start-up stays short
    from capture.seal import Sealed, seal

    try:
        handle = opened(path)
    except FileNotFoundError:
        return None  # another process has stored it meanwhile
    except OSError:
        _set_aside(path)
        return None
    try:
        chunks = []
        while chunk := os.read(handle, 1 << 20):
            chunks.append(chunk)
    finally:
        os.close(handle)
    try:
        found = Sealed.from_dict(loads(b"".join(chunks).decode()))  # type: ignore[arg-type]
        return seal(found.batch)  # by the rules in force now, which may be others than when it was put here
    except (ValueError, KeyError, TypeError, AttributeError):
        _set_aside(path)
        return None


def _set_aside(path: str) -> None:
    """Move a torn file where it blocks nobody and can still be looked at."""
    folder, name = os.path.split(path)
    try:
        paths.make(os.path.join(folder, "torn"))
        ours(os.path.join(folder, "torn"), folder=True)
        os.replace(path, os.path.join(folder, "torn", name))
    except OSError:
        return


def _add_up(db: Connection, folder: str) -> None:
    """Move the counts that were kept in files into the database; what a busy one refuses stays for the next."""
    from capture.storage.store import count, transaction  # on use: start-up stays short

    names = [name for name in _names(folder) if name.startswith(paths.COUNTS)][:_COUNTS_AT_ONCE]
    if not names:
        return
    taken: dict[str, int] = {}
    try:
        with transaction(db):
            for file in names:
                for name, many in _counted(os.path.join(folder, file)).items():
                    taken[name] = taken.get(name, 0) + many
            for name in sorted(taken):
                count(db, name, taken[name])
    except BaseException:
        for name, many in taken.items():
            _tally(folder, name, many) or _slot(folder, name)
        raise


def _counted(path: str, take: bool = True) -> dict[str, int]:
    """What a file of counts says, which is taken away: whoever takes it counts it. The file made for it is kept."""
    folder, file = os.path.split(path)
    if not file.startswith(paths.COUNTS):
        return {}
    if file.count(".") < 3:
        return _words(path, take)
    name = file.split(".", 3)[3]
    try:
        if take and file.startswith(_TAKEN):
            os.rename(path, os.path.join(folder, f"{_FREE}.{name}"))
        elif take:
            os.unlink(path)
    except OSError:
        return {}
    return {name: _many(file)}


def _words(path: str, take: bool) -> dict[str, int]:
    """The same of an earlier release, which wrote a word for each count."""
    try:
        handle = opened(path)
        try:
            words = os.read(handle, 1 << 20).decode("ascii", "replace").split()
        finally:
            os.close(handle)
    except OSError:
        return {}
    return {word: words.count(word) for word in words} if not take or remove(path) else {}
