"""Finds secrets in commands: `vault login HERE`, `--from-literal=a=HERE`, `echo HERE | chpasswd`.

A module of its own because it is loaded only for a text that holds one of the words of `detectors.COMMANDS`. Every
pattern is anchored where its word stands, and bounded.
"""

from __future__ import annotations

from capture.redaction import entropy, verdict
from capture.redaction.rules_cache import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from re import Match

    Span = tuple[int, int, str]

_VALUE = r"[\"']?([^\s\"'|;&]{4,2000})"
_LITERAL = r"(?i:from-literal)[= ][\"']?[\w./-]{1,80}=" + _VALUE
_LOGIN = (
    r"(?i:vault login|unseal)(?:[ \t]+-[\w-]{1,40}(?:=\S{1,100})?){0,4}[ \t]+(?:token=)?"
    r"[\"']?([A-Za-z0-9+/=_.-]{12,300})"
)
_STRING = r"(?i:secret-string)[= ](?:'([^'\n]{4,4000})'|\"((?:[^\"\\\n]|\\.){4,4000})\"|([^\s\"']{4,4000}))"
_OPTION = r"[ \t](?:--(?:body|value|secret-value)|-b)(?:[ \t]+|=|(?=[\"']))" + _VALUE
_PAIR = r"[ \t][\"']?[A-Za-z_][\w.]{0,80}=" + _VALUE
_HTPASSWD = r"htpasswd((?:[ \t]+-[A-Za-z]{1,6}){1,4})([^\n|;&]{0,200})"
_ECHOED = (
    r"(?:echo|printf|print)[ \t]+(?:-\w{1,3}[ \t]+)?(?:[\"']?%s(?:\\n)?[\"']?[ \t]+)?"
    r"[\"']?([^\s\"'|]{4,400}?)(?:\\n)?[\"']?[ \t]{0,4}\|[^|\n]{0,300}\Z"
)
_HERE = r"[^\n|;&]{0,60}<<<[ \t]?" + _VALUE
_PRINTED = (
    r"(?:printenv[ \t]+|echo[ \t]+[\"']?\$\{?(?:env:)?)([A-Za-z_]\w{1,80})\}?[\"']?[ \t]{0,4}\n[>|+ \t]{0,8}"
    r"([^\s\"'<>$]{6,2000})[ \t]{0,8}(?=\n|\Z)"
)
_PGPASS = (
    r"(?:[\w./*-]{1,80}|\[[0-9a-f:]{2,40}\])"
    r":(?:\d{2,5}|\*):[\w.*-]{1,64}:[\w.*@+-]{1,64}:((?:[^\s:'\"\\]|\\.){4,200})(?=[\s'\"]|\Z)"
)
_JAR = r"(?: -b|--cookie)(?:[ \t]*|=)(?:'([^'\n]{4,4000})'|\"([^\"\n]{4,4000})\"|(?![-\"'])([^\s\"']{4,4000}))"
_COOKIES = (
    r"cookies?\\*[\"']?(?:\.set|\.add)?[ \t]{0,3}(?:[:=(]{1,2}[ \t]{0,3})(?:dict\()?(?:\\*[\"']|[\[{(]|(?=[\w.-]+=))"
)
_CRUMB = (
    r"(?:[\"'](?:name|value)\\*[\"'][ \t]?:[ \t]?\\*)?[\"']?([\w.-]{1,80})\\*[\"']?[ \t]{0,3}[:=,][ \t]{0,3}"
    r"(?:\\*[\"']value\\*[\"'][ \t]{0,3}:[ \t]{0,3})?\\*([\"']?)([^\s;,\"'\\{}\[\]]{8,4000})"
)
_GIVEN = r"(?:\\*\"((?:[^\"\\\n]|\\[^\"]){4,400})\\*\"|'([^'\n]{4,400})'|([^\s\"'|;&()]{4,400}))"
"""A quoted value, which may hold anything, or a bare one."""
_SECURE = r"convertto-securestring(?:[ \t]+-(?:string|asplaintext|force))*[ \t]+(?!-)" + _GIVEN
_INTO = r"[\"']([^\"'\n]{4,400})[\"'][ \t]*\|[ \t]*\Z"
_NET = r"(?:[ \t]+(?:[a-z]:|\*|\\{2,4}\S+|/[a-z]+(?::\S*)?)){1,6}[ \t]+(?!/[a-z]+(?:[:\s]|\Z)|[\\*]|[a-z]:)" + _GIVEN
_ACCOUNT = r"[ \t]+(?!/)[\w.\\-]{1,60}[ \t]+(?![/*])" + _GIVEN
_WIRELESS = (
    r"[^\n|;&]{0,300}?[ \t](?:password|psk|[\w.-]{1,40}\.(?:psk|password|wep-key\d?|leap-password|secrets))[ \t]+"
    + _GIVEN
)
_SECOND = r"[ \t]+(?:\"[^\"\n]{0,80}\"|'[^'\n]{0,80}'|[^\s\"']{1,80})[ \t]+" + _GIVEN
_THIRD = r"[ \t]+\S{1,40}" + _SECOND
_BEHIND = r"[ \t]+" + _GIVEN
_FOURTH = r"[ \t]+\S{1,40}[ \t]+\S{1,200}" + _SECOND
_HASHED = r"(?:[ \t]+-(?:salt[ \t]+\S{1,40}|[\w-]{1,12})){0,4}[ \t]+(?![-\\])" + _GIVEN
_FILED = r"(?:[ \t]+-[bcU]{1,3})+[ \t]+\S{1,100}" + _SECOND
_ACCOUNT_OF = r"(?:[ \t]+-\w{1,3}){0,3}[ \t]+[\w$#]{1,60}/([^\s\"'@/]{4,200})(?=@|[\s\"']|\Z)"
_AT_HOST = r"[^\n|;&]{0,200}?[ \t][\w./\\-]{1,60}:([^\s\"'@/]{4,200})(?=@[\w.-])"
_BASIC = r"[\w.-]{1,100}" + _SECOND
_SLASHED = r"[^\n|;&]{0,300}?[ \t]/(?:pass|p|rp)(?:[:]|[ \t]+)" + _GIVEN
_PAIRED = r"\s{0,20}b?[\"'][^\s:\"']{1,80}:([^\s\"']{4,200})[\"']"
_CREDENTIAL = r"\(\s{0,20}\\*[\"'][^\"'\n]{0,100}[\"']\s{0,20},\s{0,20}\\*[\"']([^\"'\n]{4,200})[\"']"
_TRANSFER = (
    r"(?:proxy)?(?:userpwd|password|keypasswd|sslkeypasswd|xoauth2_bearer|proxypassword)\s{0,9},\s{0,9}[\"'](?:[^\s:\"']{1,80}:)?"
    r"([^\"'\n]{4,300})[\"']"
)
_FERNET = r"\s{0,20}b?\\*[\"']([A-Za-z0-9_-]{43}=)"
_ACCOUNT_KEY = (
    r"[\w.-]{1,100}(?:\\*[\"']?\s{0,9}[,=:]\s{0,9}\\*[\"']?|[ \t]{1,9}|</name>\s{0,40}<value>\s{0,9})"
    r"([A-Za-z0-9+/]{86}==)"
)
SOURCES = (
    _FERNET, _ACCOUNT_KEY,
    _PGPASS, _JAR, _COOKIES, _CRUMB,
    _SECURE, _INTO, _NET, _ACCOUNT, _WIRELESS, _SECOND, _THIRD, _FOURTH, _BEHIND, _HASHED,
    _FILED, _ACCOUNT_OF, _AT_HOST, _BASIC, _SLASHED, _CREDENTIAL, _PAIRED,
    _TRANSFER, _LITERAL, _LOGIN, _STRING, _OPTION, _PAIR,
    _HTPASSWD, _ECHOED, _HERE, _PRINTED
)  # fmt: skip

