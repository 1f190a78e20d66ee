"""What is told is true at that moment: nothing closed is open, nothing absent is named, nothing is cut."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmem.context.episodes import goal
from nmem.context.fold import Checkouts
from nmem.context.places import there
from nmem.context.quiet import quiet
from nmem.sanitize import whole
from tests.nmem.context.conftest import MINUTE, Played

GOAL = "the cart total in shop/cart.py loses a cent when a voucher is used, find out why and fix it"


def todo(played: Played, *boxes: tuple[str, str]) -> None:
    played.hook(
        "PostToolUse", tool_name="TodoWrite", tool_use_id=f"todo{next(played.numbers)}", tool_response={},
        tool_input={"todos": [{"content": text, "status": state, "activeForm": text} for text, state in boxes]},
    )  # fmt: skip


def begun(played: Played, session: str = "a") -> None:
    """A session with a failure and a to-do."""
    played.begin(session)
    played.ask(GOAL)
    played.edit("shop/cart.py")
    todo(played, ("read the cart", "completed"), ("wire into total()", "in_progress"))
    played.fail("python3 -m unittest discover", "FAIL: test_total (checks.test_cart.Total)")


def cleared(played: Played) -> str:
    played.end("clear")
    return played.begin("next", "clear", gap=200)


def test_a_failure_that_another_command_passed_is_not_open(played: Played) -> None:
    begun(played)
    assert "Failed last" in played.hook("SessionStart", source="compact")
    played.edit("shop/cart.py", "b = 1", "b = total(1)")
    played.run("python3 -m pytest -q checks/test_cart.py", "1 passed")
    told = cleared(played)
    assert "Interrupted" in told
    assert "Failed last" not in told
    assert "wire into total" not in told, "an edit has done it"


def test_a_commit_ends_failures_and_todos_and_leaves_nothing_changed(played: Played) -> None:
    begun(played)
    played.run("git commit -am 'Keep the cent'", "[main abc1234] Keep the cent\n 1 file changed")
    played.say("Committed.")
    told = cleared(played)
    assert "Interrupted" in told
    for stale in ("Failed last", "wire into total", "not committed", "Still open"):
        assert stale not in told, stale


def test_a_refused_write_and_a_failed_read_name_no_file(played: Played) -> None:
    begun(played)
    given = {"file_path": "/src/shop/shop/imagined.py"}
    played.hook("PostToolUseFailure", tool_name="Read", tool_input=given, error="File does not exist.", tool_use_id="r")
    played.hook("PostToolUseFailure", tool_name="Write", tool_input={**given, "content": "x"},
                error="The user doesn't want to proceed with this tool use.", tool_use_id="w")  # fmt: skip
    played.say("It cannot be read.")
    assert "imagined" not in cleared(played)
    played.end()
    played.settle()
    played.begin("b")
    assert "imagined" not in played.ask("the voucher total in shop/cart.py and shop/imagined.py is wrong, fix the cart")


def test_a_todo_that_was_committed_is_not_left_by_the_story(played: Played) -> None:
    begun(played)
    played.run("python3 -m pytest -q", "4 passed")
    played.run("git commit -am 'Keep the cent'", "[main abc1234] Keep the cent\n 1 file changed")
    played.say("Committed: the cart keeps the cent.")
    played.end()
    played.settle()
    left = played.database().execute("SELECT next_steps FROM work_units").fetchone()[0]
    assert "wire into total" not in left
    assert "still fails" not in left
    played.begin("b", gap=10 * MINUTE)
    told = played.ask("continue with the cart total, the voucher is still wrong")
    assert "You were working on" in told
    assert "Left open" not in told
    assert "committed" in told


def test_what_an_earlier_story_left_is_told_until_a_later_session_closes_it(played: Played) -> None:
    played.begin("a")
    played.ask(GOAL)
    played.edit("shop/cart.py")
    played.say("The cart rounds now.\n\n## Next steps\n- Wire `round_half()` into shop/basket.py as well")
    played.end()
    played.settle()
    again = "continue with the cart total, the voucher is still wrong"
    played.begin("b", gap=10 * MINUTE)
    assert "Left open" in played.ask(again)
    played.edit("shop/basket.py", "a", "round_half(a)")
    played.begin("c", gap=10 * MINUTE)
    told = played.ask(again)
    assert "Wire" not in told


def test_what_was_taken_back_on_the_way_is_not_told_as_reverted(played: Played) -> None:
    played.begin("a")
    played.ask(GOAL)
    played.edit("shop/cart.py")
    played.run("git checkout -- shop/cart.py")
    played.edit("shop/cart.py", "a", "round_half(a)")
    played.run("git commit -am 'Keep the cent'", "[main abc1234] Keep the cent\n 1 file changed")
    played.say("The cause was `int()`; the cart in `shop/cart.py` rounds half up now.")
    played.end()
    played.settle()
    played.begin("b", gap=10 * MINUTE)
    told = played.ask("continue with the cart total, the voucher is still wrong")
    assert "committed" in told
    assert "reverted" not in told


@pytest.mark.parametrize("prompt", [
    "how do I run the tests?", "How can I start the dev server", "switch to branch feature/cart", "checkout main",
    "Please check out the branch cart in another worktree", "how to install this?",
])  # fmt: skip
def test_a_how_to_question_and_a_switch_are_told_nothing(prompt: str, played: Played) -> None:
    assert quiet(prompt)
    for number in range(3):
        played.fix(f"s{number}")
    played.begin("b", gap=100 * 60 * MINUTE)
    assert played.ask(prompt) == ""


@pytest.mark.parametrize("prompt", [
    "how do we handle retries?", "how does the parser work?", "switch to main and fix the cart", "fix the cart",
    "go to the login page and fix the button", "how do I use the new api to add a cart with two vouchers?", "",
])  # fmt: skip
def test_a_question_about_the_work_is_none_of_these(prompt: str) -> None:
    assert quiet(prompt) == ""


def test_a_file_in_a_worktree_is_the_file_of_this_checkout(played: Played) -> None:
    places = Checkouts("shop")
    places.learn([".worktrees/1/shop/cart.py", ".claude/worktrees/fix/shop/tax.py", "shop/cart.py"])
    assert places.known == {"shop/cart.py", "shop/tax.py"}
    for number in range(3):
        played.begin(f"s{number}")
        played.ask(GOAL)
        played.edit(".worktrees/1/shop/cart.py")
        played.say("The cart rounds half up now.")
        played.end()
    played.settle()
    played.begin("b", gap=100 * 60 * MINUTE)
    told = played.ask("the voucher total in shop/cart.py must never be negative, fix the cart")
    assert "`shop/cart.py`" in told
    assert ".worktrees" not in told


def test_a_file_that_is_gone_is_not_named(played: Played, tmp_path: Path) -> None:
    played.folder = str(tmp_path / "shop")
    (tmp_path / "shop" / "shop").mkdir(parents=True)
    for name in ("cart.py", "gone.py"):
        (tmp_path / "shop" / "shop" / name).write_text("")
    for number in range(3):
        played.begin(f"s{number}")
        played.ask("the voucher total in shop/cart.py and shop/gone.py is wrong, fix the cart")
        played.edit("shop/cart.py")
        played.edit("shop/gone.py")
        played.say("The cart rounds half up now.")
        played.end()
    played.settle()
    (tmp_path / "shop" / "shop" / "gone.py").unlink()
    played.begin("b", gap=100 * 60 * MINUTE)
    told = played.ask("the voucher total in shop/cart.py and shop/gone.py must never be negative, fix the cart")
    assert "`shop/cart.py`" in told
    assert "gone.py`" not in told


def test_at_most_a_few_names_are_looked_for_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []

    def absent(path: str) -> bool:
        looked.append(path)
        return False

    monkeypatch.setattr("os.path.lexists", absent)
    assert there(str(tmp_path), [f"{number}.py" for number in range(100)], 5) == []
    assert len(looked) == 10
    assert there("/not/here", ["a.py", "b.py"], 1) == ["a.py"]


@pytest.mark.parametrize(("intent", "summary", "told"), [
    ("Implement the following plan:", "Merge the lists. Tests passed. Obstacle: x", "“Merge the lists”"),
    ("Implement the following plan:\n\n# Merge the lists", None, "“Merge the lists”"),
    ("Rework the export so that it keeps every row of a report, " + "and more of it " * 20, None,
     "“Rework the export so that it keeps every row of a report”"),
])  # fmt: skip
def test_a_goal_is_whole(intent: str, summary: str | None, told: str) -> None:
    assert goal(intent, summary) == told


@pytest.mark.parametrize(("text", "told"), [
    ("bun run lint failed once (biome check --error-on-w…), then passed", "bun run lint failed once, then passed"),
    ("It was the slice of the rows. And the hea…", "It was the slice of the rows."),
    ("'column':3}],'mess…", ""), ("short and whole", "short and whole"),
    ("One sentence that says it. " + "x" * 200, "One sentence that says it."),
])  # fmt: skip
def test_what_was_cut_is_told_as_far_as_it_is_whole(text: str, told: str) -> None:
    assert whole(text, 120) == told
