"""Sealed trash: purged rows, encrypted with age to a key in a separate file, until the window is over.

Destroying the key is what makes it gone: whatever keeps a copy of the sealed file keeps nothing that can be read.
Nothing is written in the clear, not even for a moment.
"""

from __future__ import annotations

import io
import marshal
import os
import struct
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from capture import paths
from capture.files import opened, ours
from nmem.errors import NmemError

FOLDER = "trash"
_HEAD = struct.Struct("<I")


def folder(db_path: str) -> Path:
    """Where trash lies."""
    return Path(paths.folder(db_path), FOLDER)


def sealed(db_path: str, number: int) -> Path:
    """The sealed file of a purge."""
    return folder(db_path) / f"{number}.age"


def key(db_path: str, number: int) -> Path:
    """The file with its key."""
    return folder(db_path) / f"{number}.key"


def put(db_path: str, number: int, frames: Iterable[object]) -> int:
    """Seal values, in their order; the size of the file, which is on the disk when this returns. Raises OSError."""
    import pyrage  # on use: start-up stays short

    paths.make(str(folder(db_path)))
    ours(str(folder(db_path)), folder=True)
    identity = pyrage.x25519.Identity.generate()
    _write_key(key(db_path, number), str(identity))
    place = sealed(db_path, number)
    place.unlink(missing_ok=True)
    with os.fdopen(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        pyrage.encrypt_io(_Packed(frames), file, [identity.to_public()])
        file.flush()
        os.fsync(file.fileno())
        size = file.tell()
    _settled(folder(db_path))
    return size


def take(db_path: str, number: int) -> Iterator[object]:
    """What was sealed. Raises NmemError when the key is gone or the file is damaged."""
    import pyrage  # on use: start-up stays short

    try:
        ours(str(folder(db_path)), folder=True)
        with os.fdopen(opened(str(key(db_path, number))), encoding="ascii") as secret:
            identity = pyrage.x25519.Identity.from_str(secret.read().strip())
        out = io.BytesIO()
        with os.fdopen(opened(str(sealed(db_path, number))), "rb") as file:
            pyrage.decrypt_io(file, out, [identity])
        data = zlib.decompress(out.getbuffer())
    except (OSError, ValueError, zlib.error, pyrage.IdentityError, pyrage.DecryptError) as error:
        raise NmemError(f"the trash of purge/{number} cannot be opened: {error}") from None
    at = 0
    while at < len(data):
        (size,) = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        yield marshal.loads(data[at : at + size])  # noqa: S302 - decrypted by a key of ours, and authenticated
        at += size


def destroy(db_path: str, number: int) -> None:
    """The key is overwritten and gone, and so is what it opened. Raises OSError when the key cannot be taken away."""
    place = key(db_path, number)
    ours(str(folder(db_path)), folder=True)
    try:
        with os.fdopen(opened(str(place), os.O_WRONLY), "wb") as file:
            size = os.fstat(file.fileno()).st_size
            file.write(bytes(size))
            file.flush()
            os.fsync(file.fileno())
        place.unlink()
    except FileNotFoundError:
        pass
    sealed(db_path, number).unlink(missing_ok=True)
    _settled(folder(db_path))


def kept(db_path: str) -> set[int]:
    """The numbers of all purges of which something lies in the trash."""
    try:
        ours(str(folder(db_path)), folder=True)
        names = [path.name for path in folder(db_path).iterdir()]
    except OSError:
        return set()
    return {int(stem) for name in names for stem, dot, _ in [name.partition(".")] if dot and stem.isdecimal()}


def _write_key(place: Path, text: str) -> None:
    place.unlink(missing_ok=True)
    with os.fdopen(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
        file.write(text + "\n")
        file.flush()
        os.fsync(file.fileno())


def _settled(place: Path) -> None:
    """Names in a folder are on the disk as well."""
    try:
        handle = os.open(place, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass  # not every system can
    finally:
        os.close(handle)


class _Packed(io.RawIOBase):
    """Values as a stream of compressed bytes, made as they are read."""

    def __init__(self, frames: Iterable[object]) -> None:
        self._chunks = self._packed(iter(frames))
        self._rest = b""

    @staticmethod
    def _packed(frames: Iterator[object]) -> Iterator[bytes]:
        packer = zlib.compressobj(1)
        for value in frames:
            data = marshal.dumps(value)  # type: ignore[arg-type]
            if chunk := packer.compress(_HEAD.pack(len(data)) + data):
                yield chunk
        yield packer.flush()

    def readable(self) -> bool:
        """It is."""
        return True

    def read(self, size: int = -1) -> bytes:
        """As many bytes as are asked for, fewer only at the end."""
        parts, have = [self._rest], len(self._rest)
        while size < 0 or have < size:
            chunk = next(self._chunks, None)
            if chunk is None:
                break
            parts.append(chunk)
            have += len(chunk)
        data = b"".join(parts)
        size = len(data) if size < 0 else size
        self._rest = data[size:]
        return data[:size]
