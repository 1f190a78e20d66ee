"""What a person changes of several rows at once: as many corrections, which one `u` takes back together."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from sqlite3 import Connection

from nmem import database
from nmem.errors import NmemError
from nmem_tui.doing.steering import Change
from nmem_tui.model import keyed
from nmem_tui.model.figures import several


def each(changes: Sequence[Change], done: str) -> Change:
    """Several changes as one; what cannot be done is told, and keeps nothing else from being done."""

    def change(db: Connection, now: int) -> str:
        from nmem.episodes import corrections_log as log

        wrong: list[str] = []
        with log.together():
            for one in changes:
                try:
                    one(db, now)
                except NmemError as error:
                    wrong.append(str(error))
                except sqlite3.Error as error:
                    wrong.append(database.worded(error))
        number = len(changes) - len(wrong)
        if not number:
            raise NmemError(wrong[0] if wrong else "there is nothing to change")
        more = "takes all of them back" if number > 1 else "undoes"
        failed = f" · {len(wrong)} could not be: {wrong[0]}" if wrong else ""
        return f"{several(number, 'row')} {done} · {keyed.of('undo')} {more}{failed}"

    return change


def pin(kind: str, numbers: Sequence[int]) -> Change:
    """All of some episodes are pinned, or none where all of them are already."""

    def change(db: Connection, now: int) -> str:
        from nmem import pins
        from nmem_tui.doing.steering import pin_found

        on = pins.pinned(db, kind, numbers)
        wanted = len(on) < len(set(numbers))
        changes = [pin_found(kind, number, wanted) for number in numbers if (number in on) != wanted]
        return each(changes, "pinned" if wanted else "no longer pinned")(db, now)

    return change
