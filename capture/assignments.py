"""Secrets that only their name gives away: `password = "x"`, `"token": "x"`, `--secret x`, `<key>x</key>`, `?sig=x`.

From each name that may name a secret the text is read forwards, anchored, so the work grows with the number of names.
"""

from __future__ import annotations

from capture import detectors, entropy
from capture.rules_cache import pattern

_NAME = r"[A-Za-z0-9_$-]{0,60}"
# What may stand between a name and its value: closing quote or bracket, a type, an operator.
_OPERATOR = (
    r"(?:\\*[\"'`]|&quot;|%22)?[\])]?[ \t]{0,20}"
    r"(?:(?::[ \t]{0,4}|[ \t]{1,4})(?:\*{0,2}[A-Za-z][\w.\[\]<>|?*]{0,30})[ \t]{0,12}(?==[^=]))?"
    r"(?:=>|:=|\?=|\|\|=|={1,3}|!==?|:|%3[dD]|>|,[ \t]{0,4}(?=\\*[\"'`])"
    r"|,\s{0,40}\\*[\"']?(?:value|Value|VALUE)\\*[\"']?[ \t]{0,4}[:=]"
    r"|[ \t]{1,4}(?:value|content)[ \t]{0,4}=)[ \t]{0,20}"
)
_OPENING = r"(?:[A-Za-z_.]{0,30}\(|[brufBRUF@$]{1,2}(?=[\"'`])|&quot;|%22)?(\\*)([\"'`])"
_QUOTED = {q: rf"(?:[^{q}\\\n]|\\.){{0,2000}}" for q in "\"'`"}
_ESCAPED = r"[^\"'`\\\n]{0,2000}"
_BARE = r"[^\s\"'`,;<>\\]{1,2000}"
_TAG = r"[^<>\n]{1,500}(?=</)"
_FLAG = r"[ \t]+(?![-|<>&;])[\"']?"
_KINDS = {"pass": "password", "pw": "password", "psk": "password", "secret": "secret", "token": "token",
          "cred": "credential"}  # fmt: skip
SOURCES = (_NAME, _OPERATOR, _OPENING, *_QUOTED.values(), _ESCAPED, _BARE, _TAG, _FLAG)

NONE, WEAK, STRONG = 0, 1, 2


def strength(name: str) -> int:
    """How surely a name names a secret: NONE, WEAK (its value must look random) or STRONG."""
    found = entropy.words(name)
    while found and (found[-1] in detectors.NEUTRAL or found[-1].isdigit()):
        found.pop()
    if not found:
        return NONE
    last = found[-1]
    if last in detectors.STRONG:
        return STRONG
    if last == "key" or last == "keys":
        return STRONG if len(found) > 1 and found[-2] in detectors.QUALIFIERS else WEAK
    joined = "".join(found)
    if joined.endswith(("password", "passwd", "secret", "token", "apikey", "pwd", "accesskey", "secretkey")):
        return STRONG
    return WEAK if last in ("auth", "salt", "sid", "authorization", "signature", "sig", "hmac", "code") else NONE


def kind_of(name: str) -> str:
    """The kind that the placeholder names."""
    low = name.lower()
    for stem, kind in _KINDS.items():
        if stem in low:
            return kind
    return "key"


def find(text: str, low: str) -> list[tuple[int, int, str]]:
    """(start, end, kind) of every value that a name gives away."""
    spans: list[tuple[int, int, str]] = []
    done: set[int] = set()
    for stem in detectors.STEMS:
        at = low.find(stem)
        while at >= 0:
            matched = pattern(_NAME).match(text, at)
            end = matched.end() if matched else at
            if end not in done:
                done.add(end)
                span = _value(text, at, end)
                if span is not None:
                    spans.append(span)
            at = low.find(stem, end)
    return spans


def _start(text: str, at: int) -> int:
    first = max(0, at - 50)
    while at > first and (text[at - 1].isalnum() or text[at - 1] in "_-.$"):
        at -= 1
    return at


def _value(text: str, at: int, end: int) -> tuple[int, int, str] | None:
    operator = pattern(_OPERATOR).match(text, end)
    start = _start(text, at)
    name = text[start:end]
    if operator is None:
        return _flag(text, start, end) if name.startswith("-") else None
    level = strength(name)
    if level == NONE:
        return None
    sign = operator.group().strip()
    begin, stop, quoted = _literal(text, operator.end(), sign)
    if stop <= begin:
        return None
    value = text[begin:stop]
    if quoted:
        wanted = literal(value, level)
    else:
        wanted = bare(value, level, sign, name)
    return (begin, stop, kind_of(name)) if wanted else None


def _flag(text: str, start: int, end: int) -> tuple[int, int, str] | None:
    """`--password x` of a command line."""
    gap = pattern(_FLAG).match(text, end)
    if gap is None or not text.startswith("--", start) or strength(text[start:end]) != STRONG:
        return None
    matched = pattern(_BARE).match(text, gap.end())
    if matched is None or not literal(matched.group(), STRONG) or entropy.is_reference(matched.group()):
        return None
    if matched.group().isalpha() and gap.group()[-1] not in "\"'":
        return None
    return matched.start(), matched.end(), kind_of(text[start:end])


def _literal(text: str, at: int, sign: str) -> tuple[int, int, bool]:
    """Where the value lies, and whether quotes hold it."""
    opening = pattern(_OPENING).match(text, at)
    if opening is None:
        if sign == ">":
            tag = pattern(_TAG).match(text, at)
            return (tag.start(), tag.end(), True) if tag else (at, at, False)
        matched = pattern(_BARE).match(text, at)
        return (matched.start(), matched.end(), False) if matched else (at, at, False)
    escapes, quote = opening.groups()
    matched = pattern(_ESCAPED if escapes else _QUOTED[quote]).match(text, opening.end())
    return (matched.start(), matched.end(), True) if matched else (at, at, True)


def literal(value: str, level: int) -> bool:
    """Is this quoted value of a secret's name a secret?"""
    if len(value) < (4 if level == STRONG else 12) or "[REDACTED" in value:
        return False
    if entropy.stands_in(value) or entropy.is_uuid(value):
        return False
    if level == WEAK:
        return random_looking(value)
    return " " not in value.strip() and value[0] not in "$/{%#:" and "://" not in value


def bare(value: str, level: int, sign: str, name: str) -> bool:
    """The same for a value without quotes, which may as well be code."""
    if "[REDACTED" in value or entropy.is_reference(value) or "(" in value or len(value) < 5:
        return False
    if sign in (",", ">", "=>", "==", "===", "!=", "!==", ":=") or entropy.stands_in(value) or entropy.is_uuid(value):
        return False
    if level == WEAK:
        return len(value) >= 16 and random_looking(value)
    if value.isalpha() or value.replace("_", "").isalpha():
        return name.isupper() and sign == "=" and value.islower()
    return not value.isdigit() and value[0] not in "/.~" and "." not in value[:-1] or random_looking(value)


def random_looking(value: str) -> bool:
    """Long and mixed enough that nobody typed it."""
    if len(value) < 12 or " " in value or "/" in value[:2] or "://" in value:
        return False
    if entropy.is_hex(value):
        return len(value) >= 32 and len(value) not in (40, 64)
    return entropy.classes(value) >= 2 and any(c.isdigit() for c in value) and entropy.shannon(value) >= 3.3


def named(name: str, value: str) -> bool:
    """Does this value of a JSON-like object hold the secret that its key names?"""
    level = strength(name)
    return level != NONE and literal(value, level)
