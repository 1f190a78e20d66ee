"""Finds chosen words in the bytes of files, as in rows: whatever case, Unicode folding and encoding of accents.

Rows are told by `fold`; bytes of files by a regular expression of the same forms, and of those that JSON gives them.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import product

_FORMS = 16
"""Bytes that a character can need, escaped."""


class Needles:
    """Texts, folded, that are found in whatever case; and exact words, of which the case counts."""

    def __init__(self, texts: Iterable[str], exact: Iterable[str] = ()) -> None:
        self.texts = tuple(sorted(set(texts)))
        self.exact = tuple(sorted(set(exact)))
        self._blanks = any(text != "".join(text.split()) for text in self.texts)
        self._quotes = any(not set(QUOTES).isdisjoint(text) or "'" in text for text in self.texts)
        self._texts = [_Text(text, self._blanks, self._quotes) for text in self.texts]
        self._exact = [form for word in self.exact for form in _forms(word)]

    @classmethod
    def unpacked(cls, packed: object) -> Needles:
        """As the trash keeps them; once they were bytes in lower case."""
        if isinstance(packed, tuple):
            return cls(*packed)
        return cls(word.decode("utf-8", "replace") for word in packed) if isinstance(packed, list) else cls(())

    @property
    def packed(self) -> tuple[list[str], list[str]]:
        """For the trash."""
        return list(self.texts), list(self.exact)

    def __bool__(self) -> bool:
        return bool(self.texts or self.exact)

    @property
    def overlap(self) -> int:
        """Bytes by which pieces of a file must overlap."""
        return max((len(word) for word in (*self.texts, *self.exact)), default=0) * _FORMS

    def within(self, data: bytes) -> bool:
        """Whether one of them is in some bytes."""
        if any(form in data for form in self._exact):
            return True
        lowered = data.lower() if self._texts else b""
        return any(text.within(data, lowered) for text in self._texts)

    def without(self, data: bytes) -> Needles:
        """Those that are not in some bytes."""
        lowered = data.lower()
        return Needles(
            (one.folded for one in self._texts if not one.within(data, lowered)),
            (word for word in self.exact if not any(form in data for form in _forms(word))),
        )


class _Text:
    """One text, and what tells quickly that it is not there."""

    def __init__(self, folded: str, blanks: bool, quotes: bool) -> None:
        self.folded = folded
        plain = run(folded)
        self._run = plain.encode()
        self._foreign = [
            form for letter in FOREIGN for form in (letter.encode(), b"u%04x" % ord(letter))
        ] if twofold(plain) else []  # fmt: skip
        self._pattern = re.compile(pattern(folded, blanks, quotes))

    def within(self, data: bytes, lowered: bytes) -> bool:
        if self._run not in lowered and not any(form in lowered for form in self._foreign):
            return False
        return self._pattern.search(data) is not None


def _forms(word: str) -> set[bytes]:
    """A word as it is, and as JSON writes it."""
    written = (word, json.dumps(word)[1:-1], json.dumps(word, ensure_ascii=False)[1:-1])
    return {form.encode("utf-8", "replace") for form in written}


QUOTES = '"`\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb'
"""As good as an apostrophe, where a text has any of them."""
_BLANKS = (
    *"\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680", *map(chr, range(0x2000, 0x200B)), *"\u2028\u2029\u202f\u205f\u3000"
)  # fmt: skip
_LAST = 0x1E944
"""No letter behind it has a case."""
_DOT = "\u0307"
FOREIGN = "\u00df\u1e9e\u0130\u0131\u0149\u017f\u1e9a\u212a\ufb00\ufb01\ufb02\ufb03\ufb04\ufb05\ufb06" + _DOT
"""Letters that are folded to plain ones."""
_TWOFOLD = frozenset("afiklnst")
"""Plain letters that others are folded to."""
_TILINGS = 64


def fold(text: str) -> str:
    """Without case; ß is ss, an i is an i with or without its dot, and an accented letter is one letter."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).casefold())
    return plain.replace("i" + _DOT, "i").replace("\u0131", "i")


def run(folded: str) -> str:
    """The longest run of plain letters and digits: in every form of a text that has no foreign letters."""
    return max(re.findall(r"[a-z0-9]+", folded), key=len, default="")


def twofold(plain: str) -> bool:
    """Whether a run can also be written with letters that are folded to it."""
    return not _TWOFOLD.isdisjoint(plain)


