"""Markers: kept in the right session, redacted, once, and never where nothing can be written."""

from __future__ import annotations

import pytest

from capture.event import Batch
from capture.seal import Sealed, seal
from nmem.errors import NmemError
from nmem.marks import mark
from tests.nmem.conftest import Recorded
from tests.nmem.mcp.conftest import Client

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def test_a_mark_is_kept_in_the_session_that_is_going_on(client: Client, shop: Recorded) -> None:
    found = client.get("mark", text="We keep sqlite: one file, no server.", kind="decision")
    (told,) = client.get("get", ids=[found["id"]])["found"]
    assert told["what"] == "marker" and told["kind"] == "decision" and told["session"] == "session/change-log"
    assert told["text"] == "We keep sqlite: one file, no server."
    assert client.get("get", ids=[found["id"].replace("obs", "marker")])["found"] == [told]
    assert client.get("timeline")["rows"][-1]["id"] == found["id"]


def test_a_client_names_its_own_session(client: Client, shop: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "coupon")
    assert client.get("mark", text="back to here", kind="rollback")["session"] == "session/coupon"
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "of another memory")
    assert client.get("mark", text="and on")["session"] == "session/coupon"  # it was active last


def test_after_a_clear_the_marks_go_to_the_session_that_followed(
    client: Client, shop: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "coupon")
    shop.db.execute("UPDATE sessions SET state = 'ended', ended_at = last_at WHERE id = 'coupon'")
    assert client.get("mark", text="afterwards")["session"] == "session/change-log"
    assert client.get("timeline")["session"] == "session/change-log"


def test_secrets_are_taken_out_before_it_is_stored(client: Client, shop: Recorded, db_path: str) -> None:
    found = client.get("mark", text=f"the token is {TOKEN}")
    assert TOKEN not in str(found) and "[REDACTED:" in found["text"]
    assert shop.db.execute("SELECT count(*) FROM observations WHERE instr(content, ?)", (TOKEN,)).fetchone() == (0,)


def test_the_same_words_at_once_are_one_marker(shop: Recorded, db_path: str) -> None:
    at = shop.at
    first = mark(db_path, "twice", cwd="/src/shop", at=at)
    assert mark(db_path, "twice", cwd="/src/shop", at=at + 1).id == first.id
    assert mark(db_path, "twice", cwd="/src/shop", at=at + 60_000).id != first.id


def test_a_session_that_is_over_stays_over(shop: Recorded, db_path: str) -> None:
    shop.db.execute("UPDATE sessions SET state = 'ended', ended_at = last_at WHERE id = 'change-log'")
    before = shop.db.execute("SELECT state, ended_at FROM sessions WHERE id = 'change-log'").fetchone()
    mark(db_path, "afterwards", cwd="/src/shop", at=shop.at)
    assert shop.db.execute("SELECT state, ended_at FROM sessions WHERE id = 'change-log'").fetchone() == before


def test_a_session_that_ends_while_it_is_marked_stays_over(
    shop: Recorded, db_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ending(batch: Batch) -> Sealed:
        ended = "UPDATE sessions SET state = 'ended', ended_at = ?, end_reason = 'exit' WHERE id = 'change-log'"
        shop.db.execute(ended, (shop.at,))
        return seal(batch)

    monkeypatch.setattr("nmem.marks.seal", ending)
    mark(db_path, "afterwards", cwd="/src/shop", at=shop.at + 5)
    said = "SELECT state, ended_at, end_reason FROM sessions WHERE id = 'change-log'"
    assert tuple(shop.db.execute(said).fetchone()) == ("ended", shop.at, "exit")


@pytest.mark.parametrize("state", ["working", "idle"])
def test_a_mark_changes_nothing_of_an_open_session(shop: Recorded, db_path: str, state: str) -> None:
    shop.db.execute("UPDATE sessions SET state = ? WHERE id = 'change-log'", (state,))
    mark(db_path, "meanwhile", cwd="/src/shop", at=shop.at)
    assert shop.db.execute("SELECT state FROM sessions WHERE id = 'change-log'").fetchone()[0] == state


@pytest.mark.parametrize(
    ("text", "kind", "cwd", "says"),
    [
        ("  ", "note", "/src/shop", "the marker's text is empty"),
        ("x", "poem", "/src/shop", "a marker must be a note, a decision, a rollback"),
        ("x" * 4_001, "note", "/src/shop", "at most 4000 characters"),
        ("x", "note", "/src/nothing", "no session of nothing is recorded yet"),
        ("x", "note", "/src/a\x1b[2J\nb", "no session of a␛\\[2J↵b is recorded yet"),
        ("x", "note", f"/src/{'n' * 200}", "no session of n{79}… is recorded yet"),
    ],
)
def test_what_cannot_be_kept_is_said(shop: Recorded, db_path: str, text: str, kind: str, cwd: str, says: str) -> None:
    with pytest.raises(NmemError, match=says):
        mark(db_path, text, kind, cwd=cwd)


def test_a_mark_in_an_unknown_folder_names_no_other_project(shop: Recorded, db_path: str) -> None:
    with pytest.raises(NmemError) as refused:
        mark(db_path, "x", cwd="/src/nothing")
    assert str(refused.value).endswith("a marker needs one: run a session here first, or add --session ID")


def test_a_locked_database_is_one_line(
    client: Client, shop: Recorded, monkeypatch: pytest.MonkeyPatch, db_path: str
) -> None:
    monkeypatch.setattr("nmem.marks._WAIT", 0.05)
    shop.db.execute("BEGIN IMMEDIATE")
    try:
        assert "cannot be written: the database is busy" in client.refused("mark", text="now")
    finally:
        shop.db.execute("ROLLBACK")
