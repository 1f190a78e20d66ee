"""Faults that readers who had nothing else found in stories, each as a rule: what they took for true has to be so."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from nmem.episodes.narrate.narrator import narrate
from nmem.episodes.narrate.prose import plain
from nmem.episodes.tally import Seen, Tally
from nmem.read.episodes import outcome_of

if TYPE_CHECKING:
    from tests.nmem.episodes.narrate.conftest import Story


LIMIT = "Session limit reached ∙ resets 6pm"


@pytest.mark.parametrize(
    ("command", "ours"),
    [
        ('cd /tmp && rm -rf t && mkdir t && cd t && git init && git add . && git commit -m "init"', False),
        ('T=$(mktemp -d) && cd "$T" && git init -q && git commit --allow-empty -m init', False),
        ("git -C /private/tmp/trial commit -m x", False),
        ("rm -rf /tmp/trial && git commit -am 'Boil'", True),
        ("cd /tmp && git init t; cd ~/kettle && git commit -am 'Boil'", True),
        ("git commit -F /tmp/message.txt", True),
    ],
)
def test_a_commit_in_a_repository_made_for_a_trial_is_none(begin: type[Story], command: str, ours: bool) -> None:
    story = begin().user("Why is the tree not clean?").edit("kettle.py").shell(command, "git_commit", commit={})
    told = narrate(story.agent("The global ignore file is not read.").episode())
    assert ("committed" in told.marks, told.outcome.startswith("Committed")) == (ours, ours)
    tally = Tally()
    tally.add(Seen((1, 1, 1, "git_commit", None, "ok", 0, '{"commit":{"message":"x"}}', command, *[None] * 5)))
    assert (tally.outcomes["committed"], len(tally.commits)) == (int(ours), int(ours))


@pytest.mark.parametrize("command", ["git checkout -- kettle.py", "git push"])
def test_a_git_command_that_the_person_refused_changes_nothing(command: str) -> None:
    tally, kind = Tally(), "git_push" if "push" in command else "git_other"
    tally.add(Seen((1, 1, 1, "file_edit", "kettle.py", "ok", 0, None, "", *[None] * 5)))
    tally.add(Seen((2, 2, 2, kind, None, "unknown", 0, '{"refused":"user","commit":{}}', command, *[None] * 5)))
    assert not any(tally.outcomes[name] for name in ("reverted", "thrown_away", "committed", "pushed"))


def test_an_error_that_may_come_or_that_a_model_shows_is_not_reported(begin: type[Story]) -> None:
    wishes = (
        "now handle the errors:\n1. if the error is silent, print nothing\n2. if error: print it\n3. otherwise exit"
    )
    story = begin().user("Handle errors as the kettle does").edit("main.go").agent("Handled.").user(wishes)
    model = (
        'please print the help like this example:\n"""\nUsage: kettle boil\n\nError: unknown command: kettle cook\n"""'
    )
    story.edit("main.go").agent("Handled.").user(model).edit("main.go").agent("Printed.")
    told = narrate(story.episode())
    assert not told.obstacle and not told.notes and "error:" not in told.intent
    real = "please print the help\nnow I get this:\nError: unknown command: kettle boil\n  at main.go:3"
    assert "reported an error" in narrate(story.user(real).edit("main.go").agent("Fixed.").episode()).obstacle


def test_a_check_that_failed_stays_in_the_outcome_until_as_much_was_run_again(begin: type[Story]) -> None:
    story = begin().user("Time the kettle").edit("kettle.ts").shell("bun run test", "test", "failed", response="1 fail")
    story.shell("bun test src/ | tail -5", "test", "unknown").shell("bun run typecheck", "lint")
    told = narrate(story.commit("", "time it").agent("All fixes applied.").episode())
    assert told.outcome.startswith("Committed; bun run test failed when it was last seen; the agent at the end")
    assert "typecheck" not in told.outcome
    story.shell("bun test src/kettle.test.ts", "test")
    told = narrate(story.episode())
    assert "bun run test failed when it was last seen; bun test src/kettle.test.ts passed after it" in told.outcome
    assert not {"tests_passed", "tests_failed"} & set(told.marks)
    assert "failed" not in narrate(story.shell("bun run test | tail -3", "test", "unknown").episode()).outcome
    assert "tests passed at the end" in narrate(story.shell("bun run test", "test").episode()).outcome


def test_a_project_s_lint_is_not_answered_by_one_linter_nor_by_tests(begin: type[Story]) -> None:
    story = begin().user("Add a kettle").edit("a.go").shell("mise run lint", "lint", "failed")
    story.shell("git stash && mise run lint; git stash pop", "lint").shell("golangci-lint run ./a", "lint")
    told = narrate(story.shell("mise run test", "test").agent("Added it.").episode())
    assert "tests passed at the end; mise run lint failed when it was last seen" in told.outcome
    assert told.obstacle == "", "a finding that nothing was edited for stopped nobody"
    assert "failed" not in narrate(story.shell("mise run fmt && mise run lint", "lint").episode()).outcome


def test_a_problem_is_told_as_the_agent_names_it_and_never_by_its_remedy(begin: type[Story]) -> None:
    asked = "The kettle fails when it writes its log"
    mended = "Each write is now wrapped so that failures (as ENOENT when `log/` is missing) are logged as warnings."
    told = narrate(begin().user(asked).edit("kettle.ts").agent(f"Applied.\n\n{mended}").episode())
    assert "wrapped" not in told.obstacle
    named = "**Problem**: The log folder is only made in verbose mode, which the timer never enables."
    told = narrate(begin().user(asked).edit("kettle.ts").agent(f"{mended}\n\n{named}").episode())
    assert told.obstacle == ""
    assert told.notes == [f"Cause: {named.removeprefix('**Problem**: ')}"]


def test_work_that_was_handed_on_is_not_told_as_an_answer(begin: type[Story]) -> None:
    story = begin().user("Fix both leaks").act("task_spawn", "Implement the seal", description="Implement the seal")
    story.act("git_other", "git diff -- kettle.go").agent("Both leaks are sealed and checked against the diff.")
    told = narrate(story.episode())
    assert "answered" not in told.marks and told.outcome.startswith("What 1 subagent changed is not counted")
    study = begin().user("Are there leaks?").act("task_spawn", "Assess the seal", description="Assess the seal")
    assert narrate(study.agent("There is none in either of them.").episode()).outcome.startswith("Answered; no file")


def test_files_made_for_a_trial_are_no_work_that_was_undone(begin: type[Story]) -> None:
    story = begin().user("Is the pot tight?").write("pot/leak_test.go").shell("rm pot/leak_test.go")
    told = narrate(story.agent("It is tight at every temperature.").episode())
    assert not told.notes and "abandoned" not in told.marks and "Given up" not in told.outcome
    story.write("zz_tmp_pot_test.go").user("ok, remove the trial").shell("rm zz_tmp_pot_test.go")
    assert not narrate(story.agent("Removed.").episode()).notes
    story = begin().user("Write a guide").write("guide.md").agent("Written.").user("no, remove that again")
    assert narrate(story.shell("rm guide.md").agent("Removed.").episode()).notes[-1] == "Undone (removed): guide.md"


def test_a_list_says_how_much_of_it_is_left_out(begin: type[Story]) -> None:
    said = "The kettle warns its owner when at least one of these conditions holds:\n\n" + "".join(
        f"{n}. cause {n} holds\n" for n in range(9)
    )
    told = narrate(
        begin().user("When does it warn?").agent(said).user("and now?").agent("It never does so now.").episode()
    )
    assert any("cause 2 holds and 6 more" in text for text in told.completed)
    assert "cause 4 holds and 4 more" in narrate(begin().user("When does it warn?").agent(said).episode()).completed[0]
    story = begin().user("Check it").edit("a.py")
    for name in "abcdef":
        story.shell(f"pytest tests/test_{name}.py", "test")
    passed = narrate(story.agent("Checked.").episode()).completed[-1]
    assert passed.endswith("pytest tests/test_f.py and 2 more")


def test_a_last_answer_tells_its_verdict_and_its_turn(begin: type[Story]) -> None:
    half = "The stale value is default behaviour: every shell keeps the status until the next command ends. " * 3
    said = f"Your statement is half right. {half}\n\nBut the prompt is told of the empty line and ignores that.\n"
    told = narrate(begin().user("Is that the shell's own doing?").agent(said).episode()).completed[0]
    assert told.startswith("Answer: Your statement is half right.") and "But the prompt is told of the empty" in told
    said = "All 4 confirmed. Two are real duplicates. Full picture:\n\nThe first one leaves a name in the map."
    assert narrate(begin().user("Are they real?").agent(said).episode()).completed[0] == (
        "Answer: All 4 confirmed. Two are real duplicates. The first one leaves a name in the map."
    )


def test_what_an_answer_tells_is_not_reported_again(begin: type[Story]) -> None:
    said = "The gradient costs next to nothing: 1.8 µs against 1.1 µs for each segment that is drawn."
    story = begin().user("What does a gradient cost?").act("task_spawn", "Analyze it").agent(said)
    told = narrate(story.user("go on then").edit("a.go").agent("Sealed the segment in a.go.").episode())
    assert [text for text in told.completed if "1.8 µs" in text] == [
        f"Answer: {said} (asked: “What does a gradient cost?”)"
    ]


def test_a_wish_that_follows_a_question_belongs_to_the_goal(begin: type[Story]) -> None:
    asked = "The drawing has quite the padding, is that its own or the page's? I don't want any padding. It rains."
    told = narrate(begin().user(asked).edit("window.go").agent("Padding is gone, it was the drawing's own.").episode())
    assert told.intent == asked.removesuffix(" It rains.")


def test_a_lesson_names_something(begin: type[Story]) -> None:
    bare = "The issue was duplication between two nearly identical functions that test."
    story = begin().user("Fix the failing build").edit("pot_test.go")
    assert narrate(story.agent(f"Merged both functions of pot_test.go.\n\n{bare}").episode()).learned == []
    named = "The issue was that the dupl linter counts two tests of `pot_test.go` as one."
    told = narrate(story.agent(f"Merged both functions of pot_test.go.\n\n{named}").episode())
    assert told.learned == [named.replace("`", "")]


def test_an_uncounted_trial_leaves_the_outcome_of_a_page_alone() -> None:
    words = outcome_of('{"committed": 0}', "[]").sentence("2 files changed, no commit seen; tests passed at the end")
    assert words.startswith("2 files changed, no commit seen")
    assert "no commit" not in outcome_of('{"committed": 1}', "[]").sentence("2 files changed, no commit seen")


SYNTAX = 'File "try.py", line 3\nSyntaxError: invalid syntax'
MISSING = "Traceback (most recent call last):\nImportError: No module named kettle"
WRONG = "Traceback (most recent call last):\nTypeError: boil() takes 1 argument"


def test_a_slip_of_a_script_for_the_moment_is_no_obstacle(begin: type[Story]) -> None:
    for said in (SYNTAX, WRONG, "bash: cd: box: No such file or directory"):
        story = begin().user("Add a lid to the kettle").edit("kettle.py").write("try.py")
        story.shell("python try.py", "test", "failed", response=said).edit("try.py").shell("python try.py", "test")
        assert narrate(story.agent("Added the lid.").episode()).obstacle == ""


def test_failures_are_counted_by_their_reason(begin: type[Story]) -> None:
    story = begin().user("Add a lid to the kettle").write("try.py")
    story.shell("python try.py", "test", "failed", response=SYNTAX).edit("try.py")
    story.shell("python try.py", "test", "failed", response=MISSING).shell("python3 try.py", "test").edit("kettle.py")
    for _ in range(2):
        story.shell("python3 try.py", "test", "failed", response=WRONG).edit("kettle.py")
    assert narrate(story.shell("python3 try.py", "test").agent("Added the lid.").episode()).obstacle == (
        "python try.py failed 2 times (TypeError: boil() takes 1 argument), then passed after edits to kettle.py"
    )
    two = begin().user("Add a lid").shell("pytest", "test", "failed", response="E   KeyError: lid").edit("kettle.py")
    two.shell("pytest", "test", "failed", response=WRONG).edit("kettle.py").shell("pytest", "test")
    assert "failed 2 times (the last time: TypeError" in narrate(two.agent("Added it.").episode()).obstacle


def test_a_script_that_could_not_run_again_and_again_is_an_obstacle(begin: type[Story]) -> None:
    story = begin().user("Add a lid to the kettle").edit("kettle.py").write("try.py")
    for _ in range(3):
        story.shell("python try.py", "test", "failed", response=MISSING)
    given_up = narrate(story.edit("try.py").shell("python try.py", "test").agent("Added the lid.").episode())
    assert given_up.obstacle.startswith("python try.py failed 3 times (ImportError: No module named kettle)")
    called = begin().user("Add a lid to the kettle").edit("kettle.py").write("try.py")
    for _ in range(3):
        called.shell("python try.py", "test", "failed", response=MISSING)
    assert narrate(called.shell("python3 try.py", "test").agent("Added the lid.").episode()).obstacle == ""


def test_a_test_that_an_edit_broke_is_an_obstacle_and_the_problem_is_none(begin: type[Story]) -> None:
    story = begin().user("The kettle fails to boil: RuntimeError: dry").edit("kettle.py")
    story.shell("pytest tests/test_lid.py", "test", "failed", response="E   AssertionError: the lid is open")
    story.edit("kettle.py").shell("pytest tests/test_lid.py", "test")
    said = "Fixed it. The problem was that kettle.py read the water level before the sensor had woken up."
    assert narrate(story.agent(said).episode()).obstacle.startswith("pytest tests/test_lid.py failed once")
    first = begin().user("The kettle fails to boil: RuntimeError: dry").edit("kettle.py").agent(said)
    told = narrate(first.episode())
    assert told.obstacle == "" and any("woken up" in one for one in (*told.notes, *told.learned))


def test_the_place_of_a_problem_is_no_obstacle(begin: type[Story]) -> None:
    for place in ("in `kettle.py` at line 12", "in the boil() method in kettle.py lines 12-14"):
        story = begin().user("The kettle fails to boil: RuntimeError: dry").edit("kettle.py")
        assert narrate(story.agent(f"Fixed it. The issue was {place}.").episode()).obstacle == ""


def test_what_the_project_s_own_linter_finds_is_no_failure(begin: type[Story]) -> None:
    story = begin().user("Let pylint ignore paths").edit("pylint/paths.py").write("a.py")
    story.shell("python -m pylint a.py", "lint", "failed", response="a.py:1:0: C0103: bad name (invalid-name)")
    found = story.agent("Paths are ignored.").episode()
    elsewhere = narrate(found)
    own = narrate(replace(found, root="/home/ann/pylint"))
    assert "failed" in elsewhere.outcome
    assert "failed" not in own.outcome and own.obstacle == ""


def test_what_passed_under_another_interpreter_says_so(begin: type[Story]) -> None:
    story = begin().user("Add a lid to the kettle").edit("kettle.py").write("try.py")
    story.shell("cd pots && python try.py", "test", "failed", response=SYNTAX)
    told = narrate(story.shell("cd pots && python3 try.py", "test").agent("Added the lid.").episode())
    assert any(note.endswith("then passed as `python3`") for note in told.notes), told.notes


def test_a_folder_that_was_looked_for_again_and_again_where_it_is_not_stood_in_the_way(begin: type[Story]) -> None:
    story = begin().user("Seal the lid of the kettle").shell("cd kettle && git status", "git_other").edit("lid.py")
    answers = (
        "(eval):cd:1: no such file or directory: kettle",
        "ls: kettle/lid.py: No such file or directory",
        "Path does not exist: kettle/lid.py",
        "python: can't open file 'kettle/try.py': [Errno 2] No such file or directory",
    )
    for answer in answers:
        story.shell("cd kettle && ls", outcome="failed", response=answer)
    assert narrate(story.agent("Sealed.").episode()).obstacle == "", "a few slips"
    story.shell("ls kettle", outcome="failed", response="ls: kettle: No such file or directory").agent("Sealed.")
    lost = "The agent lost track of its folder: 5 calls looked for kettle where it was not"
    assert narrate(story.episode()).obstacle == lost
    quiet = begin().user("Seal the lid").edit("lid.py")
    for count in range(5):
        quiet.shell(f"find kettle -name '*{count}' | head", response="find: kettle: No such file or directory")
    assert narrate(quiet.agent("Sealed.").episode()).obstacle == "", "calls that end well count half"
    quiet.shell("python kettle/try.py | tail -3", "test", "unknown", response="python: can't open file 'kettle/try.py'")
    assert narrate(quiet.agent("Sealed.").episode()).obstacle == lost.replace("5 calls", "6 calls")
    built = begin().user("Seal the lid").edit("lid.py")
    for _ in range(6):
        built.shell("make test", "test", response="cat: VERSION: No such file or directory\n3 passed")
    assert narrate(built.agent("Sealed.").episode()).obstacle == "", "the command names no such file"
    other = begin().user("Seal the lid").edit("lid.py")
    for name in ("a", "b", "c", "d", "e"):
        other.shell(f"ls {name}", outcome="failed", response=f"ls: {name}: No such file or directory")
    assert narrate(other.agent("Sealed.").episode()).obstacle == "", "a look for five things"


def test_tests_of_the_project_of_which_none_could_run_stood_in_the_way(begin: type[Story]) -> None:
    story = begin().user("Seal the lid of the kettle").edit("lid.py").write("try_lid.py")
    story.shell("python -m pytest tests | head", "test", "unknown", response="/opt/bin/python: No module named pytest")
    story.shell("cd tests && python run.py", "test", "failed", response="cd: no such file or directory: tests")
    story.shell("python try_lid.py", "test", response="sealed").edit("pot.py")
    told = narrate(story.agent("Sealed.").episode())
    assert told.obstacle == "The project's tests could not be run (python: No module named pytest)"
    assert "a script written for this (python try_lid.py) passed before the last edits of pot.py" in told.outcome
    assert "; the project's tests could not be run" in told.outcome
    own = narrate(story.agent("All tests pass.").episode())
    assert "could not be run" in own.obstacle and "could not be run" not in own.outcome, "the agent says otherwise"
    story.shell("python3 -m pytest tests", "test", "failed", response="1 failed", tests={"failed": 1})
    told = narrate(story.agent("Sealed.").episode())
    assert "could not" not in told.outcome + told.obstacle, "another interpreter ran them"


@pytest.mark.parametrize(
    ("command", "outcome", "answer", "more", "barred"),
    [
        ("python -m check", "unknown", "No test runner found", {}, True),
        ("bash run_tests.sh", "ok", "tput: command not found", {}, False),
        ("make test", "unknown", "ruff: command not found", {"tests": {"passed": 3}}, False),
    ],
)
def test_tests_that_ran_beside_something_that_is_missing_could_run(
    begin: type[Story], command: str, outcome: str, answer: str, more: dict[str, object], barred: bool
) -> None:
    story = begin().user("Seal the lid").edit("lid.py").shell(command, "test", outcome, response=answer, **more)
    told = narrate(story.agent("Sealed.").episode())
    assert ("could not be run" in told.obstacle) is barred


@pytest.mark.parametrize(
    ("end", "chose"),
    [
        ("=========== 860 deselected in 6.47s ============", False),
        ("860 deselected, 2 warnings in 6.47s", False),
        ("no tests ran in 0.01s", False),
        ("========= 1 deselected, 1 error in 0.30s =========", True),
    ],
)
def test_a_run_that_chose_no_test_says_nothing_of_the_work(begin: type[Story], end: str, chose: bool) -> None:
    story = begin().user("Seal the lid of the kettle").edit("lid.py").shell("pytest tests/test_lid.py", "test")
    told = narrate(story.shell("pytest tests -k lids", "test", "failed", response=end).agent("Sealed.").episode())
    assert ("tests passed at the end" in told.outcome) is not chose


@pytest.mark.parametrize(
    ("said", "word"),
    [
        ("Great! All tests pass. Now the notes.", True),
        ("All 12 tests pass, 0 failed.", True),
        ("The tests should pass now.", False),
        ("Let me make sure all tests pass.", False),
        ("Do all tests pass?", False),
        ("Waiting for the tests to pass.", False),
        ("Only 3 of 12 tests pass.", False),
        ("The lid looks fine. So does the pot. And so all tests pass.", False),
    ],
)
def test_what_the_agent_said_right_after_a_run_that_was_not_seen_is_its_word(
    begin: type[Story], said: str, word: bool
) -> None:
    for outcome in ("unknown", "failed"):
        story = begin().user("Seal the lid").edit("lid.py").shell("pytest 2>&1 | tail -3", "test", outcome)
        told = narrate(story.agent(said, "thinking").agent("The lid is sealed.").episode())
        seen = outcome == "failed"
        assert ("the agent said that tests pass" in told.outcome) is (word and not seen)
        assert ("their result was not seen" in told.outcome) is not (word or seen)


@pytest.mark.parametrize(
    ("answers", "told"),
    [
        (("The kettle is sealed.", LIMIT), "2 subagents last, 1 of them brought a result: The kettle is sealed"),
        ((LIMIT, LIMIT), "2 subagents last, 0 of them brought a result;"),
        (("Async agent launched successfully", ""), "a subagent last, its result was not seen"),
        (("The pot is sealed.",), "a subagent last, this came of it: The pot is sealed"),
    ],
)
def test_subagents_that_a_session_ends_with_are_told_with_those_that_brought_nothing(
    begin: type[Story], answers: tuple[str, ...], told: str
) -> None:
    story = begin().user("Seal all lids")
    for answer in answers:
        story.shell("Seal one", "task_spawn", "unknown", response=answer)
    assert f"work was handed to {told}" in f"{narrate(story.episode()).outcome};"


def test_a_line_that_was_not_finished_is_no_obstacle_and_a_test_that_failed_is(begin: type[Story]) -> None:
    for why, told in (("lid.go:14:2: undefined: regexp", False), ("--- FAIL: TestLid (0.00s)", True)):
        story = begin().user("Seal the lid").edit("lid.go").edit("pot.go")
        story.shell("go test ./...", "test", "failed", response=why).edit("lid.go").shell("go test ./...", "test")
        assert bool(narrate(story.agent("Sealed.").episode()).obstacle) is told


def test_yes_but_objects_also_as_a_question(begin: type[Story]) -> None:
    story = begin().user("Cut the long prompt so that the steps are shown").edit("list.go").agent("It is cut now.")
    story.user("yeah but it should show the steps, right?").edit("list.go").agent("The steps are shown.")
    assert narrate(story.episode()).obstacle == "The user objected: “yeah but it should show the steps, right?”"
    story = begin().user("Cut the long prompt").edit("list.go").agent("It is cut now.")
    assert narrate(story.user("yeah that looks right").agent("Good.").episode()).obstacle == ""


def test_a_curt_reply_to_a_refused_edit_is_told_with_it(begin: type[Story]) -> None:
    for said, quoted in (("fix the test, the code is right", True), ("its perfect", False)):
        story = begin().user("fix tests").edit("reset.go", refused="user").user(said).edit("reset_test.go")
        told = narrate(story.agent("The tests pass.").episode()).obstacle
        assert told == "The user refused 1 tool call: an edit of reset.go" + f", and said: “{said}”" * quoted


def test_names_with_two_underscores_stay_names(begin: type[Story]) -> None:
    story = begin().user("Read `pots/__init__.py`: what does __kettle__ do?")
    told = narrate(story.agent("It is **only** read by pots__lid-17, because `__init__` sets __kettle__.").episode())
    assert "__init__.py" in told.intent
    assert "pots__lid-17, because __init__ sets __kettle__" in told.outcome + str(told.completed)
    assert plain("__Root cause:__ the __lid of the pot__, not __lid__") == "Root cause: the lid of the pot, not __lid__"


def test_a_check_that_failed_before_any_edit_is_what_the_work_was_for(begin: type[Story]) -> None:
    failed = "--- FAIL: TestLid (0.00s)"
    first = begin().user("fix mise test").shell("mise run test", "test", "failed", response=failed)
    first.edit("lid_test.go").edit("lid.go").edit("pot.go").edit("lid.go").shell("mise run test", "test")
    assert narrate(first.episode()).obstacle == ""
    after = begin().user("Seal the lid").write("lid.go").shell("mise run test", "test", "failed", response=failed)
    after.edit("lid_test.go").edit("lid.go").edit("pot.go").edit("lid.go").shell("mise run test", "test")
    assert narrate(after.episode()).obstacle.startswith("mise run test failed once")


def test_a_subagent_that_was_sent_again_is_not_lost(begin: type[Story]) -> None:
    story = begin().user("Simplify the lid")
    story.shell("Simplify it", "task_spawn", "failed", response="Agent type 'simple' not found")
    assert narrate(story.agent("I call it by its name.").episode()).obstacle.startswith("1 of 1 subagents")
    story.shell("Simplify it", "task_spawn", response="It is simple now.")
    assert narrate(story.edit("lid.py").agent("Simplified.").episode()).obstacle == ""
