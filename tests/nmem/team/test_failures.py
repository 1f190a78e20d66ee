"""A server that is down, hangs, cuts the line or crashes, and a process that is killed: nothing is lost or doubled."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Self

import pytest

from nmem.errors import NmemError
from nmem.own_process import words
from nmem.team import config, sync, versions, wire
from nmem.team.material import Material
from nmem.team.wire import Unreachable
from tests.nmem.command_line import run as nmem
from tests.nmem.team.conftest import Member, Team, settled

Three = tuple[Member, Member, Member]


def test_a_server_that_is_down_is_said_with_since_when(three: Three, monkeypatch: pytest.MonkeyPatch) -> None:
    alice = three[0]
    alice.learn("waits")
    us = alice.us()
    with alice.here():
        config.save(config.Membership(us.team, us.member, {**us.server, "host": "/nowhere"}, us.device))
        moments = iter((1_760_000_000_000, 1_760_000_100_000, 1_760_000_200_000, 1_760_000_300_000))
        monkeypatch.setattr(wire, "now", lambda: next(moments))
        for _ in range(2):
            with pytest.raises(Unreachable):
                sync.run(alice.db_path)
        monkeypatch.undo()
    with alice.here():
        said = nmem("sync", "status").stdout
        assert "failing\tsince 2025-10-09 08:53, 2 times:" in said
        assert nmem("sync", "now").returncode == 1
        config.save(us)
    assert alice.now().sent == 1
    with alice.here():
        assert "failing" not in nmem("sync", "status").stdout


def test_a_server_that_hangs_ends_the_pass_and_no_hook_waits(
    team: Team, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice = team.member("alice")
    with Frozen(team.server.folder) as proxy:
        us = alice.us()
        with alice.here():
            config.save(config.Membership(us.team, us.member, {**us.server, "host": str(proxy.folder)}, us.device))
        alice.learn("one")
        assert alice.now().sent == 1
        proxy.frozen.set()
        begun = time.monotonic()
        with pytest.raises(Unreachable, match="stopped answering"):
            alice.now(still=0.4)
        assert time.monotonic() - begun < 15
        with alice.db() as db:  # nothing is held: a hook writes as ever
            db.execute("PRAGMA busy_timeout = 0")
            db.execute("INSERT INTO counters VALUES ('hook', 1)")


class Frozen:
    """A way to the server that can be stopped, with every connection open."""

    def __init__(self, folder: Path) -> None:
        self.frozen, self.folder = threading.Event(), Path(f"/tmp/nmem-proxy-{os.getpid()}")
        self.folder.mkdir(exist_ok=True)
        self._open: list[socket.socket] = []
        self._to = str(folder / ".s.PGSQL.5432")

    def __enter__(self) -> Self:
        self._listens = socket.socket(socket.AF_UNIX)
        self._listens.bind(str(self.folder / ".s.PGSQL.5432"))
        self._listens.listen(8)
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def _accept(self) -> None:
        while True:
            try:
                here, _ = self._listens.accept()
            except OSError:
                return
            there = socket.socket(socket.AF_UNIX)
            self._open += (here, there)
            there.connect(self._to)
            for pair in ((here, there), (there, here)):
                threading.Thread(target=self._carry, args=pair, daemon=True).start()

    def _carry(self, source: socket.socket, to: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                if self.frozen.is_set() and b"nmem.me" in data:
                    return
                to.sendall(data)
            to.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def __exit__(self, *_: object) -> None:
        for each in (*self._open, self._listens):
            each.close()
        (self.folder / ".s.PGSQL.5432").unlink()
        self.folder.rmdir()


def begin(member: Member) -> subprocess.Popen[bytes]:
    with member.here():
        return subprocess.Popen(words("sync", "now", "--quiet"), env={**os.environ},
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip


@pytest.mark.slow
def test_kills_cuts_and_a_crash_of_the_server_end_in_equal_sets(team: Team) -> None:
    three = tuple(team.member(name) for name in ("alice", "bob", "carol"))
    dice = random.Random(19)
    for each in three:
        each.now()
        each.write(*(f"{each.name} {number}" for number in range(800)))
    for number in range(5):
        running = [begin(each) for each in three]
        time.sleep(0.2 + dice.random() * 0.3)
        if number == 2:
            team.server.stop("immediate")
            team.server.start()
        elif number % 2:
            team.sql(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = %s", dice.choice(three).name
            )
        else:
            dice.choice(running).send_signal(signal.SIGKILL)
        for process in running:
            process.wait(60)
        for each in three:
            each.write(f"{each.name} later {number}")
    gone = three[0].rows("id", "author = 'alice' AND title = 'alice 7'")
    three[0].purge(texts=("alice 7",))
    settled(*three)
    sets = [each.rows() for each in three]
    assert sets[0] == sets[1] == sets[2]
    assert {row[0] for row in sets[0]} == set(team.facts())
    assert gone and gone[0][0] not in team.facts()
    assert len(sets[0]) == 3 * (800 + 5) - sum(f"alice {number}".startswith("alice 7") for number in range(800))


def test_one_process_at_a_time_and_none_that_nobody_asked_for(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    alice = team.member("alice")
    spawned: list[list[str]] = []
    monkeypatch.setattr(config, "spawn", lambda given, _env: spawned.append(given))
    monkeypatch.delenv("NMEM_SKIP_SETTLE", raising=False)
    assert not config.start(alice.db_path), "this memory belongs to no team: its own config says so"
    with alice.here():
        assert config.start(alice.db_path)
        with sync._alone(alice.db_path) as mine:
            assert mine and sync.run(alice.db_path) is None
        assert not config.start(alice.db_path), "the last one was just now"
        os.utime(config.lock_file(alice.db_path), (0, 0))
        assert config.start(alice.db_path)
        monkeypatch.setenv("NMEM_SKIP_SETTLE", "1")
        assert not config.start(alice.db_path)
    assert [each[-5:] for each in spawned] == [["sync", "now", "--quiet", "--db", alice.db_path]] * 2


def test_while_it_rests_nothing_runs_in_the_background(three: Three) -> None:
    alice = three[0]
    with alice.here():
        assert nmem("sync", "pause").returncode == 0
        assert sync.run(alice.db_path, background=True) is None
        assert "paused\tsince" in nmem("sync", "status").stdout
        assert nmem("sync", "resume").returncode == 0
        assert sync.run(alice.db_path, background=True) is not None


def test_without_the_extra_one_line_says_what_to_install(three: Three, monkeypatch: pytest.MonkeyPatch) -> None:
    alice = three[0]
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "psycopg", None)
        with alice.here(), pytest.raises(NmemError, match=r"pip install 'psycopg\[binary\]'"):
            sync.run(alice.db_path)


def test_what_is_purged_while_a_pass_reads_is_not_sent(three: Three, monkeypatch: pytest.MonkeyPatch) -> None:
    alice, bob, _ = three
    alice.episode("s1", "Secret affair", "Nobody should know.")
    made = versions.Fit.texts

    def meanwhile(fit: versions.Fit, one: Material) -> versions.Texts:
        alice.purge(sessions=("s1",))
        return made(fit, one)

    monkeypatch.setattr(versions.Fit, "texts", meanwhile)
    alice.now()
    monkeypatch.undo()
    settled(alice, bob)
    assert bob.titles() == set() and alice.team.facts() == {}
