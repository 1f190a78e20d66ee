"""Who may do what on the server: the rules are the server's own, whatever a client sends."""

from __future__ import annotations

import threading
from typing import Any

import psycopg
import pytest
from psycopg import errors

from nmem.errors import NmemError
from nmem.team import config
from nmem.team.server import prepare
from nmem.team.wire import Removed, subject
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
    prepare(config.address(alice.team.url("postgres")), "rivals", {"mallory": "alice"})
    for table in ("facts", "gone", "marks"):
        assert asked(alice.team, "mallory", f"SELECT * FROM nmem.{table}") == []
    assert asked(alice.team, "mallory", "SELECT team, member FROM nmem.members") == [("rivals", "alice")]
    assert asked(alice.team, "mallory", "SELECT nmem.me('acme'), nmem.me('rivals')") == [(None, "alice")]
    with pytest.raises(errors.InsufficientPrivilege):
        asked(alice.team, "mallory", "SELECT nmem.purge('acme', %s)", [subject("alice", "x")])


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
        prepare(config.address(team.url("postgres")), "acme", {"robert": "bob"})
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
    about = subject("bob", "x")
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
            db.execute(INSERT, ("acme", subject("alice", "x"), PROJECT, "alice"))


def test_a_server_is_set_up_once_however_often_and_by_how_many_it_is_asked(team: Team) -> None:
    address = config.address(team.url("postgres"))
    done: list[list[str]] = []
    threads = [threading.Thread(target=lambda: done.append(prepare(address, "acme", {}))) for _ in range(4)]
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
        done = prepare(config.address(team.url(name)), "managed", {"mallory": "mallory"})
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
        prepare({}, name, {})


def test_an_unfinished_insert_is_passed_over_by_nobody(three: Three) -> None:
    """Rows that are committed late have no lower place than those that were read: a team's inserts stand in a queue."""
    alice, bob, carol = three
    alice.learn("late")
    team = alice.team
    with psycopg.connect(team.url("alice")) as slow:
        slow.execute(INSERT, ("acme", subject("alice", "x"), PROJECT, "alice"))
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


def test_a_login_that_is_no_member_stops_nobody(three: Three) -> None:
    """What a team's writers queue for is a row that nobody is granted; everybody may take an advisory lock."""
    alice, bob, _ = three
    alice.learn("said all the same")
    team = alice.team
    with psycopg.connect(team.url("mallory"), autocommit=True) as other:
        other.execute("SELECT pg_advisory_lock(1852663149, hashtext('acme'))")
        settled(alice, bob)
        with pytest.raises(errors.InsufficientPrivilege):
            other.execute("SELECT 1 FROM nmem.queue FOR UPDATE")
    with pytest.raises(errors.InsufficientPrivilege):
        asked(team, "bob", "SELECT 1 FROM nmem.queue FOR UPDATE")
    assert bob.titles() == {"said all the same"}


def test_a_transaction_that_a_member_forgot_ends_by_itself(team: Team) -> None:
    team.set_up()
    assert asked(team, "bob", "SHOW idle_in_transaction_session_timeout") == [("1min",)]


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("id", "'short'"), ("id", "repeat('A', 24)"), ("id", "'000000000000.' || repeat('0', 32)"), ("at", "-1"),
        ("at", "9007199254740993"), ("title", "''"), ("title", "E' \\n'"),
    ],
)  # fmt: skip
def test_a_row_that_could_pass_for_something_else_is_refused(team: Team, column: str, value: str) -> None:
    """An id that is a subject would keep a purge of it back; nothing is said without a title, or in a far future."""
    given = {"id": "repeat('a', 24)", "at": "1", "title": "'t'", column: value}
    sql = ("INSERT INTO nmem.facts (team, id, kind, subject, project, author, device, at, title, body, files, data)"
           f" VALUES ('acme', {given['id']}, 'decision', %s, 'p', 'bob', 'd', {given['at']}, {given['title']}, '',"
           " '[]', '{}')")  # fmt: skip
    with pytest.raises(errors.CheckViolation):
        asked(team, "bob", sql, subject("bob", "x"))


def test_the_server_keeps_the_newest_fifty_versions_of_each_author(three: Three) -> None:
    """Everybody reads all of them; of one author only the newest holds."""
    alice, bob, carol = three
    settled(bob, carol)
    about = subject("alice", "x")
    settled(alice)
    alice.write("by alice", subject=about)
    ids = bob.write(*(f"version {number:03}" for number in range(120)), subject=about)
    settled(alice, bob, carol)
    kept = alice.team.sql("SELECT title FROM nmem.facts WHERE author = 'bob' ORDER BY seq")
    assert [row[0] for row in kept] == [f"version {number:03}" for number in range(70, 120)]
    assert carol.titles() == alice.titles() == {"by alice", "version 119"}
    alice.team.sql("DROP SCHEMA nmem CASCADE")  # what was dropped does not come back as the newest
    alice.team.set_up()
    settled(bob, alice, carol)
    assert carol.titles() == bob.titles() == {"by alice", "version 119"}
    assert ids[0] not in alice.team.facts()


def test_a_schema_or_a_role_that_somebody_else_made_is_not_trusted(team: Team) -> None:
    """Its owner could drop what is in it, and read it."""
    team.sql("DROP SCHEMA nmem CASCADE")
    team.sql("CREATE SCHEMA nmem AUTHORIZATION mallory")
    team.sql("GRANT ALL ON SCHEMA nmem TO public")
    with pytest.raises(NmemError, match="mallory made the schema nmem"):
        team.set_up()
    team.sql("ALTER SCHEMA nmem OWNER TO nmem_owner")
    team.sql("CREATE TABLE nmem.versions (version int, at int)")
    team.sql("ALTER TABLE nmem.versions OWNER TO mallory")
    with pytest.raises(NmemError, match="mallory made the schema nmem of this database, or something in it"):
        team.set_up()
    team.sql("DROP SCHEMA nmem CASCADE")
    team.sql("CREATE ROLE nmem_squat LOGIN")
    try:
        with pytest.raises(NmemError, match="the role nmem_squat was not made by nmem"):
            prepare(config.address(team.url("postgres")), "squat", {})
    finally:
        team.sql("DROP ROLE nmem_squat")
    assert team.sql("SELECT 1 FROM pg_namespace WHERE nspname = 'nmem'") == [], "nothing was changed"
    team.set_up()
