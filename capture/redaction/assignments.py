"""Secrets that only their name gives away: `password = "x"`, `"token": "x"`, `--secret x`, `<key>x</key>`, `?token=x`.

From each name that may name a secret the text is read forwards, anchored, so the work grows with the number of names.
What is a name, and how surely it names a secret, is data of capture.redaction.detectors; what a value looks like is of
entropy.
"""

from __future__ import annotations

from capture.redaction import detectors, entropy
from capture.redaction.rules_cache import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    Span = tuple[int, int, str]

_NAME = r"[A-Za-z0-9_$-]{0,60}"
# What may stand between a name and its value: a closing quote or bracket, a type, an operator.
_OPERATOR = (
    r"(?:\\*[\"'`]|&quot;|%22)?[\])]?[ \t]{0,20}"
    r"(?:(?::[ \t]{0,4}|[ \t]{1,4})(?:\*{0,2}[A-Za-z][\w.\[\]<>|?*]{0,30})[ \t]{0,12}(?==[ \t]{0,4}[\"'`\w]))?"
    r"(?:=>|:{1,3}=|\?=|\.=|\+=|\|\|=|={1,3}|!==?|:|%3[dD]|>|\(|\n[ \t]{0,40}value:"
    r"|,\s{0,40}\\*[\"']?(?:value|Value|VALUE)\\*[\"']?[ \t]{0,4}[:=]"
    r"|,[ \t]{0,4}(?=\\*[\"'`])"
    r"|[ \t]{1,4}(?:value|content)[ \t]{0,4}=|[ \t]{1,4}(?:is|was)[ \t]{1,4}(?=[\"'`])"
    r"|[ \t]{1,20}(?=[^\s=:(]{8,200}(?:\s|\Z)))[ \t]{0,20}"
)
_OPENING = r"(\w[\w.]{0,40}\(|\(|\[\s{0,40}|[brufBRUF@$]{1,2}(?=[\"'`])|&quot;|%22)?(\\*)([\"'`])"
_QUOTED = {q: rf"(?:[^{q}\\\n]|\\.){{0,2000}}" for q in "\"'`"}
_ESCAPED = r"[^\"'`\\\n]{0,2000}"
_MORE = r"\\*[\"']\s{0,40},\s{0,40}\\*[\"']"
_UNTIL = r"(?:[^\s\"'`,;<>\\&%]{1,200}|\\(?![nrt\"'])|&(?![\w.-]{1,40}=)|%(?!26))"
_BARE = _UNTIL + "{1,40}"
_PEEK = r"[^\s\"'`,;<>\\&%]{1,24}"
_TAG = r"\s{0,40}([^<>\s]{1,500})\s{0,40}(?=</)"
_FLAG = r"[ \t]+(?![-|<>&;])[\"']?"
_DIGEST = r"(?:[Hh]ash|[Cc]heck|[Cc]ompare|[Vv]erify|[Vv]alidate)\w{0,20}\([\"'`]?\Z"
SOURCES = (_DIGEST, _NAME, _OPERATOR, _OPENING, *_QUOTED.values(), _ESCAPED, _MORE, _BARE, _PEEK, _TAG, _FLAG)

_KINDS = {"pass": "password", "pw": "password", "psk": "password", "secret": "secret", "token": "token",
          "cred": "credential"}  # fmt: skip
_COMPARISONS = frozenset(("==", "===", "!=", "!==", ">", "=>", "(", ","))
_LONGEST_LIST = 20
_SPEAKING = ("pass", "secret", "test", "some", "my")
"""A word that holds one of these says what it is for rather than what it is."""

NONE, WEAK, STRONG = 0, 1, 2


_known: dict[str, int] = {}


def strength(name: str) -> int:
    """How surely a name names a secret: NONE, WEAK (its value must look random and long) or STRONG."""
    level = _known.get(name)
    if level is None:
        level = _known[name] = _strength(name)
    return level


