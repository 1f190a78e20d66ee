"""`nmem backup` and `nmem restore` as a person meets them: sealed, checked, refused in one line, private."""

from __future__ import annotations

import base64
import json
import os
import sqlite3
import stat
import subprocess
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyrage
import pytest
from click.testing import CliRunner
from pyrage import x25519

from capture import paths
from capture.seal import seal
from capture.storage import spool, store
from capture.storage.schema import MIGRATIONS
from nmem import tables
from nmem.backup.restore import restore
from nmem.commands.backup import VARIABLE
from nmem.commands.main import nmem
from nmem.errors import NmemError
from tests.nmem.backup import hammer
from tests.nmem.backup.conftest import rows, whole, written

PLANTED = b"change the colour of part 17"
FILE_KEY = "AGE-SECRET-KEY-1ZYTKZCZG77GZPD0PVF9QA5DZSGEE2HLW8LSYWCWHPDXT2NA48W9S4470EP"
SEALED = """
YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IHNjcnlwdCB3ZWZIancwNTRvMHAyOFVlclMyclhRIDEwCmlIRUx1bXdGakJrdkpvVjJBdm52eC9YSW
ZXRTVhQkFQQnBNWkhaSzd2alEKLS0tIFVrKzNGOXRGQlF2L25XTEROZmF1NjNKS09ORk1rbnNFbWhLbFNaaUNSMHMKmT9aqNhq83PCCJ0b3yti
q8RKb4MooPW0qGNrY3pPTlv9RCsHZN2z0SvKhfBatYMIuut05vxgtcpUya+tko9XQ4d576wgvBpsuCoRd+aof34htbPSIxo1/YYjnMEgDRVQgT
sl2MNYzjovyQ==
"""
"""That key as age seals it by "correct horse", with few rounds."""


def run(*args: str) -> Any:
    return CliRunner().invoke(nmem, args)


def ok(*args: str) -> str:
    result = run(*args)
    assert result.exit_code == 0, (result.output, result.exception)
    return str(result.stdout)


def refused(*args: str) -> str:
    result = run(*args)
    assert isinstance(result.exception, NmemError), (result.output, result.exception)
    assert "\n" not in str(result.exception)
    return str(result.exception)


@pytest.fixture
def key(tmp_path: Path) -> tuple[str, str]:
    """A public key, and the file of the secret one."""
    made = x25519.Identity.generate()
    file = tmp_path / "key.txt"
    file.write_text(f"# mine\n{made}\n")
    return str(made.to_public()), str(file)


def test_a_backup_lies_beside_the_database_for_the_owner_alone(filled: str) -> None:
    made = json.loads(ok("backup", "--json"))
    path = Path(made["path"])
    assert path.parent == Path(paths.folder(filled), "backups")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [each.name for each in path.parent.iterdir()] == [path.name]
    assert (made["rows"]["prompts"], made["rows"]["observations"]) == (40, 120)
    assert rows(path) == rows(filled)
    assert ok("backup", "--list").startswith(str(path))
    assert "40 prompts, 120 observations" in ok("backup")


def test_an_encrypted_backup_does_not_open_without_the_key(filled: str, key: tuple[str, str], tmp_path: Path) -> None:
    assert PLANTED in b"".join(each.read_bytes() for each in Path(paths.folder(filled)).iterdir() if each.is_file())
    path = json.loads(ok("backup", "--encrypt", key[0], "--json"))["path"]
    data = Path(path).read_bytes()
    assert PLANTED not in data
    assert not any(word in data for word in (b"SQLite", b"observations", b"/src/shop", b"CREATE TABLE"))
    left = [
        each for each in Path(paths.folder(filled)).rglob("*") if each.is_file() and each.name.startswith((".", "copy"))
    ]
    assert left == []
    before = rows(filled)
    assert "secret key by --identity FILE" in refused("restore", path, "--yes")
    other = tmp_path / "other.txt"
    other.write_text(str(x25519.Identity.generate()))
    assert "encrypted to other keys than those of --identity" in refused("restore", path, "--identity", str(other))
    Path(path).write_bytes(data[:-100] + b"x" * 100)
    refused("restore", path, "--identity", key[1], "--yes")
    Path(path).write_bytes(data)
    assert rows(filled) == before
    with closing(sqlite3.connect(filled)) as db:
        db.execute("DELETE FROM prompts")
        db.commit()
    ok("restore", path, "--identity", key[1], "--yes")
    assert rows(filled) == before


@pytest.fixture
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """The key of the file and its sealed form are given: age takes seconds to derive a key from a passphrase, twenty
    doublings on; these are ten. age itself seals once all the same, and opens what is given."""
    encrypt, made = pyrage.passphrase.encrypt, x25519.Identity.from_str(FILE_KEY)

    def sealed(data: bytes, phrase: str) -> bytes:
        assert data.decode() == FILE_KEY and encrypt(data, phrase).startswith(b"age-encryption.org/v1\n-> scrypt ")
        assert phrase == "correct horse"
        return base64.b64decode(SEALED)

    known = SimpleNamespace(generate=lambda: made, from_str=x25519.Identity.from_str)
    monkeypatch.setattr(pyrage.x25519, "Identity", known)
    monkeypatch.setattr(pyrage.passphrase, "encrypt", sealed)


