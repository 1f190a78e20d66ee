"""What the screen Learnings asks of the database, each in one visit: the list, one in full, an offer to accept it.

It is also what the tabs count, and what an episode is warned of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import Connection
from typing import TYPE_CHECKING

from nmem.errors import NmemError
from nmem.learn import places, read
from nmem.learn.learning import ACCEPTED, FIX, OPEN, SKILL, STATES, Evidence, Learning, Warned
from nmem.read import stream, views
from nmem.read.views import SessionRow, StreamRow
from nmem.text import printable
from nmem_tui.model.learnings import ALL, HOT, SKILLS, warmth

if TYPE_CHECKING:
    from nmem.learn.accept import Plan

PROJECT, EVERYWHERE, ACROSS = "project", "everywhere", "across"
SCOPES = (PROJECT, EVERYWHERE, ACROSS)
LIMIT = 1000
_HELD = (OPEN, ACCEPTED)
"""States in which a skill is listed."""
_EVIDENCE = 80
_IN_BETWEEN = 12


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose learnings: of one project, of all, or the patterns that several projects share."""

    kind: str
    project: str = ""
    """Name, key or root of the one."""
    name: str = ""
    """How it is called on screen."""

    @property
    def words(self) -> str:
        """The scope in a few printable words."""
        shared = "across projects" if self.kind == ACROSS else "all projects"
        return printable(self.name or self.project) if self.kind == PROJECT else shared


@dataclass(frozen=True, slots=True)
class Listing:
    """The learnings of a scope in one state, and how many are in each."""

    scope: Scope
    state: str
    found: tuple[Learning, ...]
    counts: Mapping[str, int]
    hot: int
    elsewhere: int
    """Learnings of all projects, whatever their state."""
    hot_elsewhere: int = 0
    """Hot ones of other projects."""


@dataclass(frozen=True, slots=True)
class Detail:
    """One learning with all that is kept of it."""

    learning: Learning
    evidence: tuple[Evidence, ...]
    sessions: Mapping[str, SessionRow]
    between: tuple[StreamRow, ...]
    """What was done between a failing run and the passing one, then that run."""
    rule: str
    """What accepting it would write."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file that a rule may go into."""

    name: str
    exists: bool


@dataclass(frozen=True, slots=True)
class Offer:
    """What accepting a learning would do, or why it cannot be done so."""

    text: str
    """The wording it was asked with."""
    rule: str
    plan: Plan | None
    trouble: str
    files: tuple[Candidate, ...]
    """Where the rule may go."""


def _project(db: Connection, scope: Scope) -> int | None:
    """The id of the project; -1 for one of which nothing is recorded, None where all count."""
    if scope.kind != PROJECT:
        return None
    try:
        return places.named(db, scope.project)[0]
    except NmemError:
        return -1


def listing(db: Connection, scope: Scope, state: str, at: int) -> Listing:
    """The hottest learnings of a scope in one state, or in all."""
    project, across = _project(db, scope), scope.kind == ACROSS
    every = read.learnings(db, at, project, STATES, across, LIMIT)
    skills = () if across else read.learnings(db, at, project, _HELD, limit=LIMIT, kinds=(SKILL,))
    if state == SKILLS:
        found = skills
    elif across and state != ALL:  # summed over those in this state
        found = read.learnings(db, at, project, (state,), across, LIMIT)
    else:
        found = tuple(one for one in every if state in (ALL, one.state))
    counts = Counter(one.state for one in every) + Counter({ALL: len(every), SKILLS: len(skills)})
    everywhere = every if project is None and not across else read.learnings(db, at, None, STATES, limit=LIMIT)
    warm = _hot(every)
    return Listing(scope, state, found, counts, warm, len(everywhere), max(0, _hot(everywhere) - warm))


def scope_of(kind: str, project: str, session: SessionRow | None) -> Scope:
    """The project is the one that the cockpit was opened for, else that of the session on Now; else all are."""
    if kind != PROJECT:
        return Scope(kind)
    if project:
        return Scope(kind, project)
    return Scope(kind, session.root or session.project, session.project) if session else Scope(EVERYWHERE)


