"""Decisions in a database: found when an episode is over, quoted, superseded, changed, undone, purged."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from sqlite3 import Connection

import pytest
from click.testing import CliRunner

from capture.storage import store as store_of
from nmem import undo
from nmem.commands.main import nmem
from nmem.decisions import change, find, store
from nmem.decisions.store import Decision
from nmem.errors import NmemError
from nmem.purge import history
from nmem.purge.run import purge
from nmem.purge.selection import Selection
from nmem.retention import sweep as sweeping
from nmem.retention.policy import Policy
from nmem.settle import settle
from tests.nmem.conftest import Recorded

FIRST = "Four attempts in all, and cap the backoff at 60 seconds."
SECOND = "The balancer drops idle connections at 32 seconds, so cap the backoff at 30 seconds instead of the old 60."
RECAP = "Amending the retry policy, superseding the old cap: 5xx and 429, 4 attempts, backoff capped at 30 seconds."


@pytest.fixture
def talked(record: Recorded, db_path: str) -> Recorded:
    """Two conversations about one retry policy, and one about something else."""
    return record.once("decisions, talked", lambda: _talk(record, db_path))


def _talk(record: Recorded, db_path: str) -> None:
    record.begin("policy").user("The retry client locked accounts: we need a retry policy with a backoff.")
    record.agent(
        "I'd retry 5xx and 429 only. How many attempts, and what backoff ceiling should the retry policy have?"
    )
    record.user(FIRST).agent("Settled: retry 5xx and 429, at most 4 attempts, backoff capped at 60 seconds.")
    record.begin("colours").user("The header is hard to read.").agent("Should it be blue or dark grey?")
    record.user("Dark grey, never blue.").agent("Understood: dark grey headers.")
    record.begin("amended").user("The retry backoff of the client dies mid-wait behind the balancer.")
    record.agent("Which ceiling should the retry backoff of the policy have then?")
    record.user(SECOND).agent(RECAP).user("That's the rule going forward, yes.").agent("Good.")
    settle(db_path, models=False)


def all_of(db: Connection) -> list[Decision]:
    return sorted(store.listed(db, limit=100, dismissed=True), key=lambda one: (one.at, one.id))


def test_an_answer_is_kept_with_its_question_and_quoted_from_the_prompts(talked: Recorded) -> None:
    first = all_of(talked.db)[0]
    assert (first.said, first.kind, first.state) == (FIRST, "answer", "found")
    assert first.question.endswith("How many attempts, and what backoff ceiling should the retry policy have?")
    assert first.restated.startswith("Settled: retry 5xx and 429")
    columns = [row[1] for row in talked.db.execute("PRAGMA table_info(said_decisions)")]
    row = talked.db.execute("SELECT * FROM said_decisions WHERE id = ?", (first.id,)).fetchone()
    assert not [name for name, value in zip(columns, tuple(row), strict=True) if "seconds" in str(value)]


def test_settling_again_finds_nothing_to_do(talked: Recorded) -> None:
    before = all_of(talked.db)
    assert find.refresh(talked.db) == 0
    talked.db.execute("DELETE FROM decided_units")
    assert find.refresh(talked.db) == 3
    assert all_of(talked.db) == before


def test_a_later_decision_on_the_same_matter_supersedes_the_earlier_one(talked: Recorded) -> None:
    found = all_of(talked.db)
    first, grey, *later = found
    assert first.superseded is not None and first.superseded.id in {one.id for one in later}
    assert grey.superseded is None
    assert not any(one.superseded for one in later)
    said = store.superseded(talked.db, [f"prompt/{first.prompt_id}", f"episode/{first.unit_id}", "session/policy",
                                       f"episode/{grey.unit_id}", "session/amended", "obs/1"])  # fmt: skip
    assert said.keys() == {f"prompt/{first.prompt_id}", f"episode/{first.unit_id}", "session/policy"}


def test_an_episode_that_goes_on_is_not_searched_yet(record: Recorded, db_path: str) -> None:
    record.begin("policy").user("Retries?").agent("How many attempts should we allow?").user("Four, never more.")
    record.db.execute("UPDATE sessions SET state = 'working', last_at = 9000000000000")
    settle(db_path, models=False)
    assert all_of(record.db) == []


def test_a_dismissed_decision_is_nowhere_and_supersedes_nothing_until_that_is_undone(talked: Recorded) -> None:
    first, _, *later = all_of(talked.db)
    for one in later:
        change.dismiss(talked.db, one.id, talked.at)
    assert all_of(talked.db)[0].superseded is None
    assert not {one.id for one in later} & {one.id for one in store.listed(talked.db)}
    assert store.of_units(talked.db, [later[0].unit_id]) == []
    with pytest.raises(NmemError, match="dismissed already"):
        change.dismiss(talked.db, later[0].id, talked.at)
    for _ in later:
        undo.undo(talked.db, talked.at)
    assert all_of(talked.db)[0].superseded == first.superseded


def test_a_decision_that_was_worded_anew_keeps_its_words_when_it_is_found_again(talked: Recorded) -> None:
    first = all_of(talked.db)[0]
    change.word(talked.db, first.id, "Four attempts; no wait is longer than a minute", talked.at)
    talked.db.execute("DELETE FROM decided_units")
    find.refresh(talked.db)
    now = all_of(talked.db)[0]
    assert (now.text, now.said, now.state) == ("Four attempts; no wait is longer than a minute", FIRST, "kept")
    assert "worded anew" in undo.undo(talked.db, talked.at)
    assert all_of(talked.db)[0] == first


def test_a_wording_holds_no_secret(talked: Recorded) -> None:
    first = all_of(talked.db)[0]
    change.word(talked.db, first.id, "use ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8", talked.at)
    assert "ghp_" not in all_of(talked.db)[0].text


def test_what_is_purged_is_no_decision_and_comes_back_with_the_undo(talked: Recorded, db_path: str) -> None:
    before = all_of(talked.db)
    first, later = before[0], before[-1]
    gone = tuple(("prompt", str(one.prompt_id)) for one in (later, before[2]))
    purge(db_path, Selection(ids=gone), talked.at)
    find.refresh(talked.db)
    left = all_of(talked.db)
    assert [one.id for one in left] == [first.id, before[1].id]
    assert left[0].superseded is None
    undo.undo(talked.db, talked.at)
    find.refresh(talked.db)
    assert all_of(talked.db) == before


def test_what_a_purge_of_words_takes_is_in_no_wording(talked: Recorded, db_path: str) -> None:
    first = all_of(talked.db)[0]
    change.word(talked.db, first.id, "never longer than walrus time", talked.at)
    purge(db_path, Selection(texts=("walrus",)), talked.at)
    assert "walrus" not in all_of(talked.db)[0].text
    assert not talked.db.execute("SELECT 1 FROM corrections WHERE payload LIKE '%walrus%'").fetchone()


def test_a_sweep_leaves_what_was_decided_and_its_question(talked: Recorded) -> None:
    before = all_of(talked.db)
    change.dismiss(talked.db, before[1].id, talked.at)
    days = 86_400_000
    talked.db.execute("UPDATE sessions SET state = 'ended'")
    sweeping.sweep(talked.db, Policy(mediation=False, days={"prompt": 1.0, "reasoning": 1.0}), talked.at + 900 * days)
    left = {one.id: one for one in all_of(talked.db)}
    assert left[before[0].id].said == FIRST and left[before[0].id].question == before[0].question
    assert before[1].id not in left, "a dismissed one is kept for nobody"


def test_another_machine_gets_them_with_what_a_person_said(talked: Recorded, db_path: str, tmp_path: Path) -> None:
    before = all_of(talked.db)
    change.word(talked.db, before[1].id, "headers are dark grey", talked.at)
    other = str(tmp_path / "other.db")
    assert CliRunner().invoke(nmem, ["export", "--format", "sqlite", str(tmp_path / "out.db")]).exit_code == 0
    env = {"NMEM_DB": other}
    done = CliRunner().invoke(nmem, ["import", "--from-export", str(tmp_path / "out.db")], env=env)
    assert done.exit_code == 0, done.output
    with closing(store_of.connect(other)) as db:
        find.refresh(db)
        there = all_of(db)
    assert [(one.said, one.text) for one in there] == [
        (one.said, one.text if number != 1 else "headers are dark grey") for number, one in enumerate(before)
    ]
    assert there[0].superseded is not None


def test_words_that_a_new_rule_redacts_are_not_quoted(talked: Recorded) -> None:
    first = all_of(talked.db)[0]
    talked.db.execute("UPDATE prompts SET content = '[gone]' || substr(content, 12) WHERE id = ?", (first.prompt_id,))
    now = all_of(talked.db)[0]
    assert now.said.startswith("[gone]") and "Four" not in now.said
    assert find.refresh(talked.db) == 1, "the place in the prompt is looked for anew"
    assert find.refresh(talked.db) == 0
    assert history.preview(talked.db).by_table["said_decisions"] == 0
