"""What stands at the end, as the agent's last words, a wrapper or a shell other than POSIX tell it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from nmem.episodes.narrate import ending, naming
from nmem.episodes.narrate.ledger import Ledger
from nmem.episodes.narrate.narrator import narrate
from nmem.episodes.narrate.prompts import read
from nmem.episodes.narrate.turns import corrections

if TYPE_CHECKING:
    from tests.nmem.episodes.narrate.conftest import Story

HERE = "git add .; git commit -m @'\nfix(pot): seal the lid\n\nIt leaked.\n'@"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Done. Committed all 8 files.", "by the agent's word committed"),
        ("Sealed, committed as `cda00efd` on `next`, and pushed (by my right).", "by the agent's word pushed"),
        ("The commit landed as cda00efd. Not pushed yet.", "by the agent's word committed"),
    ],
)
def test_the_agent_s_word_on_a_commit_or_a_push_is_told(begin: type[Story], said: str, told: str) -> None:
    ended = narrate(begin().user("Seal the lid, then commit").edit("lid.go").agent(said).episode())
    assert told in ended.outcome.lower() and "not seen in" in ended.outcome
    assert ("pushed" in ended.outcome.split("; the agent at")[0]) == ("next" in said)
    asked = begin().user("Seal the lid").edit("lid.go").agent("Sealed.").user("commit and push")
    assert "asked for last" not in narrate(asked.agent("Committed and pushed to main.").episode()).outcome
    plain = begin().user("Seal it").edit("lid.go").agent("Committed files are left alone. The lid is sealed now.")
    assert "word" not in narrate(plain.episode()).outcome


def test_what_belongs_to_a_commit_that_is_there_makes_no_second_one(begin: type[Story]) -> None:
    story = begin().user("Seal the lid").edit("lid.go").commit("1a2b3c4", "Seal the lid").edit("lid.go")
    story.shell("git commit --fixup 1a2b3c4 && git rebase --autosquash HEAD~2", "git_commit")
    assert narrate(story.episode()).outcome.startswith("Committed (1a2b3c4)")
    cut = begin().user("Seal the lid").edit("lid.go").commit("", "Seal the lid of every pot at once").edit("pot.go")
    told = narrate(cut.commit("", "Seal the lid of every…").agent("Sealed the lid in pot.go and lid.go.").episode())
    assert told.outcome.startswith("Committed") and len([one for one in told.completed if "Committed" in one]) == 1


def test_a_powershell_line_is_called_by_its_check_and_its_commit_by_its_subject(begin: type[Story]) -> None:
    lint = 'npx -y markdownlint-cli2 "**/*.md" 2>&1 | Select-Object -Last 4'
    story = begin().user("Lint the pages").edit("a.md").shell(lint, "lint", "failed", response="a.md:9 error MD047: no")
    line = "foreach ($f in 'a.md','b.md') { [IO.File]::AppendAllText($f, \"`n\") }; " + lint
    story.shell(line, "lint").shell(HERE, "git_commit", commit={"message": HERE.partition("-m ")[2]})
    told = narrate(story.episode())
    assert told.outcome.startswith("Committed; markdownlint-cli2 **/*.md passed at the end")
    assert told.completed[0] == "Committed: fix(pot): seal the lid"


def test_tests_that_a_hook_ran_count_by_the_agent_s_word(begin: type[Story]) -> None:
    story = begin().user("Seal it").edit("lid.go").shell("rtk bun run test | tail -3", "test", "unknown")
    story.commit("1a2b3c4", "Seal it").agent("Committed. All pre-commit hooks passed (1309 tests, lint, typecheck).")
    assert "the agent said that tests pass" in narrate(story.episode()).outcome
    clean = begin().user("Seal it").edit("lid.go").shell("mise run lint", "lint", "failed", response="lid.go:1: no lid")
    clean.edit("lid.go").shell("mise run lint | tail -3", "lint", "unknown")
    told = narrate(clean.agent("Clean. The lid is sealed by its own weight.").episode())
    assert told.obstacle == "mise run lint failed once (lid.go:1: no lid), then passed by the agent's word"


def test_what_subagents_changed_is_in_a_commit_that_follows(begin: type[Story]) -> None:
    story = begin().user("Seal all lids").act("task_spawn", "Implement the seal", description="Implement the seal")
    assert "subagent changed" in narrate(story.agent("Sealed.").episode()).outcome
    assert "subagent" not in narrate(story.commit("1a2b3c4", "Seal all lids").episode()).outcome


def test_looking_for_a_command_s_name_runs_none(begin: type[Story]) -> None:
    story = begin().user("Who reset the branch?").shell('git show HEAD:log | grep "git reset --hard"', "git_other")
    assert narrate(story.agent("Nobody did, the log has no reset at all.").episode()).outcome.startswith("Answered; no")
    script = "python3 - <<'E'\nwith open('lid.go') as f:\n    text = f.read()\nold = \"\"\"seal…[+3534]"
    story = begin().user("Seal it").shell(script).agent("The lid is now sealed.")
    assert narrate(story.episode()).outcome.startswith("Scripts were run; what they changed was not seen")


def test_a_refused_call_is_told_with_what_the_person_wrote_into_it(begin: type[Story]) -> None:
    said = "The tool use was rejected. To tell you how to proceed, the user said:\nno new tests"
    story = begin().user("Seal it").act("plan", "ExitPlanMode", "unknown", refused="user", response=said)
    story.user("go").edit("lid.go").agent("Sealed.")
    assert narrate(story.episode()).obstacle == "The user refused 1 tool call: the plan, and said: “no new tests”"
    cut = begin().user("Seal it").act("plan", "ExitPlanMode", "unknown", refused="user", response=f"{said[:-11]}w…[+9]")
    assert narrate(cut.user("go").episode()).obstacle == "The user refused 1 tool call: the plan"
    cut = begin().user("Seal it").act("plan", "ExitPlanMode", "unknown", refused="user", response=f"{said} plea…[+19]")
    assert narrate(cut.user("go").episode()).obstacle.endswith("the plan, and said: “no new tests…”")
    looked = begin().user("Seal it").shell("git ls-tree HEAD: | while read it; do", "git_other", refused="user")
    looked.shell("git ls-tree HEAD: | while read it; do", "git_other", refused="user")
    assert not narrate(looked.user("I have more details: lid 7").edit("lid.go").agent("Sealed.").episode()).obstacle


def test_a_question_by_which_a_fault_came_to_light_stood_in_the_way(begin: type[Story]) -> None:
    story = begin().user("Count the lids").edit("count.go").agent("The count is right: 4617.")
    story.user("why does the page show 582?").agent("The bug is in the design. It counts lids that were there before.")
    told = narrate(story.user("yes").edit("count.go").agent("Counts new lids only.").episode())
    assert told.obstacle == "The user reported an error: why does the page show 582?"
    story = begin().user("wingman.lock should be ignored").edit(".ignore").agent("Added wingman.lock to .ignore.")
    story.user("Sure, but the tool should do so for everybody, not you for this folder").edit("setup.go")
    told = narrate(story.agent("setup.go writes the entry for everybody.").episode())
    assert told.obstacle.startswith("The user objected: “Sure, but") and "Added wingman" not in str(told.completed)


def test_praise_that_asks_for_more_accepts_nothing_and_is_a_request(begin: type[Story]) -> None:
    story = begin().user("Align the rows").edit("row.tsx").agent("Aligned.")
    story.user("Great. Also, sort the rows by their name.").edit("row.tsx").agent("Done. The rows are sorted by name.")
    told = narrate(story.episode())
    assert "accepted" not in told.outcome and "sort the rows by their name" in told.intent
    assert "the user accepted it" in narrate(story.user("Great, thanks!").episode()).outcome


def test_a_goal_has_what_leads_to_the_request_but_no_log(begin: type[Story]) -> None:
    asked = "I picked both kettles as the source. After a click the window shows the pot. [Api] GET /pot. Fix this bug"
    told = narrate(begin().user(asked).edit("window.go").agent("Fixed in window.go.").episode())
    assert told.intent == "I picked both kettles as the source. After a click the window shows the pot. Fix this bug."
    long = "It works now, but a question: I made three pots of one lid and then one more of the other lid in a row... "
    asked = long + "can we show that the lid was open during these? Can you check that a pot has one lid only?"
    assert narrate(begin().user(asked).edit("lid.go").agent("Shown.").episode()).intent == asked


def test_what_should_be_is_a_request_and_a_second_thought_takes_the_first_back(begin: type[Story]) -> None:
    story = (
        begin().user("Promote the pot").edit("pot.tsx").agent("Promoted.").user("commit").commit("1a2b3c4", "Promote")
    )
    story.user("The section should be visible when reaching the tab: .").edit("tab.tsx").agent("Now it always is.")
    assert "The section should be visible" in narrate(story.episode()).intent
    story = begin().user("Hide the start command").edit("start.go").agent("The command is hidden from `--help`.")
    story.user("thinking again: let's remove start.go").shell("rm start.go").agent("Removed start.go completely.")
    assert "hidden" not in " ".join(narrate(story.episode()).completed)


def test_a_prompt_that_is_sent_twice_objects_to_nothing(begin: type[Story]) -> None:
    asked = "The entry lacks tests. Behaviours that should be tested: hidden lids, lids without a pot."
    story = begin().user(asked).edit("lid_test.go").agent("Added seven tests to lid_test.go.").user(asked)
    assert not narrate(story.agent("All 7 pass. Nothing else to do here.").episode()).obstacle


def test_the_agent_s_word_counts_none_that_failed_and_checks_on_a_forge(begin: type[Story]) -> None:
    story = begin().user("Say so at home").edit("home.tsx").shell("bun run test | tail -20", "test", "unknown")
    story.commit("1a2b3c4", "Say so").agent("Commit successful, the hook ran:\n- **Tests**: 1329 pass, 0 fail")
    assert "the agent said that tests pass" in narrate(story.episode()).outcome
    story = (
        begin()
        .user("The run failed, can you check")
        .shell("gh pr checks 7 --repo a/b", "github", "failed", response="runner / vale\tfail\t4s\thttps://a.b/9")
    )
    told = narrate(story.edit("vale.yml").agent("Fixed and green: all 8 checks pass now.").episode())
    assert told.obstacle.endswith("then passed by the agent's word")


def test_a_call_of_what_is_not_there_fails_no_check(begin: type[Story]) -> None:
    story = (
        begin()
        .user("The linter fires")
        .shell("mise run lint:full", "lint", "failed", response="mise ERROR no task lint:full found")
    )
    story.shell("mise run lint", "lint").agent("The linter reports no issues at all in this folder.")
    told = narrate(story.episode())
    assert "failed" not in told.outcome and not told.obstacle


def test_a_file_that_two_tools_name_otherwise_is_one_file(begin: type[Story]) -> None:
    story = begin().user("Add the lid").write("/home/dev/pot/src/lid.go").edit("src/lid.go")
    assert narrate(story.agent("Added.").episode()).files_edited == ["/home/dev/pot/src/lid.go"]


def test_a_test_run_that_was_not_seen_is_told_after_a_formatter_that_passed(begin: type[Story]) -> None:
    story = begin().user("Ask first").edit("ask.go").shell("mise run fmt", "lint").edit("ask.go")
    story.shell("mise run lint && mise run test | tail -9", "test", "unknown").agent("It asks first from now on.")
    assert "tests ran, their result was not seen" in narrate(story.episode()).outcome


def test_a_commit_that_had_to_be_made_again_or_past_its_checks_is_told(begin: type[Story]) -> None:
    story = begin().user("Draw the lid").edit("lid.svg").commit("", "Draw the lid").shell("rm -rf tmp/clone")
    told = narrate(story.commit("", "Draw the lid").agent("Committed. A leftover clone was in the way.").episode())
    assert told.obstacle == "A commit did not go through at first; it was made again after rm -rf tmp/clone"
    assert told.outcome.startswith("Committed")
    twice = begin().user("Draw the lid").edit("lid.svg").commit("", "Draw the lid").commit("", "Draw the lid")
    assert not narrate(twice.agent("Committed.").episode()).obstacle
    story = begin().user("Release it").edit("CHANGELOG.md")
    story.shell("git commit -m 'Release 3'", "git_commit", "failed", response="error: 1 test failed")
    story.shell("git commit -m 'Release 3' --no-verify", "git_commit").agent("Released.")
    assert narrate(story.episode()).obstacle.endswith("then passed as `git commit --no-verify`")


def test_a_prompt_that_is_typed_anew_is_the_goal_and_no_objection(begin: type[Story]) -> None:
    asked = "The logo of the pot is not drawn as it should be."
    story = begin().user(asked).shell("Find the logo", "task_spawn", "unknown", refused="user")
    story.user(f"{asked} It is pot.svg").edit("a.tsx").agent("Drawn from pot.svg.")
    assert not narrate(story.episode()).obstacle
    story = begin().user("/plan I added the logos of the pots and kettles, put these in")
    whole = "I added the logos of the pots and kettles, put them into both tabs"
    assert narrate(story.user(whole).edit("a.tsx").agent("Put in.").episode()).intent.startswith(whole)


def test_a_question_to_the_forge_that_failed_stood_in_no_way(begin: type[Story]) -> None:
    ask = "gh api repos/a/b/contents/c.go?ref=d --jq .content | base64 -d"
    story = begin().user("Review it").shell(ask, "github", "failed", response="base64: error: invalid input")
    assert not narrate(story.agent("The change does as it says in each of its files.").episode()).obstacle
    story = begin().user("Close it").shell("gh api -X PATCH repos/a/b/issues/1", "github", "failed",
                                           response="error: not allowed")  # fmt: skip
    assert "gh api" in narrate(story.agent("It is still open, I may not close it.").episode()).obstacle


def test_a_question_that_was_answered_and_acted_upon_is_not_open(begin: type[Story]) -> None:
    story = (
        begin().user("Review the lid").agent("The seal is dead code.\n\nShould I remove the unused seal() of lid.go?")
    )
    assert narrate(story.episode()).next_steps
    story.user("yes").edit("lid.go").shell("go build ./...", "build").shell(
        "go test ./... | tail -3", "test", "unknown"
    )
    told = narrate(story.agent("No response requested.").episode())
    assert not told.next_steps
    assert "go build ./... passed; tests ran, their result was not seen" in told.outcome
    story = begin().user("Simplify it").act("task_spawn", "Simplify the lid", "failed", description="Simplify the lid")
    story.act("task_spawn", "Simplify the lid", description="Simplify the lid")
    assert "what 1 subagent changed" in narrate(story.agent("Simplified all of it.").episode()).outcome.lower()


def test_a_commit_beside_a_squash_of_another_command_is_one_of_its_own(begin: type[Story]) -> None:
    for line in (
        'git merge --squash pot && git commit -m "Pot"',
        'git commit -am "Pot" && git push && gh pr merge 3 --squash',
        'git commit -m "support --fixup in the pot"',
    ):
        story = begin().user("Seal the lid").edit("lid.go").commit("1a2b3c4", "Seal the lid").edit("pot.go")
        story.shell(line, "git_commit", commit={"hash": "5d6e7f8", "subject": "Pot"})
        assert "2 commits (1a2b3c4, 5d6e7f8)" in narrate(story.episode()).outcome, line


@pytest.mark.parametrize(
    "said",
    ["Sealed. It is ready to be pushed.", "Nothing was committed or pushed.", "It will be pushed by the pipeline.",
     "The branch has 3 commits on top of main.", "Committed nothing.", "Note: committed credentials were found in .env",
     "Everything committed so far was reviewed."],
)  # fmt: skip
def test_what_was_not_committed_or_pushed_is_not_the_agent_s_word(begin: type[Story], said: str) -> None:
    story = begin().user("Seal the lid").edit("lid.go").commit("1a2b3c4", "Seal the lid").agent(said)
    assert "word" not in narrate(story.episode()).outcome
    assert "word" not in narrate(begin().user("Look at the lid").agent(said).episode()).outcome


def test_not_yet_pushed_is_not_pushed(begin: type[Story]) -> None:
    story = begin().user("Seal the lid").edit("lid.go").agent("Committed as abc1234, but not yet pushed.")
    assert "word pushed" not in narrate(story.episode()).outcome


def test_files_of_one_name_in_two_places_are_two(begin: type[Story]) -> None:
    story = begin().user("Say it in both").edit("CLAUDE.md").edit("/home/u/.claude/CLAUDE.md").agent("Said.")
    assert "2 files changed" in narrate(story.episode()).outcome
    tree = Ledger("/home/u/pots")
    for path in ("src/lid.go", "/home/u/pans/src/lid.go", "/home/u/pots/src/lid.go", "lid.go", "/home/u/pots/lid.go"):
        tree.edit(path, "", 0)
    assert list(tree.changes) == ["src/lid.go", "/home/u/pans/src/lid.go", "lid.go"]


def test_two_subjects_of_which_one_begins_the_other_are_two_commits(begin: type[Story]) -> None:
    story = begin().user("Test it").edit("a.go").commit("", "Add tests").edit("b.go")
    assert "2 commits" in narrate(story.commit("", "Add tests for the lid").episode()).outcome


def test_requests_that_begin_alike_are_two(begin: type[Story]) -> None:
    first = "In the module kitchen/pots/lids.py of this repository, rename lid to cover"
    story = begin().user(first).edit("lids.py").agent("Renamed.")
    story.user("In the module kitchen/pots/lids.py of this repository, delete the function seal").edit("lids.py")
    assert "rename lid" in narrate(story.agent("Deleted.").episode()).intent


def test_a_branch_keeps_commits_and_no_edits(begin: type[Story]) -> None:
    story = begin().user("Seal the lid").edit("lid.go").shell("git branch kept && git reset --hard HEAD", "git_other")
    assert "not committed" not in narrate(story.episode()).outcome


def test_a_write_to_the_forge_is_more_than_a_look() -> None:
    assert not naming.looks("gh api", "gh api -XPOST repos/a/b/issues")
    assert not naming.looks("gh api", "gh api a/b -fbody=no") and naming.looks("gh api", "gh api -X GET a/b")


def test_a_mark_of_the_shell_cuts_no_address_and_no_search(begin: type[Story]) -> None:
    for kind, text in (("web_fetch", f"https://a.example/{'lids' * 12}?pot=1&lid=2"), ("search", "lid|pot|pan|" * 6)):
        assert ending.call(begin().user("Seal it").act(kind, text).episode().actions[0]) == text


def test_a_push_that_only_the_agent_tells_of_is_told_where_it_was_asked_for(begin: type[Story]) -> None:
    story = begin().user("push").shell("git status", "git_other").agent("Pushed to origin/main.")
    assert "by the agent's word pushed" in narrate(story.episode()).outcome


def test_a_verb_of_git_is_more_than_a_look_beside_a_search(begin: type[Story]) -> None:
    for line in ("git checkout -b pot && cat README.md", "git merge main && git log | head"):
        told = narrate(begin().user("Get the lid here").shell(line, "git_other").agent("It is here.").episode())
        assert "commands" in told.marks, line


def test_a_complaint_that_comes_back_counts_again(begin: type[Story]) -> None:
    story = begin().user("Seal the lid").edit("lid.go").agent("Sealed.")
    for _ in range(2):
        story.user("No, that still does not work, the lid leaks").edit("lid.go").agent("Tried otherwise.")
        story.user("Look at the pot as well").edit("pot.go").agent("Looked.")
    asks = [read(one.text) for one in story.episode().prompts]
    assert [one.turn for one in corrections(asks)] == [1, 3]


def test_edits_that_failed_again_and_again_stood_in_the_way(begin: type[Story]) -> None:
    story = begin().user("Add the button").edit("page/Lid.tsx", outcome="failed")
    assert not narrate(story.edit("page/Lid.tsx").agent("Added.").episode()).obstacle
    story.edit("page/Lid.tsx", outcome="failed")
    assert narrate(story.agent("Added.").episode()).obstacle == "2 edits of page/Lid.tsx failed"
    story.edit("page/Pot.tsx", outcome="failed").shell("python3 -c 'patch()'")
    assert narrate(story.agent("Added.").episode()).obstacle == "3 edits failed, 2 of them of page/Lid.tsx"
    once = begin().user("Add the button").edit("page/Lid.tsx", outcome="failed")
    assert narrate(once.agent("It stays as it was.").episode()).obstacle == ""


def test_work_that_the_user_broke_off_stood_in_the_way_where_nothing_else_did(begin: type[Story]) -> None:
    story = begin().user("Fix the findings").edit("lid.go").agent("Done.").user("Go on with the rest")
    story.act("task_spawn", "Mend the lid", outcome="unknown", interrupted=True, refused="user")
    assert narrate(story.agent("It was interrupted.").episode()).obstacle == "The user broke off Mend the lid"


def test_a_check_of_some_tests_is_told_as_such_until_all_of_them_pass(begin: type[Story]) -> None:
    story = begin().user("Seal the lid").edit("lid.go").shell("go test ./lid/ -run 'TestLid|TestPot' -v", "test")
    assert "Passed: go test ./lid/ (some tests)" in narrate(story.agent("Sealed.").episode()).completed
    assert "Passed: go test ./lid/" in narrate(story.shell("go test ./lid/", "test").episode()).completed
    for line, told in (
        ("npx vitest --run", "vitest"), ("pnpm --filter web test", "pnpm web test"),
        ("pytest && curl -k https://x.test", "pytest"),
    ):  # fmt: skip
        once = begin().user("Seal the lid").edit("lid.ts").shell(line, "test").agent("Sealed.")
        assert f"Passed: {told}" in narrate(once.episode()).completed
    built = begin().user("Seal the lid").edit("lid.go").shell("go test -c ./lid/ -o /dev/null", "build")
    assert "Passed: go test -c" in narrate(built.agent("Sealed.").episode()).completed
    again = begin().user("Seal the lid").shell("pytest", "test").edit("lid.py").shell("pytest -k lid", "test")
    assert "Passed: pytest (some tests)" in narrate(again.agent("Sealed.").episode()).completed


def test_a_check_in_a_chain_that_passed_ran_after_the_last_edit(begin: type[Story]) -> None:
    story = begin().user("Seal the lid").edit("lid.go").shell("go vet ./...", "lint").edit("lid.go")
    story.shell("go test ./... && go vet ./...", "test", families=["test", "lint"]).agent("Sealed.")
    assert "Passed: go vet ./..., go test ./..." in narrate(story.episode()).completed
    part = begin().user("Seal the lid").shell("pytest", "test", families=["test"]).edit("lid.py")
    part.shell("ruff check && pytest -k lid", "lint", families=["lint", "test"])
    assert "Passed: pytest (some tests), ruff check" in narrate(part.agent("Sealed.").episode()).completed
    other = begin().user("Seal the lid").shell("make", "build", families=["build"]).edit("lid.c")
    other.shell("pytest && cmake --build x", "test", families=["test", "build"])
    assert "Passed, before the last edits: make" in narrate(other.agent("Sealed.").episode()).completed


def test_a_plan_is_told_with_its_reason_also_where_that_begins_with_code(begin: type[Story]) -> None:
    plan = "Implement the following plan:\n\n# Seal the lid\n\n## Context\n\n`seal` leaks when the pot is hot.\n"
    told = narrate(begin().user(plan).edit("lid.go").agent("Sealed.").episode())
    assert told.intent == "Implement the plan: Seal the lid (seal leaks when the pot is hot)"
    code = plan.replace("`seal` leaks", "`npm run build && npm run deploy -- --prod --force`\nThe lid leaks")
    assert read(code).goal == "The lid leaks when the pot is hot."


def test_a_pasted_error_is_told_by_its_message_not_by_its_fence() -> None:
    pasted = (
        "--- FAIL: TestLid (0.01s)\n    --- FAIL: TestLid/hot (0.01s)\n        lid_test.go:7: want shut, got open\nFAIL"
    )
    told = read(f'The lid fails on the runner, not here. This is the error:\n"""\n{pasted}"""').error
    assert told.endswith("This is the error: lid_test.go:7: want shut, got open")
    assert read("The build breaks, here is the tail:\nmake: building\nerror:").error == ""


def test_a_push_that_failed_after_one_that_did_not_is_told(begin: type[Story]) -> None:
    story = begin().user("Ship both").edit("a/lid.py").commit("4cc9573", "Seal the lid").shell("git push", "git_push")
    story.edit("b/pot.py").commit("a3d69ad", "Seal the pot")
    story.shell("git -C ../b push", "git_push", "failed", response="remote: Permission denied")
    assert "the last push failed" in narrate(story.agent("The second was denied.").episode()).outcome
    story.shell("git -C ../b push", "git_push")
    assert "the last push failed" not in narrate(story.episode()).outcome


def test_praise_of_a_find_is_no_approval_and_a_number_after_no_no_objection(begin: type[Story]) -> None:
    story = begin().user("Draw the tides").edit("t.py").agent("There is a zone bug.")
    told = narrate(story.user("Good find. Let each station use its own zone").edit("t.py").agent("Done.").episode())
    assert told.intent.endswith("Good find. Let each station use its own zone.")
    assert corrections([read("Abra a porta"), read("no 2 ja temos a vps e a porta 8000 esta aberta")]) == []


def test_a_request_is_no_report_of_an_error_whatever_the_answer_owns_to(begin: type[Story]) -> None:
    story = begin().user("Assess the issues").agent("Two bugs were found on the way.")
    story.user("You can fix the two bugs as well here.").edit("lid.go").agent("The bug: the mock never stubbed it.")
    assert not narrate(story.episode()).obstacle


def test_what_a_program_said_is_an_error_however_briefly_the_user_reports_it(begin: type[Story]) -> None:
    story = begin().user("Support the pot in a new shell").edit("lid.go").agent("Supported.")
    story.user("I get .: cannot open file `$/home/a/.cache/pot': No such file or directory").edit("lid.go")
    assert "reported an error: .: cannot open file" in narrate(story.agent("Mended.").episode()).obstacle
    seen = begin().user("Support the pot").edit("lid.go").agent("Supported.").user("I see the lid, good, go on with it")
    assert not narrate(seen.edit("lid.go").agent("Went on.").episode()).obstacle


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("but I see the permission denied page when the user logs out, it should say forbidden", ""),
        ("I see that the command not found page of the docs is fine", ""),
        ("I see kettle: command not found", "kettle: command not found"),
        ("now I see permission denied for /srv/pot", "permission denied for /srv/pot"),
        ("still I see this error permission denied", "permission denied"),
        ("I get permission denied when it boils", "permission denied when it boils"),
    ],
)
def test_what_a_person_sees_is_an_error_where_a_program_said_it(text: str, error: str) -> None:
    assert read(text).error == error


def test_a_script_made_for_the_work_is_told_as_one(begin: type[Story]) -> None:
    story = begin().user("Seal the lid").edit("lid.py").write("try_lid.py", "+ print(lid)")
    alone = story.shell("python try_lid.py", "test").agent("Sealed.").episode()
    assert "script written for this (python try_lid.py) passed at the end" in narrate(alone).outcome
    proper = story.shell("pytest", "test", tests={"passed": 4}).agent("Sealed.").episode()
    assert "tests passed at the end" in narrate(proper).outcome


def test_a_script_that_the_agent_has_done_with_is_no_failure_at_the_end(begin: type[Story]) -> None:
    story = begin().user("The pot crashes with an odd lid").write("test_crash.py", "+ raise Lid").edit("lid.py")
    story.shell("pytest tests", "test", tests={"passed": 9})
    story.shell("pytest test_crash.py", "test", "failed", response="RuntimeError: lid")
    open_ = narrate(story.episode())
    assert "pytest test_crash.py still fails" in " ".join(open_.next_steps)
    told = narrate(story.agent("Mended in lid.py. All existing tests pass.").episode())
    assert (told.obstacle, told.next_steps) == ("", [])
    assert "failed" not in told.outcome


def test_a_check_that_names_what_fails_did_not_pass(begin: type[Story]) -> None:
    story = begin().user("Seal the lid").edit("lid.py")
    story.shell("python check.py", "test", tests={"failing": ["no seal found"]}).agent("Sealed.")
    assert "passed" not in narrate(story.episode()).outcome


def test_how_things_were_is_no_work_done(begin: type[Story]) -> None:
    said = (
        "Fixed.\n\n## Bug analysis\nWhere a pot had two lids, pot.py did this, which nobody had wanted:\n"
        "1. Set lid_path in pot.py to the pot\n\n## The fix\n"
    )
    story = begin().user("Two lids break the pot").edit("pot.py").agent(f"{said}- Added a check for lids in pot.py")
    told = narrate(story.episode()).completed
    assert any("Added a check for lids" in one for one in told)
    assert not any("Set lid_path" in one for one in told)


def test_a_repair_that_did_not_do_is_the_obstacle_in_the_agent_s_words(begin: type[Story]) -> None:
    story = begin().user("The lid leaks, mend it").edit("lid.py").shell("pytest | tail -9", "test", "unknown")
    story.agent("The test failed because round lids have no rim. Let me look.", "thinking")
    story.edit("lid.py").shell("pytest | tail -9", "test", "unknown")
    told = narrate(story.agent("The lid holds now. All tests pass.").episode())
    assert told.obstacle == "The test failed because round lids have no rim"
    smooth = begin().user("The lid leaks, mend it").edit("lid.py").shell("pytest | tail -9", "test", "unknown")
    smooth.agent("The test failed because round lids have no rim. That is what we want.", "thinking")
    assert narrate(smooth.agent("The lid holds now.").episode()).obstacle == ""


def test_what_the_work_was_to_mend_is_no_obstacle_and_a_cause_that_was_found_is_a_note(begin: type[Story]) -> None:
    asked = "The pot leaks when two lids are on it: fix this bug"
    said = "Fixed.\n\n**Root cause**: {}\n\n**Fix**: one check in lid.py."
    same = begin().user(asked).edit("lid.py").agent(said.format("The pot leaks when two lids are put on it."))
    assert narrate(same.episode()).obstacle == "" and not narrate(same.episode()).notes
    found = begin().user(asked).edit("lid.py").agent(said.format("The seal counted every rim twice while pressing."))
    told = narrate(found.episode())
    assert told.obstacle == "" and any(
        "The seal counted every rim twice" in one for one in (*told.notes, *told.learned)
    )


def test_a_quick_choice_is_no_decision(begin: type[Story]) -> None:
    menu = (
        "Two ways:\n1. **Quick fix** - Rename the lid in pot.py (30 seconds)\n2. Keep two kinds of lids\n\nWhich one?"
    )
    for pick, kept in (("1", False), ("2", True)):
        story = begin().user("Review the lids").agent(menu).user(pick).edit("pot.py").agent("Done in pot.py.")
        assert any("The user decided" in one for one in narrate(story.episode()).learned) is kept


def test_a_clone_that_was_deleted_at_the_end_is_told(begin: type[Story]) -> None:
    clone = begin().user("Seal the lid").shell("git clone https://git.example.org/pots.git pots").edit("pots/lid.py")
    assert "deleted" not in narrate(clone.agent("Sealed.").episode()).outcome
    assert "the clone pots was deleted after that" in narrate(clone.shell("rm -rf pots").episode()).outcome
    again = clone.shell("git clone https://git.example.org/pots.git pots").agent("Here it is again.")
    assert "deleted" not in narrate(again.episode()).outcome
    own = begin().user("Seal the lid").edit("lid.py").shell("rm -rf /home/ann/pots").agent("Sealed.").episode()
    assert "deleted" not in narrate(replace(own, root="/home/ann/pots")).outcome
    read = begin().user("Seal the lid").shell("git clone -b main https://git.example.org/pots.git pots").edit("lid.py")
    assert "deleted" not in narrate(read.shell("rm -rf pots").agent("Sealed.").episode()).outcome
    inside = begin().user("Seal the lid").shell("git clone https://git.example.org/pots.git pots").edit("lid.py")
    inside.shell("cd pots && make", "build", "failed", response="cd: no such file or directory: pots")
    assert "deleted" not in narrate(inside.shell("rm -rf pots").agent("Sealed.").episode()).outcome


def test_what_could_not_be_imported_again_and_again_is_told_in_all(begin: type[Story]) -> None:
    story = begin().user("Seal the lid").edit("lid.py")
    story.shell("pip install -e .", "install", "failed", response="error: subprocess-exited-with-error")
    for command in ("python -c 'import lid'", "python try.py"):
        story.shell(command, outcome="failed", response="Traceback:\nImportError: No module named _lid")
    told = narrate(story.agent("Sealed.").episode())
    assert told.obstacle == (
        "3 calls failed as something could not be installed, built or imported (ImportError: No module named _lid)"
    )
    assert narrate(story.shell("python -m pytest", "test").agent("Passes.").episode()).obstacle != told.obstacle


def test_a_plan_that_was_not_taken_and_another_mind_of_the_user_are_no_obstacle(begin: type[Story]) -> None:
    story = begin().user("Hide the start command").edit("root.go").agent("Hidden.")
    story.user("thinking again: let's completely remove the start command").edit("root.go").agent("Removed.")
    assert narrate(story.episode()).obstacle == ""


def test_one_slip_of_a_commit_hash_or_of_tidying_up_is_no_obstacle(begin: type[Story]) -> None:
    story = (
        begin()
        .user("Seal the lid")
        .shell("git checkout 1a2b", "git_other", "failed", response="error: pathspec '1a2b'")
    )
    story.shell("git checkout 1a2b3c", "git_other").edit("lid.py").shell(
        "rm old.py", outcome="failed", response="rm: old.py"
    )
    assert narrate(story.shell("rm old.py", outcome="failed").agent("Sealed.").episode()).obstacle == ""


def test_tests_that_could_not_run_say_nothing_of_the_work(begin: type[Story]) -> None:
    story = begin().user("Seal the lid").edit("lid.py")
    for why in ("python: No module named pytest", "ERROR: file not found: tests/test_lid.py") * 2:
        story.shell("python -m pytest tests/test_lid.py", "test", "failed", response=why)
        assert "tests could not run" in narrate(story.agent("Sealed it.").episode()).outcome.lower()
    ran = begin().user("Seal the lid").edit("lid.py")
    missing = "E   FileNotFoundError: [Errno 2] No such file or directory: 'lid.json'"
    ran.shell("python -m pytest tests/test_lid.py", "test", "failed", response=missing)
    assert "could not run" not in narrate(ran.agent("Sealed it.").episode()).outcome, "a file that the work misses"


def test_a_runner_that_is_missing_again_and_again_is_told(begin: type[Story]) -> None:
    story = begin().user("Seal the lid").edit("lid.py")
    for name in ("lid", "pot", "cup", "tea"):
        line = f"python -m pytest tests/test_{name}.py"
        story.shell(line, "test", "failed", response="/opt/bin/python: No module named pytest")
    told = narrate(story.shell("pytest", "test").agent("Sealed.").episode()).obstacle
    assert told.startswith("4 calls failed as something could not be installed, built or imported")


def test_a_script_that_only_shows_something_tests_nothing(begin: type[Story]) -> None:
    story = begin().user("Seal the lid").edit("lid.py").write("test_why.py")
    story.shell("python test_why.py", "test", description="Display why it is sealed")
    assert "passed" not in narrate(story.agent("Sealed.").episode()).outcome


def test_files_that_an_absolute_glob_removed_are_gone(begin: type[Story]) -> None:
    story = begin().user("Seal the lid").edit("lid.py").write("test_a.py").write("test_b.py").write("deep/test_c.py")
    story.shell("rm -rf /tmp/*").shell("rm -f /tmp/*.py").shell("rm -f /home/ann/pots/test_*.py").agent("Sealed.")
    assert narrate(replace(story.episode(), root="/home/ann/pots")).outcome.startswith("2 changed files")