_LONGEST = 2_000
"""Characters of one command."""


def find(text: str, low: str) -> list[Span]:
    """(start, end, kind) of what such commands hold."""
    spans: list[Span] = []
    for sign, read in _READERS.items():
        last = 0
        at = low.find(sign)
        while at >= 0:
            if at >= last:
                for begin, end, kind in read(text, low, at):
                    if read in _JUDGING or _is_value(text[begin:end], kind):
                        spans.append((begin, end, kind))
                        last = max(last, end)
                if read is _cookies:
                    last = max(last, _plate(text, low, at)[1])
                if read is _set:
                    last = max(last, _end(text, at))  # all of the command was read
            at = low.find(sign, max(last, at + 1))
    return spans


def _is_value(value: str, kind: str) -> bool:
    """No stand-in, no variable, no file; of a word that may be prose's, something drawn."""
    from capture.redaction import spoken  # on use: start-up stays short

    if (
        (value[0] in "$%<[(*@-`" and not spoken.drawn(value))
        or value[:2] == "{{"
        or "[REDACTED" in value
        or "://" in value[:10]
        or value.startswith("file:")
    ):
        return False
    if entropy.stands_in(value) or entropy.is_path(value):
        return False
    return kind != "token" or (any(map(str.isdigit, value)) and entropy.is_random(value))


