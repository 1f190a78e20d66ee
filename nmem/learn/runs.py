"""An index of the runs of a session that passed, so that each failure need not scan it all."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from nmem.learn.rows import Row

_JOIN = " && "
_FILES, _LINE, _TELLING = 5, 100, 3


class Places:
    """Places of a session in their order."""

    def __init__(self, found: list[int]) -> None:
        self.found = found

    def within(self, start: int, end: int) -> tuple[int, int]:
        """Which of them lie from `start` on and before `end`: a slice of `found`."""
        return bisect_left(self.found, start), bisect_left(self.found, end)


class Changed(NamedTuple):
    """What was changed in a stretch of a session."""

    files: tuple[str, ...]
    """The files that were changed most often."""
    line: str
    """The first line that the last change of the first of them added; empty where none is telling."""
    ids: tuple[int, ...]
    """All changes of these files."""


class Runs:
    """The observations of a session, and the places of what did not fail, by command and by edited file."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows
        self._whole: dict[str, list[int]] = defaultdict(list)
        self._parts: dict[str, list[int]] = defaultdict(list)
        self._edits: dict[str, list[int]] = defaultdict(list)
        for at, row in enumerate(rows):
            if row.edits:
                self._edits[row.path].append(at)
            if not row.failed and row.normal:
                self._whole[row.normal.key].append(at)
                for part in row.normal.parts:
                    self._parts[part].append(at)
        self._known: dict[str, list[int]] = {}
        self.changes = Places([at for at, row in enumerate(rows) if row.edits])
        """Where any file was changed."""
        self.setups = Places([at for at, row in enumerate(rows) if row.sets_up])
        """Where a command made something ready."""
        self._changed: tuple[tuple[int, int], Changed] = (0, 0), Changed((), "", ())

    def passed(self, key: str) -> list[int]:
        """Where a command ran, alone or among others, and did not fail; in order."""
        if key not in self._known:
            parts = [self._parts.get(part, []) for part in dict.fromkeys(key.split(_JOIN))]
            among = set(parts[0]).intersection(*parts[1:])
            self._known[key] = sorted(among.union(self._whole.get(key, ())))
        return self._known[key]

    def next_pass(self, key: str, at: int, within: int) -> int | None:
        """The first place after `at`, at most `within` further on, where a command is known to have passed."""
        places = self.passed(key) if key else []
        for place in places[bisect_right(places, at) :]:
            if place >= at + within:
                break
            if self.rows[place].outcome == "ok":
                return place
        return None

    def edited(self, path: str) -> list[int]:
        """Where a file was changed; in order."""
        return self._edits.get(path, [])

    def changed(self, start: int, end: int) -> Changed | None:
        """What was changed from `start` on and before `end`; None where nothing was.

        Whoever goes through a session asks for nearly the same stretch again and again: the last answer is kept.
        """
        between = self.changes.within(start, end)
        if between[0] == between[1]:
            return None
        if self._changed[0] != between:
            self._changed = between, self._count(*between)
        return self._changed[1]

    def _count(self, first: int, after: int) -> Changed:
        rows = [self.rows[place] for place in self.changes.found[first:after]]
        files = tuple(path for path, _ in Counter([row.path for row in rows]).most_common(_FILES))
        last = next(row for row in reversed(rows) if row.path == files[0])
        lines = (line for line in last.content.split("\n") if line.startswith("+") and len(line.strip()) > _TELLING)
        ids = tuple([row.id for row in rows if row.path in files])
        return Changed(files, next(lines, "")[1:].strip()[:_LINE], ids)
