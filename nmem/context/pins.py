"""Pins observations, episodes, threads, prompts and learnings, and records a person's markers; with undo.

Observations, episodes and threads carry their pin; of a prompt or a learning it is the project's choice for its
context. Pinned things come first in searches, and always into what sessions are told. A pin may be told in every
project: the table `pins_everywhere` names it, for as long as it is pinned.
"""

from __future__ import annotations

from sqlite3 import Connection

from capture.storage.store import transaction
from nmem import marks
from nmem.context import review_store, store
from nmem.context.pinned import PINNED
from nmem.errors import NmemError
from nmem.search import refresh
from nmem.store.corrections import Entry, newest, together, write
from nmem.text import fit, printable

PIN, UNPIN, MARK = "pin", "unpin", "mark"
EVERYWHERE, HERE = "everywhere", "here"
KINDS = (PIN, UNPIN, MARK, EVERYWHERE, HERE)
"""Of corrections; the target is the id: obs/12, prompt/5, thread/4, learning/2."""


def _state(db: Connection, target: str) -> int | str | None:
    """What is there: of a column 0 or 1, of a choice its word or nothing. Raises NmemError for what is gone."""
    kind, _, number = target.partition("/")
    if kind not in store.PINS:
        return review_store.choice(db, _project(db, target), target)
    state = store.pin_of(db, kind, int(number))
    if state is None:
        raise NmemError(f"there is no {target}")
    return state


def _put(db: Connection, target: str, state: int | str | None, now: int) -> None:
    """Make it so."""
    kind, _, number = target.partition("/")
    if kind in store.PINS:
        review_store.put_pin(db, kind, int(number), int(state or 0))
    else:
        review_store.put_choice(db, _project(db, target), target, str(state) if state else None, now)


def _on(kind: str) -> int | str:
    """What a pin is of a kind."""
    return 1 if kind in store.PINS else PINNED


def _project(db: Connection, target: str) -> int:
    found = review_store.project_of(db, target)
    if found is None:
        raise NmemError(f"there is no {target}")
    return found


def _checked(kind: str, number: int) -> str:
    """The id of what can be pinned."""
    if kind not in review_store.PROJECTS:
        raise NmemError(f"a {kind} cannot be pinned: obs/12, prompt/5, episode/3, thread/4 and learning/2 can")
    return f"{kind}/{number}"


def pin(db: Connection, kind: str, number: int, pinned: bool, now: int) -> None:
    """Pin what an id names, or take its pin away. Raises NmemError when it is so already, or cannot be pinned."""
    if kind == "episode":
        from nmem.episodes import corrections  # on use: start-up stays short

        corrections.pin(db, number, pinned, now)
        return
    target = _checked(kind, number)
    with transaction(db):
        before = _state(db, target)
        if (before == _on(kind)) == pinned:
            raise NmemError(f"{target} is {'pinned already' if pinned else 'not pinned'}")
        after = _on(kind) if pinned else 0 if kind in store.PINS else None
        _put(db, target, after, now)
        write(db, PIN if pinned else UNPIN, target, {"after": after}, {"state": before}, now)


def everywhere(db: Connection, kind: str, number: int, on: bool, now: int) -> None:
    """Tell a pin in every project, pinning what is not pinned yet; or in its own project alone. Undone at once.

    Raises NmemError when it is so already, or cannot be pinned.
    """
    target = f"{kind}/{number}"
    if on and not is_pinned(db, kind, number):
        with together():
            pin(db, kind, number, True, now)
            if not review_store.told_everywhere(db, target):
                _spread(db, kind, number, on=True, now=now)
        return
    if review_store.told_everywhere(db, target) == on:
        raise NmemError(f"{target} is told in {'every project' if on else 'its own project alone'} already")
    _spread(db, kind, number, on=on, now=now)


def is_pinned(db: Connection, kind: str, number: int) -> bool:
    """Whether something is pinned. Raises NmemError for what is gone or cannot be pinned."""
    return _state(db, _checked(kind, number)) == _on(kind)


def _spread(db: Connection, kind: str, number: int, *, on: bool, now: int) -> None:
    target = f"{kind}/{number}"
    with transaction(db):
        _put_everywhere(db, target, now if on else None)
        write(db, EVERYWHERE if on else HERE, target, {"after": on}, {"state": not on}, now)


def _put_everywhere(db: Connection, target: str, at: int | None) -> None:
    """Keep that a pin is told everywhere since a time; None: it is not."""
    if at is None:
        review_store.take_home(db, target)
    else:
        review_store.put_everywhere(db, target, _project(db, target), at)


def marked(db: Connection, marker: marks.Marker, now: int) -> None:
    """Remember that a person set this marker, so that it can be taken back; told twice it is one."""
    target = f"obs/{marker.id}"
    with transaction(db):
        last = newest(db)
        if last is None or (last.kind, last.target) != (MARK, target):
            write(db, MARK, target, {"kind": marker.kind, "text": marker.text[:200]}, {}, now)


def ours(entry: Entry) -> bool:
    """Whether a correction is one of these: pins of episodes are corrections of episodes."""
    return entry.kind in (EVERYWHERE, HERE) or (entry.kind in KINDS and not entry.target.startswith("episode/"))


def describe(entry: Entry) -> str:
    """What a person did, in a few words."""
    if entry.kind == MARK:
        return f"marked {entry.target}, a {entry.payload.get('kind')}: {fit(printable(entry.payload['text']), 60)}"
    if entry.kind in (EVERYWHERE, HERE):
        return f"{entry.target} told in {'every project' if entry.kind == EVERYWHERE else 'its own project alone'}"
    return f"{entry.target} {'pinned' if entry.kind == PIN else 'unpinned'}"


def take_back(db: Connection, entry: Entry, now: int) -> str:
    """Put back what was, inside a transaction; what the person should know beside it."""
    kind, _, number = entry.target.partition("/")
    if entry.kind == MARK:
        refresh.leaving(db, "observations", [int(number)])
        return "" if review_store.remove_marker(db, int(number)) else "it is gone already"
    if entry.kind in (EVERYWHERE, HERE):
        if review_store.told_everywhere(db, entry.target) != entry.payload.get("after"):
            return "a later choice replaced this one and is kept"
        _put_everywhere(db, entry.target, now if entry.before.get("state") else None)
        return ""
    target = _checked(kind, int(number))
    try:
        state = _state(db, target)
    except NmemError:
        return "it is gone"
    if state != entry.payload.get("after"):
        return "a later choice replaced this one and is kept"
    _put(db, target, entry.before.get("state"), now)
    return ""
