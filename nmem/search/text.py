"""Tokenizes text as SQLite's text index does, in Python: for the vocabulary, scoring and highlighting."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

TOKEN = re.compile(r"[^\W_]+")
"""A word of a folded text."""
_SPACED = bytes(code if chr(code).isalnum() else 32 for code in range(128)) + bytes(128)
"""Of ASCII: what is in no word is a blank."""
UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f"
"""Scripts whose words are not parted by blanks (or, Korean, carry their endings), as ranges of a character class."""
UNSPACED_GLOB = f"*[{UNSPACED}]*"
"""What a text is asked for in SQL; the tables of `schema` say the same."""
_UNSPACED = re.compile(f"[{UNSPACED}\U00020000-\U0003ffff]")
_ACCENTED = re.compile("[\u00c0-\u024f\u1e00-\u1eff]")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_ENDINGS = ("ations", "ation", "ingly", "ings", "ions", "ness", "ment", "ing", "ion", "ers", "ies", "ied",
            "ed", "er", "es", "ly", "al", "s", "e", "y")  # fmt: skip


def fold(text: str) -> str:
    """Lower case without accents on Latin letters; every character keeps its place."""
    if text.isascii():
        return text.lower()
    low = text.replace("\u0130", "i").replace("\u03a3", "\u03c3").lower()  # each by itself: of one letter, wherever
    return _ACCENTED.sub(_bare, low)


def _bare(found: re.Match[str]) -> str:
    return unicodedata.normalize("NFD", found[0])[0]


def tokens(folded: str) -> list[str]:
    """The words of a folded text."""
    if folded.isascii():  # the same, in a third of the time
        return folded.encode().translate(_SPACED).decode().split()
    return TOKEN.findall(folded)


def unspaced(text: str) -> bool:
    """Whether a text holds a script whose words a blank does not part."""
    return not text.isascii() and _UNSPACED.search(text) is not None


def humps(word: str) -> list[str]:
    """The parts of an identifier in camel case, folded; the whole when it has one."""
    return [fold(part) for part in _CAMEL.split(word)]


@lru_cache(maxsize=65_536)
def root(token: str) -> str:
    """What the forms of an English word share, roughly as the index's own stemmer has it."""
    if not token.isascii() or len(token) < 4 or token.isdigit():
        return token
    for ending in _ENDINGS:
        if token.endswith(ending) and len(token) - len(ending) >= 3:
            token = token[: -len(ending)]
            break
    return token[:-1] if len(token) > 3 and token[-1] == token[-2] else token
