"""Secrets that somebody tells in a sentence: `the root password is HERE`, `use password HERE`, `Kennwort: HERE`.

A module of its own because it is loaded only for a text with one of the words. What follows a word must be told as its
value, and must look drawn or made up: prose about passwords (`the token is expired`) holds no such word.
"""

from __future__ import annotations

from capture.redaction import detectors, entropy, verdict
from capture.redaction.rules_cache import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    Span = tuple[int, int, str]

_PREPOSITION = (
    r"(?:for|of|on|to|in|at|from|für|fuer|von|vom|zum|zur|zu|auf|am|im|der|des|pour|du|de|sur|del|della|di|da|do|para|en"
    r"|per|voor|van|op)"
)
_WHERE = r"(?:[ \t]" + _PREPOSITION + r"(?:[ \t][^\s:=]{1,40}){1,4}?)??"
_IS = (
    r"(?:is|was|will be|should be|must be|(?:has been |was |is )?(?:set|changed|reset) to|becomes|to"
    r"|ist|lautet|war|wird|auf|es|era|será|sera|est|était|è|e'|é)"
)
_JUST = (
    r"(?:[ \t](?:now|still|currently|just|simply|this|set to|changed to|jetzt|nun|ahora|maintenant|adesso|agora|nu))?"
)
_VALUE = r"[\"'`*(]{0,3}([^\s\"'`<>]{8,400})"
_BELOW = r"[ \t*]{0,3}(?:\n{1,2}[ \t>]{0,8})?"
_TOLD = (
    (
        r"[\"'`*)]{0,3}"
        + _WHERE
        + r"(?:[ \t]"
        + _IS
        + _JUST
        + r"(?:[ \t*]{1,3}|[ \t]?:"
        + _BELOW
        + r")|[ \t]?[:=]"
        + _BELOW
    )
    + r")"
    + _VALUE
)
_NEXT = r"[ \t]{1,3}" + _VALUE
_USE = (
    r"(?:use|using|with|via|and|enter|type|try|verwende|nutze|nimm|mit|und|con|usa|usar|utilise|avec|com|met|gebruik)"
    r"[ \t]+"
    r"(?:(?:the|this|my|our|das|dem|el|la|le|il|a|o|het)[ \t]+)?(?:\w{1,16}[ \t]+)?\Z"
)
_VERSION = r"v?\d+(?:[.-]\d+)+"
_QUALIFIER = r"[ \t](?:d'|de |di )?(?:api|secr[eèé]te|secreta|segreta|d'acc[eè]s|de acceso|privée|privada|privata)\b"
SOURCES = (_TOLD, _NEXT, _USE, _VERSION, _QUALIFIER)

_NOUNS = {
    **dict.fromkeys(
        ("password", "passwort", "kennwort", "passphrase", "passcode", "passwd", "pwd", "contraseña", "contrasena",
         "mot de passe", "mdp", "senha", "palavra-passe", "parola d'ordine", "wachtwoord", "clave"), "password",
    ),
    **dict.fromkeys(("token", "jeton"), "token"),
    **dict.fromkeys(("secret", "geheimnis"), "secret"),
    **dict.fromkeys(("key", "schlüssel", "sleutel", "clé", "chiave", "chave"), "key"),
}  # fmt: skip
"""What people call a secret when they tell one, and of which kind it is."""
_AS = frozenset(("is", "as", "ist", "als", "est", "comme", "es", "como", "è", "come", "é", "war", "was"))
_ARTICLES = frozenset(("the", "my", "our", "your", "das", "mein", "unser", "la", "el", "le", "mi", "mon", "il", "root"))
_QUALIFIED = (
    "api", "secret", "secrète", "access", "private", "encryption", "signing", "license", "licence", "service", "auth",
    "client", "master", "webhook", "deploy", "account", "storage", "jwt", "hmac", "security", "session", "zugangs",
    "zugriffs",
)  # fmt: skip
"""What a key is called that is a secret."""
_SECONDS = frozenset(("clave", "clé", "chiave", "chave"))
"""Words for a key that its qualifier follows."""


def find(text: str, low: str) -> list[Span]:
    """(start, end, kind) of what such sentences tell."""
    spans: list[Span] = []
    done = 0
    for word, kind in _NOUNS.items():
        done = 0
        at = low.find(word)
        while at >= 0:
            end = at + len(word)
            if at >= done and (found := _told(text, low, at, end, word, kind)):
                spans.append(found)
                done = found[1]
            at = low.find(word, end)
    return spans


