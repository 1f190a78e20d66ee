"""Finds secrets without name or prefix: encoded lines, wallet keys, seed phrases, grouped passwords.

A module of its own because it is loaded only for a text with a long word that may be one, or with a dozen plain words
in a row. Each reader walks forwards, so its work grows with the length of the text.
"""

from __future__ import annotations

from capture.redaction import entropy
from capture.redaction.rules_cache import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Span = tuple[int, int, str]

RUN = r"[A-Za-z0-9+/_-]{24,65536}={0,2}"
_58 = "[1-9A-HJ-NP-Za-km-z]"
# Private keys of Bitcoin (also of its test net, and encrypted) and of Stellar, neither inside of other base64.
_WALLET = (
    rf"(?<![A-Za-z0-9+_-])(?:5[HJK]{_58}{{49}}|[KL]{_58}{{51}}|9[123]{_58}{{49}}|c[M-V]{_58}{{50}}|6P{_58}{{56}}"
    r"|S[A-Z2-7]{55})(?![A-Za-z0-9+/=_-])"
)
_WORD = r"[A-Za-z]+"
_BETWEEN = r"[\s,;|\"'`\[\]().:\d\\n]{1,12}\Z"
_GROUPS = r"(?<![A-Za-z0-9])[A-Za-z0-9]{4}(?:[ \u00a0][A-Za-z0-9]{4}){3,6}(?![A-Za-z0-9])"
_ONE = "[A-Za-z0-9]{4}"
_BARE = r"(?m)^[ \t>*-]{0,6}[\"'`]?([A-Za-z0-9+/]{86}==)[\"'`]?[ \t]{0,4}\r?$"
_LINE = r"[A-Za-z0-9+/=]{32,}"
_NO_KEY = r"sha-?\d|hash|digest|checksum|integrity|sig|cert|public|begin "
SOURCES = (RUN, _WALLET, _BARE, _LINE, _NO_KEY, _WORD, _BETWEEN, _GROUPS, _ONE)

_AROUND = 120
"""Characters beside a line of base64 that say what it is."""
_PEEK = 24
"""Characters of base64 that show whether it says something."""
_SLASHES = 8
"""Places in a run, which may as well be a path, at which base64 may begin: so many from either end."""
_LONGEST_PATH = 1_024
_PHRASE = 12
"""Words of the shortest seed phrase."""
_KEPT = 8_192
_DISTINCT = 4
"""Fewer different words are a phrase that everybody knows: `test test ... junk`."""


def encoded(text: str, held: Callable[[str], bool]) -> Iterator[Span]:
    """Base64 of a text that holds a secret, as `held` says: of a line `NAME=secret`, of a token, of another base64."""
    last = 0
    for matched in pattern(RUN).finditer(text):
        if matched.start() < last:
            continue
        for start in _starts(matched[0], matched.start()):
            said, end = _said(text, start, matched.end())
            if said:
                if held(said):
                    yield start, end, "encoded"
                last = end
                break


def bare(text: str) -> Iterator[Span]:
    """A storage key alone on its line: 64 bytes in base64, no digest, no signature, no line of a longer text."""
    if "==" not in text:
        return
    for found in pattern(_BARE).finditer(text):
        lines = (
            text[: found.start()].rstrip("\n").rpartition("\n")[2],
            text[found.end() :].lstrip("\n").partition("\n")[0],
        )
        around = text[max(0, found.start() - _AROUND) : found.start()] + text[found.end() : found.end() + _AROUND]
        block = any(pattern(_LINE).fullmatch(line.strip()) for line in lines)
        if not block and entropy.is_base64(found[1]) and not pattern(_NO_KEY).search(around.lower()):
            yield found.start(1), found.end(1), "azure-key"


def _starts(run: str, at: int) -> list[int]:
    """Where base64 may begin in a run: at its head, and after a slash, of which a path has many."""
    slashes = [place + 1 for place, char in enumerate(run[:_LONGEST_PATH]) if char == "/"]
    return [at, *(at + place for place in sorted({*slashes[:_SLASHES], *slashes[-_SLASHES:]}))]


