"""Finds secrets in sentences: `the root password is HERE`, `use password HERE`, `пароль от базы: HERE`.

A module of its own because it is loaded only for a text with one of the words. English prose is full of these words, so
its grammar must say that the value is told. Of other languages the word alone counts, and the value must look drawn:
what stands between them is not read.
"""

from __future__ import annotations

from capture.redaction import detectors, entropy, verdict
from capture.redaction.rules_cache import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Span = tuple[int, int, str]

_PREPOSITION = (
    r"(?:for|of|on|to|in|at|from|für|fuer|von|vom|zum|zur|zu|auf|am|im|der|des|pour|du|de|sur|del|della|di|da|do|para|en"
    r"|per|voor|van|op)"
)
_WHERE = r"(?:[ \t]" + _PREPOSITION + r"(?:[ \t][^\s:=]{1,40}){1,4}?)??"
_IS = (
    r"(?:is|was|will be|should be|must be|(?:has been |was |is )?(?:set|changed|reset) to|becomes|to"
    r"|ist|lautet|war|wird|auf|es|era|será|sera|est|était|è|e'|é|je|jest|är|er|adalah|to)"
)
_JUST = (
    r"(?:[ \t](?:now|still|currently|just|simply|this|set to|changed to|jetzt|nun|ahora|maintenant|adesso|agora|nu))?"
)
_VALUE = r"[\"'`*(]{0,3}([^\s\"'`<>]{8,400})"
_BELOW = r"[ \t*]{0,3}(?:\n{1,2}[ \t>]{0,8}(?:`{3}\w{0,12}\n[ \t>]{0,8})?)?"
_TOLD = (
    (
        r"[\"'`*)]{0,3}(?:[ \t]\([\w -]{1,30}\))?"
        + _WHERE
        + r"(?:(?:['’]s|[ \t](?:as|"
        + _IS
        + r"))"
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
_CODE = r"[A-Za-z_]\w*[.(\[]|\w=\w|=>|==|&&|\|\||\w->|\)\.|::"
_MAIL = r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+\Z"
_TIME = r"\d{1,4}[-./:]\d{1,2}[-./:]\d{1,4}|\d{1,3}(?:\.\d{1,3}){3}"
_HASH = r"(?:\{\w+\})?\$[\w-]{1,12}\$"
_UNIT = r"\d+([A-Za-z]{1,12})\Z"
_RUN = r"[!-~]+"
_LONG = r"[!-~]{8}"
_STOP = r"[。！？]|[.!?] (?![a-zß-öø-ÿа-я])"
_PAIR = r"([\w.@+-]{1,60})[\"'`*]{0,2}[ \t]?[:/|,][ \t]?[\"'`*]{0,2}([!-~]{8,200})"
_ACCOUNT = r"(?i:use)[ \t]([\w.@-]{2,40})[/:]([!-~]{8,200})"
_USER = r"(?:^|[\s(\[\"'`])u(?:ser)?[ \t]?:[ \t]?\S{1,60}[\s,;|/]{0,4}\Z"
_BRIEF = r"[ \t]{0,3}[\"'`]?([!-~]{8,200})"
_PART = r"[A-Za-z0-9]+"
_WORD = r"[^\W\d_]+"
SOURCES = (
    _TOLD,
    _NEXT,
    _USE,
    _VERSION,
    _CODE,
    _MAIL,
    _TIME,
    _HASH,
    _UNIT,
    _RUN,
    _LONG,
    _STOP,
    _PAIR,
    _ACCOUNT,
    _USER,
    _BRIEF,
    _PART,
    _WORD,
)

_NOUNS = {
    **dict.fromkeys(("password", "passphrase", "passcode", "passwd", "pwd", "pw", "pass"), "password"),
    "token": "token",
    "secret": "secret",
    "key": "key",
}
"""What people call a secret in English when they tell one, and of which kind it is."""
_AS = frozenset(("is", "as", "ist", "als", "est", "comme", "es", "como", "è", "come", "é", "war", "was"))
_ARTICLES = frozenset(("the", "my", "our", "your", "das", "mein", "unser", "la", "el", "le", "mi", "mon", "il", "root"))
_QUALIFIED = (
    "api", "secret", "secrète", "access", "private", "encryption", "signing", "license", "licence", "service", "auth",
    "client", "master", "webhook", "deploy", "account", "storage", "jwt", "hmac", "security", "session", "zugangs",
    "zugriffs",
)  # fmt: skip
"""What a key is called that is a secret."""
_REACH = 110
"""Characters after or before a word in which its value is looked for."""
_AHEAD, _BACK = 7, 5
"""Words that may stand between."""
_OPENING, _CLOSING = "\"'`*([{<:=,;|>", "\"'`*)]}>.,;:!?|"
_TOLD_BY = frozenset(
    """is ist lautet war wird es era será sera est était è sarà é to je jest byl był är var er on bir olan
    это есть є це е είναι adalah ialah là este olarak olsun""".split()  # noqa: SIM905
)
"""Words of other languages after which a value comes at once."""


def find(text: str, low: str) -> list[Span]:
    """(start, end, kind) of what such sentences tell."""
    spans: list[Span] = []
    for word, kind in _NOUNS.items():
        spans += _each(text, low, word, kind, _told)
    for word, kind in detectors.labels(low):
        spans += _each(text, low, word, kind, _READERS.get(kind, _near))
    return spans


def _each(
    text: str, low: str, word: str, kind: str, read: Callable[[str, str, int, int, str], Span | None]
) -> Iterator[Span]:
    """What `read` finds at each place of a word."""
    done = 0
    at = low.find(word)
    while at >= 0:
        end = at + len(word)
        if at >= done and (found := read(text, low, at, end, kind)):
            yield found
            done = found[1]
        at = low.find(word, end)


def _told(text: str, low: str, at: int, end: int, kind: str) -> Span | None:
    """English: what stands after the word is told as its value."""
    after = low[end : end + 1]
    if not after.isascii() or (after == " " and not low[end + 1 : end + 2].isascii()):
        return _near(text, low, at, end, kind)
    if after.isalnum() or after in ("_", "-", "(", "[") or (after == "." and low[end + 1 : end + 2].strip()):
        return None
    word = low[at:end]
    if word == "key" and not low[max(0, at - 14) : at].rstrip(" _-").endswith(_QUALIFIED):
        return None
    if len(word) < 5 and word.startswith("p") and low[at - 1 : at].isalnum():
        return None
    found = _said_after(text, low, at, end, kind) or _said_before(text, low, at, kind)
    return found if found and _names(text, low, at, end) else None


def _said_after(text: str, low: str, at: int, end: int, kind: str) -> Span | None:
    """`the password is HERE`, `use password HERE`."""
    told = pattern(_TOLD).match(low, end)
    if told is None and kind == "password":
        told = pattern(_NEXT).match(low, end)
        if told and not pattern(_USE).search(low[max(0, at - 50) : at]) and not drawn(_cut(text, *told.span(1))):
            return None
    if told is None:
        return None
    first = told.start(1)
    value = _cut(text, first, told.end(1))
    if _plain(low[end:first]) and (value.isalnum() or "\\" in value or "&amp" in value or not drawn(value)):
        return None
    code = "(=:" if "\n" in text[end:first] else "(="
    follows = text[first + len(value) : first + len(value) + 1]
    if (follows and follows in code) or not (is_secret(value, kind) or (drawn(value) and len(value) > 9)):
        return None
    return first, first + len(value), kind


def _cut(text: str, first: int, last: int) -> str:
    return text[first:last].rstrip(".,;:!?)]}*\"'`")


def _start(text: str, at: int) -> int:
    first = max(0, at - 50)
    while at > first and (text[at - 1].isalnum() or text[at - 1] in "_-"):
        at -= 1
    return at


def _names(text: str, low: str, at: int, end: int) -> bool:
    """Does the word, with what it is joined to, name a secret?"""
    name = text[_start(text, at) : end]
    if low[at:end] == "key":
        return verdict.strength("api" + name) != verdict.NONE
    said = low[max(0, at - 14) : at].split()
    if said and (said[-1] in detectors.CURSORS or said[-1] in detectors.PUBLIC):
        return False
    return verdict.strength(name) == verdict.STRONG


def _plain(between: str) -> bool:
    """Nothing but a sign stands between a word and its value: capture.redaction.assignments judges words."""
    return "\n" not in between and not any(map(str.isalpha, between)) and any(sign in between for sign in ":=")


def _said_before(text: str, low: str, at: int, kind: str) -> Span | None:
    """`HERE is the password`, `use HERE as the admin password`."""
    if low[at - 1 : at] not in (" ", "*", "`"):
        return None
    first = max(0, at - 120)
    words = low[first:at].rsplit(None, 6)
    for back in range(1, min(6, len(words))):
        word = words[-back]
        if word in _AS:
            value = words[-back - 1].strip("\"'`*.,;:()")
            place = low.rfind(value, first, at)
            value = text[place : place + len(value)]
            known = back == 1 or words[1 - back] in _ARTICLES
            if place >= min(first, 1) and place >= 0 and (drawn(value) or (known and is_secret(value, kind))):
                return place, place + len(value), kind
            return None
    return None


def _near(text: str, low: str, at: int, end: int, kind: str) -> Span | None:
    """Another language: a drawn value in the same sentence, after the word or before."""
    if not pattern(_LONG).search(text, max(0, at - _REACH), end + _REACH + 20):
        return None
    if text[end - 1 : end].isalpha() and ord(text[end - 1]) < _LETTERS:
        last = min(len(text), end + 8)
        while end < last and text[end].isalpha() and ord(text[end]) < _LETTERS:
            end += 1  # the word's own ending
    if low[end : end + 1] in ("_", "(", "[") or (low[end : end + 1] == "-" and low[end + 1 : end + 2].isalnum()):
        return None
    return _ahead(text, end, kind) or _behind(text, at, kind)


_LETTERS = 0x530
"""Latin, Greek and Cyrillic letters are below: their words are parted by blanks."""


def _ahead(text: str, end: int, kind: str) -> Span | None:
    stop = _line_end(text, end)
    if not text[end:stop].strip(" \t:：=*`\"'"):
        while stop < len(text) and text[stop] in " \t\n>*-`" and stop < end + 20:
            stop += 1
        stop = _line_end(text, stop)
    if (over := pattern(_STOP).search(text, end, stop)) is not None:
        stop = over.start()
    for run in pattern(_RUN).finditer(text, end, stop):
        between = text[end : run.start()]
        words = pattern(_WORD).findall(between)
        if len(words) > _AHEAD:
            break
        first, last = _value(text, *run.span())
        value = text[first:last]
        sign = any(sign in between for sign in ":=：")
        said = sign or (words and (words[-1].lower() in _TOLD_BY or words[-1][-1] in "是为為"))
        close = said or not words or ord(words[-1][-1]) > _LETTERS
        if drawn(value):
            if close or kind != "key":
                return first, last, kind
        elif close and is_secret(value, kind) and _told_by(value, bool(sign), bool(said)):
            return first, last, kind
    return None


def _told_by(value: str, sign: bool, said: bool) -> bool:
    """Whether a made-up value is told: a commit or a name with a year (`Office365`) may follow such words, too."""
    return (said or not value.isalnum()) and (sign or len(value) > 15 or not entropy.is_hex(value))


def _behind(text: str, at: int, kind: str) -> Span | None:
    if kind == "key":
        return None
    first = max(0, at - _REACH, text.rfind("\n", max(0, at - _REACH), at) + 1)
    for over in pattern(_STOP).finditer(text, first, at):
        first = over.end()
    for run in [*pattern(_RUN).finditer(text, first, at)][::-1]:
        if len(pattern(_WORD).findall(text, run.end(), at)) > _BACK:
            break
        begin, last = _value(text, *run.span())
        if last < at and drawn(text[begin:last]):
            return begin, last, kind
    return None


def _paired(text: str, low: str, at: int, end: int, kind: str) -> Span | None:  # noqa: ARG001 - readers share one shape
    """`login: admin/HERE`, `creds are admin:HERE`."""
    while end < at + 24 and text[end : end + 1].islower():
        end += 1  # the word's own ending
    if low[at - 1 : at].isalpha() or low[end : end + 1].isalnum() or low[end : end + 1] in ("_", "(", "-"):
        return None
    for pair in pattern(_PAIR).finditer(text, end, _line_end(text, end)):
        value = _cut(text, *pair.span(2))
        near = len(pattern(_WORD).findall(text, end, pair.start())) <= _BACK
        if near and (drawn(value) or is_secret(value, "password")):
            return pair.start(2), pair.start(2) + len(value), "password"
    return None


def _account(text: str, low: str, at: int, end: int, kind: str) -> Span | None:  # noqa: ARG001
    """`use admin/HERE`."""
    pair = pattern(_ACCOUNT).match(text, at)
    value = _cut(text, *pair.span(2)) if pair else ""
    return (pair.start(2), pair.start(2) + len(value), "password") if pair and drawn(value) else None


def _brief(text: str, low: str, at: int, end: int, kind: str) -> Span | None:  # noqa: ARG001
    """`u: admin p: HERE`."""
    found = pattern(_BRIEF).match(text, end)
    if found is None or not pattern(_USER).search(low, max(0, at - 80), at + 1):
        return None
    value = _cut(text, *found.span(1)).rstrip("\"'`")
    told = drawn(value) or is_secret(value, "password")
    return (found.start(1), found.start(1) + len(value), "password") if told else None


_READERS: dict[str, Callable[[str, str, int, int, str], Span | None]] = {
    "login": _paired, "account": _account, "brief": _brief,
}  # fmt: skip
"""Who reads what stands behind a label that is no word for a secret."""


def _line_end(text: str, at: int) -> int:
    last = min(len(text), at + _REACH)
    end = text.find("\n", at, last)
    return last if end < 0 else end


def _value(text: str, first: int, last: int) -> tuple[int, int]:
    """Where the value stands in a run of signs: within its quotes, behind a user or a name, without punctuation."""
    joined = (text[first - 1 : first], text[last : last + 1])
    if any(char.isalpha() and ord(char) < _LETTERS for char in joined):
        return first, first  # a part of a word
    while first < last and text[first] in _OPENING:
        first += 1
    quote = text[first - 1 : first]
    closing = text.find(quote, first, last) if quote and quote in "\"'`" else -1
    if closing > first:
        return first, closing
    while last > first and text[last - 1] in _CLOSING:
        last -= 1
    for sign in ":=/":
        head, _, tail = text[first:last].partition(sign)
        if len(tail) >= 8 and head.isalpha():
            return last - len(tail), last
    return first, last


_KEY = 40
"""Characters of a key in base64, which may begin or read as a path does."""


def drawn(value: str) -> bool:
    """Looks drawn by itself, whatever is said around it: no word, number, name, path, hash, address or code."""
    return _is_key(value) or _drawn(value)


def _is_key(value: str) -> bool:
    long = _KEY <= len(value) <= 400 and not entropy.is_hex(value)
    return long and entropy.is_base64(value) and not entropy.stands_in(value)


def _drawn(value: str) -> bool:
    if not 8 <= len(value) <= 400 or not value.isascii() or any(sign in value for sign in _OF_TEXT):
        return False
    if value.isalpha() and value[1:].islower():
        return False  # a word: most of what is asked for
    letters = "".join(char for char in value if char.isalnum())
    odd = {char for char in value if not char.isalnum() and char not in "-_./:"}
    if len(letters) < 5 or letters.isdigit() or entropy.is_hex(letters) or _stands_in(value):
        return False
    if any(pattern(source).match(value) for source in (_VERSION, _TIME, _MAIL, _HASH)):
        return False
    if (unit := pattern(_UNIT).match(value)) and not entropy.is_random(unit[1]):
        return False
    if odd and entropy.is_expression(value):
        return False
    parts = pattern(_PART).findall(value)
    if odd <= _OF_CODE and (entropy.is_path(value) or (pattern(_CODE).search(value) and any(map(_is_name, parts)))):
        return False
    if odd:
        return _mixed(letters) or entropy.changes(value) * 6 >= len(value) * (4 if odd <= _OF_CODE else 3)
    longest = max(parts, key=len)
    if len(longest) >= 8:
        return not entropy.is_hex(longest) and _mixed(longest)
    return len(letters) >= 10 and _mixed(letters) and not any(map(_is_name, parts))


_OF_TEXT = ("://", "[REDACTED", "\\n", "\\t", "${", "$(", "{{", ":\\")
"""No password is likely to hold these: addresses, escapes, templates, paths."""
_OF_CODE = frozenset("()[]{}<>;,=&|+*'\"")


def _is_name(part: str) -> bool:
    """A word or a number, as those of a name are (`x86_64-linux-gnu2`)."""
    return len(part) > 3 and (part.isdigit() or (part.isalpha() and not entropy.is_random(part)))


def _stands_in(value: str) -> bool:
    """A placeholder; a sign that a variable begins with may be a password's."""
    return entropy.stands_in(value.translate(_SIGNS))


_SIGNS = {ord(sign): None for sign in "$%<>"}


def _mixed(value: str) -> bool:
    """Random, with digits or with small letters and capitals in no order, and without a word in it."""
    if not entropy.is_random(value):
        return False
    from capture.redaction.trigrams import rare  # on use: start-up stays short

    found = entropy.words(value)
    if any(len(word) > 4 and word.isalpha() and not rare([word])[0] for word in found):
        return False
    digits = sum(map(str.isdigit, value[:-1]))
    if digits:
        return digits > 1 or len(value) > 8
    found = entropy.words(value.rstrip("0123456789"))
    return len(found) >= 4 and len(value) <= 3 * len(found)


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
    if any(char in "./" for char in value) or (kinds < 3 and any(char in "-_" for char in value)):
        return digits > 1 and entropy.is_random(value) and (signs or verdict.random_looking(value))
    return (kinds >= 3 and (digits > 1 or signs)) or (digits > 1 and entropy.is_random(value))