@pytest.mark.usefixtures("cheap")
def test_a_passphrase_seals_a_backup_too(filled: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "correct horse")
    path = str(tmp_path / "b.age")
    ok("backup", path, "--passphrase")
    assert PLANTED not in Path(path).read_bytes()
    monkeypatch.setenv(VARIABLE, "wrong horse")
    assert "wrong passphrase" in refused("restore", path, "--yes")
    monkeypatch.setenv(VARIABLE, "correct horse")
    assert "is whole and can be restored" in ok("restore", path, "--dry-run")
    monkeypatch.delenv(VARIABLE)
    assert VARIABLE in run("restore", path, "--yes").output


def test_an_ssh_key_opens_what_is_encrypted_to_it(filled: str, tmp_path: Path) -> None:
    made = subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / "id")], check=False)
    if made.returncode:
        pytest.skip("ssh-keygen makes no key here")
    ok("backup", str(tmp_path / "b.age"), "--encrypt", str(tmp_path / "id.pub"))
    ok("restore", str(tmp_path / "b.age"), "--identity", str(tmp_path / "id"), "--yes")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--encrypt", "age1nonsense"), "age1nonsense is not a public key"),
        (("--encrypt", "/no/such/file"), "is neither a key nor a file of public keys"),
        (("/no/such/folder/b.db",), "there is no folder /no/such/folder"),
    ],
)
def test_what_cannot_be_done_is_one_line(filled: str, words: tuple[str, ...], said: str) -> None:
    assert said in refused("backup", *words)
    assert not list(Path(paths.folder(filled), "backups").glob("*"))


def test_a_secret_key_is_not_taken_for_a_public_one(filled: str, key: tuple[str, str]) -> None:
    assert "that is a secret key" in refused("backup", "--encrypt", key[1])


def test_recipients_of_the_settings_encrypt_every_backup(filled: str, key: tuple[str, str]) -> None:
    ok("config", "set", "backup.recipients", key[0])
    made = json.loads(ok("backup", "--json"))
    assert made["encrypted"]
    assert made["path"].endswith(".db.age")


def test_only_the_newest_are_kept_and_nothing_else_is_touched(filled: str) -> None:
    folder = Path(paths.folder(filled), "backups")
    first = json.loads(ok("backup", "--json"))["path"]
    stranger = folder / "holiday.db"
    stranger.write_text("mine")
    ok("restore", first, "--yes")
    for _ in range(3):
        made = json.loads(ok("backup", "--keep", "2", "--json"))
    assert not Path(first).exists()
    names = sorted(each.name for each in folder.iterdir())
    assert len([name for name in names if name.startswith("nmem-")]) == 2
    assert len([name for name in names if name.startswith("before-restore-")]) == 1
    assert stranger.exists()
    assert Path(made["path"]).exists()


def test_a_file_that_is_there_is_not_overwritten(filled: str, tmp_path: Path) -> None:
    there = tmp_path / "b.db"
    there.write_text("mine")
    assert "exists already" in refused("backup", str(there))
    assert there.read_text() == "mine"
    assert json.loads(ok("backup", str(tmp_path), "--json"))["path"].startswith(str(tmp_path / "nmem-"))


def test_what_waits_in_the_spool_is_in_the_backup(filled: str, tmp_path: Path) -> None:
    assert spool.put(filled, seal(hammer.batch(40)))
    path = json.loads(ok("backup", "--json"))["path"]
    assert written(path) == 41
    assert spool.waiting(filled) == 0


def test_what_cannot_be_stored_is_packed_and_comes_back(filled: str, tmp_path: Path) -> None:
    assert spool.put(filled, seal(hammer.batch(40)))
    with closing(sqlite3.connect(filled, isolation_level=None)) as busy:
        busy.execute("BEGIN IMMEDIATE")
        made = json.loads(ok("backup", str(tmp_path / "b.db"), "--json"))
        busy.execute("ROLLBACK")
    assert [name for name in made["files"] if name.startswith("spool/")]
    assert written(made["path"]) == 40
    for folder in spool.folders(filled):
        for file in Path(folder).glob("*.json"):
            file.unlink()
    ok("restore", made["path"], "--yes")
    assert spool.waiting(filled) == 1
    with closing(store.connect(filled)) as db:
        assert spool.drain(db, filled) == 1
    assert written(filled) == 41


