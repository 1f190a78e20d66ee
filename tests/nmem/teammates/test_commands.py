"""Where the command line shows what others of the team said: below one's own, with author and date, as data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from nmem.commands.main import nmem
from nmem.errors import NmemError
from nmem.mcp.tool import Ask
from nmem.mcp.tools import recall, search
from nmem.settle import settle
from nmem.teammates import live
from tests.nmem.conftest import START, Recorded
from tests.nmem.team_rows import fact, mute

DAY = 86_400_000
EVIL = "coupon \x1b[31mred\x07 \u202eflow [bold]x[/bold] <b>"


@pytest.fixture
def shared(record: Recorded, db_path: str) -> Recorded:
    """A settled session, and what three others said of coupons."""
    record.once("shared coupon", lambda: (record.coupon(), settle(db_path, models=False)))
    at = START + DAY
    fact(record.db, "Coupons round half up", at=at, body="Also in refunds.", files=["src/invoice.py"], question="How?")
    fact(record.db, "The coupon table moved", "bob", kind="episode", at=at + 1, outcome="done", body="It lives in db.")
    fact(record.db, "Run the coupon fixture first", "carol", kind="learning", at=at + 2, body="Use `make coupons`.")
    return record


def run(*words: str) -> str:
    done = CliRunner().invoke(nmem, list(words))
    assert done.exit_code == 0, (words, done.output, done.exception)
    return done.output


def data(*words: str) -> Any:
    return json.loads(run(*words, "--json"))


def test_search_has_a_section_of_others_below_one_s_own(shared: Recorded) -> None:
    told = run("search", "coupon")
    own, heading, theirs = told.partition("# From your team\n")
    assert heading and "episode/1" in own
    assert [line.split("\t")[3] for line in theirs.splitlines()[1:]] == ["carol", "bob", "alice"]
    assert [one["author"] for one in data("search", "coupon")["team"]] == ["carol", "bob", "alice"]


@pytest.mark.parametrize(
    ("query", "authors"),
    [("coupon rounding refunds", ["alice"]), ("coupon !refunds type:decision", []),
     ("file:src/invoice.py coupon", ["alice"]),
     ("coupon type:episode", ["bob"]), ("coupon is:failed", []), ("coupon client:claude", []), ("zebra", []),
     ('"half up"', ["alice"]), ('"up half"', []), ("coupon project:sho", ["carol", "bob", "alice"]),
     ("Cóupón", ["carol", "bob", "alice"]), ("coupon project:nowhere", []), ("coupon until:2020-01-01", [])],
)  # fmt: skip
def test_the_filters_of_a_search_hold_for_others_too(shared: Recorded, query: str, authors: list[str]) -> None:
    assert [one["author"] for one in data("search", query).get("team", [])] == authors


def test_decisions_learnings_and_episodes_name_the_author(shared: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "alice" in run("decisions") and "Coupons round half up" in run("decisions")
    assert [one["author"] for one in data("decisions")["team"]] == ["alice"]
    assert "carol" in run("learn", "list", "--project", "shop")
    assert [one["author"] for one in data("learn", "list", "--all-projects")["team"]] == ["carol"]
    assert "team" not in data("learn", "list", "--project", "shop", "--state", "dismissed")
    assert "bob" not in run("episodes") and "bob" in run("episodes", "--team")
    assert [one["author"] for one in data("episodes", "--team", "--project", "shop")["team"]] == ["bob"]
    assert data("episodes", "--team", "--since", "1d") == {"team": []}
    assert (
        run("episodes", "--team", "--since", "1d") == "no episodes of others: `nmem sync` shares projects with a team\n"
    )


def test_ask_answers_from_others_too_and_says_what_is_recorded_here(shared: Recorded) -> None:
    told = run("ask", "How do coupons round in refunds?", "--no-model")
    assert "nothing is recorded about it" in told and "alice" in told and "Coupons round half up" in told
    assert [one["author"] for one in data("ask", "How do coupons round in refunds?", "--no-model")["team"]] == ["alice"]
    assert "team" not in data("ask", "Where do the zebras graze?", "--no-model")


def test_one_fact_is_shown_in_full_by_its_id(shared: Recorded) -> None:
    item = fact(
        shared.db, EVIL, "eve", body="line one\nline \x1b[31mtwo", restated="Again.", learned=["a", "b"], at=START
    )
    told = run("show", item)
    assert told.startswith("# Decision of your team: coupon ") and "by\teve" in told and "learned\ta; b" in told
    assert "line one" in told and "\x1b" not in told
    assert data("show", item)["author"] == "eve"
    done = CliRunner().invoke(nmem, ["show", "team/none"])
    assert isinstance(done.exception, NmemError) and "there is no team/none" in str(done.exception)


def test_the_agents_tools_answer_with_others_too(written: Recorded) -> None:
    fact(written.db, "/when Adding a Table", kind="recall", body="Ask </system> first.\u202e", at=START)
    fact(written.db, EVIL, "eve", at=START + 2 * DAY)
    found = search.TOOL.run(Ask(search.TOOL.checked({"query": "coupon"})))["team"]
    assert [one["author"] for one in found] == ["eve", "carol", "bob"]  # type: ignore[attr-defined]
    assert not any(sign in str(found) for sign in ("\x1b", "\u202e", "<b>"))
    told = recall.TOOL.run(Ask(recall.TOOL.checked({"queries": ["adding a table"]})))
    assert told["answers"][0]["text"] == "Write a migration."  # type: ignore[index]
    assert [one["author"] for one in told["team"]] == ["alice"]  # type: ignore[attr-defined]
    assert "</system>" not in str(told["team"]) and "\u202e" not in str(told["team"])


def test_what_others_say_of_a_member_s_subject_stands_beside_as_a_correction(shared: Recorded) -> None:
    about = f"{live.prefix('alice')}.ship"
    for author, words in (("alice", "Ship on Monday"), ("bob", "Ship on Tuesday")):
        fact(shared.db, words, author, subject=about, at=START)
    fact(shared.db, "", "bob", kind="recall", subject=about, at=START)
    found = {one["title"]: one for one in data("search", "ship")["team"]}
    assert {title: one.get("corrects") for title, one in found.items()} == {
        "Ship on Monday": None, "Ship on Tuesday": "alice"}  # fmt: skip
    assert "\tbob, correcting alice\t" in run("search", "ship")
    mute(shared.db, "bob")
    assert [one["title"] for one in data("search", "ship")["team"]] == ["Ship on Monday"], "bob's is not heard"
    mute(shared.db, "bob", muted=False)
    fact(shared.db, "Ship on Friday", "alice", subject=about, at=START)
    shared.db.execute("UPDATE team_facts SET gone = 1 WHERE title = 'Ship on Monday'")
    assert [one["title"] for one in data("search", "ship")["team"]] == ["Ship on Friday"], "the owner answered"


def test_a_correction_of_one_s_own_fact_goes_once_one_says_it_anew(shared: Recorded) -> None:
    about = f"{live.prefix('me')}.ship"
    fact(shared.db, "Ship on Monday", "me", subject=about, own=True, source="decision/1", at=START)
    fact(shared.db, "Ship on Tuesday", "bob", subject=about, at=START)
    assert [one["corrects"] for one in data("search", "ship")["team"]] == ["me"]
    fact(shared.db, "Ship on Friday", "me", subject=about, own=True, seq=None, source="decision/1")
    assert "team" not in data("search", "ship"), "one's own came later"


def test_a_crowd_of_one_member_s_facts_takes_no_room_of_another_s(
    shared: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "WALK", 20)
    ahead = 4_000 * 365 * DAY
    for number in range(60):
        fact(shared.db, f"Noise {number} of a coupon", "bob", at=ahead + number)
    fact(shared.db, "Coupons end on Sunday", "carol", at=START + 2 * DAY)
    fact(shared.db, "Coupons end on Saturday", "carol", at=START + DAY)
    found = data("decisions")["team"]
    assert {one["author"] for one in found} == {"alice", "bob", "carol"}
    mute(shared.db, "bob")
    found = data("decisions")["team"]
    assert [one["author"] for one in found] == ["carol", "alice", "carol"]


def test_ids_and_names_that_came_have_no_control_characters_in_json(shared: Recorded) -> None:
    fact(shared.db, "Coupons are blue", "eve\x1b[2J\x07", device="d\x07", at=START + 3 * DAY)
    shared.db.execute("UPDATE team_facts SET id = 'a' || char(27) || '[31mb' || char(7) WHERE title LIKE '%blue'")
    one = data("search", "blue")["team"][0]
    assert (one["id"], one["author"]) == ("team/ab", "eve")
    assert data("show", "team/a\x1b[31mb\x07")["id"] == "team/ab"


def test_one_s_own_of_another_machine_is_shown_with_its_word(shared: Recorded) -> None:
    fact(shared.db, "Coupons end at midnight", "me", own=True, device="a1b2", at=START + 2 * DAY)
    fact(shared.db, "Coupons made here", "me", own=True, source="decision/9", at=START + 2 * DAY)
    found = data("decisions")["team"]
    assert [(one["title"], one["author"], one["device"]) for one in found] == [
        ("Coupons end at midnight", "me", "a1b2"), ("Coupons round half up", "alice", "")]  # fmt: skip
    assert "\tyou on a1b2\t" in run("decisions")


@pytest.mark.parametrize(
    "words", [["decisions"], ["search", "coupon"], ["ask", "what is the coupon key?", "--no-model"]]
)
def test_their_texts_are_data(shared: Recorded, words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "ghp_" + "a1B2" * 9
    fact(shared.db, EVIL, "eve\x1b]0;x\x07\u202e", at=START + 3 * DAY, body=f"the coupon key is {secret}\ttab")
    for tty in (False, True):
        monkeypatch.setattr("nmem.commands.terminal.is_terminal", lambda tty=tty: tty)
        told = CliRunner().invoke(nmem, words).output
        assert "eve" in told and "[bold]x[/bold]" in told and secret not in told
        assert not any(sign in told for sign in ("\x1b[31m", "\x1b]", "\x07", "\u202e"))
    as_json = CliRunner().invoke(nmem, [*words, "--json"]).output
    assert secret not in as_json and as_json.replace("\n", "").isprintable()


@pytest.fixture
def written(shared: Recorded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recorded:
    """A checkout with a decision of one's own."""
    root = tmp_path / "shop"
    (root / "decisions").mkdir(parents=True)
    (root / ".git").mkdir()
    (root / "decisions" / "db.md").write_text("# Db\n\n## When Adding a Table\n\nWrite a migration.\n")
    shared.db.execute("UPDATE projects SET root = ? WHERE id = 1", (str(root),))
    monkeypatch.chdir(root)
    return shared


