"""Reads episodes for the cockpit and the command line: the current one, and the list of all.

Every function takes a connection of `nmem.database.reader` and gives frozen dataclasses; a database without the tables
of meaning has no episodes. Text is as stored: whoever prints it passes it through `nmem.text.printable`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from sqlite3 import Connection, Row
from typing import NamedTuple

from nmem import tables
from nmem.episodes import open_ends, units
from nmem.episodes.tally import Seen, Tally
from nmem.episodes.unit import shown
from nmem.read import episode_store
from nmem.read.episode_store import COUNTED, Filter, Thread
from nmem.read.store import Effort, HotFile, effort, hot_files
from nmem.text import json_list

PAGE = 1000
_CHUNK = 400


class CurrentUnit(NamedTuple):
    """The episode that a session is in, counted up to now."""

    id: int
    name: str
    """The person's own name for it, else its opening prompt."""
    titled: bool
    started_at: int
    active_ms: int
    turns: int
    cut_reason: str
    cut_confidence: float
    cut_by: str
    resumes: str
    """The name of the earlier episode that it goes on with, if it does."""
    pinned: bool
    effort: Effort
    hot: tuple[HotFile, ...]
    outcome: Outcome
    thread: Thread | None
    done: tuple[str, ...] = ()
    """What its story says was done, told at the end of a turn."""
    left: tuple[str, ...] = ()
    """What fails or is open, as far as nothing closed it since."""


class EpisodeRow(NamedTuple):
    """One line of the list."""

    id: int
    session_id: str
    thread_id: int | None
    thread: str
    project: str
    name: str
    state: str
    resumes: bool
    pinned: bool
    started_at: int
    last_at: int
    active_ms: int
    turns: int
    outcome: Outcome
    friction: float | None
    narrated: bool
    offered: int
    """Places in it where it was nearly cut."""
    files: int = 0
    """Files that it changed."""


class Slot(NamedTuple):
    """Where an episode stands in the list."""

    last_at: int
    id: int
    thread_id: int | None
    """A line of work over several sessions; None: the session is by itself."""


class Stamp(NamedTuple):
    """Changes when the list may have changed."""

    units: int = 0
    newest_id: int = 0
    newest_at: int = 0


@dataclass(frozen=True, slots=True)
class Page:
    """A stretch of the list, newest first; `total` counts all that match, at most COUNTED; `more`: not counted."""

    slots: tuple[Slot, ...]
    total: int
    stamp: Stamp
    rows: dict[int, EpisodeRow] = field(default_factory=dict)
    more: bool = False


def present(db: Connection) -> bool:
    """Whether the tables of meaning are there."""
    return tables.version(db) > 0


# the current one


def current(db: Connection, session_id: str) -> CurrentUnit | None:
    """The episode that a session is in, or None when none is known."""
    if not present(db):
        return None
    row = episode_store.current(db, session_id)
    if row is None:
        return None
    since = row["started_at"]
    return CurrentUnit(
        row["id"], shown(row["title"] or row["agent_title"], row["heading"], row["intent"]), bool(row["title"]),
        since, row["active_ms"], row["turn_count"], row["cut_reason"], row["cut_confidence"], row["cut_by"],
        shown(None, row["earlier_title"], row["earlier_intent"] or ""),
        bool(row["pinned"]), effort(db, session_id, since), hot_files(db, session_id, since=since),
        _outcome(db, row), episode_store.thread(db, row["thread_id"]), texts(row["completed"]),
        left(db, row),
    )  # fmt: skip


def _outcome(db: Connection, row: Row) -> Outcome:
    """How an episode of these columns stands: one that goes on, as of now."""
    if row["state"] == "open":
        return outcome_now(db, row["id"])
    return outcome_of(row["outcomes"], row["commits"], ended=row["told_end"], marks=row["told_marks"])


def texts(stored: object) -> tuple[str, ...]:
    """A list column; a plain text is a list of one."""
    found = json_list(stored)
    if found:
        return tuple(str(each) for each in found)
    return (stored,) if isinstance(stored, str) and stored and not stored.startswith("[") else ()


def left(db: Connection, unit: Row) -> tuple[str, ...]:
    """The open ends of its story without those that were closed since."""
    told_at = min(unit["last_at"], unit["narrated_at"] or unit["last_at"])
    return tuple(open_ends.left(db, unit["session_id"], told_at, texts(unit["next_steps"])))


# the list


