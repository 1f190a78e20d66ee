"""Reads the person's config.toml strictly: a faulty setting is one clear error, never a default.

Off the hook's path only; what may be said is declared in nmem.settings.
"""

from __future__ import annotations

from collections.abc import Mapping

from nmem.errors import NmemError
from nmem.settings import file
from nmem.settings.declared import SETTINGS


def table(name: str) -> Mapping[str, object]:
    """One table of the file, empty when there is no file or no such table. Raises NmemError at its first fault."""
    config = file.read()
    found = config.document.get(name, {})
    if config.unreadable or not isinstance(found, Mapping):
        raise NmemError(f"{config.path}: {config.unreadable or f'[{name}] is not a table'}")
    if any(setting.parts[0] == name for setting in SETTINGS) and (faults := config.faults(name)):
        raise NmemError(config.told(faults[0]))
    return found


def values(name: str) -> dict[str, object]:
    """The settings of one table that are in force, by the rest of their names; the defaults of what is not said.

    Those with a part to choose stay as they stand in the file. Raises NmemError.
    """
    own = table(name)
    known = {setting.parts[1]: setting.default for setting in SETTINGS if setting.parts[0] == name}
    return {**known, **own}
