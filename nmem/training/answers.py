"""Reads a person's decisions on boundaries and labels as training rows."""

from __future__ import annotations

from dataclasses import dataclass
from sqlite3 import Connection

from capture.labels import DIMENSIONS, WORDS
from nmem.episodes import features as ft
from nmem.episodes import history, units
from nmem.labels import names
from nmem.labels import store as calls
from nmem.labels.corpus import Example
from nmem.training import store

SUBJECT = "boundaries"
STANDING = 0.25
"""What a prompt counts that the person left as it was, in a session where they changed or confirmed something."""
MOST_SESSIONS = 200


@dataclass(frozen=True, slots=True)
class Shift:
    """A feature whose weight has moved, in log-odds of the right-hand word where words are told apart."""

    feature: str
    words: str
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Answer:
    """One prompt: its features, whether the intent changes there, and what that is worth."""

    session_id: str
    features: ft.Features
    boundary: bool
    weight: float

    @property
    def own(self) -> bool:
        """Whether the person decided it, rather than left it."""
        return self.weight == 1.0


def answers(db: Connection, common: frozenset[str], words: ft.Weighed | None = None) -> list[Answer]:
    """The prompts of all sessions in which a person decided something; first prompts and cleared ones are left out."""
    found = store.corrected(db, MOST_SESSIONS)
    return [each for session_id in found for each in _of_session(db, session_id, common, words or {})]


def _of_session(db: Connection, session_id: str, common: frozenset[str], words: ft.Weighed) -> list[Answer]:
    held = {prompt.id: prompt for prompt in units.prompts_of_session(db, session_id)}
    past, out, before = ft.Past(common, words), [], None
    turns = history.whole(db, session_id)
    for at, turn in enumerate(turns):
        prompt = held.get(turn["ids"][0])
        if prompt is not None and before is not None and not turn["cleared"]:
            found = {**ft.form(turn["text"]), **ft.context(turn["text"], turn["gap_minutes"], past)}
            found.update(ft.turned(turn["text"], turn["agent"], past, turns[at + 1 :]))
            weight = 1.0 if prompt.verdict.by == units.PERSON else STANDING
            out.append(Answer(session_id, found, prompt.unit_id != before, weight))
        past.add(turn["text"], turn["agent"])
        before = before if prompt is None else prompt.unit_id
    return out


GROUP = "own/"
"""How the groups of a person's sessions begin."""
MOST = 5000
"""Calls that are read, the newest ones."""
_TITLE = 80


def own_labels(db: Connection) -> list[Example]:
    """What a person has decided, each call with what came before it; "?" where they said nothing."""
    out = []
    for number, session_id, model, kind, content, *scores in store.labelled(db, MOST):
        seen = calls.one(db, number)
        decided = names.read(model).own
        if seen is None or not decided:
            continue
        said = [WORDS[at][score > 0] if name in decided and score else "?"
                for at, (name, score) in enumerate(zip(DIMENSIONS, scores, strict=True))]  # fmt: skip
        a, b, c, d, e = said
        title = " ".join(f"{kind} {content}".split())[:_TITLE]
        out.append(Example(group=f"{GROUP}{session_id}", seen=seen[1], labels=(a, b, c, d, e),
                           where=f"observation/{number}", title=title))  # fmt: skip
    return out
