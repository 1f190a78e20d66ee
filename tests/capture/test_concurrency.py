"""Many hooks at once, and hooks that are killed: every event whose hook ended is there, once."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable
from typing import Any

import pytest

from capture.storage import spool, store

Payload = Callable[..., dict[str, object]]
Command = Callable[..., list[str]]
Rows = Callable[[str], list[Any]]


def start(words: list[str], payload: dict[str, object]) -> subprocess.Popen[bytes]:
    child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert child.stdin
    child.stdin.write(json.dumps(payload).encode())
    child.stdin.close()
    return child


def finish(child: subprocess.Popen[bytes]) -> int:
    assert child.stdout
    assert child.stdout.read() == b""
    child.stdout.close()
    return child.wait(300)


def storm(words: list[str], bash: Payload, events: int, at_once: int = 16) -> list[int]:
    running: list[subprocess.Popen[bytes]] = []
    codes = []
    for number in range(events):
        if len(running) == at_once:
            codes.append(finish(running.pop(0)))
        running.append(start(words, bash(number, f"make part-{number}", session_id=f"s-{number % 5}")))
    return codes + [finish(child) for child in running]


def settled(db_path: str) -> None:
    db = store.connect(db_path, timeout=60)
    spool.drain(db, db_path)
    db.close()


def size(usual: int, name: str) -> int:
    """How large a test is: as usual, or as large as the environment asks for."""
    return int(os.environ.get(name, usual))


@pytest.mark.slow
@pytest.mark.parametrize("events", [size(80, "NMEM_TEST_HOOKS")])
def test_sixteen_hooks_at_once(command: Command, bash: Payload, rows: Rows, db_path: str, events: int) -> None:
    assert storm(command(), bash, events) == [0] * events
    settled(db_path)
    assert rows("SELECT count(*), count(DISTINCT dedup_key) FROM observations") == [(events, events)]
    assert rows("SELECT session_id, max(seq), count(DISTINCT seq) FROM observations GROUP BY 1") == [
        (f"s-{n}", events // 5, events // 5) for n in range(5)
    ]
    assert rows("SELECT count(*) FROM counters WHERE name IN ('lost', 'errors')") == [0]
    assert rows("PRAGMA integrity_check") == ["ok"]


@pytest.mark.slow
@pytest.mark.parametrize("kills", [size(20, "NMEM_TEST_KILLS")])
def test_killed_hooks_break_nothing(command: Command, bash: Payload, rows: Rows, db_path: str, kills: int) -> None:
    dice = random.Random(kills)
    least = kills if "NMEM_TEST_KILLS" in os.environ else kills // 4 + 1
    done, killed, took = [f"toolu_{100_000 + number}" for number in range(3)], 0, []
    for number in range(3):
        before = time.perf_counter()
        assert finish(start(command(), bash(100_000 + number))) == 0
        took.append(time.perf_counter() - before)
    usual = min(took)  # the first may compile what it imports, and others work beside them
    number = -1
    while (number := number + 1) < kills or (killed < least and number < 9 * kills):
        before = time.perf_counter()
        child = start(command(), bash(number))
        other = start(command(), bash(50_000 + number))
        time.sleep(dice.uniform(0, usual))
        child.send_signal(signal.SIGKILL)
        code = finish(child)
        assert code in (0, -signal.SIGKILL)
        killed += code != 0
        done += [f"toolu_{number}"] if code == 0 else []
        assert finish(other) == 0
        usual = min(usual, time.perf_counter() - before)  # it was measured while the machine was busier than now
        done.append(f"toolu_{50_000 + number}")
    settled(db_path)
    assert killed >= least, "too few were killed for this to say anything"
    assert rows("PRAGMA integrity_check") == ["ok"]
    keys = rows("SELECT dedup_key FROM observations")
    assert len(keys) == len(set(keys))
    assert set(done) <= set(keys)
    assert rows("SELECT count(*) FROM observations_fts WHERE observations_fts MATCH 'make'") == [len(keys)]
