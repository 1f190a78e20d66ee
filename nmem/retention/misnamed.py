"""Finds configured projects that were never recorded (SQL): their lifetimes protect nothing.

Where a recorded project is called nearly so, nothing of that one goes until the name is put right.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from difflib import SequenceMatcher
from sqlite3 import Connection, Error

from capture import paths
from nmem import database
from nmem.errors import NmemError
from nmem.settings.check import Fault, dotted
from nmem.text import printable

_NEAR = 0.75
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
    known = [str(row[0]) for row in db.execute("SELECT DISTINCT name FROM projects ORDER BY name").fetchall()]
    free = [name for name in known if name not in named]
    return tuple(Stranger(name, _nearest(name, free)) for name in named if known and name not in known)


def _nearest(name: str, known: list[str]) -> str:
    found = [(SequenceMatcher(None, name.casefold(), each.casefold()).ratio(), each) for each in known]
    best, near = max(found, default=(0.0, ""))
    return near if best >= _NEAR else ""


def recorded() -> tuple[Stranger, ...]:
    """Those of config.toml and of the database in use; none where either cannot be read, which others say."""
    from nmem.retention import policy

    try:
        wanted = policy.load()
        if not wanted.projects:
            return ()
        with closing(database.reader(paths.database())) as db:
            return strangers(db, wanted.projects)
    except (NmemError, Error):
        return ()
