"""Records a changed setting with its previous value (SQL: the correction), and undoes it."""

from __future__ import annotations

import json
from sqlite3 import Connection

from capture.storage.store import transaction
from nmem.store.corrections import Entry, write
from nmem.text import fit, printable

KIND = "setting"
"""Of the corrections; their target is setting/TABLE.NAME."""


def put(db: Connection | None, path: tuple[str, ...], new: object, now: int) -> None:
    """Write one setting into config.toml; without a database nothing is kept for undo.

    Raises NmemError, and then nothing is changed.
    """
    from nmem.settings import file

    before = file.value(file.read().document, path)
    if db is None or before == new:
        file.put(path, new)
        return
    with transaction(db):
        write(db, KIND, f"setting/{'.'.join(path)}", {"value": new}, {"value": before}, now)
        file.put(path, new)


def ours(entry: Entry) -> bool:
    """Whether a correction is one of these."""
    return entry.kind == KIND


def describe(entry: Entry) -> str:
    """What a person did, in a few words."""
    value = fit(printable(json.dumps(entry.payload.get("value"), ensure_ascii=False)), 60)
    return f"config.toml: {entry.target.partition('/')[2]} = {value}"


def take_back(db: Connection, entry: Entry, now: int) -> str:  # noqa: ARG001 -- as its neighbours have it
    """Write what stood there before; what the person should know beside it. Raises NmemError."""
    from nmem.settings import file

    path = tuple(entry.target.partition("/")[2].split("."))
    if file.value(file.read().document, path) != entry.payload.get("value"):
        return "it was changed since, and stays so"
    if entry.before.get("value") is None:
        file.take_away(path)
    else:
        file.put(path, entry.before["value"])
    return ""