def _strength(name: str) -> int:
    found = entropy.words(name)
    while found and (found[-1] in detectors.NEUTRAL or found[-1].isdigit()):
        found.pop()
    if not found:
        return NONE
    last = found[-1]
    # a signed request shows the public half of its credentials
    if found[-2:] == ["amz", "credential"] or found[-3:] == ["oauth", "consumer", "key"]:
        return NONE
    if not detectors.PUBLIC.isdisjoint(found):
        return NONE
    if last in detectors.STRONG:
        return STRONG
    if last in ("key", "keys"):
        return STRONG if len(found) > 1 and found[-2] in detectors.QUALIFIERS else WEAK
    if last.endswith(("password", "passwd", "secret", "token", "apikey", "accesskey", "secretkey", "pkey")):
        return STRONG
    return WEAK if last in detectors.WEAK else NONE


def kind_of(name: str) -> str:
    """The kind that the placeholder names."""
    low = name.lower()
    for stem, kind in _KINDS.items():
        if stem in low:
            return kind
    return "key"


def find(text: str, low: str) -> list[Span]:
    """(start, end, kind) of every value that a name gives away."""
    spans: list[Span] = []
    done: set[int] = set()
    seen = 0  # characters looked at in values; a text that is all names must not cost its square
    for stem in detectors.STEMS:
        at = low.find(stem)
        while at >= 0:
            matched = pattern(_NAME).match(text, at)
            end = matched.end() if matched else at
            if end not in done:
                done.add(end)
                found, size = _values(text, at, end, thrifty=seen > len(text))
                spans += found
                seen += size
            at = low.find(stem, max(end, at + 1))
    return spans


def _start(text: str, at: int) -> int:
    first = max(0, at - 50)
    end = at
    while at > first and (text[at - 1].isalnum() or text[at - 1] in "_-.$"):
        at -= 1
    # the n of a written-out \n is no part of the name
    return at + 1 if at < end and text[at] in "nrt" and text[at - 1 : at] == "\\" else at


def _values(text: str, at: int, end: int, *, thrifty: bool) -> tuple[list[Span], int]:
    """The secret values of one name, and how many characters were looked at."""
    start = _start(text, at)
    name = text[start:end]
    level = strength(name)
    if level == NONE:
        return [], 0
    if name.startswith("--"):
        flag = _flag(text, end, name)
        if flag:
            return [flag], flag[1] - flag[0]
    operator = pattern(_OPERATOR).match(text, end)
    if operator is None or not _belongs(text, start, name, operator.group()):
        return [], 0
    sign = operator.group().strip().strip("\"'`\\)] ")
    opening = pattern(_OPENING).match(text, operator.end())
    if opening is not None:
        found = _quoted(text, opening, level, name, sign)
        return found, 0
    if sign == ">":
        matched = pattern(_TAG).match(text, operator.end())
        return ([(*matched.span(1), kind_of(name))] if matched and literal(matched[1], level, name) else []), 0
    if thrifty and not _peek(text, operator.end(), level, name, sign):
        return [], 0
    matched = pattern(_BARE).match(text, operator.end())
    if matched is None:
        return [], 0
    value = matched.group().rstrip(")]}.:\\")
    first = matched.start()
    span = (first, first + len(value), kind_of(name))
    return ([span] if bare(value, level, name, sign) else []), len(value)


def _peek(text: str, at: int, level: int, name: str, sign: str) -> bool:
    """Is the head of a value worth reading the rest?"""
    head = pattern(_PEEK).match(text, at)
    return head is not None and bare(head.group(), level, name, sign)


def _belongs(text: str, start: int, name: str, operator: str) -> bool:
    """A name before a comma must be a quoted string of its own; one before a blank, a command's setting."""
    sign = operator.strip()
    if sign.endswith(","):
        return text[start - 1 : start] in ("'", '"', "`") and not pattern(_DIGEST).search(
            text, max(0, start - 40), start
        )
    if not sign:
        value = pattern(_BARE).match(text, start + len(name) + len(operator))
        if value and len(value.group()) >= 20 and random_looking(value.group()):
            return True
        line = text[text.rfind("\n", 0, start) + 1 : start].strip().lower()
        settled = ("\\set", "set", "setx", "machine")
        return line in settled or line.startswith("machine ") or name in ("requirepass", "masterauth")
    return True