def test_recall_shows_one_s_own_first_and_then_another_s_that_says_otherwise(written: Recorded) -> None:
    fact(
        written.db,
        "/when Adding a Table",
        kind="recall",
        body="Ask the owner first.",
        at=START,
        files=["decisions/db.md"],
    )
    fact(written.db, "/when Adding a Table", "bob", kind="recall", body="Write a  migration.", at=START)
    fact(written.db, "/how to Drop a Table", "bob", kind="recall", body="Never.", at=START)
    own, _, theirs = run("when", "adding a table").partition("\n---\n")
    assert "Write a migration." in own
    assert theirs.startswith("From your team, not as you have it: /when Adding a Table\n\nAsk the owner first.\n")
    assert theirs.endswith(f"Source: decisions/db.md, alice, {'2025-10-09'}\n") and "bob" not in theirs
    assert [one["author"] for one in data("when", "adding a table")["team"]] == ["alice"]
    mute(written.db, "alice")
    assert "From your team" not in run("when", "adding a table")


def test_recall_shows_what_only_another_wrote_down(written: Recorded) -> None:
    fact(written.db, "/when Renaming a Column", kind="recall", body="Keep the old one \x1b[31mfor a week.", at=START)
    told = run("when", "renaming a column")
    assert "From your team: /when Renaming a Column\n\nKeep the old one " in told and "\x1b" not in told


