"""The way to the server is verified unless the person says otherwise, and the password is in one file of their own."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from nmem.errors import NmemError
from nmem.team import config
from nmem.team.config import Membership
from tests.nmem.command_line import run as nmem
from tests.nmem.team.conftest import Member

URL = "postgresql://alice:s3cret%2Fword@db.example.org:6432/nmem"


@pytest.mark.parametrize(
    ("url", "mode"),
    [
        ("postgresql://a@db.example.org/x", "verify-full"), ("postgresql://a@10.0.0.7/x", "verify-full"),
        ("postgresql://a@localhost,db.example.org/x", "verify-full"),
        ("postgresql://a@/x?hostaddr=10.0.0.7", "verify-full"), ("postgresql://a@/x?service=far", "verify-full"),
        ("postgresql://a@localhost/x?hostaddr=10.0.0.7", "verify-full"),
        ("postgresql://a@db.example.org/x?sslmode=require", "require"), ("postgresql://a@localhost/x", None),
        ("postgresql:///x?host=/run/postgresql", None), ("postgresql://a@[::1]/x", None), ("postgresql://a@/x", None),
    ],
)  # fmt: skip
def test_another_machine_has_to_prove_who_it_is(url: str, mode: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PGHOST", "PGHOSTADDR", "PGSERVICE"):
        monkeypatch.delenv(name, raising=False)
    server = config.address(url)
    assert server.get("sslmode") == mode
    assert bool(Membership("t", "m", server, "d").warning) == (mode == "require")
    assert ("sslrootcert" in server) == (mode == "verify-full")


def test_a_host_that_the_environment_names_is_no_local_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGHOST", "db.example.org")
    assert config.address("postgresql:///x")["sslmode"] == "verify-full"


def test_an_address_is_read_with_what_is_escaped_in_it() -> None:
    found = config.address(URL)
    assert (found["user"], found["password"], found["host"], found["port"]) == (
        "alice", "s3cret/word", "db.example.org", "6432")  # fmt: skip


@pytest.mark.parametrize(
    "url", ["mysql://a@b/c", "db.example.org", "postgresql://a@b/c?options=-c%20x", "postgresql://a@b/c?y"]
)
def test_an_address_that_is_none_is_refused_without_being_quoted(url: str) -> None:
    with pytest.raises(NmemError, match="the address"):
        config.address(url)


@pytest.mark.parametrize("special", ["#", "/", "?", "/?", "\uff1a/", "[", "#/", "?x=", "?options=", "\uff03", ":#"])
def test_no_part_of_a_password_that_is_not_encoded_is_shown_or_kept(special: str) -> None:
    """Cut at a special letter, what is before it would be a host to look up, and what is behind it a database."""
    with pytest.raises(NmemError, match="percent-encode what is special") as raised:
        config.address(f"postgresql://alice:hunt{special}er2@127.0.0.1/x")
    assert "hunt" not in str(raised.value) and "er2" not in str(raised.value)


def test_several_hosts_have_ports_of_their_own() -> None:
    found = config.address("postgresql://a:b:c@[::1]:5433,localhost,127.0.0.1:7/x")
    assert (found["host"], found["port"], found["password"]) == ("::1,localhost,127.0.0.1", "5433,,7", "b:c")


def test_the_password_is_in_a_file_of_the_owner_alone_and_never_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NMEM_CONFIG", str(tmp_path / "own" / "config.toml"))
    us = Membership("acme", "alice", config.address(URL), "d")
    config.save(us)
    assert stat.S_IMODE(Path(config.path()).stat().st_mode) == 0o600
    assert config.load() == us and "s3cret" not in us.place
    assert us.place == "alice@db.example.org:6432/nmem"
    config.forget()
    assert config.load() is None
    Path(config.path()).write_text("{}")
    with pytest.raises(NmemError, match="cannot be read"):
        config.load()


def test_a_password_is_neither_in_the_database_nor_in_what_is_printed(three: tuple[Member, ...]) -> None:
    alice = three[0]
    url = alice.team.url("alice").replace("alice@", "alice:s3cretword@")
    with alice.here():
        done = nmem("sync", "init", "-", "--team", "acme", "--as", "alice", given=url + "\n")
        assert done.returncode == 0, done.stderr
        said = done.stdout + done.stderr + nmem("sync", "status").stdout + nmem("sync", "status", "--json").stdout
        assert "s3cretword" not in said and json.loads(nmem("sync", "status", "--json").stdout)["team"] == "acme"
    alice.now()
    for file in alice.folder.glob("nmem.db*"):
        assert b"s3cretword" not in file.read_bytes()
