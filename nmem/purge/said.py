"""Formats the counts of a purge as words, for previews, reports and undo messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

KINDS = {"project": "project", "session": "session", "learning": "learning", "task": "task", "prompt": "prompt",
         "obs": "call", "trace": "swept call"}  # fmt: skip
"""Kind -> its word, in the order in which they are told."""
NOTHING_ELSE = "other texts that contain it"
"""What goes where no row of its own does."""
_TABLES = {"projects": "project", "sessions": "session", "learnings": "learning", "tasks": "task", "prompts": "prompt",
           "observations": "obs"}  # fmt: skip
_NAMED_ONLY = {"learning", "task"}
"""Of these others go as what was made of calls: they count where they were named; tasks also where words alone were."""
_WORDS = {
    "context": "context for the next session", "injection": "context given to sessions", "search": "search indexes",
    "learn": "learnings and their evidence", "learned": "learnings and their evidence", "tasks": "tasks",
    "task": "tasks", "work": "stories of episodes", "unit": "stories of episodes", "episode": "stories of episodes",
    "narrations": "stories of episodes", "session": "summaries of sessions", "sessions": "sessions",
    "threads": "threads", "projects": "projects", "project": "projects", "corrections": "corrections to undo",
    "recall": "decisions that were read", "llm": "questions to language models",
    "hook": "runs of the hooks", "swept": "traces of swept records", "sweep": "traces of swept records",
    "redaction": "judged redactions", "learning": "learnings and their evidence",
    "learnings": "learnings and their evidence", "said": "decisions said in passing",
    "decided": "decisions said in passing", "transcript": "copies of transcripts",
    "transcripts": "transcripts that will not be copied",
}  # fmt: skip
"""The first word of a table's name -> what stands in it."""
_OTHER = "nmem's own notes"
_FACTS = {"observations": "calls", "prompts": "prompts"}
_BY = {"text": "words", "regex": "a pattern", "before": "time", "since": "time"}
"""What a purge was chosen by, where the word for it is another."""


def number(count: int, word: str) -> str:
    """A number with its word: `1 call`, `2,000 calls`."""
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def goes(rows: Mapping[str, int]) -> str:
    """What goes, by kind: `2 prompts, 14 calls`."""
    return ", ".join(number(rows[kind], word) for kind, word in KINDS.items() if rows.get(kind)) or NOTHING_ELSE


def of_tables(counts: Mapping[str, int], how: Sequence[str]) -> dict[str, int]:
    """The same by kind, of rows that went by table."""
    named = {f"id {kind}" for kind in _NAMED_ONLY} & set(how)
    if how and {*how} <= {"text", "regex"}:
        named.add("id task")
    found = {kind: counts.get(table, 0) for table, kind in _TABLES.items()}
    return {kind: many for kind, many in found.items() if many and (kind not in _NAMED_ONLY or f"id {kind}" in named)}


def elsewhere(values: Mapping[str, int]) -> dict[str, int]:
    """Values by table.column as values by what they are; no table's name reaches a person."""
    out: Counter[str] = Counter()
    for name, many in values.items():
        out[_WORDS.get(name.partition(".")[0].partition("_")[0], _OTHER)] += many
    return dict(out)


def places(rows: Mapping[str, int]) -> list[tuple[str, int]]:
    """Rows by table as rows by what they are, the most first."""
    out = Counter({_FACTS[name]: many for name, many in rows.items() if name in _FACTS})
    out.update(elsewhere({name: many for name, many in rows.items() if name not in _FACTS}))
    return out.most_common()


def by(how: Sequence[str]) -> str:
    """By which means a purge was chosen: `by session and time`, `by the id of a call`."""
    words = [f"the id of {_one(name[3:])}" if name.startswith("id ") else _BY.get(name, name) for name in how]
    return f"by {' and '.join(dict.fromkeys(words))}"


def _one(kind: str) -> str:
    word = KINDS.get(kind, kind)
    return f"{'an' if word[:1] in 'aeiou' else 'a'} {word}"
