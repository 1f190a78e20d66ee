"""Who is in the team, and whom this person does not want to hear (SQL); how sharing stands, for a line on a screen.

Muting changes what is shown here and nothing else: the facts stay, and come again with `unmute`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from sqlite3 import Connection

from capture.storage.store import transaction
from nmem.errors import NmemError
from nmem.teammates.live import KINDS
from nmem.text import counted, json_object, printable

NO_TEAM = "this memory belongs to no team yet: see `nmem sync init --help`"
PAUSED, FAILING = "paused", "failing"
"""Keys of `team_state`: since when sharing is paused, and since when the server does not answer."""


@dataclass(frozen=True, slots=True)
class Member:
    """One person of the team."""

    team: str
    author: str
    role: str
    """How the person logs in to the server."""
    last_at: int
    """Milliseconds of the newest fact, by that person's clock; 0: none yet."""
    facts: Mapping[str, int]
    """Kind -> facts that hold."""
    muted: bool
    own: bool
    """Whether it is the person of this memory."""

    @property
    def told(self) -> str:
        """How many facts of which kind, in words."""
        return ", ".join(counted(self.facts[kind], kind) for kind in KINDS if self.facts.get(kind)) or "nothing yet"


@dataclass(frozen=True, slots=True)
class Standing:
    """How sharing stands."""

    team: str
    """Empty: this memory shares with nobody."""
    projects: int = 0
    others: int = 0
    """Members beside this person."""
    paused_at: int = 0
    failing_at: int = 0
    """Milliseconds since when the server does not answer; 0: it does."""
    reason: str = ""


def members(db: Connection) -> list[Member]:
    """Everybody by name, also who has said nothing yet. Raises sqlite3.Error."""
    counts: dict[tuple[str, str], dict[str, int]] = {}
    own: set[tuple[str, str]] = set()
    for team, author, kind, mine, count in db.execute(
        "SELECT team, author, kind, max(own), count(*) FROM team_facts WHERE gone = 0 GROUP BY team, author, kind"
    ).fetchall():
        counts.setdefault((team, author), {})[kind] = count
        own |= {(team, author)} if mine else set()
    rows = db.execute("SELECT team, author, role, coalesce(last_at, 0), muted FROM team_members").fetchall()
    known = {(row[0], row[1]): tuple(row[2:]) for row in rows}
    every = sorted({*known, *counts}, key=lambda one: (one[0], one[1].lower(), one[1]))
    return [
        Member(*one, str(role), int(last), counts.get(one, {}), bool(muted), one in own)
        for one in every
        for role, last, muted in (known.get(one, ("", 0, 0)),)
    ]


def mute(db: Connection, name: str, *, muted: bool) -> str:
    """Hear a member no longer, or again; the member's whole name. Raises NmemError."""
    found = _named(db, name)
    if found.own and muted:
        raise NmemError(f"{printable(found.author)} is you: your own work is always shown")
    if found.muted == muted:
        raise NmemError(f"{printable(found.author)} is {'muted already' if muted else 'not muted'}")
    with transaction(db):
        db.execute(
            "INSERT INTO team_members (team, author, muted) VALUES (?, ?, ?)"
            " ON CONFLICT (team, author) DO UPDATE SET muted = excluded.muted",
            (found.team, found.author, int(muted)),
        )
    return found.author


def muted(db: Connection, author: str) -> bool:
    """Whether a member of this name is muted."""
    return db.execute("SELECT 1 FROM team_members WHERE author = ? AND muted LIMIT 1", (author,)).fetchone() is not None


def _named(db: Connection, name: str) -> Member:
    """The member of a name, or the only one whose name begins so. Raises NmemError."""
    every = members(db)
    found = [one for one in every if one.author == name] or [
        one for one in every if name and one.author.lower().startswith(name.lower())
    ]
    if len(found) == 1:
        return found[0]
    if not every:
        raise NmemError(NO_TEAM)
    names = ", ".join(printable(one.author) for one in (found or every)[:8])
    why = "several members are called so" if found else "no member is called so"
    raise NmemError(f"{printable(name)}: {why}: {names}")


def standing(db: Connection) -> Standing:
    """How sharing stands; of a memory that shares with nobody an empty team. Raises sqlite3.Error."""
    row = db.execute("SELECT team, count(*) FROM team_projects GROUP BY team ORDER BY 2 DESC LIMIT 1").fetchone()
    if row is None:
        return Standing("")
    people = db.execute("SELECT count(*) FROM team_members WHERE team = ?", (row[0],)).fetchone()[0]
    paused, _ = _since(db, PAUSED)
    failing, reason = _since(db, FAILING)
    return Standing(str(row[0]), int(row[1]), max(0, int(people) - 1), paused, failing, reason)


def _since(db: Connection, key: str) -> tuple[int, str]:
    """A time that is kept under a key: a number, or JSON with `since` or `at`, and `why`."""
    row = db.execute("SELECT value FROM team_state WHERE key = ?", (key,)).fetchone()
    value = str(row[0]) if row else ""
    if value.isascii() and value.isdecimal() and len(value) < 19:
        return int(value), ""
    found = json_object(value)
    at = found.get("since", found.get("at", 0))
    return (int(at) if isinstance(at, int | float) else 0), str(found.get("why", ""))
