"""Lists settings with value, origin and meaning, for commands and screens."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from nmem.settings import kinds
from nmem.settings.check import dotted
from nmem.settings.declared import SETTINGS
from nmem.settings.file import Config, value
from nmem.settings.kinds import ANY, CHOICE, CHOICES, NUMBER, WHOLE, Setting

HIDDEN = "(hidden)"


@dataclass(frozen=True, slots=True)
class Standing:
    """One setting and what is in force."""

    name: str
    value: object
    """What is in force; a secret one is hidden. A value that cannot be used is the default here."""
    yours: bool
    default: object
    meaning: str
    allowed: str


def standing(config: Config) -> list[Standing]:
    """Every setting; of those with a part to choose, each that is set, or the name once."""
    return [row for setting in SETTINGS for row in _rows(setting, config.document)]


def _rows(setting: Setting, document: Mapping[str, object]) -> Iterator[Standing]:
    paths = list(_set(setting.parts, document))
    if not paths:
        yield standing_of(setting, setting.name, None)
    for path in paths:
        yield standing_of(setting, dotted(path), value(document, path))


def _set(parts: tuple[str, ...], found: object, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The keys of a document that are this setting."""
    if not parts:
        yield above
        return
    if not isinstance(found, Mapping):
        return
    for name in found if parts[0] == ANY else [parts[0]]:
        if name in found:
            yield from _set(parts[1:], found[name], (*above, str(name)))


def standing_of(setting: Setting, name: str, given: object) -> Standing:
    """A setting as it stands: a value that is wrong counts as none, a key is hidden."""
    usable = given is not None and not kinds.wrong(setting, given)
    shown = given if usable else setting.default
    if setting.secret and shown:
        shown = HIDDEN
    return Standing(name, shown, usable, setting.default, setting.meaning, allowed(setting))


def allowed(setting: Setting) -> str:
    """What it may be, in a few words."""
    if setting.kind in (NUMBER, WHOLE):
        return kinds.span(setting)
    if setting.kind == CHOICES:
        return f"{', '.join(setting.choices)}, or a list of them"
    return " or ".join(setting.choices) if setting.kind == CHOICE else setting.kind
