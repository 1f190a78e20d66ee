"""Three members share with each other through PostgreSQL: `python benchmarks/sync.py [--rows N] [--faults N]`.

Each has N facts of its own, a clock that is a day off, and planted secrets. While their passes run, processes are
killed, connections cut, the server is crashed and cut off. Afterwards all have the same, a purge is gone from
everywhere, no secret is on the server, a login without the role reads nothing, and hooks are as fast as before while
the server is down. Prints the figures; exit code 1 where one of these is not so. Needs PostgreSQL's binaries and the
extra `team`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import psycopg  # noqa: E402

from capture import paths  # noqa: E402
from capture.storage import store  # noqa: E402
from nmem import tables  # noqa: E402
from nmem.own_process import words  # noqa: E402
from nmem.purge import run as purging  # noqa: E402
from nmem.purge.selection import Selection  # noqa: E402
from nmem.team import config, sync, versions  # noqa: E402
from nmem.team import server as shared  # noqa: E402
from tests.nmem.team.postgres import Postgres, missing  # noqa: E402

PROJECT = "github.com/acme/shop"
NOW, DAY = 1_760_000_000_000, 86_400_000
TOKEN = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5"
KEY = "AKIA" + "QX3L7RZP5WNDT2VB"
NAMES = ("alice", "bob", "carol")
WORDS = ("invoice", "total", "coupon", "rounds", "twice", "when", "retry", "parser", "meets", "empty", "window")
FAULTS = ("kill", "kill", "cut", "crash", "away")


class Member:
    """One memory with its facts."""

    def __init__(self, folder: Path, name: str, rows: int, skew: int) -> None:
        self.folder, self.name = folder / name, name
        self.folder.mkdir()
        self.db_path = str(self.folder / "nmem.db")
        self.env = {**os.environ, "NMEM_DB": self.db_path, "NMEM_CONFIG": str(self.folder / "config.toml"),
                    "HOME": str(self.folder), "PYTHONPATH": str(ROOT)}  # fmt: skip
        dice = random.Random(name)
        with self.here(), closing(store.connect(self.db_path, timeout=10)) as db:
            tables.ensure(db)
            db.execute("INSERT INTO projects (id, key, name, root, remote, created_at)"
                       " VALUES (1, ?, 'shop', '/src/shop', ?, 0)", (PROJECT, PROJECT))  # fmt: skip
            with store.transaction(db):
                self._learnings(db, rows // 20, skew, dice)
                self._episodes(db, rows - rows // 20, skew, dice)

    def _learnings(self, db: sqlite3.Connection, rows: int, skew: int, dice: random.Random) -> None:
        db.executemany(
            "INSERT INTO learnings (project_id, kind, key, title, rule, first_at, last_at, sessions, occurrences,"
            " state, state_at) VALUES (1, 'correction', ?, ?, ?, 1, 1, 2, 2, 'accepted', ?)",
            ((f"{self.name} {number}", f"{self.name} {said(dice, 8)}",
              said(dice, 14) + (f" with {TOKEN}" if number % 100 == 0 else ""), NOW + skew + number)
             for number in range(rows)),
        )  # fmt: skip

    def _episodes(self, db: sqlite3.Connection, rows: int, skew: int, dice: random.Random) -> None:
        for number in range(rows):
            session, at = f"{self.name}-{number // 5}", NOW + skew + number * 1000
            if number % 5 == 0:
                db.execute("INSERT INTO sessions (id, client, project_id, cwd, started_at, last_at) VALUES"
                           " (?, 'claude', 1, '/src/shop', ?, ?)", (session, at, at))  # fmt: skip
            title = f"{self.name} {said(dice, 6)}"
            prompt = db.execute(
                "INSERT INTO prompts (session_id, at, source, kind, content, dedup_key)"
                " VALUES (?, ?, 'user', 'prompt', ?, ?)",
                (session, at, title, str(number)),
            ).lastrowid
            summary = said(dice, 50) + (f" AWS_KEY={KEY}" if number % 100 == 0 else "")
            unit = db.execute(
                "INSERT INTO work_units (session_id, first_prompt_id, last_prompt_id, started_at, last_at, state,"
                " intent, title, summary, files_edited, narrated_at, narrator)"
                " VALUES (?, ?, ?, ?, ?, 'closed', ?, ?, ?, ?, ?, 'extractive')",
                (session, prompt, prompt, at, at, title, title, summary,
                 json.dumps([f"src/{dice.choice(WORDS)}.py", f"/src/shop/tests/{dice.choice(WORDS)}.py"]), at),
            ).lastrowid  # fmt: skip
            db.execute("INSERT INTO unit_prompts (prompt_id, unit_id, label, decided_by) VALUES (?, ?, 'new', 'first')",
                       (prompt, unit))  # fmt: skip
            db.execute("INSERT INTO narrations (unit_id, told_of, by_model, outcome) VALUES (?, '', 0, ?)",
                       (unit, said(dice, 8)))  # fmt: skip

    @contextmanager
    def here(self) -> Iterator[None]:
        """This process is this member's."""
        before = {**os.environ}
        os.environ.update(self.env)
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)

    def nmem(self, *given: str) -> None:
        subprocess.run(words(*given), env=self.env, check=True, stdout=subprocess.DEVNULL)

    def begin(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(words("sync", "now", "--quiet"), env=self.env)

    def once(self, *, background: bool = False) -> sync.Pass:
        """One pass in this process."""
        with self.here():
            done = sync.run(self.db_path, background=background)
        assert done is not None
        return done

    def facts(self) -> dict[str, tuple[object, ...]]:
        with closing(sqlite3.connect(self.db_path)) as db:
            sql = "SELECT id, subject, author, device, at, seq, title, body, files, data, gone FROM team_facts"
            return {row[0]: row[1:] for row in db.execute(sql)}


def said(dice: random.Random, size: int) -> str:
    return " ".join(dice.choices(WORDS, k=size))


def timed(member: Member) -> str:
    """How fast all of a member's facts are made fit to leave."""
    with member.here(), closing(store.connect(member.db_path, timeout=10)) as db:
        began = time.perf_counter(), time.process_time()
        made = versions.make(db, config.needed(), lambda: None, NOW)
        return rate(made.new, began)


def disturb(kind: str, server: Postgres, running: list[subprocess.Popen[bytes]], dice: random.Random) -> None:
    """One fault."""
    if kind == "kill":
        dice.choice(running).send_signal(signal.SIGKILL)
    elif kind == "cut":
        server.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = %s", dice.choice(NAMES))
    elif kind == "crash":
        server.stop("immediate")
        time.sleep(dice.random())
        server.start()
    else:
        socket = server.folder / ".s.PGSQL.5432"
        with psycopg.connect(server.url(), autocommit=True) as db:  # a way that was open before
            socket.rename(server.folder / "away")
            db.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename IN ('alice', 'bob', 'carol')"
            )
        time.sleep(0.5 + dice.random())
        (server.folder / "away").rename(socket)


