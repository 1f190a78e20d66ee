"""Condenses threads: micro (1-3 sentences), meso (a paragraph), macro (patterns and skills). Raw turns stay.

It happens when a thread has ended, after 50 turns or 24 hours of work since the last time, when one of its episodes was
told anew, or by hand. Summaries are made of the episodes' narratives where there are any, and else of what the episodes
set out to do, what came of it, commits and files. Deterministic; nothing is asked of a model here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from sqlite3 import Connection
from typing import Any

from capture.redaction import redact
from capture.storage.store import transaction
from capture.text import clean
from nmem.episodes import open_ends
from nmem.errors import NmemError
from nmem.learn import skill_use
from nmem.names import cited
from nmem.text import json_list, json_object
from nmem.threads import config, links_store, store
from nmem.threads.link import combined

TURNS = 50
HOURS_24 = 24 * 60 * 60_000
MICRO, MESO, MACRO = 400, 1500, 2500
_SENTENCE = 160
_LISTED = 3
"""Things done that are told of an episode."""
_CUT_WITHIN = re.compile(r"\s*…?\s*\[\+\d+\]")
_CUT = re.compile(_CUT_WITHIN.pattern + r"\W*$")
"""Where a client cut a text off, and how many characters it left out."""
_EPISODES = 8
_SKILLS = 5


@dataclass(frozen=True, slots=True)
class Due:
    """A thread to condense, and why: ended, turns, time, told."""

    thread_id: int
    project_id: int
    why: str


@dataclass(frozen=True, slots=True)
class Summary:
    """A thread in three lengths."""

    micro: str
    meso: str
    macro: str


@dataclass(frozen=True, slots=True)
class _Episode:
    goal: str
    summary: str
    completed: tuple[str, ...]
    learned: tuple[str, ...]
    next_steps: tuple[str, ...]
    outcomes: dict[str, Any]
    commits: tuple[str, ...]
    files: tuple[str, ...]
    phases: dict[str, Any]
    turns: int


def due(db: Connection, now: int) -> list[Due]:
    """Threads whose summaries are missing or behind."""
    rows = links_store.condensable(db)
    found = []
    for thread_id, project_id, state, done, created, last, turns, told in rows:
        behind = done is None or last > done
        why = ""
        if behind and state == "closed":
            why = "ended"
        elif turns >= TURNS:
            why = "turns"
        elif behind and now - (created if done is None else done) >= HOURS_24:
            why = "time"
        elif done is not None and told is not None and told > done:
            why = "told"
        if why:
            found.append(Due(thread_id, project_id, why))
    return found


def compact_due(db: Connection, now: int) -> list[Due]:
    """End idle threads, and condense what is due."""
    with transaction(db):
        store.close_idle(db, config.load().timeout_minutes, now)
        store.entitle(db)
    found = due(db, now)
    for each in found:
        _store(db, each.thread_id, now)
    return found


def compact(db: Connection, thread_id: int, now: int) -> Summary:
    """Condense one thread by hand, which also ends it. Raises NmemError when there is no such thread."""
    head = links_store.head(db, thread_id)
    if head is None:
        raise NmemError(f"there is no thread {thread_id}: `nmem threads` lists them")
    with transaction(db):
        store.close(db, thread_id)
    return _store(db, thread_id, now)


def _store(db: Connection, thread_id: int, now: int) -> Summary:
    summary = summarise(db, thread_id, now)
    with transaction(db):
        store.refresh(db, thread_id)
        store.condensed(db, thread_id, summary.micro, summary.meso, summary.macro, now)
        _tell_links(db, thread_id)
    return summary


def _tell_links(db: Connection, thread_id: int) -> None:
    """Cross-thread episodes of the thread get the new summary."""
    for each in links_store.decisions_of(db, thread_id):
        earlier, later = (links_store.head(db, number) for number in (each.earlier_thread_id, each.later_thread_id))
        if each.linked and earlier and later:
            files = links_store.earlier(db, earlier.id, later.created_at).files
            links_store.set_summary(db, each.id, combined(earlier, later, files))


def summarise(db: Connection, thread_id: int, now: int) -> Summary:
    """What a thread was about, from its episodes, and the skills its sessions showed. Writes nothing."""
    episodes = _episodes(db, thread_id) or _plain(db, thread_id)
    return Summary(
        _safe(_micro(episodes), " ", MICRO), _safe(_meso(episodes), " ", MESO),
        _safe(_macro(episodes, skill_use.of_thread(db, thread_id, now)), "\n", MACRO),
    )  # fmt: skip


def _safe(parts: Sequence[str], between: str, limit: int) -> str:
    """The first parts that fit, each whole."""
    clear = redact(clean(between.join(parts)))
    while len(clear) > limit and len(parts) > 1:
        parts = parts[:-1]
        clear = redact(clean(between.join(parts)))
    return clear[:limit].rstrip()


def _episodes(db: Connection, thread_id: int) -> list[_Episode]:
    rows = links_store.told(db, thread_id)
    return [
        _Episode(
            sentence(goal), sentence(summary), texts(completed), texts(learned), texts(next_steps),
            json_object(outcomes), texts(commits, "message"), texts(hot, "path"), json_object(phases), turns,
        )
        for goal, summary, completed, learned, next_steps, outcomes, commits, hot, phases, turns in rows
    ]  # fmt: skip


def _plain(db: Connection, thread_id: int) -> list[_Episode]:
    """A thread without episodes as one, from its prompts, commits and files."""
    row = links_store.extent(db, thread_id)
    if row is None:
        return []
    commits = links_store.commits(db, thread_id)
    messages = tuple(message for _, meta in commits if (message := _message(json_object(meta))))
    files = tuple(links_store.files(db, thread_id, 0, row[0] + 1))
    goal = sentence(links_store.message(db, thread_id))
    return [_Episode(goal, "", (), (), (), {"committed": bool(commits)}, messages, files, {}, row[1])]


def _message(meta: dict[str, Any]) -> str:
    commit = meta.get("commit")
    return str(commit.get("message") or "") if isinstance(commit, dict) else ""


def _subject(message: str) -> str:
    """The first line of a commit's message."""
    return message.strip().split("\n", 1)[0].rstrip(".")


