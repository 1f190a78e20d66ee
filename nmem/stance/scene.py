"""Collects the input of advice: the newest calls, their totals, a failing test, the background. Pure, incremental."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from nmem.stance.model import Call, Compared, Stuck
from nmem.stance.stuck import Tracker
from nmem.stance.trajectory import LONG, Trajectory

WEEK = 604_800_000
"""Milliseconds that being stuck is remembered."""
_CHANGES = frozenset(("file_edit", "file_write"))
_SHIPS = frozenset(("git_commit", "git_push"))


@dataclass(frozen=True, slots=True)
class Red:
    """A test run that failed and was not run again, and what came after it."""

    command: str
    calls: int = 0
    ships: int = 0
    """Commits and pushes."""
    edits: int = 0
    prompts: int = 0
    """Prompts of the user since."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """An earlier episode of the project that ended badly."""

    unit_id: int
    title: str
    at: int
    end: str
    """abandoned, reverted, or with failing tests."""
    files: frozenset[str]
    """Those it changed."""


@dataclass(frozen=True, slots=True)
class Background:
    """What is known from before the session, or the episode, that is looked at."""

    usual: tuple[Compared, ...] = ()
    earlier: tuple[Earlier, ...] = ()
    """The newest first."""
    stuck: tuple[Stuck, ...] = ()
    """Of the last seven days, in other sessions."""
    next_steps: tuple[str, ...] = ()
    """What the newest told episode of the project left to do."""
    at: int = 0
    """When this was read."""


class Newest:
    """What the newest calls amount to; `add` takes one observation after the other."""

    __slots__ = ("_red", "_red_prompts", "changed", "fresh", "last", "thinks", "thinks_since")

    def __init__(self) -> None:
        self.last: deque[Call] = deque(maxlen=LONG)
        self.thinks = 0
        """Thinking calls since the last that acted."""
        self.thinks_since = 0
        self.changed: set[str] = set()
        self.fresh: deque[tuple[int, str]] = deque(maxlen=8)
        """Files changed for the first time, with the number of the call."""
        self._red: Red | None = None
        self._red_prompts: set[int | None] = set()

    def add(self, call: Call, order: int) -> None:
        """Take one observation in, the `order`-th."""
        self.last.append(call)
        if call.phase is not None:
            if call.phase >= 0:
                self.thinks = 0
            else:
                self.thinks += 1
                self.thinks_since = self.thinks_since if self.thinks > 1 else call.at
        if call.obs_type in _CHANGES and call.path and call.outcome != "failed" and call.path not in self.changed:
            self.changed.add(call.path)
            self.fresh.append((order, call.path))
        self._test(call)

    def _test(self, call: Call) -> None:
        if call.obs_type == "test" and call.outcome != "unknown":
            self._red = Red(call.content) if call.failed else None
            self._red_prompts = {call.prompt_id}
        elif self._red is not None:
            red, ok = self._red, call.outcome != "failed"
            self._red_prompts.add(call.prompt_id)
            self._red = Red(
                red.command, red.calls + 1, red.ships + (ok and call.obs_type in _SHIPS),
                red.edits + (ok and call.obs_type in _CHANGES), len(self._red_prompts) - 1,
            )  # fmt: skip

    @property
    def red(self) -> Red | None:
        """The failing test that the session went on from, or None."""
        return self._red


class Session:
    """Everything that is followed of a session or episode, fed by one `add`."""

    __slots__ = ("newest", "tracker", "way")

    def __init__(self, scope_base: float) -> None:
        self.way = Trajectory(scope_base)
        self.tracker = Tracker()
        self.newest = Newest()

    def add(self, call: Call) -> None:
        """Take one observation in."""
        self.way.add(call)
        self.tracker.add(call)
        self.newest.add(call, self.way.observations)
