"""Lists settings with value, origin and meaning, for commands and screens."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from nmem.settings import kinds
from nmem.settings.check import dotted
from nmem.settings.declared import SETTINGS, TABLES
from nmem.settings.file import Config, value
from nmem.settings.kinds import ANY, CHOICE, NUMBER, WHOLE, Setting

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
    return " or ".join(setting.choices) if setting.kind == CHOICE else setting.kind


BEGIN, END = "<!-- settings -->", "<!-- end of settings -->"


def markdown() -> str:
    """A section for each table of config.toml."""
    out = []
    for table in TABLES:
        out += [f"### [{table[0].parts[0]}]", "", "| setting | default | may be | meaning |", "|---|---|---|---|"]
        for one in table:
            default = "none" if one.default is None else f"`{json.dumps(one.default)}`"
            parts = f" (`*`: {', '.join(one.choices)})" if "*" in one.parts and one.choices else ""
            out.append(f"| `{one.name}` | {default} | {allowed(one)} | {one.meaning}{parts} |")
        out.append("")
    return "\n".join(out)


def renewed(text: str) -> str:
    """A document with the table as it is now. Raises ValueError where the document has no place for it."""
    before, mark, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not mark or not end:
        raise ValueError("the markers around the table of settings are missing")
    return f"{before}{BEGIN}\n\n{markdown()}\n{END}{after}"
