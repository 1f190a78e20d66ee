"""Checks, reads and replaces a project's instructions file (CLAUDE.md, AGENTS.md), never outside the project."""

from __future__ import annotations

import difflib
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeVar

from capture.install import atomic
from capture.storage.store import transaction
from nmem.errors import NmemError
from nmem.learn.instructions import Unfit
from nmem.text import printable

if TYPE_CHECKING:
    from sqlite3 import Connection

NAMES = {"claude": ("CLAUDE.md", ".claude/CLAUDE.md"), "gemini": ("GEMINI.md",)}
"""Where a client reads its instructions; every other one reads AGENTS.md."""
OTHERS = ("AGENTS.md",)
SKILL = "SKILL.md"
"""The file of a client's skill: nmem makes one for a skill, in a folder of its own, and it holds nothing else."""
_ENDINGS = (".md", ".mdc", ".markdown")
_LARGEST = 4_000_000
_WRITABLE = 0o222
_MODE = 0o644
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Instructions:
    """A file of instructions as it was read."""

    root: str
    """The project's folder."""
    name: str
    """The path in it, as it was asked for."""
    data: bytes | None
    """None: there is no such file yet."""

    @property
    def path(self) -> str:
        """The path as a person wrote it; it may be a symbolic link."""
        return str(Path(self.root, self.name))

    @property
    def real(self) -> str:
        """Where it leads."""
        return os.path.realpath(self.path)


def chosen(root: str, clients: tuple[str, ...]) -> str:
    """The file to use in a project: one that exists, of the client that is used most; `clients` in that order."""
    ordered = [name for client in clients for name in NAMES.get(client, OTHERS)]
    every = list(dict.fromkeys([*ordered, *OTHERS, *(name for names in NAMES.values() for name in names)]))
    there = (name for name in every if os.path.lexists(Path(root, name)))
    return next(there, every[0])


def read(root: str, file: str) -> Instructions:
    """A file in a project, by its path in it or an absolute one. Raises NmemError when it may not be written."""
    if not Path(root).is_dir():
        raise NmemError(f"the project's folder {printable(root)} no longer exists: there is nothing to write into")
    path = os.path.normpath(Path(root, file.replace("\0", "")))
    within = next((base for base in (root, os.path.realpath(root)) if _inside(path, base)), None)
    if within is None:
        raise NmemError(f"{printable(file)} is outside the project {printable(root)}: rules go into its own files")
    name = os.path.relpath(path, within)
    shown = printable(name)
    if Path(name).suffix.lower() not in _ENDINGS or ".git" in Path(name).parts:
        raise NmemError(f"{shown} is not a Markdown file: rules go into CLAUDE.md, AGENTS.md, GEMINI.md or another .md")
    return Instructions(root, name, _read(_real(path, root, shown), shown))


def is_skill(name: str) -> bool:
    """Whether a file is a skill of a client."""
    return Path(name).name == SKILL


def write(file: Instructions, data: bytes | None) -> None:
    """Replace the file, or take it away (None). Raises NmemError; then nothing was written."""
    shown = printable(file.name)
    real = _real(file.path, file.root, shown)
    if data == file.data:
        return
    try:
        if data is None:
            atomic.delete(real, file.data or b"")
            if is_skill(file.name):
                with suppress(OSError):  # something else lies in it
                    Path(real).parent.rmdir()
        else:
            if is_skill(file.name):
                Path(real).parent.mkdir(parents=True, exist_ok=True)
            atomic.replace(real, data, file.data, _MODE)
    except atomic.Changed:
        raise NmemError(f"{shown} changed in the meantime: nothing was written, try again") from None
    except OSError as error:
        raise NmemError(f"{shown} cannot be written: {_why(error)}") from None


def edited(file: Instructions, change: Callable[[], T]) -> T:
    """What a change of it gives; where it cannot be done, the error names the file."""
    try:
        return change()
    except Unfit as error:
        raise NmemError(f"{printable(file.name)}: {error}") from None


