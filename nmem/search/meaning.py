"""Expands a query's words to stored ones: inflections, prefixes, parts, compound identifiers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from sqlite3 import Connection

from nmem.search import index_store
from nmem.search.index_store import Term
from nmem.search.query import Query, Word
from nmem.search.store import anywhere, both, quoted

_LITTLE = frozenset(
    """a about after again all also am an and any are as at be because been before but by can could did do does doing
    done for from get got had has have having he her his how i if in into is it its just like me my no not of off on
    only or our out over please s she should so some t than that the their them then there these they this those to
    too under up us was we were what when where which while who why will with would you your""".split()  # noqa: SIM905
)
"""Words that say little; they count only where nothing else was typed, or in quotation marks."""
_COMMON = 2_000
"""Texts with a word from which on nobody can have meant a longer one."""
_FORMS = 3
"""The index stems: the forms of a word are together about so many times as common as the word itself."""
_RAREST = 8
"""Words of a long query that are looked for."""
_READ = 8
"""Words of a query up to which somebody typed each of them with care."""
_JOINED = 4
"""Words of a query up to which neighbours are looked for as one identifier."""


@dataclass(frozen=True, slots=True)
class Meant:
    """One typed word with what it may stand for."""

    word: Word
    n: int
    """In how many stored texts it is, about."""
    idf: float
    near: tuple[str, ...]
    """It, its parts as a phrase, the words it begins, and identifiers made of it and its neighbour."""
    most: int
    """In how many stored texts any of these is, at most."""
    parts: tuple[str, ...] | None = None
    """Longer words that hold it; None until they are asked for."""

    def expression(self, *, parts: bool = False) -> str:
        """As the index is asked."""
        return quoted(*dict.fromkeys((*self.near, *(self.parts or () if parts else ()))))


@dataclass(frozen=True, slots=True)
class Meaning:
    """The words that are looked for, and the text as a whole."""

    words: tuple[Meant, ...]
    signs: tuple[Word, ...]
    """Emoji and punctuation: in no index."""
    unwanted: str
    phrase: str

    def all(self, *, parts: bool = False) -> str:
        """Every word."""
        return self._but(both(*(one.expression(parts=parts) for one in self.words)))

    def whole(self) -> str:
        """The words as they follow each other."""
        return self._but(quoted(self.phrase))

    def some(self, words: Sequence[Meant]) -> str:
        """These words."""
        return self._but(both(*(one.expression() for one in words)))

    @property
    def most(self) -> int:
        """How many texts can have every word, at most."""
        return min((one.most for one in self.words), default=0)

    def wider(self, db: Connection) -> Meaning:
        """The same, with the longer words that hold the typed ones, for words that are not common themselves."""
        return replace(self, words=tuple(_widened(db, one) for one in self.words))

    def _but(self, expression: str) -> str:
        return f"({expression}) NOT {self.unwanted}" if self.unwanted else expression


def meaning(db: Connection, query: Query) -> Meaning:
    """What the words of a query stand for in this database."""
    texts = max(1, index_store.texts(db))
    cut = [word for word in query.wanted if word.tokens]
    core = [word for word in cut if not _says_little(word)] or cut
    known = index_store.counts(db, [token for word in core for token in word.tokens])
    core = sorted(sorted(core, key=lambda word: _least(word, known))[:_RAREST], key=query.words.index)
    joined = _compounds(db, core)
    words = tuple(_meant(db, word, known, texts, joined.get(word.text, ())) for word in core)
    unwanted = [quoted(word.text) for word in query.unwanted if word.tokens]
    but = "(" + " OR ".join(unwanted) + ")" if unwanted else ""
    phrase = " ".join(token for word in cut for token in word.tokens) if len(cut) > 1 else ""
    return Meaning(words, tuple(word for word in query.wanted if not word.tokens), but, phrase)


def absent(db: Connection, meant: Meaning) -> list[str]:
    """The words, as typed, that no record contains: in no form, as no beginning and in no longer word."""
    return [
        one.word.text
        for one in meant.words
        if not one.n and not one.word.unspaced and not anywhere(db, one.expression()) and not _widened(db, one).parts
    ]


def unasked(query: Query, meant: Meaning) -> list[str]:
    """The words of a short query that nothing was looked for by, because they say little."""
    asked = {one.word for one in meant.words}
    if len(query.wanted) > _READ:
        return []
    return [word.text for word in query.wanted if word.tokens and word not in asked and _says_little(word)]


def _says_little(word: Word) -> bool:
    """Whether it is one of the small words, or several drawn together: what's, it's."""
    one = len(word.tokens) == 1 or "'" in word.text or "’" in word.text
    return one and not word.quoted and _LITTLE.issuperset(word.tokens)


def _least(word: Word, known: dict[str, int]) -> int:
    return min(known.get(token, 0) for token in word.tokens)


def _meant(db: Connection, word: Word, known: dict[str, int], texts: int, joined: Sequence[Term]) -> Meant:
    n = _least(word, known)
    near = {word.text: _FORMS * n + _FORMS, **{one.term: one.n for one in joined}}
    if word.camel:
        near[" ".join(word.camel)] = min(index_store.counts(db, word.camel).values(), default=0)
    if word.open and len(word.tokens) == 1:
        near |= {one.term: one.n for one in index_store.beginning(db, word.tokens[0]) if one.term not in near}
    elif word.open:
        near |= _last_begun(db, word)
    idf = math.log(1 + (texts - n + 0.5) / (n + 0.5))
    return Meant(word, n, max(idf, 0.05), tuple(near), sum(near.values()))


def _widened(db: Connection, one: Meant) -> Meant:
    if one.parts is not None or one.word.quoted or one.word.unspaced or one.n > _COMMON:
        return one
    found = [term for term in index_store.containing(db, "".join(one.word.tokens)) if term.term not in one.near]
    return replace(one, parts=tuple(term.term for term in found), most=one.most + sum(term.n for term in found))


def _last_begun(db: Connection, word: Word) -> dict[str, int]:
    """src/auth/lo -> src auth login: the last piece of a path may be unfinished."""
    head = " ".join(word.tokens[:-1])
    return {f"{head} {one.term}": one.n for one in index_store.beginning(db, word.tokens[-1], 8)}


def _compounds(db: Connection, words: Sequence[Word]) -> dict[str, list[Term]]:
    """user id -> getuserid: identifiers that hold neighbouring words as one, under each of the words."""
    out: dict[str, list[Term]] = {}
    for left, right in pairwise(words if len(words) <= _JOINED else ()):
        if len(left.tokens) + len(right.tokens) != 2 or left.unspaced or right.unspaced:
            continue
        for one in index_store.containing(db, left.tokens[0] + right.tokens[0], 8):
            out.setdefault(left.text, []).append(one)
            out.setdefault(right.text, []).append(one)
    return out
