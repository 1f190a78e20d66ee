"""What leaves is redacted whole by the newest rules and cut only then; what left under older rules is replaced."""

from __future__ import annotations

import json

import pytest

from capture.redaction import settings
from nmem.team import config, local, versions
from tests.nmem.team.conftest import Member, Team, settled

Three = tuple[Member, Member, Member]
TOKEN = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5"
KEY = "AKIA" + "QX3L7RZP5WNDT2VB"
PASSWORD = "hunter2-Vx93kq"


def everything(member: Member) -> str:
    """Every text on the server."""
    team = member.team
    columns = team.sql("SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'nmem'")
    assert len(columns) > 20
    return "\n".join(str(team.sql(f'SELECT "{column}" FROM nmem."{table}"')) for table, column in columns)


def test_no_planted_secret_gets_to_the_server_in_whatever_column_it_stands(three: Three) -> None:
    alice, bob, _ = three
    secrets = (TOKEN, KEY, f"password={PASSWORD}")
    for number, secret in enumerate(secrets):
        alice.episode(
            f"s{number}", f"Use {secret} now", f"It was {secret}, said twice: {secret}", (f"src/{secret}.py",)
        )
        alice.learn(f"export {secret}")
    with alice.db() as db:
        said = f'["{TOKEN}"]'
        db.execute("UPDATE work_units SET learned = ?, completed = ?, next_steps = ?, notes = ?", (said,) * 4)
        db.execute("UPDATE narrations SET outcome = ?, obstacle = ?", (f"with {KEY}", f"PASSWORD={PASSWORD}"))
    settled(alice, bob)
    found = everything(alice)
    assert "[REDACTED:" in found and len(bob.titles()) == 6
    assert [each for each in (TOKEN, KEY, PASSWORD, "aB3dE5gH7jK9", "QX3L7RZP5") if each in found] == []


