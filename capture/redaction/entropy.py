"""What a value looks like: random, or a word, a path, an identifier, a hash, a reference, a stand-in."""

from __future__ import annotations

from capture.redaction import detectors
from capture.redaction.rules_cache import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from re import Match

WORDS = "[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+"
_REFERENCE = (
    r"[$%@&#!?]|\\?[<\[{(]|(?:os|sys|process|self|this|config|cfg|settings|ctx|context|props|state|args|opts|options"
    r"|params|req|res|request|response|data|env|ENV|import|secrets|vars|var|local|module|each|function|new|await|async"
    r"|typeof|lambda|None|null|nil|true|false|undefined)(?![A-Za-z0-9_])"
)
_DOTTED = r"[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*)+[;,)]*\Z"
_UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\Z"
_HEX = r"(?:0x)?[0-9a-fA-F]+\Z"
_PATH = r"(?:[A-Za-z]:[/\\\\]|[~.]{0,2}/|[\w.@-]+/[\w.@-]+/)|[\w.-]+/[\w.-]+\.[a-z]{1,5}\Z"
_GAP = (
    r"\$\{[\w.:?!-]*\}|\$\([^)]*\)|\{\{[^{}]*\}\}|%\([^)]*\)[sd]|<[^<>]*>|\{[\w.!:]*\}|#\{[^}]*\}"
    r"|%[sdvq]\b|\$[A-Za-z_]\w*"
)
_CONSTANT = r"[A-Z][A-Z0-9]*(?:[_-][A-Z0-9]+)+\Z"
SOURCES = (_CONSTANT, _GAP, WORDS, _REFERENCE, _DOTTED, _UUID, _HEX, _PATH)


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
    gaps = pattern(_GAP)
    if gaps.search(value):
        value = "".join(_between(value, gaps.finditer(value)))
        if len(value) < 6:
            return True
    low = value.lower()
    if any(word in low for word in detectors.STAND_INS):
        return True
    if len(set(low)) <= 2 or _in_order(low) or (pattern(_CONSTANT).match(value) and not is_random(value)):
        return True
    found = words(value)
    if not found:
        return not any(not char.isalnum() for char in value) or len(value) < 8
    return all(word in detectors.VOCABULARY or (word.isdigit() and len(word) < 4) for word in found)


def _in_order(low: str) -> bool:
    """Mostly runs along the alphabet, the digits or the keyboard: 123456, abcdef, qwerty."""
    runs = "01234567890 abcdefghijklmnopqrstuvwxyz qwertyuiop asdfghjkl zxcvbnm 98765432109 fedcba"
    steps = len(low) - 1
    return 5 <= steps < 20 and sum(low[at : at + 2] in runs for at in range(steps)) >= 0.8 * steps


def _between(text: str, gaps: Iterable[Match[str]]) -> Iterable[str]:
    start = 0
    for gap in gaps:
        yield text[start : gap.start()]
        start = gap.end()
    yield text[start:]


def is_reference(value: str) -> bool:
    """Code that leads to a value: a variable, a member, a call, an interpolation."""
    return bool(pattern(_REFERENCE).match(value) or pattern(_DOTTED).match(value))


def is_uuid(value: str) -> bool:
    """8-4-4-4-12 hexadecimal digits."""
    return bool(pattern(_UUID).match(value))


def is_path(value: str) -> bool:
    """A path of a file system, relative ones with two slashes or an extension."""
    return bool(pattern(_PATH).match(value))


def is_hex(value: str) -> bool:
    """Nothing but hexadecimal digits."""
    return bool(pattern(_HEX).match(value))


def is_random(value: str) -> bool:
    """Does it look like drawn letters rather than like words, a name or a number?"""
    if len(value) >= 12 and is_hex(value) and not value.isdigit() and not value.isalpha():
        return True
    parts = words(value)
    letters = [part for part in parts if not part.isdigit()]
    if not letters:
        return False
    from capture.redaction.trigrams import rare

    unusual, total = rare(letters)
    if total and unusual >= 0.3 * total and (total > 1 or len(value) > 5):
        return True
    size = sum(map(len, parts))
    if size >= 8 and len(parts) > 3 and size / len(parts) < 2.8:
        return any(part.isdigit() for part in parts) or shannon(value) >= 3.3
    return size >= 16 and shannon(value) >= 3.9 and len(letters) < len(parts) and size / len(parts) < 4.5
