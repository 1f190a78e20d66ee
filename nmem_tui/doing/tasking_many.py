"""The same done with several tasks: what came of all of them in one line."""

from __future__ import annotations

from collections.abc import Sequence
from sqlite3 import Connection

from nmem.errors import NmemError
from nmem_tui.doing import tasking
from nmem_tui.doing.steering import Change
from nmem_tui.messages import Changed
from nmem_tui.model.figures import several


def cancel(db_path: str, ids: Sequence[int]) -> Changed:
    """Cancel them, one after the other: call it from a worker."""
    found = [tasking.cancel(db_path, each) for each in ids]
    wrong = [one.text for one in found if one.failed]
    return Changed(f"{several(len(found) - len(wrong), 'task')} cancelled{_but(wrong)}", failed=bool(wrong))


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


def _but(wrong: Sequence[str]) -> str:
    return f" · {len(wrong)} could not be: {wrong[0]}" if wrong else ""
