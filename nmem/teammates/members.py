"""Who is in the team, and whom this person does not want to hear; how sharing stands, for a line on a screen.

Muting changes what is shown here and nothing else: the facts stay, and come again with `unmute`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from sqlite3 import Connection

from capture.storage.store import transaction
from nmem.errors import NmemError
from nmem.teammates import live
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
    for team, author, kind, mine, count in live.counted(db):
        counts.setdefault((team, author), {})[kind] = count
        own |= {(team, author)} if mine else set()
    known = {(team, author): row for team, author, *row in live.people(db)}
    every = sorted({*known, *counts}, key=lambda one: (one[0], one[1].lower(), one[1]))
    return [
        Member(*one, str(role), int(str(last)), counts.get(one, {}), bool(muted), one in own)
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
        live.mute(db, found.team, found.author, muted)
    return found.author


def muted(db: Connection, author: str) -> bool:
    """Whether a member of this name is muted."""
    return any(one[1] == author and one[4] for one in live.people(db))


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
    teams = live.teams(db)
    if not teams:
        return Standing("")
    team, projects = teams[0]
    people = sum(one[0] == team for one in live.people(db))
    paused, _ = _since(db, PAUSED)
    failing, reason = _since(db, FAILING)
    return Standing(team, projects, max(0, people - 1), paused, failing, reason)


def _since(db: Connection, key: str) -> tuple[int, str]:
    """A time that is kept under a key: a number, or JSON with `since` or `at`, and `why`."""
    value = live.state(db, key)
    if value.isascii() and value.isdecimal() and len(value) < 19:
        return int(value), ""
    found = json_object(value)
    at = found.get("since", found.get("at", 0))
    return (int(at) if isinstance(at, int | float) else 0), str(found.get("why", ""))
