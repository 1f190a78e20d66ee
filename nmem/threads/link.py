"""Decides whether a new thread continues an earlier one, from the formula's score and a model's opinion.

    both say yes            link, likely
    one says yes            uncertain: whoever is more confident is believed, and the person is asked
    both say no             don't link, high certainty

Without a model the algorithm decides: near its threshold the decision is uncertain, a link above is likely: sessions
on one corner of a project share its words, and are about other things all the same. Threads on one feature branch are
one line of work for it, whatever was said in them, and likely as well: people do several chores on a branch. The
certainty of a link is high only where both open with the same issue. Every decision is stored with both scores, linked
or not; one that a prompt made (nmem.threads.arrival) is kept or mended here. An earlier thread is looked at as it was
when the later one began, so the answer does not depend on when it is asked. What a person said is never overwritten.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from sqlite3 import Connection
from typing import Any, Protocol

from capture.jsonio import dumps
from capture.redaction import redact
from capture.storage.store import transaction
from capture.text import clean
from nmem.llm import Cancel, Failure
from nmem.llm.ask import Desk
from nmem.llm.linking_prompt import Pair, assess
from nmem.retrieval import naming
from nmem.retrieval.background import Background
from nmem.retrieval.naming import issue_refs
from nmem.threads import config, decisions, links_store
from nmem.threads.decisions import DONT_LINK, LINK, Decision, Head
from nmem.threads.formula import Earlier, Formula, Likeness, from_dict, likeness, said, seed, shipped
from nmem.threads.store import HIGH, LIKELY, UNCERTAIN

CANDIDATES = 12
"""Earlier threads that a new one is compared with."""
ASKED = 4
"""Of these, how many a model is asked about at once; others only when the algorithm says yes."""
MARGIN = 0.2
"""Without a model: this near its threshold the algorithm is not sure."""
ON_BRANCH = 0.95
"""The score of two threads on one feature branch."""
TURNS = 6
REASSESS = 7 * 24 * 60 * 60_000
MINUTE = 60_000
_REASONING = 600


@dataclass(frozen=True, slots=True)
class Question:
    """What a model is asked: is the message a continuation of the earlier thread?"""

    earlier_summary: str
    earlier_turns: tuple[str, ...]
    """The last prompts of the earlier thread, oldest first."""
    earlier_files: tuple[str, ...]
    message: str
    """The first prompt of the new thread."""
    gap_minutes: float
    hints: tuple[str, ...] = ()
    """What the model overlooked in the past."""


@dataclass(frozen=True, slots=True)
class Assessment:
    """A model's answer."""

    related: bool
    confidence: float
    """0 to 1."""
    reasoning: str = ""
    key_signals: tuple[str, ...] = ()


class Assessor(Protocol):
    """Asks a model. Called from several threads at once; None when there is no answer."""

    def __call__(self, question: Question) -> Assessment | None:
        """Assess one question; must not raise."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is decided about two threads."""

    linked: bool
    certainty: str
    agreement: bool | None


@dataclass(frozen=True, slots=True)
class Scored:
    """An earlier thread with everything that speaks for or against it."""

    earlier: Head
    known: Earlier
    gap_minutes: float
    like: Likeness
    on_branch: bool
    """Whether both are on one feature branch."""
    issue: int
    """The number of an issue that both open with; 0: none."""
    score: float
    assessment: Assessment | None
    verdict: Verdict

    def parts(self) -> dict[str, float]:
        """What the score is made of, as it is stored; a shared branch or issue is nothing that tuning can weigh."""
        branch = {decisions.BRANCH: 1.0} if self.on_branch else {}
        return {**self.like.rounded(), **branch, **({decisions.ISSUE: float(self.issue)} if self.issue else {})}


def decide(score: float, formula: Formula, assessment: Assessment | None, *, one_issue: bool = False) -> Verdict:
    """The decision table. A tie between two that disagree is no link: a wrong one costs the person more.

    `one_issue`: both open with the same issue, which leaves no doubt of a link; it makes none by itself.
    """
    says = score > formula.threshold
    sure = LIKELY if says and not one_issue else HIGH
    if assessment is None:
        near = abs(score - formula.threshold) < MARGIN and not (says and one_issue)
        return Verdict(says, UNCERTAIN if near else sure, None)
    if says == assessment.related:
        return Verdict(says, sure, True)
    mine = (score if says else 1.0 - score) * formula.trust.get("algorithm", 1.0)
    theirs = assessment.confidence * formula.trust.get("model", 1.0)
    return Verdict(mine > theirs if says else theirs > mine, UNCERTAIN, False)


