"""Which later requests a story names, what a refusal and a plan left at the end say, and what is no obstacle."""

from __future__ import annotations

from nmem.episodes.narrate.narrator import narrate
from tests.nmem.narrate.conftest import Story

_PASTED = "Here is the guide:\n" + "\n".join(
    f"- Rule {number}: keep each line of the guide short" for number in range(30)
)


def test_a_request_below_a_long_paste_is_named(begin: type[Story]) -> None:
    story = begin().user("Move documentation.md to docs").edit("docs/documentation.md").agent("Moved it.")
    story.user(f"{_PASTED}\n\nPlease move this file as well").edit("docs/guide.md").agent("Moved it, too.")
    assert "move this file as well" in narrate(story.episode()).intent


def test_in_an_episode_of_talk_the_questions_are_the_requests(begin: type[Story]) -> None:
    story = begin().user("How are the boiling times of the eggs kept apart per pot?").agent("By the pot's number.")
    story.user("and when two pots share one number, whose time wins then?").agent("The later one's.")
    story.user("thanks").agent("You are welcome.")
    assert "two pots share one number" in narrate(story.episode()).intent


def test_the_answer_is_told_where_only_subagents_worked(begin: type[Story]) -> None:
    story = begin().user("Let two reviewers look at the tide table branch")
    story.act("task_spawn", "Review one", tool="Task").act("task_spawn", "Review two", tool="Task")
    story.agent("Both reviewers ask for changes before the tide table branch is merged.")
    done = narrate(story.episode()).completed
    assert any("Both reviewers ask for changes" in line for line in done)


def test_what_was_said_to_a_refusal_is_the_obstacle(begin: type[Story]) -> None:
    story = begin().user("Describe how the fork gives its work back")
    story.shell("gh repo view kettle/pot", "github", "failed", refused="user")
    story.user("kettle/pot is itself a fork of stove/pot").agent("Then open the pull request against stove/pot.")
    told = narrate(story.episode()).obstacle
    assert "refused" in told and "is itself a fork of stove/pot" in told


def test_a_plan_that_ends_an_episode_is_no_refusal(begin: type[Story]) -> None:
    story = begin().user("Move the guide as well").write("docs/guide.md").agent("A plan is ready.")
    story.act("plan", "# Move the guide\n\nSteps", "failed", "ExitPlanMode", refused="user")
    told = narrate(story.episode())
    assert "plan was put to the user and not carried out here: Move the guide" in told.outcome
    assert "refused" not in told.obstacle and "interrupted" not in told.marks


def test_a_plan_that_is_taken_up_with_a_fresh_context_is_no_refusal(begin: type[Story]) -> None:
    story = begin().user("Move the guide as well").agent("A plan is ready.")
    story.act("plan", "# Move the guide\n\nSteps", "failed", "ExitPlanMode", refused="user")
    story.user("Implement the following plan:\n\n# Move the guide\n\n## Steps\n\n1. Move docs/guide.md")
    told = narrate(story.edit("docs/guide.md").agent("The guide is moved.").episode())
    assert "refused" not in " ".join((told.obstacle, *told.notes))


def test_a_look_at_the_forge_that_passed_again_is_no_obstacle(begin: type[Story]) -> None:
    story = begin().user("Check the pull request of the tide table").shell("gh pr diff 7", "github", "failed")
    story.shell("gh pr diff 7", "github").agent("The pull request only changes the tide table.")
    assert narrate(story.episode()).obstacle == ""


def test_one_reason_is_told_once(begin: type[Story]) -> None:
    story = begin().user("Push both repositories")
    for command in ("git push", "git push origin main"):
        story.shell(command, "git_push", "failed", response="fatal: Permission to kettle/pot denied")
    told = narrate(story.agent("Neither could be pushed.").episode()).obstacle
    assert told.count("Permission to kettle/pot denied") == 1
