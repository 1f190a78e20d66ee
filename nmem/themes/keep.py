"""Keeps a project's themes up to date with its stories (SQL). Background work; regroups as the project grows.

Words come from the postings of the retrieval index: no record is read. A theme keeps its number while the largest part
of its episodes stays together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from sqlite3 import Connection

from capture.storage.store import transaction
from nmem.retrieval.engine import WEIGHT
from nmem.themes.group import LEAST, Bag, Group, grouped, possible

MOST = 2000
"""Episodes of a project that are grouped: the newest."""
_GROWN, _NEW = 0.25, 20
"""A project is grouped anew when this part of its episodes came since, and so many."""
_TITLE = "coalesce(u.title, u.agent_title, u.heading, substr(u.intent, 1, 200))"


def keep(db: Connection, stopped: Callable[[], bool] = lambda: False) -> int:
    """Group the projects that have grown, on a writing connection outside a transaction; how many themes were made."""
    due = _due(db)
    if not due or not possible():
        return 0
    made = 0
    for project_id in due:
        if stopped():
            break
        bags = _bags(db, project_id)
        found = grouped(bags, _titles(db, project_id))
        with transaction(db):
            _store(db, project_id, found, bags)
        made += len(found)
    return made


def _due(db: Connection) -> list[int]:
    """Projects with enough episodes, many of which were told since they were grouped; documents count upwards."""
    rows = db.execute(
        "SELECT d.project_id, min(count(*), ?), total(t.doc IS NULL OR d.doc > t.doc), max(t.doc) FROM retrieval_docs d"
        " LEFT JOIN (SELECT t.project_id, max(d.doc) AS doc FROM unit_themes t JOIN retrieval_docs d"
        "   ON d.unit_id = t.unit_id GROUP BY t.project_id) t ON t.project_id = d.project_id"
        " GROUP BY d.project_id HAVING count(*) >= ?",
        (MOST, LEAST),
    ).fetchall()
    return [number for number, told, new, last in rows if last is None or new >= max(_NEW, _GROWN * told)]


def _bags(db: Connection, project_id: int) -> dict[int, Bag]:
    """The newest episodes of a project with their words, out of the index."""
    units: dict[int, int] = dict(
        db.execute(
            "SELECT doc, unit_id FROM retrieval_docs WHERE project_id = ? ORDER BY at DESC, doc DESC LIMIT ?",
            (project_id, MOST),
        ).fetchall()
    )
    bags: dict[int, dict[str, float]] = {unit_id: {} for unit_id in units.values()}
    for word, packed in db.execute("SELECT word, postings FROM retrieval_postings WHERE project_id = ?", (project_id,)):
        for posting in memoryview(packed).cast("I"):
            unit_id = units.get(posting >> 8)
            if unit_id is not None:
                bags[unit_id][word] = (posting & 255) / WEIGHT
    return dict(bags)


def _titles(db: Connection, project_id: int) -> dict[int, str]:
    return dict(
        db.execute(
            f"SELECT u.id, {_TITLE} FROM retrieval_docs d JOIN work_units u ON u.id = d.unit_id WHERE d.project_id = ?",  # noqa: S608
            (project_id,),
        ).fetchall()
    )


def _store(db: Connection, project_id: int, found: Sequence[Group], bags: dict[int, Bag]) -> None:
    """Put a project's themes in place of those of before; episodes in none keep a row of theme 0, for `_due`."""
    before: dict[int, int] = dict(
        db.execute(
            "SELECT unit_id, theme FROM unit_themes WHERE project_id = ? AND theme > 0", (project_id,)
        ).fetchall()
    )
    numbers = _numbers(found, before, int(db.execute("SELECT coalesce(max(theme), 0) FROM unit_themes").fetchone()[0]))
    rows = dict.fromkeys(bags, (0, ""))
    for group, number in zip(found, numbers, strict=True):
        rows |= dict.fromkeys(group.units, (number, group.label))
    db.execute("DELETE FROM unit_themes WHERE project_id = ?", (project_id,))
    db.executemany(
        "INSERT INTO unit_themes (unit_id, project_id, theme, label) SELECT id, ?, ?, ? FROM work_units WHERE id = ?",
        [(project_id, number, label, unit_id) for unit_id, (number, label) in sorted(rows.items())],
    )


def _numbers(found: Sequence[Group], before: dict[int, int], highest: int) -> list[int]:
    """A number for each theme: that of the old one which it shares most episodes with, else a new one."""
    shared = [
        (count, place, number)
        for place, group in enumerate(found)
        for number, count in Counter(before[unit] for unit in group.units if unit in before).items()
    ]
    out: dict[int, int] = {}
    taken: set[int] = set()
    for _, place, number in sorted(shared, key=lambda each: (-each[0], each[2], each[1])):
        if place not in out and number not in taken:
            out[place] = number
            taken.add(number)
    for place in range(len(found)):
        if place not in out:
            highest += 1
            out[place] = highest
    return [out[place] for place in range(len(found))]
