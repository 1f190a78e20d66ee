"""Calls the person for one session, in a process of its own that a hook starts and nobody waits for."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

PAUSE_S = 1.0
"""Seconds until it is looked whether the session still waits: one that ends, or goes on at once, calls nobody."""


def start(db_path: str, session_id: str) -> bool:
    """Start calling where a person has set that; what it costs a hook is reading the setting and one spawn."""
    from nmem.attention import config  # on use: a change of config.toml is read here

    if not config.load().how:
        return False
    from capture.hook import SKIP  # on use: only where somebody is called
    from nmem.own_process import words

    env = {**os.environ, SKIP: "1", "NMEM_DB": db_path}
    given = words("--", db_path, session_id, str(os.getppid()), function="nmem.attention.ring:main")
    null = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]
    try:
        os.posix_spawn(given[0], given, env, file_actions=null, setpgroup=0)  # not setsid: that lets go of the terminal
    except (OSError, AttributeError):
        return False
    return True


def main() -> None:
    """The process: `-- DATABASE SESSION PID`, where PID is the client's."""
    import signal  # on use: `start` runs in a hook
    import time

    _, _, path, session, pid = sys.argv
    for number in (signal.SIGHUP, signal.SIGTTOU):  # a terminal may stop whoever writes to it from the background
        signal.signal(number, signal.SIG_IGN)
    time.sleep(PAUSE_S)
    ring(path, session, int(pid), time.time_ns() // 1_000_000, os.environ)


def ring(path: str, session: str, pid: int, now: int, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Call the person if the session still waits, it is no quiet hour and nobody called them; the ways that worked.

    Raises sqlite3.Error, NmemError.
    """
    from contextlib import closing  # on use: `start` runs in a hook

    from nmem import database  # on use: as before
    from nmem.attention import config, signals, waiting

    with closing(database.reader(path)) as db:
        found = waiting.of(db, session, now)
    own = config.load()
    terminal = signals.terminal_of(pid)
    if found is None or own.silent(now) or not signals.able(own.how, environ, terminal=bool(terminal)):
        return ()  # what cannot be called for here is left to whoever can
    return signals.call(own.how, "nmem", found.text, environ, terminal) if waiting.claim(path, found) else ()
