"""Reads learnings for display: lists by heat, one in full, its evidence, warnings.

Heat: each session weighs 2^(-age / 168 h), age from its newest occurrence; weights add up, and heat is 100 (1 -
2^(-sum/3)). So three sessions of just now are 50, six are 75, and a single old one stays small, whatever it is listed
with: the same learning has the same heat in every list. Age runs until the newest activity of the learning's own
project, so weeks in which nobody worked on it cool nothing; after thirty such days the calendar runs on, with the same
half-life: what was not met for months is not hot, whoever stopped working.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from sqlite3 import Connection, Row

from nmem.learn import config, store
from nmem.learn.kinds import names, problems
from nmem.learn.learning import AGAIN, OPEN, REPEATED_INTENT, UNRESOLVED_READ, Evidence, Learning, Remedy, Warned
from nmem.text import ELLIPSIS, at_word, json_list, json_object

HALF_LIFE_H = 168.0
HALF = 3.0
"""Weight of half the heat there can be: as many sessions of just now."""
_HOUR = 3_600_000
_DAY = 24 * _HOUR
CUT = 110
"""Characters at which an older nmem cut a request in a title, without a sign of it."""
REST = 30 * _DAY
"""Milliseconds for which a project may rest before its learnings cool by the calendar."""


def weight(newest: Iterable[int], as_of: int, half_life_h: float = HALF_LIFE_H) -> float:
    """The sum over sessions; `newest` is each one's newest occurrence. What lies after `as_of` counts as just now."""
    return sum(float(2.0 ** (-max(0, as_of - at) / (half_life_h * _HOUR))) for at in newest)


def until(worked_at: int, now: int) -> int:
    """The time that age runs to: the project's newest activity, or thirty days ago where that is later."""
    return max(min(worked_at or now, now), now - REST)


def scaled(weight: float) -> int:
    """A weight as 0 to 100."""
    return round(100.0 * (1.0 - float(2.0 ** (-weight / HALF))))


