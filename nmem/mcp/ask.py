"""One tool call: its arguments, its project, and the database, opened for reading on first use.

SQL: which projects there are.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import Connection

from capture import paths
from nmem.errors import NmemError
from nmem.names import cited
from nmem.search.clock import OUTER_STEPS

Value = str | int | tuple[str, ...]
EVERYWHERE = "*"
SECONDS = 10.0
"""How long one call may read."""
_NAMED = 8
_SESSION = "CLAUDE_CODE_SESSION_ID"
"""Where a client tells the programs that it starts which session is theirs."""


class Usage(NmemError):
    """Arguments that a tool cannot use; the text says which, and what it takes."""


@dataclass(frozen=True, slots=True)
class Place:
    """A project; every one of them when `key` is empty."""

    id: int | None
    key: str
    name: str


class Ask:
    """A call of one tool, while it is answered."""

    def __init__(self, given: Mapping[str, Value], cwd: str = "") -> None:
        self._given = given
        self.cwd = cwd or str(Path.cwd())
        self.now = time.time_ns() // 1_000_000
        self._db: Connection | None = None
        self._until = 0.0

    def text(self, name: str) -> str:
        """An argument that is a text; empty when it was not given."""
        return str(self._given.get(name, "")).strip()

    def number(self, name: str) -> int:
        """An argument that is a number, within its bounds."""
        value = self._given.get(name, 0)
        assert isinstance(value, int)
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """An argument that is a list."""
        value = self._given.get(name, ())
        assert isinstance(value, tuple)
        return value

    @property
    def db(self) -> Connection:
        """The database, read-only. Raises NoDatabase or NmemError, which say what to do."""
        if self._db is None:
            from nmem import database, upgrade

            self._db = database.one_moment(database.leniently(upgrade.reader(paths.database())))
            self._until = time.monotonic() + SECONDS
            self._db.set_progress_handler(lambda: int(self.over()), OUTER_STEPS)
        return self._db

    def over(self) -> bool:
        """Whether the call has read for as long as it may."""
        return time.monotonic() > self._until

    def close(self) -> None:
        """Let go of the database."""
        if self._db is not None:
            self._db.close()
            self._db = None

    @property
    def place(self) -> Place:
        """The project that was asked for, else the one that the server runs in. Raises NmemError."""
        named = self.text("project")
        if named == EVERYWHERE:
            return Place(None, "", "")
        from nmem.store import project

        found = project.meant(self.db, named) if named else project.here(self.db, self.cwd)
        if found is not None:
            return Place(found.id, found.key, found.name)
        from capture.project import resolve

        raise NmemError(f"nothing is recorded of {cited(named or resolve(self.cwd).name, 80)}: {self._others()}")

    def _others(self) -> str:
        """Which projects there are, those worked on last first."""
        found = self.db.execute(
            "SELECT name FROM projects p ORDER BY (SELECT max(last_at) FROM sessions WHERE project_id = p.id) DESC"
            " LIMIT ?",
            (_NAMED + 1,),
        ).fetchall()
        names = [cited(row[0], 60) for row in found]
        if not names:
            return "no session is recorded at all yet"
        more = " …" if len(names) > _NAMED else ""
        return f"project may be {', '.join(names[:_NAMED])}{more} or {EVERYWHERE} for all"

    def cursor(self) -> tuple[int, int] | None:
        """The two numbers of a cursor; None on the first page. Raises Usage for one that no reply gave."""
        text = self.text("cursor")
        if not text:
            return None
        found = [part for part in text.split(".") if part.isascii() and part.isdecimal() and len(part) < 19]
        if len(found) != 2 or ".".join(found) != text:
            raise Usage("cursor: pass the `next` of an earlier reply to the same question, unchanged")
        return int(found[0]), int(found[1])

    def session_named(self) -> str:
        """The session that the client named; empty without one, or where that has ended: clearing makes another."""
        from nmem.read import views

        db, own = self.db, os.environ.get(_SESSION, "")
        row = views.session(db, own) if own else None
        return own if row is not None and row.state != "ended" else ""

    def session_here(self) -> str:
        """The session that is going on in the project that is asked about. Raises NmemError when there is none."""
        from nmem.read import views
        from nmem.stance.read import newest

        if not self.text("project") and (own := self.session_named()):
            return own
        place = self.place
        found = newest(self.db, place.key) if place.key else next((row.id for row in views.sessions(self.db, 1)), None)
        if found is None:
            raise NmemError(f"no session is recorded{f' of {cited(place.name, 80)}' if place.key else ''} yet")
        return found


@contextmanager
def asking(given: Mapping[str, Value], cwd: str = "") -> Iterator[Ask]:
    """A call that lets go of the database at its end."""
    ask = Ask(given, cwd)
    try:
        yield ask
    finally:
        ask.close()
