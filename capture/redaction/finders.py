"""Searches a text for secrets of every built-in kind, each behind a substring test, and returns spans.

A pattern is anchored where its literal was found, or bounded, so hostile text costs its length and not its square.
"""

from __future__ import annotations

from capture.redaction import assignments, detectors, entropy, rules_cache, settings, verdict
from capture.redaction.rules_cache import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Span = tuple[int, int, str]

_JWT = (
    r"eyJ[A-Za-z0-9_-]{8,500}\.(?:eyJ[A-Za-z0-9_-]{8,16000}\.[A-Za-z0-9_-]{6,2000}"
    r"|[A-Za-z0-9_-]{0,1000}(?:\.[A-Za-z0-9_-]{8,16000}){3})"
)
# The last @ before the path ends a password: many hold one, and few people write it %40.
_URL = (
    r"://([^\s:@/\"'`<>\\]{0,100}):"
    r"([^\s@\"'`<>\\/]{1,200}(?:@[^\s@\"'`<>\\/?#,;&|()]{1,80}){0,4}|[^\s@\"'`<>\\]{1,200})@(?=[\w.\[$-])"
)
_URL_USER = r"://([A-Za-z0-9_.~+=-]{16,400})(?::[\w-]{0,40})?@(?=[\w-]{1,80}[.:/])([\w.-]{1,200})"
_PORT = r"\d{1,5}[/?#]"
_BEARER = r"(?:bearer|token|apikey)[ \t]+([A-Za-z0-9_.~+/=:-]{12,4000})"
_BASIC = r"(?:basic)[ \t]+([A-Za-z0-9+/_-]{8,2000}={0,2})"
_JWK = r"[\"']?\b(?:d|p|q|dp|dq|qi|k)\\*[\"']?[ \t]*:[ \t]*\\*[\"']([A-Za-z0-9_-]{16,})"
_TELEGRAM = r"(?<!\d)\d{8,10}:AA[A-Za-z0-9_-]{32,33}(?![A-Za-z0-9_-])"
_DISCORD = r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}(?![A-Za-z0-9_-])"
_MAILCHIMP = r"(?<![0-9a-f])[0-9a-f]{32}-us\d{1,2}(?!\d)"
_AZURE_CLIENT = r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,34}"
_AZURE_DEVOPS = r"(?<![A-Za-z0-9])[A-Za-z0-9]{68,80}AZDO[A-Za-z0-9]{4}(?![A-Za-z0-9])"
_NEWRELIC = r"(?<![A-Za-z0-9])[a-z0-9]{36}NRAL(?![A-Za-z0-9])"
_FACEBOOK = r"(?<!\d)\d{15,16}(?:\||%7C)[A-Za-z0-9_-]{27}(?![A-Za-z0-9_-])"
_USERPASS = (
    r"(?:(?<!push )-u|--user|--proxy-user)[ =][\"']?(?![A-Za-z]:[\\/]|\d+:\d+\b|jdbc:)[^\s:\"']{1,80}:"
    r"(?!//)([^\s\"']{3,200})"
)
"""Of any command; a drive's letter, an address, `git push -u origin:main` and `docker run -u 1000:1000` are none."""
_RUNS_AS = (
    r"\b(?:sudo|python[\d.]*|gunicorn|uwsgi|docker|docker-compose|podman|nerdctl|kubectl|systemd-run|chroot|install)\b"
    r"[^\n|;&]{0,260}\Z"
)
_CURL = r"curl\b[^\n|;&]{0,200}?[ \t]-[a-z#]{0,8}u[ \t]?[\"']?[^\s:\"'-][^\s:\"']{0,80}:([^\s\"']{3,200})"
_COOKIE = r"[\w.-]{0,40}(?:sess|sid|auth|token|jwt|remember)[\w.-]{0,40}=([^\s;,\"'\\]{12,4000})"
_MANIFEST = r"(?m)^[ \t]*(?:data|stringData):[ \t]*\n((?:[ \t]+[^\n]{0,4000}\n?){1,200})"
_ENTRY = r"(?m)^[ \t]+[\w.-]{1,80}:[ \t]+[\"']?([^\s\"'{}|>$<][^\s\"']{3,4000})"
_SQL = (
    r"(?:identified[ \t]+(?:with[ \t]+[\w']{1,40}[ \t]+)?by|password)[ \t]+(?:[\"']([^\"'\n]{4,200})[\"']"
    r"|(?<=by )(?=\w{0,40}\d)([a-z]\w{5,80})(?![\w(.]))"
)
_LONG_RUN = r"[A-Za-z0-9+/_-]{24}"
_AND = r"\\*[\"'`]?(?:\s{0,40}[,;:|]\s{0,40}|[ \t]{1,4})\\*[\"'`]?"
_PARTNERS = {
    "aws-key": r"(?:[ \t]{1,4}\d{4}-\d\d-\d\dT[\d:.+Z-]{5,20}[ \t]{1,4}|"
    + _AND
    + r")([A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=])",
    "twilio-key": _AND + r"([A-Za-z0-9]{32})(?![A-Za-z0-9])",
}
"""What stands beside the id of a pair, which shows no shape of its own."""
_ACCOUNT_KEY = r"[\"']value\\*[\"'][ \t]{0,4}:[ \t]{0,4}\\*[\"']([A-Za-z0-9+/]{86}==)"
_PATTERNS = (
    *_PARTNERS.values(),
    _ACCOUNT_KEY,
    _LONG_RUN,
    _AZURE_CLIENT,
    _AZURE_DEVOPS,
    _NEWRELIC,
    _JWT,
    _URL,
    _URL_USER,
    _PORT,
    _BEARER,
    _BASIC,
    _USERPASS,
    _RUNS_AS,
    _CURL,
    _COOKIE,
    _MANIFEST,
    _ENTRY,
    _SQL,
    _JWK,
    _TELEGRAM,
    _DISCORD,
    _MAILCHIMP,
    _FACEBOOK,
)


