"""A story names the whole request, the state the work was left in, and nothing that was only tried."""

from __future__ import annotations

import pytest

from nmem.episodes.narrate.narrator import narrate
from nmem.episodes.narrate.records import Narrative
from tests.nmem.episodes.narrate.conftest import Story


def test_all_that_the_first_prompt_asks_for_is_wanted(begin: type[Story]) -> None:
    text = "I'd like to release the kettle. Can you:\n- propose a changelog format\n- suggest categories for changes\n"
    told = narrate(begin().user(text + "- generate an example for 1.2").agent("Here is a proposal.").episode())
    assert all(part in told.intent for part in ("changelog format", "suggest categories", "generate an example"))


def test_a_prompt_that_was_sent_too_early_gives_way_to_the_whole_one(begin: type[Story]) -> None:
    story = begin().user("Log when boiling fails").stop()
    told = narrate(story.user("Log when boiling fails. Also count the retries of the pump").edit("boil.py").episode())
    assert "count the retries" in told.intent


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("python3 - <<'EOF'\nfrom pathlib import Path\np = Path('src/boil.py')\np.write_text('x')\nEOF", "src/boil.py"),
        ("cd src && python3 -c \"\nwith open('boil.py', 'w') as f:\n    f.write('x')\"", "src/boil.py"),
        ("sed -i 's/a/b/' src/boil.py", "src/boil.py"),
    ],
)
def test_a_file_that_a_command_writes_is_edited(begin: type[Story], command: str, path: str) -> None:
    told = narrate(begin().user("Make it boil at 90 degrees").shell(command).agent("Done.").episode())
    assert told.files_edited == [path]
    assert "1 changed file not committed" in told.outcome


def test_what_lies_in_a_temporary_folder_is_no_work_of_the_project(begin: type[Story]) -> None:
    story = begin().user("Draft the issue").shell("make draft").write("/tmp/issue-draft.md")
    told = narrate(story.agent("The draft is written.").episode())
    assert told.files_edited == []
    assert told.outcome.startswith("Commands were run; only temporary files were written (issue-draft.md)")


def test_a_trial_that_failed_and_was_thrown_away_is_no_end(begin: type[Story]) -> None:
    story = begin().user("Fix the boil timer").edit("timer.py").shell("pytest", "test", tests={"passed": 77})
    story.write("test_try.py").shell("pytest test_try.py", "test", "failed", response="1 failed", tests={"failed": 1})
    told = narrate(story.shell("rm test_try.py").agent("Fixed the boil timer.").episode())
    assert "tests passed at the end" in told.outcome and "tests_passed" in told.marks
    assert not told.next_steps and "test_try" not in told.obstacle


def test_an_install_that_passed_otherwise_is_told_by_its_call_and_not_learned(begin: type[Story]) -> None:
    def after(*tried: str) -> Narrative:
        story = begin().user("Fix the boil timer")
        for path in tried:
            story.shell(f"pip install -e {path}", "install", "failed", response=f"ERROR: {path} is not valid")
        story.write("test_boil.py").shell("pip install -e .", "install").edit("timer.py")
        return narrate(story.agent("Fixed it.").episode())

    assert after("box", "./box", "/box").learned == []
    assert "then passed as `pip install -e .`" in after("box", "./box", "/box").obstacle
    assert after("box", "./box").obstacle == ""


def test_the_word_on_some_tests_is_no_word_on_all(begin: type[Story]) -> None:
    story = (
        begin()
        .user("Add a flag")
        .edit("cli.py")
        .shell("bun test src/", "test", "failed", response="Cannot find module 'x'")
    )
    story.shell("bun test src/cli.test.ts", "test", tests={"passed": 23}).agent("Done. All cli tests pass.")
    assert "agent's word" not in " ".join(narrate(story.episode()).notes)


def test_how_far_a_request_came_that_nobody_answered(begin: type[Story]) -> None:
    story = (
        begin().user("Remove the stray file").edit("a.py").agent("Removed.").user("clean up and checkout latest main")
    )
    assert narrate(story.episode()).outcome.endswith("is recorded, nothing was done for it")
    story.shell("git switch main && git branch -D tidy", "git_other")
    assert narrate(story.episode()).outcome.endswith("done for it last: git switch main && git branch -D tidy")


def test_a_push_says_where_to(begin: type[Story]) -> None:
    story = begin().user("Push straight to main").edit("a.py").commit("abc1234", "Tidy the tank")
    told = narrate(story.shell("git push -u origin tidy", "git_push", push={"branch": "tidy"}).agent("Done.").episode())
    assert told.outcome == "Committed (abc1234) and pushed to tidy"


def test_a_commit_whose_wrapper_failed_is_told_by_the_agent_s_word(begin: type[Story]) -> None:
    story = (
        begin().user("commit").edit("a.py").shell("wrap git commit -m 'x'", "git_commit", "failed", response="Error")
    )
    told = narrate(story.agent("The commit `18345cf` went through, the wrapper failed.").episode())
    assert told.outcome == "By the agent's word committed (18345cf), although the call failed"


