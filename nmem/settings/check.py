"""Checks a whole config file against the declared settings: unknown names, types, ranges."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from nmem.settings.declared import SETTINGS, find, tables
from nmem.settings.kinds import ANY, CHOICE, Setting, wrong
from nmem.text import printable

Path = tuple[str, ...]
CHECKS = {("tui", "keys"): "nmem_tui.keymap"}
"""Table -> a module whose `said(table)` gives what is wrong: the key, and the rest of the sentence."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong."""

    name: str
    """The setting's dotted name as it stands in the document."""
    said: str
    """The rest of the sentence."""
    line: int | None = None

    def __str__(self) -> str:
        return printable(f"{self.name}{'' if self.said.startswith('[') else ' '}{self.said}")


def faults(document: Mapping[str, object], lines: Mapping[Path, int] | None = None, only: str = "") -> list[Fault]:
    """What is wrong with a document, in the order in which it stands there; `only` one table of it."""
    places = lines or {}
    out = []
    looked_at = {only: document[only]} if only in document else {} if only else document
    found = list(_walk(looked_at, ()))
    told = {path for path, _ in found}
    found += [(path, said) for path, said in _of_readers(looked_at) if path not in told]
    for path, said in found:
        line = next((places[path[:size]] for size in range(len(path), 0, -1) if path[:size] in places), None)
        out.append(Fault(dotted(path), said, line))
    return out


def _of_readers(document: Mapping[str, object]) -> Iterator[tuple[Path, str]]:
    """What only the reader of a table can say: a higher layer, known by name, asked when the table is there."""
    for path, module in CHECKS.items():
        found: object = document
        for part in path:
            found = found.get(part) if isinstance(found, Mapping) else None
        if isinstance(found, Mapping) and found:
            for key, said in importlib.import_module(module).said(found):
                yield (*path, key), said


def dotted(path: Path) -> str:
    """A path as TOML writes it."""
    return ".".join(part if _bare(part) else '"' + part.replace('"', '\\"') + '"' for part in path)


def _bare(part: str) -> bool:
    return part.isascii() and part.replace("-", "").replace("_", "").isalnum()


def _walk(found: Mapping[str, object], above: Path) -> Iterator[tuple[Path, str]]:
    for key, value in found.items():
        path = (*above, str(key))
        setting = find(path)
        if setting is not None:
            if said := _wrong(setting, path, value):
                yield path, said
        elif not _holds(path):
            yield path, f"is not known{nearest(path)}"
        elif isinstance(value, Mapping):
            yield from _walk(value, path)
        else:
            yield path, f"is a table, not a value: its settings are under [{dotted(path)}]"


def _wrong(setting: Setting, path: Path, value: object) -> str:
    if ANY in setting.parts and setting.choices and setting.kind != CHOICE:
        chosen = path[max(at for at, part in enumerate(setting.parts) if part == ANY)]
        if chosen not in setting.choices:
            return f"is not known{_like(chosen, setting.choices)}"
    return wrong(setting, value)


def _holds(path: Path) -> bool:
    """Whether settings lie below a path."""
    size = len(path)
    return any(
        len(setting.parts) > size
        and all(own in (ANY, given) for own, given in zip(setting.parts[:size], path, strict=True))
        for setting in SETTINGS
    )


def nearest(path: Path) -> str:
    """`: did you mean ...?`, or what there is instead."""
    if _holds(path):
        size = len(path)
        below = [one.name for one in SETTINGS if one.parts[:size] == path]
        return f": it is a table of {', '.join(below)}" if below else ""
    siblings = tuple(
        dict.fromkeys(
            setting.parts[len(path) - 1]
            for setting in SETTINGS
            if len(setting.parts) >= len(path)
            and all(own in (ANY, given) for own, given in zip(setting.parts, path[:-1], strict=False))
        )
    )
    if len(path) == 1:
        return _like(path[0], tables())
    if not siblings:
        return _like(dotted(path), tuple(setting.name for setting in SETTINGS))
    elsewhere = [setting.name for setting in SETTINGS if setting.parts[-1] == path[-1]]
    if elsewhere and path[-1] not in siblings:
        return f": did you mean {elsewhere[0]}?"
    return _like(path[-1], siblings)


def _like(given: str, known: tuple[str, ...]) -> str:
    found = get_close_matches(given.lower(), known, 1, 0.5)
    if found:
        return f": did you mean {found[0]}?"
    if len(known) > _LISTED:
        return "; `nmem config list` shows all"
    return f"; there is {', '.join(known)}" if known else ""


_LISTED = 20
"""Names that are listed in a sentence at most."""