def _hits(text: str, literal: str) -> Iterable[int]:
    at = text.find(literal)
    while at >= 0:
        yield at
        at = text.find(literal, at + 1)


def _begins(text: str, at: int) -> bool:
    """A token does not begin inside a word; an escape (`\\n`, `\\u003d`) or a URL's `%3D` before it is no word."""
    if at == 0 or not (text[at - 1].isalnum() or text[at - 1] == "_"):
        return True
    if text[at - 1] in "nrt" and text[at - 2 : at - 1] == "\\":
        return True
    if text[at - 4 : at - 2] == "\\x" or text[at - 6 : at - 4] == "\\u":
        return True
    return at >= 3 and text[at - 3] == "%"


def _stands(text: str, at: int, literal: str) -> bool:
    """Whether a token may begin here: most beginnings are no end of any word, so what is before them says nothing."""
    return (
        detectors.unmistakable(literal)
        or not literal[0].isalnum()
        or _begins(text, at)
        or (text[at - 1] == "_" and detectors.after_underscore(literal))
    )


_ROWS: dict[tuple[str, str], list[detectors.Row]] = {}
"""Rows that `detectors.rows` gave, kept because an import meets the same beginnings in text after text."""


def _rows(sign: str, start: str) -> list[detectors.Row]:
    if (sign, start) not in _ROWS:
        _ROWS[sign, start] = detectors.rows(sign, start)
    return _ROWS[sign, start]


def _tokens(text: str, low: str) -> list[Span]:  # noqa: ARG001 - finders share one shape
    found: list[tuple[int, Span]] = []
    for sign, starts in detectors.BEGINNINGS.items():
        if sign not in text:
            continue
        for start in starts:
            if start in text:
                for place, literal, kind, body in _rows(sign, start):
                    for at in _hits(text, literal):
                        matched = pattern(body).match(text, at + len(literal)) if _stands(text, at, literal) else None
                        if matched and _varied(text[at : matched.end()]):
                            found.append((place, (at, matched.end(), kind)))
                            found += [(place, span) for span in _partner(text, matched.end(), kind)]
    return [span for _, span in sorted(found)]  # in the table's order: the earlier row names the kind


def token(text: str) -> bool:
    """Whether a token of a known form is in a text."""
    return bool(_tokens(text, ""))


def _partner(text: str, end: int, kind: str) -> list[Span]:
    """`Client("AC...", "HERE")`, `AKIA...,HERE`: the secret half of a pair whose public half ends at `end`."""
    source = _PARTNERS.get(kind)
    matched = pattern(source).match(text, end) if source else None
    return [(*matched.span(1), kind)] if matched and _varied(matched[1]) and entropy.is_random(matched[1]) else []


