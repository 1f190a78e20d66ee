"""Removes the words of excluded items from other items that quote them, or withholds those items.

On the hook's path, and loaded only in a project where something is excluded. A file is left out by its name alone: what
people and agents said of it may name it, too.
"""

from __future__ import annotations

from nmem.context import store
from nmem.context.items import FILE, RECALL, subject
from nmem.retrieval.terms import texts
from nmem.sanitize import ELLIPSIS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from sqlite3 import Connection

    from nmem.context.items import Item

QUOTED = 4
"""Words in a row that make one text a quotation of another; of fewer only the whole is the same."""
NEWEST = 100
"""Of so many exclusions the words are looked for in other texts; by their ids all are left out."""
_READ = 500
"""Characters of a text that are looked at: no item tells more of one."""
_SPACED = {code: " " for code in range(128) if not chr(code).isalnum()} | dict.fromkeys(map(ord, "“”‘’‹›…–—·"), " ")
_LISTS = {"episode": 6, "next": 1}
"""From which column on these are lists of lines."""


def names_files(line: str) -> bool:
    """Whether a line of the narrator only lists files, which may be named whatever is excluded."""
    return line.startswith(("Edited ", "Created ", "Passed", "Deleted "))


class Unsaid:
    """The ids and the words that are never told, and what was held back for their sake."""

    __slots__ = ("_ids", "_phrases", "held")

    def __init__(self, ids: Iterable[str], phrases: dict[str, str]) -> None:
        self._ids = frozenset(ids)
        self._phrases = phrases
        self.held: dict[str, Item] = {}
        """Items that were left out because they quote what is excluded; the reason says what."""

    def says(self, text: str, by: str = "") -> str:
        """The excluded item that a text quotes, or that holds all of it; empty: none.

        `by`: the item that tells it. An episode that is like an excluded one is another piece of work all the same.
        """
        alike = by.startswith("episode/")
        there = _words(text)
        if not there:
            return ""
        spaced, many, cut = f" {there} ", there.count(" ") + 1, text.rstrip("”. ").endswith(ELLIPSIS)
        for phrase, item in self._phrases.items():
            if alike and item.startswith("episode/"):
                continue
            if phrase == there or (many >= QUOTED and spaced in f" {phrase} "):
                return item
            if phrase.count(" ") + 1 >= QUOTED and (f" {phrase} " in spaced or (cut and _begins(phrase, there))):
                return item
        return ""

    def never(self, unit_id: int) -> bool:
        """Whether a person excluded an episode."""
        return f"episode/{unit_id}" in self._ids

    def names(self, path: str) -> bool:
        """Whether a file may not be named."""
        return f"file/{path}" in self._ids

    def told(self, items: Iterable[Item]) -> list[Item]:
        """The items without what is excluded; those that quote it are held back, each with the reason."""
        out = []
        for item in items:
            own = subject(item.id)
            if own in self._ids:
                continue
            quotes = next((found for each in quotations(item) if (found := self.says(each, own))), "")
            if quotes:
                item.reason = f"you excluded its words: {quotes}"
                self.held.setdefault(own, item)
            else:
                out.append(item)
        return out


def read(db: Connection, excluded: Sequence[str]) -> Unsaid:
    """What these ids stand for, the newest last. Raises sqlite3.Error."""
    ids = set(excluded)
    for item in excluded:
        kind, _, rest = item.partition("/")
        if kind == "episode":
            ids |= {f"next/{rest}", f"said/{rest}"}
    phrases: dict[str, str] = {}
    for kind, (number, *texts_of) in store.texts(db, excluded[-NEWEST:]):
        for at, text in enumerate(texts_of, 1):
            for phrase in _phrases(text or "", kind, listed=at >= _LISTS.get(kind, len(texts_of) + 1)):
                phrases.setdefault(phrase, f"{kind}/{number}")
    return Unsaid(ids, phrases)


def quotations(item: Item) -> list[str]:
    """What an item tells in quotation marks, which what is stored cannot close; a file and a decision quote nothing."""
    return [] if item.kind in (FILE, RECALL) else [part.partition("”")[0] for part in item.text.split("“")[1:]]


def _phrases(text: str, kind: str, *, listed: bool) -> list[str]:
    """A text, and of a list each line, as they may be quoted: whole, by the sentence, without the words before a colon.

    What a few words say of an episode (`Tests pass`) is said of many.
    """
    lines = [line for line in texts(text) if not names_files(line)] if listed else [text]
    least = QUOTED if listed and kind == "episode" else 1
    out: dict[str, None] = {}
    for line in lines:
        whole = line[:_READ].strip()
        for part in (whole, *whole.replace("\n", ". ").split(". "), whole.partition(": ")[2]):
            words = _words(part)
            needed = least if part == whole else 2 if kind == "next" else QUOTED
            if words and words.count(" ") + 1 >= needed:
                out[words] = None
    return list(out)


def _words(text: str) -> str:
    """The words of a text as they are compared; of one that was cut its last may be half a word."""
    words = text.lower().translate(_SPACED).split()
    if text.rstrip("” ").endswith(ELLIPSIS):
        words = words[:-1]
    return " ".join(words)


def _begins(phrase: str, there: str) -> bool:
    """Whether a text ends, where it was cut, within the first words of a phrase."""
    words = there.split(" ")
    return any(f"{phrase} ".startswith(f"{' '.join(words[at:])} ") for at in range(len(words) - QUOTED + 1))