def page(
    db: Connection, before: Slot | None, query: Filter, limit: int = PAGE, project: str = "", *, counted: bool = True
) -> Page:
    """The newest `limit` episodes before a slot, or of all; without `counted` those of a full page stand for all."""
    if not present(db):
        return Page((), 0, Stamp())
    slots = _slots(db, before, query, limit, project)
    more = before is None and len(slots) == limit
    total = episode_store.count(db, query, project) if more and counted else len(slots)
    first = rows(db, [slot.id for slot in slots[:64]]) if before is None else {}
    return Page(slots, total, stamp(db), first, more and not counted)


def older(db: Connection, before: Slot, query: Filter, project: str = "", limit: int = COUNTED) -> tuple[Slot, ...]:
    """The newest `limit` episodes before a slot: the whole rest of the list, as a rule."""
    return _slots(db, before, query, limit, project, rest=True) if present(db) else ()


def _slots(
    db: Connection, before: Slot | None, query: Filter, limit: int, project: str, *, rest: bool = False
) -> tuple[Slot, ...]:  # fmt: skip
    place = (before.last_at, before.id) if before else None
    return tuple(Slot(*one) for one in episode_store.slots(db, place, query, limit, project, rest=rest))


def stamp(db: Connection) -> Stamp:
    """What tells a changed list from an unchanged one, at the cost of an index."""
    return Stamp(*episode_store.stamp(db)) if present(db) else Stamp()


def _row(db: Connection, row: Row) -> EpisodeRow:
    return EpisodeRow(
        row["id"], row["session_id"], row["thread_id"], row["thread"], row["project"],
        shown(row["title"] or row["agent_title"], row["heading"], row["intent"]),
        row["state"], row["resumes"] is not None, bool(row["pinned"]), row["started_at"], row["last_at"],
        row["active_ms"], row["turn_count"], _outcome(db, row), row["friction"],
        bool(row["narrator"]), row["offered"], row["files"],
    )  # fmt: skip


def rows(db: Connection, ids: Sequence[int]) -> dict[int, EpisodeRow]:
    """The rows of at most a few hundred episodes."""
    return {row["id"]: _row(db, row) for row in episode_store.rows(db, ids)} if ids and present(db) else {}


def in_order(db: Connection, ids: Sequence[int]) -> list[EpisodeRow]:
    """The rows of as many episodes as there are, in this order."""
    known: dict[int, EpisodeRow] = {}
    for begin in range(0, len(ids), _CHUNK):
        known |= rows(db, ids[begin : begin + _CHUNK])
    return [known[each] for each in ids if each in known]


def siblings(db: Connection, unit_id: int, limit: int = 200) -> list[EpisodeRow]:
    """The episodes of the same session, in the order of time."""
    return in_order(db, episode_store.of_session(db, episode_store.session_of(db, unit_id) or "", limit))


def earlier(db: Connection, unit_id: int, limit: int = 300) -> list[EpisodeRow]:
    """Episodes of the same project that began before this one, newest first: what it may go on with."""
    return in_order(db, episode_store.earlier(db, unit_id, limit))


# how an episode stands: the one definition for command line, cockpit and agents


_TAKEN_BACK, _KEPT, _TESTED, _LEFT, _ELSE = range(5)
_COMMITS = re.compile(r"(?:committed|\d+ commits)\b", re.IGNORECASE)
_PUSHED = re.compile(r"\bpushed\b", re.IGNORECASE)
_NOT_COMMITTED = re.compile(r"\d+ (?:changed files? not committed|files? changed, no commit seen)$", re.IGNORECASE)
_TESTS_PASSED = re.compile(r"tests passed\b", re.IGNORECASE)
_TESTS_FAILED = re.compile(r"the last test run that was seen failed|tests? (?:run )?failed\b", re.IGNORECASE)
_NO_TEST = re.compile(r"a script written for this \(|tests could not run\b", re.IGNORECASE)
"""A script that the episode made is no test of the project, and a test that could not run says nothing."""
_BEFORE = "tests passed before the last edits"
_GIVEN_UP = re.compile(r"given up\b", re.IGNORECASE)


