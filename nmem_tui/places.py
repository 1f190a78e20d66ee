"""Where a person has been in the cockpit, so that one key leads back: screen, session, row."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

MOST = 100
"""So many places are remembered; of more, the oldest are forgotten."""


@dataclass(frozen=True, slots=True)
class Place:
    """One place."""

    mode: str
    """The numbered screen."""
    session: str
    """The session that was shown; empty: none yet."""
    anchor: Hashable = None
    """What the screen itself needs to find the place again; only the screen reads it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The anchor of a question of the review that was left to read what it is about."""

    queue: str
    key: tuple[str, int]


class Places:
    """The places that were left, the newest last."""

    def __init__(self) -> None:
        self._left: list[Place] = []

    def __len__(self) -> int:
        return len(self._left)

    def leave(self, place: Place) -> None:
        """Remember a place that is left; twice the same is one."""
        if not self._left or self._left[-1] != place:
            self._left.append(place)
            del self._left[:-MOST]

    @property
    def last(self) -> Place | None:
        """The one that was left last."""
        return self._left[-1] if self._left else None

    def back(self, here: Place) -> Place | None:
        """The last place that is another one than where one is; None where there is none."""
        while self._left:
            place = self._left.pop()
            if place != here:
                return place
        return None

    def leads(self, here: Place) -> bool:
        """Whether there is somewhere to go back to."""
        return any(place != here for place in reversed(self._left))

    def clear(self) -> None:
        """There is no way back any more."""
        self._left.clear()