def current(db: Connection, method: str = "") -> Formula:
    """The formula in force: by `method` or the config, and for `fitted` as it was tuned last."""
    if (method or config.load().method) == "seed":
        return seed()
    for tuning in links_store.tunings(db):
        if tuning.adopted:
            return from_dict(tuning.after)
    return shipped()


class Linker:
    """Links threads of one database; remembers what projects are like while it lives, so keep it for one run."""

    def __init__(self, db: Connection, assess: Assessor | None = None, method: str = "") -> None:
        self.db = db
        self.assess = assess
        self.formula = current(db, method)
        self._backgrounds: dict[int, Background] = {}

    def link_all(self, now: int, stopped: Callable[[], bool] = lambda: False) -> list[Decision]:
        """Compare every thread that was not compared yet; with a model, also recent ones that none was asked about."""
        recent = links_store.unassessed(self.db, now - REASSESS) if self.assess is not None else []
        made: list[Decision] = []
        for thread_id in dict.fromkeys([*links_store.unlinked(self.db), *recent]):
            if stopped():
                break
            made += self.link(thread_id, now)
        return made

    def link(self, thread_id: int, now: int) -> list[Decision]:
        """Compare one thread with the earlier ones of its project and store what is decided; what is new of it."""
        later = links_store.head(self.db, thread_id)
        if later is None:
            return []
        earlier = {each.id: each for each in links_store.candidates(self.db, later, CANDIDATES)}
        earlier |= {each.id: each for each in links_store.linked_at_prompt(self.db, later)}
        if not (left := [each for each in earlier.values() if self._open(each, later)]):
            return []
        found = self.scores(later, left)
        with transaction(self.db):
            stored = [self._store(each, later, now) for each in found]
        return [
            each for each in (links_store.decision(self.db, number) for number in stored if number) if each is not None
        ]

    def scores(self, later: Head, earlier: Iterable[Head]) -> list[Scored]:
        """Score earlier threads against a later one, the model working beside the algorithm. Writes nothing."""
        text = links_store.message(self.db, later.id)
        known = [(each, *self._known(each, later)) for each in earlier] if text else []
        questions = [self._question(each, held, gap, text) for each, held, gap in known]
        with ThreadPoolExecutor(max_workers=ASKED) as pool:
            asked: dict[int, Future[Assessment | None]] = {}
            if self.assess is not None:
                asked = {number: pool.submit(self.assess, questions[number]) for number in range(len(known))[:ASKED]}
            likes = [likeness(held, text, gap, self._background(later.project_id)) for _, held, gap in known]
            branch = links_store.branch(self.db, later) if known else ""
            if self.assess is not None:
                for number, like in enumerate(likes):
                    if number not in asked and self.formula.links(like):
                        asked[number] = pool.submit(self.assess, questions[number])
            answers = {number: future.result() for number, future in asked.items()}
        return [
            self._scored(
                each,
                held,
                gap,
                like,
                answers.get(number),
                on_branch=self._on(each, later, branch),
                issue=self._issue(each, later, text),
            )
            for number, ((each, held, gap), like) in enumerate(zip(known, likes, strict=True))
        ]

    def _scored(
        self, earlier: Head, known: Earlier, gap: float, like: Likeness, assessment: Assessment | None,
        *, on_branch: bool, issue: int,
    ) -> Scored:  # fmt: skip
        score = max(self.formula.score(like), ON_BRANCH * on_branch)
        verdict = decide(score, self.formula, assessment, one_issue=bool(issue))
        return Scored(earlier, known, gap, like, on_branch, issue, score, assessment, verdict)

    def _on(self, earlier: Head, later: Head, branch: str) -> bool:
        return bool(branch) and links_store.was_on(self.db, earlier.id, branch, later.created_at)

    def _issue(self, earlier: Head, later: Head, text: str) -> int:
        """The issue that both threads open with; one that most sessions name is none, nor is a point of a list."""
        if not (named := issue_refs(text)):
            return 0
        both = named & issue_refs(links_store.message(self.db, earlier.id))
        background = self._background(later.project_id)
        return max((int(number) for number in both if len(number) > 1 and background.tells("#" + number)), default=0)

    def _open(self, earlier: Head, later: Head) -> bool:
        """Is there something to decide: nothing stored, or only the algorithm's word while there is a model now?"""
        stored = links_store.between(self.db, earlier.id, later.id)
        if stored is None:
            return True
        if stored.awaits:
            return True
        return self.assess is not None and stored.llm_related is None and not stored.outcome

    def _known(self, earlier: Head, later: Head) -> tuple[Earlier, float]:
        active = links_store.active_before(self.db, earlier.id, later.created_at)
        gap = (later.created_at - (earlier.created_at if active is None else active)) / MINUTE
        return links_store.earlier(self.db, earlier.id, later.created_at), gap

    def _background(self, project_id: int) -> Background:
        if project_id not in self._backgrounds:
            self._backgrounds[project_id] = background(self.db, project_id)
        return self._backgrounds[project_id]

    def _question(self, earlier: Head, known: Earlier, gap: float, text: str) -> Question:
        summary = earlier.meso or earlier.micro or earlier.title
        turns = tuple(prompt[:800] for prompt in known.prompts[-TURNS:])
        return Question(summary, turns, known.files[:20], text[:2000], round(gap, 1), self.formula.hints)

    def _store(self, each: Scored, later: Head, now: int) -> int:
        return links_store.write_decision(self.db, row(each, later, now))


