"""What was taken back from a team stays gone: purge, undo and restore say it here (the rest is nmem.team's)."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from hashlib import blake2b, sha256
from sqlite3 import Connection

from capture import files, paths
from capture.storage.store import transaction
from nmem.store import store


def prefix(member: str) -> str:
    """How the subjects of a member begin."""
    return f"{sha256(member.encode()).hexdigest()[:12]}."


def about(*what: str) -> str:
    """How the subject of a thing ends, whoever it is of."""
    return blake2b(json.dumps(what).encode(), digest_size=16).hexdigest()


def take_away(db: Connection, things: Iterable[tuple[str, ...]], now: int) -> None:
    """Things of this person go for ever, under each name that was used, whatever versions are known here: other
    machines may have said them, and this database may be a restored one. Inside a transaction."""
    begins = store.prefixes(db)
    if name := _member():
        begins.add(prefix(name))
    if not begins:
        return
    ends = {about(*each) for each in things}
    store.go(db, (f"{begin}{end}" for begin in sorted(begins) for end in sorted(ends)), now)


def membership() -> str:
    """The file beside config.toml that says which team a memory shares with, and under what name."""
    return os.path.join(os.path.dirname(paths.config()), "team.json")  # noqa: PTH118, PTH120 - strings as in capture.paths


def _member() -> str:
    """The name under which this memory shares now; "" where it does not, or the file cannot be read."""
    with suppress(OSError, files.NotOurs, ValueError, KeyError, TypeError):
        return str(json.loads(files.own(membership()))["member"])
    return ""


def clear_gone(db: Connection) -> None:
    """What is gone does not come back with the undo of a purge, nor with a restored backup."""
    with transaction(db):
        store.clear(db)