def _first(matched: Match[str] | None, kind: str) -> Iterator[Span]:
    if matched:
        for number in range(1, len(matched.groups()) + 1):
            if matched.start(number) >= 0:
                yield (*matched.span(number), kind)


def _end(text: str, at: int) -> int:
    """Where a command ends that may go on over lines."""
    last = min(len(text), at + _LONGEST)
    end = text.find("\n", at, last)
    while end > 0 and text[end - 1] == "\\":
        end = text.find("\n", end + 1, last)
    return last if end < 0 else end


def _begin(text: str, at: int) -> int:
    """Where it begins."""
    first = max(0, at - _LONGEST)
    begin = text.rfind("\n", first, at)
    while begin > 0 and text[begin - 1] == "\\":
        begin = text.rfind("\n", first, begin)
    return max(first, begin + 1)


def _literal(text: str, low: str, at: int) -> Iterator[Span]:
    if "secret" in low[_begin(low, at) : at]:
        yield from _first(pattern(_LITERAL).match(text, at), "secret")


def _login(text: str, low: str, at: int) -> Iterator[Span]:  # noqa: ARG001 - readers share one shape
    yield from _first(pattern(_LOGIN).match(text, at), "token")


def _string(text: str, low: str, at: int) -> Iterator[Span]:  # noqa: ARG001
    yield from _first(pattern(_STRING).match(text, at), "secret")


def _set(text: str, low: str, at: int) -> Iterator[Span]:
    """`gh secret set A --body HERE`, `fly secrets set A=HERE B=HERE`."""
    end = _end(text, at)
    for source in (_OPTION, _PAIR):
        for matched in pattern(source).finditer(text, at, end):
            yield from _first(matched, "secret")
    yield from _piped(text, low, at)


def _parameter(text: str, low: str, at: int) -> Iterator[Span]:
    """The value of a parameter that is stored encrypted, before or after the word that says so."""
    begin = _begin(low, at)
    if "parameter" in low[begin:at]:
        for matched in pattern(_OPTION).finditer(text, begin, _end(text, at)):
            yield from _first(matched, "secret")


def _htpasswd(text: str, low: str, at: int) -> Iterator[Span]:
    """Its last argument, where `-b` says that it is the password: after the user, and before that the file."""
    matched = pattern(_HTPASSWD).match(low, at)
    if matched is None or "b" not in matched[1]:
        return
    place = matched.start(2)
    letters = text[slice(*matched.span(1))]
    for _ in range(3 - ("n" in letters) + ("C" in letters)):
        while place < matched.end(2) and text[place] in " \t":
            place += 1
        start = place
        while place < matched.end(2) and text[place] not in " \t":
            place += 1
    quotes = len(text[start:place]) - len(text[start:place].strip("\"'"))
    if place - start - quotes >= 4:
        yield start + quotes // 2, place - quotes // 2, "password"


