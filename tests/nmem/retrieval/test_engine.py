"""Which episodes of a project speak of a query: found by evidence that adds up, kept up with the stories."""

from __future__ import annotations

from array import array
from sqlite3 import Connection

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from capture.storage import store
from nmem import tables
from nmem.retrieval import engine, index
from nmem.retrieval.store import forget

NOW = 1_760_000_000_000
DAY = 86_400_000
WORK = {
    1: ("the upload limit is two megabytes", "Raised MAX_UPLOAD_BYTES to eight megabytes because avatars failed."),
    2: ("coupons round the wrong way", "The cause was ROUND_HALF_UP in round_cents(); half cents now round down."),
    3: ("where is the deploy script", "The deploy script lives in tools/deploy.sh."),
    4: ("coupon codes are not case-insensitive", "Coupon codes are compared after str.casefold() now."),
}


def told(db: Connection, number: int, asked: str, closing: str, project: int = 1, at: int = 0) -> None:
    """An episode of its own session, told by the narrator."""
    at = at or NOW - (10 - number) * DAY
    session = f"s{project}-{number}"
    db.execute(
        "INSERT OR IGNORE INTO projects VALUES (?, ?, ?, ?, NULL, 0)",
        (project, f"key{project}", f"project{project}", f"/src/{project}"),
    )
    db.execute(
        "INSERT INTO sessions (id, client, project_id, cwd, started_at, last_at) VALUES (?, 'claude', ?, '/', ?, ?)",
        (session, project, at, at + 2000),
    )
    prompt = db.execute(
        "INSERT INTO prompts (session_id, at, source, kind, content, dedup_key)"
        " VALUES (?, ?, 'user', 'prompt', ?, 'p')",
        (session, at, asked),
    ).lastrowid
    db.execute(
        "INSERT INTO prompts (session_id, at, source, kind, content, dedup_key)"
        " VALUES (?, ?, 'agent', 'closing', ?, 'a')",
        (session, at + 1000, closing),
    )
    db.execute(
        "INSERT INTO work_units (id, session_id, first_prompt_id, last_prompt_id, started_at, last_at, state, intent,"
        " narrated_at) VALUES (?, ?, ?, ?, ?, ?, 'closed', ?, ?)",
        (number + 100 * (project - 1), session, prompt, prompt, at, at + 2000, asked, NOW),
    )
    db.execute(
        "INSERT INTO unit_prompts (prompt_id, unit_id, label, decided_by) VALUES (?, ?, 'new', 'first')",
        (prompt, number + 100 * (project - 1)),
    )


@pytest.fixture
def db(db_path: str) -> Connection:
    made = store.connect(db_path)
    tables.ensure(made)
    for number, (asked, closing) in WORK.items():
        told(made, number, asked, closing)
    index.keep(made)
    return made


def found(db: Connection, text: str, project: int = 1, before: int = 0) -> list[int]:
    return [one.unit_id for one in engine.related(db, project, text, before=before)]


def test_the_episode_that_says_most_of_a_query_is_first_and_others_follow(db: Connection) -> None:
    assert found(db, "coupon rounding")[0] == 2
    assert set(found(db, "coupon rounding")) == {2, 4}


def test_an_identifier_is_found_whole_and_by_its_parts(db: Connection) -> None:
    assert found(db, "MAX_UPLOAD_BYTES") == found(db, "max upload") == [1]


def test_a_whole_report_adds_up_evidence_and_unknown_words_do_no_harm(db: Connection) -> None:
    report = (
        "Steps to reproduce\n1. open the shop\n2. apply a coupon\n\nExpected 2.12, got 2.13: half cents round up.\n"
    )
    assert found(db, report * 3)[0] == 2


def test_a_query_about_something_else_finds_nothing(db: Connection) -> None:
    assert found(db, "kubernetes ingress") == found(db, "") == found(db, "the and of") == []


def test_share_is_the_part_of_the_query_that_is_spoken_of(db: Connection) -> None:
    whole = engine.related(db, 1, "deploy script")[0]
    part = engine.related(db, 1, "deploy script kubernetes ingress terraform")[0]
    assert 0 < part.share < whole.share <= 1


def test_common_words_are_left_to_rare_ones_where_there_is_no_time_for_all(db: Connection) -> None:
    for number in range(5, 40):
        told(db, number, f"the widget of case {number} in the ledger", "Done.", at=NOW + number * DAY)
    index.keep(db)
    everything = engine.related(db, 1, "widget ledger tools/deploy.sh", 50)
    hurried = engine.related(db, 1, "widget ledger tools/deploy.sh", 50, work=20)
    assert hurried[0].unit_id == everything[0].unit_id == 3
    assert len(everything) > 30 > len(hurried), "a word of 35 episodes is not followed"
    assert not engine.related(db, 1, "widget", 50, work=20), "a word of most episodes points at none"


def test_projects_do_not_mix(db: Connection) -> None:
    told(db, 1, "coupon rounding in another shop", "Done.", project=2)
    index.keep(db)
    assert found(db, "coupon", project=2) == [101]
    assert 101 not in found(db, "coupon")


