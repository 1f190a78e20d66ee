"""Sends a synthetic event through a registered command as the client would; verifies and removes its row."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import tempfile
import time
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from capture import event as words
from capture import paths
from capture.files import opened, own
from capture.install.hook_entries import Entry
from capture.install.registered import Command
from capture.settle import OFF
from capture.storage import spool
from nmem import database as of_database
from nmem.context.inject import LATE
from nmem.doctor.probe_events import adapter, environment, payload
from nmem.episodes.arrange import forget_session
from nmem.errors import NmemError

_LIMIT = 20
_TABLES = ("observations", "prompts", "hook_runs", "transcript_cursors")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one command did with its event."""

    arrived: bool
    ms: float
    fault: str = ""
    """What was wrong, in one line; empty when nothing was."""
    logged: str = ""
    """What the hook wrote into the log, if it did."""


def run(
    command: Command, text: bytes, env: dict[str, str], folder: str
) -> tuple[float, subprocess.CompletedProcess[bytes]]:
    """Start a registered command as the client does; milliseconds and what came of it. `text`: at most 4 kB.

    Raises subprocess.TimeoutExpired.
    """
    line: list[str] | str = ["sh", "-c", command.line] if os.name != "nt" else command.line
    given, giving = os.pipe()
    try:
        os.write(giving, text)  # before it starts: a busy machine keeps no hook waiting for its input
    finally:
        os.close(giving)
    try:
        start = time.perf_counter()
        done = subprocess.run(line, stdin=given, env=env, cwd=folder, capture_output=True, timeout=_LIMIT, check=False)
        return (time.perf_counter() - start) * 1000, done
    finally:
        os.close(given)


def database(command: Command) -> str:
    """The file that a command writes to when it is started from here."""
    return command.db or paths.database()


def send(entry: Entry, session: str) -> Outcome:
    """One event through one command; its rows are looked for and taken away again."""
    command = entry.command
    with tempfile.TemporaryDirectory(prefix="nmem-doctor-", ignore_cleanup_errors=True) as made:
        folder = str(Path(made).resolve())
        text = json.dumps(payload(command.client, command.event, session, folder)).encode()
        log = _size(paths.log(database(command)))
        since, late = time.time_ns() // 1_000_000, _late(database(command))
        try:
            env = {**environment(command.client, session, folder), OFF: "1"}
            ms, done = run(command, text, env, folder)
        except subprocess.TimeoutExpired:
            return Outcome(False, _LIMIT * 1000, f"no end after {_LIMIT} s")
        except OSError as error:
            return Outcome(False, 0, f"cannot be started: {error.strerror}")
        fault = _spoken(done)
        try:
            arrived = _arrived(database(command), command, session, since)
            _clean(database(command), session, folder, since, late)
        except sqlite3.Error as error:
            return Outcome(False, ms, fault or f"the database cannot be read: {error}")
        finally:
            _unspool(database(command), session, since)
    logged = _last_line(paths.log(database(command)), log)
    if not arrived and not fault:
        fault = logged or "nothing arrived in the database"
    return Outcome(arrived, ms, fault, logged)


def _spoken(done: subprocess.CompletedProcess[bytes]) -> str:
    """What a hook must not do: fail, or say anything but one JSON object."""
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines() or [""]
        return f"exit code {done.returncode}: {said[-1]}"
    if done.stdout.strip() and not done.stdout.lstrip().startswith(b"{"):
        return "it prints text, which the client would take for context"
    return ""


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0


def _last_line(path: str, since: int) -> str:
    """The newest line of the log that came after `since` bytes."""
    try:
        with open(path, "rb", opener=opened) as file:
            file.seek(since)
            lines = file.read(20_000).decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    return lines[-1] if lines else ""


def _wanted(command: Command) -> str:
    """The table in which an event of this kind must show; none for one that is only asked about."""
    parsed = adapter(command.client).parse(command.event, payload(command.client, command.event, "probe", "/"), 0)
    if parsed is None:
        return "hook_runs"
    if parsed.kind == words.TOOL_CALL:
        return ""
    kinds = {words.PROMPT: "prompts", words.TOOL_RESULT: "observations", words.TOOL_ERROR: "observations"}
    return kinds.get(parsed.kind, "hook_runs")


