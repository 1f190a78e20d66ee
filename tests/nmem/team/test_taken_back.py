"""What a person purges is gone from every member and the server, and stays gone: past leaving, and past a set-back."""

from __future__ import annotations

from contextlib import closing

import pytest

from capture.storage import store
from nmem.team import config, local
from nmem.team.server import Fact, Server, Unreachable
from nmem.undo import undo
from tests.nmem.team.conftest import NOW, PROJECT, Member, Team, on_server, settled

errors = pytest.importorskip("psycopg").errors
Three = tuple[Member, Member, Member]


def shared_by(alice: Member, *others: Member) -> str:
    """An episode that everybody has; its subject."""
    alice.episode("secret-session", "Move to the new vendor", "The offer of Zanzibar Ltd was taken.")
    alice.learn("stays here")
    settled(alice, *others)
    return str(alice.rows("subject", "kind = 'episode'")[0][0])


def fact(author: Member, title: str, about: str, id_: str = "") -> Fact:
    return Fact(id_ or local.new_id(), "decision", about, PROJECT, author.name, "d", NOW, title, "", "[]", "{}")


def nowhere(word: str, *members: Member) -> None:
    for each in members:
        assert [row for row in each.rows() if word in str(row)] == []
    assert word not in str(members[0].team.facts())


def test_a_purge_on_one_machine_is_gone_from_all_and_the_server(three: Three) -> None:
    alice, bob, _ = three
    shared_by(*three)
    assert "Move to the new vendor" in bob.titles()
    alice.purge(sessions=("secret-session",))
    settled(*three)
    nowhere("vendor", *three)
    assert bob.titles() == {"stays here"}


def test_a_purge_by_words_takes_the_facts_that_say_them_everywhere(three: Three) -> None:
    alice = three[0]
    shared_by(*three)
    alice.purge(texts=("Zanzibar",))
    settled(*three)
    nowhere("Zanzibar", *three)


def test_a_purge_of_others_words_hides_them_here_alone_and_its_undo_shows_them_again(three: Three) -> None:
    alice, bob, _ = three
    shared_by(*three)
    bob.purge(texts=("Zanzibar",))
    with bob.db() as db:
        db.execute("DELETE FROM team_state WHERE key LIKE 'read/%'")
    settled(*three)
    assert "Move to the new vendor" in alice.titles() and bob.titles() == {"stays here"}
    with closing(store.connect(bob.db_path, timeout=5)) as db:
        undo(db, NOW)
    bob.now()
    assert "Move to the new vendor" in bob.titles()


def test_corrections_by_others_go_with_what_they_correct_and_later_ones_are_rejected(three: Three) -> None:
    alice, bob, carol = three
    about = shared_by(*three)
    bob.write("Zanzibar was the vendor", subject=about)
    settled(*three)
    assert "Zanzibar was the vendor" in carol.titles()
    carol.write("no, Zanzibar Inc", subject=about)  # not sent yet
    alice.purge(sessions=("secret-session",))
    alice.now()
    settled(carol, bob, alice)
    nowhere("Zanzibar", *three)
    bob.write("Zanzibar once more", subject=about)
    settled(bob, *three)
    nowhere("Zanzibar", *three)


def test_the_undo_of_a_purge_gives_the_memory_back_and_shares_nothing_again(three: Three) -> None:
    alice, bob, _ = three
    shared_by(*three)
    alice.purge(sessions=("secret-session",))
    settled(*three)
    with closing(store.connect(alice.db_path, timeout=5)) as db:
        undo(db, NOW)
        assert db.execute("SELECT title FROM work_units").fetchall() == [("Move to the new vendor",)]
    settled(*three)
    nowhere("vendor", *three)
    assert bob.titles() == {"stays here"}


def test_a_backup_of_ones_own_brings_nothing_back(three: Three) -> None:
    alice = three[0]
    shared_by(*three)
    with alice.db() as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    before = (alice.folder / "nmem.db").read_bytes()
    alice.purge(sessions=("secret-session",))
    settled(*three)
    for each in ("nmem.db", "nmem.db-wal", "nmem.db-shm"):
        (alice.folder / each).unlink(missing_ok=True)
    (alice.folder / "nmem.db").write_bytes(before)
    settled(*three)
    nowhere("vendor", *three)


def test_what_was_purged_after_leaving_is_announced_on_coming_back(three: Three) -> None:
    alice, bob, carol = three
    shared_by(*three)
    with alice.here(), alice.db() as db:
        local.leave(db)
        config.forget()
    alice.purge(sessions=("secret-session",))
    assert "Move to the new vendor" in bob.titles()
    alice.join()
    settled(*three)
    nowhere("vendor", *three)
    assert bob.titles() == carol.titles() == alice.titles() == {"stays here"}


