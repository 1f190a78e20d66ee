"""Locates a project's decisions: folder, index and files, none of them outside the folder.

Standard library only, and cheap: `nmem when` asks this each time. Paths in a `Place` are absolute; files are named by
their path in the decisions folder, with forward slashes.
"""

from __future__ import annotations

import os
import stat

from nmem.errors import NmemError
from nmem.names import cited

FOLDERS = ("agents/decisions", ".agents/decisions", ".claude/decisions", "docs/decisions", "doc/decisions", "decisions",
           "docs/adr", "doc/adr", "docs/architecture/decisions", "adr")  # fmt: skip
"""Looked for in this order, from the folder one stands in up to the project's root."""
INDEXES = ("memory-index.md", "decision-index.md")
"""Names of an index, in the decisions folder or beside it."""
PLAIN = "index.md"
"""In the decisions folder: the index where it has entries; an older one may be called so too, in any case."""
LARGEST = 4_000_000
"""Bytes of a file that is read: what is larger is no decision."""
MOST_FILES = 5_000
DEEPEST = 12
"""Folders below the decisions folder that are gone into."""
_ENDINGS = (".md", ".markdown")
_UP = 64


class Place:
    """A project's decisions: its root, their folder, and the index ("" where there is none)."""

    __slots__ = ("folder", "index", "root")

    def __init__(self, root: str, folder: str, index: str) -> None:
        self.root, self.folder, self.index = root, folder, index


class Seen:
    """A file as the folder lists it, and what tells that it changed."""

    __slots__ = ("name", "size", "stamp")

    def __init__(self, name: str, stamp: int, size: int) -> None:
        self.name, self.stamp, self.size = name, stamp, size


def find(cwd: str, folders: tuple[str, ...] = (), index: str = "") -> Place:
    """The decisions of the project that a folder belongs to; `folders` and `index` as configured go first.

    Raises NmemError, which says where was looked and what to do.
    """
    tried = (*folders, *FOLDERS)
    for root in upwards(os.path.abspath(cwd)):
        for name in tried:
            folder = os.path.join(root, os.path.expanduser(name))
            if os.path.isdir(folder) and (name in folders or inside(os.path.realpath(folder), os.path.realpath(root))):
                return Place(root, folder, _index(root, folder, index))
    raise NmemError(
        f"no decisions folder here: none of {', '.join(tried)} in {cited(cwd)} or above; make one, or name yours:"
        " nmem config set recall.folders PATH"
    )


def named(index: str, folder: str) -> Place:
    """The decisions that a person points at. Raises NmemError where they are not."""
    if not os.path.isdir(folder):
        raise NmemError(f"{folder} is not a folder: --decisions names the one that holds the decision files")
    if index and not os.path.isfile(index):
        raise NmemError(f"{index} is not a file: --index names the index of the decisions")
    beside = [os.path.dirname(os.path.abspath(each)) for each in (folder, index) if each]
    return Place(os.path.commonpath(beside), os.path.abspath(folder), index and os.path.abspath(index))


def upwards(folder: str) -> list[str]:
    """A folder and those above it, up to the root of its checkout; a folder outside of any stands alone."""
    out = [folder]
    while not os.path.lexists(os.path.join(out[-1], ".git")):
        above = os.path.dirname(out[-1])
        if above == out[-1] or len(out) > _UP:
            return [folder]
        out.append(above)
    return out


def _index(root: str, folder: str, name: str) -> str:
    beside = os.path.dirname(folder)
    if name and os.path.isfile(own := os.path.join(root, os.path.expanduser(name))):
        return own
    real = os.path.realpath(root)
    candidates = [os.path.join(where, each) for each in INDEXES for where in (folder, beside, root)]
    found = next((each for each in candidates if os.path.isfile(each) and inside(os.path.realpath(each), real)), "")
    return found or next((each for each in plain(folder) if _has_entries(each)), "")


