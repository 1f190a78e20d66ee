"""Checks extraction from calls (SQL): shares without content, path, outcome or exit code, by client and version.

A measure is taken within one kind of call (shell, file, search, other), so that other work is no other quality.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from sqlite3 import Connection

from nmem.audit import NOTE, OK, WRONG, Finding, drift
from nmem.audit.shift import FEWEST, share, shifted
from nmem.intervals import wilson

WINDOW = 20_000
"""Newest observations that are looked at; all of them when asked to look deep."""
_WEEK = 7 * 24 * 3_600_000
_BROKEN = 0.5
"""From this share on, something is amiss even where nothing is known from before."""
_GROUPS = """CASE WHEN o.obs_type IN ('command', 'test', 'build', 'lint', 'install', 'git_commit', 'git_push',
 'git_other', 'github') THEN 'shell' WHEN o.obs_type IN ('file_read', 'file_edit', 'file_write') THEN 'file'
 WHEN o.obs_type = 'search' THEN 'search' ELSE 'other' END"""
_NOT_CALLS = "('session_start', 'session_resume', 'session_clear', 'session_compact', 'marker')"


@dataclass(frozen=True, slots=True)
class Measure:
    """A share: which rows count, and of which."""

    name: str
    words: str
    group: str
    """shell file search other, or empty for every call."""
    hit: str
    of: str = "1"


MEASURES = (
    Measure("empty shell", "shell calls without a command", "shell", "o.content = ''"),
    Measure("empty file", "file calls without content", "file", "o.content = ''"),
    Measure("empty search", "searches without content", "search", "o.content = ''"),
    Measure("empty other", "other calls without content", "other", "o.content = ''"),
    Measure("unknown tool", "calls of a tool that nobody knows", "", "o.obs_type = 'tool_other'"),
    Measure("unknown outcome shell", "shell calls of unknown outcome", "shell", "o.outcome = 'unknown'"),
    Measure("unknown outcome file", "file calls of unknown outcome", "file", "o.outcome = 'unknown'"),
    Measure("unknown outcome search", "searches of unknown outcome", "search", "o.outcome = 'unknown'"),
    Measure("no path", "file calls without a path", "file", "coalesce(o.file_path, '') = ''"),
    Measure("no exit code", "failed shell calls without an exit code", "shell", "o.exit_code IS NULL",
            "o.outcome = 'failed'"),
    Measure("no lines", "edits without their lines", "file", "o.lines_added IS NULL",
            "o.outcome = 'ok' AND o.obs_type IN ('file_edit', 'file_write')"),
)  # fmt: skip


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
        newest = max(mine, key=_order).version
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


def _order(one: _Session) -> tuple[tuple[int, ...], int]:
    return drift.version_order(one.version, one.at)


def _sessions(db: Connection, deep: bool) -> list[_Session]:
    sums = ", ".join(f"total({_cases(one)} AND {one.hit}), total({_cases(one)})" for one in MEASURES)
    rows = db.execute(
        f"SELECT s.client, coalesce(s.client_version, ''), s.started_at, {sums} FROM observations o NOT INDEXED"  # noqa: S608 -- our own words
        " JOIN sessions s ON s.id = o.session_id"
        f" WHERE o.id > (SELECT coalesce(max(id), 0) FROM observations) - ? AND o.obs_type NOT IN {_NOT_CALLS}"
        " AND s.origin <> 'demo' GROUP BY o.session_id",
        (1 << 62 if deep else WINDOW,),
    ).fetchall()
    out = []
    for client, version, at, *sums_ in map(tuple, rows):
        pairs = tuple((int(sums_[n]), int(sums_[n + 1])) for n in range(0, len(sums_), 2))
        out.append(_Session(client, version, at, pairs))
    return out


def _cases(measure: Measure) -> str:
    group = f"{_GROUPS} = '{measure.group}'" if measure.group else "1"
    return f"({group}) AND ({measure.of})"


def _compared(
    db: Connection, client: str, version: str, before: Sequence[_Session], after: Sequence[_Session], when: str
) -> Iterator[Finding]:
    for at, measure in enumerate(MEASURES):
        was, now = share(one.counts[at] for one in before), share(one.counts[at] for one in after)
        if now.value > was.value and shifted(was, now):
            said = f"{drift.version_told(client, version)}: {now} of {measure.words}, {was} {when}"
            ids = _examples(db, client, version, measure)
            severity = WRONG if now.value >= _BROKEN else NOTE
            yield Finding("extraction", severity, said + _named(ids), _mend(client, ids), client, examples=ids)


def _broken(db: Connection, client: str, version: str, here: Sequence[_Session]) -> Iterator[Finding]:
    """Shares that nothing healthy has, whatever there was before."""
    for at, measure in enumerate(MEASURES):
        if not measure.name.startswith(("empty", "no path", "unknown tool")):
            continue
        now = share(one.counts[at] for one in here)
        if now.cases >= FEWEST and wilson(now.hits, now.cases)[0] > _BROKEN:
            ids = _examples(db, client, version, measure)
            said = f"{drift.version_told(client, version)}: {now} of {measure.words}"
            yield Finding("extraction", WRONG, said + _named(ids), _mend(client, ids), client, examples=ids)


def _mend(client: str, ids: Sequence[str]) -> str:
    return f"nmem show {ids[0]}; upgrade nmem; until then: nmem import --client {client}" if ids else "upgrade nmem"


def _named(ids: Sequence[str]) -> str:
    return f", e.g. {', '.join(ids)}" if ids else ""


def _examples(db: Connection, client: str, version: str, measure: Measure) -> tuple[str, ...]:
    rows = db.execute(
        "SELECT o.id FROM observations o NOT INDEXED JOIN sessions s ON s.id = o.session_id"  # noqa: S608 -- our own words
        " WHERE o.id > (SELECT max(id) FROM observations) - ? AND s.client = ? AND coalesce(s.client_version, '') = ?"
        f" AND {_cases(measure)} AND {measure.hit} AND o.obs_type NOT IN {_NOT_CALLS} ORDER BY o.id DESC LIMIT 3",
        (WINDOW, client, version),
    )
    return tuple(f"obs/{row[0]}" for row in rows)
