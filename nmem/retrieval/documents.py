"""Builds an episode's search document: its words by field, weighted into one bag (BM25F). Background only.

What the agent says when it is done names the subject in few words, so its words weigh most; the person's words come
next; thoughts, file names, commands and errors add recall for stack traces and whole issues.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from sqlite3 import Connection

from nmem.episodes import reading
from nmem.episodes.narrate.records import FAILED, Action, Episode
from nmem.retrieval import store
from nmem.retrieval.result import result
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
