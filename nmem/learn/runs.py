"""Where in a session a command passes, so that nobody looks through all of it for each failure."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence

from nmem.learn.rows import Row

_JOIN = " && "


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
