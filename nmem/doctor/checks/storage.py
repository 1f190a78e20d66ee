"""Checks the database and the files beside it: intact, private, nothing stuck."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import sqlite3
import stat
import time
from pathlib import Path

from capture import files, paths
from capture.install import bytecode
from capture.redaction import rules_cache, settings
from capture.storage import spool
from capture.storage.schema import MIGRATIONS
from nmem import tables
from nmem.audit import NOTE, OK, WRONG, Finding, store
from nmem.backup import places
from nmem.backup.copying import facts_version
from nmem.episodes.boundary import FITTED
from nmem.errors import NmemError
from nmem.purge.files import abandoned
from nmem.read import views

_WAL_LIMIT = 64 * 1024 * 1024
_ROOM = 1_000_000
"""Bytes without which SQLite cannot even make the index of its log."""
_LARGE = 100_000_000
"""Bytes from which on comparing every index takes longer than a person waits: a second."""


def database(deep: bool = False) -> list[Finding]:
    """Whether the database can be read, is whole and of this version; `deep` reads every page of a large one twice."""
    path = paths.database()
    if not Path(path).is_file():
        return [_absent(path)]
    if any(why.startswith(path) for why in _strangers()):
        return []  # `private` says it
    try:
        db = sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)
    except sqlite3.Error as error:
        return [_unreadable(path, error)]
    try:
        names = store.table_names(db)
        if "sessions" not in names:
            return [_strange(path) if names else _absent(path)]
        return [_version(db, path), _whole(db, path, deep), _searchable(db), *_counts(db), *_writable(path)]
    except sqlite3.Error as error:
        return [_unreadable(path, error)]
    finally:
        db.close()


def _absent(path: str) -> Finding:
    """Why there is no database file: nobody made it, nobody can, or something else has its name."""
    if Path(path).is_file():
        return Finding("database", WRONG, f"nothing is recorded yet at {path}", "nmem init")
    if Path(path).exists():
        said = f"{path} is {'a folder' if Path(path).is_dir() else 'no file'}, where the database should be"
        return Finding("database", WRONG, said, f"move it away, or name another file in NMEM_DB: {shlex.quote(path)}")
    folder = next((above for above in Path(path).absolute().parents if above.exists()), Path("/"))
    if not os.access(folder, os.W_OK | os.X_OK):
        said = f"there is no database at {path}, and {folder} cannot be written"
        return Finding("database", WRONG, said, _write_to(folder))
    return Finding("database", WRONG, f"there is no database at {path}", "nmem init")


def _strange(path: str) -> Finding:
    said = f"{path} is another program's database"
    return Finding("database", WRONG, said, f"move it away, or name another file in NMEM_DB: {shlex.quote(path)}")


def _write_to(folder: Path) -> str:
    return f"make {folder} writable for you (ls -ld {shlex.quote(str(folder))}), or name another file in NMEM_DB"


def _searchable(db: sqlite3.Connection) -> Finding:
    """Whether what was recorded is in the text indexes, row for row."""
    missing = store.unindexed(db)
    if missing:
        said = ", ".join(f"{number} of {name}" for name, number in missing.items())
        return Finding("search", WRONG, f"not in the text index: {said}", "nmem doctor --fix")
    return Finding("search", OK, "everything recorded is in the text index")


def copies() -> list[Finding]:
    """Copies of what is recorded that killed processes left."""
    return [Finding("copies", WRONG, f"a killed process left {path}: an unencrypted copy of the memory",
                    "nmem doctor --fix") for path in abandoned(paths.database())]  # fmt: skip


def _writable(path: str) -> list[Finding]:
    folder = Path(path).absolute().parent
    if os.access(folder, os.W_OK | os.X_OK) and os.access(path, os.W_OK):
        return []
    said = f"{path} can be read but not written: events wait in {spool.folders(path)[1]}"
    return [Finding("database", WRONG, said, _write_to(folder))]


def _unreadable(path: str, error: sqlite3.Error) -> Finding:
    """Advice that fits the cause: a folder without rights is no damage, nor is a full disk."""
    folder = Path(path).absolute().parent
    if (free := shutil.disk_usage(folder).free) < _ROOM:
        said = f"{path} cannot be read ({error}): its disk is full, {free / 1e6:.1f} MB are free"
        return Finding("database", WRONG, said, "free some space; events wait in the spool until then")
    if not os.access(folder, os.W_OK | os.X_OK):
        said = f"{path} cannot be read: SQLite keeps its log beside it, and {folder} cannot be written"
        return Finding("database", WRONG, said, _write_to(folder))
    if not os.access(path, os.R_OK):
        return Finding("database", WRONG, f"you may not read {path}", f"check its owner and mode: ls -l {path}")
    return Finding("database", WRONG, f"{path} cannot be read: {error}", _rescue(path))


def _rescue(path: str) -> str:
    newest = _newest(path)
    return "nmem restore --rescue keeps what can be read" + (
        f"; or your newest backup: nmem restore {newest}" * bool(newest)
    )


def _newest(path: str) -> str:
    """The newest backup beside a database, if there is one."""
    with contextlib.suppress(OSError, NmemError):
        made = [each.path for each in places.kept(places.folder(path)) if not each.before_restore]
        return shlex.quote(made[0]) if made else ""
    return ""


def _version(db: sqlite3.Connection, path: str) -> Finding:
    version = facts_version(db)
    if version > len(MIGRATIONS):
        return Finding("database", WRONG, f"{path} was written by a newer nmem (version {version})", "upgrade nmem")
    if (meaning := tables.version(db)) > tables.VERSION:
        said = f"episodes and threads in {path} were written by a newer nmem (version {meaning})"
        return Finding("database", WRONG, said, "upgrade nmem")
    if version < len(MIGRATIONS):
        return Finding("database", NOTE, f"{path} has version {version}: the next hook upgrades it", "nmem settle")
    if 0 < meaning < tables.VERSION:
        said = f"episodes and threads in {path} have version {meaning}: the next hook upgrades them"
        return Finding("database", NOTE, said, "nmem settle")
    size = Path(path).stat().st_size
    return Finding("database", OK, f"{path}, {size / 1e6:.1f} MB, version {version}")


def _whole(db: sqlite3.Connection, path: str, deep: bool) -> Finding:
    """integrity_check; of a large database first quick_check, which cries wolf over some healthy tables."""
    started = time.perf_counter()
    quick = not deep and Path(path).stat().st_size > _LARGE
    try:
        said = store.damage(db, quick=True) if quick else []
        if said != ["ok"]:
            said, quick = store.damage(db, quick=False), False
        strays = ", ".join(store.strays(db))
    except sqlite3.DatabaseError as error:
        return Finding("integrity", WRONG, f"the database is damaged: {error}", _rescue(path))
    ms = (time.perf_counter() - started) * 1000
    if said != ["ok"]:
        return Finding("integrity", WRONG, f"the database is damaged: {'; '.join(said)}", _rescue(path), ms=ms)
    if strays:
        return Finding("integrity", NOTE, f"rows of {strays} refer to nothing", "nmem backup, then report it", ms=ms)
    if quick:
        return Finding("integrity", OK, "every page is whole; nmem doctor --deep compares the indexes too", ms=ms)
    return Finding("integrity", OK, "every page and index is whole", ms=ms)


def _counts(db: sqlite3.Connection) -> list[Finding]:
    """Losses, and the newest event of each client."""
    tally = views.counters(db)
    out = []
    if lost := tally.get("lost", 0):
        said = f"{lost} events were lost: neither the database nor the spool could be written"
        out.append(Finding("losses", NOTE, said, f"see {paths.log(paths.database())}"))
    if errors := tally.get("errors", 0):
        said = f"{errors} inputs of hooks could not be understood, or a hook failed"
        out.append(Finding("losses", NOTE, said, f"see {paths.log(paths.database())}"))
    if failed := tally.get("settle errors", 0):
        said = f"{failed} steps of settling failed and were skipped"
        out.append(Finding("settling", NOTE, said, f"nmem settle says which; see {paths.log(paths.database())}"))
    for client, at in store.last_events(db):
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(at / 1000))
        out.append(Finding("last event", OK, f"the newest event came at {when}", "", client))
    return out


def _modes() -> list[tuple[Path, int]]:
    """What lies where, and the mode it should have."""
    db = paths.database()
    folders = [paths.spool(db), paths.cache(db)]
    if not os.environ.get("NMEM_DB"):  # a folder that the user chose may hold other things: its mode is theirs
        folders.append(os.path.realpath(paths.folder(db)))  # it may lie elsewhere: what is in it may not
    single = (db, db + "-wal", db + "-shm", paths.log(db))
    return [(Path(path), 0o700) for path in folders] + [(Path(path), 0o600) for path in single]


def open_to_others() -> list[tuple[Path, int]]:
    """What somebody else could read, with the mode it should have."""
    if os.name == "nt":  # modes say nothing there; the user's own profile folder is private
        return []
    out = []
    for path, mode in _modes():
        with contextlib.suppress(OSError):  # what is not the user's own is no matter of its mode: `private` says it
            if (found := files.seen(str(path), folder=mode == 0o700)) and found.st_mode & 0o077:
                out.append((path, mode))
    return out


_FILES = ("settle.wanted", "settle.lock", "settle-nmem.lock", "sweep.lock", FITTED, "labels.bin", "labels.json")
_FOLDERS = ("trash", places.FOLDER, "tasks", "installed", "streams")


def _strangers() -> list[str]:
    """What nmem refuses to use, because it is another's or a link: why, one line each."""
    top = Path(paths.folder(paths.database()))
    own = [(path, mode == 0o700) for path, mode in _modes()]
    own += [(top / name, False) for name in _FILES] + [(top / name, True) for name in _FOLDERS]
    out = []
    for path, folder in own:
        try:
            files.seen(str(path), folder=folder)
        except files.NotOurs as error:
            if str(path) != paths.database() or not path.is_dir():  # `database` says that
                out.append(str(error))
        except OSError:
            continue
    return out


