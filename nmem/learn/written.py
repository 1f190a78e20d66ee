"""Changes a database and a file together: both, or neither."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Self

from capture.storage.store import transaction
from nmem.errors import NmemError

if TYPE_CHECKING:
    from sqlite3 import Connection

    from nmem.learn.files import Instructions


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
        from nmem.learn import files

        file, after = self._planned
        try:
            files.write(file, after)
        except BaseException as failure:
            self._transaction.__exit__(type(failure), failure, failure.__traceback__)
            raise
        try:
            self._transaction.__exit__(None, None, None)
        except BaseException:
            with suppress(NmemError):
                files.write(files.Instructions(file.root, file.name, after), file.data)
            raise