def _piped(text: str, low: str, at: int) -> Iterator[Span]:
    """`echo HERE | docker login --password-stdin`, `echo root:HERE | chpasswd`, `chpasswd <<< root:HERE`."""
    if low.startswith("sudo", at) and text[at + 5 : at + 7] != "-S":
        return
    line = max(0, at - 600, low.rfind("\n", max(0, at - 600), at) + 1)
    begin = max(low.rfind(word, line, at) for word in ("echo ", "printf ", "print "))
    matched = pattern(_ECHOED).match(text, begin, at) if begin >= 0 else None
    matched = matched or pattern(_HERE).match(text, at)
    if matched is None:
        return
    start, end = matched.span(1)
    colon = text.find(":", start, end) if low.startswith("chpasswd", at) else -1
    yield colon + 1 if colon >= 0 else start, end, "password"


def _printed(text: str, low: str, at: int) -> Iterator[Span]:  # noqa: ARG001
    """`printenv API_KEY`, and on the next line what it printed."""
    matched = pattern(_PRINTED).match(text, at)
    if matched and verdict.named(matched[1], matched[2]):
        yield (*matched.span(2), verdict.kind_of(matched[1]))


def _pgpass(text: str, low: str, at: int) -> Iterator[Span]:  # noqa: ARG001
    """`host:port:database:user:HERE`."""
    begin = max(text.rfind(sign, max(0, at - 80), at) + 1 for sign in " \t\n'\"")
    from capture.redaction import spoken  # on use: start-up stays short

    for first, last, kind in _first(pattern(_PGPASS).match(text, begin), "password"):
        if spoken.drawn(text[first:last]) or _is_value(text[first:last], kind):
            yield first, last, kind


def _jar(text: str, low: str, at: int) -> Iterator[Span]:
    """`curl -b 'session=HERE; theme=dark'`; without a sign of equality, a file."""
    matched = pattern(_JAR).match(text, at) if "curl" in low[_begin(low, at) : at] else None
    if matched:
        yield from _crumbs(text, *matched.span(matched.lastindex or 1))


def _cookies(text: str, low: str, at: int) -> Iterator[Span]:
    """`cookies={"session": "HERE"}`, `document.cookie = "session=HERE"`, `cookies.set("sid", "HERE")`."""
    yield from _crumbs(text, *_plate(text, low, at))


def _plate(text: str, low: str, at: int) -> tuple[int, int]:
    """Where the cookies that follow such a word begin and end."""
    matched = pattern(_COOKIES).match(low, at)
    if matched is None:
        return at, at
    last = min(len(text), at + _LONGEST)
    close = {"{": "}", "[": "]", "(": ")"}.get(matched[0][-1], "\n")
    end = text.find(close, matched.end(), last)
    return matched.end(), last if end < 0 else end


def _crumbs(text: str, begin: int, end: int) -> Iterator[Span]:
    """The values of cookies that look drawn."""
    from capture.redaction import spoken  # on use: start-up stays short

    for crumb in pattern(_CRUMB).finditer(text, begin, end):
        first, last = crumb.span(3)
        value = text[first:last].rstrip(")")
        digits = entropy.is_hex(value) and len(value) >= 16 and not value.isdigit()
        if digits or spoken.drawn(value) or verdict.random_looking(value):
            yield first, first + len(value), "cookie"


def _secure(text: str, low: str, at: int) -> Iterator[Span]:
    """`ConvertTo-SecureString "HERE"`, `"HERE" | ConvertTo-SecureString`."""
    yield from _first(pattern(_SECURE).match(low, at), "password")
    yield from _first(pattern(_INTO).search(text, max(0, at - 420), at), "password")


def _account(text: str, low: str, at: int) -> Iterator[Span]:
    """`net user joe HERE /add`: prose speaks of net users, too, so the value must be mixed."""
    matched = pattern(_ACCOUNT).match(low, at + len("net user"))
    if matched and any(map(str.isdigit, text[slice(*matched.span(matched.lastindex or 1))])):
        yield from _first(matched, "password")


