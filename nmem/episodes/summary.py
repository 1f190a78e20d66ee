"""Composes a session's summary from its episodes' narratives: goals, results, lessons, open ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from sqlite3 import Connection

from capture.storage.store import transaction
from nmem.episodes import narrations
from nmem.episodes.narrate.prose import within, words
from nmem.episodes.narrate.records import Narrative
from nmem.episodes.narrations import EXTRACTIVE, Part

_GOALS = 6
_MOST = {"learned": 12, "completed": 15, "next_steps": 6, "notes": 10, "files_read": 40, "files_edited": 60}
_SAME = 0.75


def summarise(db: Connection, session_id: str) -> bool:
    """Compose and store the summary of a session; False when none of its episodes is told."""
    with transaction(db):
        parts = narrations.parts(db, session_id)
        if not parts:
            return False
        narrations.store_summary(db, session_id, compose(parts), max(part.narrated_at for part in parts))
    return True


def compose(parts: Sequence[Part]) -> Narrative:
    """One narrative over episodes, oldest first. What a later episode completed is no longer open."""
    done = [words(text) for part in parts for text in part.lists["completed"]]
    return Narrative(
        intent=_intent(parts),
        learned=_texts(parts, "learned"),
        completed=_texts(parts, "completed"),
        next_steps=_open(parts, done),
        files_read=_files(parts, "files_read"),
        files_edited=_files(parts, "files_edited"),
        notes=_texts(parts, "notes"),
        narrator=_narrator(parts),
    )


def _intent(parts: Sequence[Part]) -> str:
    """The goals in the order of time, a resumed one once; of many, those that took the most turns."""
    goals: dict[int, Part] = {}
    turns: Counter[int] = Counter()
    root: dict[int, int] = {}
    for part in parts:
        top = root.get(part.resumes, part.id) if part.resumes is not None else part.id
        root[part.id] = top
        goals.setdefault(top, part)
        turns[top] += part.turns
    kept = {top for top, _ in turns.most_common(_GOALS)}
    lines = [goals[top].title or _first(goals[top].summary) for top in goals if top in kept]
    left = len(goals) - len(lines)
    return "; ".join(lines) + (f"; and {left} more" if left else "")


def _first(text: str) -> str:
    """The first sentence, without its full stop."""
    for end in (". ", "! ", "? ", "。"):
        at = text.find(end)
        if at >= 15:
            text = text[: at + 1]
    return text.rstrip(".。")


def _texts(parts: Sequence[Part], name: str) -> list[str]:
    """The texts of all episodes, each once; of too many, the newest."""
    return _distinct(text for part in parts for text in part.lists[name])[-_MOST[name] :]


def _open(parts: Sequence[Part], done: Sequence[set[str]]) -> list[str]:
    """What is open at the end: the newest first, without what was completed somewhere in the session."""
    found = _distinct(text for part in reversed(parts) for text in part.lists["next_steps"])
    return [text for text in found if not any(within(words(text), bag) >= _SAME for bag in done)][: _MOST["next_steps"]]


def _distinct(texts: Iterable[str]) -> list[str]:
    out: list[str] = []
    bags: list[set[str]] = []
    for text in texts:
        bag = words(text)
        if text in out or any(min(within(bag, other), within(other, bag)) >= _SAME for other in bags):
            continue
        out.append(text)
        bags.append(bag)
    return out


def _files(parts: Sequence[Part], name: str) -> list[str]:
    return list(dict.fromkeys(path for part in parts for path in part.lists[name]))[: _MOST[name]]


def _narrator(parts: Sequence[Part]) -> str:
    """Who told the episodes: a model's name counts when it told any."""
    models = dict.fromkeys(part.narrator for part in parts if part.narrator != EXTRACTIVE)
    return ", ".join(models) or EXTRACTIVE
