"""Records a changed setting with its previous value (SQL: the correction), and undoes it."""

from __future__ import annotations

import json
from functools import partial
from sqlite3 import Connection
from typing import TYPE_CHECKING

from capture.redaction import redact
from capture.storage.store import transaction
from nmem.store.corrections import Entry, write
from nmem.text import fit, printable

if TYPE_CHECKING:
    from nmem.settings.check import Fault
    from nmem.settings.kinds import Setting

KIND = "setting"
"""Of the corrections; their target is setting/TABLE.NAME."""


def put(db: Connection | None, path: tuple[str, ...], new: object, now: int) -> tuple[list[Fault], bool]:
    """Write one setting into config.toml, or take it out where `new` is None. Gives mistakes elsewhere in the file, and
    whether `nmem undo` takes it back.

    Without a database nothing is kept for undo, and never what may be a secret. Raises NmemError, and then nothing is
    changed.
    """
    from nmem.settings import declared, file  # on use: start-up stays short

    before = file.value(file.read().document, path)
    change = partial(file.take_away, path) if new is None else partial(file.put, path, new)
    if db is None or before == new or "." in "".join(path) or not _plain(declared.find(path), before, new):
        return change(), before == new
    with transaction(db):
        write(db, KIND, f"setting/{'.'.join(path)}", {"value": new}, {"value": before}, now)
        return change(), True


def _plain(setting: Setting | None, *values: object) -> bool:
    """Whether values may stand in the database: no key, no pattern of a secret, nothing that would be redacted."""
    if setting is None or setting.secret or (setting.parts[0] == "redaction" and setting.parts[-1] != "sensitivity"):
        return False
    try:
        texts = [json.dumps(value, ensure_ascii=False) for value in values]
    except TypeError:  # a date, which no setting is
        return False
    return all(redact(text) == text for text in texts)


def ours(entry: Entry) -> bool:
    """Whether a correction is one of these."""
    return entry.kind == KIND


def describe(entry: Entry) -> str:
    """What a person did, in a few words."""
    name, value = entry.target.partition("/")[2], entry.payload.get("value")
    if value is None:
        return f"config.toml: {name} is unset"
    return f"config.toml: {name} = {fit(printable(json.dumps(value, ensure_ascii=False)), 60)}"


def take_back(db: Connection, entry: Entry, now: int) -> str:  # noqa: ARG001 -- as its neighbours have it
    """Write what stood there before; what the person should know beside it. Raises NmemError."""
    from nmem.settings import file  # on use: start-up stays short

    path = tuple(entry.target.partition("/")[2].split("."))
    if file.value(file.read().document, path) != entry.payload.get("value"):
        return "the setting was changed later, and that change is kept"
    if entry.before.get("value") is None:
        file.take_away(path)
    else:
        file.put(path, entry.before["value"])
    return ""
