"""Lengthens or shortens the lifetimes of record types by evidence of use, within bounds, with reasons.

Control wants a small file; intelligence wants its material. Looked at, for each project and type, over a sample of
past sessions: how often what sessions were told of it was then used, how much of it is evidence of patterns that still
matter, how much lies in episodes that a person pinned or marked. Nothing of that known: the lifetime stays as written.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from sqlite3 import Connection

from nmem.retention import store
from nmem.retention.policy import Policy
from nmem.settings.kinds import LEAST_DAYS, PROMPT, REASONING, SAYINGS

LEAST, MOST = 0.5, 2.0
"""A lifetime is mediated between these multiples of what is written."""
SAMPLE = 40
"""Sessions of a project that are looked at."""
_JUDGED = 2_000
"""Of the newest things that sessions were told, so many are looked at."""
_ENOUGH = 50.0
"""Pieces of evidence at which it weighs half."""
_USED, _HOT, _NEAR = 3.0, 2.0, 2.0
"""How much each share counts."""
_STEP = 20
"""Multiples are rounded to a twentieth, so that a forecast stands still."""


@dataclass(frozen=True, slots=True)
class Life:
    """The lifetime of one type in one project, as written and as it is in force."""

    project_id: int
    project: str
    type: str
    written: float
    """Days; 0: for ever."""
    in_force: float
    factor: float
    used: float
    """The share of it that sessions came back to, as far as is known."""
    hot: float
    """The share that is evidence of what fails or is asked again."""
    near: float
    """The share that lies beside something pinned or marked."""
    evidence: int
    """How many pieces of evidence that rests on."""
    reason: str


@dataclass(frozen=True, slots=True)
class _Use:
    """What sessions of a project were told, and what they used."""

    files: Mapping[str, bool]
    units: Mapping[int, bool]
    judged: int


def lives(db: Connection, policy: Policy, now: int, projects: Mapping[int, str]) -> list[Life]:
    """The lifetimes of every project and type that can expire."""
    out = []
    for project_id, name in projects.items():
        types = [type_ for type_ in policy.days if policy.of(name, type_) > 0]
        shares = _shares(db, project_id, now) if policy.mediation else {}
        out += [_life(project_id, name, type_, policy, shares) for type_ in types]
    return out


def told(policy: Policy, found: Iterable[Life], share: float) -> dict[str, object]:
    """The policy as the journal keeps it."""
    moved = [asdict(one) for one in found if one.factor != 1.0]
    return {"mediation": policy.mediation, "max_bytes": policy.max_bytes, "share": share, "days": dict(policy.days),
            "projects": {name: dict(own) for name, own in policy.projects.items()}, "mediated": moved}  # fmt: skip


@dataclass(slots=True)
class _Share:
    count: int = 0
    told: int = 0
    """Of which it is known whether sessions that were told of it used it."""
    used: int = 0
    hot: int = 0
    near: int = 0


def _life(project_id: int, name: str, type_: str, policy: Policy, shares: Mapping[str, _Share]) -> Life:
    written = policy.of(name, type_)
    found = shares.get(type_)
    if found is None or not found.count:
        reason = "" if not policy.mediation else "its use is unknown"
        return Life(project_id, name, type_, written, written, 1.0, 0.0, 0.0, 0.0, 0, reason)
    used, hot, near = found.used / max(1, found.told), found.hot / found.count, found.near / found.count
    evidence = found.told + found.hot + found.near
    factor = multiple(used, hot, near, evidence)
    days = max(LEAST_DAYS, round(written * factor))
    return Life(project_id, name, type_, written, days, factor, used, hot, near, evidence, _reason(found, factor))


def multiple(used: float, hot: float, near: float, evidence: int) -> float:
    """By how much a lifetime is multiplied: 1 without evidence, towards 2 where all speaks for it, else 0.5."""
    value = min(1.0, _USED * used + _HOT * hot + _NEAR * near)
    weight = evidence / (evidence + _ENOUGH)
    exact = 2.0 ** ((2.0 * value - 1.0) * weight)
    return float(min(MOST, max(LEAST, round(exact * _STEP) / _STEP)))


def _reason(found: _Share, factor: float) -> str:
    parts = []
    if found.told:
        parts.append(f"sessions used {found.used} of {found.told} that they were told of")
    if found.hot:
        parts.append(f"{found.hot} of {found.count} are evidence of patterns that matter")
    if found.near:
        parts.append(f"{found.near} of {found.count} lie beside something pinned or marked")
    said = "; ".join(parts) or "no later use is known"
    return f"{said}: {'longer' if factor > 1 else 'shorter' if factor < 1 else 'as written'}"


def _shares(db: Connection, project_id: int, now: int) -> dict[str, _Share]:
    """What is known of each type, over the newest sessions that are over."""
    use = _use(db, project_id)
    out: dict[str, _Share] = {}
    for session_id in store.newest_sessions(db, project_id, now - 86_400_000, SAMPLE):
        near, hot = store.units_near(db, session_id), store.evidence(db, session_id)
        _calls(db, session_id, use, near, hot, out)
        _sayings(db, session_id, use, near, out)
    return out


def _use(db: Connection, project_id: int) -> _Use:
    files: dict[str, bool] = {}
    units: dict[int, bool] = {}
    rows = store.told(db, project_id, _JUDGED)
    for item, named, used in rows:
        kind, _, number = str(item).partition("/")
        if kind == "episode" and number.isdigit():
            units[int(number)] = units.get(int(number), False) or bool(used)
        for path in _paths(named):
            files[path] = files.get(path, False) or bool(used)
    return _Use(files, units, len(rows))


def _paths(stored: str) -> list[str]:
    try:
        found = json.loads(stored)
    except ValueError:
        return []
    return [str(one) for one in found] if isinstance(found, list) else []


def _calls(db: Connection, session_id: str, use: _Use, near: set[int], hot: set[int], out: dict[str, _Share]) -> None:
    for number, type_, path, unit_id in store.calls(db, session_id):
        one = out.setdefault(type_, _Share())
        one.count += 1
        known = [each for each in (use.files.get(path), use.units.get(unit_id)) if each is not None]
        one.told += bool(known)
        one.used += any(known)
        one.hot += number in hot
        one.near += unit_id in near


def _sayings(db: Connection, session_id: str, use: _Use, near: set[int], out: dict[str, _Share]) -> None:
    """What was said counts with the episode it was said in."""
    for unit_id, turns, said in store.units(db, session_id):
        for type_, number in ((PROMPT, turns), (REASONING, said)):
            assert type_ in SAYINGS
            one = out.setdefault(type_, _Share())
            one.count += number
            if unit_id in use.units:
                one.told += number
                one.used += number if use.units[unit_id] else 0
            one.near += number if unit_id in near else 0
