"""Builds an episode's search document: its words by field, weighted into one bag (BM25F). Background only.

What the agent says when it is done names the subject in few words, so its words weigh most; the person's words come
next; thoughts, file names, commands and errors add recall for stack traces and whole issues. What came of it is quoted:
whole sentences of its closing words, causes and decisions before anything else; questions and offers never.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from sqlite3 import Connection

from nmem.conversation.cues import Cue
from nmem.episodes import reading
from nmem.episodes.narrate import cues
from nmem.episodes.narrate.prose import sentences
from nmem.episodes.narrate.records import FAILED, Action, Episode
from nmem.episodes.text import is_cjk
from nmem.retrieval import store
from nmem.retrieval.words import words

RULES = "9"
"""Counted up when documents are made otherwise: every project is indexed anew."""
SATURATION = 6.0
"""BM25's k1: how soon more of the same word adds nothing."""
_RANGE = 1.25
"""What a word at most says, before it is cut at 1: a word with a weight of 24 says all that a word can."""
_LENGTH = 0.75
"""BM25's b: how much a long field is held against its words."""
_SHORTEST = 0.4
"""The least that a field's length counts for: a greeting is not about its two words."""
_ERROR = 2_000
"""Characters of what a failed call answered."""
_COMMANDS = frozenset(
    ("command", "test", "build", "lint", "install", "search", "git_commit", "git_push", "git_other", "github", "marker")
)


@dataclass(frozen=True, slots=True)
class Field:
    """How much a field's words weigh, and the words of a usual one."""

    weight: float
    usual: float


FIELDS: Mapping[str, Field] = {
    "title": Field(3.0, 12.0),
    "closing": Field(3.0, 250.0),
    "client": Field(1.0, 12.0),
    "user": Field(0.6, 150.0),
    "thoughts": Field(0.2, 800.0),
    "files": Field(0.5, 100.0),
    "errors": Field(0.1, 120.0),
    "commands": Field(0.05, 150.0),
}
_SAID = {"closing": "closing", "summary": "closing", "title": "client"}
"""The field of what an agent or its client said, by kind."""


@dataclass(frozen=True, slots=True)
class Document:
    """An episode as it is indexed: its words with their saturated weights, 0 to 1, and what came of it."""

    bag: Mapping[str, float]
    result: str


def document(db: Connection, unit_id: int) -> Document:
    """An episode's document; without words when the episode is gone. Raises sqlite3.Error."""
    told = reading.read(db, unit_id)
    row = store.told(db, unit_id)
    if told is None or row is None:
        return Document({}, "")
    title, client, intent, summary, files = row
    texts = _texts(told.episode)
    texts["title"].append(title)
    texts["closing"].append(client)
    if not texts["user"]:  # forgotten: the story that was told of it is what is left
        texts["user"].append(intent)
        texts["closing"].append(summary)
        texts["files"].append(files or "")
    bag = weighed({name: words(" ".join(parts)) for name, parts in texts.items()})
    return Document(bag, result([one.text for one in told.episode.closings()]))


def weighed(fields: Mapping[str, Iterable[str]]) -> dict[str, float]:
    """Word -> saturated weight over all fields."""
    bag: dict[str, float] = {}
    for name, found in fields.items():
        counts = Counter(found)
        field = FIELDS[name]
        length = max(_SHORTEST, 1.0 - _LENGTH + _LENGTH * counts.total() / field.usual)
        for word, count in counts.items():
            bag[word] = bag.get(word, 0.0) + field.weight * count / length
    return {word: min(1.0, _RANGE * weight / (weight + SATURATION)) for word, weight in bag.items()}


def _texts(episode: Episode) -> dict[str, list[str]]:
    """The texts of each field."""
    out: dict[str, list[str]] = {name: [] for name in FIELDS}
    out["user"] += [one.text for one in episode.prompts]
    for saying in episode.sayings:
        out[_SAID.get(saying.kind, "thoughts")].append(saying.text)
    for action in episode.actions:
        _act(out, action)
    return out


def _act(out: dict[str, list[str]], action: Action) -> None:
    if action.file_path:
        out["files"].append(action.file_path)
    if action.obs_type in _COMMANDS:
        out["commands"].append(action.content)
    if action.outcome == FAILED:
        out["errors"].append(action.response[:_ERROR])