def _account_keys(text: str, low: str) -> list[Span]:  # noqa: ARG001
    """What lists the keys of a storage account calls each of them a value."""
    if "keyName" not in text:
        return []
    return [(*matched.span(1), "key") for matched in pattern(_ACCOUNT_KEY).finditer(text)]


def _varied(token: str) -> bool:
    """Not one of the stand-ins that everybody knows: `xxxxxx`, `EXAMPLE`, one letter over and over."""
    low = token.lower()
    return "example" not in low and "xxxxxx" not in low and len(set(low[len(low) // 3 :])) > 1


def _jwt(text: str, low: str) -> list[Span]:  # noqa: ARG001
    spans = []
    last = 0
    for at in _hits(text, "eyJ"):
        if at < last:
            continue
        matched = pattern(_JWT).match(text, at)
        if matched:
            last = matched.end()
            spans.append((at, last, "jwt"))
    return spans


def _private_keys(text: str, low: str) -> list[Span]:
    if not _shows(text, _KEYS):
        if "2d2d" not in low and "2d 2d" not in low and "-   -" not in low and "0x2d" not in low and "0264" not in low:
            return []
        if not _shows(low, detectors.KEY_DUMPED):
            return []
    from capture.redaction import keys  # on use: start-up stays short

    return keys.find(text, low)


_KEYS = (detectors.KEY_FRAME, detectors.KEY_PUTTY, *detectors.KEY_ENCODED)


def _shows(text: str, words: Iterable[str]) -> bool:
    """Does one of the words stand in the text? Plain loops are what costs least in a text that holds nothing."""
    for word in words:  # noqa: SIM110
        if word in text:
            return True
    return False


def _urls(text: str, low: str) -> list[Span]:  # noqa: ARG001
    spans = []
    for at in _hits(text, "://"):
        if text.find("@", at, at + 520) < 0:
            continue
        matched = pattern(_URL).match(text, at)
        # a password that is the user's name is a default that everybody knows; a port and a path are none
        known = matched is None or matched.group(1) == matched.group(2) or _is_port(matched.group(2))
        if matched and not known and not _mere(matched.group(2)):
            spans.append((matched.start(2), matched.end(2), "url-password"))
        user = pattern(_URL_USER).match(text, at)
        if user and _opens(user.group(1), user.group(2)) and text[at - 3 : at] not in ("ssh", "ftp"):
            spans.append((*user.span(1), "url-token"))
    return spans


def _is_port(value: str) -> bool:
    return pattern(_PORT).match(value) is not None and not entropy.is_base64(value)


def _opens(user: str, host: str) -> bool:
    """Is a URL's user a token? The one of an address for error reports is public."""
    if "sentry" in host or "ingest" in host or not any(map(str.isdigit, user)) or entropy.stands_in(user):
        return False
    if entropy.is_hex(user):
        return len(user) >= 20 and not user.isdigit()
    return verdict.random_looking(user) or entropy.is_uuid(user)


def _mere(value: str) -> bool:
    return (
        "[REDACTED" in value
        or " " in value
        or ("+" in value[:2] and not entropy.is_base64(value))
        or entropy.stands_in(value)
        or value[0] in "$%{<"
    )


def _headers(text: str, low: str) -> list[Span]:
    spans = []
    for word, source in (("bearer", _BEARER), ("basic", _BASIC), ("token ", _BEARER), ("apikey ", _BEARER)):
        for at in _hits(low, word):
            matched = pattern(source).match(low, at)
            if matched is None:
                continue
            value = text[matched.start(1) : matched.end(1)]
            if word == "basic" and not _is_base64(value):
                continue
            if word != "basic" and not (any(c.isdigit() for c in value) and entropy.shannon(value) > 2.8):
                continue
            if not entropy.stands_in(value) and not entropy.is_reference(value) and "://" not in value:
                spans.append((matched.start(1), matched.end(1), word.strip()))
    return spans


def _is_base64(value: str) -> bool:
    """Credentials in base64: a colon inside, printable."""
    from binascii import Error, a2b_base64  # on use: start-up stays short

    try:
        decoded = a2b_base64(value + "=" * (-len(value) % 4))
    except (Error, ValueError):
        return False
    return b":" in decoded


def _back(source: str, literal: str, before: int, kind: str, gate: str = "") -> Callable[[str, str], list[Span]]:
    """Finds what has its literal in the middle: looks from a little before it. `gate` stands 7 characters on."""

    def finder(text: str, low: str) -> list[Span]:  # noqa: ARG001
        spans: list[Span] = []
        if literal not in text:
            return spans
        for at in _hits(text, literal):
            if gate and text[at + 7 : at + 8] != gate:
                continue
            if not text[at - 1 : at].isalnum():
                continue
            matched = pattern(source).search(text, max(0, at - before), at + 80)
            if matched and matched.end() > at and _varied(matched.group()):
                spans.append((matched.start(), matched.end(), kind))
        return spans

    return finder


def _commands(text: str, low: str) -> list[Span]:
    for stem, signs in detectors.COMMANDS:
        if stem in low and _shows(low, signs):
            from capture.redaction import commands  # on use: start-up stays short

            return commands.find(text, low)
    return []


def _users(text: str, low: str) -> list[Span]:
    """`-u joe:HERE` of any command; what runs others takes the name of a group there."""
    return [
        span
        for span in _user_passwords(text, low)
        if not (
            low[span[0] : span[1]].replace("-", "").replace("_", "").isalpha()
            and pattern(_RUNS_AS).search(low, max(0, span[0] - 300), span[0])
        )
    ]


def _options(text: str, low: str) -> list[Span]:
    letters = {part[:1] for part in text.split(" -")}  # soon made, and says which options cannot stand here
    for option, rows in detectors.OPTIONS:
        if option[1] == "-" and option[2] not in letters:
            continue
        if option in text and any(_shows(low, tools) for _, tools in rows):
            from capture.redaction import options  # on use: start-up stays short

            return options.find(text, low)
    return []


_COPULAS = (
    ": ", "word", " is ", "|", ":\n", " as ", " to ", " be ", "use ", "ith ", " was ", " ist ", " lautet", " es ",
    "'s ", "’s ",
    " est ", " com", " je", "pw ", "pass ", "**\n", "token\n", "key\n", "secret\n", "</t",
)  # fmt: skip
"""What stands in an English sentence, a table or a heading that tells a secret, besides NOUNS."""
_PROMPT = 2_000
"""Characters of a text in which an English word may stand in a sentence of another language."""


def _unmarked(text: str, low: str) -> list[Span]:
    """What no name and no beginning gives away; the words of a text show whether it may hold any."""
    plain = 0
    phrase = _shows(low, detectors.PHRASES)
    long = False
    for word in text.split():
        size = len(word)
        if 2 < size < 9 and word.isalpha() and word.islower():
            plain += 1
            phrase = phrase or plain >= detectors.PHRASE
            continue
        plain = 0
        long = long or (size >= detectors.LONG_WORD and _encodes(word))
    grouped = " " in text and _shows(low, detectors.GROUPED)
    if not (long or phrase or grouped):
        return []
    from capture.redaction import unmarked  # on use: start-up stays short

    spans = [*unmarked.encoded(text, _held), *unmarked.wallets(text), *unmarked.bare(text)] if long else []
    spans += unmarked.phrases(text) if phrase else ()
    spans += unmarked.groups(text) if grouped else ()
    return spans


def _encodes(word: str) -> bool:
    """May a long word hold base64 or a wallet's key? Paths and dotted names are nearly all of what is long."""
    return not word.islower() and pattern(_LONG_RUN).search(word) is not None


def _spoken(text: str, low: str) -> list[Span]:
    if not detectors.labels(low) and not (_shows(low, detectors.NOUNS) and (_shows(low, _COPULAS) or _abroad(low))):
        return []
    from capture.redaction import spoken  # on use: start-up stays short

    spans = spoken.find(text, low)
    if "|" in text or "\n" in text or "│" in text or "</t" in low:
        from capture.redaction import layouts  # on use: start-up stays short

        spans += layouts.find(text, low)
    return spans


def _abroad(low: str) -> bool:
    """May an English word stand in a sentence of another script?"""
    return len(low) < _PROMPT and not low.isascii() and any(map(str.isalpha, detectors.foreign(low)))


def _cookies(text: str, low: str) -> list[Span]:
    """Sessions in a `Cookie:` or `Set-Cookie:` line."""
    spans: list[Span] = []
    end = 0
    for at in _hits(low, "cookie: "):
        if at < end:
            continue
        end = min(len(low) if (end := low.find("\n", at)) < 0 else end, at + 4000)
        found = [matched.span(1) for matched in pattern(_COOKIE).finditer(low, at + 8, end)]
        spans += [(first, last, "cookie") for first, last in found if verdict.random_looking(text[first:last])]
    return spans


def _manifests(text: str, low: str) -> list[Span]:
    """Every value of a Kubernetes secret, whatever it is called."""
    if "kind: secret" not in low:
        return []
    spans: list[Span] = []
    last = 0
    for at in _hits(low, "kind: secret"):
        if at >= last and not low[at + 12 : at + 13].strip():
            first = max(last, text.rfind("\n---", last, at))
            last = len(text) if (last := text.find("\n---", at)) < 0 else last
            for block in pattern(_MANIFEST).finditer(text, first, last):
                found = pattern(_ENTRY).finditer(text, *block.span(1))
                spans += [(*entry.span(1), "secret") for entry in found if not _mere(entry.group(1))]
    return spans


def _jwk(text: str, low: str) -> list[Span]:  # noqa: ARG001
    """The private members of a JSON web key."""
    if "kty" not in text:
        return []
    return [(*matched.span(1), "jwk") for matched in pattern(_JWK).finditer(text)]


def _command(literals: tuple[str, ...], source: str, kind: str) -> Callable[[str, str], list[Span]]:
    def finder(text: str, low: str) -> list[Span]:
        spans: list[Span] = []
        for literal in literals:
            at = low.find(literal)
            while at >= 0:
                matched = pattern(source).match(low, at)
                number = matched.lastindex or 1 if matched else 1
                if matched and not _mere(text[matched.start(number) : matched.end(number)]):
                    spans.append((*matched.span(number), kind))
                at = low.find(literal, at + 1)
        return spans

    return finder


_user_passwords = _command(("-u ", "-u=", "--user", "--proxy-user"), _USERPASS, "password")
_curl = _command(("curl ",), _CURL, "password")
FINDERS: tuple[Callable[[str, str], list[Span]], ...] = (
    _private_keys,
    _tokens,
    _jwt,
    _urls,
    _headers,
    _jwk,
    _account_keys,
    _back(_TELEGRAM, ":AA", 11, "telegram-token"),
    _back(_MAILCHIMP, "-us", 33, "mailchimp-key"),
    _back(_FACEBOOK, "|", 17, "facebook-token"),
    _back(_AZURE_CLIENT, "Q~", 5, "azure-key"),
    _back(_AZURE_DEVOPS, "AZDO", 81, "azure-key"),
    _back(_NEWRELIC, "NRAL", 37, "newrelic-key"),
    _back(_DISCORD, ".", 28, "discord-token", gate="."),
    _users,
    _options,
    _curl,
    _commands,
    _unmarked,
    _cookies,
    _manifests,
    _command(("identified by", "identified with", "password '", 'password "'), _SQL, "password"),
    assignments.find,
    _spoken,
)
"""The more specific first: where two finders overlap, the earlier one names the kind."""


NAMED = (_urls, _users, _options, _curl, _commands, assignments.find, _spoken)
"""What can stand in a text of fewer than SHORT characters: no token is that short."""

SHORT = 20


def found(text: str) -> list[Span]:
    """(start, end, kind) of what the built-in finders see, in their order; spans may overlap."""
    low = lowered(text)
    spans: list[Span] = []
    for finder in FINDERS if len(text) >= SHORT else NAMED:
        spans += finder(text, low)
    return spans


def lowered(text: str) -> str:
    """A text in lower case, of the same length: places in one are places in the other."""
    low = text.lower()
    return low if len(low) == len(text) else "".join(s if len(s := char.lower()) == 1 else char for char in text)


def _held(text: str) -> bool:
    """Whether a decoded text holds a secret that the person does not allow."""
    known = settings.load()
    return any(not known.allows(text[begin:end]) for begin, end, _ in found(text))


def sources() -> Iterable[str]:
    """Every built-in pattern, for the cache."""
    from capture.redaction import commands, keys, layouts, options, spoken, unmarked  # on use: start-up stays short

    return (
        *layouts.SOURCES,
        *unmarked.SOURCES,
        *keys.SOURCES,
        *commands.SOURCES,
        *options.SOURCES,
        *spoken.SOURCES,
        *(body for _, _, body in detectors.TOKENS),
        *entropy.SOURCES,
        *assignments.SOURCES,
        *verdict.SOURCES,
        *_PATTERNS,
    )


rules_cache.builtin = sources
