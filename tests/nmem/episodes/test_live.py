"""Episodes as hooks make them, one event after the other; and that detecting all at once says the same."""

from __future__ import annotations

from pathlib import Path
from sqlite3 import Connection

import pytest

from capture.storage.store import transaction
from nmem.episodes import annotate, detect, store, units
from nmem.episodes.online import arrived, ended
from tests.nmem.episodes.conftest import Script, rows


def turn(script: Script, text: str, files: list[str], said: str, minutes: float = 1, commit: bool = False) -> int:
    """A prompt with its hooks, the work, and the turn's end."""
    number = script.prompt(text, minutes)
    arrived(script.db, script.id)
    for path in files:
        script.did("file_read", path, tool="Read")
        script.did("file_edit", path)
    if commit:
        script.did("git_commit", None, content="git commit -m x", tool="Bash",
                   metadata='{"commit":{"hash":"abc1234","message":"Cache tokens","branch":"main"}}')  # fmt: skip
    script.said(said)
    ended(script.db, script.id)
    annotate.update_newest(script.db, script.id)
    return number


@pytest.fixture
def day(script: Script) -> list[int]:
    """A morning's work: one goal, a bare reply, another goal after a break, and the first again."""
    lexer, charts = "src/lexer/scan.py", ["web/pages/invoices.tsx", "web/charts/bar.tsx", "web/api/billing.ts"]
    lost = "drops the last token of a line"
    invoices = "I want a dashboard page that shows monthly invoices per customer as a bar chart"
    back = f"Going back to the tokenizer: {lexer} still {lost} with a comment"
    return [
        turn(script, f"The tokenizer in {lexer} {lost}, please fix it", [lexer, "tests/test_scan.py"], "Fixed it."),
        turn(script, "yes, go ahead", [lexer], "Done, the scanner keeps the last token."),
        turn(script, "commit it", [], "Committed.", commit=True),
        turn(script, f"Next task: {invoices}", charts, "The invoices page renders a chart.", 45),
        turn(script, "make the bars blue", [charts[1]], "Blue bars."),
        turn(script, back, [lexer], "The scanner keeps the token before a comment.", 30),
    ]


def test_a_day_becomes_the_episodes_a_person_would_name(db: Connection, script: Script, day: list[int]) -> None:
    found = units.of_session(db, script.id)
    assert [(unit.first_prompt_id, unit.turn_count, unit.state) for unit in found] == [
        (day[0], 3, "closed"), (day[3], 2, "closed"), (day[5], 1, "open"),
    ]  # fmt: skip
    assert found[2].resumes == found[0].id
    labels = {prompt.id: prompt.verdict.label for prompt in units.prompts_of_session(db, script.id)}
    assert [labels[number] for number in day] == ["new", "ack", "ack", "new", "cont", "new"]
    assert "put away" in found[1].cut_reason and "turns to something else" in found[1].cut_reason
    assert '"committed":1' in found[0].outcomes and "Cache tokens" in found[0].commits


def test_detecting_the_whole_session_again_changes_nothing(db: Connection, script: Script, day: list[int]) -> None:
    db.execute("UPDATE sessions SET state = 'idle' WHERE id = ?", (script.id,))
    live = [(u.id, u.first_prompt_id, u.last_prompt_id, u.resumes, u.hot_files, u.outcomes, u.active_ms)
            for u in units.of_session(db, script.id)]  # fmt: skip
    assert detect.sessions(db, [script.id]) == 0
    assert live == [(u.id, u.first_prompt_id, u.last_prompt_id, u.resumes, u.hot_files, u.outcomes, u.active_ms)
                    for u in units.of_session(db, script.id)]  # fmt: skip
    once = rows(db)
    assert detect.sessions(db, [script.id]) == 0
    assert rows(db) == once


def test_what_a_person_decided_survives(db: Connection, script: Script, day: list[int]) -> None:
    first, second, _ = units.of_session(db, script.id)
    with transaction(db):
        made = units.split(db, day[1], units.Verdict("new", "person", reason="by hand"))
        units.merge(db, second.id, made, by=units.PERSON)
        units.annotated(db, first.id, {"title": "Scanner"})
    before = [(u.id, u.first_prompt_id, u.title, u.turn_count) for u in units.of_session(db, script.id)]
    detect.sessions(db, [script.id])
    assert [(u.id, u.first_prompt_id, u.title, u.turn_count) for u in units.of_session(db, script.id)] == before
    assert before[0][2:] == ("Scanner", 1) and before[1][3] == 4
    with transaction(db):
        units.move(db, day[2], first.id, units.Verdict("cont", "person"))
    moved = {prompt.id: prompt.unit_id for prompt in units.prompts_of_session(db, script.id)}
    assert moved[day[2]] == first.id and moved[day[3]] == made
    detect.sessions(db, [script.id])
    assert {prompt.id: prompt.unit_id for prompt in units.prompts_of_session(db, script.id)} == moved