def _micro(episodes: Sequence[_Episode]) -> list[str]:
    """What it was about, what came of it, what is next."""
    if not episodes:
        return []
    main = max(episodes, key=lambda each: each.turns)
    out = [main.summary or main.goal]
    commits = [_subject(message) for each in episodes for message in each.commits]
    if commits:
        out.append(f"Committed: {sentence(commits[-1])}")
    elif any(each.outcomes.get("committed") for each in episodes):
        out.append("It was committed.")
    else:
        out += [_result(episodes[-1])] if _result(episodes[-1]) else []
    steps = episodes[-1].next_steps
    if steps:
        out.append(f"Next: {sentence(steps[0])}")
    return out


def _result(episode: _Episode) -> str:
    """How an episode ended, as far as its outcomes say."""
    tests, end = open_ends.ending(episode.outcomes)
    if end == "reverted":
        return "The changes were taken back."
    if end in ("abandoned", "thrown away"):
        return "It was left unfinished."
    return f"The tests {tests} at the end." if tests else ""


def _meso(episodes: Sequence[_Episode]) -> list[str]:
    """Each episode in a sentence or two, in order; of many, the first and the last ones."""
    chosen = list(episodes)
    if len(chosen) > _EPISODES:
        chosen = [chosen[0], *chosen[-_EPISODES + 1 :]]
    out = []
    for each in chosen:
        out.append(each.summary or each.goal)
        if each.completed:
            out.append(f"Done: {listed(each.completed)}")
        elif each.commits:
            out.append(f"Committed: {listed([_subject(one) for one in each.commits])}")
        elif _result(each):
            out.append(_result(each))
    files = [cited(path) for path in _most(path for each in episodes for path in each.files)[:5]]
    if files:
        out.append(f"Files: {', '.join(files)}.")
    return out


