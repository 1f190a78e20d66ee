"""Judges, once a session went on, whether it used the items it was told: by files, commands and words.

Of use: the session afterwards touched a file of the item, ran the remedy of the learning, or the agent repeated the
words that only this item could have given it. Items that were kept back are looked at in the same way: what a session
comes to without being told is what telling must be compared with. The line that says that the memory can be asked is
not looked at: it names nothing that a session could touch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from sqlite3 import Connection

from nmem.context import candidate_store, selection_store
from nmem.context.decided import asked
from nmem.context.items import RECALL
from nmem.context.places import Places, absolute, forward
from nmem.episodes.store import IDLE
from nmem.episodes.text import tokens
from nmem.learn.commands import normalise
from nmem.learn.kinds import skills
from nmem.text import json_object, texts

WORDS = 8
"""Rarest words of an item that are looked for; of equally rare ones the longest, which say most."""
REPEATED = 3
"""Of these must be repeated, or all where there are fewer; one alone proves nothing."""
COMMON = 0.02
"""A word in more than this part of a project's turns is nobody's in particular."""
_FEW = 5
"""A word in at most so many turns is rare in a young project, too."""
_FRAME = frozenset(
    tokens("episode thread just now minutes hours days weeks ago done agent reported learned left files")
)
"""What items are told in."""
_TOUCH = {"file_edit": "edited", "file_write": "wrote", "file_read": "read"}
_RUNS = ("command", "test", "build", "lint", "install", "git_commit", "git_push", "git_other", "github")


@dataclass
class _After:
    """What a session did and said, to be looked at from a moment on."""

    project_id: int
    last_at: int
    over: bool
    touched: list[tuple[int, str, str]] = field(default_factory=list)
    ran: list[tuple[int, str]] = field(default_factory=list)
    said: list[tuple[int, frozenset[str]]] = field(default_factory=list)
    asked: frozenset[str] = frozenset()
    places: Places = field(default_factory=lambda: Places(""))


@dataclass(frozen=True)
class Judged:
    """One item: None while it cannot be known yet."""

    used: bool | None
    how: str = ""
    at: int | None = None


def judge_due(db: Connection, now: int, stopped: Callable[[], bool] = lambda: False) -> int:
    """Judge the items of every session that has gone on since; how many verdicts are new. On a writing connection."""
    count = 0
    for session_id in candidate_store.due(db):
        if stopped():
            break
        count += judge(db, session_id, now)
    return count


def judge(db: Connection, session_id: str, now: int) -> int:
    """Judge what one session was told; how many verdicts changed."""
    after = _after(db, session_id, now)
    rows = candidate_store.unjudged(db, session_id)
    rare = _rare(db, after.project_id, [(row[0], row[5], row[3]) for row in rows], after.asked)
    changed: list[tuple[int, str, int | None, int]] = []
    items: set[str] = set()
    for number, at, item, _, files, _ in rows:
        found = _judged(db, after, at, item, list(texts(files)), rare[number])
        if found.used is not None:
            changed.append((int(found.used), found.how, found.at, number))
            items.add(item)
    candidate_store.judge(db, after.project_id, changed, items)
    return len(changed)


def _after(db: Connection, session_id: str, now: int) -> _After:
    project_id, last_at, state, first = candidate_store.told(db, session_id)
    out = _After(project_id, last_at, state == "ended" or now - last_at > IDLE)
    out.places = Places("", roots=selection_store.roots(db, project_id))
    for at, kind, path, content in candidate_store.done(db, session_id, first):
        if path and kind in _TOUCH:
            out.touched.append((at, path, _TOUCH[kind]))
        elif kind in _RUNS:
            out.ran.append((at, content))
    asked: set[str] = set()
    for at, source, content in candidate_store.said(db, session_id):
        if source == "agent" and at >= first:
            out.said.append((at, frozenset(tokens(content))))
        elif source == "user":
            asked.update(tokens(content))
    out.asked = frozenset(asked)
    return out


def _judged(db: Connection, after: _After, at: int, item: str, files: list[str], rare: tuple[str, ...]) -> Judged:
    """Whether an item was of use after a moment, by what, and when."""
    found = (
        _touched(after, at, files)
        or _looked_up(after, at, item)
        or _ran(db, after, at, item)
        or _repeated(after, at, rare)
    )
    if found is not None:
        return found
    return Judged(False, "", after.last_at) if after.over else Judged(None)


def _touched(after: _After, at: int, files: list[str]) -> Judged | None:
    for moment, path, what in after.touched:
        if moment > at and any(_same(after.places, path, each) for each in files):
            return Judged(True, f"{what} {path}", moment)
    return None


def _same(places: Places, path: str, other: str) -> bool:
    """Whether two paths name one file, whichever checkout they are of; another folder's README is another file."""
    one, two = forward(path), forward(other)
    if one == two or (places.name_of(one) or one) == (places.name_of(two) or two):
        return True
    if absolute(one) == absolute(two):
        return False
    long, short = (one, two) if absolute(one) else (two, one)
    return places.name_of(long) is None and long.endswith("/" + short)


