"""Reads the turns of a project's sessions: prompt, closing text and commits, and touched files.

All that folding reads of the past is read here; a turn is whole once its session has gone on, stopped or fallen silent.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from sqlite3 import Connection

from nmem.context import candidate_store
from nmem.store import trace

SAID = 3000
"""Characters of the agent's words that count with a turn."""
SILENT = 30 * 60_000
"""After this long without a word, a turn that was not ended is over."""
_EDITS = ("file_edit", "file_write")


@dataclass(slots=True)
class Turn:
    """One user prompt and what followed it in its session, up to the next."""

    session_id: str
    prompt_id: int
    at: int
    prompt: str
    end: int
    """The time of the last fact in it: turns are folded in this order."""
    said: list[str] = field(default_factory=list)
    commits: list[str] = field(default_factory=list)
    edited: list[str] = field(default_factory=list)
    read: list[str] = field(default_factory=list)

    @property
    def order(self) -> tuple[int, int]:
        """Where it stands among the turns of its project."""
        return self.end, self.prompt_id

    @property
    def text(self) -> tuple[str, ...]:
        """The texts that its words come from."""
        return self.prompt, " ".join(self.said)[:SAID], " ".join(self.commits)


@dataclass(slots=True)
class Past:
    """A session and its whole turns."""

    session_id: str
    branch: str
    last_at: int
    turns: list[Turn]
    waiting: bool
    """Whether it has a turn that is not whole yet."""

    def facts(self, count: int) -> str:
        """A digest of the first `count` turns: others, and they must be folded again."""
        turns = self.turns[:count]
        lists = zip(*((turn.said, turn.commits, turn.edited, turn.read) for turn in turns), strict=True)
        sums = (sum(map(len, each)) for each in lists)
        return "/".join(map(str, (len(turns), sum(turn.prompt_id for turn in turns), *sums)))


def session(db: Connection, session_id: str, now: int, *, partly: bool = False) -> Past | None:
    """A session's turns, oldest first. `partly`: also the one that is still going on, as far as it has come."""
    row = candidate_store.session(db, session_id)
    if row is None:
        return None
    branch, last_at, state = row
    turns = _turns(db, session_id)
    waiting = bool(turns) and state == "working" and last_at > now - SILENT and not partly
    return Past(session_id, branch or "", last_at, turns[:-1] if waiting else turns, waiting)


def sessions(db: Connection, project_id: int, now: int, *, partly: bool = False, without: str = "") -> Iterator[Past]:
    """The project's sessions that have turns; `without` leaves out one, the present one."""
    for session_id in candidate_store.session_ids(db, project_id):
        past = session(db, session_id, now, partly=partly) if session_id != without else None
        if past is not None and past.turns:
            yield past


def in_order(pasts: Sequence[Past]) -> list[tuple[Turn, Past]]:
    """All turns of several sessions, in the order in which they are folded."""
    return sorted(((turn, past) for past in pasts for turn in past.turns), key=lambda pair: pair[0].order)


def _turns(db: Connection, session_id: str) -> list[Turn]:
    turns = [Turn(session_id, number, at, text, at) for number, at, text in candidate_store.asked(db, session_id)]
    if turns:
        for at, content in candidate_store.answered(db, session_id):
            _holding(turns, at).said.append(content)
        _touched(db, session_id, turns)
        if trace.swept(db, session_id):
            _retold(db, session_id, turns)
    return turns


def _retold(db: Connection, session_id: str, turns: list[Turn]) -> None:
    """Turns whose words are forgotten speak in those of their episode: what it was about, and what came of it."""
    told = candidate_store.stories(db, session_id)
    for turn in turns:
        intent, summary = told.get(turn.prompt_id, ("", ""))
        turn.prompt = turn.prompt or intent
        if not turn.said and summary:
            turn.said.append(summary)


def _touched(db: Connection, session_id: str, turns: list[Turn]) -> None:
    """Files and commits, each in the turn that its time lies in."""
    for at, kind, path, metadata, _ in candidate_store.touched(db, session_id):
        turn = _holding(turns, at)
        if kind == "git_commit":
            message = _message(metadata)
            if message:
                turn.commits.append(message)
        elif path:
            (turn.edited if kind in _EDITS else turn.read).append(path)


def _message(metadata: str | None) -> str:
    """The message of a commit."""
    try:
        found = json.loads(metadata or "{}")
    except ValueError:
        return ""
    commit = found.get("commit") if isinstance(found, dict) else None
    return str(commit.get("message") or "") if isinstance(commit, dict) else ""


def _holding(turns: list[Turn], at: int) -> Turn:
    """The turn that a time lies in; what came before the first prompt belongs to the first."""
    held = turns[max(0, bisect_right(turns, at, key=attrgetter("at")) - 1)]
    held.end = max(held.end, at)
    return held
