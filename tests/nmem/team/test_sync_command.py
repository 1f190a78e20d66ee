"""`nmem sync`: joining, choosing projects, what status says, leaving; each answer as a person reads it."""

from __future__ import annotations

import json
from pathlib import Path

from nmem.team import config
from tests.nmem.command_line import run as nmem
from tests.nmem.team.conftest import PROJECT, Team, settled


def test_joining_says_who_one_is_and_what_is_shared(team: Team) -> None:
    alice = team.member("alice")
    with alice.here():
        done = nmem("sync", "init", team.url("alice"), "--team", "acme", "--as", "bob")
        assert (done.returncode, done.stderr) == (1, "nmem: the server knows this login as alice: say --as alice\n")
        done = nmem("sync", "init", team.url("alice"), "--team", "acme", "--as", "alice")
        assert (
            done.stdout == f"alice is in team acme, at alice@{team.server.folder}/{team.database}\nshared: {PROJECT}\n"
        )
        done = nmem("sync", "init", team.url("mallory"), "--team", "acme", "--as", "alice")
        assert "not (or no longer) a member of team acme" in done.stderr and len(done.stderr.splitlines()) == 1


def test_a_project_without_a_remote_takes_a_name_and_an_ambiguous_one_is_not_guessed(team: Team) -> None:
    alice, bob = team.member("alice"), team.member("bob")
    for each in (alice, bob):
        with each.db() as db:
            root = f"/home/{each.name}/notes"
            db.execute(
                "INSERT INTO projects (id, key, name, root, created_at) VALUES (2, ?, 'notes', ?, 0)", (root, root)
            )
            db.execute(
                "INSERT INTO projects (id, key, name, root, created_at) VALUES (3, '/x/shop', 'shop', '/x/shop', 0)"
            )
        with each.here():
            assert "has no remote by which others know it" in nmem("sync", "share", "notes").stderr
            assert nmem("sync", "share", "notes", "--called", "notes").returncode == 0
            assert "several projects are called shop" in nmem("sync", "share", "shop").stderr
            assert "is shared as notes" in nmem("sync", "share", "/x/shop", "--called", "notes").stderr
    alice.learn("in the notes", project=2)
    settled(alice, bob)
    assert bob.rows("project_id, title") == [(2, "in the notes")]
    assert "/home/alice" not in str(team.sql("SELECT * FROM nmem.facts"))


def test_status_counts_both_ways_and_unshare_takes_back(team: Team) -> None:
    alice, bob = team.member("alice"), team.member("bob")
    alice.learn("one", "two")
    with alice.here():
        assert "no pass yet" in nmem("sync", "status").stdout
    settled(alice, bob, passes=1)
    with bob.here():
        said = json.loads(nmem("sync", "status", "--json").stdout)
    assert (said["shared"], said["waiting"], said["of_others"], said["others"]) == (0, 0, 2, 1)
    assert said["projects"] == [PROJECT] and said["failing"] == {} and said["last"]["came"] == 2
    with alice.here():
        assert "2 versions taken back" in nmem("sync", "unshare", PROJECT, "--withdraw").stdout
        assert "is not shared" in nmem("sync", "unshare", PROJECT).stderr
    settled(alice, bob)
    assert bob.titles() == set() and team.facts() == {}
    with alice.here():
        assert nmem("sync", "share", PROJECT).returncode == 0
    settled(alice, bob)
    assert bob.titles() == {"one", "two"}, "what was withdrawn, and not purged, may be shared again"


def test_leaving_with_what_one_said(team: Team) -> None:
    alice, bob = team.member("alice"), team.member("bob")
    alice.learn("one")
    bob.learn("another")
    settled(alice, bob, alice)
    with alice.here():
        done = nmem("sync", "leave", "--withdraw")
        assert done.stdout == "1 version taken back\nleft team acme: 1 row of others forgotten\n", done.stderr
        assert not Path(config.path()).exists()
        assert "belongs to no team" in nmem("sync", "status").stdout
        assert "belongs to no team" in nmem("sync", "now").stderr
    settled(bob)
    assert bob.titles() == {"another"}


def test_a_damaged_file_is_said_and_written_anew(team: Team) -> None:
    alice = team.member("alice")
    with alice.here():
        Path(config.path()).write_text("{")
        assert "cannot be read (it is damaged): `nmem sync init`" in nmem("sync", "now").stderr
        alice.join()
        assert nmem("sync", "now").returncode == 0


def test_an_administrator_sets_up_and_admits(team: Team, tmp_path: Path) -> None:
    team.sql("DROP SCHEMA nmem CASCADE")
    words = ("sync", "init", team.url("postgres"), "--team", "acme", "--admin")
    done = nmem(*words, "--admit", "mallory=mal")
    assert done.stdout.splitlines()[-1] == "mallory is mal in team acme", done.stderr
    assert nmem(*words).stdout == "the server is set up already\n"
    assert "the server has no login nobody" in nmem(*words, "--admit", "nobody=x").stderr
    assert nmem(*words, "--admit", "x").returncode == 2
    team.sql("REVOKE nmem_acme FROM mallory")


def test_a_server_that_nobody_set_up_is_said(team: Team) -> None:
    alice = team.member("alice")
    team.sql("DROP SCHEMA nmem CASCADE")
    with alice.here():
        assert "the server is not set up" in nmem("sync", "now").stderr
