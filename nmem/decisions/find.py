"""Finds decisions in finished episodes, marks those that a later one of the project replaces.

`refresh` asks the database which episodes are over and were not searched as they are now; run again it finds nothing
to do. What a person kept, dismissed or worded stays, whatever is found later.

A later decision supersedes an earlier one of the project when their conversations are about the same matter and the
later one says that something held before ("no longer", "superseding the old cap", "two updates to the policy we
settled"), or when it says nearly the same words with other numbers. `alike` is the only measure of sameness: another
engine can stand in its place.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from math import log, sqrt
from sqlite3 import Connection
from typing import NamedTuple

from capture.storage.store import transaction
from nmem.conversation import cues, rules
from nmem.conversation.rules import Said
from nmem.conversation.talk import Turn
from nmem.decisions import store
from nmem.decisions.store import DISMISSED, FOUND
from nmem.episodes.store import OF
from nmem.episodes.text import tokens

_MOST = 500
"""Decisions of a project that are compared, the newest."""
_HOLDS = f"'{rules.VERSION}.' || {OF}"


class Heard(NamedTuple):
    """What was found in a session as it was read."""

    sizes: dict[int, int]
    """Of each turn, by the row that holds it: others, and somebody has said more since."""
    found: list[Said]


Beside = Callable[[Sequence[str]], Iterator[Heard | None]]


def heard(db: Connection, session_id: str) -> Heard:
    """The decisions of a session, which is only read."""
    return _heard(store.turns(db, session_id))


def _heard(rows: Sequence[tuple[int, int, str, int]]) -> Heard:
    turns = [Turn(row[0], bool(row[1]), row[2]) for row in rows]
    return Heard({row[0]: len(row[2]) for row in rows}, rules.find(turns))


def refresh(
    db: Connection, stopped: Callable[[], bool] = lambda: False, beside: Beside = lambda due: repeat(None, len(due))
) -> int:  # fmt: skip
    """Search what is over and was not searched; how many sessions were. On a writing connection.

    `beside`: searches the sessions it is given in processes of its own, and answers in their order.
    """
    due = store.due(db, _HOLDS)
    done, changed = 0, set()
    known = beside(due)
    for session_id in due:
        if stopped():
            break
        ready = next(known)
        with transaction(db):
            if _search(db, session_id, ready):
                changed.add(store.project(db, session_id))
        done += 1
    for project_id in sorted(changed):
        with transaction(db):
            weigh(db, project_id)
    return done


def stated(db: Connection, session_id: str, quotes: Iterable[tuple[Sequence[int], str]]) -> int:
    """Keep what a model found that a person settled: (prompts in one of which the words stand, the words); how many.

    A prompt in which something was found already, by whatever means, keeps that. Raises sqlite3.Error.
    """
    rows = store.turns(db, session_id)
    turns = [Turn(row[0], bool(row[1]), row[2]) for row in rows]
    sizes, times = {row[0]: len(row[2]) for row in rows}, {row[0]: row[3] for row in rows}
    known = store.stored(db, session_id)
    new = {
        said.words.number: said
        for ids, words in quotes
        for place, turn in enumerate(turns)
        if turn.person and turn.number in ids and turn.number not in known
        and (said := rules.stated(turns, place, words)) is not None
    }  # fmt: skip
    if new:
        with transaction(db):
            store.put(db, [_row(session_id, said, sizes, times) for said in new.values()])
            weigh(db, store.project(db, session_id))
    return len(new)


def _search(db: Connection, session_id: str, known: Heard | None) -> bool:
    """Search the episodes of a session that are over; whether there are decisions to be weighed, or some went."""
    rows, over = store.turns(db, session_id), store.over(db, session_id)
    sizes, times = {row[0]: len(row[2]) for row in rows}, {row[0]: row[3] for row in rows}
    whole = known if known is not None and known.sizes == sizes else _heard(rows)
    found = [said for said in whole.found if said.words.number in over]
    before = store.stored(db, session_id)
    kept = {said.words.number for said in found}
    gone = [
        number for number, row in before.items()
        if number not in kept and row[-1] == FOUND and number in over
        and not (row[3] == rules.STATED and row[-2] == sizes.get(number))
    ]  # fmt: skip
    store.put(db, [_row(session_id, said, sizes, times) for said in found], gone)
    store.searched(db, session_id, _HOLDS)
    return bool(found) or store.stored(db, session_id) != before


def _row(session_id: str, said: Said, sizes: dict[int, int], times: dict[int, int]) -> tuple[object, ...]:
    words = said.words
    out: list[object] = [words.number, words.begin, words.end, sizes[words.number], session_id, times[words.number],
                         said.kind, said.confidence, int(said.revises)]  # fmt: skip
    for span in (said.question, said.restated):
        out += [span.number, span.begin, span.end, sizes[span.number]] if span else [None] * 4
    return tuple(out)


def weigh(db: Connection, project_id: int) -> None:
    """Decide anew which decisions of a project are superseded, by which. Inside a transaction."""
    every = [one for one in store.of_project(db, project_id, _MOST) if one.state != DISMISSED]
    every.sort(key=lambda one: (one.at, one.id))
    talks = store.talks(db, {one.unit_id for one in every if one.unit_id})
    compared = [
        Decided(one.id, one.unit_id, one.at, one.said, f"{one.said}\n{one.question}\n{one.restated}",
                talks.get(one.unit_id, one.said)) for one in every
    ]  # fmt: skip
    rarity = Rarity(list(talks.values()))
    later: dict[int, int] = {}
    for place, one in enumerate(compared):
        for number in superseded(one, compared[:place], rarity):
            later[number] = one.number
    store.replace(db, [one.id for one in every], later)


_SAME, _NEAR = 0.22, 0.75
"""Likeness of two conversations about one matter; of two decisions that differ in little but a number."""
_SHARED = 2
"""Telling words that two decisions on one matter have in common at least."""
_FEW = 12
"""Below so many conversations their own rarity says little."""
_CHARS = 6_000
_NUMBER = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)(?:[- ]?(%|[a-z]{1,12}\b))?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Decided:
    """What is compared of a decision."""

    number: int
    conversation: int
    """The episode it was made in."""
    at: int
    said: str
    """The person's words."""
    whole: str
    """These, the question and the agent's restatement."""
    talk: str
    """All that was said in the episode."""


