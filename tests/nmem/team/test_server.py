"""Who may do what on the server: the rules are the server's own, whatever a client sends."""

from __future__ import annotations

import threading
from typing import Any

import psycopg
import pytest
from psycopg import errors

from nmem.errors import NmemError
from nmem.team import admin, config, local
from nmem.team.server import Removed
from tests.nmem.team.conftest import PROJECT, Member, Team, settled

Three = tuple[Member, Member, Member]


def asked(team: Team, login: str, sql: str, *given: Any) -> list[tuple[Any, ...]]:
    with psycopg.connect(team.url(login), autocommit=True) as db:
        done = db.execute(sql, given or None)
        return list(done.fetchall()) if done.description else []


TABLES = ("facts", "gone", "marks", "members", "server", "versions")


def test_a_login_without_the_role_reads_nothing(three: Three) -> None:
    alice = three[0]
    alice.learn("ours alone")
    settled(*three)
    for table in TABLES:
        with pytest.raises(errors.InsufficientPrivilege):
            asked(alice.team, "mallory", f"SELECT * FROM nmem.{table}")
    for call in ("me('acme')", "purge('acme', '{}')", "withdraw('acme', '{}')", "lock_team('acme')", "owns('a', 'b')"):
        with pytest.raises(errors.InsufficientPrivilege):
            asked(alice.team, "mallory", f"SELECT nmem.{call}")


def test_a_member_of_another_team_reads_nothing_of_this_one(three: Three) -> None:
    alice = three[0]
    alice.learn("ours alone")
    settled(*three)
    admin.prepare(config.address(alice.team.url("postgres")), "rivals", {"mallory": "alice"})
    for table in ("facts", "gone", "marks"):
        assert asked(alice.team, "mallory", f"SELECT * FROM nmem.{table}") == []
    assert asked(alice.team, "mallory", "SELECT team, member FROM nmem.members") == [("rivals", "alice")]
    assert asked(alice.team, "mallory", "SELECT nmem.me('acme'), nmem.me('rivals')") == [(None, "alice")]
    with pytest.raises(errors.InsufficientPrivilege):
        asked(alice.team, "mallory", "SELECT nmem.purge('acme', %s)", [local.subject("alice", "x")])


def test_the_role_alone_or_the_list_alone_is_not_enough(three: Three) -> None:
    alice = three[0]
    alice.learn("ours alone")
    settled(*three)
    team = alice.team
    team.sql("GRANT nmem_acme TO mallory")
    try:
        assert asked(team, "mallory", "SELECT * FROM nmem.facts") == []
    finally:
        team.sql("REVOKE nmem_acme FROM mallory")
    team.sql("INSERT INTO nmem.members VALUES ('acme', 'mallory', 'mallory')")
    with pytest.raises(errors.InsufficientPrivilege):
        asked(team, "mallory", "SELECT * FROM nmem.facts")


def test_a_member_whose_role_was_taken_is_told_so_and_reads_and_sends_nothing(three: Three) -> None:
    alice, bob, _ = three
    alice.learn("before")
    settled(alice, bob)
    team = alice.team
    team.sql("REVOKE nmem_acme FROM bob")
    try:
        alice.learn("after")
        alice.now()
        bob.learn("of bob")
        with pytest.raises(Removed, match=r"no longer\) a member of team acme: nothing is read or sent"):
            bob.now()
        assert bob.titles("own = 0") == {"before"}
    finally:
        team.sql("GRANT nmem_acme TO bob")
    settled(bob, alice)
    assert bob.titles() == alice.titles() == {"before", "after", "of bob"}


def test_another_role_reads_from_the_beginning(three: Three) -> None:
    alice, bob, _ = three
    alice.learn("said long ago")
    settled(alice, bob)
    team = alice.team
    with bob.db() as db:
        db.execute("UPDATE team_facts SET gone = 2")
        db.execute("DELETE FROM team_facts")
    assert bob.now().came == 0, "the same role goes on where it was"
    team.sql("CREATE ROLE robert LOGIN")
    try:
        admin.prepare(config.address(team.url("postgres")), "acme", {"robert": "bob"})
        bob.join("robert")
        bob.now()
        assert bob.titles() == {"said long ago"}
    finally:
        team.sql("DROP OWNED BY robert")
        team.sql("DROP ROLE robert")


def test_a_login_that_is_another_member_by_now_is_told_so(three: Three) -> None:
    bob = three[1]
    bob.team.sql("UPDATE nmem.members SET member = 'robert' WHERE login = 'bob'")
    with pytest.raises(NmemError, match=r"knows this login as robert, not bob"):
        bob.now()


INSERT = ("INSERT INTO nmem.facts (team, id, kind, subject, project, author, device, at, title, body, files, data)"
          " VALUES (%s, 'aaaaaaaaaaaaaaaaaaaaaaaa', 'decision', %s, %s, %s, 'd', 1, 't', '', '[]', '{}')")  # fmt: skip


