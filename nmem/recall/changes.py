"""Changes decision files of a project: previewed, written all or none, undone by `nmem undo` (SQL).

What the files were is kept beside the database, the user's own; the correction itself says only which files.
"""

from __future__ import annotations

import difflib
import os
from dataclasses import dataclass, field
from hashlib import blake2b
from sqlite3 import Connection

from capture import cache, paths
from capture.install import atomic
from capture.storage.store import transaction
from nmem.errors import NmemError
from nmem.recall.folder import inside
from nmem.store import corrections
from nmem.store.corrections import Entry
from nmem.text import counted, printable, whole

KIND = "recall"
_SHAPE = [(str, bool, bytes, bytes)]
"""Path, whether there was a file, what it was, the digest of what it became."""


@dataclass
class Change:
    """What shall be written below a root: for each path what it holds now (None: nothing) and what it shall hold."""

    said: str
    root: str
    files: dict[str, tuple[bytes | None, bytes]] = field(default_factory=dict)
    of: str = "decisions"
    """What the files hold, as the correction is told."""

    def put(self, path: str, after: str) -> None:
        """Plan a file's new text; what is read once is what must still be there when it is written."""
        if not inside(os.path.realpath(path), os.path.realpath(self.root)):
            raise NmemError(f"{path} leads out of {self.root}: only the project's own files are written")
        before = self.files[path][0] if path in self.files else atomic.read(path)
        self.files[path] = (before, after.encode("utf-8", "surrogateescape"))

    def text(self, path: str) -> str:
        """A file's text as it stands or is planned, every byte of it; "" where there is none."""
        before, after = self.files.get(path) or (atomic.read(path), None)
        return (before or b"" if after is None else after).decode("utf-8", "surrogateescape")

    @property
    def changed(self) -> dict[str, tuple[bytes | None, bytes]]:
        """The files that become others."""
        return {path: both for path, both in self.files.items() if both[0] != both[1]}

    def diff(self) -> str:
        """The change as a unified diff, printable."""
        out: list[str] = []
        for path, (before, after) in self.changed.items():
            name = os.path.relpath(path, self.root)
            old, new = ((data or b"").decode("utf-8", "replace").splitlines() for data in (before, after))
            out += difflib.unified_diff(old, new, f"a/{name}" if before is not None else "/dev/null", f"b/{name}",
                                        lineterm="", n=1)  # fmt: skip
        return "\n".join(map(printable, out))


def apply(db: Connection, change: Change, now: int) -> int:
    """Write a change and keep what was; how many files. Raises NmemError, then nothing was written."""
    files = change.changed
    if not files:
        return 0
    kept = [(path, before is not None, before or b"", _digest(after)) for path, (before, after) in files.items()]
    number = now
    if not cache.write(_kept(number), kept):
        raise NmemError(
            f"{os.path.dirname(_kept(number))} cannot be written, so the change could not be undone: nothing changed"
        )
    done: list[str] = []
    try:
        for path, (before, after) in files.items():
            os.makedirs(os.path.dirname(path), exist_ok=True)
            atomic.replace(path, after, before, mode=0o644)
            done.append(path)
        with transaction(db):
            told = {"said": change.said, "files": len(files), "of": change.of, "root": change.root}
            corrections.write(db, KIND, f"{KIND}/{number}", told, {}, now)
    except BaseException as error:
        for path in done:
            _put(path, *files[path])
        if isinstance(error, (OSError, atomic.Changed)):
            raise NmemError(f"{printable(str(error))}: not written, and nothing else changed") from None
        raise
    return len(files)


def _put(path: str, before: bytes | None, after: bytes) -> None:
    if before is None:
        atomic.delete(path, after)
    else:
        atomic.replace(path, before, after)


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).digest()


def _kept(number: int) -> str:
    return os.path.join(paths.cache(paths.database()), f"recall-undo-{number}.bin")


def ours(entry: Entry) -> bool:
    """Whether a correction is one of these."""
    return entry.kind == KIND


def describe(entry: Entry) -> str:
    """What was changed, in a few words."""
    told = entry.payload
    of, said = told.get("of", "decisions"), told.get("said", "changed")
    return printable(f"{of}: {said} ({counted(whole(told.get('files')), 'file')})")


def take_back(db: Connection, entry: Entry, now: int) -> str:  # noqa: ARG001 - as every part takes back
    """Put the files back byte for byte; what was not, and why. Raises NmemError when nothing can be put back."""
    number = entry.target.partition("/")[2]
    kept = cache.read(_kept(int(number)), _SHAPE) if number.isdecimal() else None
    if not isinstance(kept, list):
        raise NmemError("the previous files are no longer kept")
    left: list[str] = []
    for path, was, before, digest in kept:
        now_there = atomic.read(path)
        if now_there is None or _digest(now_there) != digest:
            left.append(os.path.basename(path))
            continue
        _put(path, before if was else None, now_there)
    if left and len(left) == len(kept):
        raise NmemError(f"{printable(', '.join(left))} {'was' if len(left) == 1 else 'were'} changed since")
    return f"changed since, and left as they are: {printable(', '.join(left))}" if left else ""