def week(at: int) -> int:
    """Monday 00:00 UTC of the week of a time, in milliseconds."""
    return ((at // _DAY + 3) // 7 * 7 - 3) * _DAY


def weeks(times: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """How many of the times fall into each week, oldest first; empty weeks are left out."""
    return tuple(sorted(Counter(map(week, times)).items()))


_LIMIT = 200
_MOST = 1_000_000
DORMANT = REST
"""Milliseconds after which a project in which nothing was done is set behind the others."""
Times = Sequence[tuple[str, int]]
"""Sessions and times of the occurrences of one learning."""


def learnings(
    db: Connection, now: int, project: int | None = None, states: Sequence[str] = (OPEN,), across: bool = False,
    limit: int = _LIMIT, kinds: Sequence[str] = (),
) -> tuple[Learning, ...]:  # fmt: skip
    """The learnings in these states, the hottest first; a snoozed one whose time is over counts as open.

    `project` is a project's id, None: all of them, those that nobody works on any more last. `across`: only patterns
    met in two projects or more, summed. `kinds`: only these; by default all but skills.
    """
    if not store.present(db):
        return ()
    rows = store.learnings(db, project)
    wanted = kinds or problems()
    found = [row for row in rows if row["kind"] in wanted and state(row, now) in states]
    times = _times(db, found)
    listed = [_learning(row, times.get(row["id"], ()), now) for row in found]
    half = _half_life()
    weights = {row["id"]: _weight(times.get(row["id"], ()), until(row["worked_at"] or 0, now), half) for row in found}
    if across:
        return _across(listed, times, weights)[:limit]
    listed.sort(key=lambda one: (project is None and dormant(one, now), -weights[one.id], _rank(one.kind), one.id))
    return tuple(replace(one, heat=scaled(weights[one.id])) for one in listed[:limit])


def count_open(db: Connection, now: int) -> int:
    """How many learnings `learnings` lists by default, without their heat."""
    return min(_LIMIT, store.count_open(db, problems(), now)) if store.present(db) else 0


def _rank(kind: str) -> int:
    """Its place among learnings of equal heat; a kind whose module is gone comes last."""
    every = names()
    return every.index(kind) if kind in every else len(every)


def dormant(one: Learning, now: int) -> bool:
    """Whether nobody has worked on its project for weeks: it cools by the calendar."""
    return one.worked_at + DORMANT < now


def learning(db: Connection, learning_id: int, now: int) -> Learning | None:
    """One learning, None when there is none."""
    return of(db, [learning_id], now).get(learning_id)


def of(db: Connection, ids: Iterable[int], now: int) -> dict[int, Learning]:
    """Some learnings by their ids, whatever their state."""
    if not store.present(db):
        return {}
    rows = store.learnings_of(db, ids)
    times, half = _times(db, rows), _half_life()
    return {row["id"]: _heated(row, times.get(row["id"], ()), now, half) for row in rows}


def _heated(row: Row, times: Times, now: int, half_life: float) -> Learning:
    weight = _weight(times, until(row["worked_at"] or 0, now), half_life)
    return replace(_learning(row, times, now), heat=scaled(weight))


def evidence(db: Connection, learning_id: int, limit: int = 50) -> tuple[Evidence, ...]:
    """Where a pattern was met and put right, the newest first."""
    if not store.present(db):
        return ()
    return tuple(_evidence(row) for row in store.evidence(db, learning_id, min(limit, _MOST)))


def warned(db: Connection, unit_id: int, now: int) -> tuple[Warned, ...]:
    """The open learnings that an episode runs into again, the hottest first."""
    if not store.present(db):
        return ()
    found = store.warnings(db, [unit_id])
    known = of(db, [learning_id for _, learning_id, _, _ in found], now) if found else {}
    shown = [
        Warned(one, reason, at)
        for _, learning_id, reason, at in found
        if (one := known.get(learning_id)) is not None and one.state == OPEN
    ]
    return tuple(sorted(shown, key=lambda each: (-each.learning.heat, each.learning.id)))


def state(row: Row, now: int) -> str:
    """The state that holds now: what was put off until a time that is over is open again."""
    if row["state"] == "snoozed" and row["snoozed_until"] is not None and row["snoozed_until"] <= now:
        return OPEN
    return str(row["state"])


def _times(db: Connection, rows: Sequence[Row]) -> dict[int, list[tuple[str, int]]]:
    out: dict[int, list[tuple[str, int]]] = {}
    for learning_id, session_id, at in store.occurrences(db, [row["id"] for row in rows]):
        out.setdefault(learning_id, []).append((session_id, at))
    return out


def _half_life() -> float:
    """Hours after which an occurrence warms half as much, as the person has set it."""
    return 24.0 * config.load().half_life_days


def _weight(times: Times, as_of: int, half_life: float) -> float:
    newest: dict[str, int] = {}
    for session_id, at in times:
        newest[session_id] = max(at, newest.get(session_id, 0))
    return weight(newest.values(), as_of, half_life)


def _across(
    listed: Iterable[Learning], times: dict[int, list[tuple[str, int]]], weights: dict[int, float]
) -> tuple[Learning, ...]:
    """Patterns of several projects, each as one, as hot as all of them together; the hottest first."""
    groups: dict[tuple[str, str], list[Learning]] = {}
    for one in listed:
        groups.setdefault((one.kind, one.key), []).append(one)
    out = []
    for group in groups.values():
        ours = sorted(group, key=lambda one: (-weights[one.id], one.id))
        if len({one.project_id for one in ours}) > 1:
            all_times = [each for one in ours for each in times.get(one.id, ())]
            out.append((sum(weights[one.id] for one in ours), _summed(ours, all_times)))
    out.sort(key=lambda one: (-one[0], _rank(one[1].kind), one[1].id))
    return tuple(replace(one, heat=scaled(weight)) for weight, one in out)


def _summed(ours: Sequence[Learning], times: Times) -> Learning:
    return replace(
        ours[0], project=", ".join(dict.fromkeys(one.project for one in ours)), files=(),
        first_at=min(one.first_at for one in ours), last_at=max(one.last_at for one in ours),
        sessions=sum(one.sessions for one in ours), occurrences=sum(one.occurrences for one in ours),
        remedy=next((one.remedy for one in ours if one.remedy), None), weeks=weeks(at for _, at in times),
        members=tuple(one.id for one in ours), projects=tuple(dict.fromkeys(one.project for one in ours)),
        worked_at=max(one.worked_at for one in ours),
    )  # fmt: skip


_AS_STORED = ("id", "project_id", "project", "kind", "key", "first_at", "last_at", "sessions", "occurrences",
              "state_at", "snoozed_until", "reopened")  # fmt: skip


def _learning(row: Row, times: Times, now: int) -> Learning:
    return Learning(
        **{name: row[name] for name in _AS_STORED}, title=_title(row["kind"], row["title"]),
        files=tuple(map(str, json_list(row["files"]))), heat=0,
        state=state(row, now), state_by=row["state_by"] or "", remedy=remedy(row["remedy"]), rule=row["rule"] or "",
        worked_at=row["worked_at"] or 0, weeks=weeks(at for _, at in times),
    )  # fmt: skip


def _title(kind: str, title: str) -> str:
    """A title; of a request that an older nmem cut in mid-word, up to its last whole word."""
    asked = title.removeprefix(AGAIN) if kind in (REPEATED_INTENT, UNRESOLVED_READ) else ""
    was_cut = len(asked) == CUT and (kind == REPEATED_INTENT or asked != title)
    return at_word(title + ELLIPSIS, len(title)) if was_cut else title


def remedy(text: str | None) -> Remedy | None:
    """A remedy as its column holds it; None when there is none, or it is not ours."""
    try:
        found = json_object(text)
        return Remedy(
            str(found["kind"]), str(found["text"]), tuple(map(str, found["files"])), tuple(map(str, found["commands"])),
            tuple(map(int, found["observation_ids"])), float(found["confidence"]), int(found["times"]),
        )  # fmt: skip
    except (ValueError, KeyError, TypeError):
        return None


def _evidence(row: Row) -> Evidence:
    content = row["content"] or ""
    if row["obs_type"] is not None and row["tool_name"] and row["file_path"] and content in ("", row["file_path"]):
        content = f"{row['tool_name']} {row['file_path']}"
    elif row["tool_name"] in ("Grep", "Glob", "LS"):
        content = f"{row['tool_name']} {content}"
    return Evidence(
        row["role"], row["session_id"], row["observation_id"], row["prompt_id"], row["unit_id"], row["at"],
        row["excerpt"], content, row["outcome"] or "",
    )  # fmt: skip
