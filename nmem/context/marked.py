"""Filters marked decisions: drops those that a later one, marked or said, replaces. On the hook's path.

Only loaded where a project has marked decisions that a session may be told.
"""

from __future__ import annotations

from nmem.context import store
from nmem.context.items import MARKER, TEXT, Item
from nmem.retrieval.terms import ago, terms
from nmem.sanitize import quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from sqlite3 import Connection

    from nmem.context.present import Present
    from nmem.context.store import Marked

_MOST = 3
"""Marked decisions that are told at once: the newest that hold."""
_ALIKE = 2 / 3
"""The share of the words of two decisions that makes them one matter."""
_PLAIN = 3
"""A decision of fewer words is replaced only by one that says plainly that something held before."""
_MUCH = 3
"""Two decisions that share more words than these are about one matter."""
_ENDS = (" no longer ", " instead ", " rather than ", " superseded ", " supersedes ", " replaces ",
         " replaced ", " replacing ", " any more ", " anymore ", " nicht mehr ", " ya no ", " não mais ",
         "더 이상", "不再")  # fmt: skip
"""Cues by which a decision says that something else held before."""
_BEGINS = (" from now on ", " ab jetzt ", " désormais ")
"""Cues that may say the same, or that a rule still holds."""
_NOT = frozenset(("not", "never", "no", "nicht", "nie", "kein", "keine", "não", "nunca", "pas"))


class _Said:
    """A decision that was marked or said, with what is read of its words once."""

    __slots__ = ("at", "by_person", "denials", "ends", "marked", "revises", "terms", "words")

    def __init__(
        self, at: int, text: str, *, revises: bool = False, marked: bool = False, by_person: bool = True
    ) -> None:
        self.at = at
        self.words = _words(text)
        self.terms = frozenset(terms(text))
        self.ends = _ends(self.words)
        self.denials = sum(word in _NOT or word.endswith("n't") for word in self.words)
        self.marked, self.by_person = marked, by_person
        low = f" {' '.join(self.words)} "
        self.revises = revises or (marked and (self.ends or any(cue in low for cue in _BEGINS)))

    def replaces(self, earlier: _Said) -> bool:
        """Whether it is about the matter of an earlier decision: nearly its words, or most of them and a word that says
        that something held before, plainly where these are few. Said again and not marked it replaces none."""
        new, old = self.terms, earlier.terms
        shared = len(new & old)
        if shared < min(2, len(old)) or not shared or (not self.marked and self._repeats(earlier)):
            return False
        plain = len(old) >= _PLAIN or self.ends or self.denials
        most = shared > _MUCH or (shared > _ALIKE * len(old) and plain)
        return shared >= _ALIKE * max(len(new), len(old)) or bool(self.revises and most)

    def _repeats(self, earlier: _Said) -> bool:
        """Whether it has all words of an earlier one in their order, and does not deny them."""
        left = iter(self.words)
        return not self.ends and self.denials <= earlier.denials and all(word in left for word in earlier.words)


def holding(
    db: Connection, present: Present, rows: Sequence[Marked], near: Mapping[int, str], also: Collection[int]
) -> list[Item]:
    """Of marked decisions, the newest first, those that hold and that a session may be told.

    `near`: their observations -> what of the prompt speaks for them, "" where nothing was asked. At a start, where
    nothing was asked, only those of the person, or of `also`. Raises sqlite3.Error.
    """
    own = store.marked_by_hand(db)
    held = _held(rows, store.said_since(db, present.project_id, rows[-1][1]), own, near)
    theirs = {content.lower() for number, _, content in held if f"obs/{number}" in own}
    out = []
    for number, at, content in held:
        person = f"obs/{number}" in own
        if number not in near or (not person and content.lower() in theirs):
            continue
        if near[number]:
            reason = f"a decision was marked, and {near[number]}"
        elif person or number in also:
            reason = f"a decision that {'you' if person else 'the agent'} marked lately"
        else:
            continue
        who = "The person decided" if person else "Marked as decided"
        text = f"{who}, {ago(present.at - at)}: {quoted(content, TEXT)}"
        out.append(Item(f"marker/{number}", MARKER, text, score=0.9, reason=reason))
    return out[:_MOST]


def _held(
    rows: Sequence[Marked], said: Sequence[tuple[int, str, int]], own: set[str], near: Collection[int]
) -> list[Marked]:  # fmt: skip
    """The decisions with the words of those that are near, but for those that a later decision replaces.

    An agent's (none of `own`) replaces only an agent's. One that is marked again stands for both.
    """
    wanted = {content.lower() for number, _, content in rows if number in near}
    later = [_Said(at, text, revises=bool(revises)) for at, text, revises in said if text]
    out = []
    for number, at, content in rows:
        one = _Said(at, content, marked=True, by_person=f"obs/{number}" in own)
        if content.lower() in wanted and not any(
            other.at >= at and other.by_person >= one.by_person and other.replaces(one) for other in later
        ):
            out.append((number, at, content))
        later.append(one)
    return out


def _words(text: str) -> list[str]:
    low = text.lower().replace("’", "'")
    return "".join([char if char.isalnum() or char == "'" else " " for char in low]).split()


def _ends(words: list[str]) -> bool:
    """Whether a text says that something else held, also by "replace that by this", where "that" is one word."""
    low = f" {' '.join(words)} "
    bare = [word for word in words if word not in ("the", "our")]
    swaps = any(verb == "replace" and by in ("by", "with") for verb, by in zip(bare, bare[2:], strict=False))
    return swaps or any(cue in low for cue in _ENDS)
