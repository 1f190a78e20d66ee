"""Shortens the name of a decision: the fewest whole words of its heading that still find it.

Words that say nothing are no part of a name. The margin is the lead over the entry that comes second.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from nmem.recall import words
from nmem.recall.index import HEADING, TRIGGER, Index
from nmem.recall.rank import FLOOR, rank
from nmem.recall.words import STOP

MARGIN = 0.25
"""Lead, as a share of the first score, from which a name is taken to be its own."""
_LONGEST = 10
_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Candidate:
    """A name: whether it leads to the decision, by how much, how sure, and what it leads to or what comes second."""

    trigger: str
    own: bool
    margin: float
    confidence: float
    rival: str

    @property
    def good(self) -> bool:
        """Whether it may be used."""
        return self.own and self.margin >= MARGIN and self.confidence >= FLOOR


def candidates(index: Index, heading: str) -> list[Candidate]:
    """Names for a heading, the fewest words first, up to the first that is good; the whole one last.

    The heading is looked up among the entries; of one that is none yet, a name is its own when nothing answers to it.
    """
    operator, rest = words.bare(heading)
    own = [doc for _, doc in index.names.get(words.name(heading), ())]
    said = [word for word in words.normal(rest or heading).split() if word not in STOP][:_LONGEST]
    out: list[Candidate] = []
    for size in range(min(2, len(said)), len(said) + 1):
        level = [_tried(index, " ".join(chosen), operator, own) for chosen in combinations(said, size)]
        level.sort(key=lambda each: (not each.good, not each.own, -each.margin))
        out += level[:_SHOWN]
        if level and level[0].good:
            break
    return out


def _tried(index: Index, trigger: str, operator: str, own: list[int]) -> Candidate:
    ranked, sure = rank(index, trigger, operator, 2)
    exact = [doc for _, doc in index.names.get(trigger, ()) if doc not in own]
    if exact:
        return Candidate(trigger, False, 0.0, 1.0, _called(index, exact[0]))
    if not own:  # not written yet: what answers now would stand beside it
        return Candidate(trigger, sure < FLOOR, 1.0 - sure, 1.0, _called(index, ranked[0].doc) if ranked else "")
    if not ranked or ranked[0].doc not in own:
        return Candidate(trigger, False, 0.0, sure, _called(index, ranked[0].doc) if ranked else "")
    rival = ranked[1] if len(ranked) > 1 else None
    margin = 1.0 if rival is None else (ranked[0].score - rival.score) / ranked[0].score
    return Candidate(trigger, True, margin, sure, _called(index, rival.doc) if rival else "")


def _called(index: Index, doc: int) -> str:
    return index.docs[doc][HEADING] or index.docs[doc][TRIGGER]
