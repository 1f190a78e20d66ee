"""Finds chosen words in the bytes of files, by the same rules as in rows, and texts that regexes found in rows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from nmem.purge import folding

_FORMS = 16
"""Bytes that a character can need, escaped."""


class Needles:
    """Texts, folded, that are found in whatever case; and exact words, of which the case counts."""

    def __init__(self, texts: Iterable[str], exact: Iterable[str] = ()) -> None:
        self.texts = tuple(sorted(set(texts)))
        self.exact = tuple(sorted(set(exact)))
        self._blanks = any(text != "".join(text.split()) for text in self.texts)
        self._quotes = any(not set(folding.QUOTES).isdisjoint(text) or "'" in text for text in self.texts)
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
        plain = folding.run(folded)
        self._run = plain.encode()
        self._foreign = [
            form for letter in folding.FOREIGN for form in (letter.encode(), b"u%04x" % ord(letter))
        ] if folding.twofold(plain) else []  # fmt: skip
        self._pattern = re.compile(folding.pattern(folded, blanks, quotes))

    def within(self, data: bytes, lowered: bytes) -> bool:
        if self._run not in lowered and not any(form in lowered for form in self._foreign):
            return False
        return self._pattern.search(data) is not None


def _forms(word: str) -> set[bytes]:
    """A word as it is, and as JSON writes it."""
    written = (word, json.dumps(word)[1:-1], json.dumps(word, ensure_ascii=False)[1:-1])
    return {form.encode("utf-8", "replace") for form in written}