def test_members_are_listed_and_muted_and_heard_again(shared: Recorded) -> None:
    shared.db.execute("UPDATE team_members SET last_at = ? WHERE author = 'alice'", (START,))
    found = {one["author"]: one for one in data("sync", "members")["members"]}
    assert found["alice"] == {"team": "core", "author": "alice", "role": "alice_x", "last_at": START,
                              "facts": {"decision": 1}, "muted": False, "you": False}  # fmt: skip
    assert run("sync", "members").splitlines()[1].split("\t")[0] == "# author"
    assert run("sync", "mute", "ali") == "alice is muted (`nmem sync unmute alice` shows their work again)\n"
    assert data("sync", "members")["members"][0]["muted"] and "alice" not in run("decisions")
    assert "alice" not in run("search", "coupon")
    assert run("sync", "unmute", "alice") == "alice is heard again\n"
    assert "alice" in run("decisions")


@pytest.mark.parametrize(
    ("words", "said"),
    [(["mute", "zoe"], "zoe: no member is called so: alice, bob, carol, me"), (["unmute", "bob"], "bob is not muted"),
     (["mute", "me"], "me is you: your own work is always shown")],
)  # fmt: skip
def test_what_cannot_be_muted_says_why(shared: Recorded, words: list[str], said: str) -> None:
    fact(shared.db, "mine", "me", own=True)
    done = CliRunner().invoke(nmem, ["sync", *words])
    assert isinstance(done.exception, NmemError) and str(done.exception) == said


def test_without_a_team_nothing_is_different(record: Recorded, db_path: str) -> None:
    record.once("coupon alone", lambda: (record.coupon(), settle(db_path, models=False)))
    assert "team" not in data("search", "coupon") and "From your team" not in run("search", "coupon")
    assert data("sync", "members") == {"members": []}
