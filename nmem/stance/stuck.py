"""Detects a stuck session: the same command, or calls on one file, fail repeatedly. Pure, incremental.

A stuck stretch is at least three failures of one thing with no success of it in between, none more than an hour after
the one before. One thing is a command as it was typed (a test, build or lint: as learnings know it, apart from its
options), or a file that calls failed on. A command's stretch is also one of each file that was changed at least twice
in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

from nmem.learn import commands
from nmem.stance.model import Call, Stuck

ENOUGH = 3
GAP = 3_600_000
NOW = 12
"""So many calls after its last failure a stretch still counts as the present."""
_RUN = frozenset(("test", "build", "lint"))
_COMMANDS = _RUN | {"command", "install", "git_commit", "git_push", "git_other", "github"}
_CHANGES = frozenset(("file_edit", "file_write"))
_OPEN = 64
"""Things that fail at a time; the oldest is forgotten."""


def key(call: Call) -> tuple[str, str] | None:
    """What a call is one more try of: ("command", text) or ("file", path); None for what has no tries."""
    if call.obs_type in _COMMANDS and call.content:
        return "command", command(call.content, options=call.obs_type not in _RUN)
    return ("file", call.path) if call.path else None


@lru_cache(maxsize=4096)
def command(text: str, *, options: bool = True) -> str:
    """A command without the folder it runs in, and without what only shortens its output.

    Without `options` it is what learnings call it, where they do.
    """
    normal = None if options else commands.normalise(text)
    return normal.key if normal else commands.typed(text)


class Tries:
    """A thing that fails, since its first failure."""

    __slots__ = ("edits", "failures", "first", "kind", "last", "name", "order", "text")

    def __init__(self, kind: str, name: str, call: Call, order: int) -> None:
        self.kind, self.name, self.text = kind, name, call.content or name
        self.first = self.last = call.at
        self.failures = 1
        self.order = order
        """Which call of the session failed last."""
        self.edits: Counter[str] = Counter()


class Tracker:
    """Follows what fails; `add` takes one observation after the other."""

    __slots__ = ("_open", "done", "order")

    def __init__(self) -> None:
        self._open: dict[tuple[str, str], Tries] = {}
        self.done: list[tuple[Tries, bool]] = []
        """Stretches that are over, and whether they ended in success."""
        self.order = 0

    @classmethod
    def of(cls, calls: Iterable[Call]) -> Tracker:
        """Everything that failed in some observations."""
        out = cls()
        for call in calls:
            out.add(call)
        return out

    def add(self, call: Call) -> None:
        """Take one observation in."""
        self.order += 1
        if call.obs_type in _CHANGES and call.outcome != "failed":
            for each in self._open.values():
                each.edits[call.path] += 1
        if call.outcome == "unknown" or (not self._open and call.outcome != "failed"):
            return
        what = key(call)
        if what is None:
            return
        tries = self._open.get(what)
        if tries is not None and call.at - tries.last > GAP:
            self._close(what, over=False)
            tries = None
        if call.outcome != "failed":
            if tries is not None:
                self._close(what, over=True)
        elif tries is None:
            self._begin(what, call)
        else:
            tries.failures += 1
            tries.last, tries.order, tries.text = call.at, self.order, call.content or tries.name

    def _begin(self, what: tuple[str, str], call: Call) -> None:
        if len(self._open) >= _OPEN:
            self._close(next(iter(self._open)), over=False)
        self._open[what] = Tries(*what, call, self.order)

    def _close(self, what: tuple[str, str], *, over: bool) -> None:
        tries = self._open.pop(what)
        if tries.failures >= ENOUGH:
            self.done.append((tries, over))

    def now(self) -> Tries | None:
        """What the session is stuck on now: the most often failed of what failed lately and did not succeed since."""
        found = [each for each in self._open.values()
                 if each.failures >= ENOUGH and self.order - each.order <= NOW]  # fmt: skip
        return max(found, key=lambda each: (each.failures, each.order), default=None)

    def all(self, session_id: str) -> list[Stuck]:
        """Every stuck stretch, the oldest first."""
        going = [(each, False) for each in self._open.values() if each.failures >= ENOUGH]
        found = [stuck(tries, session_id, over=over) for tries, over in (*self.done, *going)]
        return sorted(found, key=lambda each: (each.started_at, each.key))


def stuck(tries: Tries, session_id: str, *, over: bool = False) -> Stuck:
    """A stretch as it is told."""
    files = tuple(sorted(path for path, edits in tries.edits.items() if path and edits >= 2))
    return Stuck(tries.kind, tries.name, session_id, tries.first, tries.last, tries.failures, over, files)


def hours(found: Iterable[Stuck], of: Stuck, since: int) -> tuple[int, int, str]:
    """How often the same thing was stuck since a time, `of` included: (times, milliseconds, which thing).

    The thing is the file that it has most often in common with earlier stretches, else the command. Stretches of it
    that begin within an hour of the end of the one before are one stuck hour.
    """
    earlier = [each for each in found if each.ended_at >= since]
    named: Counter[tuple[str, str]] = Counter()
    for thing in things(of):
        named[thing] = sum(thing in things(each) for each in earlier)
    best = max(named, key=lambda thing: (named[thing], thing[0] == "file"))
    mine = sorted((each for each in (*earlier, of) if best in things(each)), key=lambda each: each.started_at)
    times, total, end = 0, 0, -GAP
    for each in mine:
        times += each.started_at - end > GAP or not times
        total += max(0, each.ended_at - max(each.started_at, end))
        end = max(end, each.ended_at)
    return times, total, best[1]


def things(one: Stuck) -> set[tuple[str, str]]:
    """All that a stretch counts for."""
    return {(one.kind, one.key), *(("file", path) for path in one.files)}
