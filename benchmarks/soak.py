"""The long run: two simulated days of three clients, with everything that happens beside them and goes wrong.

    python benchmarks/soak.py [--hours 48] [--steps 12] [--seed 1] [--json]

The hooks of Claude Code, Codex and Gemini CLI run as processes of their own, three at a time, by a clock that this
process moves (clocked.py): each hour a client has a session of so many events. Beside them a cockpit is open on a
terminal and keys are pressed in it; sessions settle, backups are made, sweeps take what was recorded half a year
before. A run of a day or more begins with a year's past. Hooks, settlings, sweeps and backups are killed with SIGKILL
at random moments; in two of eight hours the disk has not a byte left for a while, in one of them with the temporary
folder on it. A small file system is mounted for that, where that is allowed; elsewhere hooks may write no file beyond
8 KB.

At the end every event whose hook ended by itself is a row or counted as lost, and the count agrees; the
database is whole; no process and no file is left that should not be; the cockpit
answers keys, ends when it is left, and has on the second day the memory of the first. Exit code 1 where that is not so.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import os
import pty
import random
import re
import resource
import select
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from clocked import FILE  # type: ignore[import-not-found]  # beside this file
from feed_latency import read_until  # type: ignore[import-not-found]
from three_clients import CLIENTS, Client, Told  # type: ignore[import-not-found]

from capture import paths
from nmem.own_process import words

CLOCKED = str(Path(__file__).with_name("clocked.py"))
HOUR_NS = 3_600_000_000_000
BEFORE = 200 * 24
"""Hours before the first at which sessions were recorded that sweeps find old."""
DISK_MB, PAST, DAY = 256, 20_000, 24
"""The size of the disk; calls of the year before, in a run of a day or more."""
GROWN, FLAT = 0.10, 0.05
"""By how much the cockpit may grow from hour 2 on, and from the second day on."""
LOOKS, ANSWERS_S, COMMAND_S = 6, 20.0, 120.0
"""Walks through all screens in each of the first two hours; seconds within which a key is answered, a command ends."""
MARK = re.compile(r"ev\d{6}z")
"""What names an event, in the words that are stored of it."""
LEFT = re.compile(r"nmem\.(db|log|log\.1)|(settle(-nmem)?|sweep)\.(lock|wanted)|cache/.*|spool/(slot\.(lost|errors))?"
                  r"|backups/nmem-[\d-]+\.db|nmem-spool-\d+/.*/slot\.(lost|errors)")  # fmt: skip
"""Files that belong into the data folder and the temporary one while nobody works."""
KEYS = (b"j", b"j", b"k", b"\r", b"\x1b", b"\t", b"G", b"g", b"\x04", b"\x15")


@dataclass
class Ledger:
    """What was told to hooks, and what they said of it by how they ended."""

    acknowledged: set[str] = field(default_factory=set)
    killed: set[str] = field(default_factory=set)
    """Of events whose hook was killed: there or not, both are right."""
    old: set[str] = field(default_factory=set)
    """Of half a year before: all of them were rows before anything was swept."""
    faults: list[str] = field(default_factory=list)
    did: Counter[str] = field(default_factory=Counter)


class World:
    """A home, a project, a disk for the database, and the clock."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.home, self.project, self.disk = folder / "home", folder / "shop", folder / "disk"
        self.temp = folder / "temp"
        for each in (self.home, self.project / ".git", self.disk, self.temp):
            each.mkdir(parents=True)
        self.mounted = _mount(self.disk)
        (self.disk / "temp").mkdir()
        self.db = str(self.disk / "data" / "nmem.db")
        self.clock = folder / "clock"
        self.offset = 0
        self.scarce = False
        """Whether this is an hour in which the disk is filled: commands may fail in it."""
        self.chance = random.Random(seed)
        self.numbers = iter(range(1_000_000))
        self.ledger = Ledger()
        self.env = {**os.environ, "HOME": str(self.home), "NMEM_DB": self.db, FILE: str(self.clock), "NO_COLOR": "1",
                    "TMPDIR": str(self.temp), "PYTHONWARNINGS": "ignore",
                    "EDITOR": "true", "VISUAL": "true"}  # fmt: skip
        for name in ("NMEM_SKIP_SETTLE", "NMEM_SKIP_HOOKS", "NMEM_CONFIG", "XDG_CONFIG_HOME", "CLAUDECODE"):
            self.env.pop(name, None)
        self.move(0)

    def move(self, offset: int) -> None:
        """Set the clock so many ns off; what was written by the old clock has its times by that."""
        for root in (self.disk, self.temp):
            for path in (root, *root.rglob("*")):
                with contextlib.suppress(OSError):
                    at = path.lstat().st_mtime_ns
                    if at > time.time_ns() + self.offset + HOUR_NS // 3600:
                        os.utime(path, ns=(at + self.offset, at + self.offset), follow_symlinks=False)
        self.offset = offset
        fresh = self.clock.with_suffix(".new")
        fresh.write_bytes(offset.to_bytes(8, "little", signed=True))
        if self.clock.exists():
            with self.clock.open("r+b") as file:  # in place: running processes have it open
                file.write(fresh.read_bytes())
        else:
            fresh.rename(self.clock)

    def now(self) -> datetime:
        return datetime.fromtimestamp((time.time_ns() + self.offset) / 1e9, UTC)

    def mark(self) -> str:
        return f"ev{next(self.numbers):06d}z"

    def nmem(self, *given: str, killed_after: float | None = None) -> str:
        """What `nmem given` prints; killed after so many seconds if it is still at it."""
        own = words(*given)
        argv = [*own[:2], CLOCKED, *own[2:]]
        process = subprocess.Popen(argv, cwd=self.project, env=self.env, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)  # fmt: skip
        try:
            said = process.communicate(timeout=killed_after or COMMAND_S)[0]
        except subprocess.TimeoutExpired:
            process.kill()
            said = process.communicate()[0]
            self.ledger.did[f"{given[0]} killed"] += 1
            if not killed_after:
                self.ledger.faults.append(f"nmem {' '.join(given)}: still at it after {COMMAND_S:.0f} s")
            return said
        self.ledger.did[given[0]] += 1
        if "Traceback" in said or (process.returncode and not self.scarce):
            self.ledger.faults.append(f"nmem {' '.join(given)}: {process.returncode}: {said[-300:]}")
        return said

    def processes(self) -> Iterator[tuple[int, str]]:
        """Those that this database belongs to, by its name among their words or settings."""
        setting = os.fsencode(f"NMEM_DB={self.db}")
        for entry in Path("/proc").iterdir():
            if entry.name.isdecimal() and int(entry.name) != os.getpid():
                with contextlib.suppress(OSError):
                    line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                    if line and (self.db in line or setting in (entry / "environ").read_bytes()):
                        yield int(entry.name), line


