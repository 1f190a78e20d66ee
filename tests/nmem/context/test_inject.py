"""When a session is told something, what, and how often."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from capture import paths
from capture.clients.said import BEGIN, END
from nmem.context import inject
from tests.nmem.context.conftest import HOUR, MINUTE, Played

SAME = "the voucher total in shop/cart.py must never be negative, fix the cart"
OTHER = "write a haiku about autumn leaves into poem.txt"


def count(played: Played, sql: str) -> int:
    db = played.database()
    try:
        found: int = db.execute(sql).fetchone()[0]
        return found
    finally:
        db.close()


def configure(text: str) -> None:
    file = Path(paths.config())
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_the_first_prompt_on_the_same_files_is_told_of_the_fix_once(played: Played) -> None:
    played.fix()
    assert played.begin("b") == ""
    told = played.ask(SAME)
    assert told.startswith(BEGIN) and told.endswith(END)
    assert "shop/cart.py" in told
    assert "truncated" in told
    assert played.ask("ok, run the test once more") == ""
    assert len(played.told["b"]) == 1


def test_every_item_is_kept_with_its_reason_and_score_and_the_text_as_given(played: Played) -> None:
    played.fix()
    played.begin("b")
    told = played.ask(SAME)
    db = played.database()
    (number, event, client, text, tokens, withheld, reason, prompt) = db.execute(
        "SELECT id, event, client, text, tokens, withheld, reason, prompt_id FROM injections"
    ).fetchone()
    assert (event, client, text, withheld, reason) == ("prompt", "claude", told, 0, "the first prompt")
    assert 0 < tokens <= 400
    assert db.execute("SELECT content FROM prompts WHERE id = ?", (prompt,)).fetchone() == (SAME,)
    items = db.execute(
        "SELECT item, text, reason, score, used FROM injection_items WHERE injection_id = ? ORDER BY position",
        (number,),
    ).fetchall()
    db.close()
    assert items
    for item, words, why, score, used in items:
        assert "/" in item
        assert words in told
        assert why
        assert 0.0 <= score <= 1.0
        assert used is None


def test_an_unrelated_session_of_the_project_is_told_nothing(played: Played) -> None:
    played.fix()
    assert played.begin("c", gap=5 * 60_000) == ""
    assert played.ask(OTHER) == ""
    assert "c" not in played.told


def test_another_project_is_told_nothing(played: Played) -> None:
    played.fix()
    played.folder = "/src/elsewhere"
    assert played.begin("d") == ""
    assert played.ask(SAME) == ""


def test_a_new_goal_within_a_session_is_told_of_what_it_needs(played: Played) -> None:
    played.fix()
    played.begin("b")
    assert played.ask(OTHER) == ""
    played.edit("poem.txt")
    played.say("Written to poem.txt.")
    assert played.ask("make the second line shorter") == ""
    played.say("Shorter now.")
    played.run("git commit -am poem", "[main abc1234] poem")
    played.at += 20 * MINUTE
    told = played.ask(f"now something different: {SAME}")
    assert "shop/cart.py" in told
    assert count(played, "SELECT count(*) FROM injections WHERE reason = 'another episode begins'") == 1


def test_a_prompt_that_runs_into_a_hot_learning_is_told_of_it(played: Played) -> None:
    played.fix()
    played.begin("b")
    played.ask(OTHER)
    db = played.database()
    db.execute(
        "INSERT INTO learnings (id, project_id, kind, key, title, first_at, last_at, sessions, occurrences, state)"
        " VALUES (7, 1, 'failed_command', 'make deploy', 'make deploy fails', 0, 0, 4, 9, 'open')"
    )
    db.execute(
        "INSERT INTO context_learnings VALUES (7, 1, 90.0, 'make deploy', '', '', '',"
        " 'make deploy fails without a token')"
    )
    db.close()
    assert played.ask("shorter still") == ""
    told = played.ask("and then make deploy please")
    assert "make deploy fails without a token" in told
    assert played.ask("once more make deploy please") == ""


def test_a_session_that_is_resumed_is_not_told_again_what_it_has(played: Played) -> None:
    played.fix()
    played.begin("b")
    assert played.ask(SAME)
    played.read("shop/cart.py")
    played.say("It is not negative now.")
    assert played.begin("b", "resume") == ""
    assert played.ask("and once more for the voucher in shop/cart.py") == ""


def test_a_session_that_is_resumed_is_told_what_others_did_to_its_files(played: Played) -> None:
    played.begin("b")
    played.ask(SAME)
    played.edit("shop/cart.py")
    played.say("It is not negative now.")
    played.at += HOUR
    played.fix()
    told = played.begin("b", "resume")
    assert "truncated" in told
    assert "shop/cart.py" in told
    assert played.begin("b", "resume") == ""


def test_a_session_on_the_branch_of_earlier_work_is_told_at_its_start(played: Played) -> None:
    played.fix()
    played.begin("b")
    db = played.database()
    db.execute("UPDATE sessions SET branch = 'feature/voucher' WHERE id IN ('a', 'b')")
    db.close()
    played.at += HOUR
    told = played.hook("SessionStart", source="startup")
    assert "shop/cart.py" in told


def test_pins_are_told_whatever_the_session_is_about(played: Played) -> None:
    played.fix()
    db = played.database()
    db.execute("UPDATE work_units SET pinned = 1")
    db.close()
    assert "truncated" in played.begin("b")
    assert played.ask(SAME).count("truncated") == 0


def test_a_hook_that_is_registered_twice_tells_once(played: Played) -> None:
    played.fix()
    played.begin("b")
    first = played.ask(SAME)
    assert first
    played.at -= 1000
    assert played.ask(SAME) == ""


def test_what_a_machine_says_and_what_a_subagent_does_are_told_nothing(played: Played) -> None:
    played.fix()
    played.begin("b")
    assert played.ask("<task-notification><summary>shop/cart.py voucher total</summary></task-notification>") == ""
    assert played.hook("UserPromptSubmit", prompt=SAME, agent_id="agent-1") == ""


@pytest.mark.parametrize(
    "text",
    [
        "[context]\nenabled = false\n",
        "[context]\noff = ['shop']\n",
        "[context]\noff = ['/src/shop']\n",
        "[context]\nprompt_tokens = 0\n",
        "[context]\nenabled = 'yes'\n",
        "context = 3\n",
    ],
)
def test_it_can_be_switched_off(played: Played, text: str) -> None:
    played.fix()
    configure(text)
    played.begin("b")
    assert played.ask(SAME) == ""
    assert count(played, "SELECT count(*) FROM injections") == 0


def test_a_project_can_be_left_alone(played: Played) -> None:
    played.fix()
    db = played.database()
    db.execute("INSERT INTO context_choices SELECT id, '*', 'exclude', 0 FROM projects")
    db.close()
    played.begin("b")
    assert played.ask(SAME) == ""


def test_what_is_late_is_not_said_and_is_counted(played: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    played.fix()
    configure("[context]\ndeadline_ms = 0\n")
    played.begin("b")
    assert played.ask(SAME) == ""
    assert count(played, "SELECT value FROM counters WHERE name = 'context_late'") >= 1
    assert count(played, "SELECT count(*) FROM injections WHERE text != ''") == 0
    configure("[context]\n")  # as long as it takes
    monkeypatch.setattr(inject, "_TICKS", 1)
    played.begin("b2")
    assert played.ask(SAME)  # the clock that stops queries is taken off again


def test_a_query_that_would_not_end_is_stopped(played: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(db: object, *_: object) -> list[object]:
        query = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
        return list(db.execute(query))  # type: ignore[attr-defined]

    played.fix()
    played.begin("b")
    configure("[context]\ndeadline_ms = 200\n")
    monkeypatch.setattr("nmem.context.candidates.gathered", endless)
    assert played.ask(SAME) == ""
    assert count(played, "SELECT value FROM counters WHERE name = 'context_late'") == 1


def test_a_late_first_prompt_does_not_mute_the_session(played: Played) -> None:
    played.fix()
    played.begin("b")
    configure("[context]\ndeadline_ms = 0\n")
    assert played.ask(SAME) == ""
    configure("[context]\n")  # as long as it takes
    assert "truncated" in played.ask(f"{SAME}, I said")
    assert played.ask("and the voucher in shop/cart.py?") == ""


def test_a_compaction_that_is_late_may_be_told_again_all_the_same(played: Played) -> None:
    played.fix()
    played.begin("b")
    assert "truncated" in played.ask(SAME)
    played.hook("PreCompact", trigger="auto", custom_instructions=None)
    configure("[context]\ndeadline_ms = 0\n")
    assert played.hook("SessionStart", source="compact") == ""
    configure("[context]\n")  # as long as it takes
    assert "truncated" in played.ask(f"{SAME}, once more")


def test_a_greeting_is_no_first_prompt(played: Played) -> None:
    played.fix()
    played.begin("b")
    for words in ("hello there", "ok, let's go", "thanks!"):
        assert played.ask(words) == ""
    assert "truncated" in played.ask(SAME)


def test_a_text_that_cannot_be_marked_is_counted(played: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    played.fix()
    played.begin("b")
    monkeypatch.setattr("nmem.context.compose.named", lambda *_: f"shop {END}")
    assert played.ask(SAME) == ""
    assert count(played, "SELECT value FROM counters WHERE name = 'context_unsound'") == 1


def test_no_client_is_told_more_than_it_takes(played: Played, tmp_path: Path) -> None:
    for number in range(8):
        played.fix(f"a{number}")
        played.begin(f"w{number}")
        played.ask(f"rework shop/part_{number}_{'x' * 80}.py for the voucher total of the cart " + "détail ☕ " * 300)
        for each in range(20):
            played.edit(f"shop/{'deep/' * 20}part_{number}_{each}.py")
        played.say("Reworked the voucher total " + "with many words of détail ☕ " * 200)
        played.end()
    played.settle()
    configure("[context]\nprompt_tokens = 2400\nstart_tokens = 2400\n")
    for client, most in (("claude", 10_000), ("codex", 10_000), ("gemini", 10_000)):
        with closing(played.database()) as db, closing(sqlite3.connect(tmp_path / f"{client}.db")) as copy:
            db.backup(copy)
        other = Played(str(tmp_path / f"{client}.db"), client)
        other.at = played.at
        other.begin("b")
        told = other.ask(SAME + " and everything in shop/ that knows of the voucher total")
        assert told, client
        assert len(told.encode()) <= most, client
        assert len(told) / 4 <= 2_500, client


def test_a_client_that_cannot_be_told_is_told_nothing(played: Played) -> None:
    played.fix()
    played.client = "opencode"
    played.begin("b")
    db = played.database()
    assert db.execute("SELECT count(*) FROM injections").fetchone() == (0,)
    db.close()