def plain(folder: str) -> list[str]:
    """The files of a decisions folder that are called index.md, in any case."""
    try:
        named = [each for each in os.listdir(folder) if each.lower() == PLAIN]
    except OSError:
        return []
    real = os.path.realpath(folder)
    paths = [os.path.join(folder, each) for each in sorted(named)]
    return [each for each in paths if os.path.isfile(each) and inside(os.path.realpath(each), real)]


def _has_entries(path: str) -> bool:
    try:
        text = text_of(path, path)
    except NmemError:
        return False
    return any(line.startswith(("/when ", "/how ")) for line in text.splitlines())


def files(place: Place) -> tuple[list[Seen], list[str]]:
    """The decision files in order of their names, without the index, and warnings of what was left out."""
    real = os.path.realpath(place.folder)
    index = os.path.realpath(place.index) if place.index else ""
    found: list[Seen] = []
    warnings: list[str] = []
    waiting = [("", 0)]
    while waiting:
        below, depth = waiting.pop()
        try:
            listed = sorted(os.scandir(os.path.join(place.folder, below)), key=lambda each: each.name)
        except OSError as error:
            warnings.append(f"{below or place.folder}: {error.strerror}")
            continue
        for each in listed:
            name = f"{below}/{each.name}" if below else each.name
            if each.name.startswith("."):
                continue
            if each.is_dir(follow_symlinks=False):
                if depth < DEEPEST:
                    waiting.append((name, depth + 1))
                else:
                    warnings.append(f"{name}: more than {DEEPEST} folders deep, left out")
            elif each.name.lower().endswith(_ENDINGS) and (seen := _seen(each, name, real, index, warnings)):
                found.append(seen)
        if len(found) > MOST_FILES:
            warnings.append(f"more than {MOST_FILES} files: the rest are left out")
            break
    found.sort(key=lambda each: each.name)
    return found[:MOST_FILES], warnings


def _seen(each: os.DirEntry[str], name: str, real: str, index: str, warnings: list[str]) -> Seen | None:
    """A file that may be read, or None and maybe a warning."""
    try:
        if each.is_symlink() or index.endswith(each.name):
            path = os.path.realpath(each.path)
            if path == index:
                return None
            if not inside(path, real):
                warnings.append(f"{name}: leads out of the decisions folder, left out")
                return None
        found = each.stat()
    except OSError as error:
        warnings.append(f"{name}: {error.strerror}, left out")
        return None
    if not stat.S_ISREG(found.st_mode):
        warnings.append(f"{name}: not a file, left out")
        return None
    if found.st_size > LARGEST:
        warnings.append(f"{name}: {found.st_size:,} bytes are more than {LARGEST:,}, left out")
        return None
    return Seen(name, found.st_mtime_ns, found.st_size)


def inside(path: str, real: str) -> bool:
    """Whether a real path is in a real folder."""
    return path.startswith(real.rstrip(os.sep) + os.sep)


def read(place: Place, name: str) -> str:
    """The text of a decision file. Raises NmemError when it is not in the folder, too large, or no text."""
    path = os.path.realpath(os.path.join(place.folder, name))
    if not inside(path, os.path.realpath(place.folder)):
        raise NmemError(f"{name} is outside the decisions folder: only files in that folder are shown")
    return text_of(path, name)


def text_of(path: str, name: str) -> str:
    """The text of a file as it stands, line ends included. Raises NmemError when it is too large or no text."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        try:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode) or found.st_size > LARGEST:
                raise NmemError(f"{name}: no file of at most {LARGEST:,} bytes, so no decisions")
            data = b""
            while len(data) <= LARGEST and (more := os.read(handle, LARGEST + 1 - len(data))):
                data += more
        finally:
            os.close(handle)
    except OSError as error:
        raise NmemError(f"{name}: {error.strerror or error}") from None
    if b"\0" in data:
        raise NmemError(f"{name}: binary, so no decisions")
    return data.decode("utf-8", "replace")
