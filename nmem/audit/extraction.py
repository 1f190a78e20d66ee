"""Checks extraction from calls: shares without content, path, outcome or exit code, by client and version.

A measure is taken within one kind of call (shell, file, search, other), so that other work is no other quality.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from sqlite3 import Connection

from nmem.audit import NOTE, OK, WRONG, Finding, drift, store
from nmem.audit.shift import FEWEST, share, shifted
from nmem.audit.store import MEASURES
from nmem.intervals import wilson

WINDOW = 20_000
"""Newest observations that are looked at; all of them when asked to look deep."""
_WEEK = 7 * 24 * 3_600_000
_BROKEN = 0.5
"""From this share on, something is amiss even where nothing is known from before."""


@dataclass(frozen=True, slots=True)
class _Session:
    client: str
    version: str
    at: int
    counts: tuple[tuple[int, int], ...]
    """(hits, cases) of each measure."""


def findings(db: Connection, now: int, deep: bool = False) -> list[Finding]:
    """Shifts between versions and within the newest one, what is broken from the start; else one line that all is well.

    Raises sqlite3.Error.
    """
    sessions = _sessions(db, deep)
    out: list[Finding] = []
    for client in sorted({one.client for one in sessions}):
        mine = [one for one in sessions if one.client == client]
        newest = max(mine, key=lambda one: drift.version_order(one.version, one.at)).version
        here, earlier = [o for o in mine if o.version == newest], [o for o in mine if o.version != newest]
        found = list(_compared(db, client, newest, earlier, here, "in earlier versions"))
        if not found:
            recent = [one for one in here if one.at >= now - _WEEK]
            past = [one for one in here if one.at < now - _WEEK]
            found = list(_compared(db, client, newest, past, recent, "before this week"))
        out += found or list(_broken(db, client, newest, here))
    if not out and sessions:
        calls = sum(one.counts[4][1] for one in sessions)
        read = f"{len(sessions):,} session{'s' * (len(sessions) != 1)}"
        said = f"{calls:,} calls of {read} are read as before; no share has shifted"
        out.append(Finding("extraction", OK, said))
    return out


def _sessions(db: Connection, deep: bool) -> list[_Session]:
    out = []
    for client, version, at, *sums_ in store.measured(db, 1 << 62 if deep else WINDOW):
        pairs = tuple((int(sums_[n]), int(sums_[n + 1])) for n in range(0, len(sums_), 2))
        out.append(_Session(client, version, at, pairs))
    return out


def _compared(
    db: Connection, client: str, version: str, before: Sequence[_Session], after: Sequence[_Session], when: str
) -> Iterator[Finding]:
    for at, measure in enumerate(MEASURES):
        was, now = share(one.counts[at] for one in before), share(one.counts[at] for one in after)
        if now.value > was.value and shifted(was, now):
            said = f"{drift.version_told(client, version)}: {now} of {measure.words}, {was} {when}"
            ids = store.examples(db, client, version, measure, WINDOW)
            severity = WRONG if now.value >= _BROKEN else NOTE
            yield Finding("extraction", severity, said + _named(ids), _mend(client, ids), client, examples=ids)


def _broken(db: Connection, client: str, version: str, here: Sequence[_Session]) -> Iterator[Finding]:
    """Shares that nothing healthy has, whatever there was before."""
    for at, measure in enumerate(MEASURES):
        if not measure.name.startswith(("empty", "no path", "unknown tool")):
            continue
        now = share(one.counts[at] for one in here)
        if now.cases >= FEWEST and wilson(now.hits, now.cases)[0] > _BROKEN:
            ids = store.examples(db, client, version, measure, WINDOW)
            said = f"{drift.version_told(client, version)}: {now} of {measure.words}"
            yield Finding("extraction", WRONG, said + _named(ids), _mend(client, ids), client, examples=ids)


def _mend(client: str, ids: Sequence[str]) -> str:
    return f"nmem show {ids[0]}; upgrade nmem; until then: nmem import --client {client}" if ids else "upgrade nmem"


def _named(ids: Sequence[str]) -> str:
    return f", e.g. {', '.join(ids)}" if ids else ""
