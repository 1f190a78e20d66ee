"""Reads the turns of a project's sessions and counts each into the tables that file ranking reads. Never in a hook.

A turn (prompt, closing text, commits, touched files) is whole once its session has gone on, stopped or fallen silent.
What it needs (its words, files, branch) is read on demand and written in the caller's transaction: 1.5 ms a turn,
whatever the size of the project. The same turns give the same tables, in however many pieces they came.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import attrgetter
from sqlite3 import Connection

from nmem.context import candidate_store
from nmem.context.candidate_store import Candidates, pack, unpack
from nmem.context.places import Places, absolute, forward, noise
from nmem.context.rank import LONG, PLAIN, SHORT
from nmem.retrieval.terms import base, branch_terms, name_terms, terms
from nmem.store import trace
from nmem.text import json_object

SAID = 3000
"""Characters of the agent's words that count with a turn."""
SILENT = 30 * 60_000
"""After this long without a word, a turn that was not ended is over."""
_EDITS = ("file_edit", "file_write")
_LEAST = 2
"""Paths that must agree before a prefix is believed to be a checkout."""
_SHALLOW = 3
"""A shared prefix of no more folders than this says nothing."""


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
    commit = json_object(metadata).get("commit")
    return str(commit.get("message") or "") if isinstance(commit, dict) else ""


def _holding(turns: list[Turn], at: int) -> Turn:
    """The turn that a time lies in; what came before the first prompt belongs to the first."""
    held = turns[max(0, bisect_right(turns, at, key=attrgetter("at")) - 1)]
    held.end = max(held.end, at)
    return held


class Checkouts(Places):
    """The checkouts of one project, learned in the order of time.

    Each checkout's root is found by votes: a prefix gets a vote from every path whose rest is a file that the project
    is known to have; else by the project's own name among the folders.
    """

    def learn(self, paths: Iterable[str]) -> None:
        """Find the checkouts that paths lie in, and remember the files."""
        loose = []
        for path in sorted({forward(path) for path in paths}):
            if noise(path):
                continue
            name = self.inside(path) if absolute(path) else path
            if name is None:
                loose.append(path)
            else:
                self.known.add(name)
        while loose and (root := self._root(loose)) is not None:
            self.roots.append(root)
            self.known.update(path[len(root) + 1 :] for path in loose if path.startswith(root + "/"))
            loose = [path for path in loose if not path.startswith(root + "/")]

    def _root(self, paths: list[str]) -> str | None:
        """The prefix that most paths agree on."""
        return self._voted(paths) or self._named(paths) or self._common(paths)

    def _voted(self, paths: list[str]) -> str | None:
        votes: dict[str, int] = {}
        for path in paths:
            at = path.find("/", 1)
            while at >= 0:
                if path[at + 1 :] in self.known:
                    votes[path[:at]] = votes.get(path[:at], 0) + 1
                at = path.find("/", at + 1)
        root = max(votes, key=lambda one: (votes[one], len(one)), default=None)
        return root if root is not None and votes[root] >= _LEAST else None

    def _named(self, paths: list[str]) -> str | None:
        """The folder with the project's name, or one that begins with it, that holds most of the paths."""
        held: dict[tuple[str, bool, int], int] = {}
        for path in paths:
            parts = path.split("/")
            for depth, part in enumerate(parts[:-1], 1):
                low = part.lower()
                exact = low == self.name
                if exact or (low.startswith(self.name) and not low[len(self.name)].isalnum()):
                    key = ("/".join(parts[:depth]), exact, -depth if exact else depth)
                    held[key] = held.get(key, 0) + 1
        if not held:
            return None
        (root, _, _), count = max(held.items(), key=lambda item: (item[1], item[0][1:]))
        return root if count * 2 >= len(paths) else None

    def _common(self, paths: list[str]) -> str | None:
        """What all paths share, where no checkout is known at all."""
        if self.roots or len(paths) < _LEAST:
            return None
        first, last = min(paths).split("/")[:-1], max(paths).split("/")[:-1]
        shared = 0
        while shared < min(len(first), len(last)) and first[shared] == last[shared]:
            shared += 1
        return "/".join(first[:shared]) if shared > _SHALLOW else None


# counting

RULES = "2"
"""Counted up when folding changes: tables made by other rules are made again."""


class Counted:
    """What a session has been counted for."""

    __slots__ = ("branch", "edited", "facts", "last_at", "number", "read", "turns")

    def __init__(self) -> None:
        self.number = 0
        self.branch = ""
        self.turns = 0
        self.facts = ""
        self.last_at = -1
        self.edited: set[int] = set()
        self.read: set[int] = set()