def pattern(folded: str, blanks: bool, quotes: bool) -> bytes:
    """A regular expression of the bytes that a folded text can be: UTF-8, or escaped as JSON does."""
    many = _unfolded()
    front: dict[int, list[str]] = {}
    back: dict[int, list[str]] = {}
    for key, sources in many.items():  # one letter may stand for the end of another one and the beginning of this text
        for size in range(1, len(key)):
            if folded.startswith(key[-size:]):
                front.setdefault(size, []).extend(sources)
            if folded.endswith(key[:size]):
                back.setdefault(size, []).extend(sources)
    out = []
    for head, tail in product((0, *front), (0, *back)):
        if head + tail <= len(folded):
            core = b"".join(_parts(folded[head : len(folded) - tail], blanks, quotes))
            out.append((_any(front[head]) if head else b"") + core + (_any(back[tail]) if tail else b""))
    return b"|".join(out)


def _parts(folded: str, blanks: bool, quotes: bool) -> Iterator[bytes]:
    at = 0
    while at < len(folded):
        end = at + 1
        keys = [(place, key) for place in range(at, len(folded)) for key in _keys(folded, place)]
        for place, key in keys:
            if place < end and (place == at or end > at + 1):
                end = max(end, place + len(key))
        inside = [(place, key) for place, key in keys if place >= at and place + len(key) <= end]
        if end == at + 1 or not inside:
            yield _letter(folded[at], blanks, quotes)
            at += 1
            continue
        tilings = list(_tilings(at, end, inside))
        if len(tilings) > _TILINGS:
            tilings = tilings[:_TILINGS]
        alternatives = [b"".join(
            _letter(folded[place], blanks, quotes) if key is None else _any(_unfolded()[key]) for place, key in tiling
        ) for tiling in tilings]  # fmt: skip
        yield b"(?:" + b"|".join(alternatives) + b")"
        at = end


def _keys(folded: str, at: int) -> list[str]:
    """What stands there that one letter can stand for."""
    return [folded[at : at + size] for size in (2, 3) if folded[at : at + size] in _unfolded()
            and at + size <= len(folded)]  # fmt: skip


def _tilings(at: int, end: int, keys: list[tuple[int, str]]) -> Iterator[list[tuple[int, str | None]]]:
    """Every way to write a stretch, with single letters and with those that stand for several."""
    if at == end:
        yield []
        return
    for rest in _tilings(at + 1, end, keys):
        yield [(at, None), *rest]
    for place, key in keys:
        if place == at:
            for rest in _tilings(at + len(key), end, keys):
                yield [(at, key), *rest]


def _letter(letter: str, blanks: bool, quotes: bool) -> bytes:
    """One letter of a folded text in every form."""
    if letter == " " and blanks:
        return b"(?:" + _any(_BLANKS) + rb"|\\+[ntrfv])+"
    if letter == "'" and quotes:
        return _any("'" + QUOTES)
    forms = {letter, *_letters().get(letter, ())}
    if letter.isascii():
        forms.add(letter.upper())
    forms |= {unicodedata.normalize("NFD", form) for form in forms}
    dot = b"(?:" + _any(_DOT) + b")?" if letter == "i" else b""
    return _any(sorted(forms, key=len, reverse=True)) + dot


def _any(forms: Iterable[str]) -> bytes:
    found = list(dict.fromkeys(b"".join(map(_bytes, form)) for form in forms))
    return found[0] if len(found) == 1 else b"(?:" + b"|".join(found) + b")"


@cache
def _bytes(letter: str) -> bytes:
    """One character as files hold it."""
    if letter == "\\":
        return rb"\\+"
    if letter in "\"'/":
        return rb"\\*" + letter.encode()
    if letter.isascii():
        return re.escape(letter).encode()
    halves = letter.encode("utf-16-be", "surrogatepass")
    escaped = b"".join(rb"\\+(?i:u%s)" % halves[at : at + 2].hex().encode() for at in range(0, len(halves), 2))
    return b"(?:" + re.escape(letter.encode("utf-8", "surrogatepass")) + b"|" + escaped + b")"


@cache
def _sources() -> dict[str, list[str]]:
    """What is folded to something else, by that."""
    out: dict[str, list[str]] = {}
    for number in range(128, _LAST):
        letter = chr(number)
        if not 0xD800 <= number < 0xE000 and (folded := fold(letter)) != letter:
            out.setdefault(folded, []).append(letter)
    return out


@cache
def _letters() -> dict[str, list[str]]:
    return {key: found for key, found in _sources().items() if len(key) == 1}


@cache
def _unfolded() -> dict[str, list[str]]:
    """Letters that stand for several; a letter that is only written as one with its accent is none."""
    return {key: found for key, found in _sources().items() if len(key) > 1}