def _credential(text: str, low: str, at: int) -> Iterator[Span]:
    """`new NetworkCredential("joe", "HERE")`, where no word says which of the two is the password."""
    matched = pattern(_CREDENTIAL).match(low, low.index("(", at))
    if matched and verdict.literal(text[slice(*matched.span(1))], verdict.STRONG, "password"):
        yield from _first(matched, "password")


def _pair(text: str, low: str, at: int) -> Iterator[Span]:
    """`b64encode(b"joe:HERE")`."""
    matched = pattern(_PAIRED).match(low, at + len("b64encode("))
    if matched and verdict.literal(text[slice(*matched.span(1))], verdict.STRONG, "password"):
        yield from _first(matched, "password")


def _fernet(text: str, low: str, at: int) -> Iterator[Span]:
    """`Fernet("HERE")`: letters count, so the text itself is read."""
    yield from _first(pattern(_FERNET).match(text, low.index("(", at) + 1), "key")


def _account_key(text: str, low: str, at: int) -> Iterator[Span]:  # noqa: ARG001
    """`fs.azure.account.key.NAME.blob.core.windows.net=HERE`: the account's name stands behind the word."""
    yield from _first(pattern(_ACCOUNT_KEY).match(text, at + len("account.key.")), "key")


def _behind(source: str, size: int) -> Callable[[str, str, int], Iterator[Span]]:
    """Reads what stands behind a word of so many characters; the pattern is for lower case."""

    def read(text: str, low: str, at: int) -> Iterator[Span]:  # noqa: ARG001
        yield from _first(pattern(source).match(low, at + size), "password")

    return read


_ARGUMENTS = {
    "net use ": _NET,
    "net.exe use ": _NET,
    "nmcli ": _WIRELESS,
    "wpa_passphrase ": _SECOND,
    "-setairportnetwork ": _THIRD,
    "--passphrase ": _BEHIND,
    **dict.fromkeys(("cmdkey ", "freerdp ", "schtasks "), _SLASHED),
    "curlopt_": _TRANSFER,
    "openssl passwd ": _HASHED,
    "set-initial-password ": _BEHIND,
    **dict.fromkeys(("change_password ", "rabbitmqctl add_user "), _SECOND),
    "mosquitto_passwd ": _FILED,
    **dict.fromkeys(("sqlplus ", "impdp ", "expdp "), _ACCOUNT_OF),
    **dict.fromkeys(("mysqlsh ", "impacket-"), _AT_HOST),
    "http-basic.": _BASIC,
    "mc alias set ": _FOURTH,
    **dict.fromkeys(("bw unlock ", "rclone obscure "), _BEHIND),
    "bw login ": _SECOND,
}
"""Commands and calls that take a password in a place of its own, by the word before it."""
_READERS = {
    **dict.fromkeys(("secret set", "secrets set", "secrets:set", "secret:create"), _set),
    **dict.fromkeys(("secret put", "env add "), _piped),
    **dict.fromkeys(("chpasswd", "--password-stdin", "passwd --stdin", "--with-token", "sudo -s ", "kinit "), _piped),
    **dict.fromkeys(("vault login", "unseal "), _login),
    **dict.fromkeys(("printenv ", "echo $", 'echo "$'), _printed),
    **dict.fromkeys((":543", "5432:", "6432:", ":25060:", ":*:"), _pgpass),
    **dict.fromkeys((" -b", "--cookie"), _jar),
    "cookie": _cookies,
    **{word: _behind(source, len(word.rstrip())) for word, source in _ARGUMENTS.items()},
    "convertto-securestring": _secure,
    "net user ": _account,
    **dict.fromkeys(("credential(", "credentials(", "cosmosclient("), _credential),
    "fernet(": _fernet,
    "account.key.": _account_key,
    "b64encode(": _pair,
    "secret-string": _string,
    "from-literal": _literal,
    "securestring": _parameter,
    "htpasswd ": _htpasswd,
}
"""By the words of `detectors.COMMANDS`."""
_JUDGING = (_pgpass, _jar, _cookies)
"""Readers that judge the values themselves."""