def test_as_of_a_moment_only_what_was_over_is_found(db: Connection) -> None:
    assert found(db, "coupon", before=NOW - 7 * DAY) == [2]


def test_a_story_told_anew_replaces_the_earlier_document(db: Connection) -> None:
    db.execute("UPDATE prompts SET content = 'Nothing came of it.' WHERE session_id = 's1-2' AND source = 'agent'")
    db.execute("UPDATE prompts SET content = 'look at the invoices' WHERE session_id = 's1-2' AND source = 'user'")
    db.execute("UPDATE work_units SET narrated_at = narrated_at + 1 WHERE id = 2")
    assert index.keep(db) == 1
    assert found(db, "rounding") == []
    assert found(db, "invoices") == [2]


def test_a_new_title_is_found(db: Connection) -> None:
    db.execute("UPDATE work_units SET title = 'Ledger reconciliation' WHERE id = 2")
    assert index.keep(db) == 1
    assert found(db, "reconciliation") == [2]


def test_what_the_client_calls_a_session_is_found(db: Connection) -> None:
    db.execute(
        "INSERT INTO prompts (session_id, at, source, kind, content, dedup_key)"
        " VALUES ('s1-2', ?, 'agent', 'title', 'Ledger reconciliation', 'n')",
        (NOW - 8 * DAY + 1500,),
    )
    db.execute("UPDATE work_units SET narrated_at = narrated_at + 1 WHERE id = 2")
    assert index.keep(db) == 1
    assert found(db, "reconciliation") == [2]


def test_the_first_line_of_a_report_weighs_more_than_a_line_below(db: Connection) -> None:
    both = ("coupon rounding is wrong", "the deploy script of the tools folder printed it")
    above, below = (
        {one.unit_id: one.share for one in engine.related(db, 1, "\n".join(lines))} for lines in (both, both[::-1])
    )
    assert above[2] > below[2] and above[3] < below[3]


def test_a_word_of_every_episode_says_something_after_stories_were_told_anew(db: Connection) -> None:
    """Numbers of changed documents stay in the postings: what a word is worth is counted like them."""
    for more in range(1, 4):
        db.execute("UPDATE work_units SET narrated_at = narrated_at + ?", (more,))
        index.keep(db)
    assert sorted(found(db, "coupon")) == [2, 4]
    assert all(one.score > 0 for one in engine.related(db, 1, "coupon"))


def test_what_is_told_anew_is_found_with_the_same_figures(db: Connection) -> None:
    text = "coupon rounding in the invoice, ASGIStaticFilesHandler"
    before = [(one.unit_id, one.score, one.share, one.specific) for one in engine.related(db, 1, text)]
    for _ in range(3):
        db.execute("UPDATE work_units SET narrated_at = narrated_at + 1")
        assert index.keep(db) == len(WORK)
    assert [(one.unit_id, one.score, one.share, one.specific) for one in engine.related(db, 1, text)] == before


@given(st.lists(st.tuples(st.integers(1, 1 << 20), st.integers(1, 255)), unique_by=lambda one: one[0]), st.data())
def test_postings_of_some_documents_are_taken_out_and_no_others(
    held: list[tuple[int, int]], data: st.DataObject
) -> None:
    packed = array("I", [number << 8 | weight for number, weight in held])
    gone = data.draw(st.lists(st.sampled_from([number for number, _ in held] or [1]), unique=True))
    left = array("I", index.without(packed.tobytes(), gone))
    assert [one >> 8 for one in left] == [number for number, _ in held if number not in gone]


def test_a_greeting_is_not_about_its_two_words(db: Connection) -> None:
    told(db, 5, "hello there, my friend", "Nothing to do.")
    index.keep(db)
    assert all(one.evidence < 0.7 for one in engine.related(db, 1, "hello there my friend"))


def test_an_episode_that_is_gone_is_found_no_more(db: Connection) -> None:
    db.execute("PRAGMA foreign_keys = ON")
    db.execute("DELETE FROM unit_prompts WHERE unit_id = 2")
    db.execute("DELETE FROM work_units WHERE id = 2")
    assert found(db, "coupon rounding") == [4]


def test_forgetting_a_project_leaves_no_word_and_is_made_again(db: Connection) -> None:
    with store.transaction(db):
        forget(db, [1])
    assert db.execute("SELECT count(*) FROM retrieval_postings").fetchone()[0] == 0
    assert index.keep(db) == len(WORK)
    assert found(db, "coupon rounding")[0] == 2


def test_an_index_by_other_rules_or_mostly_of_dead_numbers_is_made_again(db: Connection) -> None:
    db.execute("UPDATE retrieval_projects SET rules = 'old'")
    assert index.keep(db) == len(WORK)
    db.execute("UPDATE retrieval_projects SET last_doc = 1000")
    assert index.keep(db) == len(WORK)


def test_keeping_is_idle_when_nothing_is_due(db: Connection) -> None:
    assert index.keep(db) == 0


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(max_size=300))
def test_any_text_is_a_query(db: Connection, text: str) -> None:
    assert all(0 < one.share <= 1 for one in engine.related(db, 1, text))
