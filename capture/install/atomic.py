"""Replaces or deletes a client's settings file whole or not at all, unless it changed since it was read."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile

from capture import files

LARGEST = 256 << 20
"""Bytes of a settings file: some clients keep their history in theirs."""


class Changed(Exception):
    """The file is not what it was when it was read; nothing was written."""


def read(path: str) -> bytes | None:
    """A file's bytes; None when there is none."""
    try:
        return files.read(path, LARGEST)
    except FileNotFoundError:
        return None


def _sync_folder(folder: str) -> None:
    if os.name == "nt":  # folders cannot be opened there
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _like(path: str, handle: int, mode: int) -> None:
    """Give a new file the mode and owner of the one it replaces, else `mode`."""
    try:
        old = os.stat(path)
    except FileNotFoundError:
        if hasattr(os, "fchmod"):
            os.fchmod(handle, mode)
        return
    if not hasattr(os, "fchmod"):
        return
    if (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
        with contextlib.suppress(PermissionError):  # somebody else's file in our folder: the content is what counts
            os.fchown(handle, old.st_uid, old.st_gid)
    os.fchmod(handle, stat.S_IMODE(old.st_mode))


def _unchanged(path: str, expected: bytes | None) -> None:
    if read(path) != expected:
        raise Changed(path)


def replace(path: str, data: bytes, expected: bytes | None, mode: int = 0o600) -> None:
    """Write a file by way of a temporary one beside it; a symbolic link stays and its target changes.

    `expected` is what the caller read; when the file holds something else by now, Changed is raised.
    `mode` is for a file that did not exist.
    """
    real = os.path.realpath(path)
    folder = os.path.dirname(real)
    handle, temporary = tempfile.mkstemp(prefix=".nmem-", dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            _like(real, file.fileno(), mode)
            os.fsync(file.fileno())
        _unchanged(real, expected)
        os.replace(temporary, real)
    except BaseException:
        os.unlink(temporary)
        raise
    _sync_folder(folder)


def delete(path: str, expected: bytes) -> None:
    """Take a file away, unless it changed since it was read."""
    _unchanged(path, expected)
    os.unlink(path)
    _sync_folder(os.path.dirname(os.path.abspath(path)))
