"""Finds the earlier episode that a session continues, once it has a prompt. On the hook's path.

Explicit: a person chose a thread; then that thread alone is told. Said: the prompt leans on what came before by its
own words (nmem.threads.leaning). Placed: earlier work on the same branch that the prompt speaks of. Just before: the
session just before spoke of the same. Linked: the thread that the prompt begins continues an earlier one
(nmem.threads.arrival).
"""

from __future__ import annotations

from nmem.context import pointing, selection_store, settled
from nmem.context.alike import speaking
from nmem.context.episodes import GOES_ON, changed, tell_continued
from nmem.context.items import Item
from nmem.threads import arrival
from nmem.threads.arrival import Evidence
from nmem.threads.config import TRUNKS
from nmem.threads.continuity import CHOSEN, apart, proposed
from nmem.threads.leaning import Leaning, leaning, of_a_branch
from nmem.threads.store import shared

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from nmem.context.present import Present

HOUR = 3_600_000
SAID, PLACED, JUST_NOW = 7 * 24 * HOUR, 48 * HOUR, 2 * HOUR
"""How long ago the work may lie that a prompt leans on, that was on the same branch, that came just before."""
_ALIKE, _SAME = 0.08, 0.15
"""The part of a prompt that work on its own branch must speak of, and work that nothing but the prompt points at."""
_LIKELY, _SURE = 0.4, 0.7
"""How likely a prompt must continue work on its own branch, and work that nothing but the prompt points at."""
_MUCH = 0.25
"""The part of a prompt from which on a link alone says that the work goes on, on whatever branch it was."""
_SESSIONS = 12
"""The newest sessions of a project that are looked at."""


class Continued:
    """What a session goes on with: the item, and the thread that alone is told of when a person chose it."""

    __slots__ = ("item", "thread_id")

    def __init__(self, item: Item | None = None, thread_id: int | None = None) -> None:
        self.item = item
        self.thread_id = thread_id


def continued(db: Connection, present: Present) -> Continued:
    """The episode that the session goes on with; nothing when nothing says so. Raises sqlite3.Error."""
    if present.unit_id is not None and selection_store.has_others(db, present.session_id, present.unit_id):
        return Continued()
    thread_id = chosen_thread(db, present)
    if thread_id is not None:
        unit_id = selection_store.latest_of_thread(db, thread_id, present.session_id, present.at)
        return Continued(_told(db, present, unit_id, "the thread was chosen", bare=True), thread_id)
    if arrival.opens(db, present.session_id, present.thread_id):
        found = speaking(db, present)
        present.arrived = arrival.compare(db, present.project_id, present.thread_id, present.at, found)
    return Continued(_pointed(db, present) or _resumed(db, present) or _linked(db, present))


def _pointed(db: Connection, present: Present) -> Item | None:
    """The episode that the prompt points at outright: also one of which nothing but its subject is known."""
    found = pointing.pointed(db, present)
    return _told(db, present, *found, bare=True) if found else None


def _resumed(db: Connection, present: Present) -> Item | None:
    """The latest of the newest sessions that the prompt's words, its branch or its place point at."""
    since = present.at - SAID
    earlier = selection_store.sessions(db, present.project_id, present.session_id, since, present.at, _SESSIONS)
    if not earlier:
        return None
    how = leaning(present.prompt)
    asks = _Asks(db, present, how)
    for session_id, branch, cwd, last_at in earlier:
        spoken = Evidence(speaking(db, present), asks.units.get(session_id, ()))
        reason = asks.reason(branch or "", cwd, present.at - last_at, spoken)
        if reason:
            unit_id = None if how.by else spoken.unit_id
            unit_id = unit_id or selection_store.latest_of_session(db, session_id)
            found = _told(db, present, unit_id, reason, bare=bool(how.by))
            if found is not None:
                return found
    return None


class _Asks:
    """A prompt and its place, held against earlier sessions."""

    __slots__ = ("branch", "cwd", "how", "latest", "numbered", "of_branch", "trunk", "units")

    def __init__(self, db: Connection, present: Present, how: Leaning) -> None:
        self.branch, self.cwd, self.how = present.branch, present.cwd, how
        self.trunk = shared(db, present.project_id, present.branch, present.at)
        self.of_branch = not self.trunk and of_a_branch(present.prompt)
        self.latest = pointing.latest(present.prompt)
        self.numbered = bool(pointing.numbers(present.prompt))  # its work is looked up by its number
        self.units = _by_session(db, present)

    def reason(self, branch: str, cwd: str, gap: int, spoken: Evidence) -> str:
        """Why the work of a session is gone on with; empty when nothing says so."""
        same = bool(branch) and branch == self.branch
        own = same and not self.trunk
        if apart(branch, self.branch):
            return ""
        here = same or (bool(self.cwd) and cwd == self.cwd)
        if self.how.said and gap <= SAID and (same or not self.branch or not branch or self.branch in TRUNKS):
            return f"the prompt leans on earlier work (“{self.how.by}”)"
        if self.how.by and ((here and gap <= JUST_NOW) or (own and gap <= PLACED)):
            return f"the prompt leans on the work just before (“{self.how.by}”)"
        if self.latest and gap <= JUST_NOW and (own or not self.branch or self.branch in TRUNKS):
            return f"the prompt points at the newest work (“{self.latest}”)"
        likely = spoken.score(gap)
        if own and gap <= PLACED and (self.of_branch or (spoken.share >= _ALIKE and likely >= _LIKELY)):
            return f"the latest work on branch {branch}"
        if here and not self.numbered and gap <= JUST_NOW and spoken.share >= _SAME and likely >= _SURE:
            return "the session just before spoke of the same"
        return ""


def _linked(db: Connection, present: Present) -> Item | None:
    """The episode of the thread that the prompt's own thread is linked with, when that is sure and not long ago."""
    best = present.arrived[0] if present.arrived else None
    if best is None or best.score < _SURE or best.gap > PLACED or best.evidence.share < _MUCH:
        return None
    if pointing.numbers(present.prompt):
        return None
    unit_id = best.evidence.unit_id or 0
    known = settled.of_units(db, [unit_id]).get(unit_id)
    if known is not None and known.outdated:
        return None  # what replaced its decisions is told among the related episodes
    return _told(db, present, unit_id, f"this work is linked with thread {best.thread_id}: {best.score:.2f}")


def _by_session(db: Connection, present: Present) -> dict[str, list[int]]:
    """The episodes that speak of what is asked, by session."""
    out: dict[str, list[int]] = {}
    ids = [one.unit_id for one in speaking(db, present)]
    for unit_id, session_id in selection_store.of_units(db, "session_id", ids):
        out.setdefault(session_id, []).append(unit_id)
    return out


def chosen_thread(db: Connection, present: Present) -> int | None:
    """The thread that a person chose for the session: it alone is told of. Raises sqlite3.Error."""
    if not present.session_id:
        return None
    thread_id, how = proposed(db, present.session_id, present.at)
    return thread_id if how == CHOSEN else None


def _told(db: Connection, present: Present, unit_id: int | None, reason: str, *, bare: bool = False) -> Item | None:
    """An episode as what is gone on with; `bare`: also one of which nothing but its subject is known."""
    if unit_id is None:
        return None
    rows, known = selection_store.units(db, [unit_id]), settled.of_units(db, [unit_id])
    if not rows:
        return None
    files = changed(db, present, rows)[unit_id]
    out = tell_continued(db, rows[0], present.at, reason, present.unsaid, known.get(unit_id), files, present.prompt)
    if bare:
        out.score = GOES_ON
    return out if out.score else None
