"""Rewrites stories of an older narrator in batches (SQL: which are due, and the progress).

By which rules a story was told is not kept: after `narrate.WORDING` has risen, each is looked at once, the newest
first, and stored only where it reads otherwise. What was pinned or swept, and what a model told, stays. Of two
installations on one memory the newer one words it: the number only rises, so they do not set it to and fro.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from functools import partial
from itertools import islice
from sqlite3 import Connection

from capture.storage.store import transaction
from nmem.episodes import narrate
from nmem.episodes.reading import OF
from nmem.episodes.storytelling import Failing, Teller, attempt

NARRATOR = "narrator"
"""A row of `upkeep`: how far retelling got."""
MOST = 200
"""Stories that are looked at in one run."""
_ALL = 1 << 62
_DUE = f"""
SELECT u.id FROM work_units u JOIN narrations n ON n.unit_id = u.id
WHERE u.id < ? AND u.state = 'closed' AND NOT u.pinned AND NOT n.by_model AND n.told_of = {OF}
AND NOT EXISTS (SELECT 1 FROM swept_sessions g WHERE g.session_id = u.session_id)
ORDER BY u.id DESC
"""  # noqa: S608 - our words


def _after(db: Connection, unit_id: int) -> int:
    """One later than the newest story of its session, not now: the session is summed up anew, and its threads are not
    condensed by a model for it.
    """
    row = db.execute(
        "SELECT max(narrated_at) + 1 FROM work_units"
        " WHERE session_id = (SELECT session_id FROM work_units WHERE id = ?)",
        (unit_id,),
    ).fetchone()
    return int(row[0] or 0)


def renew(
    db: Connection, stopped: Callable[[], bool] = lambda: False, most: int = MOST, failed: Failing | None = None,
    told: Container[int] = (),
) -> int:  # fmt: skip
    """Go on with it, outside a transaction; how many stories read otherwise now. Raises sqlite3.Error.

    `told`: episodes that were told in today's words a moment ago.

    A row of `upkeep` keeps for which wording stories were looked at, and down to which episode; one that cannot be
    told is passed over, and its old words stay.
    """
    row = db.execute("SELECT at, told FROM upkeep WHERE name = ?", (NARRATOR,)).fetchone()
    before = int(row[1]) if row is not None and row[1].isdecimal() else 0
    below = int(row[0]) if before == narrate.WORDING else _ALL
    if not below or before > narrate.WORDING:
        return 0
    due = list(islice((number for (number,) in db.execute(_DUE, (below,)) if number not in told), most))
    renewed = 0
    for number in due:
        if stopped():
            break
        renewed += attempt(Teller(db, clock=partial(_after, db, number)).renew, number, failed)
        below = number
    else:
        below = below if len(due) == most else 0
    with transaction(db):
        db.execute("INSERT OR REPLACE INTO upkeep VALUES (?, ?, ?)", (NARRATOR, below, str(narrate.WORDING)))
    return renewed