def test_a_fix_that_nobody_ran_is_left_to_try(begin: type[Story]) -> None:
    story = begin().user("The container does not build, please fix it").edit("Containerfile")
    assert "left to the user to try" in narrate(story.agent("Fixed it.\n\nTry again:").episode()).outcome
    story = (
        begin().user("The container does not build, please fix it").edit("Containerfile").shell("make image", "build")
    )
    assert "left to" not in narrate(story.agent("Fixed it.\n\nTry again:").episode()).outcome


def test_commands_are_named_where_they_are_the_work(begin: type[Story]) -> None:
    story = begin().user("Switch to main and drop the stale branch").shell("git switch main", "git_other")
    told = narrate(story.shell("git status", "git_other").agent("Done.").episode())
    assert told.outcome == "Commands were run; no edit of a file was seen"
    assert "Ran: git switch main" in told.completed


def test_subagents_that_were_lost_stand_in_the_way(begin: type[Story]) -> None:
    story = begin().user("Cover every service by tests")
    story.act("task_spawn", "Test the pump", response="9 tests pass.")
    story.act("task_spawn", "Test the tank", response="Session limit reached, resets 6pm")
    assert narrate(story.episode()).obstacle == "1 of 2 subagents brought no result: Session limit reached, resets 6pm"


def test_a_cause_says_more_than_the_request(begin: type[Story]) -> None:
    story = begin().user("Bug: annotated members of a parent class are treated as undocumented").edit("doc.py")
    story.agent(
        "The issue was that annotated members of a parent class were treated as undocumented. "
        "The bug was in get_members in doc.py, which read the child only."
    )
    told = narrate(story.episode())
    assert told.obstacle == "" and any("get_members" in one for one in (*told.notes, *told.learned))


def test_an_answer_in_code_is_quoted_and_a_long_one_told_with_what_it_comes_to(begin: type[Story]) -> None:
    told = narrate(
        begin().user("give me the build command").agent("```bash\ngo build -o kettle\n```\nRun it.").episode()
    )
    assert told.completed == ["Answer: `go build -o kettle`"]
    said = "The data model counts lines and not whose they are. " + "It keeps no origin of any line at all. " * 7
    told = narrate(begin().user("how much effort is this?").agent(said + "This is a medium effort fix.").episode())
    assert "medium effort fix" in told.completed[0]


def test_a_commit_that_was_tried_again_counts_once(begin: type[Story]) -> None:
    story = begin().user("commit it").edit("a.py")
    for _ in range(3):
        story.shell("git commit -m 'Add a cache'", "git_commit", commit={"message": "Add a cache"})
    assert narrate(story.agent("Committed.").episode()).outcome == "Committed"


def test_consent_and_pasted_words_of_the_agent_are_no_objections(begin: type[Story]) -> None:
    story = begin().user("Explain the cache").agent("But the cache is never cleared, and still has old rows.")
    story.user("No I think this is fine. Go on").agent("Then it stays.")
    story.user("Can you clarify this:\n\nBut the cache is still not cleared").agent("It keeps its rows.")
    told = narrate(story.episode())
    assert not told.obstacle
    assert told.notes == []


def test_a_limit_that_broke_the_work_off_is_the_obstacle(begin: type[Story]) -> None:
    story = begin().user("Review the branch").agent("You've hit your monthly spend limit · raise it at example.org")
    told = narrate(story.user("go on").agent("The branch reads well, nothing has to change in it.").episode())
    assert told.obstacle.startswith("A limit or an error of the client broke the work off: You've hit your monthly")
    assert not any("limit" in text for text in told.completed)


def test_a_pasted_document_is_no_plan(begin: type[Story]) -> None:
    text = "# Writing Standards\n\n## Tone\nFriendly.\n\n## Length\nShort.\n\n## Examples\n" + "- Many of them.\n" * 40
    told = narrate(begin().user(text).agent("Noted: the standards are in place for the next texts.").episode())
    assert told.intent == "A document given: Writing Standards"


def test_the_part_of_a_line_that_ran_the_tests_names_them(begin: type[Story]) -> None:
    story = begin().user("Rename it").edit("a_test.go")
    story.shell("sed -i 's/a/b/' a_test.go && go test ./pkg", "test", tests={"passed": 3})
    assert "Passed: go test ./pkg (3 passed)" in narrate(story.agent("Renamed.").episode()).completed


def test_a_command_to_the_client_is_no_request_that_was_left_unanswered(begin: type[Story]) -> None:
    story = begin().user("Add a cache").edit("a.py").agent("The cache is in place for every page.").user("/plan")
    assert "no answer" not in narrate(story.episode()).outcome
    told = narrate(begin().user("Add a cache").edit("a.py").user("/exit").episode())
    assert told.outcome.endswith("no answer to the last request is recorded; done for it last: an edit of a.py")
    assert not any("/exit" in text for text in told.next_steps)