def superseded(later: Decided, earlier: Sequence[Decided], rarity: Rarity) -> list[int]:
    """The numbers of the earlier decisions of a project that a later one replaces."""
    before = [
        one for one in earlier
        if one.number != later.number and one.at <= later.at and one.said.strip() != later.said.strip()
    ]  # fmt: skip
    out = [one.number for one in before if _varies(later, one, rarity)]
    if cues.REVISES.search(later.whole):
        out += [one.number for one in _same_matter(later, before, rarity)]
    return sorted(set(out))


def _varies(later: Decided, one: Decided, rarity: Rarity) -> bool:
    """Whether a decision is an earlier one with other numbers."""
    return numbers(later.said) != numbers(one.said) and rarity.alike(later.said, one.said) >= _NEAR


def _same_matter(later: Decided, before: Sequence[Decided], rarity: Rarity) -> list[Decided]:
    """What was decided in the one earlier conversation that is most like the later decision's."""
    talks = {one.conversation: one.talk for one in before if one.conversation != later.conversation}
    likeness = {conversation: rarity.alike(later.talk, talk) for conversation, talk in talks.items()}
    nearest = max(likeness, key=lambda each: likeness[each], default=None)
    if nearest is None or likeness[nearest] < _SAME:
        return []
    return [one for one in before
            if one.conversation == nearest and rarity.shared(later.whole, one.whole) >= _SHARED]  # fmt: skip


def numbers(text: str) -> frozenset[tuple[str, str]]:
    """The numbers of a text with the word that follows each."""
    return frozenset((found[1], (found[2] or "").lower().rstrip("s")) for found in _NUMBER.finditer(text))


class Rarity:
    """How telling a word is in a project, by its conversations; and what is alike there."""

    def __init__(self, talks: Sequence[str]) -> None:
        self._held = Counter(word for talk in talks for word in set(tokens(talk[:_CHARS])))
        self._total = max(len(talks), _FEW) + 1.0
        self._vectors: dict[str, dict[str, float]] = {}

    def of(self, word: str) -> float:
        """0..1; 0: in every conversation."""
        return max(0.0, log(self._total / max(1, self._held.get(word, 1))) / log(self._total))

    def alike(self, one: str, other: str) -> float:
        """How much two texts are about the same, 0..1: the cosine over their words by rarity."""
        first, second = self._vector(one), self._vector(other)
        return sum(weight * second.get(word, 0.0) for word, weight in first.items())

    def shared(self, one: str, other: str) -> int:
        """How many telling words two texts have in common."""
        both = set(tokens(one[:_CHARS])) & set(tokens(other[:_CHARS]))
        return sum(self.of(word) >= 0.5 and not word.isdecimal() for word in both)

    def _vector(self, text: str) -> dict[str, float]:
        if text not in self._vectors:
            self._vectors[text] = self._weighed(text)
        return self._vectors[text]

    def _weighed(self, text: str) -> dict[str, float]:
        weights = {word: (1.0 + log(times)) * self.of(word) for word, times in Counter(tokens(text[:_CHARS])).items()}
        length = sqrt(sum(weight * weight for weight in weights.values()))
        return {word: weight / length for word, weight in weights.items()} if length else {}
