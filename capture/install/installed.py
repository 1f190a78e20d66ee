"""Remembers the original bytes of changed settings files, so that uninstalling can restore them.

Lies beside the database, readable by the user alone: settings may hold tokens.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os

from capture import paths
from capture.files import ours, own
from capture.install import atomic
from capture.install.targets import USER, usual_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from capture.install.hook_entries import Left


def digest(data: bytes) -> str:
    """How a file's content is remembered."""
    return hashlib.sha256(data).hexdigest()


class Record:
    """One settings file that nmem wrote."""

    __slots__ = (
        "added", "client", "folders", "home", "left", "no_line", "original", "path", "scope", "stem", "written",
    )  # fmt: skip

    def __init__(self, path: str, client: str, scope: str) -> None:
        self.path = path
        self.client = client
        self.scope = scope
        self.home = os.path.expanduser("~")
        """The home of whom it was written for: in a copy of that home, the record is of the copy's files."""
        self.stem = ""
        """Where it was read from."""
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
    ours(folder(db), folder=True)
    stem = _stem(db, record.path)
    if record.original is not None:
        _write(stem + ".original", record.original)
    if before is not None and before != record.original:
        _write(stem + ".before", before)
    data = {
        "path": record.path, "client": record.client, "scope": record.scope, "home": os.path.expanduser("~"),
        "existed": record.original is not None, "written": record.written,
        "left": [[list(path), text] for path, text in record.left.items()], "folders": record.folders,
        "added": record.added, "no_line": record.no_line,
    }  # fmt: skip
    _write(stem + ".json", json.dumps(data, indent=1).encode())


def _write(path: str, data: bytes) -> None:
    ours(path)
    atomic.replace(path, data, atomic.read(path))


def load(db: str, path: str) -> Record | None:
    """The record of a settings file; None when nmem has none, or it cannot be read."""
    found = _read(_stem(db, path))
    if found is not None and _brought(found):
        return found
    return next((one for one in everything(db) if os.path.realpath(one.path) == os.path.realpath(path)), None)


def _read(stem: str) -> Record | None:
    try:
        ours(os.path.dirname(stem), folder=True)
        data = json.loads(own(stem + ".json"))
        record = Record(data["path"], data["client"], data["scope"])
        record.written = data["written"]
        record.left = {tuple(path): text for path, text in data["left"]}
        record.folders = data["folders"]
        record.added = data["added"]
        record.no_line = data.get("no_line") is True
        record.home, record.stem = str(data.get("home", "")), stem
        existed = data["existed"]
        record.original = own(stem + ".original", atomic.LARGEST) if existed else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return record


def everything(db: str) -> list[Record]:
    """Every settings file that nmem wrote for this home, of any project."""
    return [record for record in _every(db) if _brought(record)]


def _every(db: str) -> list[Record]:
    try:
        names = sorted(os.listdir(folder(db)))
    except OSError:
        return []
    stems = [os.path.join(folder(db), name[:-5]) for name in names if name.endswith(".json")]
    found = [record for stem in stems if (record := _read(stem))]
    told = next((home for each in found if not each.home and (home := _home_told(each))), "")
    for record in found:
        record.home = record.home or told
    return found


def elsewhere(db: str, path: str) -> str:
    """The home in which a settings file really lies, where this home is a copy of that one; else nothing.

    A link, a variable of the environment or the folder one stands in may still lead there.
    """
    here = os.path.realpath(os.path.expanduser("~"))
    homes = {here, *(os.path.realpath(each.home) for each in _every(db) if each.home)}
    found = max((home for home in homes if _inside(os.path.realpath(path), home)), key=len, default=here)
    return "" if found == here else found


def _home_told(record: Record) -> str:
    """The home that an earlier release wrote for, which did not record it: where the user's own settings lie."""
    usual = os.path.join("", *usual_file(record.client))
    told = record.scope == USER and record.path.endswith(os.sep + usual)
    return record.path.removesuffix(usual).rstrip(os.sep) if told else ""


def _brought(record: Record) -> bool:
    """Whether a record is of this home; one that came with a copy of another home now names the copy's files.

    What a copied record names outside of that home belongs to the original, and is left to it; so is what an earlier
    release, which did not record the home, wrote for a user elsewhere.
    """
    here = os.path.expanduser("~")
    if not record.home:
        return record.scope != USER or _inside(record.path, here)
    if os.path.realpath(record.home) == os.path.realpath(here):
        return True
    if not _inside(record.path, record.home):
        return False
    record.path = _moved(record.path, record.home, here)
    record.folders = [_moved(each, record.home, here) for each in record.folders if _inside(each, record.home)]
    record.home = here
    return True


def _inside(path: str, home: str) -> bool:
    return any(path.startswith(os.path.join(each, "")) for each in (home, os.path.realpath(home)))


def _moved(path: str, before: str, after: str) -> str:
    """The same place in another home."""
    base = before if path.startswith(os.path.join(before, "")) else os.path.realpath(before)
    return os.path.join(after, os.path.relpath(path, base))


def forget(db: str, path: str) -> None:
    """Drop a record and its copies."""
    found = load(db, path)
    for stem in {_stem(db, path), found.stem if found else ""} - {""}:
        for ending in (".json", ".original", ".before"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(stem + ending)
