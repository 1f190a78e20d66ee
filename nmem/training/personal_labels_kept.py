"""Stores, logs and removes a person's own label weights and model card beside the database. Needs no extras."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from sqlite3 import Connection
from typing import Any

from capture import cache
from capture.files import replace
from capture.labels import model as engine
from capture.storage.store import transaction
from nmem.errors import NmemError
from nmem.labels import cards, store
from nmem.training import store as history


@dataclass(frozen=True, slots=True)
class Table:
    """What is to label from now on, with its card; None: the weights of the package."""

    value: tuple[Any, ...] | None = None
    card: dict[str, Any] = field(default_factory=dict)


def path(db_path: str) -> str:
    """Where the person's weights are; empty when those of the package label."""
    file = Path(engine.personal_file(db_path))
    return str(file) if file.exists() else ""


def reset(db: Connection, db_path: str, now: int) -> bool:
    """Go back to the weights of the package; whether others were there. Raises NmemError or sqlite3.Error."""
    if not _there(Path(engine.personal_file(db_path))):
        return False
    keep(db, db_path, now, Table(), "reset: the weights of the package label again", {})
    return True


def keep(
    db: Connection, db_path: str, now: int, table: Table, reason: str, metrics: Mapping[str, Any]
) -> None:  # fmt: skip
    """Put a table in force and note it: both or neither. Raises NmemError or sqlite3.Error."""
    base, current = engine.shipped(), engine.current(db_path)
    after = table.value[1] if table.value else base.name if base else ""
    with _as_it_was(db_path), transaction(db):
        was = {"model": current.name if current else ""}
        history.note(db, "labels", history.Fitting(now, was, {"model": after}, reason, dict(metrics)))
        _write(db_path, table)
    model = engine.current(db_path)
    if model is None or model.name != after:
        raise NmemError(f"the weights in {path(db_path)} are not trusted: others may write to the file or its folder")
    store.met(db, db_path, model, now)


@contextmanager
def _as_it_was(db_path: str) -> Iterator[None]:
    """Puts both files back as they were when what is done here does not come to its end."""
    files = Path(engine.personal_file(db_path)), cards.personal_file(db_path)
    before = [file.read_bytes() if file.is_file() and not file.is_symlink() else None for file in files]
    try:
        yield
    except BaseException:
        for file, held in zip(files, before, strict=True):
            if held is not None:
                replace(str(file), held)
            elif _there(file) and not file.is_symlink():
                file.unlink()
        raise


def _write(db_path: str, table: Table) -> None:
    """Both files whole or not at all, for the owner only; the table, which decides, comes last."""
    file, about = Path(engine.personal_file(db_path)), cards.personal_file(db_path)
    try:
        if table.value is None:
            file.unlink(missing_ok=True)
            about.unlink(missing_ok=True)
            return
        replace(str(about), json.dumps(table.card, ensure_ascii=False, indent=1).encode())
    except OSError as error:
        raise NmemError(f"the weights cannot be stored: {error}") from None
    if not cache.write(str(file), table.value):
        raise NmemError(f"the weights cannot be stored: {file.parent} is not yours alone, or cannot be written")


def _there(file: Path) -> bool:
    return file.exists() or file.is_symlink()