def hot(db: Connection, scope: Scope, at: int) -> int:
    """How many open learnings of a scope are hot: what the screen's header says as well."""
    return _hot(read.learnings(db, at, _project(db, scope), STATES, scope.kind == ACROSS, LIMIT))


def _hot(found: Sequence[Learning]) -> int:
    return sum(one.state == OPEN and warmth(one.heat)[0] == HOT for one in found)


def detail(db: Connection, one: Learning) -> Detail:
    """A listed learning with its evidence, its sessions and what put it right.

    The newest session comes first; within one, what happened first, so that a failure stands above what mended it.
    """
    ids = one.members or (one.id,)
    newest = sorted(
        (each for member in ids for each in read.evidence(db, member, _EVIDENCE)), key=lambda each: -each.at
    )[:_EVIDENCE]
    proofs = [each for _, ours in grouped(newest) for each in reversed(ours)]
    sessions = {each: views.session(db, each) for each in dict.fromkeys(proof.session_id for proof in proofs)}
    keys = [2 * each + 1 for each in one.remedy.observation_ids[-_IN_BETWEEN:]] if one.remedy else []
    rows = stream.rows(db, keys)
    return Detail(
        one, tuple(proofs), {key: row for key, row in sessions.items() if row},
        tuple(rows[key] for key in keys if key in rows), _rule(one),
    )  # fmt: skip


def _rule(one: Learning) -> str:
    from nmem.learn import rules

    return one.rule or rules.rule(one)


def warned(db: Connection, unit_id: int, at: int) -> tuple[Warned, ...]:
    """The open learnings that an episode runs into again, the hottest first."""
    return read.warned(db, unit_id, at)


def find(db: Connection, learning_id: int, at: int) -> Learning | None:
    """One learning, whatever its state."""
    return read.learning(db, learning_id, at)


def offer(db: Connection, learning_id: int, now: int, file: str, text: str, here: str) -> Offer:
    """What would be written where; where that cannot be, why, and which files could be named instead."""
    from nmem.learn import accept, files, promote

    one = read.learning(db, learning_id, now)
    skill = one is not None and one.kind == SKILL and not text and (not file or files.is_skill(file))
    rule = text or (_rule(one) if one else "")
    try:
        if skill:
            planned = promote.plan(db, learning_id, now, here)
        else:
            planned = accept.plan(db, learning_id, now, file, text, here)
    except NmemError as error:
        return Offer(text, rule, None, str(error), _elsewhere(db, one, here))
    return Offer(text, planned.rule, planned, "", tuple(candidates(planned.file.root, planned.file.name)))


def _elsewhere(db: Connection, one: Learning | None, here: str) -> tuple[Candidate, ...]:
    """The files of instructions of each checkout of the project, by their whole paths."""
    from nmem.learn import files

    roots = places.checkouts(db, one.project_id, here) if one else ()
    return tuple(
        Candidate(str(Path(root, each.name)), each.exists)
        for root in roots
        for each in candidates(root, files.chosen(root, places.clients(db, one.project_id if one else 0)))
    )


def candidates(root: str, chosen: str) -> list[Candidate]:
    """The files of a project that clients read: the chosen one first, then those that are there."""
    from nmem.learn import files

    names = dict.fromkeys([chosen, *(name for names in files.NAMES.values() for name in names), *files.OTHERS])
    found = [Candidate(name, Path(root, name).exists()) for name in names]
    return sorted(found, key=lambda each: (each.name != chosen, not each.exists))


def moment(proof: Evidence) -> tuple[int, int] | None:
    """Time and key of the stream's row that a piece of evidence is; None when it is forgotten."""
    if proof.observation_id is not None:
        return proof.at, 2 * proof.observation_id + 1
    return (proof.at, 2 * proof.prompt_id) if proof.prompt_id is not None else None


def grouped(proofs: Sequence[Evidence]) -> list[tuple[str, list[Evidence]]]:
    """Evidence by session, the newest session first."""
    out: dict[str, list[Evidence]] = {}
    for proof in proofs:
        out.setdefault(proof.session_id, []).append(proof)
    return list(out.items())


def fixes(proofs: Sequence[Evidence]) -> int:
    """How many pieces of evidence tell of a fix."""
    return sum(proof.role == FIX for proof in proofs)