def _told(text: str, low: str, at: int, end: int, word: str, kind: str) -> Span | None:
    after = low[end : end + 1]
    if after.isalnum() or after in ("_", "-", "(", ".", "["):
        return None
    if word in _SECONDS:
        qualifier = pattern(_QUALIFIER).match(low, end)
        if qualifier is None and word != "clave":
            return None
        kind = "key" if qualifier else "password"
        end = qualifier.end() if qualifier else end
    elif word == "key" and not low[max(0, at - 14) : at].rstrip(" _-").endswith(_QUALIFIED):
        return None
    found = _said_after(text, low, at, end, word, kind) or _said_before(text, low, at, kind)
    return found if found and (word in _SECONDS or _names(text, low, at, at + len(word), word)) else None


def _said_after(text: str, low: str, at: int, end: int, word: str, kind: str) -> Span | None:
    """`the password is HERE`, `use password HERE`."""
    told = pattern(_TOLD).match(low, end)
    if told is None and kind == "password" and pattern(_USE).search(low[max(0, at - 50) : at]):
        told = pattern(_NEXT).match(low, end)
    if told is None or (word in _JUDGED and _plain(low[end : told.start(1)])):
        return None
    first = told.start(1)
    last = first + len(text[first : told.end(1)].rstrip(".,;:!?)]}*"))
    code = "(=:" if "\n" in text[end:first] else "(="
    if text[last : last + 1] in tuple(code) or not is_secret(text[first:last], kind):
        return None
    return first, last, kind


def _start(text: str, at: int) -> int:
    first = max(0, at - 50)
    while at > first and (text[at - 1].isalnum() or text[at - 1] in "_-"):
        at -= 1
    return at


def _names(text: str, low: str, at: int, end: int, word: str) -> bool:
    """Does the word, with what it is joined to, name a secret?"""
    name = text[_start(text, at) : end]
    if word == "key":
        return verdict.strength("api" + name) != verdict.NONE
    said = low[max(0, at - 14) : at].split()
    if said and (said[-1] in detectors.CURSORS or said[-1] in detectors.PUBLIC):
        return False
    return word not in _JUDGED or word == "passwort" or verdict.strength(name) == verdict.STRONG


_JUDGED = frozenset(("password", "passwort", "passphrase", "passcode", "passwd", "pwd", "token", "secret", "key"))
"""Words that a value may follow after a sign: of these, capture.redaction.assignments says when."""


def _plain(between: str) -> bool:
    """Nothing but a sign stands between a word and its value."""
    return "\n" not in between and not any(map(str.isalpha, between)) and any(sign in between for sign in ":=")


def _said_before(text: str, low: str, at: int, kind: str) -> Span | None:
    """`HERE is the password`, `use HERE as password`."""
    if low[at - 1 : at] not in (" ", "*", "`"):
        return None
    first = max(0, at - 120)
    words = low[first:at].rsplit(None, 5)
    for back in range(1, min(5, len(words))):
        word = words[-back]
        if word in _AS:
            value = words[-back - 1].strip("\"'`*.,;:()")
            place = low.rfind(value, first, at)
            if place >= min(first, 1) and place >= 0 and is_secret(text[place : place + len(value)], kind):
                return place, place + len(value), kind
            return None
        if word not in _ARTICLES:
            return None
    return None


def is_secret(value: str, kind: str) -> bool:
    """Drawn, or of the mixture that only people make up; no word, number, name, path, address or version."""
    if not 8 <= len(value) <= 400 or not any(map(str.isdigit, value)) or "://" in value or "[REDACTED" in value:
        return False
    if (
        entropy.stands_in(value)
        or entropy.is_path(value)
        or entropy.is_reference(value)
        or entropy.is_expression(value)
    ):
        return False
    if pattern(_VERSION).match(value) or "(" in value or ("@" in value and "." in value[value.rfind("@") :]):
        return False
    if value.isdigit() or value[:2] == "0x" or ("&" in value and "=" in value):
        return False
    if kind != "password":
        digits = sum(map(str.isdigit, value))
        if entropy.is_hex(value):
            return len(value) >= 16 and digits < len(value)
        return entropy.is_uuid(value) or (digits > 1 and verdict.random_looking(value))
    return _made_up(value) and not (entropy.is_hex(value) and len(value) in (40, 64))


def _made_up(value: str) -> bool:
    digits = sum(map(str.isdigit, value))
    signs = any(not char.isalnum() and char not in "-_.,:;/+%()=" for char in value)
    kinds = any(map(str.isupper, value)) + any(map(str.islower, value)) + signs + 1
    if any(char in "-_./" for char in value):
        return digits > 1 and entropy.is_random(value) and (signs or verdict.random_looking(value))
    return (kinds >= 3 and (digits > 1 or signs)) or (digits > 1 and entropy.is_random(value))