def test_a_new_machine_gets_everything(filled: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path(paths.folder(filled), "boundaries.json").write_text("{}")
    config = Path(paths.config())
    config.parent.mkdir(parents=True)
    config.write_text("# mine\n[llm]\nkey = 'sk-planted'\nmodel = 'm'\n")
    made = json.loads(ok("backup", str(tmp_path / "b.db"), "--json"))
    assert b"sk-planted" not in Path(made["path"]).read_bytes()
    there = rows(filled)
    monkeypatch.setenv("NMEM_DB", str(tmp_path / "new" / "nmem.db"))
    monkeypatch.setenv("NMEM_CONFIG", str(tmp_path / "new" / "config.toml"))
    assert "--with-settings takes them" in ok("restore", made["path"], "--yes")
    assert not (tmp_path / "new" / "config.toml").exists()
    assert rows(tmp_path / "new" / "nmem.db") == there
    assert (tmp_path / "new" / "boundaries.json").read_text() == "{}"
    ok("restore", made["path"], "--yes", "--with-settings")
    assert (tmp_path / "new" / "config.toml").read_text() == "# mine\n[llm]\nmodel = 'm'\n"
    assert stat.S_IMODE((tmp_path / "new" / "nmem.db").stat().st_mode) == 0o600


def damaged(path: Path) -> None:
    data = bytearray(path.read_bytes())
    for at in range(8192, len(data) - 4096, 20_480):
        data[at : at + 400] = b"\xff" * 400
    path.write_bytes(bytes(data))


def test_a_damaged_backup_is_refused_before_anything_changes(filled: str, tmp_path: Path) -> None:
    path = Path(json.loads(ok("backup", str(tmp_path / "b.db"), "--json"))["path"])
    before = rows(filled)
    damaged(path)
    assert "is damaged" in refused("restore", str(path), "--yes")
    path.write_bytes(b"SQLite format 3\0" + b"x" * 9000)
    assert "is damaged" in refused("restore", str(path), "--yes")
    path.write_text("hello")
    assert "is not a backup of nmem" in refused("restore", str(path), "--yes")
    assert "No such file" in refused("restore", str(tmp_path / "none"), "--yes")
    with closing(sqlite3.connect(tmp_path / "foreign.db")) as db:
        db.execute("CREATE TABLE t (x)")
    assert "not nmem's" in refused("restore", str(tmp_path / "foreign.db"), "--yes")
    assert rows(filled) == before


@pytest.mark.parametrize("how", ["pages", "header"])
def test_a_damaged_database_is_put_right_by_a_backup(filled: str, tmp_path: Path, how: str) -> None:
    path = json.loads(ok("backup", str(tmp_path / "b.db"), "--json"))["path"]
    with closing(sqlite3.connect(filled)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    if how == "pages":
        damaged(Path(filled))
    else:
        Path(filled).write_bytes(b"x" * 100_000)
    assert "damaged" in ok("restore", path, "--yes") if how == "header" else ok("restore", path, "--yes")
    assert rows(filled) == rows(path)
    whole(filled)


@pytest.mark.parametrize("sql", [f"PRAGMA user_version = {len(MIGRATIONS) + 1}",
                                 f"UPDATE nmem_schema SET version = {tables.VERSION + 1}"])  # fmt: skip
def test_a_backup_of_a_newer_nmem_is_refused_in_one_line(filled: str, tmp_path: Path, sql: str) -> None:
    path = json.loads(ok("backup", str(tmp_path / "b.db"), "--json"))["path"]
    with closing(sqlite3.connect(path)) as db:
        db.execute(sql)
        db.commit()
    before = rows(filled)
    assert "upgrade nmem" in refused("restore", path, "--yes")
    assert rows(filled) == before


def test_a_backup_of_an_older_nmem_is_brought_up_to_date(own_home: Path, db_path: str, tmp_path: Path) -> None:
    from tests.nmem.test_migrations import at_version

    old = tmp_path / "old.db"
    at_version(str(old), 1).close()
    restore(db_path, str(old))
    with closing(sqlite3.connect(db_path)) as db:
        assert tables.version(db) == tables.VERSION
        assert db.execute("SELECT content FROM prompts").fetchall() == [("fix the login",)]
        assert db.execute("SELECT intent FROM work_units").fetchall() == [("fix the login",)]
    with closing(sqlite3.connect(old)) as db:
        assert tables.version(db) == 1, "the backup itself stays what it is"


def test_dry_run_and_a_missing_yes_change_nothing(filled: str, tmp_path: Path) -> None:
    path = json.loads(ok("backup", str(tmp_path / "b.db"), "--json"))["path"]
    with closing(sqlite3.connect(filled)) as db:
        db.execute("DELETE FROM observations")
        db.commit()
    before = rows(filled)
    assert "120 observations" in ok("restore", path, "--dry-run")
    assert "--yes restores it" in refused("restore", path)
    assert rows(filled) == before
    assert not list(Path(paths.folder(filled)).glob("backups/*"))


def test_a_pipe_is_no_backup_and_nobody_waits_for_it(db_path: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "backup")
    found = CliRunner().invoke(nmem, ["restore", str(tmp_path / "backup"), "--yes"])
    assert found.exit_code == 1
    assert "is not a file" in str(found.exception) + found.output
