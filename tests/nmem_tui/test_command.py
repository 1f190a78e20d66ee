"""`nmem tui` refuses what it cannot do in one line, before anything is drawn."""

from __future__ import annotations

import os
import pty
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from textual.app import App

from capture.storage import store
from nmem import tables
from nmem.store import schema
from nmem_tui.app import Cockpit
from nmem_tui.command import command
from nmem_tui.model.actions import NUMBERED

COCKPIT = [sys.executable, "-m", "nmem", "tui"]
NO_TERMINAL = b"nmem: the cockpit needs a terminal\n"


def run(
    words: list[str], home: Path, term: str = "xterm-256color", **streams: int
) -> subprocess.CompletedProcess[bytes]:
    env = {**os.environ, "HOME": str(home), "NMEM_DB": str(home / "none.db"), "TERM": term}
    return subprocess.run(words, env=env, stderr=subprocess.PIPE, timeout=300, check=False, **streams)  # type: ignore[call-overload, no-any-return]


@pytest.mark.parametrize("case", ["no stdout", "no stdin", "closed stdin", "dumb"])
def test_without_a_terminal_it_says_so_and_draws_nothing(case: str, tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    try:
        words = ["sh", "-c", 'exec "$@" <&-', "sh", *COCKPIT] if case == "closed stdin" else COCKPIT
        stdin = subprocess.DEVNULL if case == "no stdin" else theirs
        stdout = subprocess.PIPE if case == "no stdout" else theirs
        done = run(words, tmp_path, "dumb" if case == "dumb" else "xterm-256color", stdin=stdin, stdout=stdout)
        os.set_blocking(ours, False)
        try:
            drawn = os.read(ours, 4096)
        except BlockingIOError:
            drawn = b""
    finally:
        os.close(ours)
        os.close(theirs)
    assert (done.returncode, done.stderr, done.stdout or b"", drawn) == (1, NO_TERMINAL, b"", b"")


@pytest.mark.skipif(not hasattr(os, "login_tty"), reason="there are no pseudo-terminals here")
def test_it_ends_with_its_terminal_also_where_hangups_are_ignored(tmp_path: Path) -> None:
    """Under nohup it used to wait busily for the keys of a terminal that was gone."""
    pid, ours = pty.fork()
    if pid == 0:  # a process of its own: nothing of the suite runs in it
        os.environ |= {"HOME": str(tmp_path), "NMEM_DB": str(tmp_path / "none.db"), "TERM": "xterm-256color"}
        os.execvp("sh", ["sh", "-c", 'trap "" HUP; exec "$@"', "sh", *COCKPIT])
    while b"nothing recorded yet" not in os.read(ours, 65536):
        pass
    os.close(ours)
    end = time.monotonic() + 60
    while (found := os.waitpid(pid, os.WNOHANG))[0] == 0 and time.monotonic() < end:
        time.sleep(0.02)
    if found[0] == 0:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    assert os.WTERMSIG(found[1]) == signal.SIGHUP


def test_a_database_that_was_named_must_be_there(tmp_path: Path) -> None:
    done = run([*COCKPIT, "--db", str(tmp_path / "typo" / "x.db")], tmp_path, stdin=subprocess.DEVNULL)
    assert done.returncode == 1
    assert done.stderr.decode() == f"nmem: no such database: {tmp_path}/typo/x.db\n"


def test_an_unknown_theme_is_a_wrong_option(tmp_path: Path) -> None:
    done = run([*COCKPIT, "--theme", "nosuch"], tmp_path, stdin=subprocess.DEVNULL)
    assert done.returncode == 2
    assert b"no theme is called 'nosuch': try dark, light" in done.stderr
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("more", [[], ["--serve"], ["--read-only"], ["--db", "copy.db"]])
def test_what_an_older_nmem_made_is_brought_up_to_date_before_it_opens(
    more: list[str], db_path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    db_path = "copy.db" if "--db" in more else db_path
    with closing(store.connect(db_path)) as db:
        tables.ensure(db)
        db.execute("UPDATE nmem_schema SET version = ?", (tables.VERSION - 1,))
    monkeypatch.setattr("nmem.store.schema.MIGRATIONS", (*schema.MIGRATIONS[:-1], "CREATE TABLE brought (id);"))
    monkeypatch.setattr("nmem_tui.launch.terminal", lambda: True)
    monkeypatch.setattr("nmem_tui.app.Cockpit.run", lambda _self: None)
    monkeypatch.setattr("nmem_tui.command.begin", lambda *_given: None)
    left = more[:1] in (["--read-only"], ["--db"])
    done = CliRunner().invoke(command, more)
    assert done.exception is None
    assert ("upgrading the memory" in done.stderr) is not left
    with closing(store.connect(db_path)) as db:
        assert tables.version(db) == tables.VERSION - left


async def test_the_cockpit_writes_nothing_into_an_older_file_that_is_named(
    cockpit: Any, make_db: Callable[[str], str], settled: Any, text: Any
) -> None:
    file = Path(make_db("story"))
    with closing(sqlite3.connect(file, isolation_level=None)) as db:
        db.execute("UPDATE nmem_schema SET version = ?", (tables.VERSION - 1,))
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    before = file.read_bytes()
    async with cockpit(str(file)) as pilot:
        for number, _ in enumerate(NUMBERED.split(), 1):
            await pilot.press(str(number))
            await settled(pilot)
            assert "is left as it is" in text(pilot)
    assert file.read_bytes() == before


def test_a_fault_in_the_cockpit_ends_the_command_with_1(db_path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(_app: Cockpit) -> None:
        raise LookupError("planted")

    monkeypatch.setattr("nmem_tui.launch.terminal", lambda: True)
    monkeypatch.setattr("nmem_tui.app.Cockpit._begin", fault)
    monkeypatch.setattr("nmem_tui.app.Cockpit.run", lambda app: App.run(app, headless=True))
    done = CliRunner().invoke(command, [])
    assert done.exit_code == 1
    assert "planted" in done.stderr


def test_without_a_word_more_it_opens_without_what_reads_options(db_path: str, tmp_path: Path) -> None:
    code = (
        "import sys; sys.argv = ['nmem', 'tui']\n"
        "from nmem_tui import launch\n"
        "launch.here = lambda: print('click' in sys.modules) or 3\n"
        "from nmem.commands.start import main\nmain()"
    )
    opened = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)
    assert (opened.returncode, opened.stdout, opened.stderr) == (3, "False\n", "")
    away = {**os.environ, "NMEM_DB": db_path, "HOME": str(tmp_path)}
    plain = subprocess.run(
        [sys.executable, "-m", "nmem", "tui"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        env=away, timeout=120,
    )  # fmt: skip
    assert (plain.returncode, plain.stdout, plain.stderr) == (1, "", "nmem: the cockpit needs a terminal\n")
