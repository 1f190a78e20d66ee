"""A person's changes to episodes: each one transaction, logged, undoable, and kept by re-detection.

All raise NmemError with one line when it cannot be done, and sqlite3.Error. `db` is a writing connection
(capture.storage.store.connect), outside a transaction; `now` is in milliseconds. A prompt that a person decided about
is `decided_by = 'person'`: detection leaves it alone.
"""

from __future__ import annotations

import json
from hashlib import blake2b
from itertools import pairwise
from sqlite3 import Connection
from typing import Any, Self

from capture.redaction import redact
from capture.storage.store import transaction
from capture.text import clean
from nmem.episodes import annotate, store, units
from nmem.episodes.units import CONT, NEW, PERSON, Unit, Verdict
from nmem.errors import NmemError
from nmem.store.corrections import write

TITLE = 200
"""Characters of an episode's own name."""
Row = dict[str, Any]
Image = dict[str, dict[str, Row]]
"""Table -> key -> row."""
Change = dict[str, dict[str, dict[str, Row | None]]]
"""Table -> key -> {before: columns as they were, or None; after: digests of what they became, or None}."""
WHOLE = "*"
"""Stands for all columns of a row."""


class Correction:
    """One change by a person, in one transaction: all of it or nothing."""

    def __init__(self, db: Connection, kind: str, now: int) -> None:
        self.db, self.kind, self.now = db, kind, now
        self._transaction = transaction(db)
        self._session = ""
        self._before: Image = {}
        self._entry: tuple[str, dict[str, object]] | None = None

    def __enter__(self) -> Self:
        self._transaction.__enter__()
        return self

    def begin(self, session_id: str) -> None:
        """Take the session's rows as they are: before the first change, after all checks."""
        self._session = session_id
        self._before = store.image(self.db, session_id)

    def note(self, target: str, **payload: object) -> None:
        """What was asked; undo and the list tell it."""
        self._entry = (target, payload)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if kind is None:
            try:
                self._finish()
            except BaseException as failure:
                self._transaction.__exit__(type(failure), failure, failure.__traceback__)
                raise
        self._transaction.__exit__(kind, error, trace)

    def _finish(self) -> None:
        assert self._entry is not None
        after = store.image(self.db, self._session)
        touched = _touched(self._before, after)
        if touched:
            recount(self.db, self._session, touched)
            after = store.image(self.db, self._session)
        target, payload = self._entry
        change = difference(self._before, after)
        write(self.db, self.kind, target, {**payload, "session": self._session}, change, self.now)


def recount(db: Connection, session_id: str, touched: set[int]) -> None:
    """Count again what was done in some episodes, and in their session. Inside a transaction."""
    units.straighten(db, session_id)
    units.one_open(db, session_id)
    for unit_id in sorted(touched):
        unit = units.get(db, unit_id)
        if unit is not None:
            annotate.recount(db, unit, trace=unit.state == units.CLOSED)
    annotate.sign_session(db, session_id)


def _touched(before: Image, after: Image) -> set[int]:
    """Episodes whose prompts are others now, and the ones before them: these end where the next begins."""
    old, new = ({key: row["unit_id"] for key, row in image["unit_prompts"].items()} for image in (before, after))
    changed = {place[key] for key in old.keys() | new.keys() if old.get(key) != new.get(key) for place in (old, new)
               if key in place}  # fmt: skip
    out = set(changed)
    for image in (before, after):
        rows = sorted(image["work_units"].values(), key=lambda row: (row["started_at"], row["id"]))
        order = [row["id"] for row in rows]
        out |= {earlier for earlier, later in pairwise(order) if later in changed}
    return out & {int(key) for key in after["work_units"]}


def difference(before: Image, after: Image) -> Change:
    """What became of the rows between two images: of a row that stays, only the columns that changed."""
    out: Change = {}
    for table in store.KEPT:
        for key in sorted(before[table].keys() | after[table].keys()):
            old, new = before[table].get(key), after[table].get(key)
            if old != new:
                out.setdefault(table, {})[key] = _changed(old, new)
    return out


def _changed(old: Row | None, new: Row | None) -> dict[str, Row | None]:
    if new is None:
        return {"before": old, "after": None}
    after = {WHOLE: digest(new)}
    if old is None:
        return {"before": None, "after": after}
    names = [name for name in old if old[name] != new.get(name)]
    return {"before": {name: old[name] for name in names},
            "after": {**after, **{name: digest(new.get(name)) for name in names}}}  # fmt: skip


