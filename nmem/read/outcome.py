"""The outcome of an episode: the one definition for command line, cockpit and agents."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from sqlite3 import Connection

from nmem.episodes import open_ends, units
from nmem.episodes.tally import Seen, Tally
from nmem.read import episode_store

_TAKEN_BACK, _KEPT, _TESTED, _LEFT, _ELSE = range(5)
_COMMITS = re.compile(r"(?:committed|\d+ commits)\b", re.IGNORECASE)
_PUSHED = re.compile(r"\bpushed\b", re.IGNORECASE)
_NOT_COMMITTED = re.compile(r"\d+ (?:changed files? not committed|files? changed, no commit seen)$", re.IGNORECASE)
_TESTS_PASSED = re.compile(r"tests passed\b", re.IGNORECASE)
_TESTS_FAILED = re.compile(r"the last test run that was seen failed|tests? (?:run )?failed\b", re.IGNORECASE)
_BEFORE = "tests passed before the last edits"
_GIVEN_UP = re.compile(r"given up\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Outcome:
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
    return _TESTED if _TESTS_PASSED.match(part) or _TESTS_FAILED.match(part) else _ELSE


def stored(
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


def standing(db: Connection, unit_id: int) -> Outcome:
    """Of an episode that goes on: counted on from the end of its newest turn."""
    unit = units.get(db, unit_id)
    if unit is None:
        return Outcome()
    tally = Tally.of(unit)
    for row in episode_store.done_since(db, unit.session_id, unit.annotated_seq, unit.id):
        tally.add(Seen(row))
    if not tally.count:
        return stored(unit.outcomes, unit.commits, is_open=True)
    columns = tally.columns()
    return stored(columns["outcomes"], columns["commits"], is_open=True)


def _json(text: object) -> object:
    try:
        return json.loads(text) if isinstance(text, str) and text else None
    except ValueError:
        return None
