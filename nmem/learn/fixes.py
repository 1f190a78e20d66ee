"""Finds what fixed an error before, by its text: from learnings first, then from single sessions.

Unlike a hook this reads errors by all the rules, so an error is known whatever its paths, numbers and names. A person
may also give a part of an error: `nearest` finds what has its words, and says which.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from sqlite3 import Connection

from nmem.learn import findings_store, met, read, store
from nmem.learn.commands import normalise
from nmem.learn.errors import Signature, signatures
from nmem.learn.learning import ACCEPTED, FAILED_COMMAND, OPEN, RECURRING_ERROR, RESOLVED, SNOOZED, WEAK, Learning
from nmem.retrieval.words import words
from nmem.text import json_object

_STATES = (OPEN, ACCEPTED, RESOLVED, SNOOZED, WEAK)
"""What a person dismissed is not told."""
_COMMAND = 300
"""Characters up to which a text may be a command."""
_ONCE = 20
"""Findings of single sessions that are looked at, the newest first."""
_SINGLE = 2_000
"""The same, where a part of an error is looked for."""
_GENERAL = frozenset(
    """call cannot code command err error exception exit fail failed failure fatal file found invalid issue last line
problem run status traceback unable unexpected warn warning""".split()  # noqa: SIM905 - read as a list
)
"""Words of every error."""
_AROUND = "\"'`.,:;()[]{}"
_PART, _RARE = 0.6, 0.25
"""The share of the asked words that a known error must have; a word is rare when at most this share of the known errors
has it."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """One thing that is known of an error."""

    id: str
    """learning/12, or the session in which it was put right: session/abc."""
    project: str
    title: str
    fix: str
    """In a short sentence."""
    commands: tuple[str, ...]
    files: tuple[str, ...]
    sessions: int
    """In so many it was met."""
    times: int
    """In so many this put it right."""
    at: int
    """When it was met last."""
    shared: tuple[str, ...] = ()
    """The words of the text that this error has, where it is not the same error for certain."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What is known of a text."""

    errors: tuple[str, ...]
    """What it tells of, as a person reads it."""
    fixes: tuple[Fixed, ...]


def fixes(db: Connection, text: str, now: int, project_id: int | None = None, limit: int = 5) -> Answer:
    """The fixes known of an error's text, or of a command that fails; `project_id` None: of all projects."""
    found = signatures(text)
    keys = {each for one in found for each in _keys(one)}
    command = normalise(text) if len(text) <= _COMMAND and "\n" not in text.strip() else None
    known = read.learnings(db, now, project_id, _STATES, kinds=(FAILED_COMMAND, RECURRING_ERROR))
    told = [
        _learned(one) for one in known if one.remedy and _meets(db, one, keys, command.key if command else "", text)
    ]
    told.sort(key=lambda one: (-one.times, -one.at))
    if not told:
        told = _once(db, project_id, found)
    return Answer(tuple(one.title for one in found), tuple(told[:limit]))


def nearest(db: Connection, text: str, now: int, project_id: int | None = None, limit: int = 5) -> tuple[Fixed, ...]:
    """The fixes of the errors that have most words of a text, those with the most first: perhaps the same error.

    A word that is rare among the known errors must be one of them. For a person who asks: nothing is told unasked.
    """
    if len(text) > _COMMAND:
        return ()
    typed = [(word, raw.strip(_AROUND)) for raw in text.split() for word in words(raw)]
    asked = {word: raw for word, raw in reversed(typed) if word not in _GENERAL}
    known = [
        (one, frozenset(words(said))) for one, said in (*_learnings(db, now, project_id), *_single(db, project_id))
    ]
    often = {word: sum(word in said for _, said in known) for word in asked}
    rare = {word for word in asked if 0 < often[word] <= max(1, _RARE * len(known))}
    out: dict[str, Fixed] = {}
    found = [(one, tuple(word for word in asked if word in said)) for one, said in known]
    for one, shared in sorted(found, key=lambda each: (-len(each[1]), -each[0].times, -each[0].at)):
        if rare.intersection(shared) and len(shared) >= _PART * len(asked):
            has = dict.fromkeys(raw for word, raw in typed if word in shared)
            out.setdefault(one.fix, replace(one, shared=tuple(has)))
    return tuple(out.values())[:limit]


def _learnings(db: Connection, now: int, project_id: int | None) -> Iterator[tuple[Fixed, str]]:
    """What several sessions met and put right, with all that was kept of how it was said."""
    for one in read.learnings(db, now, project_id, _STATES, kinds=(FAILED_COMMAND, RECURRING_ERROR)):
        if one.remedy:
            yield _learned(one), " ".join((one.title, one.key, *store.lines(db, one.id)))


def _single(
    db: Connection, project_id: int | None, most: int = _SINGLE, key: str | None = None
) -> Iterator[tuple[Fixed, str]]:
    """What one session met and put right, the newest first, with what was said; `key`: of one error."""
    for session_id, known, data, project in findings_store.errors(db, project_id, most, key):
        found = json_object(data)
        title = str(found.get("title") or known)
        for each in found.get("failures", ()):
            if fix := each.get("fix"):
                one = Fixed(f"session/{session_id}", project, title, fix["text"], tuple(fix["commands"]),
                            tuple(fix["files"]), 1, 1, each["at"])  # fmt: skip
                yield one, f"{title} {known} {each.get('x') or ''}"


def _keys(one: Signature) -> tuple[str, ...]:
    """The key of an error; of one that does not say whose it is, its end: learnings name the program before it."""
    return (one.key.removeprefix("program"),) if one.ecosystem == "program" else (one.key,)


def _meets(db: Connection, one: Learning, keys: set[str], command: str, text: str) -> bool:
    own, _, key = one.key.partition(" | ") if one.kind == FAILED_COMMAND else ("", "", one.key)
    if own and own == command:
        return True
    if key and any(key == each or (each.startswith(": ") and key.endswith(each)) for each in keys):
        return True
    return met.says(db, one.id, text)


def _learned(one: Learning) -> Fixed:
    assert one.remedy
    fix = one.remedy
    return Fixed(
        f"learning/{one.id}", one.project, one.title, fix.text, fix.commands, fix.files, one.sessions, fix.times,
        one.last_at,
    )  # fmt: skip


def _once(db: Connection, project_id: int | None, found: Sequence[Signature]) -> list[Fixed]:
    """How a session by itself put the same error right, the newest first; each fix once."""
    out: dict[str, Fixed] = {}
    for one in found:
        for fixed, _ in _single(db, project_id, _ONCE, one.key):
            out.setdefault(fixed.fix, replace(fixed, title=one.title))
    return list(out.values())
