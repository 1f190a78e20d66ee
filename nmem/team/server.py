"""Speaks to the team's server (SQL of PostgreSQL): who one is there, what was taken away, facts in both directions.

All waits are bounded: connecting, statements, locks, a peer that went away. Rows that the server does not take are
found by halving the batch, so one of them holds nothing up.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, LiteralString, NamedTuple, TypeVar

from nmem.errors import NmemError
from nmem.team import schema
from nmem.team.config import BOUNDS
from nmem.text import printable

if TYPE_CHECKING:
    from psycopg import Connection

BATCH = 2_000
"""Rows of one statement and one transaction."""
_SETTINGS: LiteralString = (
    "SET statement_timeout = '30s'; SET lock_timeout = '20s'; SET idle_in_transaction_session_timeout = '60s';"
    " SET client_encoding = 'UTF8'; SET default_transaction_isolation = 'read committed'"
)
_ROWS = ("22", "23", "54")
"""Classes of SQLSTATE that speak of a row: bad data, a constraint, a limit."""
_FORBIDDEN, _TWICE = "42501", "23505"
_Each = TypeVar("_Each")


class Unreachable(NmemError):
    """The server does not answer, or hung up: the next pass tries again."""


class Removed(NmemError):
    """This login is no member of the team."""


class Fact(NamedTuple):
    """One version of a fact as it travels; `files` and `data` are JSON."""

    id: str
    kind: str
    subject: str
    project: str
    """What the team calls the project."""
    author: str
    device: str
    at: int
    title: str
    body: str
    files: str
    data: str


class Came(NamedTuple):
    """A fact with its place in the server's order."""

    seq: int
    fact: Fact


class Gone(NamedTuple):
    """What was taken away: a version of its author, or with a subject every version of anybody."""

    seq: int
    id: str
    subject: str
    author: str


class Mark(NamedTuple):
    """A place in the history of a server: another history does not have it."""

    epoch: str
    seq: int = 0
    mark: str = ""


_SEND: LiteralString = """
INSERT INTO nmem.facts (team, id, kind, subject, project, author, device, at, title, body, files, data)
SELECT %s, r.* FROM json_to_recordset(%s::json) AS r(id text, kind text, subject text, project text, author text,
  device text, at bigint, title text, body text, files text, data text)
ON CONFLICT (team, author, id) DO NOTHING
"""
"""One document for all rows: a list for each column takes the driver several times as long."""
_COLUMNS: LiteralString = "seq, id, kind, subject, project, author, device, at, title, body, files, data"


@contextmanager
def connected(server: Mapping[str, str]) -> Iterator[Connection[Any]]:
    """A connection in autocommit mode. Raises Unreachable while it is being made; what comes later as psycopg does."""
    psycopg = driver()
    try:
        made = psycopg.connect(**{**server, **BOUNDS}, autocommit=True)
    except psycopg.Error as error:
        raise Unreachable(worded(error)) from None
    try:
        with made:
            made.execute(_SETTINGS)
            yield made
    finally:
        made.close()


def driver() -> Any:  # noqa: ANN401 - a module that may be absent
    """The module psycopg. Raises NmemError where it is not installed."""
    try:
        import psycopg  # on use: only who shares with a team has it
    except ImportError:
        raise NmemError(
            "sharing with a team needs psycopg: pip install 'psycopg[binary]' where nmem is installed"
        ) from None
    return psycopg


def worded(error: Exception) -> str:
    """What a server said, on one line and without what it quotes of us."""
    said = " ".join(str(error).split("\n")[0].split())
    return printable(said)[:200] or type(error).__name__


