"""Whatever is wrong with the machine, a hook ends well, says nothing, and keeps what it accepted."""

from __future__ import annotations

import errno
import json
import os
import resource
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from capture import paths, settle
from capture.project import resolve
from capture.seal import LIMITS
from capture.storage import schema, spool, store
from capture.transcript.missed import catch_up
from nmem.commands import status
from nmem.database import reader
from nmem.read import views
from nmem.settle import running

Payload = Callable[..., dict[str, object]]
Hook = Callable[..., Any]
Rows = Callable[[str], list[Any]]
KEYS = "SELECT dedup_key FROM observations ORDER BY dedup_key"


@pytest.fixture(autouse=True)
def own_temp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    temp = tmp_path / "temp"
    temp.mkdir()
    monkeypatch.setenv("TMPDIR", str(temp))
    return temp


def log(db_path: str) -> str:
    return (Path(db_path).parent / "nmem.log").read_text()


def test_a_locked_database_is_not_waited_for(hook: Hook, bash: Payload, rows: Rows, db_path: str) -> None:
    hook(bash(1))
    holder = sqlite3.connect(db_path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    hook(bash(2))
    holder.execute("ROLLBACK")
    holder.close()
    assert spool.waiting(db_path) == 1
    assert "spooled: OperationalError database is locked" in log(db_path)
    hook(bash(3))
    assert rows(KEYS) == ["toolu_1", "toolu_2", "toolu_3"]
    assert rows("SELECT name, value FROM counters ORDER BY name") == [("drained", 1)]


def test_what_a_locked_database_kept_waiting_is_stored_though_no_hook_follows(
    hook: Hook, bash: Payload, rows: Rows, db_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook(bash(1))
    monkeypatch.delenv(settle.OFF)
    holder = sqlite3.connect(db_path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    hook({"session_id": "s-1", "cwd": "/srv/none/such", "last_assistant_message": "Done."}, "Stop")
    assert spool.waiting(db_path) == 1
    holder.execute("ROLLBACK")
    holder.close()
    until = time.monotonic() + 300
    while spool.waiting(db_path) and time.monotonic() < until:
        time.sleep(0.02)
    while running(db_path):
        time.sleep(0.02)  # it has gone before the folder goes
    assert rows("SELECT state FROM sessions") == ["idle"]
    assert rows("SELECT content FROM prompts") == ["Done."]


@pytest.mark.parametrize(
    "damage", [b"this is no database, it is a letter\n" * 500, b"SQLite format 3\0" + b"\xff" * 9000]
)
def test_a_corrupt_database_is_never_overwritten(
    hook: Hook, bash: Payload, rows: Rows, db_path: str, damage: bytes
) -> None:
    path = Path(db_path)
    path.parent.mkdir(parents=True)
    path.write_bytes(damage)
    hook(bash(1))
    hook(bash(2))
    assert path.read_bytes() == damage
    assert spool.waiting(db_path) == 2
    path.unlink()
    hook(bash(3))
    assert rows(KEYS) == ["toolu_1", "toolu_2", "toolu_3"]


def test_a_newer_database_is_not_touched(hook: Hook, bash: Payload, rows: Rows, db_path: str) -> None:
    db = store.connect(db_path)
    db.execute("PRAGMA user_version = 77")
    db.close()
    hook(bash(1))
    assert rows("SELECT count(*) FROM observations") == [0]
    assert spool.waiting(db_path) == 1
    assert "NewerDatabase" in log(db_path)


@pytest.mark.parametrize("version", [0, 2, len(schema.MIGRATIONS)])
def test_another_programs_database_is_left_as_it_is_and_what_is_not_stored_there_is_counted(
    hook: Hook, bash: Payload, db_path: str, version: int
) -> None:
    path = Path(db_path)
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE notes (text)")
        db.execute(f"PRAGMA user_version = {version}")
    path.chmod(0o640)
    was = path.read_bytes()
    hook(bash(1))
    hook({**bash(2), "hook_event_name": "PreToolUse"}, event="PreToolUse")
    assert path.read_bytes() == was
    assert not list(path.parent.glob("nmem.db-*"))
    assert spool.waiting(db_path) == 1
    if version != len(schema.MIGRATIONS):
        assert path.stat().st_mode & 0o777 == 0o640
        assert "this is another program's database" in log(db_path)


def test_a_folder_that_cannot_be_written_leads_to_the_last_resort(hook: Hook, bash: Payload, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    path = str(tmp_path / "file" / "nmem.db")
    hook(bash(1), db=path)
    assert spool.waiting(path) == 1
    (tmp_path / "file").unlink()
    hook(bash(2), db=path)
    db = sqlite3.connect(path)
    assert [row[0] for row in db.execute(KEYS)] == ["toolu_1", "toolu_2"]
    db.close()


def test_where_nothing_can_be_written_the_hook_still_ends_well(hook: Hook, bash: Payload, own_temp: Path) -> None:
    own_temp.rmdir()
    own_temp.write_text("no folder")
    hook(bash(1), db="/proc/none/such/nmem.db")


def no_more_than(size: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def test_a_disk_that_takes_no_database_page_keeps_the_event(
    hook: Hook, bash: Payload, rows: Rows, db_path: str
) -> None:
    hook(bash(1), preexec_fn=no_more_than(8192))
    assert spool.waiting(db_path) == 1
    hook(bash(2))
    assert rows(KEYS) == ["toolu_1", "toolu_2"]
    assert rows("PRAGMA integrity_check") == ["ok"]


def test_a_disk_that_fills_up_later_keeps_the_event(hook: Hook, bash: Payload, rows: Rows, db_path: str) -> None:
    hook(bash(1))
    size = Path(db_path + "-wal").stat().st_size
    hook(bash(2), preexec_fn=no_more_than(size))
    assert spool.waiting(db_path) == 1
    hook(bash(3))
    assert rows(KEYS) == ["toolu_1", "toolu_2", "toolu_3"]
    assert rows("PRAGMA integrity_check") == ["ok"]


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of two megabytes; only an administrator can mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=2m,nr_inodes=200", "tmpfs", str(folder)]
    if sys.platform != "linux" or os.geteuid() != 0 or subprocess.run(words, capture_output=True).returncode:
        pytest.skip("mounting a tiny file system needs rights that this process does not have")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(disk: Path, size: int = 4096) -> list[Path]:
    """Take every byte, then every inode that is left."""
    made = [disk / "filler"]
    with made[0].open("wb", buffering=0) as file, pytest.raises(OSError):
        while True:
            file.write(b"x" * size)
    return made


def inodes(disk: Path) -> list[Path]:
    made: list[Path] = []
    with pytest.raises(OSError):
        while True:
            made.append(disk / f"inode{len(made)}")
            made[-1].touch()
    return made


@pytest.mark.parametrize("no_inode", [False, True])
def test_what_a_completely_full_disk_loses_is_counted(
    hook: Hook, bash: Payload, tiny_disk: Path, monkeypatch: pytest.MonkeyPatch, no_inode: bool
) -> None:
    path = str(tiny_disk / "data" / "nmem.db")
    (tiny_disk / "temp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tiny_disk / "temp"))
    hook(bash(0), db=path)
    settle.settle(path)
    with sqlite3.connect(path) as holder:  # its log is there: the first page would take no byte either
        holder.execute("PRAGMA user_version").fetchone()
        taken = fill(tiny_disk) + (inodes(tiny_disk) if no_inode else [])
        for number in range(20):
            hook(bash(number, "x" * 5_000), db=path)
    kept = spool.waiting(path)
    assert spool.tallied(path).get("lost", 0) + kept == 20
    assert spool.tallied(path)["lost"] > 10
    with closing(reader(path)) as db:
        assert views.counters(db)["lost"] == 20 - kept, "status says so while the disk is full"
    for file in taken:
        file.unlink(missing_ok=True)
    hook(bash(30), db=path)
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT value FROM counters WHERE name = 'lost'").fetchone() == (20 - kept,)
    assert spool.tallied(path) == {}


def test_a_disk_without_an_inode_right_after_the_first_event_counts_what_it_loses(
    hook: Hook, bash: Payload, tiny_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing was settled yet, so the files that count were made by the first hook; status says it nevertheless."""
    path = str(tiny_disk / "data" / "nmem.db")
    (tiny_disk / "temp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tiny_disk / "temp"))
    hook(bash(0), db=path)
    with sqlite3.connect(path) as holder:
        holder.execute("PRAGMA user_version").fetchone()
        fill(tiny_disk)
        inodes(tiny_disk)
        for number in range(20):
            hook(bash(number, "x" * 5_000), db=path)
    assert spool.tallied(path) == {"lost": 20}
    said = CliRunner().invoke(status.command, ["--db", path, "--json"])
    assert said.exit_code == 0
    assert json.loads(said.stdout)["counters"]["lost"] == 20


def refuse_new(monkeypatch: pytest.MonkeyPatch) -> None:
    """No file can be made any more, as on a disk without an inode."""
    real = os.open

    def refused(path: Any, flags: int, *rest: Any, **more: Any) -> int:
        if flags & os.O_CREAT and not os.path.exists(path):  # noqa: PTH110
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(path, flags, *rest, **more)

    monkeypatch.setattr(os, "open", refused)


def test_losses_are_counted_by_many_where_no_file_can_be_made(db_path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def lose() -> None:
        for _ in range(25):
            spool.tally(db_path, "lost")

    store.connect(db_path).close()
    spool.reserve(db_path)
    with monkeypatch.context() as patched:
        refuse_new(patched)
        threads = [threading.Thread(target=lose) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        spool.tally(db_path, "errors")
        assert spool.tallied(db_path) == {"lost": 100, "errors": 1}
    with closing(store.connect(db_path)) as db:
        spool.drain(db, db_path)
        assert db.execute("SELECT name, value FROM counters ORDER BY name").fetchall() == [("errors", 1), ("lost", 100)]
    assert not paths.waits(paths.spool(db_path))


def test_a_full_disk_loses_nothing(hook: Hook, bash: Payload, tiny_disk: Path) -> None:
    path = str(tiny_disk / "data" / "nmem.db")
    hook(bash(0), db=path)
    (filler,) = fill(tiny_disk)
    for number in range(1, 6):
        hook(bash(number), db=path)
    filler.unlink()
    hook(bash(6), db=path)
    db = sqlite3.connect(path)
    assert [row[0] for row in db.execute(KEYS)] == [f"toolu_{n}" for n in range(7)]
    assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    db.close()


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-", ">/dev/full 2>/dev/full"])
def test_closed_streams_change_nothing(
    command: Callable[..., list[str]], bash: Payload, rows: Rows, db_path: str, closed: str
) -> None:
    words = ["sh", "-c", f'exec "$@" {closed}', "sh", *command()]
    done = subprocess.run(words, input=json.dumps(bash()).encode(), capture_output=True, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    if "<" in closed:
        assert "input" in log(db_path)
    else:
        assert rows("SELECT content FROM observations") == ["make all"]


def test_a_defect_of_ours_is_noted_without_the_payload(hook: Hook, bash: Payload, db_path: str) -> None:
    hook(bash(1, "echo hunter2-planted", tool_use_id={"not": ["text"]}, cwd=[1], session_id="s"))
    path = Path(db_path).parent / "nmem.log"
    assert "hunter2" not in (path.read_text() if path.exists() else "")


def test_the_log_is_set_aside_when_it_grows(hook: Hook, db_path: str) -> None:
    path = Path(db_path).parent / "nmem.log"
    path.parent.mkdir(parents=True)
    path.write_text("line\n" * 210_000)
    hook(b"")
    hook(b"")
    assert path.stat().st_size < 1000
    assert path.with_name("nmem.log.1").stat().st_size > 1_000_000


def test_errors_are_counted(hook: Hook, bash: Payload, rows: Rows, db_path: str) -> None:
    spool.tally(db_path, "errors")
    hook(bash(1))
    assert rows("SELECT value FROM counters WHERE name = 'errors'") == [1]


def test_settling_a_corrupt_database_changes_nothing(db_path: str, command: Callable[..., list[str]]) -> None:
    path = Path(db_path)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"no database at all\n" * 300)
    done = subprocess.run([*command()[:-4], "settle", "--db", db_path], capture_output=True, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert path.read_bytes() == b"no database at all\n" * 300
    assert "DatabaseError" in log(db_path)
    with pytest.raises(sqlite3.DatabaseError):
        settle.settle(db_path)


def test_what_an_older_hook_could_not_store_is_stored_by_a_newer_one(
    hook: Hook, bash: Payload, rows: Rows, db_path: str
) -> None:
    db = store.connect(db_path)
    version = db.execute("PRAGMA user_version").fetchone()[0]
    db.execute("PRAGMA user_version = 77")
    hook(bash(1))
    hook(bash(2))
    db.execute(f"PRAGMA user_version = {version}")
    db.close()
    hook(bash(3))
    assert rows(KEYS) == ["toolu_1", "toolu_2", "toolu_3"]
    assert spool.waiting(db_path) == 0


@pytest.mark.parametrize("left", [(), ("-wal", "-shm")], ids=["all of it", "the file alone"])
def test_a_database_that_is_deleted_while_somebody_reads_it_is_begun_anew(
    hook: Hook, bash: Payload, rows: Rows, db_path: str, left: tuple[str, ...]
) -> None:
    """The log that is left, and its index that the reader has open, are not taken for those of the new file."""
    hook(bash(1))
    reader = sqlite3.connect(f"{Path(db_path).as_uri()}?mode=ro", uri=True, isolation_level=None)
    assert reader.execute("SELECT count(*) FROM observations").fetchall() == [(1,)]
    for ending in {"", "-wal", "-shm"} - set(left):
        Path(db_path + ending).unlink()
    hook(bash(2))
    hook(bash(3))
    assert rows(KEYS) == ["toolu_2", "toolu_3"]
    reader.close()
    hook(bash(4))
    assert rows(KEYS) == ["toolu_2", "toolu_3", "toolu_4"]
    assert rows("PRAGMA integrity_check") == ["ok"]
    assert not (Path(db_path).parent / "nmem.log").exists()


def test_a_damaged_page_stops_no_hook(hook: Hook, bash: Payload, db_path: str) -> None:
    for number in range(30):
        hook(bash(number, f"make part-{number} " + "x" * 900))
    db = sqlite3.connect(db_path)
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    pages = [
        row[0] for row in db.execute("SELECT pageno FROM dbstat WHERE name = 'observations' AND pagetype = 'leaf'")
    ]
    db.close()
    with Path(db_path).open("r+b") as file:
        file.seek((pages[len(pages) // 2] - 1) * 4096)
        file.write(b"\xff" * 4096)
    hook(bash(100))
    db = sqlite3.connect(db_path)
    stored = db.execute("SELECT count(*) FROM observations WHERE dedup_key = 'toolu_100'").fetchone()[0]
    db.close()
    assert stored + spool.waiting(db_path) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere every name is UTF-8")
def test_names_that_are_no_utf8(hook: Hook, bash: Payload, tmp_path: Path) -> None:
    """A folder of such a name is one project for hooks, whose clients replace its bytes, and for the command line."""
    odd = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9")
    Path(odd).mkdir()
    path = odd + "/data/nmem.db"
    raw = json.dumps(bash(1, cwd="FOLDER")).encode().replace(b"FOLDER", os.fsencode(odd))
    hook(raw, db=path)
    hook(bash(2, cwd=odd), db=path)
    db = store.connect(path)
    assert [row[0] for row in db.execute(KEYS)] == ["toolu_1", "toolu_2"]
    assert db.execute("SELECT key FROM projects").fetchall() == [(resolve(odd).key,)]
    assert resolve(odd).name == "caf\ufffd"
    db.close()
    assert not Path(odd, "data", "nmem.log").exists()


def test_a_path_of_4096_characters(hook: Hook, bash: Payload, rows: Rows, db_path: str, tmp_path: Path) -> None:
    path = (str(tmp_path) + ("/" + "d" * 199) * 21)[:4000] + "/" + "f" * 95
    assert len(path) == 4096
    hook(bash(1, tool_name="Read", tool_input={"file_path": path}))
    hook(bash(2, cwd=path, session_id="deep"))
    assert rows("SELECT length(file_path) FROM observations WHERE seq = 1 AND session_id = 's-1'") == [LIMITS["path"]]
    assert rows("SELECT length(cwd) FROM sessions WHERE id = 'deep'") == [LIMITS["path"]]
    hook(bash(3), db=path)
    assert spool.waiting(path) == 1


def test_settling_is_started_whichever_way_the_clock_went(db_path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[object] = []
    monkeypatch.setattr(settle, "spawn", lambda *given: started.append(given))
    monkeypatch.delenv(settle.OFF, raising=False)
    store.connect(db_path).close()
    lock = Path(db_path).with_name("settle.lock")
    lock.touch()
    assert not settle.start(db_path)
    hour = lock.stat().st_mtime + 3600
    os.utime(lock, (hour, hour))
    assert settle.start(db_path)
    assert len(started) == 1


@pytest.fixture
def odd_path(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """What a payload may name that is no transcript."""
    path = tmp_path / "transcript.jsonl"
    if request.param == "fifo":
        os.mkfifo(path)
    elif request.param == "folder":
        path.mkdir()
    elif request.param == "huge":  # one line without an end
        with path.open("wb") as file:
            file.truncate(64 << 30)
    elif request.param == "document":
        path = path.with_suffix(".json")
        with path.open("wb") as file:
            file.write(b'{"messages": [')
            file.truncate(64 << 30)
    elif not os.access(request.param, os.R_OK):
        pytest.skip(f"{request.param} cannot be opened by this user")
    else:
        return str(request.param)
    return str(path)


@pytest.mark.parametrize(
    ("odd_path", "client"),
    [
        ("fifo", "claude"), ("folder", "gemini"), ("huge", "claude"), ("huge", "gemini"), ("document", "claude"),
        ("document", "gemini"), ("/dev/zero", "gemini"), ("/dev/tty", "claude"), ("/proc/kmsg", "gemini"),
    ],
    indirect=["odd_path"],
)  # fmt: skip
def test_what_is_no_transcript_is_not_read(
    hook: Hook, bash: Payload, rows: Rows, odd_path: str, client: str, db_path: str
) -> None:
    hook(bash(1))
    row = store.connect(db_path)
    begun = time.process_time()
    with closing(row) as db:
        catch_up(db, client, odd_path, "s-1")
    assert time.process_time() - begun < 5
    hook({"session_id": "s-1", "hook_event_name": "Stop", "cwd": "/srv", "transcript_path": odd_path}, "Stop")
    assert rows(KEYS) == ["toolu_1"]
    assert rows("SELECT value FROM counters WHERE name = 'errors'") == []
