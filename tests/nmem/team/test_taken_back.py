"""What a person purges is gone from every member and the server, and stays gone: past leaving, and past a set-back."""

from __future__ import annotations

from contextlib import closing

import pytest

from capture.redaction import settings
from capture.storage import store
from nmem.team import config, local
from nmem.team.server import Server
from nmem.team.wire import Fact, Unreachable, new_id, subject
from nmem.undo import undo
from tests.nmem.command_line import run as nmem
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
    return Fact(id_ or new_id(), "decision", about, PROJECT, author.name, "d", NOW, title, "", "[]", "{}")


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
    assert len(team.sql("SELECT id FROM nmem.gone WHERE subject != ''")) == 2, (
        "also what was gone before this server was: the episode, and what may have been decided in it"
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


def test_a_row_whose_id_is_ones_subject_stops_no_purge(three: Three) -> None:
    """What a member who means ill plants, and this person then purges from this machine alone."""
    alice = three[0]
    about = shared_by(*three)
    with alice.db() as db:
        db.execute(
            "INSERT INTO team_facts (id, team, kind, subject, project_id, author, device, at, seq, title, own)"
            " VALUES (?, 'acme', 'learning', ?, 1, 'bob', 'd', ?, 99, 'bait', 0)",
            (about, subject("bob", "x"), NOW),
        )
    alice.purge(texts=("bait",))
    with alice.db() as db:
        db.execute("DELETE FROM team_facts WHERE kind = 'episode'")
        found = db.execute("SELECT subject, origin, announced_seq FROM team_gone WHERE id = ?", (about,)).fetchall()
        assert [tuple(row) for row in found] == [(about, "mine", None)]
    settled(*three)
    nowhere("vendor", *three)


def test_an_id_that_another_took_first_keeps_nothing_from_the_server_and_nothing_on_it(three: Three) -> None:
    alice, bob, _ = three
    alice.now()
    (mine,) = alice.write("said by alice")
    bobs = fact(bob, "squatted", subject("bob", "z"), mine)
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
    on_server(bob, lambda server: server.withdraw(["a" * 100_000, "", subject("bob", "x")]))
    assert team.sql("SELECT id FROM nmem.gone") == []
    on_server(bob, lambda server: server.withdraw([new_id() for _ in range(40)]))
    assert team.sql("SELECT count(*) FROM nmem.gone") == [(5,)]
    with pytest.raises(errors.ConfigurationLimitExceeded):
        on_server(bob, lambda server: server.purge([subject("bob", "never here")]))
    on_server(bob, lambda server: server.withdraw([mine]))
    assert team.sql("SELECT count(*) FROM nmem.gone") == [(6,)], "what was here is always taken away"
    settled(*three)
    assert "sent" not in alice.titles()


def put_away(alice: Member) -> bytes:
    """The file of a memory as it is now."""
    with alice.db() as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return (alice.folder / "nmem.db").read_bytes()


def put_back(alice: Member, before: bytes) -> None:
    for each in ("nmem.db", "nmem.db-wal", "nmem.db-shm"):
        (alice.folder / each).unlink(missing_ok=True)
    (alice.folder / "nmem.db").write_bytes(before)


@pytest.mark.parametrize("joined", [True, False])
def test_a_purge_travels_from_a_database_that_is_older_than_what_was_shared(three: Three, joined: bool) -> None:
    alice, bob, _ = three
    alice.now()
    alice.episode("secret-session", "Move to the new vendor", "Zanzibar Ltd")
    with alice.db() as db:
        if not joined:
            db.execute("DELETE FROM team_state")
    before = put_away(alice)
    if not joined:
        alice.join()
    settled(*three)
    assert bob.titles() == {"Move to the new vendor"}
    put_back(alice, before)
    with alice.here():
        alice.purge(sessions=("secret-session",))
    alice.join()
    settled(*three)
    nowhere("vendor", *three)


def test_a_learning_that_is_purged_from_an_older_database_goes_from_all(three: Three) -> None:
    alice, bob, _ = three
    alice.learn("ask Zanzibar first")
    before = put_away(alice)
    settled(*three)
    put_back(alice, before)
    alice.purge(ids=(("learning", "1"),))
    settled(*three)
    nowhere("Zanzibar", *three)
    assert bob.titles() == set()


def test_a_purge_travels_after_another_machine_redacted_what_was_said_anew(team: Team) -> None:
    first, second, bob = team.member("alice", "a-one"), team.member("alice", "a-two"), team.member("bob")
    first.episode("secret-session", "Move the Waldemar vendor", "Zanzibar Ltd")
    settled(first, second, bob)
    with first.db() as db:
        local.unshare(db, 1)
    (second.folder / "config.toml").write_text('[redaction]\nwords = ["waldemar"]\n')
    settings._recent.clear()
    settled(second, bob, first)
    assert "vendor" in str(bob.titles()) and "Waldemar" not in str(bob.titles())
    first.purge(sessions=("secret-session",))
    settled(first, second, bob)
    nowhere("vendor", bob, second, first)


def backed_up(member: Member) -> str:
    with member.here():
        done = nmem("backup")
        assert done.returncode == 0, done.stderr
    return str(next((member.folder / "backups").glob("nmem-*.db")))


def restored(member: Member, path: str) -> None:
    with member.here():
        done = nmem("restore", path, "--yes")
        assert done.returncode == 0, done.stderr


def test_a_purge_that_waits_for_the_server_is_announced_after_a_restore(three: Three) -> None:
    alice, bob, _ = three
    shared_by(*three)
    path = backed_up(alice)
    alice.purge(sessions=("secret-session",))
    restored(alice, path)
    assert alice.titles() == {"stays here"}
    settled(*three)
    nowhere("vendor", *three)
    assert bob.titles() == {"stays here"}


def test_what_another_took_back_is_not_there_after_a_restore_before_any_pass(three: Three) -> None:
    alice, bob, _ = three
    shared_by(*three)
    (told,) = (row[0] for row in bob.rows("id", "kind = 'episode'"))
    tell(bob, told)
    path = backed_up(bob)
    alice.purge(sessions=("secret-session",))
    settled(*three)
    restored(bob, path)
    assert bob.titles() == {"stays here"} and was_told(bob) == [("", "")]


def test_what_was_purged_from_this_machine_alone_comes_back_with_a_backup_that_holds_it(three: Three) -> None:
    bob = three[1]
    shared_by(*three)
    path = backed_up(bob)
    bob.purge(texts=("Zanzibar",))
    restored(bob, path)
    settled(*three)
    assert bob.titles() == {"Move to the new vendor", "stays here"}


def tell(member: Member, fact: str) -> None:
    """A session is told of another's fact."""
    with member.db() as db:
        db.execute("INSERT INTO sessions (id, client, project_id, cwd, started_at, last_at) VALUES"
                   " ('told', 'claude', 1, '/src/shop', ?, ?)", (NOW, NOW))  # fmt: skip
        db.execute("INSERT INTO injections (id, session_id, at, event, client, text, tokens)"
                   " VALUES (1, 'told', ?, 'session_start', 'claude', 'Zanzibar', 1)", (NOW,))  # fmt: skip
        db.execute("INSERT INTO injection_items (injection_id, position, item, kind, score, reason, text, tokens)"
                   " VALUES (1, 0, ?, 'team', 1, '', 'Zanzibar', 1)", (f"team/{fact}",))  # fmt: skip


def was_told(member: Member) -> list[tuple[str, str]]:
    with member.db() as db:
        found = db.execute("SELECT i.text, t.text FROM injections i JOIN injection_items t ON t.injection_id = i.id")
        return [tuple(row) for row in found]


def test_an_undo_brings_nothing_back_that_another_took_away_meanwhile(three: Three) -> None:
    alice, bob, _ = three
    shared_by(*three)
    (told,) = (row[0] for row in bob.rows("id", "kind = 'episode'"))
    tell(bob, told)
    bob.purge(texts=("Zanzibar",))
    alice.purge(sessions=("secret-session",))
    alice.now()
    bob.now()
    with closing(store.connect(bob.db_path, timeout=5)) as db:
        undo(db, NOW)
    assert bob.titles() == {"stays here"} and was_told(bob) == [("", "")]
