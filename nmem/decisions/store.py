"""Stores decisions (SQL): finds them in finished episodes, marks those that a later one of the project replaces.

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
from nmem.decisions import read
from nmem.episodes.reading import OF
from nmem.episodes.text import tokens

FOUND, KEPT, DISMISSED = "found", "kept", "dismissed"
_MOST = 500
"""Decisions of a project that are compared, the newest."""
_HOLDS = f"'{rules.VERSION}.' || {OF}"
_DUE = f"""
SELECT DISTINCT u.session_id FROM work_units u LEFT JOIN decided_units d ON d.unit_id = u.id
WHERE u.state = 'closed' AND (d.told_of IS NULL OR d.told_of != {_HOLDS})
"""  # noqa: S608 - our words
_MOVED = """
SELECT DISTINCT d.session_id FROM said_decisions d JOIN prompts p ON p.id IN (d.prompt_id, d.asked_id, d.restated_id)
WHERE length(p.content) != CASE p.id WHEN d.prompt_id THEN d.said_size WHEN d.asked_id THEN d.asked_size
  ELSE d.restated_size END AND p.content != ''
"""
_TURNS = """
SELECT id, source = 'user', content, at FROM prompts WHERE session_id = ? AND agent_id IS NULL AND content != ''
AND ((source = 'user' AND kind IN ('prompt', 'late')) OR (source = 'agent' AND kind = 'closing')) ORDER BY at, id
"""
_OVER = """
SELECT p.prompt_id FROM unit_prompts p JOIN work_units u ON u.id = p.unit_id
WHERE u.session_id = ? AND u.state = 'closed'
"""
_SEARCHED = f"""
INSERT OR REPLACE INTO decided_units SELECT u.id, {_HOLDS} FROM work_units u
WHERE u.session_id = ? AND u.state = 'closed'
"""  # noqa: S608 - our words
_STORE = """
INSERT INTO said_decisions (prompt_id, said_from, said_to, said_size, session_id, at, kind, confidence, revises,
  asked_id, asked_from, asked_to, asked_size, restated_id, restated_from, restated_to, restated_size)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (prompt_id) DO UPDATE SET said_from = excluded.said_from, said_to = excluded.said_to,
  said_size = excluded.said_size, kind = excluded.kind, confidence = excluded.confidence, revises = excluded.revises,
  asked_id = excluded.asked_id, asked_from = excluded.asked_from, asked_to = excluded.asked_to,
  asked_size = excluded.asked_size, restated_id = excluded.restated_id, restated_from = excluded.restated_from,
  restated_to = excluded.restated_to, restated_size = excluded.restated_size
