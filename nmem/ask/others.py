"""Finds what others of the team said in answer to a question; beside one's own records, never in their place."""

from __future__ import annotations

from sqlite3 import Connection

from nmem.ask.answer import ENOUGH
from nmem.ask.question import Question, asked
from nmem.teammates import read
from nmem.teammates.read import Fact, Wanted

_LOOKED_AT = 60
"""Facts that have words of the question, whose texts are read in full: the newest."""
_SHARED = 2
_FIRST = 4
"""Words that facts are looked through for: one that has none of them says too little of the question."""
_STEM = 4
"""Letters of a word that its forms share, at least."""


def found(db: Connection, text: str, project: int | None, most: int) -> list[Fact]:
    """The facts that say enough of a question, those that say most of it first. Raises sqlite3.Error."""
    question = asked(text)
    if not question.words:
        return []
    heads = [word[: max(_STEM, len(word) - 2)] for word in question.words]
    informing = {head for word in question.subject for head in heads if word.lower().startswith(head)} or set(heads)

    def fits(title: str, body: str, _files: str, data: str) -> bool:
        low = f"{title} {body} {data}".lower()
        return sum(head in low for head in informing) >= min(_SHARED, len(informing))

    places = None if project is None else [project]
    wanted = Wanted(projects=places, heads=_longest(informing), fits=fits)
    some = read.said(db, wanted, _LOOKED_AT)
    question.weigh(db, {one.project_id for one in some})
    ranked = sorted(
        ((_share(question, one), one) for one in some), key=lambda each: (-each[0], -each[1].at, each[1].id)
    )
    return [one for share, one in ranked if share >= ENOUGH][:most]


def _longest(heads: set[str]) -> tuple[str, ...]:
    """The few that are looked for first; none where one of them is no plain word, which SQLite would not find."""
    return tuple(sorted(heads, key=lambda head: (-len(head), head))[:_FIRST]) if all(map(str.isascii, heads)) else ()


def _share(question: Question, one: Fact) -> float:
    """How much of a question a fact says, with what it answers; 0 where that informs of nothing."""
    says = question.said(f"{one.title} {one.body} {one.data.get('question', '')}")
    return question.share(says, one.project_id) if question.informs(says) else 0.0