class Outcome(NamedTuple):
    """How an episode stands, or ended."""

    tests: str = ""
    """passed, failed, or nothing when no test ran."""
    commits: int = 0
    pushed: bool = False
    abandoned: bool = False
    reverted: bool = False
    edited: bool = False
    """Files were changed since the last commit."""
    untested: bool = False
    """Files were changed since the last test run."""

    @property
    def words(self) -> str:
        """The same in a few words: `committed, tests pass`; empty where nothing is known."""
        return ", ".join(text for _, text in self._facts())

    def _facts(self) -> Iterator[tuple[int, str]]:
        """What is known, each with its place in a sentence."""
        if self.reverted:
            yield _TAKEN_BACK, "reverted"
        if self.pushed or self.commits:
            yield _KEPT, ("pushed" if self.pushed else "committed") + (", edited since" if self.edited else "")
        if self.tests:
            yield _TESTED, self.tested
        if self.abandoned and not self.reverted:
            yield _LEFT, "abandoned"

    @property
    def tested(self) -> str:
        """How the newest tests ended; those that passed before the last edits say nothing of these."""
        if self.tests != "passed":
            return "tests fail" if self.tests else ""
        return _BEFORE if self.untested else "tests pass"

    def sentence(self, told: str) -> str:
        """The same with what a story tells of the end beyond it; what the story says against it is left out."""
        parts = [part for part in told.split("; ") if part]
        said = [(_place(part), _lowered(part)) for part in parts if self._agrees(part)]
        places = {place for place, _ in said}
        left = _LEFT in places or _TAKEN_BACK in places
        known = [one for one in self._facts() if one[0] not in places and not (one[0] == _LEFT and left)]
        text = "; ".join(part for _, part in sorted([*known, *said], key=lambda one: one[0]))
        return text[:1].upper() + text[1:]

    def _agrees(self, part: str) -> bool:
        """Whether a part of a told end says nothing against this."""
        if _COMMITS.match(part) or _PUSHED.match(part):
            return bool(self.commits or not _COMMITS.match(part)) and self.pushed == bool(_PUSHED.search(part))
        if _NOT_COMMITTED.match(part):
            return not self.commits
        if _TESTS_PASSED.match(part):
            return self.tests == "passed"
        if _TESTS_FAILED.match(part):
            return self.tests == "failed"
        return not _GIVEN_UP.match(part) or self.abandoned or self.reverted


def _lowered(part: str) -> str:
    """A part of a told end as it stands within a sentence; a name such as JWT or GitHub keeps its capitals."""
    first = part.split(" ", 1)[0]
    return part[:1].lower() + part[1:] if first == first.capitalize() else part


def _place(part: str) -> int:
    """Where a part of a told end stands in a sentence: by which fact it tells."""
    if _GIVEN_UP.match(part):
        return _TAKEN_BACK
    if _COMMITS.match(part) or _PUSHED.match(part):
        return _KEPT
    return _TESTED if any(one.match(part) for one in (_NO_TEST, _TESTS_PASSED, _TESTS_FAILED)) else _ELSE


def outcome_of(
    outcomes: object, commits: object, *, is_open: bool = False, ended: object = None, marks: object = None
) -> Outcome:
    """From the columns `outcomes` and `commits`; work that goes on is not abandoned.

    `ended`, `marks`: of its story, which knows what of the edits a test judges and a commit could hold.
    """
    known, made = _json(outcomes), _json(commits)
    flags = known if isinstance(known, dict) else {}
    tests, end = open_ends.ending(flags)
    count = len(made) if isinstance(made, list) else 0
    made_any = count or int(bool(flags.get("committed")))
    edited, untested = bool(flags.get("uncommitted")), bool(flags.get("untested"))
    if isinstance(ended, str) and isinstance(marks, str):
        edited, untested = '"uncommitted"' in marks, _BEFORE in ended.lower()
    return Outcome(
        tests, made_any, bool(flags.get("pushed")), bool(flags.get("abandoned")) and not is_open, end == "reverted",
        edited and bool(made_any or flags.get("pushed")), untested and tests == "passed",
    )  # fmt: skip


def outcome_now(db: Connection, unit_id: int) -> Outcome:
    """Of an episode that goes on: counted on from the end of its newest turn."""
    unit = units.get(db, unit_id)
    if unit is None:
        return Outcome()
    tally = Tally.of(unit)
    for row in episode_store.done_since(db, unit.session_id, unit.annotated_seq, unit.id):
        tally.add(Seen(row))
    if not tally.count:
        return outcome_of(unit.outcomes, unit.commits, is_open=True)
    columns = tally.columns()
    return outcome_of(columns["outcomes"], columns["commits"], is_open=True)


def _json(text: object) -> object:
    try:
        return json.loads(text) if isinstance(text, str) and text else None
    except ValueError:
        return None