def digest(value: object) -> str:
    """Stands for a value in what is kept of a correction."""
    return blake2b(json.dumps(value).encode(), digest_size=6).hexdigest()


def split(db: Connection, unit_id: int, prompt_id: int, now: int) -> int:
    """A new episode begins at a prompt, with all that follow it in the old one; the new one's id."""
    with Correction(db, "split", now) as correction:
        unit = _unit(db, unit_id)
        where = _place(db, prompt_id)
        if where != unit_id:
            raise NmemError(f"prompt {prompt_id} is in episode {where}, not in episode {unit_id}")
        if unit.first_prompt_id == prompt_id:
            raise NmemError(f"episode {unit_id} begins at prompt {prompt_id} already: nothing to split off")
        correction.begin(unit.session_id)
        made = units.split(db, prompt_id, Verdict(NEW, PERSON, reason="split by hand"))
        correction.note(f"episode/{unit_id}", prompt=prompt_id, made=made)
    return made


def merge(db: Connection, unit_id: int, into_id: int, now: int) -> None:
    """Put the prompts of an episode into another one of its session; the first one is gone."""
    with Correction(db, "merge", now) as correction:
        unit, into = _unit(db, unit_id), _unit(db, into_id)
        if unit_id == into_id:
            raise NmemError(f"episode {unit_id} cannot be merged with itself")
        if unit.session_id != into.session_id:
            raise NmemError(
                f"episodes {unit_id} and {into_id} belong to different sessions and cannot be merged:"
                " `nmem episodes resume` links them"
            )
        correction.begin(unit.session_id)
        first, second = sorted((unit, into), key=lambda each: (each.started_at, each.id))
        opening = _verdict(db, first.first_prompt_id)
        units.merge(db, unit_id, into_id, CONT, PERSON, "merged by hand")
        units.judge(db, first.first_prompt_id, Verdict(NEW, PERSON, opening.score, opening.reason))
        units.judge(db, second.first_prompt_id, Verdict(CONT, PERSON, reason="merged by hand"))
        units.annotated(db, into_id, {
            "title": into.title or unit.title, "pinned": int(bool(into.pinned or unit.pinned)),
            "checkpoint": second.checkpoint or first.checkpoint,
            "client_summary": second.client_summary or first.client_summary,
        })  # fmt: skip
        correction.note(f"episode/{unit_id}", into=into_id)


def rename(db: Connection, unit_id: int, title: str, now: int) -> None:
    """Give an episode a name of the person's own; an empty one gives it back its opening prompt."""
    name = redact(" ".join(clean(title).split()))[:TITLE].strip() or None
    with Correction(db, "rename", now) as correction:
        unit = _unit(db, unit_id)
        if unit.title == name:
            raise NmemError(f"episode {unit_id} has this name already" if name else
                            f"episode {unit_id} has no name of its own")  # fmt: skip
        correction.begin(unit.session_id)
        units.annotated(db, unit_id, {"title": name})
        correction.note(f"episode/{unit_id}", title=name)


def resume(db: Connection, unit_id: int, earlier_id: int, now: int) -> None:
    """Say that an episode goes on with the goal of an earlier one of the same project."""
    with Correction(db, "resume", now) as correction:
        unit, earlier = _unit(db, unit_id), _unit(db, earlier_id)
        _may_resume(db, unit, earlier)
        correction.begin(unit.session_id)
        units.resume(db, unit_id, earlier_id)
        correction.note(f"episode/{unit_id}", earlier=earlier_id)


def _may_resume(db: Connection, unit: Unit, earlier: Unit) -> None:
    if unit.id == earlier.id:
        raise NmemError(f"episode {unit.id} cannot continue itself")
    if (earlier.started_at, earlier.id) >= (unit.started_at, unit.id):
        raise NmemError(f"episode {earlier.id} began after episode {unit.id}: only an earlier one can be resumed")
    if units.project_of(db, unit.id) != units.project_of(db, earlier.id):
        raise NmemError(f"episodes {unit.id} and {earlier.id} belong to different projects")
    if unit.resumes == earlier.id and _verdict(db, unit.first_prompt_id).by == PERSON:
        raise NmemError(f"episode {unit.id} continues episode {earlier.id} already")


