"""Finds what sensitivity "strict" redacts beyond secrets: drawn tokens, UUIDs, e-mail addresses, internal hosts.

Loaded only where a person asked for it. What is found here is private or may be a key; most of it is neither, so it is
looked for in texts alone: paths, names and ids stay what they are.
"""

from __future__ import annotations

from capture.redaction import entropy, verdict
from capture.redaction.rules_cache import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Span = tuple[int, int, str]

LEAST = 20
"""Characters of a token that no name gives away."""
_RUN = rf"[A-Za-z0-9+/_-]{{{LEAST},65536}}={{0,2}}"
_PART = rf"[A-Za-z0-9_-]{{{LEAST},}}"
_LETTERS = "[A-Za-z0-9]{12,}"
_USER, _DOMAIN = r"[A-Za-z0-9._%+-]{1,64}\Z", r"@((?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24})(?![\w-])"
_HOST = (
    r"(?<![\w.-])((?:[A-Za-z0-9_-]{1,63}\.){1,8})(?:internal|intranet|corp|lan|local|localdomain|private|home\.arpa)"
    r"(?![\w-]|\.\w|\()"
)
_QUAD = (
    r"(?<![\w.])(?:10\.\d{1,3}|192\.168|169\.254|172\.(?:1[6-9]|2\d|3[01])|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7]))"
    r"\.\d{1,3}\.\d{1,3}(?![\w.]*\d|[A-Za-z])"
)
_SIXES = r"(?<![\w:])(?:f[cd][0-9a-f]{2}|fe80):[0-9a-f:]{2,34}(?![\w:])"
SOURCES = (_RUN, _PART, _LETTERS, _USER, _DOMAIN, _HOST, _QUAD, _SIXES)

_SUFFIXES = ("internal", "intranet", ".corp", ".lan", ".local", ".private", ".home.arpa")
_NOBODY = ("git", "noreply", "no-reply", "donotreply")
"""Users of addresses that are no person's."""
_RESERVED = ("example.com", "example.org", "example.net", ".example", ".test", ".invalid")
"""Ends of domains that documentation uses and nobody has."""
_DIGESTS = ("sha256:", "sha512:", "sha256-", "sha384-", "sha512-", "md5:", "h1:")


def find(text: str, low: str) -> Iterator[Span]:
    """(start, end, kind) of everything that only this sensitivity redacts; `low` is the text in lower case."""
    if "@" in text:
        yield from _mails(text)
    if any(suffix in low for suffix in _SUFFIXES):
        yield from _hosts(text, low)
    if "." in text or ":" in text:
        yield from ((*found.span(), "address") for found in pattern(_QUAD).finditer(text) if _octets(found[0]))
        yield from ((*found.span(), "address") for found in pattern(_SIXES).finditer(low) if found[0].count(":") > 1)
    for run in pattern(_RUN).finditer(text):
        yield from _drawn(text, run.start(), run[0])


def _mails(text: str) -> Iterator[Span]:
    """`jane@company.com`; no `git@host`, no version of a package, nobody's address."""
    at = text.find("@")
    while at >= 0:
        domain = pattern(_DOMAIN).match(text, at)
        user = pattern(_USER).search(text, max(0, at - 64), at) if domain else None
        if domain and user and user[0].lower() not in _NOBODY and not domain[1].lower().endswith(_RESERVED):
            yield user.start(), domain.end(), "email"
        at = text.find("@", at + 1)


def _hosts(text: str, low: str) -> Iterator[Span]:
    """A host of a network of one's own. A member of code looks alike (`threading.local`): a host is addressed, has a
    number or hyphen in its name, or several parts before its end."""
    for found in pattern(_HOST).finditer(low):
        before, after = text[found.start() - 1 : found.start()], text[found.end() : found.end() + 2]
        addressed = before in ("/", "@") or (after[:1] == ":" and after[1:].isdigit())
        if addressed or found[1].count(".") > 1 or any(char.isdigit() or char == "-" for char in found[1]):
            yield *found.span(), "host"


def _octets(address: str) -> bool:
    return all(int(part) < 256 for part in address.split("."))


def _drawn(text: str, start: int, run: str) -> Iterator[Span]:
    """What of a long run of letters and digits was drawn: all of it as base64, a UUID, else part by part of a path."""
    if text[max(0, start - 7) : start].lower().endswith(_DIGESTS):
        return
    if entropy.is_base64(run) and ("/" not in run or any(map(str.isdigit, run))):
        yield start, start + len(run), "token"
        return
    for part in pattern(_PART).finditer(run):
        value = part[0]
        if entropy.is_uuid(value):
            yield start + part.start(), start + part.end(), "uuid"
        elif _unlabelled(value):
            yield start + part.start(), start + part.end(), "token"


def _unlabelled(value: str) -> bool:
    """Is a word without a name a token? Git's hashes are none: commits are found by them."""
    if value.isdigit() or entropy.stands_in(value):
        return False
    if entropy.is_hex(value):
        return len(value) >= 32 and len(value) != 40 and not value.isalpha()
    return verdict.drawn_beside(value) and any(map(verdict.random_looking, pattern(_LETTERS).findall(value)))
