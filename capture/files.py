"""Opens, reads, replaces and removes nmem's own files safely: owner only, no links, whole or not at all.

nmem's own files are the user's alone: no link is followed, nothing of another user's is read or written, and the mode
is put right. Of files that a client or a person names, only regular ones are read: a FIFO or a device may never end.
"""

from __future__ import annotations

import os

_CALM = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_KIND, _REGULAR, _FOLDER, _LINK = 0o170000, 0o100000, 0o040000, 0o120000
_OTHERS = 0o077
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


class NotOurs(OSError):
    """A file or folder of nmem's that is not the user's own, or is a link: nothing of it is used."""

    def __str__(self) -> str:
        return str(self.strerror)


def ours(path: str, *, folder: bool = False) -> bool:
    """Whether one of nmem's own files (or folders) is there; nobody else can read it afterwards.

    Raises NotOurs for a link, another user's and what is of another kind; else OSError.
    """
    found = seen(path, folder=folder)
    if found is None:
        return False
    if found.st_mode & _OTHERS and hasattr(os, "geteuid"):
        try:
            os.chmod(path, found.st_mode & 0o700)
        except OSError:
            return True  # a file system without modes, or one that can only be read
    return True


def seen(path: str, *, folder: bool = False) -> os.stat_result | None:
    """What one of nmem's own files (or folders) is, left as it is; None where there is none. Raises as `ours`."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return None
    _refuse(path, found, _FOLDER if folder else _REGULAR)
    return found


def opened(path: str, flags: int = os.O_RDONLY, mode: int = 0o600) -> int:
    """Open one of nmem's own files. Raises NotOurs as `ours`, and OSError."""
    try:
        handle = os.open(path, flags & ~os.O_TRUNC | _CALM | _NOFOLLOW, mode)
    except OSError:
        if os.path.islink(path):
            _refuse(path, os.lstat(path), _REGULAR)
        raise
    try:
        found = os.fstat(handle)
        _refuse(path, found, _REGULAR, alone=bool(flags & (os.O_CREAT | os.O_TRUNC)))
        if found.st_mode & _OTHERS and found.st_nlink < 2 and hasattr(os, "fchmod"):
            os.fchmod(handle, found.st_mode & 0o700)
        if flags & os.O_TRUNC:
            os.ftruncate(handle, 0)  # not before: opening would empty another's file as well
    except BaseException:
        os.close(handle)
        raise
    return handle


def _refuse(path: str, found: os.stat_result, kind: int, *, alone: bool = False) -> None:
    """`alone`: a file that is written to, which may be no second name (a hard link) of one that is not nmem's."""
    mode = found.st_mode & _KIND
    shared = alone and found.st_nlink > 1
    if not hasattr(os, "geteuid") or (mode == kind and found.st_uid == os.geteuid() and not shared):
        return  # elsewhere modes and owners say nothing: the profile folder is the user's own
    from errno import EINVAL, ELOOP, EMLINK, EPERM  # on use: start-up stays short

    if mode == _LINK:
        raise NotOurs(ELOOP, f"{path} is a link: nmem does not follow links among its own files; remove it")
    if mode != kind:
        raise NotOurs(EINVAL, f"{path} is not a {'folder' if kind == _FOLDER else 'regular file'}: remove it")
    if found.st_uid == os.geteuid():
        raise NotOurs(EMLINK, f"{path} is a hard link: nmem does not write to hard links; remove it")
    raise NotOurs(EPERM, f"{path} belongs to another user: nmem uses only your own; remove it or `chown` it")


def regular(path: str, flags: int = os.O_RDONLY) -> int:
    """Open a regular file that somebody named, links followed; also an `opener` for open(). Raises OSError."""
    handle = os.open(path, flags | _CALM)
    if os.fstat(handle).st_mode & _KIND != _REGULAR:
        from errno import EINVAL  # on use: start-up stays short

        os.close(handle)
        raise OSError(EINVAL, "not a regular file", path)
    return handle


def own(path: str, most: int = 64 << 20) -> bytes:
    """One of nmem's own files. Raises NotOurs as `ours`, and OSError, also where it is larger than `most` bytes."""
    return read(path, most, opened)


def read(path: str, most: int = 16 << 20, opener: Callable[[str, int], int] = regular) -> bytes:
    """A regular file that somebody named. Raises OSError, also where it is larger than `most` bytes."""
    with open(path, "rb", opener=opener) as file:
        data = file.read(most + 1)
    if len(data) > most:
        from errno import EFBIG  # on use: start-up stays short

        raise OSError(EFBIG, f"is larger than {most:,} bytes", path)
    return data


def replace(path: str, data: bytes, *, sync: bool = False) -> None:
    """Write a file aside, for the owner only, and rename it into place; a link at `path` is replaced, not followed.

    Raises OSError; then `path` is what it was.
    """
    folder, name = os.path.split(path)
    aside = os.path.join(folder, f".{name}.{os.getpid()}.tmp")
    try:
        handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(handle, view) :]
            if sync:
                os.fsync(handle)
        finally:
            os.close(handle)
        os.replace(aside, path)
    except OSError:
        remove(aside)  # also one that a killed process of the same number left
        raise


def remove(path: str) -> bool:
    """Take a file away; False when it is not there or does not go."""
    try:
        os.unlink(path)
    except OSError:
        return False
    return True