class Folder:
    """Folds the turns of one project."""

    def __init__(self, db: Connection, project_id: int, name: str) -> None:
        self.tables = Candidates(db, project_id, RULES)
        self._before = self.tables.files
        self.places = Checkouts(name, (path for _, path in self.tables.paths()), self.tables.roots)
        self._met: dict[str, int] = {}
        self._warmed: dict[int, dict[str, float | None]] = {}
        """Numbers of files, and the columns of those that turns changed; both until `close`, with its transaction."""
        self._counted: dict[str, Counted] = {}

    def counted(self, session_id: str) -> Counted:
        """What a session has been counted for so far."""
        found = self._counted.get(session_id)
        if found is None:
            found = self._counted[session_id] = Counted()
            if row := self.tables.session(session_id):
                found.number, found.branch, found.turns, found.facts, found.last_at = row[:5]
                found.edited, found.read = set(unpack(row[5])), set(unpack(row[6]))
        return found

    def turn(self, turn: Turn, past: Past) -> None:
        """Fold one turn; turns come in their order."""
        one = self.counted(turn.session_id)
        self.rebranch(one, past.branch)
        self.tables.upto = turn.order
        one.turns += 1
        self.places.learn((*turn.edited, *turn.read))
        edited, read = self._numbers(turn.edited), self._numbers(turn.read)
        if not edited and not read:
            return
        self._bag(turn, edited, read)
        if not one.number:
            self.tables.sessions += 1
            one.number = self.tables.sessions
        new = [file for file in edited if file not in one.edited]
        self._warm(new, ("edit_heat", SHORT), ("long_heat", LONG))
        self._warm([file for file in read if file not in one.read], ("read_heat", SHORT))
        self._on_branch(one.branch, new, 1)
        one.edited.update(edited)
        one.read.update(read)

    def rebranch(self, one: Counted, branch: str) -> None:
        """A session is on another branch than it was counted for."""
        if one.branch != branch:
            self._on_branch(one.branch, sorted(one.edited), -1)
            one.branch = branch
            self._on_branch(branch, sorted(one.edited), 1)

    def store(self, pasts: Iterable[Past]) -> None:
        """Write how far sessions have come."""
        for past in pasts:
            one = self.counted(past.session_id)
            whole = one.turns == len(past.turns) and not past.waiting
            self.tables.put_session(past.session_id, (
                one.number, one.branch, one.turns, past.facts(one.turns), past.last_at if whole else -1,
                pack(sorted(one.edited)), pack(sorted(one.read)),
            ))  # fmt: skip

    def close(self) -> None:
        """Write what is left; the caller commits."""
        self.tables.terms.flush()
        self.tables.put_warmth(self._warmed)
        self._warmed.clear()
        self._met.clear()
        if self.tables.files > self._before:
            self._weigh_names()
            self._before = self.tables.files
        self.tables.names.flush()
        self.tables.roots = self.places.roots
        self.tables.put_counts()

    def _numbers(self, paths: list[str]) -> list[int]:
        names = dict.fromkeys(name for path in paths if (name := self.places.name_of(path)))
        return [self._file(name) for name in names]

    def _file(self, path: str) -> int:
        found = self._met.get(path)
        if found is None:
            found = self._met[path] = self.tables.file(path) or self._add(path)
        return found

    def _add(self, path: str) -> int:
        number = self.tables.add_file(path)
        for word in (*name_terms(path), "=" + base(path)):
            self.tables.names.append(word, number)
        return number

    def _weigh_names(self) -> None:
        """Weigh every file's name anew: each new file makes some words more common. A name has one weight anywhere."""
        named = [(file, path.rpartition("/")[2]) for file, path in self.tables.paths()]
        files, count = self.tables.files, self.tables.names.count
        weight = {
            name: sum([idf(files, count(word)) for word in _name_terms(name)]) or 1.0
            for name in {name for _, name in named}
        }
        self.tables.weigh((weight[name], file) for file, name in named)

    def _bag(self, turn: Turn, edited: list[int], read: list[int]) -> None:
        """The turn and its words."""
        bag = sorted({term for text in turn.text for term in _terms(text)})
        self.tables.turns = number = self.tables.turns + 1
        words = self.tables.terms
        for term in bag:
            words.append(term, number)
        norm = math.sqrt(sum(idf(number, words.count(term)) ** 2 for term in bag)) or 1.0
        self.tables.put_turn(turn.at, turn.prompt_id, norm, edited, read)
        for file in edited:
            self._held(file)["last_turn"] = number

    def _warm(self, files: Iterable[int], *columns: tuple[str, float]) -> None:
        """One more session for each file; heat - now / half-life is the log2 of the decayed count."""
        for file in files:
            held = self._held(file)
            for column, half_life in columns:
                now, heat = self.tables.sessions / half_life, held[column]
                held[column] = now if heat is None else now + math.log2(2.0 ** max(heat - now, -60.0) + 1.0)

    def _held(self, file: int) -> dict[str, float | None]:
        """The columns of a file that turns change: read once, written by `close`."""
        held = self._warmed.get(file)
        if held is None:
            held = self._warmed[file] = self.tables.warmth(file)
        return held

    def _on_branch(self, branch: str, files: list[int], by: int) -> None:
        """A session that edited these files counts, or no longer counts, for the words of a branch."""
        if branch.lower() not in PLAIN and files:
            self.tables.on_branch(branch_terms(branch), files, by)


@lru_cache(maxsize=20_000)
def _terms(text: str) -> tuple[str, ...]:
    """The distinct terms of a text; a replay reads each many times."""
    return tuple(terms(text))


_name_terms = lru_cache(maxsize=20_000)(name_terms)


def idf(all_of_them: int, with_it: int) -> float:
    """How much a word says, from how many have it."""
    return math.log(1.0 + all_of_them / (1.0 + with_it))
