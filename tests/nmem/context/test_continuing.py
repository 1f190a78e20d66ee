"""What a session goes on with: told when the prompt, its place or a link says so, and not otherwise."""

from __future__ import annotations

from typing import Any

import pytest

from nmem.context import continuing
from nmem.context.present import Present
from nmem.settle import settle
from nmem.threads import decisions, links_store, steering
from nmem.threads import store as threads_store
from tests.nmem.conftest import MINUTE, Recorded
from tests.nmem.context.conftest import Played

CART = "the cart total in shop/cart.py loses a cent when a voucher is used, find out why and fix it"
SUBJECTS = ("carrier labels", "login captcha", "invoice footer", "stock counter", "mail template", "search facets")


@pytest.fixture
def many(record: Recorded, db_path: str) -> Recorded:
    """Several days of a project, and a session on a branch of its own an hour ago."""
    return record.once("context, many", lambda: _days(record, db_path))


def _days(record: Recorded, db_path: str) -> None:
    for number, subject in enumerate(SUBJECTS):
        record.begin(f"s{number}").user(f"the {subject} of the shop are broken, please repair the {subject}")
        record.agent(f"The {subject} are repaired: the {subject} had a stale default.")
        record.at += 20 * 60 * MINUTE
    record.begin("cart").user("the quokka voucher rounds the cart total down, repair the rounding")
    record.agent("The quokka voucher truncated the total; rounding half up keeps the cent.")
    record.db.execute("UPDATE sessions SET branch = 'main'")
    assert settle(db_path, models=False, clock=lambda: record.at + 24 * 60 * MINUTE) is not None


def asked(record: Recorded, prompt: str, **now: Any) -> Present:
    present = Present(1, "new", record.at + 60 * MINUTE, prompt)
    present.branch, present.cwd = "main", record.db.execute("SELECT cwd FROM sessions WHERE id = 'cart'").fetchone()[0]
    for name, value in now.items():
        setattr(present, name, value)
    return present


def told(record: Recorded, prompt: str, **now: Any) -> str:
    item = continuing.continued(record.db, asked(record, prompt, **now)).item
    return item.text if item else ""


@pytest.mark.parametrize("prompt", ["continue", "again", "still failing", "and what is it on Thursday?"])
def test_a_terse_continuation_is_told_what_was_just_worked_on(many: Recorded, prompt: str) -> None:
    assert "You were working on “the quokka voucher" in told(many, prompt)


@pytest.mark.parametrize(
    "prompt", ["the mail template has a stale default", "add a standard MIT license", "bake a sourdough bread"]
)
def test_a_prompt_about_something_else_is_not_told_the_session_just_before(many: Recorded, prompt: str) -> None:
    assert "quokka" not in told(many, prompt)


def test_the_latest_work_of_a_branch_needs_a_prompt_that_is_about_it(many: Recorded) -> None:
    many.db.execute("UPDATE sessions SET branch = 'rounding' WHERE id = 'cart'")
    later = many.at + 5 * 60 * MINUTE
    for prompt in ("can you review the changes in this branch?", "why did the quokka voucher round down?"):
        assert "quokka" in told(many, prompt, branch="rounding", at=later)
    assert not told(many, "bake a sourdough bread in an iron pot", branch="rounding", at=later)
    assert not told(many, "fix tests", branch="other", at=later), "another branch is another line of work"