def row(each: Scored, later: Head, now: int) -> dict[str, Any]:
    """A decision as it is stored; a model's words are cleaned and redacted like everything from outside."""
    said = each.assessment
    return {
        "at": now,
        "earlier_thread_id": each.earlier.id,
        "later_thread_id": later.id,
        "algorithmic_score": round(each.score, 4),
        "components": dumps(each.parts()),
        "llm_related": None if said is None else int(said.related),
        "llm_confidence": None if said is None else min(1.0, max(0.0, said.confidence)),
        "llm_reasoning": None if said is None else redact(clean(said.reasoning))[:_REASONING],
        "decision": LINK if each.verdict.linked else DONT_LINK,
        "certainty": each.verdict.certainty,
        "agreement": None if each.verdict.agreement is None else int(each.verdict.agreement),
        "summary": combined(each.earlier, later, each.known.files) if each.verdict.linked else None,
    }


def combined(earlier: Head, later: Head, files: Iterable[str] = ()) -> str:
    """The summary of a cross-thread episode: first one, then the other, and the files at its heart."""
    parts = [f"{_about(earlier)} Then: {_about(later)}"]
    named = ", ".join(list(files)[:5])
    if named:
        parts.append(f"Files: {named}.")
    return redact(clean(" ".join(parts)))[:1000]


def _about(thread: Head) -> str:
    text = (thread.micro or thread.title).strip()
    return text if text.endswith((".", "!", "?", "。")) else text + "."


_PATIENCE = 2


class ModelAssessor:
    """Asks one question at a time, so that the day's cap holds; gives up after failures in a row. Never raises."""

    def __init__(self, desk: Desk, cancel: Cancel | None = None) -> None:
        self.desk = desk
        self.cancel = cancel or Cancel()
        self.failure: Failure | None = None
        self._in_a_row = 0
        self._turn = threading.Lock()

    def __call__(self, question: Question) -> Assessment | None:
        """The assessment, or None when there is none; then the algorithm decides alone."""
        with self._turn:
            if self._in_a_row >= _PATIENCE or self.cancel.is_set():
                return None
            try:
                answer = assess(self.desk, _pair(question), self.cancel).value
            except Failure as failure:
                self.failure = failure
                self._in_a_row += _PATIENCE if failure.kind == "cap" else 1
                return None
            except sqlite3.Error:
                self._in_a_row = _PATIENCE  # without its ledger nothing is asked
                return None
            self._in_a_row = 0
        return Assessment(answer.related, answer.confidence, answer.reasoning, answer.key_signals)


def _pair(question: Question) -> Pair:
    return Pair(
        question.earlier_summary, question.message, question.earlier_turns, question.earlier_files,
        question.gap_minutes,
    )  # fmt: skip


def background(db: Connection, project_id: int) -> Background:
    """What is rare in a project and what resembles what, from its newest sessions."""
    documents, texts = [], []
    for session_id in links_store.newest_sessions(db, project_id):
        prompts = links_store.first_prompts(db, session_id)
        if prompts:
            documents.append(said(Earlier(prompts, links_store.touched(db, session_id))))
            texts.append(naming.tokens(" ".join(prompts)))
    return Background(documents, texts)
