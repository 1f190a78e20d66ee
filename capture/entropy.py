"""What a value looks like: random, or a word, a path, an identifier, a hash, a reference, a stand-in."""

from __future__ import annotations

from capture import detectors
from capture.rules_cache import pattern

WORDS = "[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+"
_REFERENCE = (
    r"[$%@&#!?]|\\?[<\[{(]|(?:os|sys|process|self|this|config|cfg|settings|ctx|context|props|state|args|opts|options"
    r"|params|req|res|request|response|data|env|ENV|import|secrets|vars|var|local|module|each|function|new|await|async"
    r"|typeof|lambda|None|null|nil|true|false|undefined)(?![A-Za-z0-9_])"
)
_DOTTED = r"[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*)+[;,)]*\Z"
_UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\Z"
_HEX = r"(?:0x)?[0-9a-fA-F]+\Z"
SOURCES = (WORDS, _REFERENCE, _DOTTED, _UUID, _HEX)


def shannon(text: str) -> float:
    """Bits per character."""
    from math import log2

    size = len(text)
    return -sum(n / size * log2(n / size) for n in map(text.count, set(text))) if size else 0.0


def words(name: str) -> list[str]:
    """The words of an identifier, in lower case: `dbPassword_2` -> db, password, 2."""
    return [word.lower() for word in pattern(WORDS).findall(name)]


def stands_in(value: str) -> bool:
    """A placeholder: it says itself that it is not the secret."""
    low = value.lower()
    if any(word in low for word in detectors.STAND_INS):
        return True
    if len(set(low)) <= 2 and not low.isdigit():
        return True
    found = words(value)
    if not found:
        return True
    return all(word in detectors.VOCABULARY or (word.isdigit() and len(word) < 4) for word in found)


def is_reference(value: str) -> bool:
    """Code that leads to a value: a variable, a member, a call, an interpolation."""
    return bool(pattern(_REFERENCE).match(value) or pattern(_DOTTED).match(value))


def is_uuid(value: str) -> bool:
    """8-4-4-4-12 hexadecimal digits."""
    return bool(pattern(_UUID).match(value))


def is_hex(value: str) -> bool:
    """Nothing but hexadecimal digits."""
    return bool(pattern(_HEX).match(value))


def classes(value: str) -> int:
    """How many of lower case, upper case, digit and sign occur."""
    low = up = digit = sign = 0
    for char in value:
        if "a" <= char <= "z":
            low = 1
        elif "A" <= char <= "Z":
            up = 1
        elif "0" <= char <= "9":
            digit = 1
        else:
            sign = 1
    return low + up + digit + sign
