"""nmem's own files are the user's alone: no link is followed, nothing of another user's is used, modes are set."""

from __future__ import annotations

import os
import signal
import sqlite3
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from capture import cache, files, log, paths, settle
from capture.files import NotOurs
from capture.install import installed, targets
from capture.storage import spool, store
from nmem import settle_start, tables
from nmem.backup import places, take
from nmem.backup.restore import restore
from nmem.backup.take import backup
from nmem.commands import main as cli
from nmem.database import busy, reader, settle_lock
from nmem.dispatch.folder import Folder, Spec
from nmem.doctor.checks import switches
from nmem.episodes import boundary
from nmem.errors import NmemError
from nmem.labels import cards
from nmem.llm import connect
from nmem.mcp import registration
from nmem.purge import files as purged
from nmem.purge import files as strays
from nmem.purge import run, trash
from nmem.purge.needles import Needles
from nmem.purge.selection import Selection
from nmem.read import health
from nmem.retention.idle import alone
from nmem.settle import settle as settled
from nmem.training import personal

NOW = 1_760_000_000_000
SECRET = "nobody's business"
pytestmark = pytest.mark.skipif(os.name == "nt", reason="modes and owners say nothing there")


@pytest.fixture
def made(db_path: str) -> str:
    with closing(store.connect(db_path)) as db:
        tables.ensure(db)
    return db_path


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """A file of the user's that a planted link leads to."""
    path = tmp_path / "precious"
    path.write_text(SECRET)
    return path