def _mount(folder: Path) -> bool:
    argv = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "tmpfs", str(folder)]
    allowed = sys.platform == "linux" and os.geteuid() == 0
    return allowed and subprocess.run(argv, capture_output=True, check=False).returncode == 0


class Hooks:
    """Runs hooks, three at a time; some are killed."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.limited = False
        self.temp = world.temp

    def round(self, told: list[tuple[Client, Told]], kills: float = 0.0) -> None:
        """One event of each client, all at once."""
        running = [(self._start(client, event), event, payload, mark) for client, (event, payload, mark) in told]
        for process, _, payload, mark in running:
            assert process.stdin is not None
            if self.limited:  # it waits for what it is told
                resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (8192, 8192))
            doomed = mark and self.world.chance.random() < kills
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(json.dumps(payload).encode())
                process.stdin.close()
            if doomed:
                time.sleep(self.world.chance.uniform(0, 0.15))
                process.kill()
        for process, event, _, mark in running:
            code = process.wait()
            process.stdout.close()  # type: ignore[union-attr]
            self._note(code, event, mark)

    def _start(self, client: Client, event: str) -> subprocess.Popen[bytes]:
        argv = [sys.executable, "-I", "-S", CLOCKED, paths.entry(), client.name, event, "--db", self.world.db]
        return subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                env={**self.world.env, "TMPDIR": str(self.temp)})  # fmt: skip

    def _note(self, code: int, event: str, mark: str) -> None:
        ledger = self.world.ledger
        ledger.did["hooks"] += 1
        if code == -signal.SIGKILL:
            ledger.did["hooks killed"] += 1
            ledger.killed.add(mark)
        elif code:
            ledger.faults.append(f"a hook of {event} ended with {code}")
        elif mark:
            ledger.acknowledged.add(mark)


class Cockpit:
    """The cockpit on a terminal of its own, whose output is read all the time."""

    def __init__(self, world: World) -> None:
        self.world = world
        own = words("tui", "--db", world.db)
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(world.project)
            env = {**world.env, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
            os.execve(sys.executable, [*own[:2], CLOCKED, *own[2:]], env)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 45, 160, 0, 0))
        self.memory: list[float] = []
        read_until(self.fd, b"Episodes", 20)
        self._over, self._drawn = False, 0
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        while not self._over:
            if select.select([self.fd], [], [], 0.1)[0]:
                try:
                    self._drawn += len(os.read(self.fd, 65_536))
                except OSError:
                    return

    def walk(self, screens: int = 9) -> None:
        """Every screen in turn, and some keys on each."""
        for number in range(1, screens + 1):
            for key in (str(number).encode(), *self.world.chance.choices(KEYS, k=4)):
                os.write(self.fd, key)
                time.sleep(0.01)
        os.write(self.fd, b"\x1b")

    def answers(self) -> bool:
        """Whether it draws something when keys are pressed."""
        time.sleep(0.2)
        before, until = self._drawn, time.monotonic() + ANSWERS_S
        for key in b"12":
            os.write(self.fd, bytes([key]))
            time.sleep(0.2)
        while self._drawn == before and time.monotonic() < until:
            time.sleep(0.05)
        return self._drawn != before

    def look(self) -> None:
        """Note its memory, in MB; a cockpit that has ended is a fault."""
        time.sleep(0.25)
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        found = [int(line.split()[1]) / 1000 for line in lines if line.startswith("VmRSS")]
        if not found:
            self.world.ledger.faults.append("the cockpit ended")
        self.memory += found

    def close(self) -> None:
        """Leave it as a person does."""
        for key in (b"\x1b", b"\x1b", b"q"):
            with contextlib.suppress(OSError):
                os.write(self.fd, key)
            time.sleep(0.4)
        until = time.monotonic() + 10
        while (ended := os.waitpid(self.pid, os.WNOHANG)[0]) == 0 and time.monotonic() < until:
            time.sleep(0.05)
        if not ended:
            self.world.ledger.faults.append("the cockpit does not end when it is left")
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        self._over = True
        self._reader.join()
        os.close(self.fd)


class Run:
    """The days, hour by hour."""

    def __init__(self, world: World, hours: int, steps: int) -> None:
        self.world, self.hours, self.steps = world, hours, steps
        self.hooks = Hooks(world)
        self.clients = [Client(name, world.project, world.mark, world.now) for name in CLIENTS]
        self.cockpit: Cockpit | None = None
        self.chance = world.chance

    def all(self) -> None:
        """A past, half a year ago, then the days, then what is left to be done."""
        if self.hours >= DAY:
            argv = [sys.executable, str(Path(__file__).with_name("lived.py")), self.world.db, str(PAST), "--quick"]
            subprocess.run(argv, env=self.world.env, check=True, stdout=subprocess.DEVNULL)
        for hour in range(min(3, self.hours // 2)):
            self._session(-BEFORE + hour)
        self.world.nmem("settle", "--quiet")
        ledger = self.world.ledger
        ledger.old, ledger.acknowledged = ledger.acknowledged, set()
        with contextlib.closing(sqlite3.connect(self.world.db)) as db:
            if unstored := ledger.old - stored(db):
                ledger.faults.append(f"not stored on a quiet day: {sorted(unstored)[:9]}")
        self.world.move(-self.hours * HOUR_NS)
        self.world.nmem("settle", "--quiet")
        self.cockpit = Cockpit(self.world)
        try:
            for hour in range(self.hours):
                self._hour(hour)
                for _ in range(LOOKS if hour < 2 else 1):  # who opens it looks at everything first
                    self.cockpit.walk()
                self.cockpit.look()
                if not self.cockpit.answers():
                    self.world.ledger.faults.append(f"the cockpit answers no key after hour {hour}")
                    break
        finally:
            self.cockpit.close()
        self.world.move(0)
        self._rest()

    def _hour(self, hour: int) -> None:
        self.world.scarce = hour % 8 < 2
        beside = threading.Thread(target=self._beside, args=(hour,), daemon=True)  # an end does not wait for it
        beside.start()
        self._session(hour, kills=0.04, full=self.world.scarce)
        beside.join()
        self.world.scarce = False
        if hour % 12 == 1:
            self._sweep()

    def _session(self, hour: int, kills: float = 0.0, *, full: bool = False) -> None:
        """One of each client; in its middle the disk may be full."""
        begin = (hour - self.hours) * HOUR_NS
        self.world.move(begin)
        self.hooks.round([(client, client.begin()) for client in self.clients])
        third = self.steps // 3
        for step in range(self.steps):
            self.world.move(begin + HOUR_NS * step // (self.steps + 1))
            if full and step == third:
                self._fill(hour)
            if full and step == 2 * third:
                self._free()
            doomed = 0.0 if full and third <= step < 2 * third else kills
            self.hooks.round([(client, client.event(step, self.steps)) for client in self.clients], doomed)
        self.hooks.round([(client, client.end()) for client in self.clients])
        self.hooks.temp = self.world.temp  # what a full disk took into its own was brought in by those who know it

    def _fill(self, hour: int) -> None:
        self.world.ledger.did["disks filled"] += 1
        if hour % 2:
            self.hooks.temp = self.world.disk / "temp"
        if not self.world.mounted:
            self.hooks.limited = True
            return
        with contextlib.suppress(OSError), (self.world.disk / "filler").open("wb", buffering=0) as file:
            for size in (1 << 20, 4096):
                with contextlib.suppress(OSError):
                    while file.write(b"x" * size) == size:
                        pass

    def _free(self) -> None:
        (self.world.disk / "filler").unlink(missing_ok=True)
        self.hooks.limited = False

    def _beside(self, hour: int) -> None:
        """What else happens in an hour, and is killed."""
        if hour % 6 == 0:
            self.world.nmem("backup", "--keep", "3", killed_after=0.9 if hour % 12 == 6 else None)
        if hour % 3 == 1:
            self.world.nmem("settle", "--quiet", killed_after=self.chance.uniform(0.2, 2.0))
        if hour % 3 == 2:
            self.world.nmem("search", "cart", "--json")
            for pid, line in self.world.processes():
                if " settle " in line and CLOCKED in line:
                    with contextlib.suppress(OSError):
                        os.kill(pid, signal.SIGKILL)
                        self.world.ledger.did["settle killed"] += 1

    def _sweep(self) -> None:
        given = ("sweep", "--yes", "--clock-is-right", "--json")
        self.world.nmem(*given, killed_after=1.0)
        self.world.nmem(*given)

    def _rest(self) -> None:
        """Nobody is killed any more, and two hours pass."""
        self.hooks.round([(self.clients[0], self.clients[0].begin())])
        self.world.nmem("settle", "--quiet")
        self.world.nmem("backup", "--keep", "3")
        until = time.monotonic() + 60
        while list(self.world.processes()) and time.monotonic() < until:
            time.sleep(0.1)


def examined(world: World, memory: list[float]) -> dict[str, object]:
    """What is to be said of what is left, and every fault of it in the ledger."""
    ledger = world.ledger
    faults = ledger.faults
    faults += [f"still runs: {line[:200]}" for _, line in world.processes()]
    with contextlib.closing(sqlite3.connect(world.db)) as db:
        whole = db.execute("PRAGMA integrity_check").fetchall()
        found = stored(db)
        swept = sum(db.execute("SELECT coalesce(sum(observations + sayings), 0) FROM swept_sessions").fetchone())
        counters = dict(db.execute("SELECT name, value FROM counters"))
        rows = {name: db.execute(f"SELECT count(*) FROM {name}").fetchone()[0]
                for name in ("sessions", "prompts", "observations", "work_units", "learnings")}  # fmt: skip
    missing, gone = ledger.acknowledged - found, ledger.old - found
    strange = found - ledger.acknowledged - ledger.killed - ledger.old
    if whole != [("ok",)]:
        faults.append(f"integrity_check: {whole[:2]}")
    if len(missing) != counters.get("lost", 0):
        faults.append(
            f"{len(missing)} events are missing, {counters.get('lost', 0)} are counted: {sorted(missing)[:9]}"
        )
    if not swept or swept < len(gone):
        faults.append(f"{len(gone)} of the old events are gone, {swept} calls are known by their trace")
    if strange:
        faults.append(f"rows that nobody told: {sorted(strange)[:9]}")
    left = [str(each.relative_to(root)) for root in (world.disk / "data", world.disk / "temp", world.temp)
            for each in root.rglob("*") if each.is_file()]  # fmt: skip
    faults += [f"left behind: {name}" for name in left if not LEFT.fullmatch(name)]
    for since, most in ((2, GROWN), (DAY, FLAT)):
        steady = memory[since:]
        if len(steady) > 1 and max(steady[-3:]) > steady[0] * (1 + most):
            faults.append(f"from hour {since} on the cockpit grew from {steady[0]:.1f} to {steady[-1]:.1f} MB")
    return {
        "acknowledged": len(ledger.acknowledged), "rows": len(ledger.acknowledged & found),
        "lost": len(missing), "counted_lost": counters.get("lost", 0), "old": len(ledger.old),
        "old_gone": len(gone), "swept": swept,
        "from_the_spool": counters.get("drained", 0), "killed_and_stored": len(ledger.killed & found),
        "did": dict(sorted(ledger.did.items())), "tables": rows,
        "cockpit_mb": [round(each, 1) for each in memory], "disk": "mounted" if world.mounted else "limited files",
        "faults": faults,
    }  # fmt: skip


def stored(db: sqlite3.Connection) -> set[str]:
    """The marks of all events that are rows."""
    texts = [*db.execute("SELECT content FROM prompts"), *db.execute("SELECT file_path FROM observations"),
             *db.execute("SELECT content FROM observations")]  # fmt: skip
    return {mark for (text,) in texts for mark in MARK.findall(text or "")}


def soaked(hours: int, steps: int, seed: int) -> dict[str, object]:
    """Run it in a folder of its own, which is gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="soak", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None))
    began = time.monotonic()
    world: World | None = None
    try:
        world = World(folder, seed)
        run = Run(world, hours, steps)
        run.all()
        memory = run.cockpit.memory if run.cockpit else []
        return {"hours": hours, **examined(world, memory), "seconds": round(time.monotonic() - began)}
    finally:
        for pid, _ in world.processes() if world else ():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if (folder / "disk").is_mount():
            subprocess.run(["umount", "-l", str(folder / "disk")], check=False)
        shutil.rmtree(folder, ignore_errors=True)


def main() -> None:
    """Print what came of it; exit code 1 where something is not as it must be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hours", type=int, default=48)
    parser.add_argument("--steps", type=int, default=12, help="events of a client in an hour")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.hours < 2:
        parser.error("in fewer than two hours nothing is old, and nothing is swept: --hours 2")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # what was started and mounted is ended then, too
    found = soaked(options.hours, options.steps, options.seed)
    print(json.dumps(found) if options.json else "\n".join(f"{name:18} {value}" for name, value in found.items()))
    sys.exit(bool(found["faults"]))


if __name__ == "__main__":
    main()
