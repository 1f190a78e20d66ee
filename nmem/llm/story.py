"""Reads a model's story of one work unit: each field as far as the rows that its sentences name bear it out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from nmem.llm import claims
from nmem.llm.grounding import CHANGED, DONE, PERSON, Ground, cited, tells_change

FAILED = " FAILED"
"""What follows a command that failed, in what was done for a prompt."""


@dataclass(frozen=True, slots=True)
class Story:
    """What is fit to be stored of one work unit."""

    intent: str
    title: str = ""
    outcome: str = ""
    obstacle: str = ""
    learned: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    next_steps: tuple[str, ...] = ()
    decided: tuple[tuple[int, str], ...] = ()
    """What the person settled: the turn (its index), and words that its prompt has."""
    dropped: int = 0
    """Sentences that the rows they name do not bear out."""


def read(row: Mapping[str, object], ground: Ground) -> Story:
    """The story of an answer's row, by sentences that the rows they name bear out."""
    intent = ground.text(str(row["goal"]), goal=True)
    outcome, obstacle = _outcome(str(row["outcome"]), ground), _obstacle(str(row["obstacle"]), ground)
    learned = tuple(told for line in lines(row["learned"]) if (told := ground.text(line)) and _found(line, ground))
    notes, left = (ground.texts(lines(row[name])) for name in ("notes", "next"))
    title = ground.title(str(row["title"]))
    return Story(intent, title, outcome, obstacle, learned, notes, left, dropped=ground.dropped)


def _outcome(said: str, ground: Ground) -> str:
    """What came of it; where files were changed for the last request, and nothing of that is told, it says so."""
    told, turns = ground.text(said), sorted({int(id_[1:]) for id_ in ground.rows})
    cites = [int(id_[1:]) for _, ids in cited(said) for id_ in ids]
    did = ground.rows.get(f"{DONE}{turns[-1]}") if turns else None
    earlier = bool(told and cites) and max(cites) < turns[-1] and did is not None and CHANGED.search(did.text)
    return f"before the last request: {told}" if earlier else told


def _obstacle(said: str, ground: Ground) -> str:
    """What stood in the way: something failed or was refused there, or the user came back with it.

    What the first request tells is what the unit is for, and no obstacle; nor is what an answer alone tells, or what a
    later request finds at fault without a word of the work so far: a wish says why so.
    """
    told, turns = ground.text(said), sorted({int(id_[1:]) for id_ in ground.rows})
    cites = {id_ for _, ids in cited(said) for id_ in ids}
    first = f"{PERSON}{turns[0]}" if turns else ""
    wrong = _FOREIGN.search(told) or any(cue.search(told) for cue in (claims.ENDS["failed"], claims.NEGATION, _TROUBLE))
    corrects = any(_CORRECTS.match(ground.rows[id_].text) for id_ in cites if id_ in ground.rows)
    if all(id_[0] == PERSON for id_ in cites) and not (corrects or _AGAINST.search(told) or _FOREIGN.search(told)):
        return ""
    if any(id_[0] == PERSON and id_ != first for id_ in cites):
        return told if (wrong or told.startswith("The user ")) and not _FURTHER.match(told) else ""
    stood = (ground.rows.get(f"{DONE}{id_[1:]}") for id_ in cites if id_ != first)
    return told if wrong and any(row is not None and _STOOD.search(row.text) for row in stood) else ""


_TROUBLE = re.compile(
    r"(?i)\b(?:errors?|wrong|broken?\b|blocked|refus|reject|miss(?:ing|e[sd])|conflict|objected|doubt|turned down"
    r"|had to\b|again\b|instead|unable|stuck|crash|slow|timed? ?out|lost\b|only\b)"
)
"""Says in English that something was in the way."""
_AGAINST = re.compile(r"(?i)\b(?:user|still|again|anymore|no longer|broke|undo|the (?:change|fix|edit|patch))\b")
"""Says that a request objects to the work, or comes back with what it left."""
_CORRECTS = re.compile(r"(?i)\W*(?:no|nope|not|wrong|almost|wait|yes,? but|(?:this|that|it) (?:is|does)n['’]?t)\b")
_FOREIGN = re.compile(r"[^\W\d_a-zA-Z]")
_FURTHER = re.compile(
    r"The user (?:also )?(?:(?:needed|wanted|asked for|wished for|requested) (?:another|a further|an additional)"
    r"|asked (?:when|whether|what|how|if|who|where))\b"
)
_STOOD = re.compile(rf"{FAILED}\b|^(?:refused|broken off) by the user|\berror\b", re.MULTILINE)


def _found(line: str, ground: Ground) -> bool:
    """Whether a sentence tells a finding: the user's own word, or what came out where something had failed, in its
    turns or the one before. A change by the work is none: a diff shows it; nor is how things were when it was asked."""
    ids = [id_ for _, found in cited(line) for id_ in found]
    if claims.PERSON.search(line) or line.startswith("The user "):
        return True
    if all(id_[0] == PERSON for id_ in ids) or tells_change(line, ground.rows):
        return False
    if RUN_FAILED.search(line):
        return False
    rows = (ground.rows.get(f"{DONE}{int(id_[1:]) - back}") for id_ in ids for back in (0, 1))
    return any(row is not None and FAILED in row.text for row in rows)


RUN_FAILED = re.compile(
    r"(?i)`[^`]+` (?:\w+ ){0,4}?failed (?:with|once|\d+|again)\b"
    r"|\b(?:a|the) (?:\w+ ){0,2}(?:script|command|run) failed with (?:an? )?\w*(?:error|exception)(?:[:.,]|$)"
)
"""Says that a command failed: a later session learns nothing by that."""


def lines(value: object) -> list[str]:
    """The texts of a list, nothing for anything else."""
    return [row for row in value if isinstance(row, str)] if isinstance(value, list) else []
