"""SQL: what is told of a session's way: its shifts with the prompts that they came under, and its episodes' strips."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from sqlite3 import Connection, Row

from nmem import tables
from nmem.stance.model import QUADRANTS, Point, Shift, Strip
from nmem.stance.trajectory import SIDES, Crossing, Trajectory, path, shares

_TEXT = 200
_CHUNK = 400

Parts = Sequence[tuple[int, str]]
"""From which number on the lines stand in which quadrant: nmem.stance.trajectory.sections."""
Kept = tuple[tuple[object, ...], Strip]
"""A strip, and what it was made of."""


def shifts(db: Connection, crossings: list[Crossing], parts: Parts) -> tuple[Shift, ...]:
    """The oldest first, each with the prompt that it came under."""
    said = _prompts(db, {each.call.prompt_id for each in crossings if each.call.prompt_id is not None})
    starts = [start for start, _ in parts]
    names = ["", *(name for _, name in parts)]
    out = []
    for each in sorted(crossings, key=lambda one: one.call.seq):
        call = each.call
        out.append(Shift(
            each.axis, call.at, call.seq, SIDES[each.axis][not each.above], SIDES[each.axis][each.above],
            call.prompt_id, said.get(call.prompt_id or 0, ""),
            names[bisect_left(starts, call.seq)], names[bisect_right(starts, call.seq)],
        ))  # fmt: skip
    return tuple(out)


def _prompts(db: Connection, ids: set[int]) -> dict[int, str]:
    out: dict[int, str] = {}
    wanted = sorted(ids)
    for begin in range(0, len(wanted), _CHUNK):
        some = wanted[begin : begin + _CHUNK]
        marks = ",".join("?" for _ in some)
        out.update(db.execute(f"SELECT id, substr(content, 1, {_TEXT}) FROM prompts WHERE id IN ({marks})", some))  # noqa: S608
    return out


def strips(
    db: Connection, session_id: str, unit_id: int | None, way: Trajectory, kept: dict[int, Kept]
) -> tuple[Strip, ...]:
    """The episodes that a session's way goes through, the oldest first, each with its part of it.

    `kept` holds what was told before, for episodes that nothing was added to; empty it when points change.
    """
    if not tables.version(db):
        return ()
    heads = _heads(db, session_id, unit_id)
    unit_of = {row["prompt_id"]: row["id"] for row in heads}
    runs: dict[int, list[list[Point]]] = {row["id"]: [] for row in heads}
    last = None
    for point in way.points:
        unit = unit_of.get(point.prompt_id)
        if unit is not None:
            if unit != last:
                runs[unit].append(mine := [])
            mine.append(point)
        last = unit
    titles = {row["id"]: row for row in heads}
    size: dict[int, tuple[int, int]] = {}
    for prompt_id, unit in unit_of.items():
        calls, failed = way.asked.get(prompt_id, (0, 0))
        size[unit] = size.get(unit, (0, 0))[0] + calls, size.get(unit, (0, 0))[1] + failed
    return tuple(_kept(titles[unit], mine, size[unit], way.scope.base, kept) for unit, mine in runs.items() if mine)


def _heads(db: Connection, session_id: str, unit_id: int | None) -> list[Row]:
    """Every prompt of the episodes, with the episode."""
    where, value = ("u.id = ?", unit_id) if unit_id is not None else ("u.session_id = ?", session_id)
    return db.execute(
        f"SELECT u.id, substr(coalesce(u.title, u.agent_title, u.heading, u.intent), 1, {_TEXT}) AS title,"  # noqa: S608
        " u.started_at, x.prompt_id"
        f" FROM work_units u JOIN unit_prompts x ON x.unit_id = u.id WHERE {where} ORDER BY u.started_at, u.id",
        (value,),
    ).fetchall()


def _kept(head: Row, runs: list[list[Point]], size: tuple[int, int], base: float, kept: dict[int, Kept]) -> Strip:
    """A strip, made anew when it has other points."""
    key = (sum(map(len, runs)), runs[0][0].seq, runs[-1][-1].seq, size, head["title"])
    known = kept.get(head["id"])
    if known is None or known[0] != key:
        kept[head["id"]] = known = key, _strip(head, runs, size, base)
    return known[1]


def _strip(head: Row, runs: list[list[Point]], size: tuple[int, int], base: float) -> Strip:
    way = path((point for run in runs for point in run), base)
    counts = dict.fromkeys(QUADRANTS, 0)
    for part in way:
        counts[part.quadrant] += part.count
    return Strip(head["id"], head["title"], head["started_at"], size[0], shares(counts), way, size[1])