def rate(rows: int, began: tuple[float, float]) -> str:
    """Rows a second, by the clock and by the processor time of this side: others may use the machine as well."""
    clock, own = time.perf_counter() - began[0], time.process_time() - began[1]
    return f"{rows:,} rows, {rows / clock:,.0f} a second ({rows / own:,.0f} a second of its own processor time)"


def storm(server: Postgres, members: list[Member], faults: int) -> dict[str, int]:
    """Passes of all members while faults come, until so many have; then until each has ended. Faults by kind."""
    dice, counts = random.Random(19), dict.fromkeys(FAULTS, 0)
    running = {each.name: each.begin() for each in members}
    while sum(counts.values()) < faults:
        time.sleep(0.5 + dice.random() * 3)
        kind = FAULTS[sum(counts.values()) % len(FAULTS)]
        disturb(kind, server, list(running.values()), dice)
        counts[kind] += 1
        for each in members:
            if running[each.name].poll() is not None:
                running[each.name] = each.begin()
    for process in running.values():
        process.wait()
    return counts


def hook(member: Member, runs: int = 25) -> float:
    """Milliseconds of a hook that stores one call: the median."""
    call = {"hook_event_name": "PostToolUse", "session_id": "bench", "cwd": str(member.folder), "tool_name": "Bash",
            "tool_input": {"command": "make"}, "tool_response": {"stdout": "ok"}}  # fmt: skip
    took, env = [], {**member.env, "NMEM_SKIP_SETTLE": "1"}
    for number in range(runs):
        given = json.dumps({**call, "tool_use_id": f"t{time.time_ns()}-{number}"}).encode()
        begun = time.perf_counter()
        subprocess.run([sys.executable, "-I", "-S", paths.entry(), "claude", "PostToolUse"], input=given, env=env,
                       check=True, stdout=subprocess.DEVNULL)  # fmt: skip
        took.append((time.perf_counter() - begun) * 1000)
    return statistics.median(took)


def secrets(server: Postgres) -> list[str]:
    """Planted secrets that any text column on the server holds."""
    columns = server.sql("SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'nmem'")
    return [
        f"{table}.{column}"
        for table, column in columns
        for each in (TOKEN, KEY, TOKEN[:12], KEY[:12])
        if server.sql(f'SELECT 1 FROM nmem."{table}" WHERE strpos("{column}"::text, %s) > 0 LIMIT 1', each)
    ]


