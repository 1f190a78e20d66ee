"""Three members on one server: what one says, the others have, once, and in the order in which the server took it."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator
from typing import Any

import pytest

from nmem.errors import NmemError
from nmem.team import local, material, sync, versions, wire
from nmem.team.material import Material
from nmem.team.server import Server
from nmem.team.wire import Shared
from tests.nmem.team.conftest import NOW, PROJECT, Member, Team, on_server, settled

Three = tuple[Member, Member, Member]
DAY = 86_400_000


def test_what_one_learns_the_others_have_after_their_next_pass(three: Three) -> None:
    alice, bob, carol = three
    alice.learn("Run pnpm test: npm test fails here", "Format before every commit")
    bob.episode("s1", "Fix the doubled coupon", "The coupon was applied twice.", ("src/invoice.py",))
    settled(*three)
    assert alice.rows() == bob.rows() == carol.rows()
    assert carol.titles() == {
        "Run pnpm test: npm test fails here", "Format before every commit", "Fix the doubled coupon"}  # fmt: skip
    episode = carol.rows("author, kind, body, files, own", "kind = 'episode'")
    assert episode == [("bob", "episode", "The coupon was applied twice.", '["src/invoice.py"]', 0)]
    again = alice.now()
    assert (again.sent, again.came, again.made) == (0, 0, 0)


CHANGES = (
    "UPDATE learnings SET rule = 'Format before each push', state_at = state_at + 1",
    "UPDATE learnings SET state = 'dismissed'",
    "UPDATE work_units SET agent_title = 'Fix the coupon that was applied twice', title = NULL",
    "UPDATE work_units SET summary = 'Twice.', narrated_at = narrated_at + 1",
    "UPDATE narrations SET outcome = 'fixed'",
    "UPDATE work_units SET state = 'open'",
    "DELETE FROM learnings",
    """INSERT INTO said_decisions (prompt_id, said_from, said_to, said_size, session_id, at, kind, confidence)
    SELECT id, 0, 3, 3, session_id, at, 'rule', .9 FROM prompts""",
)


def test_in_the_background_a_project_is_read_where_something_changed(
    three: Three, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice = three[0]
    alice.learn("Format before every commit")
    alice.episode("s1", "Fix the doubled coupon", "The coupon was applied twice.")
    alice.now()
    read: list[str] = []
    every = material.of

    def of(db: sqlite3.Connection, shared: Shared) -> Iterator[Material]:
        read.append(shared.name)
        return every(db, shared)

    monkeypatch.setattr(material, "of", of)
    assert alice.now(background=True).made == 0 and not read
    for change in CHANGES:
        with alice.db() as db:
            db.execute(change)
        alice.now(background=True)
        assert read == ["shop"], change
        alice.now(background=True)
        assert read == ["shop"], change
        read.clear()
    alice.now()
    assert read == ["shop"], "who asks for a pass gets all looked at"
    monkeypatch.setattr(wire, "now", lambda: time.time_ns() // 1_000_000 + versions.LOOK)
    alice.now(background=True)
    assert read == ["shop"] * 2, "once an hour all is looked at anyway"


def test_only_what_is_settled_and_accepted_leaves(three: Three) -> None:
    alice, bob, _ = three
    alice.learn("a mere suggestion", state="open")
    unit = alice.episode("s1", "Still at it", "Half of it is done.")
    with alice.db() as db:
        db.execute("UPDATE work_units SET state = 'open' WHERE id = ?", (unit,))
    settled(alice, bob)
    assert bob.titles() == set() and alice.team.facts() == {}


def test_decisions_and_entries_of_decision_files_go_along(three: Three) -> None:
    alice, bob, _ = three
    alice.episode("s1", "Round half up", "Totals are rounded half up.")
    with alice.db() as db:
        db.execute("INSERT INTO said_decisions (prompt_id, said_from, said_to, said_size, session_id, at, kind,"
                   " confidence) SELECT id, 0, 13, 13, 's1', at, 'rule', .9 FROM prompts")  # fmt: skip
    folder = alice.folder / "shop" / "docs" / "decisions"
    folder.mkdir(parents=True)
    (folder / "money.md").write_text("# Money\n\n## When rounding a total\n\nRound half up, never to even.\n")
    git = alice.folder / "shop" / ".git"
    git.mkdir()
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "config").write_text(f'[remote "origin"]\n  url = https://{PROJECT}.git\n')
    settled(alice, bob)
    kinds = {row[0]: row[1:] for row in bob.rows("kind, title, body, files")}
    assert kinds["decision"][0] == "Round half up"
    assert kinds["recall"][:2] == ("/when rounding a total", "Round half up, never to even.")
    assert kinds["recall"][2] == '["docs/decisions/money.md"]'
    (folder / "money.md").write_text("# Keys\n\n## When signing a release\n\nAsk Ana.\n")
    (git / "config").write_text('[remote "origin"]\n  url = https://github.com/acme/other.git\n')
    settled(alice, bob)
    assert bob.titles("kind = 'recall'") == {"/when rounding a total"}, "the folder is another project's now"
    (git / "config").write_text(f'[remote "origin"]\n  url = https://{PROJECT}.git\n')
    settled(alice, bob)
    assert bob.titles("kind = 'recall'") == {"/when signing a release"}


def test_a_namesake_of_a_shared_project_never_leaves(three: Three) -> None:
    alice, bob, _ = three
    with alice.db() as db:
        db.execute(
            "INSERT INTO projects (id, key, name, root, created_at) VALUES (2, '/tmp/shop', 'shop', '/tmp/shop', 0)"
        )
    alice.learn("of the shared one")
    alice.learn("of the namesake", project=2)
    settled(alice, bob)
    assert bob.titles() == {"of the shared one"}
    with alice.db() as db:  # the folder became a checkout of something else
        db.execute(
            "UPDATE projects SET key = 'github.com/acme/private', remote = 'github.com/acme/private' WHERE id = 1"
        )
    alice.learn("of another project")
    done = alice.now()
    assert done.strangers == ("shop",) and done.sent == 0
    assert {row[1] for row in alice.team.facts().values()} == {"of the shared one"}


def test_of_two_versions_the_one_that_the_server_took_last_holds_whatever_the_clocks_say(three: Three) -> None:
    alice, bob, _ = three
    alice.write("first")
    alice.now()
    (about,) = {row[0] for row in alice.rows("subject")}
    alice.write("second", subject=about)
    with alice.db() as db:
        db.execute("UPDATE team_facts SET at = ? WHERE title = 'second'", (NOW - DAY,))
    alice.now()
    bob.now()
    bob.write("corrected by bob", subject=about)
    with bob.db() as db:
        db.execute("UPDATE team_facts SET at = ? WHERE author = 'bob'", (NOW - 2 * DAY,))
    settled(bob, *three)
    for each in three:
        live = each.rows("seq, author, title", "gone = 0")
        assert [row[1:] for row in live] == [("alice", "second"), ("bob", "corrected by bob")], "the last one holds"
        assert each.titles("1") == {"first", "second", "corrected by bob"}, "all versions are kept"


def test_a_renamed_episode_is_a_new_version_and_a_rejected_learning_is_withdrawn(three: Three) -> None:
    alice, bob, _ = three
    unit = alice.episode("s1", "Fix it", "Done.")
    alice.learn("Use tabs")
    settled(alice, bob)
    with alice.db() as db:
        db.execute("UPDATE work_units SET title = 'Fix the coupon' WHERE id = ?", (unit,))
        db.execute("UPDATE learnings SET state = 'dismissed'")
    settled(alice, bob)
    assert bob.titles() == {"Fix the coupon"}
    assert bob.titles("1") == {"Fix it", "Fix the coupon"}
    with alice.db() as db:
        db.execute("UPDATE learnings SET state = 'accepted'")
    settled(alice, bob)
    assert "Use tabs" in bob.titles(), "what was withdrawn by itself may come back"


def test_one_person_on_two_machines_has_one_memory_of_both(team: Team) -> None:
    laptop, desk = team.member("alice", "laptop"), team.member("alice", "desk")
    laptop.learn("from the laptop", "the same on both")
    desk.learn("from the desk", "the same on both")
    for _ in range(3):
        settled(laptop, desk)
    assert (
        laptop.titles("own = 1") == desk.titles("own = 1") == {"from the laptop", "from the desk", "the same on both"}
    )
    assert {row[0] for row in laptop.rows("device", "title = 'from the desk'")} == {desk.us().device}
    with desk.db() as db:
        db.execute("UPDATE learnings SET title = 'another on the desk', rule = NULL WHERE rule = 'the same on both'")
    for _ in range(3):
        settled(desk, laptop)
    assert laptop.now().sent == desk.now().sent == 0, "two machines of different words do not talk for ever"


def test_a_row_that_the_server_refuses_is_set_aside_and_the_others_go(three: Three) -> None:
    alice, bob, _ = three
    alice.now()
    alice.write(*(f"fine {number}" for number in range(40)))
    alice.write("bad\x00byte", "x" * 500)
    with alice.db() as db:  # as another program may have stored it
        db.execute("UPDATE team_facts SET title = CAST(X'66ff6e65' AS TEXT) WHERE title = 'fine 7'")
    done = alice.now()
    assert (done.sent, done.refused) == (40, 2)
    bob.now()
    assert len(bob.titles()) == 40 and "f\ufffdne" in bob.titles()
    assert alice.now().refused == 0, "it is not tried again"
    assert {row[0].partition(" (")[0] for row in alice.rows("refused", "refused IS NOT NULL")} == {
        "its text cannot be stored", "it breaks a rule of the server's tables"}  # fmt: skip


def test_what_was_shared_later_comes_with_all_that_was_said_before(team: Team) -> None:
    alice, bob = team.member("alice"), team.member("bob")
    with bob.db() as db:
        local.unshare(db, 1)
    alice.learn("said before")
    settled(alice, bob)
    assert bob.titles() == set()
    with bob.db() as db:
        local.share(db, "acme", 1, PROJECT, NOW)
    bob.now()
    assert bob.titles() == {"said before"}


def test_a_project_that_is_shared_while_a_pass_runs_is_read_from_its_beginning(team: Team) -> None:
    alice, bob = team.member("alice"), team.member("bob")
    alice.learn("said before")
    alice.now()
    with bob.db() as db:
        local.unshare(db, 1)
        took = local.take_members

        def meanwhile(*given: Any) -> None:
            with bob.db() as other:
                local.share(other, "acme", 1, PROJECT, NOW)
            took(*given)

        team.patch.setattr(local, "take_members", meanwhile)
        bob.now()
        team.patch.setattr(local, "take_members", took)
    bob.now()
    assert bob.titles() == {"said before"}


def test_an_episode_that_goes_on_keeps_what_was_said_of_it_until_it_is_over(three: Three) -> None:
    alice, bob, _ = three
    unit = alice.episode("s1", "Fix it", "Half of it.")
    settled(alice, bob)
    with alice.db() as db:
        db.execute("UPDATE work_units SET state = 'open', summary = 'not ready' WHERE id = ?", (unit,))
    settled(alice, bob)
    assert [row[0] for row in bob.rows("body")] == ["Half of it."]
    with alice.db() as db:
        db.execute("UPDATE work_units SET state = 'closed', summary = 'All of it.' WHERE id = ?", (unit,))
    settled(alice, bob)
    assert [row[0] for row in bob.rows("body", "gone = 0")] == ["All of it."]


def test_the_longest_of_everything_is_no_more_than_the_server_takes(three: Three) -> None:
    alice = three[0]
    words = 'say "so" \\ ' * 2_000
    alice.episode("s1", words, words, tuple(f"src/{number}/" + "x" * 400 + ".py" for number in range(300)))
    with alice.db() as db:
        many = json.dumps([words] * 50)
        db.execute("UPDATE work_units SET learned = ?, completed = ?, next_steps = ?, notes = ?", (many,) * 4)
        db.execute("UPDATE narrations SET outcome = ?, obstacle = ?", (words, words))
    done = alice.now()
    assert (done.sent, done.refused) == (1, 0)


def test_a_database_that_did_not_join_is_not_taken_for_the_one_that_did(team: Team) -> None:
    alice = team.member("alice")
    alice.learn("x y z")
    with alice.db() as db:
        db.execute("DELETE FROM team_state WHERE key = 'device'")
    with alice.here():
        assert sync.run(alice.db_path, background=True) is None
        with pytest.raises(NmemError, match="has not joined the team"):
            sync.run(alice.db_path)
    assert team.facts() == {}


def test_hooks_may_write_while_a_pass_looks_at_many_facts(team: Team) -> None:
    alice = team.member("alice")
    alice.learn(*(f"rule {number}" for number in range(1_100)))
    made = versions.Fit.texts

    def meanwhile(fit: versions.Fit, one: Material) -> versions.Texts:
        if one.title.endswith("7"):
            with alice.db() as db:
                db.execute("INSERT INTO counters VALUES ('hook', 1) ON CONFLICT DO UPDATE SET value = value + 1")
        return made(fit, one)

    team.patch.setattr(versions.Fit, "texts", meanwhile)
    assert alice.now().sent == 1_100


def test_two_entries_of_one_name_do_not_take_turns(team: Team) -> None:
    alice = team.member("alice")
    folder = alice.folder / "shop" / "docs" / "decisions"
    folder.mkdir(parents=True)
    git = alice.folder / "shop" / ".git"
    git.mkdir()
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "config").write_text(f'[remote "origin"]\n  url = https://{PROJECT}.git\n')
    for name in ("a", "b"):
        (folder / f"{name}.md").write_text(f"# {name}\n\n## When rounding\n\nAs {name} says.\n")
    assert alice.now().sent == 1
    assert alice.now().sent == 0


def test_what_comes_is_data_paths_stay_in_the_project_and_nobody_overwrites_anothers_row(three: Three) -> None:
    alice, bob, _ = three
    alice.learn("mine")
    settled(alice, bob)
    (known,) = alice.rows("id, subject")
    files, data = ["../../etc/passwd", "/etc/passwd", "C:\\x", "src/a.py"], {"deep": {"a": 1}, "say": "a\x1b[31mred"}
    row = (
        "decision",
        known[1],
        PROJECT,
        "bob",
        "b",
        1,
        "\x1b]0;title\x07loud",
        "",
        json.dumps(files),
        json.dumps(data),
    )

    def insert(server: Server) -> None:
        server.db.execute(
            "INSERT INTO nmem.facts (team, id, kind, subject, project, author, device, at, title, body, files, data)"
            " VALUES ('acme', 'abcdef012345abcdef012345', %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)", row)  # fmt: skip

    on_server(bob, insert)
    alice.now()
    came = alice.rows("title, files, data", "author = 'bob'")
    assert came == [("loud", '["src/a.py"]', '{"say": "ared"}')]
    assert alice.titles("author = 'alice'") == {"mine"}


def test_members_are_known_by_name_and_when_each_said_something_last(three: Three) -> None:
    alice, bob, _ = three
    bob.learn("x y z")
    settled(bob, alice)
    with alice.db() as db:
        found = db.execute("SELECT author, role, last_at FROM team_members ORDER BY author").fetchall()
    assert [tuple(row) for row in found] == [("alice", "alice", None), ("bob", "bob", NOW), ("carol", "carol", None)]


def test_hooks_find_what_others_say_of_a_project_by_an_index(three: Three) -> None:
    alice, _, _ = three
    with alice.db() as db:
        plan = db.execute("EXPLAIN QUERY PLAN SELECT title FROM team_facts WHERE project_id = 1 AND kind = 'learning'"
                          " AND author = 'bob' AND own = 0 AND gone = 0"
                          " ORDER BY at DESC LIMIT 5").fetchall()  # fmt: skip
    assert [row[3] for row in plan] == [
        "SEARCH team_facts USING INDEX team_facts_of_others (project_id=? AND kind=? AND author=?)"]  # fmt: skip
