"""What nmem wrote into whose settings: the original bytes, so that uninstalling can give them back.

Lies beside the database, readable by the user alone: settings may hold tokens.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os

from capture import paths
from capture.install import atomic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from capture.install.hook_entries import Left


def digest(data: bytes) -> str:
    """How a file's content is remembered."""
    return hashlib.sha256(data).hexdigest()


class Record:
    """One settings file that nmem wrote."""

    __slots__ = ("added", "client", "folders", "left", "no_line", "original", "path", "scope", "written")

    def __init__(self, path: str, client: str, scope: str) -> None:
        self.path = path
        self.client = client
        self.scope = scope
        self.original: bytes | None = None
        """What uninstalling restores; None when there was no file."""
        self.written = ""
        """The digest of what nmem wrote last."""
        self.left: Left = {}
        self.folders: list[str] = []
        """Folders that nmem made for it, outermost first."""
        self.added: list[str] = []
        """Members beside the hooks that nmem added."""
        self.no_line = False
        """The person wants the status line left alone."""


def folder(db: str) -> str:
    """Where the records lie."""
    return os.path.join(paths.folder(db), "installed")


def private_folder(path: str) -> None:
    """Make a folder that only the user can look into, with those above it."""
    paths.make(path)


def _stem(db: str, path: str) -> str:
    real = os.path.realpath(path)
    return os.path.join(folder(db), hashlib.sha256(os.fsencode(real)).hexdigest()[:16])


def save(db: str, record: Record, before: bytes | None) -> None:
    """Keep a record, and what the file held just before it was written."""
    private_folder(paths.folder(db))
    private_folder(folder(db))
    stem = _stem(db, record.path)
    if record.original is not None:
        _write(stem + ".original", record.original)
    if before is not None and before != record.original:
        _write(stem + ".before", before)
    data = {
        "path": record.path,
        "client": record.client,
        "scope": record.scope,
        "existed": record.original is not None,
        "written": record.written,
        "left": [[list(path), text] for path, text in record.left.items()],
        "folders": record.folders,
        "added": record.added,
        "no_line": record.no_line,
    }
    _write(stem + ".json", json.dumps(data, indent=1).encode())


def _write(path: str, data: bytes) -> None:
    atomic.replace(path, data, atomic.read(path))


def load(db: str, path: str) -> Record | None:
    """The record of a settings file; None when nmem has none, or it cannot be read."""
    return _read(_stem(db, path))


def _read(stem: str) -> Record | None:
    raw = atomic.read(stem + ".json")
    try:
        data = json.loads(raw or b"")
        record = Record(data["path"], data["client"], data["scope"])
        record.written = data["written"]
        record.left = {tuple(path): text for path, text in data["left"]}
        record.folders = data["folders"]
        record.added = data["added"]
        record.no_line = data.get("no_line") is True
        existed = data["existed"]
    except (ValueError, KeyError, TypeError):
        return None
    record.original = atomic.read(stem + ".original") if existed else None
    if existed and record.original is None:
        return None
    return record


def everything(db: str) -> list[Record]:
    """Every settings file that nmem wrote, of any project."""
    try:
        names = sorted(os.listdir(folder(db)))
    except OSError:
        return []
    stems = [os.path.join(folder(db), name[:-5]) for name in names if name.endswith(".json")]
    return [record for stem in stems if (record := _read(stem))]


def forget(db: str, path: str) -> None:
    """Drop a record and its copies."""
    for ending in (".json", ".original", ".before"):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(_stem(db, path) + ending)
