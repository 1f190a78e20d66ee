"""What travels between this memory and the team's server, and under which names; which errors speak of a row.

Rows that the server does not take are found by halving the batch, so one of them holds nothing up.
"""

from __future__ import annotations

import json
import re
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from nmem.errors import NmemError
from nmem.store.taken_back import about, prefix
from nmem.text import printable

if TYPE_CHECKING:
    from psycopg import Connection

BATCH = 2_000
"""Rows of one statement and one transaction."""
_ROWS = ("22", "23", "54")
"""Classes of SQLSTATE that speak of a row: bad data, a constraint, a limit."""
_FORBIDDEN, _TWICE = "42501", "23505"
_Each = TypeVar("_Each")
OWNER = "nmem_owner"
_TEAM = re.compile(r"[a-z][a-z0-9_]{0,39}")
_MEMBER = re.compile(r"[\w.@+-]{1,64}")


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


def halving(
    some: list[_Each], run: Callable[[Sequence[_Each]], object], refused: dict[str, str], name: Callable[[_Each], str],
    about_a_row: Callable[[Exception], bool],
) -> None:  # fmt: skip
    """Run a statement over rows; where it fails over one of them, over the halves: this one alone is set aside."""
    psycopg = driver()
    if not some:
        return
    try:
        run(some)
    except (psycopg.Error, UnicodeError, ValueError) as error:
        if not about_a_row(error):
            raise
        if len(some) == 1:
            refused[name(some[0])] = _reason(error)
            return
        half = len(some) // 2
        for part in (some[:half], some[half:]):
            halving(part, run, refused, name, about_a_row)


def about_a_row(error: Exception, db: Connection[Any], me: Callable[[], str]) -> bool:
    """Whether an error is about what was sent, and not about the connection or the login as a whole."""
    state = getattr(error, "sqlstate", None)
    if state == _FORBIDDEN:
        me()  # raises where nothing may be sent at all
        return True
    if state is None:  # of the driver: a NUL, half a character; or the connection is gone
        return not db.closed and not db.broken
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


def team(name: str) -> str:
    """A team's name, which is part of its role's. Raises NmemError for one that could not be."""
    if not _TEAM.fullmatch(name) or f"nmem_{name}" == OWNER:
        raise NmemError(f"{printable(name)!r} cannot be a team's name: use small letters, digits and _, at most 40")
    return name


def member(name: str) -> str:
    """A member's name. Raises NmemError for one that could not be."""
    if not _MEMBER.fullmatch(name):
        raise NmemError(f"{printable(name)!r} cannot be a member's name: use letters, digits and . _ @ + -, at most 64")
    return name


def group(name: str) -> str:
    """The role whose holders are the team."""
    return f"nmem_{team(name)}"


class Left(NmemError):
    """The team was left, or joined anew, while a pass was under way."""


@dataclass(frozen=True, slots=True)
class Shared:
    """A project as it was when it was chosen."""

    project_id: int
    shared_as: str
    """What the team calls it."""
    key: str
    name: str
    root: str
    same: bool
    """Whether the project of this number still is the one that was chosen."""
    at: int = 0
    """When it was chosen."""


@dataclass(frozen=True, slots=True)
class Read:
    """How far one role has read from one server."""

    mark: Mark | None = None
    facts: int = 0
    gone: int = 0
    of: str = ""
    """A digest of the projects whose facts were read: with others all is read again."""


def subject(member: str, *what: str) -> str:
    """What stands for a thing of a member in all its versions: two hashes, of which the server checks the first."""
    return f"{prefix(member)}{about(*what)}"


def now() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def new_id() -> str:
    """Of a version."""
    return secrets.token_hex(12)


def digest(*texts: str) -> str:
    """Sixteen hexadecimal digits of some texts."""
    return blake2b(json.dumps(texts).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def role(team: str, member: str, login: str) -> str:
    """The key of how far a role has read: another role begins anew."""
    return f"read/{digest(team, member, login)}"