def test_a_server_that_was_set_back_is_told_deletions_first_and_then_everything(three: Three) -> None:
    alice, bob, carol = three
    shared_by(*three)
    team = alice.team
    team.sql("CREATE SCHEMA old")
    for table in ("facts", "gone", "marks"):
        team.sql(f"CREATE TABLE old.{table} AS SELECT * FROM nmem.{table}")
    at = team.sql("SELECT last_value FROM nmem.seq")[0][0]
    alice.purge(sessions=("secret-session",))
    bob.learn("said after the backup")
    settled(*three)
    nowhere("vendor", *three)
    for table in ("facts", "gone", "marks"):
        team.sql(f"DELETE FROM nmem.{table}")
    team.sql("ALTER TABLE nmem.facts DISABLE TRIGGER ALL")
    for table in ("facts", "gone", "marks"):
        team.sql(f"INSERT INTO nmem.{table} SELECT * FROM old.{table}")
    team.sql("ALTER TABLE nmem.facts ENABLE TRIGGER ALL")
    team.sql(f"SELECT setval('nmem.seq', {at})")
    assert "vendor" in str(team.facts())
    carol.learn(*(f"so the server is past where bob had read {number}" for number in range(5)))
    assert carol.now().set_back
    assert alice.now().set_back and bob.now().set_back
    settled(*three)
    nowhere("vendor", *three)
    assert "said after the backup" in carol.titles() and len(alice.titles()) == 7
    assert alice.rows() == bob.rows() == carol.rows()


def test_another_server_in_its_place_is_told_everything(team: Team) -> None:
    alice, bob = team.member("alice"), team.member("bob")
    shared_by(alice, bob)
    alice.purge(sessions=("secret-session",))
    settled(alice, bob)
    team.sql("DROP SCHEMA nmem CASCADE")
    team.set_up()
    assert alice.now().set_back and bob.now().set_back
    settled(alice, bob)
    assert {row[1] for row in team.facts().values()} == {"stays here"} == bob.titles()
    assert len(team.sql("SELECT id FROM nmem.gone WHERE subject != ''")) == 1, (
        "also what was gone before this server was"
    )


def test_deletions_are_taken_in_before_anything_is_sent(three: Three) -> None:
    alice, bob, _ = three
    about = shared_by(*three)
    alice.purge(sessions=("secret-session",))
    alice.now()
    bob.write("a late word on the vendor", subject=about)
    done = bob.now()
    assert done.sent == 0 and done.taken_away == 2
    nowhere("vendor", bob, alice)


def test_nobody_takes_away_what_another_said(three: Three) -> None:
    alice, bob, _ = three
    about = shared_by(*three)
    (version,) = (row[0] for row in alice.rows("id", "kind = 'episode'"))
    refused = on_server(bob, lambda server: server.purge([about]))
    assert list(refused.values()) == ["it is not yours (42501)"]
    on_server(bob, lambda server: server.withdraw([version]))
    on_server(bob, lambda server: server.withdraw([about]))
    settled(*three)
    assert all("Move to the new vendor" in each.titles() for each in three)


def test_a_version_that_another_calls_gone_before_it_was_seen_is_gone_for_nobody_who_has_it(three: Three) -> None:
    alice, bob, _ = three
    alice.now()
    (mine,) = alice.write("not sent yet")
    on_server(bob, lambda server: server.withdraw([mine]))
    settled(*three)
    assert alice.titles() == {"not sent yet"} and mine in alice.team.facts()


def test_what_a_member_took_back_is_nowhere_in_the_files_of_another(three: Three) -> None:
    alice, bob, _ = three
    shared_by(*three)
    alice.purge(texts=("Zanzibar",))
    alice.now()
    bob.now()
    assert [file.name for file in bob.folder.glob("nmem.db*") if b"Zanzibar" in file.read_bytes()] == []


def test_a_correction_of_ones_own_is_taken_back_and_what_it_corrected_stays(three: Three) -> None:
    bob = three[1]
    about = shared_by(*three)
    bob.write("it was Quagga Ltd", subject=about)
    settled(*three)
    bob.purge(texts=("Quagga",))
    settled(bob, *three)
    nowhere("Quagga", *three)
    for each in three:
        assert each.titles() == {"Move to the new vendor", "stays here"}