def _quoted(text: str, opening: object, level: int, name: str, sign: str) -> list[Span]:
    """The quoted value; of a list, each."""
    wrapper, escapes, quote = opening.groups()  # type: ignore[attr-defined]
    if sign == "(" and wrapper:
        return []
    source = _ESCAPED if escapes else _QUOTED[quote]
    at = opening.end()  # type: ignore[attr-defined]
    spans: list[Span] = []
    sure = not (wrapper and wrapper.endswith("(")) and sign not in ("(", ",", ">")
    for _ in range(_LONGEST_LIST):
        matched = pattern(source).match(text, at)
        if matched is None:
            break
        value = matched.group()
        if literal(value, level, name, sure=sure):
            spans.append((matched.start(), matched.end(), kind_of(name)))
        more = pattern(_MORE).match(text, matched.end()) if wrapper and wrapper[0] == "[" else None
        if more is None:
            break
        at = more.end()
    return spans


def _flag(text: str, end: int, name: str) -> Span | None:
    """`--password x` of a command line."""
    gap = pattern(_FLAG).match(text, end)
    matched = pattern(_BARE).match(text, gap.end()) if gap else None
    if gap is None or matched is None:
        return None
    value = matched.group()
    if not literal(value, strength(name), name) or entropy.is_reference(value) or not _mixed(value):
        return None
    return matched.start(), matched.end(), kind_of(name)


def _mixed(value: str) -> bool:
    """More than one word: random letters, or letters with digits or signs."""
    return entropy.is_random(value) or (any(c.isdigit() for c in value) and any(c.isalpha() for c in value))


def literal(value: str, level: int, name: str, *, sure: bool = True) -> bool:
    """Is this quoted value of a secret's name a secret? Unless `sure`, the value must look random by itself."""
    if len(value) < 4 or " " in value.strip() or "[REDACTED" in value or value[0] in "$/{%#:<@.,+);]" or "://" in value:
        return False
    if entropy.stands_in(value) or entropy.is_path(value):
        return False
    if level == WEAK:
        return random_looking(value)
    if entropy.is_random(value) or (value.isdigit() and len(value) >= 10) or entropy.is_uuid(value):
        return True
    return sure and kind_of(name) == "password" and _chosen(value)


def _chosen(value: str) -> bool:
    """What a person makes up: letters with a digit or a sign, or one plain word; not a dotted or hyphenated name."""
    if value.isalpha():
        return len(value) >= 6 and value.isascii() and value.islower() and not any(w in value for w in _SPEAKING)
    if ":" in value or "/" in value:
        return False
    signs = [char for char in value if not char.isalnum() and char not in "-_. "]
    digits = any(char.isdigit() for char in value)
    return bool(signs) or (digits and any(char.isalpha() for char in value))


def bare(value: str, level: int, name: str, sign: str) -> bool:
    """The same for a value without quotes, which may as well be code."""
    if len(value) < 4 or "(" in value or "==" in value or "?" in value or "[REDACTED" in value or sign in _COMPARISONS:
        return False
    if entropy.is_reference(value) or entropy.is_path(value) or entropy.stands_in(value) or "://" in value:
        return False
    if level == WEAK:
        return random_looking(value)
    if value.isdigit():
        return len(value) >= 12
    if entropy.is_random(value):
        return True
    return kind_of(name) == "password" and name.isupper() and name != "PASS" and sign == "=" and _chosen(value)


def random_looking(value: str) -> bool:
    """Long and mixed enough that nobody typed it; hashes and UUIDs are not secrets by themselves."""
    if len(value) < 12 or " " in value or "/" in value[:2] or "://" in value or value[0] == "$":
        return False
    if entropy.is_uuid(value):
        return False
    if entropy.is_hex(value):
        return len(value) >= 32 and len(value) not in (40, 64)
    return any(c.isdigit() for c in value) and entropy.shannon(value) >= 3.2 and entropy.is_random(value)


def named(name: str, value: str) -> bool:
    """Does this value of a JSON-like object hold the secret that its key names?"""
    level = strength(name)
    return level != NONE and literal(value, level, name)