def reads_nothing(server: Postgres) -> bool:
    """Whether a login without the role is refused each table."""
    for table in ("facts", "gone", "marks", "members"):
        try:
            server.sql(f"SELECT * FROM nmem.{table}", login="mallory")
            return False
        except psycopg.errors.InsufficientPrivilege:
            pass
    return True


def main() -> int:
    """Print the figures; 1 where something is not as it must be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000, help="facts of each member")
    parser.add_argument("--faults", type=int, default=30)
    asked = parser.parse_args()
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    if why := missing():
        print(why)
        return 1
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        server = Postgres("shared_buffers=256MB", "autovacuum=on", "fsync=on", "synchronous_commit=on")
        try:
            server.start()
            return measured(server, Path(folder), asked.rows, asked.faults)
        finally:
            server.remove()


def measured(server: Postgres, folder: Path, rows: int, faults: int) -> int:
    """The whole run."""
    for name in (*NAMES, "mallory"):
        server.sql(f"CREATE ROLE {name} LOGIN")
    shared.prepare(config.address(server.url()), "acme", {name: name for name in NAMES})
    members = [Member(folder, name, rows, skew) for name, skew in zip(NAMES, (-DAY, 0, DAY), strict=True)]
    for each in members:
        each.nmem("sync", "init", server.url(each.name), "--team", "acme", "--as", each.name, "--project", PROJECT)
    alice, bob, _ = members
    print(f"made fit to leave: {timed(alice)}")
    began = time.perf_counter(), time.process_time()
    sent = alice.once()
    print(f"sent (and read back): {rate(sent.sent, began)}")
    timed(bob)
    with closing(sqlite3.connect(bob.db_path)) as db:  # only reading is measured
        db.execute("UPDATE team_facts SET refused = 'later' WHERE own = 1")
        db.commit()
    began = time.perf_counter(), time.process_time()
    came = bob.once()
    print(f"received: {rate(came.came, began)}")
    with closing(sqlite3.connect(bob.db_path)) as db:
        db.execute("UPDATE team_facts SET refused = NULL")
        db.commit()
    begun = time.perf_counter()
    counts = storm(server, members, faults)
    print(f"faults: {', '.join(f'{count} {kind}' for kind, count in counts.items())}")
    for _ in range(2):
        for each in members:
            each.once()
    print(f"all of it through, with faults, in {time.perf_counter() - begun:.0f} s")
    for background, who in ((True, "in the background"), (False, "that a person asks for")):
        idle = [each.once(background=background) for each in members]
        print(f"a pass with nothing new, {who}: {statistics.median(each.seconds for each in idle):.2f} s")
    return verdict(server, members, rows)


def verdict(server: Postgres, members: list[Member], rows: int) -> int:
    """What must be so, and whether it is."""
    alice = members[0]
    sets = [each.facts() for each in members]
    there = {row[0] for row in server.sql("SELECT id FROM nmem.facts")}
    must = {
        "equal sets": sets[0] == sets[1] == sets[2] and set(sets[0]) == there,
        f"{3 * rows:,} facts": len(there) == 3 * rows,
        "no planted secret on the server": not secrets(server),
        "a login without the role reads nothing": reads_nothing(server),
    }
    size = server.sql("SELECT pg_total_relation_size('nmem.facts'), pg_indexes_size('nmem.facts')")[0]
    print(f"on the server: {size[0] / len(there):,.0f} bytes a row, of them {size[1] / len(there):,.0f} of indexes")
    with alice.here():
        purging.purge(alice.db_path, Selection(sessions=("alice-7",)), NOW)
    begun = time.perf_counter()
    for each in members:
        each.once()
    print(f"a purge of a session is gone everywhere after {time.perf_counter() - begun:.1f} s of passes")
    left = [each.facts() for each in members]
    must["a purge is gone from all and the server"] = (
        left[0] == left[1] == left[2]
        and len(left[0]) == 3 * rows - 5
        and {row[0] for row in server.sql("SELECT id FROM nmem.facts")} == set(left[0])
    )
    hook(alice)  # its session is there from then on
    up = hook(alice)
    server.stop("immediate")
    begun = time.perf_counter()
    alice.begin().wait()
    noticed = time.perf_counter() - begun
    down = hook(alice)
    print(f"a hook: {up:.0f} ms with the server up, {down:.0f} ms with it down; a pass gives up after {noticed:.1f} s")
    must["hooks unaffected"] = down < up * 1.5
    print("\n".join(f"{'yes' if held else 'NO'}: {what}" for what, held in must.items()))
    return 0 if all(must.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