def _said(text: str, start: int, end: int) -> tuple[str, int]:
    """What base64 says, with the lines that it goes on over; nothing, where that is no text."""
    if not decoded(text[start : start + _PEEK]):
        return "", end
    from capture.redaction.keys import lines  # on use: start-up stays short

    runs = lines(text, start, end)
    return decoded("".join(text[begin:stop] for begin, stop in runs)), runs[-1][1]


def decoded(encoded: str) -> str:
    """The text that base64 stands for, of either alphabet; nothing, where that is none."""
    from binascii import a2b_base64  # on use: start-up stays short

    kept = encoded.rstrip("=").replace("-", "+").replace("_", "/")
    size = len(kept) // 4 * 4 if len(kept) % 4 == 1 else len(kept)
    try:
        said = a2b_base64(kept[:size] + "=" * (-size % 4))
        text = said.decode("utf-16-le" if len(said) > 3 and not any(said[1:8:2]) else "utf-8")
    except ValueError:
        return ""
    return text if text.replace("\n", "").replace("\r", "").replace("\t", "").rstrip("\0").isprintable() else ""


def wallets(text: str) -> Iterator[Span]:
    """Keys of wallets, in the form in which these export them."""
    for matched in pattern(_WALLET).finditer(text):
        if entropy.is_random(matched[0]) and any(map(str.isdigit, matched[0])):
            yield (*matched.span(), "wallet-key")


def phrases(text: str) -> Iterator[Span]:
    """A dozen or more words of the list in a row, whatever parts them: blanks, lines, commas, quotes, numbers."""
    from capture.redaction.mnemonics import known  # on use: start-up stays short

    if not _listed(text):
        return
    row: list[tuple[int, int]] = []
    for matched in pattern(_WORD).finditer(text):
        fits = 3 <= len(matched[0]) <= 8 and matched[0].islower() and known(matched[0])
        if not fits or (row and not pattern(_BETWEEN).match(text[row[-1][1] : matched.start()])):
            yield from _phrase(text, row)
            row = []
        if fits:
            row.append(matched.span())
    yield from _phrase(text, row)


def _listed(text: str) -> bool:
    """Whether so many words of the list stand in a row, whatever parts them: nearly no text has them."""
    from capture.redaction.mnemonics import known  # on use: start-up stays short

    row = 0
    for word in pattern(_WORD).findall(text):
        fits = _fits.get(word)
        if fits is None:
            fits = 3 <= len(word) <= 8 and word.islower() and known(word)
            if len(word) <= 8 and len(_fits) < _KEPT:
                _fits[word] = fits
        row = row + 1 if fits else 0
        if row >= _PHRASE:
            return True
    return False


_fits: dict[str, bool] = {}
"""Words met before, and whether they stand in the list."""


def _phrase(text: str, row: list[tuple[int, int]]) -> Iterator[Span]:
    if len(row) >= _PHRASE and len({text[begin:end] for begin, end in row}) >= _DISTINCT:
        yield row[0][0], row[-1][1], "seed-phrase"


def groups(text: str) -> Iterator[Span]:
    """Application passwords, as mail and blogs show them: groups of four letters that were drawn."""
    for matched in pattern(_GROUPS).finditer(text):
        places = [found.span() for found in pattern(_ONE).finditer(text, *matched.span())]
        while len(places) > 4 and not _drawn(text[slice(*places[0])]):
            del places[0]
        while len(places) > 4 and not _drawn(text[slice(*places[-1])]):
            del places[-1]
        drawn = sum(_drawn(text[slice(*place)]) for place in places)
        letters = text[places[0][0] : places[-1][1]].replace(" ", "")
        if drawn * 2 >= len(places) and not letters.isdigit() and not entropy.is_hex(letters):
            yield places[0][0], places[-1][1], "password"


def _drawn(group: str) -> bool:
    """Is a group of four letters no word: rare ones in a row, or of two kinds?"""
    from capture.redaction.trigrams import rare  # on use: start-up stays short

    kinds = any(map(str.isdigit, group)) + any(map(str.islower, group)) + any(map(str.isupper, group[1:]))
    return kinds > 1 or (group.isalpha() and group.isascii() and rare([group.lower()])[0] > 0)
