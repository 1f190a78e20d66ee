"""Whose team this is and where its server stands: a file for the owner alone, beside config.toml.

The password of the address is in this file and nowhere else; without one, libpq looks into ~/.pgpass. A server on
another machine must prove who it is (`verify-full`) unless the address itself says otherwise.

Whoever settles starts a pass by it, where there is a team: a process in the background itself, not too often.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from capture import files, log, paths
from capture.hook import SKIP
from capture.settle import OFF, spawn
from nmem.errors import NmemError
from nmem.own_process import words
from nmem.settle_start import rested
from nmem.store import taken_back
from nmem.team import wire
from nmem.teammates.members import NO_TEAM
from nmem.text import printable

_LOCAL = ("localhost", "127.0.0.1", "::1", "[::1]")
_WEAK = ("disable", "allow", "prefer", "require", "verify-ca")
_KEPT = ("host", "hostaddr", "port", "dbname", "user", "password", "passfile", "sslmode", "sslrootcert", "sslcert",
         "sslkey", "channel_binding", "gssencmode", "service")  # fmt: skip
"""Parts of an address that a person may give; what bounds waiting is ours."""
_ENCODE = "percent-encode what is special in the password: %23 for #, %2F for /, %3A for :, %3F for ?, %40 for @"
_HOST = re.compile(r"(?P<host>\[[^\]]*\]|[^:\[\]]*)(?::(?P<port>[0-9]*))?")
BOUNDS = {
    "connect_timeout": "10", "keepalives": "1", "keepalives_idle": "15", "keepalives_interval": "5",
    "keepalives_count": "3", "tcp_user_timeout": "20000", "application_name": "nmem",
}  # fmt: skip
"""A server that went away without a word is noticed within half a minute."""


@dataclass(frozen=True, slots=True)
class Membership:
    """The team that this memory shares with."""

    team: str
    member: str
    server: dict[str, str]
    """Parts of the address as libpq names them, the password among them."""
    device: str
    """This machine, as a random word."""

    @property
    def place(self) -> str:
        """Where the server is and who logs in, without any secret."""
        at = self.server.get("hostaddr") or self.server.get("host") or self.server.get("service") or "this machine"
        port = f":{self.server['port']}" if "port" in self.server else ""
        who = f"{self.server['user']}@" if "user" in self.server else ""
        return printable(f"{who}{at}{port}/{self.server.get('dbname', '')}".rstrip("/"))

    @property
    def warning(self) -> str:
        """What is weak about the way to the server; mostly nothing."""
        mode = self.server.get("sslmode", "")
        if mode in _WEAK and not _local(self.server):
            return f"sslmode={mode}: nobody checks that the server is who it says (verify-full does)"
        return ""


path = taken_back.membership
"""Where the file is."""


def there() -> bool:
    """Whether this memory belongs to a team: one stat."""
    return os.path.exists(path())  # noqa: PTH110 - asked in the background, where each import counts


def load() -> Membership | None:
    """The team; None where there is none. Raises NmemError for a file that another wrote, or that cannot be read."""
    try:
        stored = json.loads(files.own(path()))
        server = {str(key): str(value) for key, value in stored["server"].items() if key in _KEPT}
        return Membership(wire.team(stored["team"]), wire.member(stored["member"]), server, str(stored["device"])[:32])
    except FileNotFoundError:
        return None
    except (OSError, files.NotOurs, ValueError, KeyError, TypeError, AttributeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is damaged"
        raise NmemError(f"{path()} cannot be read ({why}): `nmem sync init` writes it anew") from None


def needed() -> Membership:
    """The team. Raises NmemError where there is none, or as `load`."""
    found = load()
    if found is None:
        raise NmemError(NO_TEAM)
    return found


def save(one: Membership) -> None:
    """Write the file, for the owner alone. Raises NmemError."""
    try:
        paths.make(os.path.dirname(path()))  # noqa: PTH120
        files.replace(path(), json.dumps(asdict(one), indent=1).encode(), sync=True)
        os.chmod(path(), 0o600)  # noqa: PTH101
    except (OSError, files.NotOurs) as error:
        raise NmemError(f"{path()} cannot be written: {error}") from None


def forget() -> None:
    """Remove the file."""
    files.remove(path())


def machine() -> str:
    """A new word for this machine."""
    return secrets.token_hex(6)


def address(url: str) -> dict[str, str]:
    """The parts of an address as libpq names them, and how its server has to prove itself. Raises NmemError."""
    try:
        found = _parts(url)
    except ValueError:  # its words may quote the password
        raise _unread(_ENCODE) from None
    unknown = sorted(found.keys() - set(_KEPT))
    if unknown:
        raise NmemError(f"the address has an option that is not taken: {printable(', '.join(unknown))}")
    if not _local(found) and "sslmode" not in found:
        found["sslmode"] = "verify-full"
    if found.get("sslmode") == "verify-full" and "sslrootcert" not in found:
        home = os.path.expanduser("~/.postgresql/root.crt")  # noqa: PTH111
        found |= {} if os.path.exists(home) else {"sslrootcert": "system"}  # noqa: PTH110
    return found


def _unread(why: str) -> NmemError:
    return NmemError(f"the address cannot be read ({why}): postgresql://LOGIN@HOST/DATABASE")


def _parts(url: str) -> dict[str, str]:
    """The parts that stand in an address. Raises NmemError, and ValueError with words that may quote it."""
    parts = urlsplit(url)
    if parts.scheme not in ("postgresql", "postgres"):
        raise _unread("it begins with postgresql://")
    hosts = [_HOST.fullmatch(one) for one in parts.netloc.rpartition("@")[2].split(",")]
    if "#" in url or "@" in parts.path + parts.query or not all(hosts):
        raise _unread(_ENCODE)
    login, at, _ = parts.netloc.rpartition("@")
    user, _, password = login.partition(":") if at else ("", "", "")
    given = {
        "user": user, "password": password, "host": ",".join(one["host"].strip("[]") for one in hosts if one),
        "port": ",".join(one["port"] or "" for one in hosts if one), "dbname": parts.path.lstrip("/"),
    }  # fmt: skip
    found = {key: unquote(value) for key, value in given.items() if value.strip(",")}
    return found | dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query)))


def _local(server: dict[str, Any]) -> bool:
    """Whether the server is on this machine, whatever the environment says; one named by a service may not be."""
    if "service" in server or os.environ.get("PGSERVICE"):
        return False
    named = server.get("hostaddr") or server.get("host") or os.environ.get("PGHOSTADDR") or os.environ.get("PGHOST", "")
    both = [*named.split(","), *server.get("host", "").split(",")]
    return all(not one or one.startswith(("/", "@")) or one in _LOCAL for one in both)


def lock_file(db_path: str) -> str:
    """The file that is locked while a process shares, and touched when one begins."""
    return os.path.join(paths.folder(db_path), "sync.lock")  # noqa: PTH118 - strings as in capture.paths


def start(db_path: str) -> bool:
    """Start a pass; False where there is no team, the last one was just now, or it cannot be started."""
    if os.environ.get(OFF) or not there() or not rested(db_path, lock_file):
        return False
    try:
        spawn(words("sync", "now", "--quiet", "--db", db_path), {**os.environ, SKIP: "1", "NMEM_DB": db_path})
    except (OSError, AttributeError) as error:
        log.note(db_path, f"sync: {log.reason(error)}")
        return False
    return True
