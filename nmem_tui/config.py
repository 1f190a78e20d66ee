"""What the cockpit takes from the config file: `[tui] theme = "dark"`, and keys in `[tui.keys]`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nmem_tui.actions import Keys


@dataclass(frozen=True, slots=True)
class Own:
    """What a person set."""

    theme: str = ""
    keys: Keys = field(default_factory=dict)
    wrong: tuple[str, ...] = ()
    """What is wrong with the file, a line each."""


def read(path: str) -> Own:
    """What can be used; a setting that is wrong counts as not said."""
    from nmem.settings import file

    config = file.read(path)
    faults = config.faults("tui")
    wrong = tuple(f"line {one.line}: {one}" if one.line else str(one).strip() for one in faults)
    bad = {one.name for one in faults}
    theme = "" if "tui.theme" in bad else str(file.value(config.document, ("tui", "theme")) or "")
    given = file.value(config.document, ("tui", "keys"))
    if not isinstance(given, Mapping) or not given:
        return Own(theme, {}, wrong)
    from nmem_tui.keymap import read as understood

    return Own(theme, understood(given)[0], wrong)
