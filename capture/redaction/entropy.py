"""Classifies a value by its look: random, word, path, identifier, hash, reference, placeholder."""

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
_INDEXED = r"\\&|[A-Za-z_$][\w$.]*\[[-:]?\w"
_EXPRESSION = r"\[\^?(?:a-z|A-Z|0-9|@|\\)|\\[wdsWDSB][+*{)\]]|\(\?[:!=<P]|\A[A-Za-z_]\w*\[[-\w, .|]+\][.\w]*\Z"
_UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\Z"
_HEX = r"(?:0x)?[0-9a-fA-F]+\Z"
_PATH = (
    r"(?:arn:|urn:|[A-Za-z]:[/\\\\]|[~.]{0,2}/|[\w.@-]+/[\w.@-]+/)|[\w.-]+/[\w.-]+\.[a-z]{1,5}\Z"
    r"|[\w:@-]+(?:\.[\w@-]+)*\.(?:pem|crt|cer|key|pub|p12|pfx|jks|json|ya?ml|toml|ini|conf|cfg|env|xml|csv|txt|md|pdf|html?"
    r"|css|png|jpe?g|gif|svg|ico|js|mjs|tsx?|jsx|vue|py|go|rb|rs|java|kt|cs|php|sh|sql|db|log|lock|zip|gz|tar|jar|exe|dll|ova)\Z"
)
_GAP = (
    r"\$\{[\w.:?!-]*\}|\$\([^)]*\)|\{\{[^{}]*\}\}|%\([^)]*\)[sd]|<[^<>]*>|\{[\w.!:]*\}|#\{[^}]*\}"
    r"|%[sdvq]\b|\$[A-Za-z_]\w*"
)
_BASE64 = r"[A-Za-z0-9+/]{20,}={0,2}\Z"
_CONSTANT = r"[A-Z][A-Z0-9]*(?:[_-][A-Z0-9]+)+\Z"
_CHUNK = "[^-_. :/]+"
SOURCES = (
    _BASE64, _CONSTANT, _GAP, WORDS, _REFERENCE, _DOTTED, _INDEXED, _EXPRESSION, _UUID, _HEX, _PATH, _CHUNK
)  # fmt: skip


RARE = 0.3
"""What share of the trigrams of a drawn value occurs in no word."""
SWITCHES = 3
"""How often a drawn value goes from letters to digits, or from small to capital, without a sign between."""
_ESCAPED = (("\\/", "/"), ("\\u002b", "+"), ("\\u002B", "+"), ("\\u003d", "="), ("\\u003D", "="), ("%2F", "/"),
            ("%2f", "/"), ("%2B", "+"), ("%2b", "+"), ("%3D", "="), ("%3d", "="))  # fmt: skip
"""The signs of base64 as JSON and addresses write them."""
_SURE = 6
"""Letters of a stand-in that nobody draws by accident."""


def shannon(text: str) -> float:
    """Bits per character."""
    from math import log2  # on use: start-up stays short

    size = len(text)
    return -sum(n / size * log2(n / size) for n in map(text.count, set(text))) if size else 0.0


def words(name: str) -> list[str]:
    """The words of an identifier, in lower case: `dbPassword_2` -> db, password, 2."""
    return [word.lower() for word in pattern(WORDS).findall(name)]


def stands_in(value: str) -> bool:
    """A placeholder: it says itself that it is not the secret."""
    if is_base64(value):
        sure = [word for word in detectors.STAND_INS if len(word) >= _SURE]
        return any(form in value for word in sure for form in (word, word.upper(), word.capitalize()))
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
    return not is_base64(value) and any(pattern(source).match(value) for source in (_REFERENCE, _DOTTED, _INDEXED))


def is_expression(value: str) -> bool:
    """A regular expression: it says how a secret looks."""
    return bool(pattern(_EXPRESSION).search(value))


def is_member(value: str) -> bool:
    """`module.member.Name`: words joined by dots, none of them drawn."""
    return bool(pattern(_DOTTED).match(value)) and not any(map(is_random, value.split(".")))


def is_uuid(value: str) -> bool:
    """8-4-4-4-12 hexadecimal digits."""
    return bool(pattern(_UUID).match(value))


def is_path(value: str) -> bool:
    """A path of a file system, relative ones with two slashes or an extension; the name of a cloud's resource."""
    return bool(pattern(_PATH).match(value)) and not is_base64(value)


_KEY = 40
"""Characters of a drawn key that is one though its letters stand as in words, which one in a million's do."""


def is_base64(value: str) -> bool:
    """Drawn bytes in base64, which has a slash in two of three keys: no path, no reference, whatever it begins with."""
    if len(value) < 20:
        return False
    if "\\" in value or "%" in value:
        for escape, sign in _ESCAPED:
            value = value.replace(escape, sign)
    if value[-1] == "=":
        value = value.replace("-", "+").replace("_", "/")  # the alphabet of addresses
    if not pattern(_BASE64).match(value) or value.isupper() or value.islower():
        return False
    return is_random(value) or (len(value) >= _KEY and changes(value) * 9 >= len(value) * 4)


def changes(value: str) -> int:
    """How often small letters, capitals, digits and single signs give way to one another."""
    kinds = ["a" if char.islower() else "A" if char.isupper() else "0" if char.isdigit() else char for char in value]
    return sum(kinds[at] != kinds[at + 1] for at in range(len(kinds) - 1))


def is_hex(value: str) -> bool:
    """Nothing but hexadecimal digits."""
    return bool(pattern(_HEX).match(value))


def is_random(value: str) -> bool:
    """Does it look like drawn letters rather than like words, a name or a number?"""
    known = _judged.get(value)
    if known is None:
        if len(_judged) >= _MOST_JUDGED:
            _judged.clear()
        known = _judged[value] = _looks_drawn(value)
    return known


_judged: dict[str, bool] = {}
"""Several rules ask about one value in turn."""
_MOST_JUDGED = 32


def _looks_drawn(value: str) -> bool:
    if len(value) >= 12 and is_hex(value) and not value.isdigit() and not value.isalpha():
        return True
    parts = words(value)
    letters = [part for part in parts if not part.isdigit()]
    if not letters:
        return False
    from capture.redaction.trigrams import rare  # on use: start-up stays short

    unusual, total = rare(letters)
    if total and unusual >= RARE * total and (total > 1 or len(value) > 5):
        return True
    size = sum(map(len, parts))
    # what a hyphen or dot parts is a phrase (`LET_ME_IN-1`); what changes its kind without one is drawn
    switches = len(parts) - len(pattern(_CHUNK).findall(value))
    if size >= 8 and switches >= SWITCHES and size / len(parts) < 2.8:
        return any(part.isdigit() for part in parts) or shannon(value) >= 3.3
    long = size >= 16 and switches >= SWITCHES - 1 and shannon(value) >= 3.9
    return long and sum(map(str.isdigit, value)) > 1 and size / len(parts) < 4.5
