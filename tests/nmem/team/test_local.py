"""What comes is kept in short transactions, within bounds, and only where it is what it should be."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

from capture.storage.store import transaction
from capture.text import clean
from nmem.errors import NmemError
from nmem.team import config, incoming, local, sync
from nmem.team.server import Server
from nmem.team.wire import Came, Fact, Gone, subject
from tests.nmem.team.conftest import NOW, PROJECT, Member, on_server, settled

Three = tuple[Member, Member, Member]
SUBJECT = subject("bob", "x")
FACT = Fact("abcdef012345abcdef012345", "decision", SUBJECT, PROJECT, "bob", "b", NOW, "said", "", "[]", "{}")


def say_often(bob: Member, times: int) -> None:
    insert = ("INSERT INTO nmem.facts (team, id, kind, subject, project, author, device, at, title, body, files, data)"
              " SELECT 'acme', lpad(to_hex(g), 24, '0'), 'learning', %s, %s, 'bob', 'b', 1, 'version ' || g, '', '[]',"
              " '{}' FROM generate_series(1, %s) g")  # fmt: skip
    on_server(bob, lambda server: server.db.execute(insert, (SUBJECT, PROJECT, times)))


def test_of_thousands_of_versions_of_one_thing_the_newest_are_kept_and_the_last_holds(three: Three) -> None:
    alice, bob, _ = three
    alice.now()
    say_often(bob, 3000)
    alice.now()
    kept = {f"version {number}" for number in range(3001 - incoming.MOST_VERSIONS, 3001)}
    assert alice.titles("1") == kept and alice.titles() == {"version 3000"}
    on_server(bob, lambda server: server.withdraw([f"{number:024x}" for number in range(1001, 3001) if number != 2990]))
    assert alice.now().taken_away == incoming.MOST_VERSIONS - 1
    assert alice.titles() == {"version 2990"}
    with alice.db() as db:
        assert db.execute("SELECT count(*) FROM team_gone WHERE subject != ''").fetchone()[0] == 0


def test_all_versions_of_ones_own_are_kept_and_which_holds_is_found_at_once(three: Three) -> None:
    alice = three[0]
    ids = alice.write(*(f"version {number}" for number in range(4000)), subject=SUBJECT)
    with alice.db() as db:
        begun = time.monotonic()
        with transaction(db):
            local.hold(db, [SUBJECT])
            local.withdraw(db, ids[2000:], NOW)
        assert time.monotonic() - begun < 2
    assert len(alice.titles("1")) == 2000 and alice.titles() == {"version 1999"}


def writable(member: Member) -> bool:
    """Whether a hook that does not wait can write."""
    with closing(sqlite3.connect(member.db_path, timeout=0, isolation_level=None)) as db:
        try:
            db.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return False
        db.execute("ROLLBACK")
        return True


def test_hooks_may_write_while_what_came_is_read_and_between_its_parts(three: Three) -> None:
    alice, bob, _ = three
    bob.write("one", "two", "three", body="x" * 600)
    bob.now()
    free, parts = [], []
    keep = local.keep_far

    def cleaning(text: str) -> str:
        free.append(writable(alice))
        return clean(text)

    def keeping(*given: Any, **more: Any) -> None:
        parts.append(given[2].facts)
        keep(*given, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(incoming, "clean", cleaning)
        patch.setattr(local, "keep_far", keeping)
        patch.setattr(incoming, "_MOST_TEXT", 1000)
        alice.now()
    assert alice.titles() == {"one", "two", "three"}
    assert free and all(free)
    assert len({each for each in parts if each}) == 2, "two rows, then one"


def test_what_is_forgotten_goes_in_parts(three: Three, monkeypatch: pytest.MonkeyPatch) -> None:
    alice, bob, _ = three
    bob.write(*"abcde")
    settled(bob, alice)
    free: list[bool] = []
    monkeypatch.setattr(local, "CHUNK", 2)
    monkeypatch.setattr(time, "sleep", lambda _: free.append(writable(alice)))
    with alice.db() as db:
        assert local.unshare(db, 1) and not local.unshare(db, 1)
    assert alice.titles("1") == set() and free == [True, True, True]


@pytest.mark.parametrize("change", [
    {"id": "short"}, {"id": SUBJECT}, {"id": "A" * 24}, {"id": "abc\n</x> obey, you "}, {"subject": "bob"},
    {"author": "bob\x1b[31m"}, {"author": "b b"}, {"author": ""}, {"device": "a\nb"}, {"at": -1}, {"at": 1 << 61},
    {"title": ""}, {"title": "\u202e \x07"}, {"title": "t" * 401}, {"body": "b" * 20_001}, {"body": None},
    {"files": "[" + " " * 40_000}, {"data": "{" + " " * 40_000}, {"kind": "order"},
], ids="-".join)  # fmt: skip
def test_a_row_that_no_client_of_ours_would_send_is_not_taken(
    three: Three, change: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    alice = three[0]
    seen = came(monkeypatch, lambda seq: [Came(seq, FACT._replace(**change)), Came(seq + 1, FACT)])
    assert alice.now().came == 1 and seen
    assert alice.rows("id, author, device, title") == [(FACT.id, "bob", "b", "said")]


def came(patch: pytest.MonkeyPatch, rows: Callable[[int], list[Came]]) -> list[int]:
    """A server that has these rows, once; where it was asked to begin."""
    asked: list[int] = []

    def facts(_: Server, after: int, *__: object) -> list[Came]:
        asked.append(after)
        return rows(after + 1) if len(asked) == 1 else []

    patch.setattr(Server, "facts", facts)
    return asked


@pytest.mark.parametrize("path", [
    "../x", "a/../../b", "a\\..\\..\\b", "..\\x", " ../x", "a/ .. /b", "/etc/passwd",
    " /etc/passwd", "\\\\host\\x", "~/x",
    "C:\\x", "c:x", "file:///etc/x", "https://a.b/c", "javascript:x", "%2e%2e/x", "%2E%2e%2fx", "%2fetc/passwd",
    " ", "",
])  # fmt: skip
def test_a_path_that_leads_out_of_the_project_is_none(path: str) -> None:
    assert incoming.paths([path, "src/a.py"]) == ["src/a.py"]


def test_a_path_in_the_project_stays_as_it_is() -> None:
    inside = ["src/a.py", "src\\a.py", "..a/b..c", "a b/ü.md", "100%/x", "docs/a:b.md", ".github/x.yml"]
    assert incoming.paths([*inside, 1, None]) == inside


def test_what_is_called_gone_in_another_form_is_passed_over(three: Three, monkeypatch: pytest.MonkeyPatch) -> None:
    alice, bob, _ = three
    bob.write("stays")
    settled(bob, alice)
    odd = [Gone(10_000, "x" * 5000, "", "bob"), Gone(10_001, "abc", "not a subject", "bob")]
    real = Server.gone
    monkeypatch.setattr(
        Server, "gone", lambda self, after: real(self, after) or [each for each in odd if each.seq > after]
    )
    alice.now()
    with alice.db() as db:
        assert db.execute("SELECT count(*) FROM team_gone WHERE announced_seq >= 10000").fetchone()[0] == 0
    assert alice.titles() == {"stays"}


def test_a_server_whose_numbers_do_not_rise_is_not_read_for_ever(three: Three, monkeypatch: pytest.MonkeyPatch) -> None:
    alice = three[0]
    monkeypatch.setattr(Server, "gone", lambda *_: [Gone(5, FACT.id, "", "bob")])
    with pytest.raises(NmemError, match="in no order"):
        alice.now()


def test_a_pass_that_has_had_its_time_reads_no_more_deletions_and_sends_nothing(
    three: Three, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice = three[0]
    alice.learn("not yet")
    monkeypatch.setattr(Server, "gone", lambda _, after: [Gone(after + 1, f"{after:024x}", "", "bob")])
    monkeypatch.setattr(sync, "LONGEST", 0.3)
    done = alice.now(background=True)
    assert done.left and done.sent == 0 and alice.team.facts() == {}


def test_what_a_pass_still_holds_when_the_team_is_left_is_dropped(
    three: Three, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice, bob, _ = three
    alice.learn("one thing")
    alice.now()
    take = local.take_facts

    def meanwhile(*given: Any) -> int:
        with bob.db() as other:
            local.leave(other)
            config.forget()
        return take(*given)

    monkeypatch.setattr(local, "take_facts", meanwhile)
    with bob.here():
        assert sync.run(bob.db_path) is None
    with bob.db() as db:
        assert bob.titles("1") == set()
        assert db.execute("SELECT count(*) FROM team_members").fetchone()[0] == 0
        kept = {row[0].partition("/")[0] for row in db.execute("SELECT key FROM team_state")}
    assert kept <= {"device", "prefix"}


def test_what_is_shared_again_after_a_rest_is_read_again(three: Three, monkeypatch: pytest.MonkeyPatch) -> None:
    alice, bob, _ = three
    alice.learn("one thing")
    alice.now()
    take = local.take_facts

    def meanwhile(*given: Any) -> int:
        with bob.db() as other:
            local.unshare(other, 1)
        return take(*given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local, "take_facts", meanwhile)
        assert bob.now().came == 0
    assert bob.titles("1") == set()
    with bob.db() as db:
        local.share(db, "acme", 1, PROJECT, NOW)
    assert bob.now().came == 1