def test_turns_revise_neither_persons_nor_models(db: Connection, script: Script) -> None:
    turn(script, "Fix the login form of the shop", ["shop/login.py"], "Fixed.")
    number = turn(script, "Also look at the login button colour", ["shop/login.py"], "Looked.")
    with transaction(db):
        units.split(db, number, units.Verdict("new", "person"))
    script.did("file_edit", "shop/login.py")
    ended(db, script.id)
    assert len(units.of_session(db, script.id)) == 2


def test_late_words_commands_machines_and_subagents(db: Connection, script: Script) -> None:
    script.prompt("/model opus", kind="command")
    arrived(db, script.id)
    turn(script, "Write a parser for the billing export format", ["billing/parse.py"], "Parser written.")
    late = script.prompt("and handle umlauts in customer names too please, they broke last week", kind="late")
    arrived(db, script.id)
    script.prompt("a background task has finished its long work", source="machine", kind="notification")
    arrived(db, script.id)
    (unit,) = units.of_session(db, script.id)
    assert unit.turn_count == 3 and unit.intent.startswith("Write a parser")
    assert units.prompts_of(db, unit.id)[-1].id == late


def test_a_prompt_registered_twice_is_placed_once(db: Connection, script: Script) -> None:
    script.prompt("Fix the login form of the shop")
    arrived(db, script.id)
    arrived(db, script.id)
    assert [unit.turn_count for unit in units.of_session(db, script.id)] == [1]


def test_a_session_that_was_killed_is_closed_later(db: Connection, script: Script, day: list[int]) -> None:
    now = script.at + 29 * 60_000
    assert detect.close_overdue(db, now) == []
    assert detect.close_overdue(db, now + 2 * 60_000) == [script.id]
    assert {unit.state for unit in units.of_session(db, script.id)} == {"closed"}
    assert detect.close_overdue(db, now + 10**9) == []
    assert store.undivided(db) == []
    turn(script, "and the docs of the scanner", ["docs/scan.md"], "Written.", 90)
    assert units.of_session(db, script.id)[-1].state == "open"


def test_the_open_episode_is_kept_before_a_compaction(db: Connection, script: Script, day: list[int]) -> None:
    annotate.checkpoint(db, script.id, script.at)
    script.said("The user asked for scanner fixes.", kind="summary")
    annotate.compacted(db, script.id)
    unit = units.of_session(db, script.id)[-1]
    assert unit.checkpoint and "src/lexer/scan.py" in unit.checkpoint and "Going back" in unit.checkpoint
    assert unit.client_summary == "The user asked for scanner fixes."


def test_a_cleared_conversation_opens_an_episode(db: Connection, script: Script) -> None:
    turn(script, "Fix the login form of the shop", ["shop/login.py"], "Fixed.")
    script.did("session_clear")
    db.execute("UPDATE observations SET tool_name = NULL WHERE obs_type = 'session_clear'")
    turn(script, "and now the login button colour", ["shop/login.py"], "Done.")
    assert [unit.cut_reason for unit in units.of_session(db, script.id)][1] == "the conversation was cleared"


def test_the_plain_rule_decides_where_it_is_set(
    db: Connection, script: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[episodes]\nmethod = "jaccard"\n')
    monkeypatch.setenv("NMEM_CONFIG", str(file))
    turn(script, "Fix the login form of the shop", ["shop/login.py"], "Fixed.")
    number = turn(script, "Also look at the colour of that button", ["shop/login.py"], "Looked.")
    said = {prompt.id: prompt.verdict for prompt in units.prompts_of_session(db, script.id)}[number]
    assert (said.label, said.reason) == ("new", "other keywords")
    detect.sessions(db, [script.id])
    assert len(units.of_session(db, script.id)) == 2
    file.write_text('[episodes]\nmethod = "default"\n# longer than it was\n')
    detect.sessions(db, [script.id])
    assert len(units.of_session(db, script.id)) == 1
