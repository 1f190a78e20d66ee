"""Normalizes numbers in error names and output lines, for hooks: nmem.learn.errors.normal without `re`.

Only what is plain is done here. A name that may hold a hash, an address or the like is handed to those who know them.
"""

from __future__ import annotations

_FRAME = " │┃|╭╰─━\t"
_LONGEST = 600
_NUMERALS = frozenset("0123456789")
_HEX = frozenset("0123456789abcdefABCDEF")
_NO_NAMES = ("", ".", "..", "~")
_HASH = 7
"""Characters from which hexadecimal digits may be a hash."""
_QUOTES = "'\"`"


def name(text: str) -> str:
    """What nmem.learn.errors.normal.name gives."""
    low = text.lower()
    if text.isalpha() and text.isascii() and "tmp" not in low and "temp" not in low:
        return text  # a word, as most are
    plain = text.isascii() and "0x" not in low and "tmp" not in low and "temp" not in low
    if not plain or (_digits(text) and _hashed(text)):
        from nmem.learn.errors.normal import name as known  # on use: start-up stays short

        return known(text)
    last = _last(text.strip().strip(_QUOTES))
    return counted(last) if _digits(last) else last


def line(text: str) -> str:
    """A line of an output as it is compared: no colours, frames, numbers that count, or folders before a name.

    Two lines of the same error that differ in these alone are the same; nothing else is taken out.
    """
    if "\x1b" in text:
        text = _uncoloured(text)
    words = text[: 2 * _LONGEST].strip(_FRAME).split()
    return " ".join([_word(word) if "/" in word or "\\" in word or _digits(word) else word for word in words])


def counted(text: str, instead: str = "<n>") -> str:
    """Numbers that stand for themselves, with their points and commas, as one sign."""
    out: list[str] = []
    at, end = 0, len(text)
    while at < end:
        char = text[at]
        before = text[at - 1] if at else ""
        if not _digit(char) or before == "<" or before == "_" or (before.isascii() and before.isalpha()):
            out.append(char)
            at += 1
            continue
        at = _past_number(text, at)
        out.append(instead)
    return "".join(out)


def _past_number(text: str, at: int) -> int:
    """Behind the digits at a place, and behind what is joined to them by a point, a comma or a colon."""
    end = len(text)
    while at < end and _digit(text[at]):
        at += 1
    while at + 1 < end and text[at] in ".,:" and _digit(text[at + 1]):
        at += 1
        while at < end and _digit(text[at]):
            at += 1
    return at


def _digit(char: str) -> bool:
    return "0" <= char <= "9"


def _digits(text: str) -> bool:
    return not text.isalpha() and not _NUMERALS.isdisjoint(text)


def _hashed(text: str) -> bool:
    """Whether so many hexadecimal digits stand together that they may be a hash."""
    run = 0
    for char in text:
        run = run + 1 if char in _HEX else 0
        if run >= _HASH:
            return True
    return False


def _last(path: str) -> str:
    if "/" not in path and "\\" not in path and path not in _NO_NAMES:
        return path
    parts = [part for part in path.replace("\\", "/").split("/") if part not in _NO_NAMES]
    return parts[-1] if parts else path if len(path) < 3 else "<path>"


def _word(word: str) -> str:
    """A word of a line: of a path the last part, of numbers a sign; what is put around it stays."""
    if "://" not in word and ("/" in word or "\\" in word):
        inside = word.strip(_QUOTES + "()[]{}<>,;:")
        word = word.replace(inside, _last(inside), 1) if inside else word
    if not _digits(word):
        return word
    return "#" if _hashed(word) else counted(word, "#")


def _uncoloured(text: str) -> str:
    head, *rest = text.split("\x1b[")
    out = [head]
    for part in rest:
        at = 0
        while at < len(part) and not part[at].isalpha():
            at += 1
        out.append(part[at + 1 :])
    return "".join(out)
