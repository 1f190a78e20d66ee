"""Reads the lifetimes of records, by type and project, from `[retention]` in config.toml.

[retention]
enabled = true          # false: nothing is forgotten by itself
mediation = true        # false: every lifetime is exactly what is written
max_size_mb = 0         # above it lifetimes are shortened

[retention.days]
file_read = 30          # 0 keeps a type for ever

[retention.projects.shop]
all = 0                 # nothing of it is ever forgotten
command = 60            # but its commands are

Mediation lengthens or shortens them by evidence of use, within bounds, with reasons. Control wants a small file;
intelligence wants its material. Looked at, for each project and type, over a sample of past sessions: how often what
sessions were told of it was then used, how much of it is evidence of patterns that still matter, how much lies in
episodes that a person pinned or marked. Nothing of that known: the lifetime stays as written.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, field
from difflib import SequenceMatcher, get_close_matches
from sqlite3 import Connection, Error

from capture import paths
from nmem import database
from nmem.errors import NmemError
from nmem.retention import store
from nmem.settings import file
from nmem.settings.check import Fault, dotted
from nmem.settings.kinds import DAYS, FOREVER, LEAST_DAYS, PROMPT, REASONING, SAYINGS, TYPES
from nmem.text import printable

ALL = "all"


@dataclass(frozen=True, slots=True)
class Policy:
    """The lifetimes a person wants, before what is worth keeping is weighed."""

    enabled: bool = True
    mediation: bool = True
    max_bytes: int = 0
    """0: no limit."""
    days: Mapping[str, float] = field(default_factory=lambda: dict(DAYS))
    projects: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Name of a project -> type or `all` -> days."""

    def of(self, project: str, type_: str) -> float:
        """Days that a type lives in a project; 0: for ever."""
        own = self.projects.get(project, {})
        days = own.get(type_, own.get(ALL, self.days.get(type_, FOREVER)))
        return FOREVER if days <= 0 else max(days, LEAST_DAYS)


def load() -> Policy:
    """The policy of the person's config. Raises NmemError at its first fault: nothing is forgotten by guesswork."""
    found = file.values("retention")
    projects = found.get("projects") or {}
    assert isinstance(projects, Mapping)
    return Policy(
        enabled=bool(found["enabled"]),
        mediation=bool(found["mediation"]),
        max_bytes=int(str(found["max_size_mb"])) * 1_000_000,
        days={**DAYS, **_days(found.get("days") or {}, "retention.days", TYPES)},
        projects={str(name): _days(own, f"retention.projects.{name}", (ALL, *TYPES)) for name, own in projects.items()},
    )


def _days(found: object, where: str, known: tuple[str, ...]) -> dict[str, float]:
    if not isinstance(found, Mapping):
        raise NmemError(f"config: {where} is not a table")
    unknown = next((name for name in found if name not in known), None)
    if unknown is not None:
        like = get_close_matches(str(unknown), known, 1, 0.5)
        raise NmemError(f"config: {where}.{unknown} is not known{f': did you mean {like[0]}?' if like else ''}")
    return {str(name): float(days) for name, days in found.items()}


_ALIKE = 0.75
"""How alike two names are at least, of 1, for one to be meant by the other."""
HELD = "of a project whose name is misspelt in the configuration"


@dataclass(frozen=True, slots=True)
class Stranger:
    """A name in [retention.projects] that no project has."""

    name: str
    nearest: str
    """The project that is called nearly so, which is swept by nobody meanwhile; empty: none."""

    @property
    def said(self) -> str:
        """The end of a sentence about its name."""
        if not self.nearest:
            return "names no project that is recorded here"
        near = printable(self.nearest)
        return f"names no project that is recorded: did you mean {near}? Nothing of {near} goes until then"

    @property
    def fault(self) -> Fault:
        """As a fault of config.toml."""
        return Fault(dotted(("retention", "projects", self.name)), self.said)


def strangers(db: Connection, named: Mapping[str, object]) -> tuple[Stranger, ...]:
    """Of the projects that are named, those that are not recorded; none while nothing at all is."""
    known = sorted(set(store.projects(db).values()))
    free = [name for name in known if name not in named]
    return tuple(Stranger(name, _nearest(name, free)) for name in named if known and name not in known)


def _nearest(name: str, known: list[str]) -> str:
    found = [(SequenceMatcher(None, name.casefold(), each.casefold()).ratio(), each) for each in known]
    best, near = max(found, default=(0.0, ""))
    return near if best >= _ALIKE else ""


def recorded() -> tuple[Stranger, ...]:
    """Those of config.toml and of the database in use; none where either cannot be read, which others say."""
    try:
        wanted = load()
        if not wanted.projects:
            return ()
        with closing(database.reader(paths.database())) as db:
            return strangers(db, wanted.projects)
    except (NmemError, Error):
        return ()


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
