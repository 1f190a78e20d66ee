"""Corrects a model's story by the facts: work done, files, commits and checks always come from the records.

A model words the title, the intent, what came of it, the obstacle, what was learned, the notes and what is open; of a
command that failed the records tell, which know how often and what cured it. A sentence of its own that says something
ended well which the records do not show is dropped, whatever row it names. What a person decided, a check that still
fails and the agent's last open question are told in any case, in the words of the records.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from nmem.episodes import open_ends, titles
from nmem.episodes.narrate.checks import MISUSE
from nmem.episodes.narrate.prose import within, without_last_words, words
from nmem.episodes.narrate.records import Narrative
from nmem.llm.claims import sentences
from nmem.llm.story import FAILED, RUN_FAILED, Story

_NOTES, _SAME = 8, 0.7
_SETTLED = ("The user decided", "The user corrected", "Plan accepted by the user")
"""How the records tell a decision of the person."""
_TESTS = r"(?:tests?|specs?|suites?|builds?|checks?|ci|pipelines?|everything|lint(?:er|ing)?)"
_GOOD = r"(?:pass(?:es|ed|ing)?|green|succeed(?:s|ed|ing)?|successful(?:ly)?|clean|(?:is|are|was|were) (?:ok|fine))"
_DONE = r"\b(?:was|were|is|are|been|got|have|has|successfully) (?:\w+ )?"
_MERGED = r"\bmerged (?:\w+ ){0,3}(?:into|to|in) (?:main|master|trunk|develop)\b"
_TESTED = {
    "en": rf"\b{_TESTS}\b[^.;]{{0,60}}?\b{_GOOD}\b|\b(?:passing|green|successful) {_TESTS}\b",
    "pt es de": r"\b(?:testes?|pruebas?) (?:\w+ ){0,2}pas|\bTests? (?:\w+ ){0,2}(?:bestand|grün)",
    "ja": r"テスト.{0,12}(?:成功|通っ|通り|パス)",
    "zh": r"[测測][试試].{0,8}(?:[通过過]{2}|成功)",
    "ko": r"테스트.{0,10}(?:통과|성공)",
}
_CLAIMS: tuple[tuple[str, re.Pattern[str]], ...] = (
    *(("tests_passed", re.compile(pattern, re.IGNORECASE)) for pattern in _TESTED.values()),
    ("committed", re.compile(r"\bcommitted\b|コミットし|コミット済|已提交|커밋(?:했|됨|되)", re.IGNORECASE)),
    ("pushed", re.compile(r"\bpushed\b|プッシュし|已推送|푸시(?:했|됨|되)", re.IGNORECASE)),
    ("pull_request", re.compile(r"\b(?:opened|created|merged) (?:an? |the )?(?:pull|merge) request\b", re.IGNORECASE)),
    ("published", re.compile(rf"{_DONE}(?:deployed|released|published)\b|{_MERGED}", re.IGNORECASE)),
)
"""A good end that a sentence may claim, by the mark that bears it out; nothing bears out the last one."""
_DENIED = re.compile(
    r"(?:\bnot|\bnothing|\bneither|\bnor|\bnichts|\bkeine?r?|\bnada|\bnenhuma?|\b(?:yet|still|has|have|remains?) to be|"
    r"n['’]t|\bnever|\bno longer|\bcannot|\bunable to|\bbefore|\buntil|\bwithout|\bnone of the|\bno)\s+"
    r"(?:\w+\s+){0,5}\S*$|(?:ない|なかっ|せず|未|没|沒|不|안|못)\S{0,3}$",
    re.IGNORECASE,
)
_DENIED_AFTER = re.compile(r"\S{0,4}?(?:ない|なかっ|ません|지 ?않|지 ?못|전|前)")
"""In Japanese and Korean a sentence is denied after its verb."""
_WISH = re.compile(
    r"\b(?:makes?|get|let|ensure|until|so that|to|should|must|wants?|wanted|needs?|would|if|when|once|why|whether)\b",
    re.IGNORECASE,
)


def overrule(facts: Narrative, told: Story, model: str) -> tuple[Narrative, int]:
    """The story in the model's words as far as the facts allow, and how many of its sentences they do not."""
    marks = frozenset(facts.marks)
    kept = _Kept(marks)
    intent = " ".join(one for one in sentences(told.intent) if _WISH.search(one) or kept.stands(one))
    outcome, obstacle = (" ".join(kept.all([one])) for one in (told.outcome, told.obstacle))
    learned = kept.all(told.learned)
    notes = [one for one in kept.all(told.notes) if not (FAILED in one or RUN_FAILED.search(one))]
    next_steps = kept.all(told.next_steps)
    return (
        replace(
            facts,
            intent=_wanted(facts.intent, intent),
            outcome=_came(facts.outcome, outcome),
            obstacle=_stood(facts.obstacle, obstacle),
            title=titles.fit(told.title) or (titles.of_goal(intent) if intent else "") or facts.title,
            learned=_with(learned, facts.learned, lambda one: one.startswith(_SETTLED)),
            next_steps=_with(next_steps, facts.next_steps, _is_open),
            notes=_added(notes, facts.notes),
            narrator=model,
        ),
        told.dropped + kept.dropped,
    )