def test_leaving_forgets_what_others_said_without_taking_it_from_them(three: Three) -> None:
    alice, bob, _ = three
    shared_by(*three)
    with bob.here(), bob.db() as db:
        assert local.leave(db) == 2
        assert db.execute("SELECT count(*) FROM team_gone").fetchone()[0] == 0
    bob.join()
    settled(*three)
    assert alice.rows() == bob.rows()


def test_a_whole_project_that_is_purged_is_taken_back(three: Three) -> None:
    alice, bob, _ = three
    shared_by(*three)
    with alice.db() as db:
        name = db.execute("SELECT key FROM projects").fetchone()[0]
    alice.purge(projects=(name,))
    settled(*three)
    assert bob.titles() == set() and alice.team.facts() == {}


def test_an_older_snapshot_does_not_bring_back_what_is_gone(three: Three) -> None:
    alice, bob, _ = three
    about = shared_by(*three)

    def again(server: Server) -> None:
        with server.db.transaction():
            server.db.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            server.db.execute("SELECT count(*) FROM nmem.facts")
            alice.purge(sessions=("secret-session",))
            alice.now()
            server.send([fact(bob, "the vendor once more", about)])

    with pytest.raises(errors.InvalidTransactionState):
        on_server(bob, again)
    settled(*three)
    nowhere("vendor", *three)


def test_a_purge_is_taken_by_a_server_whose_sequence_is_behind_its_tables(three: Three) -> None:
    alice, bob, _ = three
    alice.episode("another-session", "Another vendor", "It was asked as well.")
    shared_by(*three)
    alice.purge(sessions=("another-session",))
    settled(*three)
    team = alice.team
    team.sql("SELECT setval('nmem.seq', 1, false)")
    alice.purge(sessions=("secret-session",))
    bob.learn("said meanwhile", "and this")
    assert alice.now().announced > 0
    settled(*three)
    nowhere("vendor", *three)
    assert alice.titles() == bob.titles() == {"stays here", "said meanwhile", "and this"}
    with alice.db() as db:
        assert db.execute("SELECT count(*) FROM team_gone WHERE refused IS NOT NULL").fetchone()[0] == 0


def test_a_purge_that_meets_another_row_is_told_again(three: Three) -> None:
    """Whatever the server's tables hold: a purge is never set aside over it."""
    alice = three[0]
    shared_by(*three)
    alice.team.sql("CREATE UNIQUE INDEX odd ON nmem.gone((1))")
    alice.team.sql("INSERT INTO nmem.gone VALUES ('acme', 1, repeat('a', 24), '', 'bob')")
    alice.purge(sessions=("secret-session",))
    with pytest.raises(Unreachable):
        alice.now()
    alice.team.sql("DROP INDEX nmem.odd")
    settled(*three)
    nowhere("vendor", *three)


def test_an_id_that_another_took_first_keeps_nothing_from_the_server_and_nothing_on_it(three: Three) -> None:
    alice, bob, _ = three
    alice.now()
    (mine,) = alice.write("said by alice")
    bobs = fact(bob, "squatted", local.subject("bob", "z"), mine)
    assert on_server(bob, lambda server: server.send([bobs])) == (1, {})
    assert on_server(bob, lambda server: server.send([bobs])) == (0, {}), "only what is new is counted"
    assert alice.now().sent == 1
    there = alice.team.sql("SELECT author, title FROM nmem.facts ORDER BY 1")
    assert there == [("alice", "said by alice"), ("bob", "squatted")]
    on_server(alice, lambda server: server.withdraw([mine]))
    assert alice.team.sql("SELECT author, title FROM nmem.facts") == [("bob", "squatted")]


def test_what_is_called_gone_has_the_form_of_an_id_and_is_not_without_end(three: Three) -> None:
    """Each of these rows is kept for ever, by everybody."""
    alice, bob, _ = three
    team = alice.team
    team.sql("UPDATE nmem.server SET most_unknown = 5")
    bob.now()
    (mine,) = bob.write("sent")
    settled(*three)
    on_server(bob, lambda server: server.withdraw(["a" * 100_000, "", local.subject("bob", "x")]))
    assert team.sql("SELECT id FROM nmem.gone") == []
    on_server(bob, lambda server: server.withdraw([local.new_id() for _ in range(40)]))
    assert team.sql("SELECT count(*) FROM nmem.gone") == [(5,)]
    with pytest.raises(errors.ConfigurationLimitExceeded):
        on_server(bob, lambda server: server.purge([local.subject("bob", "never here")]))
    on_server(bob, lambda server: server.withdraw([mine]))
    assert team.sql("SELECT count(*) FROM nmem.gone") == [(6,)], "what was here is always taken away"
    settled(*three)
    assert "sent" not in alice.titles()
