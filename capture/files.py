"""Files replaced whole or not at all, for those who cannot afford `tempfile`."""

from __future__ import annotations

import os


def replace(path: str, data: bytes) -> None:
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