def _wanted(facts: str, told: str) -> str:
    """The model's goal, behind the command of the client that the episode was opened with where no word tells of it."""
    ran = _RAN.match(facts)
    if not told or ran is None or ran[1].strip("/").rpartition(":")[2].casefold() in told.casefold():
        return told or facts
    return f"The user ran {ran[1]}. {told}"


_RAN = re.compile(r"Run (/[\w:-]*\w)")


def _came(facts: str, told: str) -> str:
    """How it ended by the records, with the model's sentence in the place of the agent's last words."""
    if not told:
        return facts
    known = without_last_words(facts)[0]
    return (
        known
        if within(words(told), words(known)) >= _SAME
        else "; ".join(one for one in (known, told.rstrip(".").replace("; ", ", ")) if one)
    )


def _stood(facts: str, told: str) -> str:
    """The model's obstacle, then the records' where it is another; alone where both name one failed command.

    The records count failures and name the cure; one that went away is left out beside the model's. Of a failed command
    that the records do not tell as an obstacle they know that it was a slip.
    """
    if _RAN_FAILED.search(told):
        told_too = facts and (facts.partition(" failed")[0] in told or within(words(told), words(facts)) >= _ALIKE)
        told = told if told_too else ""
    if not facts or not told:
        return told or facts
    name, failed, _ = facts.partition(" failed")
    same = failed and re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", told.replace("`", ""))
    if same and _FAILS.search(told):
        return facts
    what, once, then = facts.partition(" failed once")
    went_away = once and ", then passed" in then and ". " not in what and " failed " not in then
    minor = went_away or within(words(told), words(facts)) >= _ALIKE
    return told if minor else f"{told.rstrip('.')}. {facts}"


_ALIKE = 0.5
_FAILS = re.compile(r"\b(?:fail|err)", re.IGNORECASE)
_RAN_FAILED = re.compile(rf"\bFAILED\b|(?i:{MISUSE.pattern}|SyntaxError|ModuleNotFoundError|not a valid editable)")
"""How a model quotes a line about a command that failed, or that could not run as it was called."""


def _with(told: list[str], known: Sequence[str], always: Callable[[str], bool]) -> list[str]:
    """The model's rows with those of the records that no model replaces; without any of its own, the records'."""
    return [*(one for one in known if always(one)), *told] if told else list(known)


def _is_open(row: str) -> bool:
    return row.startswith(open_ends.QUESTION) or open_ends.STILL_FAILS in row


def stands(sentence: str, marks: frozenset[str]) -> bool:
    """Whether the records bear out every good end that a sentence claims."""
    return not any(
        mark not in marks
        and not _DENIED.search(sentence[: found.start()])
        and not _DENIED.search(sentence[: found.end()])
        and not _DENIED_AFTER.match(sentence, found.end())
        for mark, pattern in _CLAIMS
        for found in pattern.finditer(sentence)
    )


class _Kept:
    """Keeps sentences that the marks allow, and counts the others."""

    def __init__(self, marks: frozenset[str]) -> None:
        self.marks = marks
        self.dropped = 0

    def stands(self, sentence: str) -> bool:
        good = stands(sentence, self.marks)
        self.dropped += not good
        return good

    def all(self, rows: Sequence[str]) -> list[str]:
        """Of each row the sentences that stand; rows of which nothing is left are gone."""
        kept = (" ".join(one for one in sentences(row) if self.stands(one)) for row in rows)
        return [row for row in kept if row]


def _added(notes: list[str], known: Sequence[str]) -> list[str]:
    """The model's notes, and those of the records that it does not tell."""
    bags = [words(note) for note in notes]
    out = list(notes)
    for note in known:
        bag = words(note)
        if not any(within(bag, other) >= _SAME for other in bags):
            out.append(note)
    return out[:_NOTES]
