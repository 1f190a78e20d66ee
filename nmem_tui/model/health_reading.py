"""What the screen Health asks of the database, a view in one visit: findings, redactions, storage, what is kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from sqlite3 import Connection

from nmem import tables
from nmem.audit import read, redaction, review
from nmem.audit.finding import NOTE, WRONG, Finding
from nmem.audit.redaction import Daily, Judged, Rate
from nmem.backup import places
from nmem.backup.places import Kept
from nmem.purge.past import Past, past
from nmem.retention import read as retention
from nmem.retention.read import Forecast, Standing

FINDINGS, HOOKS, SECRETS, STORAGE, KEPT = "findings", "hooks", "secrets", "storage", "kept"
MODES = (FINDINGS, HOOKS, SECRETS, STORAGE, KEPT)
_WORST = {WRONG: 0, NOTE: 1}


@dataclass(frozen=True, slots=True)
class Secrets:
    """Redactions: by kind and day, what a person judged of them, what waits."""

    daily: tuple[Daily, ...]
    rates: tuple[Rate, ...]
    judged: tuple[Judged, ...]
    waiting: int


@dataclass(frozen=True, slots=True)
class Stored:
    """What there is by type, and what of it is to go."""

    standing: Standing
    forecast: Forecast


@dataclass(frozen=True, slots=True)
class Keeping:
    """What can be brought back: backups, and purges within their window."""

    folder: str
    backups: tuple[Kept, ...]
    purges: tuple[Past, ...]


def findings(db: Connection, path: str, now: int) -> tuple[Finding, ...]:
    """What can be seen quickly; nothing before anything was concluded."""
    return tuple(read.findings(db, path, now)) if tables.version(db) else ()


def worst_first(found: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """In the order in which a person should read them."""
    return tuple(sorted(found, key=lambda one: _WORST.get(one.severity, 2)))


def secrets(db: Connection, now: int) -> Secrets:
    """Redactions and their review."""
    if not tables.version(db):
        return Secrets(redaction.daily(db, now), (), (), 0)
    return Secrets(redaction.daily(db, now), redaction.rates(db, now), redaction.judged(db), review.waiting(db))


def stored(db: Connection, now: int, stopped: Callable[[], bool]) -> Stored | None:
    """Every row is counted: not to be asked often."""
    if not tables.version(db):
        return None
    return Stored(retention.standing(db, now), retention.forecast(db, now=now, stopped=stopped))


def kept(db: Connection, path: str) -> Keeping:
    """Backups in their folder, and past purges."""
    folder = places.folder(path)
    purges = tuple(past(db)) if tables.version(db) else ()
    return Keeping(str(folder), tuple(places.kept(folder)), purges)