@pytest.fixture
def another(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """Gives a file to another user: really, where the tests run as root; else it only looks so."""
    real, real_handle = os.lstat, os.fstat
    given: set[int] = set()

    def give(path: Path) -> None:
        if os.geteuid() == 0:
            os.chown(path, 4242, 4242, follow_symlinks=False)
        else:
            given.add(real(path).st_ino)

    def seen(found: os.stat_result) -> os.stat_result:
        return os.stat_result((*found[:4], 4242, *found[5:10])) if found.st_ino in given else found

    if os.geteuid() != 0:
        monkeypatch.setattr(os, "lstat", lambda path, **more: seen(real(path, **more)))
        monkeypatch.setattr(os, "fstat", lambda handle: seen(real_handle(handle)))
    return give


def mode(path: str | Path) -> int:
    return stat.S_IMODE(os.lstat(path).st_mode)


def begin_settling(db_path: str) -> None:
    settled(db_path, models=False)


def settle_by_capture(db_path: str) -> None:
    settle.settle(db_path)


def lock_for_settling(db_path: str) -> None:
    with settle_lock(db_path):
        pass


def lock_for_sweeping(db_path: str) -> None:
    with alone(db_path):
        pass


LOCKS: dict[str, Callable[[str], object]] = {
    "settle.wanted": begin_settling, "settle.lock": settle_by_capture, "settle-nmem.lock": lock_for_settling,
    "sweep.lock": lock_for_sweeping,
}  # fmt: skip


@pytest.mark.parametrize("name", LOCKS)
def test_a_planted_link_is_not_followed(made: str, target: Path, name: str) -> None:
    place = Path(made).parent / name
    place.unlink(missing_ok=True)
    place.symlink_to(target)
    with pytest.raises(NotOurs, match=f"{name} is a link"):
        LOCKS[name](made)
    assert target.read_text() == SECRET


@pytest.mark.parametrize("name", LOCKS)
def test_a_second_name_of_a_file_that_is_none_of_ours_is_not_written_to(made: str, target: Path, name: str) -> None:
    place = Path(made).parent / name
    place.unlink(missing_ok=True)
    place.hardlink_to(target)
    with pytest.raises(NotOurs, match=f"{name} is a hard link"):
        LOCKS[name](made)
    assert target.read_text() == SECRET


@pytest.fixture
def soon() -> Iterator[None]:
    """Whoever waits for a FIFO's writer is woken by a signal, and fails."""

    def late(_number: int, _frame: object) -> None:
        pytest.fail("it waits")  # no OSError, which a reader may take for a file that is not there

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(20)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def purge_a_word(db_path: str) -> None:
    assert purged.clean(db_path, Needles(("zebra",))) == []
    assert purged.backups(db_path) == purged.copies(db_path) == []


READERS: dict[str, tuple[Callable[[str], object], object]] = {
    "nmem.log": (health.log_tail, ()),
    "boundaries.json": (lambda path: boundary.load(path).models.keys(), boundary.load().models.keys()),
    "./boundaries.json": (personal.in_force, personal.shipped()),
    "labels.json": (lambda path: cards.card_of(path, "none")[1], {}),
    "labels.bin": (lambda path: take.beside(path, []), {}),
    "settle.lock": (purge_a_word, None),
    "spool/1-1.json": (lambda path: take.beside(path, []), {}),
    "backups/nmem-20260101-101010.db": (purge_a_word, None),
    "tasks/1-1/ended.json": (lambda path: Folder(path, 1, 1).ended(), None),
    "installed/0123456789abcdef.json": (installed.everything, []),
    "cache/no-model-found": (lambda path: connect._touch(Path(paths.cache(path), "no-model-found")), None),
    "cache/doors.bin": (registration.known, {}),
}
"""Files beside the database -> who reads them, and what is found where there is nothing to be used."""


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("how", ["fifo", "link", "device"])
def test_nothing_is_read_of_what_is_no_file_of_ours(made: str, target: Path, name: str, how: str) -> None:
    place = Path(made).parent / name
    for folder in (place.parent.parent, place.parent):
        folder.mkdir(mode=0o700, exist_ok=True)
    place.unlink(missing_ok=True)
    target.write_text("zebra\n")
    moment = target.stat().st_mtime_ns
    if how == "fifo":
        os.mkfifo(place)
    else:
        place.symlink_to(target if how == "link" else "/dev/zero")
    use, nothing = READERS[name]
    assert use(made) == nothing
    assert target.read_text() == "zebra\n"
    assert target.stat().st_mtime_ns == moment


@pytest.mark.parametrize("name", ["installed", "file"])
def test_an_original_is_kept_in_no_file_that_a_link_leads_to(
    made: str, target: Path, own_home: Path, name: str
) -> None:
    record = installed.Record(str(own_home / ".claude" / "settings.json"), "claude", targets.USER)
    record.original = b"{}"
    installed.save(made, record, None)
    kept = Path(installed.folder(made))
    if name == "file":
        for path in kept.iterdir():
            path.unlink()
            path.symlink_to(target)
    else:
        kept.rename(target.with_name("elsewhere"))
        kept.symlink_to(target.with_name("elsewhere"))
    with pytest.raises(NotOurs, match="is a link"):
        installed.save(made, record, None)
    assert installed.load(made, record.path) is None
    assert target.read_text() == SECRET


def test_what_a_killed_process_left_is_taken_away_but_no_file_that_is_kept_under_another_name(
    made: str, target: Path
) -> None:
    there = Path(made).parent
    (there / ".x.99999999.tmp").hardlink_to(target)
    (there / "audit-99999999-x.db").symlink_to(target)
    elsewhere = target.with_name("elsewhere")
    elsewhere.mkdir()
    (elsewhere / ".y.99999999.tmp").write_text(SECRET)
    (there / "tasks").symlink_to(elsewhere)
    assert strays.clear(made) == [".x.99999999.tmp"]
    assert target.read_text() == SECRET
    assert [path.name for path in elsewhere.iterdir()] == [".y.99999999.tmp"]


def test_a_purge_overwrites_no_file_that_is_kept_under_another_name(made: str, target: Path) -> None:
    (Path(made).parent / "settle-note").hardlink_to(target)
    assert purged.clean(made, Needles((SECRET,))) == ["settle-note"]
    assert target.read_text() == SECRET


def test_a_purge_of_backups_overwrites_none_that_a_link_leads_to(made: str, target: Path) -> None:
    place = places.made(places.folder(made))
    (place / "nmem-20260101-101010.db").symlink_to(target)
    assert purged.backups(made) == []


def test_a_wish_to_settle_is_not_written_through_a_link(
    made: str, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path(settle_start.wanted(made)).symlink_to(target)
    monkeypatch.delenv(settle.OFF)
    assert not settle_start.start(made)
    assert target.read_text() == SECRET


def test_the_log_is_not_written_through_a_link(made: str, target: Path) -> None:
    Path(paths.log(made)).unlink(missing_ok=True)
    Path(paths.log(made)).symlink_to(target)
    assert not log.note(made, "something")
    assert target.read_text() == SECRET


@pytest.mark.parametrize("name", ["nmem.log", "settle.wanted", "settle-note"])
def test_a_purge_takes_no_word_out_of_what_a_link_leads_to(made: str, target: Path, name: str) -> None:
    place = Path(made).parent / name
    place.unlink(missing_ok=True)
    place.symlink_to(target)
    assert purged.clean(made, Needles(("nobody's business",))) == []
    assert target.read_text() == SECRET


@pytest.mark.parametrize("ending", ["", "-wal", "-shm"])
@pytest.mark.parametrize("how", ["link", "another"])
def test_a_database_that_is_not_the_user_s_own_is_refused(
    made: str, tmp_path: Path, another: Callable[[Path], None], ending: str, how: str
) -> None:
    place = Path(made + ending)
    backup(made, str(tmp_path / "other.db"))
    if not place.exists():
        place.write_bytes(b"")
    if how == "link":
        place.rename(tmp_path / "elsewhere")
        place.symlink_to(tmp_path / "elsewhere")
    else:
        another(place)
    said = "is a link" if how == "link" else "belongs to another user"
    with pytest.raises(NotOurs, match=said):
        store.connect(made)
    other = str(tmp_path / "other.db")
    for use in (reader, backup, lambda path: restore(path, other), lambda path: busy(path, 0.1)):
        with pytest.raises(NmemError, match=said):
            use(made)


def test_a_hook_keeps_its_event_where_the_database_is_another_s(
    hook: Any, bash: Any, made: str, tmp_path: Path
) -> None:
    Path(made).rename(tmp_path / "elsewhere")
    Path(made).symlink_to(tmp_path / "elsewhere")
    hook(bash(1))
    assert spool.waiting(made) == 1
    with closing(sqlite3.connect(tmp_path / "elsewhere")) as db:
        assert db.execute("SELECT count(*) FROM observations").fetchone() == (0,)
    (said,) = Path(paths.log(made)).read_text().splitlines()
    assert "spooled" in said
    assert "is a link" in said


def test_a_command_says_it_in_one_line(
    made: str, another: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    another(Path(made))
    monkeypatch.setattr(sys, "argv", ["nmem", "status"])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    said = capsys.readouterr().err
    assert stop.value.code == 1
    assert said.count("\n") == 1
    assert "belongs to another user" in said


def test_modes_that_let_others_in_are_put_right(hook: Any, bash: Any, made: str) -> None:
    holder = sqlite3.connect(made)
    holder.execute("SELECT count(*) FROM sqlite_master").fetchone()
    for name in ("", "-wal", "-shm"):
        Path(made + name).touch()
        Path(made + name).chmod(0o666)
    Path(paths.spool(made)).mkdir(exist_ok=True)
    Path(paths.spool(made)).chmod(0o777)
    hook(bash(1))
    spool.waiting(made)
    assert [mode(made + name) for name in ("", "-wal", "-shm")] == [0o600] * 3
    assert mode(paths.spool(made)) == 0o700
    holder.close()


@pytest.mark.parametrize("how", ["link", "another"])
@pytest.mark.parametrize("name", ["trash", "backups", "spool", "cache", "tasks"])
def test_a_folder_that_is_not_the_user_s_own_is_not_used(
    made: str, tmp_path: Path, another: Callable[[Path], None], name: str, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", "/proc/none")
    place = Path(made).parent / name
    if how == "link":
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        place.symlink_to(tmp_path / "elsewhere")
    else:
        place.mkdir(mode=0o700, exist_ok=True)
        another(place)
    said = "is a link" if how == "link" else "belongs to another user"
    with closing(store.connect(made)) as db:
        db.execute("INSERT INTO counters VALUES ('zqword', 1)")
    if name == "trash":
        with pytest.raises(NotOurs, match=said):
            run.purge(made, Selection(texts=("zqword",)), NOW)
        assert trash.kept(made) == set()
    elif name == "backups":
        for use in (places.made, places.kept):
            with pytest.raises(NmemError, match=said):
                use(places.folder(made))
    elif name == "spool":
        spool.tally(made, "lost")
        assert spool.tallied(made) == {}
    elif name == "cache":
        assert not cache.write(str(place / "x.bin"), "value")
        assert cache.read(str(place / "x.bin"), str) is None
    else:
        spec = Spec(made, 1, 1, ("true",), "/", False, False, True, 1, 1, "/bin")
        with pytest.raises(NotOurs, match=said):
            Folder(made, 1, 1).make(spec, "words")
    assert list(place.iterdir()) == []


def test_a_backup_folder_that_a_person_chose_stays_as_it_is(
    own_home: Path, made: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "disk" / "backups"
    place.mkdir(parents=True, mode=0o755)
    config = own_home / "config.toml"
    config.write_text(f'[backup]\nfolder = "{place}"\n')
    monkeypatch.setenv("NMEM_CONFIG", str(config))
    places.made(places.folder(made))
    assert mode(place) == 0o755


def test_only_regular_files_are_read_and_only_so_much(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "large").write_bytes(b"x" * 11)
    (tmp_path / "link").symlink_to(tmp_path / "large")
    with pytest.raises(OSError, match="not a regular file"):
        files.read(str(tmp_path / "fifo"))
    with pytest.raises(OSError, match="larger than 10"):
        files.read(str(tmp_path / "large"), 10)
    assert files.read(str(tmp_path / "link"), 11) == b"x" * 11


@pytest.mark.usefixtures("soon")
def test_no_fifo_among_the_settings_of_a_client_is_waited_for(made: str, own_home: Path) -> None:
    for name in (".codex/config.toml", ".claude/settings.json"):
        (own_home / name).parent.mkdir()
        os.mkfifo(own_home / name)
    registration.keep(made, [])
    assert registration.known(made) == {}
    assert [found.severity for found in switches.codex(str(own_home))] == ["wrong"]
