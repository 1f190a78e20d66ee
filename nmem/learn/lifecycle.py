"""Changes a learning's state as a person decides: accepted, dismissed, snoozed, resolved, reopened.

Each move is one transaction, is kept as a correction of `learning/ID`, and can be undone. All raise NmemError with one
line when it cannot be done, and sqlite3.Error. `db` is a writing connection outside a transaction; `now` is in
milliseconds. A snooze ends by itself: it is open again once its time is over (nmem.learn.read.state). What evidence
does to a state is nmem.learn.refresh's.
"""

from __future__ import annotations

from dataclasses import dataclass
from sqlite3 import Connection
from typing import Any

from capture.storage.store import transaction
from nmem.errors import NmemError
from nmem.learn import store
from nmem.learn.learning import ACCEPTED, DISMISSED, OPEN, PERSON, RESOLVED, SNOOZED, WEAK
from nmem.store import corrections as log

ACCEPT, DISMISS, SNOOZE, RESOLVE, REOPEN = "accept", "dismiss", "snooze", "resolve", "reopen"
TARGET = "learning"
_MOVES: dict[str, tuple[str, tuple[str, ...]]] = {
    ACCEPT: (ACCEPTED, (OPEN, SNOOZED, RESOLVED, WEAK)),
    DISMISS: (DISMISSED, (OPEN, SNOOZED, RESOLVED, WEAK)),
    SNOOZE: (SNOOZED, (OPEN, SNOOZED, WEAK)),
    RESOLVE: (RESOLVED, (OPEN, SNOOZED, ACCEPTED, WEAK)),
    REOPEN: (OPEN, (ACCEPTED, DISMISSED, SNOOZED, RESOLVED)),
}
"""verb -> what it makes of a learning, and from where."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What the moves need of a learning."""

    id: int
    project_id: int
    title: str
    state: str
    """The one that holds now: a snooze that is over is open."""
    columns: dict[str, Any]
    """As stored."""


def standing(db: Connection, learning_id: int, now: int) -> Standing:
    """Where a learning stands. Raises NmemError when there is none."""
    found = store.standing(db, learning_id)
    if found is None:
        raise NmemError(f"there is no learning {learning_id}: `nmem learn --state all` lists them")
    project_id, title, columns = found
    over = columns["state"] == SNOOZED and columns["snoozed_until"] is not None and columns["snoozed_until"] <= now
    return Standing(learning_id, project_id, title, OPEN if over else columns["state"], columns)


def allowed(one: Standing, verb: str) -> None:
    """Raises NmemError when a learning cannot go there from where it stands."""
    becomes, _ = _MOVES[verb]
    if verb in able(one.state, one.columns["rule"] or ""):
        return
    if one.state == becomes:
        again = f": `nmem learn reopen {one.id}` first, to reword it" if verb == ACCEPT else ""
        raise NmemError(f"learning {one.id} is {one.state} already{again}")
    raise NmemError(f"learning {one.id} is {one.state}: `nmem learn reopen {one.id}` first")


def able(state: str, rule: str = "") -> tuple[str, ...]:
    """The verbs that a state allows; where a rule stands in a file, reopening takes it out of there."""
    return tuple(
        verb for verb, (_, origins) in _MOVES.items() if state in origins or (verb == REOPEN and rule and state == OPEN)
    )


def dismiss(db: Connection, learning_id: int, now: int) -> None:
    """It is nothing to learn from: never shown again, whatever comes."""
    _plainly(db, DISMISS, learning_id, now)


def snooze(db: Connection, learning_id: int, until: int, now: int) -> None:
    """Not now: it is open again at a time."""
    if until <= now:
        raise NmemError("a snooze must end in the future")
    _plainly(db, SNOOZE, learning_id, now, until=until)


def resolve(db: Connection, learning_id: int, now: int) -> None:
    """It is fixed. A rule that was accepted stays in the project's instructions."""
    _plainly(db, RESOLVE, learning_id, now)


def reopen(db: Connection, learning_id: int, now: int) -> None:
    """It is open again. An accepted one is reopened by nmem.learn.accept, which takes its rule out as well."""
    _plainly(db, REOPEN, learning_id, now)


def move(
    db: Connection, verb: str, one: Standing, now: int, *, rule: str | None = None, until: int | None = None,
    **payload: object,
) -> None:  # fmt: skip
    """Write a move that is allowed, and keep it. Inside a transaction."""
    becomes = _MOVES[verb][0]
    after = {**one.columns, "state": becomes, "state_at": now, "state_by": PERSON, "snoozed_until": until, "rule": rule}
    store.change(db, one.id, after)
    kept = {"title": one.title, "after": after, **payload}
    log.write(db, verb, f"{TARGET}/{one.id}", kept, {"columns": one.columns}, now)


def _plainly(db: Connection, verb: str, learning_id: int, now: int, until: int | None = None) -> None:
    """A move that touches no file."""
    with transaction(db):
        one = standing(db, learning_id, now)
        allowed(one, verb)
        move(db, verb, one, now, rule=one.columns["rule"], until=until)