def _usable(path: str) -> bool:
    with suppress(NmemError):
        of_database.own(path)
        return Path(path).is_file()
    return False


def _arrived(path: str, command: Command, session: str, since: int) -> bool:
    if not (table := _wanted(command)):
        return True  # it only reads: that it ended well, and said nothing, is all there is to see
    if not _usable(path):
        return False
    db = sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)
    try:
        if table != "hook_runs":
            return bool(db.execute(f"SELECT 1 FROM {table} WHERE session_id = ?", (session,)).fetchone())  # noqa: S608
        seen = db.execute(
            "SELECT 1 FROM hook_runs WHERE client = ? AND event = ? AND at >= ?"
            " AND (session_id = ? OR session_id IS NULL)",
            (command.client, command.event[:60], since - 1000, session),
        )
        return seen.fetchone() is not None
    finally:
        db.close()


def _late(path: str) -> int:
    """How many sessions were told nothing because that took too long; 0 where nothing can be read."""
    with suppress(NmemError, sqlite3.Error), closing(of_database.reader(path)) as db:
        row = db.execute("SELECT value FROM counters WHERE name = ?", (LATE,)).fetchone()
        return int(row[0]) if row else 0
    return 0


def _clean(path: str, session: str, folder: str, since: int, late: int) -> None:
    """Take every row of a probe away, the project that its temporary folder became, and that it was `late`."""
    if not _usable(path):
        return
    db = sqlite3.connect(path, timeout=5, isolation_level=None)
    try:
        db.execute("PRAGMA foreign_keys = ON")
        db.execute("BEGIN IMMEDIATE")
        forget_session(db, session)
        for table in _TABLES:
            db.execute(f"DELETE FROM {table} WHERE session_id = ?", (session,))  # noqa: S608
        db.execute("DELETE FROM sessions WHERE id = ?", (session,))
        # what nothing was made of has no session; and no shape is only a probe's
        db.execute("DELETE FROM session_shapes WHERE session_id = ? OR (session_id = '' AND first_at >= ?)",
                   (session, since))  # fmt: skip
        db.execute("DELETE FROM payload_shapes WHERE id NOT IN (SELECT shape_id FROM session_shapes)")
        inside = "substr(folder, 1, length(?1)) = ?1"
        db.execute(f"DELETE FROM project_folders WHERE {inside}", (folder,))  # noqa: S608
        db.execute("UPDATE counters SET value = value - 1 WHERE name = ? AND value > ?", (LATE, late))
        db.execute("DELETE FROM counters WHERE name = ? AND value < 1", (LATE,))
        unused = "NOT EXISTS (SELECT 1 FROM sessions WHERE project_id = projects.id)"
        db.execute(f"DELETE FROM projects WHERE substr(root, 1, length(?1)) = ?1 AND {unused}", (folder,))  # noqa: S608
        db.execute("COMMIT")
    finally:
        db.close()


def _unspool(path: str, session: str, since: int) -> None:
    """Take a probe out of the spool, where it waits when the database is not to be had."""
    for folder in spool.folders(path):
        for file in Path(folder).glob(f"*{paths.BATCH}"):
            with suppress(OSError):
                if file.stat().st_mtime_ns // 1_000_000 >= since - 1000 and session.encode() in own(str(file)):
                    file.unlink()
    _uncount(path, since)


def _uncount(path: str, since: int) -> None:
    """Take back the one error that a probe counts when the database is not to be had: nobody's event was lost."""
    for folder in spool.folders(path):
        for file in Path(folder).glob(f"{paths.COUNTS}.*.1.errors"):
            made = file.name.split(".")[1].partition("-")[0]
            if made.isdecimal() and int(made) // 1_000_000 >= since:
                with suppress(OSError):
                    file.unlink()
                    return


def bare(interpreter: str, rounds: int = 5) -> float:
    """Milliseconds that the same interpreter takes to do nothing: the median of a few rounds.

    Raises OSError or subprocess.SubprocessError.
    """
    import shlex
    import statistics

    command = Command(shlex.join([interpreter, "-I", "-S", "-c", "pass"]), [interpreter, "", ""], 0)
    times = [run(command, b"{}", dict(os.environ), tempfile.gettempdir())[0] for _ in range(rounds)]
    return statistics.median(times)
