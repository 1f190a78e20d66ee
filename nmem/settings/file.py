"""Edits config.toml: reads it whole, changes single keys and keeps comments, writes it whole or not at all."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from capture import files, paths
from capture.install import atomic
from nmem.errors import NmemError
from nmem.settings import check
from nmem.settings.check import Fault
from nmem.settings.declared import SETTINGS
from nmem.text import printable

_MODE = 0o600


@dataclass(frozen=True, slots=True)
class Config:
    """The file as it was read."""

    path: str
    text: str = ""
    document: Mapping[str, object] = field(default_factory=dict)
    unreadable: str = ""
    """Why nothing could be made of it; then the document is empty."""
    exists: bool = True

    def faults(self, only: str = "") -> list[Fault]:
        """What is wrong with it."""
        if self.unreadable:
            return [Fault("", self.unreadable, _line(self.unreadable))]
        return check.faults(self.document, lines(self.text), only)

    def told(self, fault: Fault) -> str:
        """A fault as one line that names the file, and the line in it."""
        place = f"{self.path}:{fault.line}" if fault.line else self.path
        return f"{printable(place)}: {str(fault).strip()}"


def read(path: str = "") -> Config:
    """The file; never raises."""
    path = path or paths.config()
    try:
        text = files.read(path).decode()
        return Config(path, text, tomllib.loads(text))
    except FileNotFoundError:
        return Config(path, exists=False)
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        return Config(path, unreadable=f"is not UTF-8 (at line {line}, byte {error.start + 1}): save it as UTF-8")
    except (OSError, ValueError, RecursionError) as error:
        said = error.strerror if isinstance(error, OSError) else str(error)
        return Config(path, unreadable=said or type(error).__name__)


def _line(said: str) -> int | None:
    number = said.partition("at line ")[2].partition(",")[0]
    return int(number) if number.isdigit() else None


def value(document: Mapping[str, object], path: tuple[str, ...]) -> object:
    """What a document says at a path; None when nothing."""
    found: object = document
    for part in path:
        if not isinstance(found, Mapping) or part not in found:
            return None
        found = found[part]
    return found


def table(name: str) -> Mapping[str, object]:
    """One table of the file, empty when there is no file or no such table. Raises NmemError at its first fault."""
    config = read()
    found = config.document.get(name, {})
    if config.unreadable or not isinstance(found, Mapping):
        raise NmemError(f"{config.path}: {config.unreadable or f'[{name}] is not a table'}")
    if _defaults(name) and (faults := config.faults(name)):
        raise NmemError(config.told(faults[0]))
    return found


def values(name: str) -> dict[str, object]:
    """The settings of one table that are in force, by the rest of their names; the defaults of what is not said.

    Those with a part to choose stay as they stand in the file. Raises NmemError.
    """
    own = table(name)
    return {**_defaults(name), **own}


@lru_cache
def _defaults(name: str) -> dict[str, object]:
    """The settings of one table with what holds where nothing is said; empty for a table that is not declared."""
    return {setting.parts[1]: setting.default for setting in SETTINGS if setting.parts[0] == name}


def put(path: tuple[str, ...], new: object) -> list[Fault]:
    """Set one key, keeping comments and order; faults that others keys have are returned, those of this one raised.

    Raises NmemError, and then the file is what it was.
    """
    return _change(path, new, take_away=False)


def take_away(path: tuple[str, ...]) -> list[Fault]:
    """Take one key out; raises NmemError when it is not there."""
    return _change(path, None, take_away=True)


def _change(path: tuple[str, ...], new: object, *, take_away: bool) -> list[Fault]:
    import tomlkit  # on use: start-up stays short

    config = read()
    if config.unreadable:
        raise NmemError(f"{config.told(config.faults()[0])}; fix the file first: nmem config edit")
    document = tomlkit.parse(config.text)
    if take_away:
        _remove(document, path, config.path)
    else:
        _insert(document, path, new)
    text = tomlkit.dumps(document)
    changed = Config(config.path, text, tomllib.loads(text))
    found = changed.faults()
    own = [fault for fault in found if not take_away and fault.name == check.dotted(path)]
    if own:
        raise NmemError(str(own[0]))
    _write(config, text)
    return found


def _insert(document: MutableMapping[str, Any], path: tuple[str, ...], new: object) -> None:
    import tomlkit  # on use: start-up stays short

    table: Any = document
    for part in path[:-1]:
        if part not in table:
            table[part] = tomlkit.table()
        table = table[part]
        if not isinstance(table, dict):
            raise NmemError(f"{part} is not a table in this file")
    table[path[-1]] = new


def _remove(document: MutableMapping[str, Any], path: tuple[str, ...], file: str) -> None:
    table: Any = document
    for part in path[:-1]:
        table = table.get(part) if isinstance(table, dict) else None
    if not isinstance(table, dict) or path[-1] not in table:
        raise NmemError(f"{check.dotted(path)} is not set in {file}")
    held: Any = table
    del held[path[-1]]
    if not held and len(path) > 1 and "#" not in held.as_string():
        _remove(document, path[:-1], file)


def _write(config: Config, text: str) -> None:
    """For the owner alone: a key may stand in it."""
    try:
        paths.make(paths.folder(config.path))
        atomic.replace(config.path, text.encode(), config.text.encode() if config.exists else None, _MODE)
        Path(config.path).chmod(_MODE)
    except atomic.Changed:
        raise NmemError(f"{config.path} changed in the meantime; nothing was written: run the command again") from None
    except OSError as error:
        raise NmemError(f"{config.path} cannot be written: {os.strerror(error.errno or 0)}") from None


KeyPath = tuple[str, ...]
_LONGEST = 500
"""Lines of one value that are put together before it counts as no value."""


def lines(text: str) -> dict[KeyPath, int]:
    """Line numbers, from 1, of the keys of a readable document; those of a list's items are where the list begins."""
    out: dict[KeyPath, int] = {}
    table: KeyPath = ()
    rows = text.split("\n")
    at = 0
    while at < len(rows):
        row = rows[at].strip()
        size = 1
        if row.startswith("["):
            table = _header(row) or table
            out.setdefault(table, at + 1)
        elif row and not row.startswith("#"):
            size, found = _value(rows, at)
            for path in _paths(found):
                out.setdefault(table + path, at + 1)
        at += size
    return out


def _header(row: str) -> KeyPath:
    try:
        found: object = tomllib.loads(row)
    except tomllib.TOMLDecodeError:
        return ()
    path: KeyPath = ()
    while found:
        found = found[0] if isinstance(found, list) else found
        if not isinstance(found, dict) or not found:
            break
        (name, found), *_ = found.items()
        path += (name,)
    return path


def _value(rows: list[str], at: int) -> tuple[int, dict[str, object]]:
    """How many lines a key and its value take, and what they say."""
    for size in range(1, min(_LONGEST, len(rows) - at) + 1):
        try:
            return size, tomllib.loads("\n".join(rows[at : at + size]))
        except tomllib.TOMLDecodeError:
            continue
    return 1, {}


def _paths(found: dict[str, object], above: KeyPath = ()) -> Iterator[KeyPath]:
    for name, value in found.items():
        yield (*above, name)
        if isinstance(value, dict):
            yield from _paths(value, (*above, name))