def _macro(episodes: Sequence[_Episode], shown: Sequence[skill_use.Skill]) -> list[str]:
    """Patterns over the thread: where, how, what was learned, which skills it showed."""
    out = []
    folders = _most(path.rsplit("/", 1)[0] for each in episodes for path in each.files if "/" in path)[:3]
    if folders:
        out.append(f"Works in: {', '.join(folders)}")
    phases: Counter[str] = Counter()
    for each in episodes:
        phases.update({name: int(number) for name, number in each.phases.items() if isinstance(number, int | float)})
    if told := _work(phases):
        out.append(told)
    learned = dict.fromkeys(text for each in episodes for text in each.learned)
    out += [f"Learned: {sentence(text)}" for text in list(learned)[:6]]
    out += [f"Skill: {one.when}, run {', then '.join(one.steps)}" for one in shown[:_SKILLS]]
    return out or [f"Episodes: {len(episodes)}"] if episodes else []


def _work(phases: Counter[str]) -> str:
    """What the calls were for; empty where none is labelled. What is so of nearly all calls says nothing."""
    calls = phases["think"] + phases["act"]
    if not calls:
        return ""
    told = [f"{phases['act']} of {calls} calls did the work, the others looked and planned"]
    told += [f"{phases[name]} {words}" for name, words in _TELLING.items() if phases[name] * _OFTEN >= calls]
    return f"Work: {'; '.join(told)}"


_TELLING = {"friction": "met a failure", "external": "left the machine", "novel": "broke new ground"}
_OFTEN = 10
"""One call of so many is worth a word."""


def sentence(text: str) -> str:
    """The first sentence of a text, or as much of it as fits, ending as a sentence does."""
    line = _uncut(" ".join(text.split()))
    for end in (". ", "! ", "? ", "。", "！", "？"):
        at = line.find(end)
        if 20 <= at < _SENTENCE:
            line = line[: at + 1]
    if len(line) > _SENTENCE:
        line = line[:_SENTENCE].rsplit(" ", 1)[0] + " …"
    return line if not line or line.endswith((".", "!", "?", "…", "。", "！", "？", ":")) else line + "."


def listed(items: Sequence[str]) -> str:
    """The first items of a list, each whole, and in words how many more there are: one sentence."""
    kept: list[str] = []
    for item in items[:_LISTED]:
        text = sentence(item).removesuffix(".")
        if kept and len("; ".join([*kept, text])) > _SENTENCE:
            break
        kept.append(text)
    more = f"; and {len(items) - len(kept)} more" if len(items) > len(kept) else ""
    line = "; ".join(kept) + more
    return line if line.endswith(("!", "?", "…", "。", "！", "？", ":")) else line + "."


def _uncut(text: str) -> str:
    """A text without its last words where a client stored them cut off: "a. b. c …[+449]" is "a. b."."""
    found = _CUT.search(text)
    if found is None:
        return _CUT_WITHIN.sub("…", text)
    whole = _CUT_WITHIN.sub("…", text[: found.start()])
    end = max(whole.rfind(mark) for mark in (". ", "! ", "? ", "。", "; "))
    return whole[: end + 1].rstrip("; ") if end > 0 else whole.rsplit(" ", 1)[0].rstrip() + " …"


def _most(values: Iterable[str]) -> list[str]:
    counts = Counter(values)
    return sorted(counts, key=lambda value: (-counts[value], value))


def texts(stored: str | None, key: str = "") -> tuple[str, ...]:
    """The texts of a JSON list, or of one field of its objects."""
    found = [item.get(key) if isinstance(item, dict) else item for item in json_list(stored)]
    return tuple(item.strip() for item in found if isinstance(item, str) and item.strip())