def test_a_branch_on_which_most_of_the_work_happens_is_a_trunk(many: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    many.db.execute("UPDATE sessions SET branch = 'next'")
    later = many.at + 5 * 60 * MINUTE
    review = "can you review the changes in this branch?"
    assert "quokka" in told(many, review, branch="next", at=later)
    monkeypatch.setattr(threads_store, "_OFTEN", 5)
    assert not told(many, review, branch="next", at=later)


def links(played: Played) -> list[decisions.Decision]:
    db = played.database()
    try:
        row = db.execute("SELECT max(thread_id) FROM session_threads").fetchone()
        return links_store.decisions_of(db, row[0])
    finally:
        db.close()


def test_a_link_is_decided_when_the_prompt_arrives_and_kept_by_settling(played: Played) -> None:
    played.fix()
    played.begin("b", gap=90 * MINUTE)
    text = played.ask("the quokka fraction of the cart total in shop/cart.py is lost again with a voucher of 10 %")
    assert "You were working on" in text
    (made,) = links(played)
    assert made.linked
    assert made.awaits
    assert set(made.components) == {"evidence", "ratio", "recency"}
    played.settle()
    (kept,) = links(played)
    assert kept.id == made.id
    assert not kept.awaits, "settling has compared the threads with all that is known"
    assert "keywords" in kept.components


def test_settling_mends_a_link_that_the_prompt_made(played: Played) -> None:
    played.fix()
    played.begin("b", gap=90 * MINUTE)
    played.ask("write a poem about the sea and the autumn wind")
    assert not links(played)
    db = played.database()
    db.execute(
        "INSERT INTO episode_links (at, earlier_thread_id, later_thread_id, algorithmic_score, components, decision,"
        """ certainty) VALUES (?, 1, 2, .8, '{"ratio":1}', 'link', 'high')""",
        (played.at,),
    )
    db.close()
    played.settle()
    (mended,) = links(played)
    assert not mended.linked
    assert not mended.awaits


def test_what_a_person_said_of_a_link_awaits_nothing(played: Played) -> None:
    played.fix()
    played.begin("b", gap=90 * MINUTE)
    played.ask("the quokka fraction of the cart total in shop/cart.py is lost again with a voucher of 10 %")
    (made,) = links(played)
    db = played.database()
    from nmem.threads import links_store, outcomes

    outcomes.confirm(db, made.id, False, played.at)
    assert made.later_thread_id not in links_store.unlinked(db)
    db.close()


def test_a_chosen_thread_is_told_of_itself_alone(played: Played) -> None:
    played.fix()
    played.begin("b", gap=90 * MINUTE)
    played.ask("the login page in shop/login.py asks twice for the captcha of the wombat gate, repair that")
    played.read("shop/login.py")
    played.edit("shop/login.py")
    played.say("The wombat gate rendered twice; shop/login.py asks once now. To do: write a test of the gate.")
    played.end()
    played.settle()
    db = played.database()
    steering.continue_next(db, 1, played.at)
    db.close()
    text = played.begin("c") + played.ask("continue with the cart, and mind the login page")
    assert "cart" in text
    assert "wombat" not in text
    assert "login.py" not in text


def test_next_steps_are_told_where_the_prompt_speaks_of_them(played: Played) -> None:
    played.begin("a")
    played.ask("repair the captcha of the wombat gate in shop/login.py")
    played.edit("shop/login.py")
    played.fail("mise run lint --wombat", "E501 wombat gate too long")
    played.say("The gate asks once now.")
    played.end()
    for number, subject in enumerate(SUBJECTS):
        played.begin(f"s{number}")
        played.ask(f"the {subject} of the shop are broken, please repair the {subject}")
        played.say(f"The {subject} are repaired.")
        played.end()
    played.settle()
    db = played.database()
    left = db.execute("SELECT next_steps FROM work_units WHERE session_id = 'a'").fetchone()[0]
    db.close()
    assert "lint" in left
    played.begin("z", gap=72 * 60 * MINUTE)
    text = played.ask("why does mise run lint fail on the wombat gate?")
    assert "mise run lint" in text
    assert "Left to do" in text
    played.begin("y", gap=72 * 60 * MINUTE)
    assert "Left to do" not in played.ask("the stock counter of the shop is wrong")


def test_the_last_commit_is_looked_up(many: Recorded) -> None:
    many.db.execute(
        "UPDATE work_units SET commits = ? WHERE session_id = 'cart'",
        ('[{"hash": "1f2e3d4", "message": "Round vouchers half up", "branch": "main"}]',),
    )
    for prompt in ("can you look at the last commit, can we add a test for it", "was the latest commit tested?"):
        assert "“the quokka voucher" in told(many, prompt)
    many.db.execute("UPDATE work_units SET commits = '[]'")
    assert not told(many, "can you look at the last commit, can we add a test for it", branch="other")


def test_the_comments_on_a_pull_request_are_those_on_what_was_pushed_last(many: Recorded) -> None:
    asks = "can you address the PR comment?"
    assert "mail template" not in told(many, asks)
    number = many.db.execute("SELECT first_prompt_id FROM work_units WHERE session_id = 's5'").fetchone()[0]
    many.db.execute(
        "INSERT INTO observations (session_id, prompt_id, seq, at, tool_name, obs_type, content, outcome, dedup_key)"
        " SELECT session_id, id, 900, at, 'Bash', 'git_push', 'git push', 'ok', 'p' FROM prompts WHERE id = ?",
        (number,),
    )
    assert "search facets" not in told(many, asks), "a day ago, on a trunk: somebody else may have pushed since"
    many.db.execute("UPDATE sessions SET branch = 'facets' WHERE id = 's5'")
    assert "“the search facets" in told(many, asks, branch="facets")
    assert "search facets" not in told(many, asks, branch="labels")


def test_the_branch_that_a_prompt_names_is_looked_up(many: Recorded) -> None:
    many.db.execute("UPDATE sessions SET branch = 'feature/captcha-2' WHERE id = 's1'")
    assert "“the login captcha" in told(many, "rebase `feature/captcha-2`, please")
    assert "login captcha" not in told(many, "rebase feature/captcha-3, please")


def test_a_prompt_that_gives_a_number_goes_on_with_no_other_number(many: Recorded) -> None:
    asks = "review the quokka voucher rounding"
    assert "“the quokka voucher" in told(many, asks)
    assert not told(many, f"{asks} of pull request 7369")