def test_a_member_speaks_for_no_other_and_changes_nothing(three: Three) -> None:
    alice = three[0]
    alice.learn("as it was said")
    settled(*three)
    team = alice.team
    about = local.subject("bob", "x")
    for who, of in (("alice", "acme"), ("bob", "other")):
        with pytest.raises(errors.InsufficientPrivilege):
            asked(team, "bob", INSERT, of, about, PROJECT, who)
    for sql in ("UPDATE nmem.facts SET title = 'x'", "DELETE FROM nmem.facts", "TRUNCATE nmem.facts",
                "DELETE FROM nmem.gone", "INSERT INTO nmem.gone VALUES ('acme', 1, 'x', '', 'bob')",
                "INSERT INTO nmem.members VALUES ('acme', 'bob', 'alice')", "UPDATE nmem.members SET member = 'alice'",
                "INSERT INTO nmem.marks (team, seq) VALUES ('acme', 9)", "SELECT nextval('nmem.seq')",
                "CREATE TABLE nmem.mine (a int)", "SET ROLE nmem_owner",
                "UPDATE nmem.server SET epoch = epoch"):  # fmt: skip
        with pytest.raises(errors.InsufficientPrivilege):
            asked(team, "bob", sql)
    with pytest.raises(errors.InsufficientPrivilege):
        asked(team, "bob", "INSERT INTO nmem.facts (team, seq, id) VALUES ('acme', 1, 'x')")
    assert {row[1] for row in team.facts().values()} == {"as it was said"}


def test_the_owner_cannot_log_in_and_is_bound_by_the_rules_as_well(team: Team) -> None:
    assert team.sql("SELECT rolcanlogin, rolsuper, rolbypassrls FROM pg_roles WHERE rolname = 'nmem_owner'") == [
        (False, False, False)]  # fmt: skip
    forced = team.sql("SELECT relname FROM pg_class WHERE relnamespace = 'nmem'::regnamespace AND relkind = 'r'"
                      " AND relrowsecurity AND relforcerowsecurity ORDER BY 1")  # fmt: skip
    assert forced == [("facts",), ("gone",), ("marks",), ("members",)]
    owners = team.sql(
        "SELECT DISTINCT pg_get_userbyid(relowner) FROM pg_class WHERE relnamespace = 'nmem'::regnamespace"
    )
    assert owners == [("nmem_owner",)]
    paths = team.sql("SELECT proname, proconfig FROM pg_proc WHERE pronamespace = 'nmem'::regnamespace")
    assert paths and all(each[1] == ["search_path=pg_catalog, pg_temp"] for each in paths), "no function is led astray"


def test_the_owner_inserts_no_fact(three: Three) -> None:
    team = three[0].team
    with psycopg.connect(team.url("postgres"), autocommit=True) as db:
        db.execute("SET ROLE nmem_owner")
        with pytest.raises(errors.InsufficientPrivilege):
            db.execute(INSERT, ("acme", local.subject("alice", "x"), PROJECT, "alice"))


def test_a_server_is_set_up_once_however_often_and_by_how_many_it_is_asked(team: Team) -> None:
    address = config.address(team.url("postgres"))
    done: list[list[str]] = []
    threads = [threading.Thread(target=lambda: done.append(admin.prepare(address, "acme", {}))) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert done == [[]] * 4
    assert team.sql("SELECT version FROM nmem.versions") == [(1,)]


def test_an_administrator_who_is_no_superuser_can_set_a_server_up(team: Team) -> None:
    name = f"{team.database}_managed"
    team.sql(f"CREATE ROLE {name} LOGIN CREATEROLE")
    team.sql("DROP SCHEMA nmem CASCADE")
    team.sql(f"GRANT CREATE ON DATABASE {team.database} TO {name}")
    team.sql(f"GRANT nmem_owner TO {name}")
    try:
        done = admin.prepare(config.address(team.url(name)), "managed", {"mallory": "mallory"})
        assert done[0] == "schema nmem created" and done[-1] == "mallory is mallory in team managed"
        assert asked(team, "mallory", "SELECT nmem.me('managed')") == [("mallory",)]
    finally:
        team.sql(f"DROP OWNED BY {name} CASCADE")
        team.sql(f"DROP ROLE {name}")


def test_a_newer_server_is_left_alone(three: Three) -> None:
    alice = three[0]
    alice.team.sql("INSERT INTO nmem.versions VALUES (99)")
    with pytest.raises(NmemError, match=r"version 99.*upgrade nmem"):
        alice.now()
    with pytest.raises(NmemError, match=r"version 99.*upgrade"):
        alice.team.set_up()


@pytest.mark.parametrize("name", ["Acme", "a b", "a;drop", "", "x" * 41, "owner", 'a"b'])
def test_a_name_that_could_be_more_than_a_name_is_no_team(name: str) -> None:
    with pytest.raises(NmemError, match="cannot be a team's name"):
        admin.prepare({}, name, {})


def test_an_unfinished_insert_is_passed_over_by_nobody(three: Three) -> None:
    """Rows that are committed late have no lower place than those that were read: a team's inserts stand in a queue."""
    alice, bob, carol = three
    alice.learn("late")
    team = alice.team
    with psycopg.connect(team.url("alice")) as slow:
        slow.execute(INSERT, ("acme", local.subject("alice", "x"), PROJECT, "alice"))
        bob.learn("meanwhile")
        waiting = threading.Thread(target=bob.now)
        waiting.start()
        waiting.join(0.3)
        assert waiting.is_alive(), "bob waits for alice"
        assert carol.now().came == 0
        slow.commit()
        waiting.join(30)
    carol.now()
    assert carol.titles() == {"t", "meanwhile"}