def _ran(db: Connection, after: _After, at: int, item: str) -> Judged | None:
    """Whether the remedy of a learning was run: the command that works, however it is wrapped."""
    kind, _, number = item.partition("/")
    if kind != "learning" or not number.isdecimal() or not after.ran:
        return None
    remedy = json_object(candidate_store.remedy(db, int(number)))
    commands = remedy.get("commands", [])
    if remedy.get("kind") == skills.STEPS:
        return _followed(after, at, commands)
    wanted = {made.key for ran in commands if (made := normalise(str(ran)))}
    for moment, content in after.ran:
        if moment > at and wanted and (made := normalise(content)) and made.key in wanted:
            return Judged(True, f"ran {content[:80]}", moment)
    return None


def _followed(after: _After, at: int, commands: list[str]) -> Judged | None:
    """Whether the steps of a skill were run, each after the one before."""
    left = [skills.form(each) for each in commands]
    for moment, content in after.ran:
        made = normalise(content) if moment > at else None
        for part in made.parts if made else ():
            if left and skills.form(part) == left[0]:
                left.pop(0)
        if not left:
            return Judged(True, f"did {', '.join(commands)}"[:90], moment)
    return None


def _looked_up(after: _After, at: int, item: str) -> Judged | None:
    """Whether a decision was asked for by the command that was told."""
    if not item.startswith(f"{RECALL}/"):
        return None
    words = f"nmem {asked(item.removeprefix(f'{RECALL}/'))}"
    ran = next((moment for moment, content in after.ran if moment > at and words in content.lower()), None)
    return Judged(True, f"ran {words}"[:90], ran) if ran is not None else None


def _repeated(after: _After, at: int, rare: tuple[str, ...]) -> Judged | None:
    """Whether the agent then spoke in words that it had from the item alone."""
    if len(rare) < 2:
        return None
    left = set(rare)
    for moment, words in after.said:
        if moment > at:
            left -= words
            if len(rare) - len(left) >= min(REPEATED, len(rare)):
                told = ", ".join(word for word in rare if word not in left)
                return Judged(True, f"repeated {told}", moment)
    return None


def _rare(
    db: Connection, project_id: int, items: list[tuple[int, int, str]], asked: frozenset[str]
) -> dict[int, tuple[str, ...]]:
    """Item -> its distinctive words: nobody asked with them, no other item of that telling has them, few turns do."""
    words = {number: dict.fromkeys(tokens(text)) for number, _, text in items}
    most = max(_FEW, COMMON * candidate_store.turns(db, project_id))
    out = {}
    for number, telling, _ in items:
        others = {word for each, other, _ in items if other == telling and each != number for word in words[each]}
        own = [word for word in words[number] if len(word) > 2 and word not in asked | others | _FRAME]
        counts = {word: count for count, word, _ in selection_store.heard(db, project_id, own)}
        rare = sorted(
            (word for word in own if counts.get(word, 0) <= most), key=lambda word: (counts.get(word, 0), word)
        )
        out[number] = tuple(rare[:WORDS])
    return out
