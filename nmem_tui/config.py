"""Reads the cockpit's part of the config file: theme and symbols in `[tui]`, `[tui.colours]`, `[tui.keys]`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nmem_tui.model.actions import Keys


@dataclass(frozen=True, slots=True)
class Own:
    """What a person set."""

    theme: str = ""
    keys: Keys = field(default_factory=dict)
    wrong: tuple[str, ...] = ()
    """What is wrong with the file, a line each."""
    symbols: str = ""
    colours: Mapping[str, str] = field(default_factory=dict)
    """Role -> colour."""
    readable: bool = True
    """Whether anything can be made of the file; otherwise what was read of it before should stay."""


def read(path: str) -> Own:
    """What can be used; a setting that is wrong counts as not said."""
    from nmem.settings import file  # on use: start-up stays short

    config = file.read(path)
    faults = config.faults("tui")
    wrong = tuple(f"line {one.line}: {one}" if one.line else str(one).strip() for one in faults)
    if config.unreadable:
        return Own(wrong=wrong, readable=False)
    bad = {one.name for one in faults}
    theme, symbols = (
        "" if f"tui.{name}" in bad else str(file.value(config.document, ("tui", name)) or "")
        for name in ("theme", "symbols")
    )
    own = file.value(config.document, ("tui", "colours"))
    table = own if isinstance(own, Mapping) else {}
    colours = {role: str(colour) for role, colour in table.items() if f"tui.colours.{role}" not in bad}
    given = file.value(config.document, ("tui", "keys"))
    if not isinstance(given, Mapping) or not given:
        return Own(theme, {}, wrong, symbols, colours)
    from nmem_tui.keymap import read as understood  # on use: start-up stays short

    return Own(theme, understood(given)[0], wrong, symbols, colours)