def private() -> list[Finding]:
    """Whether others can read the memory, or have put something in its place."""
    out = []
    for why in _strangers():
        said, _, mend = why.partition(": ")
        out.append(Finding("privacy", WRONG, said, mend))
    for path, mode in open_to_others():
        said = f"others can reach {path} (mode {stat.S_IMODE(path.stat().st_mode):04o})"
        out.append(Finding("privacy", WRONG, said, f"chmod {mode:o} {shlex.quote(str(path))}"))
    if why := _replaceable(Path(paths.folder(paths.database()))):
        out.append(Finding("privacy", WRONG, why, "keep the memory in a folder of yours: NMEM_DB"))
    return out or [Finding("privacy", OK, "only you can read the memory")]


def _replaceable(folder: Path) -> str:
    """Why somebody else could put another file in the memory's place; empty: nobody can."""
    try:
        found = folder.stat()
    except OSError:
        return ""
    if os.name == "nt" or not os.environ.get("NMEM_DB"):
        return ""  # the folder of its own is looked at with the files
    if found.st_uid not in (os.geteuid(), 0):
        return f"{folder} belongs to another user, who can replace the memory"
    if found.st_mode & stat.S_IWOTH and not found.st_mode & stat.S_ISVTX:
        return f"everybody can write to {folder}, and so replace the memory"
    return ""