def difference(file: Instructions, after: bytes | None) -> list[str]:
    """A unified diff, printable; empty when nothing changes."""
    name = file.name.replace(os.sep, "/")
    before = "/dev/null" if file.data is None else f"a/{name}"
    later = "/dev/null" if after is None else f"b/{name}"
    found = difflib.unified_diff(_shown(file.data), _shown(after), before, later, n=2, lineterm="")
    return [part for line in found for part in _parts(line)]


_OPEN_END = "\0"
"""Behind a last line that has no line end; no file that is written to holds one."""


def _shown(data: bytes | None) -> list[str]:
    lines = (data or b"").decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
    last = lines.pop()
    return [*lines, last + _OPEN_END] if last else lines


def _parts(line: str) -> list[str]:
    """A line of a diff, printable, and what diff says below one without a line end."""
    if line.endswith(_OPEN_END):
        return [printable(line.removesuffix(_OPEN_END)), "\\ No newline at end of file"]
    return [printable(line)]


def _inside(path: str, root: str) -> bool:
    try:
        return os.path.commonpath((path, os.path.normpath(root))) == os.path.normpath(root)
    except ValueError:  # another drive
        return False


def _real(path: str, root: str, shown: str) -> str:
    """Where a path leads, which must be in the project as well: neither it nor a folder above may lead out."""
    real = os.path.realpath(path)
    if not _inside(real, os.path.realpath(root)):
        raise NmemError(f"{shown} leads to {printable(real)}, outside the project: nmem does not follow it")
    return real


def _read(real: str, shown: str) -> bytes | None:
    """The bytes; None where there is no file yet, but a folder for it."""
    try:
        known = Path(real).stat()
    except FileNotFoundError:
        folder = Path(real).parent
        if not folder.is_dir() and not is_skill(real):
            raise NmemError(f"there is no folder {printable(str(folder))} for {shown}") from None
        return None
    except OSError as error:
        raise NmemError(f"{shown} cannot be read: {_why(error)}") from None
    if not stat.S_ISREG(known.st_mode):
        raise NmemError(f"{shown} is {'a folder' if stat.S_ISDIR(known.st_mode) else 'not a file'}: name another one")
    if not (known.st_mode & _WRITABLE and os.access(real, os.W_OK)):
        raise NmemError(f"{shown} is read-only: make it writable, or name another one")
    if known.st_size > _LARGEST:
        raise NmemError(f"{shown} is larger than {_LARGEST // 1_000_000} MB: too large for a file of instructions")
    try:
        data = atomic.read(real)
    except OSError as error:
        raise NmemError(f"{shown} cannot be read: {_why(error)}") from None
    if data and (b"\x00" in data or data.startswith((b"\xff\xfe", b"\xfe\xff"))):
        raise NmemError(f"{shown} is not UTF-8 text: convert it, or name another file")
    return data


def _why(error: OSError) -> str:
    return error.strerror or type(error).__name__


class Written:
    """A transaction that writes a file at its end, last of all; when the commit fails, the file is put back."""

    def __init__(self, db: Connection) -> None:
        self._transaction = transaction(db)
        self._planned: tuple[Instructions, bytes | None] | None = None

    def file(self, file: Instructions, after: bytes | None) -> None:
        """What shall be written when all else is done; None takes the file away."""
        self._planned = file, after

    def __enter__(self) -> Self:
        self._transaction.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if kind is not None or self._planned is None:
            self._transaction.__exit__(kind, error, trace)
            return

        file, after = self._planned
        try:
            write(file, after)
        except BaseException as failure:
            self._transaction.__exit__(type(failure), failure, failure.__traceback__)
            raise
        try:
            self._transaction.__exit__(None, None, None)
        except BaseException:
            with suppress(NmemError):
                write(Instructions(file.root, file.name, after), file.data)
            raise
