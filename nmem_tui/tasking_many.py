"""The same done with several tasks: what came of all of them in one line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from sqlite3 import Connection

from nmem.errors import NmemError
from nmem_tui import tasking
from nmem_tui.messages import Changed
from nmem_tui.model.figures import several
from nmem_tui.steering import Change


def cancel(db_path: str, ids: Sequence[int]) -> Changed:
    """Cancel them, one after the other: call it from a worker."""
    return _all(ids, lambda each: tasking.cancel(db_path, each), "cancelled")


def remove(db_path: str, ids: Sequence[int]) -> Changed:
    """Forget them with their history."""
    return _all(ids, lambda each: tasking.remove(db_path, each), "removed")


def retry(ids: Sequence[int]) -> Change:
    """Queue them once more, each with what was cancelled because of it."""

    def change(db: Connection, now: int) -> str:
        from nmem.dispatch import act

        queued: set[int] = set()
        wrong: list[str] = []
        for each in ids:
            try:
                queued |= set(() if each in queued else act.retry(db, each, now))
            except NmemError as error:
                wrong.append(str(error))
        if not queued:
            raise NmemError(wrong[0] if wrong else "there is nothing to queue again")
        return f"{several(len(queued), 'task')} queued again" + _but(wrong)

    return change


def _all(ids: Sequence[int], do: Callable[[int], Changed], done: str) -> Changed:
    found = [do(each) for each in ids]
    wrong = [one.text for one in found if one.failed]
    told = [one.text.partition(": ")[2] for one in found if not one.failed and done == "removed" and ": " in one.text]
    stays = f": {told[0]}" if told else ""
    said = f"{several(len(found) - len(wrong), 'task')} {done}{stays}{_but(wrong)}"
    return Changed(said, failed=bool(wrong))


def _but(wrong: Sequence[str]) -> str:
    return f" · {len(wrong)} could not be: {wrong[0]}" if wrong else ""
