"""Finds secrets by the name they are given to: `password = "x"`, `--secret x`, `<key>x</key>`, `?token=x`.

From each name that may name a secret the text is read forwards, anchored, so the work grows with the number of names.
Whether what stands there is a secret, capture.redaction.verdict says.
"""

from __future__ import annotations

from capture.redaction import detectors, entropy
from capture.redaction.rules_cache import pattern
from capture.redaction.verdict import (
    NONE,
    STRONG,
    WEAK,
    bare,
    drawn_beside,
    kind_of,
    literal,
    mixed,
    random_looking,
    strength,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    Span = tuple[int, int, str]

_NAME = r"[A-Za-z0-9_$-]{0,60}"
# What may stand between a name and its value: a closing quote or bracket, a type, an operator.
_OPERATOR = (
    r"(?:\\*[\"'`]|&quot;|%22)?[\])]?(?:[ \t]?[\[(][\w *.-]{1,40}[\])](?=:))?[ \t]{0,20}"
    r"(?:(?::[ \t]{0,4}|[ \t]{1,4})(?:\*{0,2}[A-Za-z][\w.\[\]<>|?*]{0,30})[ \t]{0,12}(?==[ \t]{0,4}[\"'`\w]))?"
    r"(?::\s{0,20}\{(?:[^{}]{0,200}?[\s,{])?\\*[\"']?value\\*[\"']?[ \t]{0,10}[:=](?=[ \t]{0,10}\\*[\"'])"
    r"|[ \t]{0,4}\{[^{}]{0,300}?\bdefault[ \t]{0,20}=|=>|:{1,3}=|\?=|\.=|\+=|\|\|=|={1,3}|!==?|:(?:\*\*)?|%3[dD]"
    r"|\\{1,4}(?:u00|x)3[dD]|</(?:name|key)>\s{0,40}<(?:value|string)>|>|\("
    r"|\n[ \t]{0,40}value:"
    r"|,\s{0,40}\\*[\"']?(?:value|Value|VALUE)\\*[\"']?[ \t]{0,4}[:=]"
    r"|,[ \t]{0,4}(?=\\*[\"'`])"
    r"|[ \t]{1,4}(?:value|content)[ \t]{0,4}=|[ \t]{1,4}(?:is|was)[ \t]{1,4}(?=[\"'`])"
    r"|[ \t]{1,20}(?=[^\s=:(]{8,200}(?:\s|\Z)))[ \t]{0,20}(?:&\w{1,30}[ \t]{1,4})?"
)
_OPENING = (
    r"(\w[\w.]{0,40}\(|\(|\[\s{0,40}|[brufBRUF@$]{1,2}(?=[\"'`])|&quot;|%22|\"\"(?=\")|''(?=')|`{1,2}(?=`[^`]))?"
    r"(\\*)([\"'`])"
)
_QUOTED = {q: rf"(?:[^{q}\\\n]|\\.){{0,2000}}" for q in "\"'`"}
_ESCAPED = r"[^\"'`\\\n]{0,2000}"
_MORE = r"\\*[\"']\s{0,40},\s{0,40}\\*[\"']"
_UNTIL = r"(?:[^\s\"'`,;<>\\&%]{1,200}|\\(?![nrt\"']|u00[0-9a-f]{2})|&(?![\w.-]{1,40}[=;])|%(?!26))"
_BARE = _UNTIL + "{1,40}"
_PEEK = r"[^\s\"'`,;<>\\&%]{1,24}"
_HEAD = r"[A-Za-z0-9+/]{20,}={0,2}(?=[.:)\]}|])"
_TAG = r"\s{0,40}([^<>\s]{1,500})\s{0,40}(?=</)"
_FLAG = r"(?:[ \t]+|=)(?![-|<>&;=])[\"']?"
_DIGEST = r"(?:[Hh]ash|[Cc]heck|[Cc]ompare|[Vv]erify|[Vv]alidate)\w{0,20}\([\"'`]?\Z"
_PROSE = r"[,.:]?[ ]+[A-Za-z']{2,}[ ]+[A-Za-z0-9']+"
_CHAIN = r"[ \t]+=[ \t]"
# What sets the name that follows it, wherever on its line it stands.
_SETTING = r"(?:\\set|setx|setenv|(?:config|secrets?)[ \t:]set|machine)(?:[ \t]+--?\w{1,12}){0,3}[ \t]+\Z"
_SET = r"(?:set|env|config)(?:[ \t]+--?\w{1,12}){0,3}[ \t]+\Z"
_LOGIN = r"login[ \t]+\S{1,80}\s+\Z"
# A name and its value as one word or path: `token-HERE.txt`, `secrets/HERE`.
_JOINED = r"[A-Za-z]{0,16}([-_./\\])([A-Za-z0-9_-]{16,200})(?![A-Za-z0-9_-])"
_TURNED = r"([\"'`])((?:(?!\1)[^\\\n]){4,200})\1[)\]]?[ \t]{0,4}[!=]==?[ \t]{0,4}\(?\Z"
SOURCES = (
    _JOINED,
    _TURNED,
    _CHAIN,
    _SETTING,
    _SET,
    _LOGIN,
    _PROSE,
    _DIGEST,
    _NAME,
    _OPERATOR,
    _OPENING,
    *_QUOTED.values(),
    _ESCAPED,
    _MORE,
    _BARE,
    _PEEK,
    _HEAD,
    _TAG,
    _FLAG,
)

_LONGEST_LIST = 20
_LONG_NAME = 20
"""Characters of a name, from its stem on, that may hold a value."""
_SPELT = ("pass", "secret", "token", "key", "cred")
"""What a name must hold to be one with its value: shorter stems occur in base64."""
_BELOW = ("/", "\\", ".")
"""Signs after a name whose file or member may be called as its value is."""


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
            if (end - at >= _LONG_NAME or text[end : end + 1] in _BELOW) and (joined := _joined(text, at)):
                spans.append(joined)
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


def _joined(text: str, at: int) -> Span | None:
    """A value that is one word with its name, or the name of a file in a folder that it names."""
    matched = pattern(_JOINED).match(text, at)
    if matched is None:
        return None
    name = text[_start(text, at) : matched.start(1)]
    value = matched[2]
    if (
        len(name) < len("token")
        or not any(stem in name.lower() for stem in _SPELT)
        or strength(name) != STRONG
        or not drawn_beside(value)
    ):
        return None
    if matched[1] not in "-_" and (entropy.is_uuid(value) or entropy.is_hex(value) or "_" in value or "-" in value):
        return None
    return (*matched.span(2), kind_of(name))


def _argument(text: str, start: int) -> bool:
    """Is what begins here an argument of a command: `--password=x`, `-Dsonar.password=x`, `curl -d a=b&password=x`?"""
    if text.startswith("--", start) or (text[start] == "-" and text[max(0, start - 1) : start] in (" ", "'", '"')):
        return True
    first = max(0, start - 400)
    first = max(first, text.rfind("\n", first, start) + 1)
    line = text[first:start].lower()
    for word in detectors.SETTERS:
        at = line.find(word)
        if at == 0 or (at > 0 and not (line[at - 1].isalnum() or line[at - 1] in "_-.")):
            return True
    return False


def _caches(text: str, start: int) -> bool:
    """Is a key the one of a cache, as builds log them?"""
    first = max(0, start - 60)
    return "cache" in text[max(first, text.rfind("\n", first, start) + 1) : start].lower()


def _turned(text: str, start: int, level: int, name: str) -> Span | None:
    """`if "HERE" == password`: compared the other way round."""
    if text[start - 1 : start] not in (" ", "=", "(") or "=" not in text[max(0, start - 4) : start]:
        return None
    matched = pattern(_TURNED).search(text, max(0, start - 220, text.rfind("\n", 0, start) + 1), start)
    return (*matched.span(2), kind_of(name)) if matched and literal(matched[2], level, name, sure=False) else None


def _values(text: str, at: int, end: int, *, thrifty: bool) -> tuple[list[Span], int]:
    """The secret values of one name, and how many characters were looked at."""
    start = _start(text, at)
    name = text[start:end]
    level = strength(name)
    if level == NONE or text[start - 10 : start] == "[REDACTED:" or (level == WEAK and _caches(text, start)):
        return [], 0
    beside = _turned(text, start, level, name) or (_flag(text, end, name) if name[0] == "-" else None)
    if beside:
        return [beside], beside[1] - beside[0]
    operator = pattern(_OPERATOR).match(text, end)
    if operator is None or not _belongs(text, start, name, operator.group()):
        return [], 0
    sign = operator.group().strip().strip("\"'`\\)]* ")
    opening = pattern(_OPENING).match(text, operator.end())
    if opening is not None:
        found = _quoted(text, opening, level, name, sign)
        return found, 0
    if sign == ">" or sign.startswith("</"):
        matched = pattern(_TAG).match(text, operator.end())
        return ([(*matched.span(1), kind_of(name))] if matched and literal(matched[1], level, name) else []), 0
    if thrifty and not _peek(text, operator.end(), level, name, sign):
        return [], 0
    matched = pattern(_BARE).match(text, operator.end())
    if matched is None:
        return [], 0
    value = matched.group().rstrip(")]}.:\\")
    head = pattern(_HEAD).match(value)
    if head and entropy.is_base64(head.group()):
        value = head.group()
    first = matched.start()
    span = (first, first + len(value), kind_of(name))
    given = sign == "=" and span[2] == "password" and _argument(text, start) and not entropy.is_reference(value)
    told = literal(value, level, name) if given else bare(value, level, name, sign)
    if not told or _speaks(text, start, span, operator.group()):
        return [], len(value)
    return [span], len(value)


def _speaks(text: str, start: int, span: Span, operator: str) -> bool:
    """No value: a word of a sentence (`token: expected a`), of coordinates (`a.auth:b-http2`), of `a = b = 0`."""
    value = text[span[0] : span[1]]
    if entropy.is_base64(value):
        return False
    if operator == ":" and span[2] != "password" and ("." in text[start : span[0]] or text[start - 1 : start] == ":"):
        return True
    if pattern(_CHAIN).match(text, span[1]):
        return True
    if operator.strip() not in (":", "") or any(char.isdigit() for char in value):
        return False
    return pattern(_PROSE).match(text, span[1]) is not None


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
        if value and strength(name) == STRONG and drawn_beside(value.group()):
            return True
        return _is_set(text, start, name, operator)
    return True


def _is_set(text: str, start: int, name: str, operator: str) -> bool:
    """Whether the words before a name, or its place in a table, say that its value follows after a blank."""
    first = max(0, start - 120)
    line = text[max(first, text.rfind("\n", first, start) + 1) : start].lower()
    if name == "password" and pattern(_LOGIN).search(text[first:start].lower()):
        return True
    if name in ("requirepass", "masterauth") or line.strip() == "set" or line.startswith("machine "):
        return True
    shouted = name.isupper() and len(name) > 4
    if "\t" in operator and (shouted or not line.strip()):
        return _drawn_after(text, start + len(name) + len(operator))
    if pattern(_SETTING).search(line):
        return True
    return shouted and pattern(_SET).search(line) is not None and _drawn_after(text, start + len(name) + len(operator))


def _drawn_after(text: str, at: int) -> bool:
    """Does a value that was drawn stand here, with digits in it?"""
    value = pattern(_BARE).match(text, at + (text[at : at + 1] in ("'", '"')))
    if value is None or not entropy.is_random(value.group()):
        return False
    return any(map(str.isdigit, value.group())) or entropy.is_base64(value.group())


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
    """`--password x` or `--password=x` of a command line, and `-storepass x` where it was drawn."""
    gap = pattern(_FLAG).match(text, end)
    matched = pattern(_BARE).match(text, gap.end()) if gap else None
    if gap is None or matched is None:
        return None
    value = matched.group()
    if not literal(value, strength(name), name) or entropy.is_reference(value) or not mixed(value):
        return None
    if name[:2] != "--" and not (entropy.is_random(value) and sum(map(str.isdigit, value)) > 1):
        return None
    return matched.start(), matched.end(), kind_of(name)
