"""Converts values typed after `nmem config set` to the type of the setting."""

from __future__ import annotations

import tomllib

from nmem.errors import NmemError
from nmem.settings.check import Fault
from nmem.settings.kinds import ALLOW, CHOICES, FLAG, KEYS, NUMBER, PATTERNS, TEXTS, WHOLE, WORDS, Setting, wrong

_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")
_LISTS = (TEXTS, WORDS, PATTERNS, ALLOW)


def path(name: str) -> tuple[str, ...]:
    """A dotted name part by part; a part with dots of its own stands in quotes. Raises NmemError."""
    try:
        found: object = tomllib.loads(f"{name} = 0")
    except tomllib.TOMLDecodeError:
        raise NmemError(f"{name} is not a setting: nmem config lists them") from None
    out: tuple[str, ...] = ()
    while isinstance(found, dict) and len(found) == 1:
        ((part, found),) = found.items()
        out += (part,)
    return out


def value(setting: Setting, words: tuple[str, ...]) -> object:
    """What was typed as a value that can be written. Raises NmemError."""
    if setting.kind in _LISTS or (setting.kind in (KEYS, CHOICES) and _several(words)):
        given = _listed(setting, words)
    elif len(words) != 1:
        raise NmemError(f"{setting.name} takes one value: put it in quotes")
    else:
        given = _single(setting, words[0].strip())
    if said := wrong(setting, given):
        raise NmemError(str(Fault(setting.name, said)))
    return given


def _several(words: tuple[str, ...]) -> bool:
    """Whether more than one value is given where one would do."""
    return len(words) > 1 or words[0].startswith('["')


def _single(setting: Setting, word: str) -> object:
    if setting.kind == FLAG and word.lower() in _TRUE + _FALSE:
        return word.lower() in _TRUE
    if setting.kind in (NUMBER, WHOLE):
        for kind in (int, float):
            try:
                return kind(word)
            except ValueError:
                continue
    return word


def _listed(setting: Setting, words: tuple[str, ...]) -> object:
    """Words one by one, or a list as TOML writes it."""
    if len(words) != 1 or not words[0].lstrip().startswith("["):
        return list(words)
    try:
        return tomllib.loads(f"value = {words[0]}")["value"]
    except tomllib.TOMLDecodeError as error:
        raise NmemError(f"{setting.name}: not a list in TOML: {error}") from None