def unresume(db: Connection, unit_id: int, now: int) -> None:
    """Say that an episode is a goal of its own."""
    with Correction(db, "unresume", now) as correction:
        unit = _unit(db, unit_id)
        if unit.resumes is None:
            raise NmemError(f"episode {unit_id} does not continue an earlier one")
        correction.begin(unit.session_id)
        units.resume(db, unit_id, None)
        correction.note(f"episode/{unit_id}", earlier=unit.resumes)


def move(db: Connection, prompt_id: int, unit_id: int, now: int) -> None:
    """Put one prompt, with what was done after it, into another episode of its session."""
    with Correction(db, "move", now) as correction:
        old, unit = _unit(db, _place(db, prompt_id)), _unit(db, unit_id)
        if old.id == unit.id:
            raise NmemError(f"prompt {prompt_id} is in episode {unit_id} already")
        if old.session_id != unit.session_id:
            raise NmemError(f"prompt {prompt_id} and episode {unit_id} belong to different sessions")
        if old.turn_count == 1:
            raise NmemError(
                f"prompt {prompt_id} is the only one in episode {old.id}: `nmem episodes merge {old.id} {unit_id}`"
            )
        correction.begin(unit.session_id)
        units.move(db, prompt_id, unit_id, Verdict(CONT, PERSON, reason="moved by hand"))
        _reopen(db, prompt_id, unit, old)
        correction.note(f"prompt/{prompt_id}", **{"from": old.id, "into": unit_id})


def _reopen(db: Connection, prompt_id: int, into: Unit, old: Unit) -> None:
    """Openings follow the prompts: what opens an episode now is said to, what no longer does is not."""
    now, left = _unit(db, into.id), _unit(db, old.id)
    if now.first_prompt_id == prompt_id:
        units.judge(db, prompt_id, Verdict(NEW, PERSON, reason="moved by hand"))
        units.judge(db, into.first_prompt_id, Verdict(CONT, PERSON, reason="moved by hand"))
    if left.first_prompt_id != old.first_prompt_id:
        units.judge(db, left.first_prompt_id, Verdict(NEW, PERSON, reason="what was before it was moved by hand"))


def keep(db: Connection, prompt_id: int, now: int) -> None:
    """Agree with what was decided at a prompt: it opens an episode, or goes on with one, by the person's word."""
    with Correction(db, "keep", now) as correction:
        unit = _unit(db, _place(db, prompt_id))
        said = _verdict(db, prompt_id)
        if said.by == PERSON and not said.offered:
            raise NmemError(f"prompt {prompt_id} was already decided by you")
        correction.begin(unit.session_id)
        label = CONT if said.label == NEW and unit.first_prompt_id != prompt_id else said.label
        units.judge(db, prompt_id, Verdict(label, PERSON, said.score, said.reason))
        correction.note(f"prompt/{prompt_id}", unit=unit.id, label=label)


def pin(db: Connection, unit_id: int, pinned: bool, now: int) -> None:
    """Pin an episode, or unpin it: a pinned one is kept and comes first."""
    kind = "pin" if pinned else "unpin"
    with Correction(db, kind, now) as correction:
        unit = _unit(db, unit_id)
        if bool(unit.pinned) == pinned:
            raise NmemError(f"episode {unit_id} is {'' if pinned else 'not '}pinned{' already' if pinned else ''}")
        correction.begin(unit.session_id)
        units.annotated(db, unit_id, {"pinned": pinned})
        correction.note(f"episode/{unit_id}")


def _unit(db: Connection, unit_id: int) -> Unit:
    unit = units.get(db, unit_id)
    if unit is None:
        raise NmemError(f"there is no episode {unit_id}: `nmem episodes` lists them")
    return unit


def _place(db: Connection, prompt_id: int) -> int:
    """The episode that a prompt is in."""
    unit_id = units.of_prompt(db, prompt_id)
    if unit_id is None:
        raise NmemError(f"no episode has a prompt {prompt_id}: `nmem episodes show ID` gives their numbers")
    return unit_id


def _verdict(db: Connection, prompt_id: int) -> Verdict:
    said = units.said_of(db, prompt_id)
    return said if said is not None else Verdict(NEW, PERSON)
