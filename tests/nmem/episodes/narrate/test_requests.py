"""Which later requests a story names, what a refusal and a plan left at the end say, and what is no obstacle."""

from __future__ import annotations

from nmem.episodes.narrate.narrator import narrate
from tests.nmem.episodes.narrate.conftest import Story


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
    story.user("look at stove/pot instead, kettle/pot is a fork").agent("Then open the pull request against stove/pot.")
    told = narrate(story.episode()).obstacle
    assert told.endswith("gh repo view kettle/pot, and said: “look at stove/pot instead, kettle/pot is a fork”")


def test_what_was_said_next_is_quoted_as_a_reason_only_where_it_speaks_against(begin: type[Story]) -> None:
    story = begin().user("Why is the tree not clean?").shell("cat ~/.gitignore", outcome="failed", refused="user")
    story.user("using the command line for this should be fine, I guess").agent("It is fine.")
    told = narrate(story.episode())
    assert told.notes == ["The user refused: cat ~/.gitignore"]
    assert told.obstacle == "The user refused 1 tool call: cat ~/.gitignore"
    story = (
        begin().user("Clean up").shell("git stash", "git_other", "failed", refused="user").act("file_read", path="a")
    )
    assert "stash" not in " ".join(narrate(story.user("no, tell me what you need").episode()).notes)


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


def test_a_reply_that_says_little_is_named_with_what_came_of_it(begin: type[Story]) -> None:
    story = begin().user("Add a whistle to the kettle").edit("kettle.py").agent("Added the whistle to kettle.py.")
    story.user("would two kettles on one stove whistle apart?").agent(
        "No, only the first one of the two whistles, whichever boils first."
    )
    story.user("that was the idea, yes").edit("stove.py").agent("Each kettle has a whistle of its own in stove.py.")
    told = narrate(story.episode())
    assert "“that was the idea, yes”, and so: “Each kettle has a whistle of its own in stove.py.”" in told.intent
    asked = "(asked: “would two kettles on one stove whistle apart?”)"
    assert f"Answer: No, only the first one of the two whistles, whichever boils first. {asked}" in told.completed


def test_of_two_requests_on_the_same_the_later_one_stands(begin: type[Story]) -> None:
    story = begin().user("Ask before the kettle boils").edit("ask.py").agent("Added a question to ask.py.")
    story.user('can you word it "Kettle <name> is about to boil, go on?"').edit("ask.py").agent("Worded so.")
    story.user('make it "Kettle <name> boils, go on? [Y/n]" instead').edit("ask.py").agent("Worded so.")
    intent = narrate(story.episode()).intent
    assert 'make it "Kettle <name> boils' in intent
    assert "is about to boil" not in intent


def test_a_request_that_was_refused_was_asked_for(begin: type[Story]) -> None:
    story = begin().user("Write tickets for the stove").write("tickets.md").agent("Wrote tickets.md.")
    story.user("now delegate the tickets 1 to 3 to parallel workers")
    story.act("task_spawn", "Ticket one", "unknown", "Task", refused="user")
    for number in range(3):
        story.user(f"move ticket {number} of the stove to done/{number}").edit(f"done/{number}.md").agent("Moved.")
    assert "delegate the tickets 1 to 3" in narrate(story.episode()).intent


def test_a_form_is_wanted_by_the_line_that_names_its_matter(begin: type[Story]) -> None:
    form = "Mend by the form:\n  instance_id: kettle-7\n  repo: kettle/pot\n  title: [Bug]: Kettle boils dry\n\nAh."
    told = narrate(begin().user(form).edit("kettle.py").agent("Added a switch to kettle.py.").episode())
    assert told.intent == "Mend by the form: Kettle boils dry"
    assert told.title == "Kettle boils dry"
    prose = "Boil it.\n\nsummary: a kettle that is on\n\nThanks."
    assert narrate(begin().user(prose).episode()).intent.startswith("Boil it.")


def test_a_question_is_no_objection_unless_the_answer_grants_it(begin: type[Story]) -> None:
    def told(answer: str) -> str:
        story = begin().user("Track the pots").edit("pots.py").agent("Tracks pots in pots.py.")
        story.user("but we do track several pots, how is that working?")
        return narrate(story.agent(answer).episode()).obstacle

    assert told("Each pot has a number.") == ""
    assert "how is that working?" in told("You're right, only one is tracked.")


def test_what_the_person_says_to_be_broken_is_in_the_way(begin: type[Story]) -> None:
    story = begin().user("Give the stove a timer").edit("stove.py").agent("Added a timer to stove.py.")
    story.user("linting is failing now").edit("stove.py").agent("Shortened a line of stove.py.")
    assert narrate(story.episode()).obstacle.startswith("The user reported an error: linting is failing now")
    story = begin().user("Let the lid close by itself").edit("lid.py").agent("Closes the lid.")
    story.user("Looks good. It still does not stay shut. I push it down and it comes up.").edit("lid.py")
    assert "“It still does not stay shut. I push it down and it comes up.”" in narrate(story.episode()).obstacle


def test_the_goal_is_no_decision(begin: type[Story]) -> None:
    story = begin().user("I want the boil timer kept in the lid, not in the base. Use the lid for all of it.")
    assert not narrate(story.edit("lid.py").agent("Moved the timer to lid.py.").episode()).learned
