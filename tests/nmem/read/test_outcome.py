"""How an episode ended is said alike wherever it is shown."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from nmem import database
from nmem.commands.main import nmem
from nmem.episodes import annotate, units
from nmem.episodes.narrations import EXTRACTIVE
from nmem.read import episodes, stories
from nmem.read.episodes import Outcome
from nmem.settle import settle
from nmem_tui.model import now_cards
from nmem_tui.model.story import uncut
from tests.nmem.conftest import Recorded

KEPT = Outcome(tests="failed", commits=1)


def said(*args: str) -> str:
    result = CliRunner().invoke(nmem, args)
    assert result.exit_code == 0, (result.output, result.exception)
    return str(result.output)


@pytest.fixture
def mended(record: Recorded, db_path: str) -> Recorded:
    """A commit in the line that also ran the tests, which is how many agents do it."""
    record.begin("mended").user("The invoice total is doubled, fix it").edit("src/invoice.py")
    record.test("ok", commit={"hash": "abc1234567", "message": "Count coupons once"}).agent("Done and committed.")
    settle(db_path, models=False)
    return record


def test_a_commit_is_told_by_now_the_list_and_the_story(mended: Recorded, db_path: str) -> None:
    with database.reader(db_path) as db:
        current = episodes.current(db, "mended")
        assert current is not None
        story = stories.story(db, current.id)
    assert story is not None and story.narrative is not None
    assert current.outcome == story.row.outcome == Outcome("passed", 1)
    assert "ommitted" in story.narrative.outcome
    now = said("now", "mended")
    assert "outcome\tcommitted, tests pass" in now and "no test result" not in now
    assert "committed, tests pass" in said("episodes")
    assert json.loads(said("show", str(current.id), "--json"))["narrative"]["outcome"] == story.narrative.outcome


def test_an_episode_that_goes_on_is_counted_up_to_now_everywhere(record: Recorded, db_path: str) -> None:
    record.begin("going").user("The invoice total is doubled, fix it").edit("src/invoice.py").test("failed")
    settle(db_path, models=False)
    unit = units.latest(record.db, "going")
    assert unit is not None
    record.db.execute("UPDATE work_units SET state = 'open', ended_at = NULL WHERE id = ?", (unit.id,))
    with database.reader(db_path) as db:
        before = episodes.current(db, "going")
        assert before is not None
        assert before.outcome == Outcome("failed"), "work that goes on is not abandoned"
        record.test("ok").act("command", "make release", commit={"hash": "abc", "message": "x"})
        current, story = episodes.current(db, "going"), stories.story(db, unit.id)
        assert current is not None and story is not None
        assert current.outcome == story.row.outcome == Outcome("passed", 1)
        annotate.update(record.db, unit)
        again = episodes.current(db, "going")
        assert again is not None and again.outcome == current.outcome, "counted once"


@pytest.mark.parametrize(
    ("known", "told", "sentence"),
    [
        (KEPT, "Committed (abc) and pushed; lint passed", "Committed; tests fail; lint passed"),
        (KEPT, "3 changed files not committed; tests passed at the end", "Committed; tests fail"),
        (KEPT, "Committed (abc); the last test run that was seen failed",
         "Committed (abc); the last test run that was seen failed"),
        (KEPT, "", "Committed; tests fail"),
        (Outcome(), "2 commits; tests passed at the end; 3 files changed", "3 files changed"),
        (Outcome("passed", pushed=True), "Pushed; tests passed before the last edits",
         "Pushed; tests passed before the last edits"),
        (Outcome(abandoned=True), "3 files changed", "Abandoned; 3 files changed"),
        (Outcome(abandoned=True, reverted=True), "Given up: all was undone", "Given up: all was undone"),
        (Outcome(), "Given up: every change was undone; x", "X"),
        (Outcome(), "", ""),
        (Outcome(commits=1), "Committed; JWT and cookies agree", "Committed; JWT and cookies agree"),
        (Outcome(commits=1), "Committed; GitHub has the tag", "Committed; GitHub has the tag"),
        (Outcome(commits=1), "Committed; Padding is gone", "Committed; padding is gone"),
    ],
)  # fmt: skip
def test_a_story_s_end_says_nothing_against_what_is_known(known: Outcome, told: str, sentence: str) -> None:
    assert known.sentence(told) == sentence


def test_a_few_tests_that_passed_do_not_end_a_page_whose_suite_had_failed(record: Recorded, db_path: str) -> None:
    record.begin("few").user("Time the kettle").edit("kettle.py")
    record.act("test", "pytest", None, "failed", response="1 failed")
    record.act("test", "pytest tests/test_lid.py").agent("The kettle is timed by its lid.")
    settle(db_path, models=False)
    with database.reader(db_path) as db:
        found = stories.story(db, 1)
    assert found is not None and found.narrative is not None and found.row.outcome.tests == ""
    assert "pytest failed when it was last seen" in found.narrative.outcome
    assert "tests pass" not in found.narrative.outcome.partition("; the agent")[0]


def test_work_that_was_answered_for_is_not_abandoned_for_a_test_that_failed_last(
    record: Recorded, db_path: str
) -> None:
    record.begin("red").user("Time the kettle").edit("kettle.py").act(
        "test", "pytest", None, "failed", response="1 failed"
    )
    record.agent("The kettle is timed; one old test fails for want of a pot.")
    settle(db_path, models=False)
    with database.reader(db_path) as db:
        found = stories.story(db, 1)
    assert found is not None and found.narrative is not None
    assert found.narrative.outcome.startswith("The last test run that was seen failed; 1 changed file not committed")


def test_the_last_words_of_a_page_are_not_those_of_a_client(record: Recorded, db_path: str) -> None:
    record.begin("silent").user("Time the kettle").edit("kettle.py").agent("Timed in kettle.py.")
    record.user("and the pot").edit("pot.py").agent("No response requested.")
    asks = f"It leaks{' and drips' * 400}. Shall I seal the pot?"
    record.begin("asked").user("Look at the pot").edit("lid.py").agent(asks).user("yes")
    record.edit("pot.py").agent("No response requested.")
    settle(db_path, models=False)
    with database.reader(db_path) as db:
        number = db.execute("SELECT id FROM work_units WHERE session_id = 'silent'").fetchone()[0]
        found = stories.story(db, number)
    assert found is not None and (found.last_words, found.answered) == ("Timed in kettle.py.", "")
    assert said("show", str(3 - number)).count("You answered: “yes”") == 1


def test_a_later_request_that_has_a_semicolon_is_one_request(record: Recorded, db_path: str) -> None:
    record.begin("later").user("Add a retry to the uploader").edit("src/uploader.py").agent("Added a retry.")
    record.user("also write a guide for the uploader's retry; keep the old names in it").edit("src/uploader.py")
    record.agent("Wrote the guide.")
    settle(db_path, models=False)
    assert units.of_session(record.db, "later")[1:] == []
    with database.reader(db_path) as db:
        found = stories.story(db, 1)
    assert found is not None and found.narrative is not None
    assert found.narrative.requests == (
        "Add a retry to the uploader.", "also write a guide for the uploader's retry, keep the old names in it.",
    )  # fmt: skip


def test_a_page_tells_each_thing_once() -> None:
    quote = "the agent at the end: “Padding is gone. It was drawn by window.go”"
    ended = f"Tests passed at the end; {quote}; the user accepted it"
    stated = "The agent reported: Padding is gone. It was drawn by window.go, and the margin went with the shadow."
    decided = "The user corrected: “no margin either”"
    assert stories.once(
        ended, "The problem itself: padding was drawn twice by window.go", (stated, "Edited window.go"),
        (decided, "Padding was drawn twice by window.go."), ("User correction: “no margin either”", "lint failed once"),
    ) == (
        "Tests passed at the end; the user accepted it", (stated, "Edited window.go"), (decided,), ("lint failed once",)
    )  # fmt: skip
    assert stories.once(ended, "", ("The agent reported: Padding is gone.",), (), ()) == (ended, (), (), ())
    count = f"4 changed files not committed; {quote}"
    assert stories.once(count, "", (stated,), (), ()) == (count, (stated,), (), ()), "a count alone is no end"


def test_a_summary_tells_the_same_end(mended: Recorded, db_path: str) -> None:
    mended.db.execute("UPDATE work_units SET outcomes = json_set(outcomes, '$.tests', 'failed')")
    with database.reader(db_path) as db:
        found = stories.story(db, 1)
    assert found is not None and found.narrative is not None and found.narrative.narrator == EXTRACTIVE
    assert found.narrative.outcome in found.narrative.summary
    assert "tests passed" not in found.narrative.summary


def test_a_story_shows_the_last_answer_line_by_line_and_no_endless_one(record: Recorded, db_path: str) -> None:
    answer = "All **clean**:\n\n```py\n```\n1. `a.py`: keeps cents\n- the rest is [here](https://x.test/a)"
    record.begin("last").user("The invoice total is doubled, fix it").edit("a.py").agent("first").user("and b.py")
    record.edit("b.py").agent(answer)
    record.begin("long").user("Explain the invoice total").agent("word " * 600).act("command", "ls")
    settle(db_path, models=False)
    with database.reader(db_path) as db:
        numbers = {row[0]: row[1] for row in db.execute("SELECT session_id, id FROM work_units")}
        long = stories.story(db, numbers["long"])
    page = said("show", str(numbers["last"]))
    assert page.split("last words\n")[1].split("\n\n")[0] == "All clean:\n1. a.py: keeps cents\n- the rest is here"
    assert long is not None
    assert 800 < len(long.last_words) <= 900 and long.last_words.endswith("…")


def test_a_page_with_the_last_words_does_not_quote_them_in_its_end(record: Recorded, db_path: str) -> None:
    record.begin("twice").user("Why is the invoice total doubled? Fix it").edit("src/invoice.py").test("ok")
    record.agent("Coupons were counted once for each line of the invoice; the total is right again.")
    settle(db_path, models=False)
    with database.reader(db_path) as db:
        found = stories.story(db, 1)
    assert found is not None and found.narrative is not None
    assert "the agent at the end: “Coupons were counted" in found.narrative.outcome
    for page in (said("show", "1"), "\n".join("".join(text for text, _ in line) for line in uncut(found, None, 0))):
        assert page.count("Coupons were counted") == 2, "the last words and the dialogue"


def test_a_branch_that_is_set_anew_takes_no_commit_of_the_work_back(record: Recorded, db_path: str) -> None:
    record.begin("picked").user("Group the invoice commits").edit("src/invoice.py")
    record.test("ok", commit={"hash": "abc1234567", "message": "Count coupons once"})
    record.act("git_other", "git checkout -q shop && git reset -q --hard rewritten").agent("The commits are grouped.")
    settle(db_path, models=False)
    assert "outcome\tcommitted, tests pass" in said("now", "picked")
    assert "outcome\tCommitted" in said("show", "1")


def test_edits_after_the_commit_and_the_tests_are_told_in_the_short_end_as_in_the_story(
    record: Recorded, db_path: str
) -> None:
    record.begin("later").user("The invoice total is doubled, fix it").edit("src/invoice.py")
    record.test("ok", commit={"hash": "abc1234567", "message": ""}).edit("src/coupon.py").agent("Also the coupon.")
    settle(db_path, models=False)
    short = "committed, edited since, tests passed before the last edits"
    assert short in said("episodes") and f"outcome\t{short}" in said("now", "later")
    with database.reader(db_path) as db:
        found, current = stories.story(db, 1), episodes.current(db, "later")
    assert found is not None and found.narrative is not None and current is not None
    assert "tests passed before the last edits" in found.narrative.outcome
    assert found.row.outcome == current.outcome == Outcome("passed", 1, edited=True, untested=True)
    badge = "".join(text for text, _ in now_cards.outcome(found.row.outcome))
    assert badge == "~ tests passed before the last edits · ✓ 1 commit, edited since"
    handed = said("handoff", "1")
    assert f"At the end the records say: {short}." in handed and "1 commit was made." in handed