def test_what_failed_and_was_committed_all_the_same_is_no_obstacle(begin: type[Story]) -> None:
    story = begin().user("Add a cache").edit("a.py")
    for _ in range(2):
        story.shell("bun run test", "test", "failed", response="Error: expected 3 rows, got 4")
    red = narrate(story.episode())
    assert red.obstacle.startswith("bun run test failed 2 times (Error: expected 3 rows, got 4)")
    story.shell("bun run test | tail -3", "test", "unknown")
    told = narrate(story.commit("1234567", "Add a cache").agent("Committed.").episode())
    assert not told.obstacle
    assert told.notes == []


def test_a_red_suite_under_a_commit_is_told_with_the_commit(begin: type[Story]) -> None:
    story = begin().user("Add a cache").edit("a.py")
    for _ in range(2):
        story.shell("bun run test", "test", "failed", response="Error: expected 3 rows, got 4")
    told = narrate(story.commit("1234567", "Add a cache").agent("Committed.").episode())
    assert told.obstacle == "bun run test failed 2 times (Error: expected 3 rows, got 4), then the work was committed"


def test_a_line_of_several_checks_that_failed_names_them_all(begin: type[Story]) -> None:
    story = begin().user("Add a cache").edit("a.go")
    story.shell("go build ./... && go test ./...", "test", "failed", families=["build", "test"], response="Error: no x")
    told = narrate(story.agent("The build fails, x is missing in the module.").episode())
    assert told.obstacle.startswith("go build && go test failed once (Error: no x)")


def test_a_rebase_that_went_on_after_a_conflict_has_passed(begin: type[Story]) -> None:
    story = begin().user("Rebase it").edit("a.py")
    story.shell("git rebase origin/main", "git_other", "failed", response="CONFLICT (content): Merge conflict in a.py")
    story.edit("a.py").shell("git add a.py && GIT_EDITOR=true git rebase --continue", "git_other")
    told = narrate(story.agent("The branch is rebased onto main and has one commit.").episode())
    assert "not seen to pass" not in told.obstacle + " ".join(told.notes)


def test_two_commits_of_the_same_minute_whose_files_nobody_saw_are_two(begin: type[Story]) -> None:
    story = begin().user("Generate the client and write the changelog")
    for said in ("Generate the client", "Write the changelog"):
        story.shell(f"make it && git commit -qm '{said}'", "git_commit", commit={"message": said})
    assert narrate(story.agent("Both are in.").episode()).outcome.startswith("2 commits")


def test_a_short_objection_with_words_of_the_agent_is_one(begin: type[Story]) -> None:
    story = (
        begin().user("Mend the parser").edit("a.py").agent("I replaced the wrong import, the parser reads rows again.")
    )
    story.user("Wrong. Use the lexer module for this one.").edit("a.py").agent("The lexer module is used.")
    assert "objected" in narrate(story.episode()).obstacle


def test_a_chain_that_passes_says_nothing_of_other_tests(begin: type[Story]) -> None:
    story = begin().user("Mend billing").edit("a.go")
    story.shell("go test ./billing", "test", "failed", response="--- FAIL: TestTotal: expected 3")
    story.shell("go vet ./... && go build ./cmd", "build", families=["build", "lint", "test"])
    assert "tests_passed" not in narrate(story.agent("The command builds again.").episode()).marks


def test_a_request_that_was_sent_over_the_network_and_failed_is_told(begin: type[Story]) -> None:
    story = begin().user("Deploy it")
    story.shell(
        "curl -X POST https://example.org/deploy", "command", "failed", response="Error: 503 service unavailable"
    )
    assert "curl" in narrate(story.agent("The deployment was refused by the service.").episode()).obstacle


def test_commits_that_only_the_last_words_tell_of_are_told_as_its_word(begin: type[Story]) -> None:
    story = begin().user("Detect references").edit("a.py").agent("All 12 tests pass, lint clean. Commit succeeded.")
    assert narrate(story.episode()).outcome.startswith(
        "By the agent's word committed; 1 changed file not seen in a commit"
    )
    story = begin().user("Ship it").edit("a.py").commit("1234567", "Rebuild the homepage")
    told = narrate(story.agent("Phase 1 shipped. Seven commits total across both phases.").episode())
    assert told.outcome.startswith("Committed (1234567); by the agent's word 7 commits")
    story = begin().user("Where are we?").agent("The branch is three commits ahead of main, nothing else is open.")
    assert "word" not in narrate(story.episode()).outcome


def test_a_question_about_mistakes_is_no_objection(begin: type[Story]) -> None:
    story = begin().user("이 문서를 정리해줘").edit("a.md").agent("정리했습니다.")
    story.user("위와 같은 작업을 전부 수정할 건데 어떤 모델이 잘할까?").agent("실수가 적은 큰 모델을 추천합니다.")
    assert not narrate(story.episode()).obstacle