class Server:
    """One team on one connection."""

    def __init__(self, db: Connection[Any], team: str) -> None:
        self.db, self.team = db, team

    def me(self) -> str:
        """The member that this login is. Raises Removed where it is none, NmemError where nothing is set up."""
        errors = driver().errors
        try:
            row = self.db.execute("SELECT nmem.me(%s)", (self.team,)).fetchone()
        except errors.InsufficientPrivilege:
            row = None
        except (errors.InvalidSchemaName, errors.UndefinedFunction):
            raise NmemError(
                "the server is not set up: an administrator runs `nmem sync init URL --team NAME --admin`"
            ) from None
        if row is None or row[0] is None:
            said = f"this login is not (or no longer) a member of team {self.team}: nothing is read or sent"
            raise Removed(f"{said}; an administrator grants the role {schema.group(self.team)} and lists the login")
        found = self.db.execute("SELECT max(version) FROM nmem.versions").fetchone()
        if found is None or found[0] != len(schema.MIGRATIONS):
            said = f"the server's tables have version {found and found[0]}, this nmem knows {len(schema.MIGRATIONS)}"
            raise NmemError(f"{said}: upgrade nmem, or have an administrator run `nmem sync init ... --admin`")
        return str(row[0])

    def login(self) -> str:
        """How this connection logged in."""
        return self._one("SELECT session_user::text")

    def mark(self) -> Mark:
        """The newest place in this server's history of the team."""
        epoch = self._one("SELECT epoch::text FROM nmem.server")
        row = self.db.execute(
            "SELECT seq, mark::text FROM nmem.marks WHERE team = %s ORDER BY seq DESC LIMIT 1", (self.team,)
        ).fetchone()
        return Mark(epoch, int(row[0]), str(row[1])) if row else Mark(epoch)

    def knows(self, mark: Mark) -> bool:
        """Whether a place is in this server's history: not so where it was set back, or is another one."""
        if mark.epoch != self._one("SELECT epoch::text FROM nmem.server"):
            return False
        there = "SELECT 1 FROM nmem.marks WHERE team = %s AND seq = %s AND mark::text = %s"
        return not mark.mark or self.db.execute(there, (self.team, mark.seq, mark.mark)).fetchone() is not None

    def purge(self, subjects: Sequence[str]) -> dict[str, str]:
        """Take subjects away, everybody's versions of them, for ever; the refused ones with the reason."""
        return self._told("SELECT nmem.purge(%s, %s::text[])", subjects)

    def withdraw(self, ids: Sequence[str]) -> dict[str, str]:
        """Take versions of one's own away; the refused ones with the reason."""
        return self._told("SELECT nmem.withdraw(%s, %s::text[])", ids)

    def _told(self, sql: LiteralString, words: Sequence[str]) -> dict[str, str]:
        refused: dict[str, str] = {}
        self._halving(list(words), lambda some: self.db.execute(sql, (self.team, list(some))), refused, str)
        return refused

    def send(self, facts: Sequence[Fact]) -> tuple[int, dict[str, str]]:
        """Insert facts, of which some may be there; how many are new, and the refused ones' ids with the reason."""
        refused: dict[str, str] = {}
        new = 0

        def insert(some: Sequence[Fact]) -> None:
            nonlocal new
            new += self.db.execute(_SEND, (self.team, json.dumps([each._asdict() for each in some]))).rowcount

        self._halving(list(facts), insert, refused, lambda fact: fact.id)
        return new, refused

    def gone(self, after: int) -> list[Gone]:
        """What was taken away since, a batch of it in the server's order."""
        sql = "SELECT seq, id, subject, author FROM nmem.gone WHERE team = %s AND seq > %s ORDER BY seq LIMIT %s"
        return [Gone(*row) for row in self.db.execute(sql, (self.team, after, BATCH))]

    def facts(self, after: int, upto: int, projects: Sequence[str]) -> list[Came]:
        """Facts of these projects after one place in the server's order up to another, a batch of them."""
        sql: LiteralString = (
            f"SELECT {_COLUMNS} FROM nmem.facts WHERE team = %s AND seq > %s AND seq <= %s AND project = ANY (%s)"  # noqa: S608
            " ORDER BY seq LIMIT %s"
        )
        rows = self.db.execute(sql, (self.team, after, upto, list(projects), BATCH), binary=True)
        return [Came(row[0], Fact(*row[1:])) for row in rows]

    def members(self) -> list[tuple[str, str]]:
        """Every member, and how each logs in."""
        sql = "SELECT member, min(login) FROM nmem.members WHERE team = %s GROUP BY member ORDER BY member"
        return [(str(row[0]), str(row[1])) for row in self.db.execute(sql, (self.team,))]

    def _one(self, sql: LiteralString) -> str:
        row = self.db.execute(sql).fetchone()
        return str(row[0]) if row else ""

    def _halving(
        self, some: list[_Each], run: Callable[[Sequence[_Each]], object], refused: dict[str, str],
        name: Callable[[_Each], str],
    ) -> None:  # fmt: skip
        """Run a statement over rows; where it fails over one of them, over the halves: this one alone is set aside."""
        psycopg = driver()
        if not some:
            return
        try:
            run(some)
        except (psycopg.Error, UnicodeError, ValueError) as error:
            if not self._about_a_row(error):
                raise
            if len(some) == 1:
                refused[name(some[0])] = _reason(error)
                return
            half = len(some) // 2
            for part in (some[:half], some[half:]):
                self._halving(part, run, refused, name)

    def _about_a_row(self, error: Exception) -> bool:
        """Whether an error is about what was sent, and not about the connection or the login as a whole."""
        state = getattr(error, "sqlstate", None)
        if state == _FORBIDDEN:
            self.me()  # raises where nothing may be sent at all
            return True
        if state is None:  # of the driver: a NUL, half a character; or the connection is gone
            return not self.db.closed and not self.db.broken
        if state == _TWICE:  # no row of ours: what is there already is passed over; nothing is set aside over it
            return False
        return str(state)[:2] in _ROWS


def _reason(error: Exception) -> str:
    """Why a row is refused, in words of ours: what a server says may quote the row."""
    state = getattr(error, "sqlstate", None)
    known = {
        "22": "its text cannot be stored",
        "23": "it breaks a rule of the server's tables",
        "42": "it is not yours",
    }
    return f"{known.get(str(state)[:2], 'its text cannot be sent')} ({state or type(error).__name__})"
