"""Requests and what came of each: answers, complaints, searches in vain, time-outs, probes, commits by the user."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nmem.episodes.narrate.narrator import narrate

if TYPE_CHECKING:
    from tests.nmem.episodes.narrate.conftest import Story


def test_each_requests_answer_is_told(begin: type[Story]) -> None:
    story = (
        begin().user("The export gives up too early, raise its limit").edit("export.toml", "- limit = 30\n+ limit = 90")
    )
    story.agent("Done. Increased the limit from 30 to 90.\n\nYou could also:\n1. Split the export")
    story.user("can you also retry it once?").edit("export.toml", "+ retry = 1")
    story.agent("Done. Added `retry = 1`, which gives you two attempts.")
    story.user("does the importer read the same limit?").act("file_read", path="importer.py")
    story.agent("The importer does not read the limit of the export.\n\n- It has its own")
    told = narrate(story.episode())
    assert "Increased the limit from 30 to 90." in told.completed
    assert any(text.startswith("Added retry = 1") for text in told.completed)
    assert "Answer: The importer does not read the limit of the export." in told.completed
    assert not any("Split the export" in text for text in (*told.completed, *told.learned))


def test_a_turn_that_was_broken_off_is_not_answered_and_nothing_of_it_completed(begin: type[Story]) -> None:
    story = begin().user("Does the importer read the limit of the export?").act("file_read", path="importer.py")
    story.agent("The importer does not read the limit of the export.")
    assert "answered" in narrate(story.episode()).marks
    told = narrate(story.stop().episode())
    assert "interrupted" in told.marks and "answered" not in told.marks
    assert not told.completed
    assert "interrupted by the user" in told.outcome.lower()


def test_after_a_turn_was_broken_off_the_next_one_counts(begin: type[Story]) -> None:
    story = begin().user("Raise the limit of the export").edit("export.toml", "+ limit = 90")
    story.agent("Added a second limit for the importer.", "thinking").agent("Done. Increased the limit to 90.").stop()
    story.user("and retry it once, nothing else").edit("export.toml", "+ retry = 1")
    assert "interrupted" not in narrate(story.episode()).marks, "the last request was not broken off"
    told = narrate(story.agent("Done. Added `retry = 1`, which gives you two attempts.").episode())
    assert "interrupted" not in told.marks
    assert any(text.startswith("Added retry = 1") for text in told.completed)
    assert not any("Increased the limit" in text or "second limit" in text for text in told.completed)


def test_requests_are_named_by_their_work_and_the_last_two_always(begin: type[Story]) -> None:
    story = begin().user("Add a dark theme to the settings page").edit("theme.css").agent("Added it.")
    for number in range(7):
        story.user(f"how would variant{number} look on paper{number}?").agent("Like this.")
    story.user("/design the landing page needs room for a phone").edit("landing.html").edit("landing.css").agent(
        "Redesigned."
    )
    story.user("is there a licence check for vendored fonts?").agent("No.")
    story.user("which browsers do visitors use?").agent("Mostly two.")
    intent = narrate(story.episode()).intent
    assert "/design the landing page" in intent
    assert "vendored fonts?; which browsers" in intent
    assert "variant3" not in intent


def test_a_timeout_is_no_refusal_and_a_prompt_was_waited_for(begin: type[Story]) -> None:
    story = (
        begin().user("Commit it").shell("serve.py", outcome="failed", interrupted=True, response="Listening on 8000")
    )
    story.shell("git commit -m x", "git_commit", "failed", interrupted=True, response="Active session.\nLink it? [Y/n]")
    told = narrate(story.agent("The commit needs an answer.").episode())
    assert not any("refused" in text for text in (*told.notes, told.obstacle))
    assert "waited for an answer: Link it? [Y/n]" in told.obstacle


def test_a_complaint_that_comes_back_is_the_obstacle(begin: type[Story]) -> None:
    story = begin().user("Move the gateway to the new host").edit("gateway.py").agent("Moved the gateway.")
    story.user("the gateway is down").shell("make lint", "lint", "failed", response="error: tabs").edit("gateway.py")
    story.agent("Restarted it.").user("gateway still not online")
    story.edit("gateway.py").agent("The root cause was an expired certificate. Renewed it in gateway.py.")
    told = narrate(story.episode())
    assert told.obstacle.startswith("The user reported it 2 times: “gateway still not online”")
    assert "expired certificate" in told.obstacle


def test_the_same_script_is_the_same_whatever_its_words(begin: type[Story]) -> None:
    story = begin().user("Validate the plan").edit("checks/final.py")
    story.shell("python3 checks/final.py", outcome="failed", description="Run scenarios", response="SyntaxError: bad")
    story.edit("checks/final.py").shell("python3 checks/final.py --all", description="Try again")
    told = narrate(story.agent("Validated.").episode())
    assert any("then passed after edits to final.py" in note for note in told.notes)
    story = begin().user("Add a flag").shell("node /tmp/try.js", outcome="failed", response="Error: no module")
    assert narrate(story.edit("cli.js").agent("Added the flag to cli.js.").episode()).obstacle == ""


def test_a_failing_probe_is_no_obstacle_when_the_turn_succeeds(begin: type[Story]) -> None:
    story = begin().user("Start a worker for the docs").shell("crew add docs")
    story.shell("crew capture docs", outcome="failed", response="error: no agent found").shell(
        "crew capture docs", outcome="failed"
    )
    assert narrate(story.agent("Spawned the docs worker.").episode()).obstacle == ""


def test_what_could_not_be_found_is_the_obstacle_in_the_agent_s_words(begin: type[Story]) -> None:
    story = begin().user("Please clear the timer in `relay/pump.js` at shutdown").act("search", "find . -name pump.js")
    told = narrate(story.agent("I could not find relay/pump.js anywhere.").episode())
    assert told.obstacle == "In the agent's words: I could not find relay/pump.js anywhere"


def test_commits_by_the_user_and_files_elsewhere(begin: type[Story]) -> None:
    story = begin().user("Count the lines").edit("count.py").agent("Counted.")
    story.user("I put it all in one commit, is the latest commit right?").agent("It is.")
    assert narrate(story.episode()).outcome.startswith("1 changed file not seen in a commit")
    told = narrate(begin().user("Plan it").write("/home/ada/.plans/one.md").agent("Planned.").episode())
    assert "uncommitted" not in told.marks
    assert told.outcome == "1 file changed, no commit seen"


def test_a_commit_that_git_shows_is_a_commit(begin: type[Story]) -> None:
    story = begin().user("Count the lines").edit("count.py").agent("Counted.").user("now check it")
    shown = "commit 1a2b3c4\nDate:   2023-11-14 22:13:23 +0000\n\n    count"
    story.shell("git log -1", "git_other", response=shown).edit("count.py").edit("count.py")
    assert "not seen in a commit" in narrate(story.agent("Checked.").episode()).outcome


def test_work_that_a_test_confirms_answers_the_last_request(begin: type[Story]) -> None:
    story = begin().user("Fix the parser test").edit("test_parser.py").shell("pytest", "test", tests={"passed": 3})
    told = narrate(story.episode())
    assert "unfinished" not in told.marks
    assert told.next_steps == []
    assert "unfinished" in narrate(begin().user("Fix the parser test").edit("test_parser.py").episode()).marks


def test_what_was_said_before_a_correction_is_superseded(begin: type[Story]) -> None:
    story = begin().user("Starting fails with an invalid date, why?").act("file_read", path="log.txt")
    story.agent("The root cause is that session names are parsed as dates.")
    story.user("no, none of the names has a date in it").edit("write.py")
    story.agent("The root cause is that records lack a time stamp. Added time stamps in write.py.")
    told = narrate(story.episode())
    assert not any("parsed as dates" in text for text in (*told.learned, told.obstacle))
    assert any("lack a time stamp" in text for text in told.learned)


def test_sentences_end_once_and_links_leave_no_hole(begin: type[Story]) -> None:
    story = begin().user("does https://example.org/docs/limits.md name a limit?").agent("It does.")
    story.user("please write the migration guide").write("guide.md").agent("Wrote guide.md.")
    intent = narrate(story.episode()).intent
    assert "?." not in intent
    story = begin().user("compare the cases in https://example.org/docs/limits.md and tell what differs")
    assert "cases in limits.md and tell" in narrate(story.episode()).intent


def test_a_soft_reset_and_a_new_commit_replace_the_old_ones(begin: type[Story]) -> None:
    story = (
        begin().user("Squash it").edit("a.py").commit("1111111", "part one").edit("a.py").commit("2222222", "part two")
    )
    story.shell("git reset --soft HEAD~2", "git_other").commit("3333333", "the whole")
    told = narrate(story.agent("Squashed.").episode())
    assert told.outcome == "Committed (3333333)"
    assert not any("undone" in note.lower() for note in told.notes)


def test_a_check_before_a_later_edit_is_not_the_end(begin: type[Story]) -> None:
    story = begin().user("Build it").edit("a.py").shell("npm run build", "build").edit("a.py").agent("Changed a.py.")
    assert "npm run build passed before the last edits" in narrate(story.episode()).outcome


def test_what_only_looks_is_no_obstacle_and_what_failed_to_do_something_is(begin: type[Story]) -> None:
    story = begin().user("Deploy the API")
    story.shell("ssh box 'env | grep CHEAP'", outcome="failed", description="Check for keys", response="Error: exit 1")
    story.shell("ssh box 'docker build .'", outcome="failed", description="Build it", response="npm error: no lockfile")
    told = narrate(story.write("package-lock.json").agent("Deployed the API with a lockfile.").episode())
    assert told.obstacle == "ssh (Build it) failed once (npm error: no lockfile) and was not seen to pass"


def test_a_commit_that_was_asked_for_and_only_printed_is_not_seen(begin: type[Story]) -> None:
    story = begin().user("Add a setting").edit("a.py").agent("Added the setting.").user("ok, commit and push")
    told = narrate(story.agent("```\ngit commit -m 'Add a setting' && git push\n```").episode())
    assert told.outcome == "1 changed file not committed; the commit and push asked for last: not seen"
    noun = begin().user("Add a setting").edit("a.py").agent("Added it.").user("which commit broke the parser?")
    assert "not seen" not in narrate(noun.agent("The commit before the release did.").episode()).outcome


def test_what_was_handed_over_and_what_still_runs_is_told(begin: type[Story]) -> None:
    story = begin().user("Flash the device and look for newer firmware")
    story.act("task_spawn", "Look it up", description="Find firmware releases")
    told = narrate(story.agent("18 minutes so far. It can take 20 minutes or more.").episode())
    assert told.completed == ["Handed to subagents: Find firmware releases"]
    assert told.outcome.endswith("something was still running at the end")


def test_a_question_without_words_of_its_own_brings_its_list(begin: type[Story]) -> None:
    said = "Want me to:\n\n1. Add both repositories as submodules\n2. Commit the references\n\nWant me to go ahead?"
    told = narrate(begin().user("I want one workspace for all repositories").agent(said).episode())
    assert "(Add both repositories as submodules; Commit the references)" in told.next_steps[0]


def test_an_answer_is_told_with_the_sentences_that_go_on_with_it(begin: type[Story]) -> None:
    said = "Template keys resolve like methods. A field of the same name wins. The map is asked last."
    story = begin().user("Do template map keys resolve like methods?").agent(f"{said} Shall I write it down?")
    answered = next(one for one in narrate(story.episode()).completed if "resolve like methods" in one)
    assert answered.endswith(said)