def waiting() -> list[Finding]:
    """What has not reached the database: spooled and torn files, a long write-ahead log."""
    db = paths.database()
    out = []
    if depth := spool.waiting(db):
        said = f"{depth} batches wait in the spool for the database"
        out.append(Finding("spool", NOTE, said, "nmem doctor --fix"))
    torn = [str(path) for folder in spool.folders(db) for path in Path(folder, "torn").glob("*")]
    if torn:
        said = f"{len(torn)} spooled files could not be read and were set aside: {', '.join(torn[:3])}"
        out.append(Finding("spool", NOTE, said, f"check them, then rm -r {Path(torn[0]).parent}"))
    wal = Path(db + "-wal")
    size = wal.stat().st_size if wal.exists() else 0
    if size > _WAL_LIMIT:
        said = f"the write-ahead log is {size / 1e6:.0f} MB long: a program keeps the database open for reading"
        out.append(Finding("wal", NOTE, said, "nmem doctor --fix"))
    return out or [Finding("spool", OK, f"nothing waits; write-ahead log {size / 1e6:.1f} MB")]


def runtime() -> list[Finding]:
    """What makes a hook cheap: bytecode and compiled rules."""
    out = []
    if missing := bytecode.missing():
        said = f"every run compiles {len(missing)} modules of the hook again"
        out.append(Finding("bytecode", NOTE, said, "nmem doctor --fix"))
    else:
        out.append(Finding("bytecode", OK, "every module of the hook is compiled"))

    if settings.complete():
        out.append(Finding("rule cache", OK, rules_cache.path()))
    else:
        out.append(Finding("rule cache", NOTE, "every run compiles the redaction rules again", "nmem doctor --fix"))
    return out