@pytest.mark.parametrize("into", range(4, 40, 7))
def test_a_secret_that_lies_over_the_cut_leaves_no_beginning_behind(three: Three, into: int) -> None:
    alice = three[0]
    alice.episode("s1", "A long story", "word " * ((versions.BODY - into) // 5) + TOKEN + " and on it goes")
    alice.learn("x" * (versions.TITLE - into) + " " + TOKEN)
    alice.now()
    found = everything(alice)
    assert TOKEN[:8] not in found and len(alice.team.facts()) == 2


def test_homes_and_folders_of_the_machine_stay_at_home(three: Three) -> None:
    alice = three[0]
    root = str(alice.folder / "shop")
    alice.episode(
        "s1", f"Look at {root}/src/a.py", "See /home/anna/notes.txt", (f"{root}/src/a.py", "/etc/hosts", "b.py")
    )
    alice.now()
    found = everything(alice)
    assert root not in found and "anna" not in found and "/etc/hosts" not in found
    assert alice.rows("title, files") == [("Look at src/a.py", '["src/a.py", "b.py"]')]


def test_newer_rules_replace_what_left_and_delete_it_on_the_server(three: Three) -> None:
    alice, bob, carol = three
    alice.episode("s1", "Call Waldemar", "Waldemar was asked.", ("src/waldemar.py",))
    alice.learn("nothing of him")
    settled(*three)
    alice.episode("s2", "Another", "Plain.")
    settled(*three)
    with alice.db() as db:
        db.execute("UPDATE work_units SET title = 'Call Waldemar again' WHERE session_id = 's1'")
    settled(*three)
    kept = {row[0] for row in bob.rows("id", "title IN ('nothing of him', 'Another')")}
    (alice.folder / "config.toml").write_text('[redaction]\nwords = ["waldemar"]\n')
    settings._recent.clear()
    done = alice.now()
    assert done.announced == 2 and done.sent == 1
    settled(*three)
    for each in (*three,):
        assert "aldemar" not in str(each.rows())
    assert "aldemar" not in everything(alice)
    assert kept < {row[0] for row in bob.rows("id")}, "what the rules leave as it is stays the version that it was"
    assert bob.rows() == carol.rows() == alice.rows()
    assert alice.now().sent == 0


def test_a_text_that_a_project_alone_redacts_is_redacted_by_its_rules(three: Three) -> None:
    alice = three[0]
    (alice.folder / "config.toml").write_text('[redaction.projects.shop]\nwords = ["waldemar"]\n')
    alice.learn("ask Waldemar first")
    alice.now()
    assert "Waldemar" not in everything(alice) and len(alice.team.facts()) == 1


def test_newer_rules_reach_what_was_said_of_a_project_that_is_shared_no_longer(three: Three) -> None:
    alice, bob, _ = three
    alice.learn("ask Waldemar first", "plain words")
    settled(alice, bob)
    with alice.db() as db:
        local.unshare(db, 1)
    (alice.folder / "config.toml").write_text('[redaction]\nwords = ["waldemar"]\n')
    settings._recent.clear()
    settled(alice, bob)
    assert "aldemar" not in everything(alice) and bob.titles() == {"plain words"}


def test_what_was_said_under_older_rules_in_a_team_that_was_left_is_looked_at_on_coming_back(three: Three) -> None:
    alice = three[0]
    alice.learn("ask Waldemar first")
    alice.now()
    with alice.here(), alice.db() as db:
        local.leave(db)
        config.forget()
    alice.team.sql("DELETE FROM nmem.facts")
    (alice.folder / "config.toml").write_text('[redaction]\nwords = ["waldemar"]\n')
    settings._recent.clear()
    alice.join()
    alice.now()
    assert "aldemar" not in everything(alice) and len(alice.team.facts()) == 1


@pytest.mark.parametrize("first", ["lax", "strict"])
def test_what_one_machine_redacted_anew_never_comes_out_again_from_another_with_older_rules(
    team: Team, first: str
) -> None:
    lax, strict, bob = team.member("alice", "a-lax"), team.member("alice", "a-strict"), team.member("bob")

    def settle(*members: Member) -> None:
        for each in members:
            settings._recent.clear()
            each.now()

    lax.learn("ask Waldemar first", "plain words")
    strict.learn("ask Waldemar first", "plain words")
    settle(*((lax, strict) if first == "lax" else (strict, lax)), bob, lax, strict, bob)
    (strict.folder / "config.toml").write_text('[redaction]\nwords = ["waldemar"]\n')
    settle(strict, lax, strict)
    for _ in range(3):
        settle(lax)
        assert "aldemar" not in everything(lax)
        settle(strict)
    settle(bob)
    assert "aldemar" not in everything(lax) and "aldemar" not in str(bob.rows())
    lax.episode("later", "Call Waldemar", "He was asked.")
    settle(lax, strict, lax, strict, bob)
    assert "aldemar" not in everything(lax) and len(bob.titles()) == 3


def test_paths_out_of_the_project_and_what_other_projects_are_called_stay_at_home(three: Three) -> None:
    alice = three[0]
    with alice.db() as db:
        db.execute("INSERT INTO projects (id, key, name, root, remote, created_at) VALUES"
                   " (7, 'github.com/acme/umbrella-billing', 'umbrella-billing', '/odd/umbrella-billing',"
                   " 'github.com/acme/umbrella-billing', 0)")  # fmt: skip
    outside = (
        "/srv/clients/umbrella/contract.md", "D:\\clients\\umbrella\\x.py", "/src/other/umbrella/keys.py",
        "C:/clients/umbrella", "\\\\nas\\umbrella\\x.doc", "file:///srv/umbrella/x", "~/umbrella/notes.txt",
        "/mnt/Big umbrella/x", "-I/srv/umbrella/include", "nas:/srv/umbrella/x",
        "/clients/umbrella/x.pdf", "/odd/umbrella-billing/src", "umbrella-billing", "github.com/acme/umbrella-billing",
    )  # fmt: skip
    alice.episode("s1", f"Look at {outside[0]}", "Edited " + ", ".join(outside))
    alice.learn(*(f"see {each} first" for each in outside))
    with alice.db() as db:
        db.execute("UPDATE work_units SET learned = ?", (json.dumps([f"it is in `{each}`" for each in outside]),))
        db.execute("UPDATE narrations SET outcome = ?", (f"moved to {outside[1]}.",))
    alice.now()
    assert "umbrella" not in everything(alice) and len(alice.team.facts()) == 1 + len(outside)


def test_routes_addresses_and_relative_paths_are_no_paths_out_of_the_project(three: Three) -> None:
    alice = three[0]
    said = "POST /api/v1/users and/or https://example.org/srv/x.html in src/srv/a.py, ./b.py, 3/4 of /when it rains"
    alice.episode("s1", "Routes", said)
    alice.now()
    assert alice.rows("body") == [(said,)]