"""


class Heard(NamedTuple):
    """What was found in a session as it was read."""

    sizes: dict[int, int]
    """Of each turn, by the row that holds it: others, and somebody has said more since."""
    found: list[Said]


Beside = Callable[[Sequence[str]], Iterator[Heard | None]]


def heard(db: Connection, session_id: str) -> Heard:
    """The decisions of a session, which is only read."""
    return _heard(db.execute(_TURNS, (session_id,)).fetchall())


def _heard(rows: Sequence[tuple[int, int, str, int]]) -> Heard:
    turns = [Turn(row[0], bool(row[1]), row[2]) for row in rows]
    return Heard({row[0]: len(row[2]) for row in rows}, rules.find(turns))


def refresh(
    db: Connection, stopped: Callable[[], bool] = lambda: False, beside: Beside = lambda due: repeat(None, len(due))
) -> int:  # fmt: skip
    """Search what is over and was not searched; how many sessions were. On a writing connection.

    `beside`: searches the sessions it is given in processes of its own, and answers in their order.
    """
    due = [row[0] for row in db.execute(f"{_DUE} UNION {_MOVED}").fetchall()]
    done, changed = 0, set()
    known = beside(due)
    for session_id in due:
        if stopped():
            break
        ready = next(known)
        with transaction(db):
            if _search(db, session_id, ready):
                changed.add(_project(db, session_id))
        done += 1
    for project_id in sorted(changed):
        with transaction(db):
            weigh(db, project_id)
    return done


def stated(db: Connection, session_id: str, quotes: Iterable[tuple[Sequence[int], str]]) -> int:
    """Keep what a model found that a person settled: (prompts in one of which the words stand, the words); how many.

    A prompt in which something was found already, by whatever means, keeps that. Raises sqlite3.Error.
    """
    rows = db.execute(_TURNS, (session_id,)).fetchall()
    turns = [Turn(row[0], bool(row[1]), row[2]) for row in rows]
    sizes, times = {row[0]: len(row[2]) for row in rows}, {row[0]: row[3] for row in rows}
    known = _rows(db, session_id)
    new = {
        said.words.number: said
        for ids, words in quotes
        for place, turn in enumerate(turns)
        if turn.person and turn.number in ids and turn.number not in known
        and (said := rules.stated(turns, place, words)) is not None
    }  # fmt: skip
    if new:
        with transaction(db):
            db.executemany(_STORE, [_row(session_id, said, sizes, times) for said in new.values()])
            weigh(db, _project(db, session_id))
    return len(new)


def _search(db: Connection, session_id: str, known: Heard | None) -> bool:
    """Search the episodes of a session that are over; whether there are decisions to be weighed, or some went."""
    rows = db.execute(_TURNS, (session_id,)).fetchall()
    over = {row[0] for row in db.execute(_OVER, (session_id,)).fetchall()}
    sizes = {row[0]: len(row[2]) for row in rows}
    times = {row[0]: row[3] for row in rows}
    whole = known if known is not None and known.sizes == sizes else _heard(rows)
    found = [said for said in whole.found if said.words.number in over]
    before = _rows(db, session_id)
    db.executemany(_STORE, [_row(session_id, said, sizes, times) for said in found])
    kept = {said.words.number for said in found}
    gone = [
        number for number, row in before.items()
        if number not in kept and row[-1] == FOUND and number in over
        and not (row[3] == rules.STATED and row[-2] == sizes.get(number))
    ]  # fmt: skip
    db.executemany("DELETE FROM said_decisions WHERE prompt_id = ?", [(number,) for number in gone])
    db.execute(_SEARCHED, (session_id,))
    return bool(found) or _rows(db, session_id) != before


def _rows(db: Connection, session_id: str) -> dict[int, tuple[object, ...]]:
    found = db.execute(
        "SELECT prompt_id, said_from, said_to, kind, revises, asked_id, restated_id, said_size, state"
        " FROM said_decisions WHERE session_id = ?",
        (session_id,),
    )
    return {row[0]: tuple(row) for row in found.fetchall()}


def _row(session_id: str, said: Said, sizes: dict[int, int], times: dict[int, int]) -> tuple[object, ...]:
    words = said.words
    out: list[object] = [words.number, words.begin, words.end, sizes[words.number], session_id, times[words.number],
                         said.kind, said.confidence, int(said.revises)]  # fmt: skip
    for span in (said.question, said.restated):
        out += [span.number, span.begin, span.end, sizes[span.number]] if span else [None] * 4
    return tuple(out)


def _project(db: Connection, session_id: str) -> int:
    return int(db.execute("SELECT project_id FROM sessions WHERE id = ?", (session_id,)).fetchone()[0])


def weigh(db: Connection, project_id: int) -> None:
    """Decide anew which decisions of a project are superseded, by which. Inside a transaction."""
    every = [one for one in read.of_project(db, project_id, _MOST) if one.state != DISMISSED]
    every.sort(key=lambda one: (one.at, one.id))
    talks = read.talks(db, {one.unit_id for one in every if one.unit_id})
    compared = [
        Decided(
            one.id, one.unit_id, one.at, one.said, f"{one.said}\n{one.question}\n{one.restated}",
            talks.get(one.unit_id, one.said),
        )
        for one in every
    ]  # fmt: skip
    rarity = Rarity(list(talks.values()))
    later: dict[int, int] = {}
    for place, one in enumerate(compared):
        for number in superseded(one, compared[:place], rarity):
            later[number] = one.number
    _put(db, [one.id for one in every], later)


def _put(db: Connection, numbers: Iterable[int], later: dict[int, int]) -> None:
    db.executemany(
        "UPDATE said_decisions SET superseded_by = ?1 WHERE id = ?2 AND superseded_by IS NOT ?1",
        [(later.get(number), number) for number in numbers],
    )


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
