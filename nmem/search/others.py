"""Searches what others of the team said: a query in, facts out, all of whose words they have; newest first."""

from __future__ import annotations

from collections.abc import Sequence
from sqlite3 import Connection

from nmem.search import store
from nmem.search.query import Query, Word
from nmem.search.text import fold, root, tokens
from nmem.teammates import live, read
from nmem.teammates.read import Fact, Fits, Wanted
from nmem.text import texts


def found(db: Connection, query: Query, most: int, within: Sequence[int] | None = None) -> list[Fact]:
    """What others said of it, the newest `most`; none where a filter asks for what only one's own rows have.

    `within` are the projects that are meant where no filter names one; None: all. Raises sqlite3.Error.
    """
    filters = query.filters
    kinds = [kind for kind in live.KINDS if not filters.type or kind in filters.type]
    if not kinds or not query or filters.client or filters.failed or filters.pinned:
        return []
    end = {} if filters.until is None else {"until": filters.until}
    wanted = Wanted(
        kinds, _projects(db, filters.project, within), filters.since or 0, heads=_head(query), fits=_fits(query), **end
    )
    return read.said(db, wanted, most)


def _projects(db: Connection, named: Sequence[str], within: Sequence[int] | None) -> Sequence[int] | None:
    """The projects that have one of some names, of which a part is enough; None: all."""
    if not named:
        return within
    folded = [fold(one) for one in named]
    known = store.project_names(db)
    return [key for key, name in known if isinstance(key, int) and any(one in fold(name) for one in folded)]


def _head(query: Query) -> tuple[str, ...]:
    """The longest word that every fact must have, as far as SQLite can look for it; empty: none can be told."""
    if not query.about.isascii():
        return ()  # an accent that was typed stands in the texts, and not in what they are compared with
    known = [root(token) for word in query.wanted for token in word.tokens]
    return (max(known, key=len),) if known else ()


def _fits(query: Query) -> Fits:
    """Whether a fact has all words, none of those that must not occur, and a file of each that is named."""
    files = [fold(one) for one in query.filters.file]

    def fits(title: str, body: str, stored: str, _data: str) -> bool:
        text = fold(f"{title}\n{body}\n{stored if '/' in stored or '.' in stored else ''}")
        if not all(any(root(token) in text for token in word.tokens) or not word.tokens for word in query.wanted):
            return False  # most facts: it costs a tenth of cutting them into words
        cut = tokens(text)
        roots = {root(token) for token in cut}
        line = f" {' '.join(cut)} "
        return (
            all(_has(word, text, line, roots) for word in query.wanted)
            and not any(_has(word, text, line, roots) for word in query.unwanted)
            and all(any(one in fold(path) for path in texts(stored)) for one in files)
        )

    return fits


def _has(word: Word, text: str, line: str, roots: set[str]) -> bool:
    """Whether a text has a word, or the words of a phrase one behind the other; of the last one typed a beginning."""
    if word.unspaced or not word.tokens:
        return word.text in text
    if word.quoted:
        return f" {' '.join(word.tokens)} " in line
    *first, last = word.tokens
    ends = root(last) in roots or (word.open and f" {last}" in line)
    return ends and all(root(token) in roots for token in first)