LONGEST_RESULT = 360
"""Characters of all sentences together."""
_SENTENCE = 260
"""A longer sentence is a list or a paste."""
_LEAST = 4
"""Words of a sentence that says something by itself."""
_CLOSINGS = 3
"""Closing words that are looked at: the newest."""
_READ = 40
"""Sentences of one closing that are looked at."""
_MOST = 3
_ENTRY = 1.25
"""What an entry of a list is worth less than a sentence."""
_SAYS = 5
"""Words that a sentence must have beside its report of checks, commits and pushes."""
_CHECKED = re.compile(
    r"\b(?:all|both|every|the|full|existing|unit|integration|pre-commit|pre-push)?\s*(?:[\d,./]+(?: of [\d,]+)?\s*)?"
    r"(?:tests?|test suite|specs?|checks?|hooks?|lint(?:er|ing)?|type-?check(?:s|ing)?|build|formatting|ci|everything)"
    r"\s*\(?[\d,/]*\)?\s*(?:(?:all|ran and|ran|are|is|now|still|also)\s+)*"
    r"(?:pass(?:ed|es|ing)?|succeed(?:ed|s)?|clean|green|successful(?:ly)?|ok)\b"
    r"|\b(?:the )?(?:commit(?:ted)?|pushed)\b(?: (?:as|to|was|is|created|went|through|successfully|on|all|in|it))*"
    r"(?: `?[0-9a-f]{7,40}`?)?(?: (?:created )?successfully)?"
    r"|\b\d+ files? changed(?:, \d+ insertions?\(\+\))?(?:, \d+ deletions?\(-\))?"
    r"|\b(?:the )?working tree (?:is )?clean(?: \([^)]*\))?"
    r"|\b(?:all )?(?:the )?(?:changes|commits) (?:are|is) (?:now )?(?:on|in) \w+"
    r"|\b(?:all )?(?:the )?(?:\d+ )?(?:tasks?|changes?|steps?|phases?|to-?dos?|edits?|implementation|work|everything)"
    r" (?:is|are|was|were|has been|have been) (?:now )?(?:all )?(?:complete[d]?|done|finished|implemented|in place)\b"
    r"|\b[\d,]+ (?:tests?|pass(?:ed|ing)?)\b|\b0 (?:issues|errors|failures|warnings)\b|\b\d+ (?:pass|fail)(?:ed)?\b",
    re.IGNORECASE,
)
"""Reports that say nothing of the work: checks that pass, counts of tests and files, a commit and its hash."""
_WORD = re.compile(r"[^\W\d_]{3,}")
_CASE = re.compile(r"^`?Test[A-Z_]\w*`?\s*(?:[-–—:]|with\b)|\b(?:PASS(?:ED)?|FAIL(?:ED)?)\b")
"""What one test checks, in a list of tests, or how a check ended."""
_VERB = Cue(
    r"\b(?:is|are|was|were|be|been|isn't|wasn't|aren't|has|have|had|do|does|doesn't|did|didn't|can|can't|cannot|could"
    r"|will|won't|would|should|must|now|never|no longer|fails?|works?|needs?|means?|makes?|uses?|takes?|runs?|returns?"
    r"|calls?|writes?|reads?|shows?|keeps?|checks?|gets?|sets?|built|made|wrote|ran|put|let|lets|went|came|\w{3,}(?:ed|izes?|ates?))\b"
)
"""A word by which a line is a sentence; one without is an entry of a list."""
_CUT = ("…[", "[…]", "[REDACTED")
"""Marks of a text that is not whole."""


@dataclass(frozen=True, slots=True)
class _Weighed:
    worth: float
    place: int
    text: str


def result(closings: Sequence[str]) -> str:
    """What came of an episode in the agent's words, whole sentences; empty when nothing says it.

    Sentences that the agent said one after the other stand on one line: each line is a quotation of its own.
    """
    found: list[_Weighed] = []
    for age, closing in enumerate(reversed(closings[-_CLOSINGS:])):
        for number, sentence in enumerate(sentences(closing)[:_READ]):
            text = sentence.text.strip()
            worth = _worth(text, sentence.label, sentence.raw) - 0.75 * age - 0.02 * number
            if worth > 0 and all(text != other.text for other in found):
                found.append(_Weighed(worth, -1000 * age + number, text))
    chosen: list[_Weighed] = []
    room = LONGEST_RESULT
    for one in sorted(found, key=lambda each: (-each.worth, each.place)):
        if len(chosen) < _MOST and len(one.text) + 1 <= room:
            chosen.append(one)
            room -= len(one.text) + 1
    chosen.sort(key=lambda each: each.place)
    out = _ended(chosen[0].text) if chosen else ""
    for before, one in pairwise(chosen):
        out += (" " if one.place == before.place + 1 else "\n") + _ended(one.text)
    return out


def _ended(text: str) -> str:
    return text if text[-1] in ".!…。！" else text + "."


def _worth(text: str, label: str, raw: str) -> float:
    """How much a sentence says of what came of the work; 0 or less for one that is not quoted."""
    size = len(_WORD.findall(text)) + (0 if text.isascii() else sum(map(is_cjk, text)) // 3)
    if size < _LEAST or len(text) > _SENTENCE or any(mark in f"{text}\n{raw}" for mark in _CUT) or _CASE.search(text):
        return 0.0
    checked = _CHECKED.sub(" ", text)
    if checked != text and len(_WORD.findall(checked)) < _SAYS:
        return 0.0
    if label and cues.LEFT_LABEL.search(label):
        return 0.0
    if text.endswith((":", "：")) or cues.QUESTION.search(text) or cues.CHATTER.match(text) or cues.LEFT.search(text):
        return 0.0
    if (
        cues.FLEETING.search(text)
        or cues.DRAFT.search(text)
        or cues.LIMIT.match(text)
        or (cues.TALK.match(text) and not cues.DONE.match(text))
    ):
        return 0.0
    worth = 0.5
    worth += 2.0 * bool(cues.CAUSE.search(text) or cues.CAUSE_LABEL.search(label))
    worth += 2.0 * bool(cues.DECISION.search(text) or cues.STRONG.search(text))
    worth += 1.0 * bool(cues.DONE.match(text) or cues.DONE_LABEL.search(label))
    worth -= 1.0 * (checked != text)
    worth -= _ENTRY * (not _VERB.search(text) and not any(map(is_cjk, text)))
    worth += 0.5 * ("`" in raw) + 0.5 * any(char.isdigit() for char in text)
    return worth
