"""What was undone is never told as done, whichever way it was undone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nmem.episodes import undone
from nmem.episodes.narrate.narrator import narrate
from nmem.episodes.narrate.prose import without_last_words

if TYPE_CHECKING:
    from tests.nmem.episodes.narrate.conftest import Story


@pytest.mark.parametrize(
    ("command", "how"),
    [
        ("git checkout .", "git checkout"),
        ("git checkout -- src/parser.py", "git checkout"),
        ("cd repo && git checkout HEAD -- src", "git checkout"),
        ("git restore src/parser.py", "git restore"),
        ("git restore --staged --worktree .", "git restore"),
        ("git reset --hard", "git reset --hard"),
        ("git reset --hard HEAD && git status", "git reset --hard"),
        ("git stash", "git stash"),
        ('git stash push -m "later"', "git stash"),
    ],
)
def test_an_edit_that_was_undone_is_not_completed(begin: type[Story], command: str, how: str) -> None:
    story = begin().user("Make the parser accept empty rows").edit("src/parser.py").shell(command, "git_other")
    told = narrate(story.agent("Updated src/parser.py to accept empty rows.").episode())
    assert told.files_edited == []
    assert told.completed == []
    assert "abandoned" in told.marks
    assert any(how in note and "src/parser.py" in note for note in told.notes)
    assert told.outcome == f"Given up: every change was undone ({how})"


@pytest.mark.parametrize(
    "command",
    [
        "git checkout main",
        "git checkout -b feature/parser.py-rows",
        "git restore --staged src/parser.py",
        "git reset",
        "git stash list",
        "git clean -n",
        "echo 'git checkout .'",
        "rm -rf build",
        "git checkout -- src/other.py",
    ],
)
def test_what_only_looks_like_undoing_undoes_nothing(begin: type[Story], command: str) -> None:
    story = begin().user("Fix it").edit("src/parser.py").shell(command, "git_other")
    assert narrate(story.episode()).files_edited == ["src/parser.py"]


def test_commits_that_another_branch_keeps_are_not_undone_by_a_reset(begin: type[Story]) -> None:
    story = begin().user("Draw it").edit("a.py").commit("1a2b3c4", "Draw it")
    move = "git branch feat/draw && git reset --hard HEAD~1 && git checkout feat/draw"
    assert narrate(story.shell(move, "git_other").episode()).outcome.startswith("Committed (1a2b3c4)")
    assert not undone.undoes(move) and undone.undoes("git branch -d old && git reset --hard HEAD~1")
    assert undone.undoes("git branch kept && git reset --hard HEAD")


def test_a_failed_or_refused_checkout_undoes_nothing(begin: type[Story]) -> None:
    story = begin().user("Fix it").edit("a.py").shell("git checkout .", "git_other", "failed")
    story.shell("git reset --hard", "git_other", "failed", interrupted=True)
    assert narrate(story.episode()).files_edited == ["a.py"]


def test_what_was_committed_survives_a_checkout_and_loses_only_what_came_after(begin: type[Story]) -> None:
    story = begin().user("Fix it").edit("a.py").commit("1a2b3c4", "Fix a").edit("a.py").edit("b.py")
    told = narrate(story.shell("git checkout .", "git_other").episode())
    assert told.files_edited == ["a.py"]
    assert told.completed[0] == "Committed 1a2b3c4: Fix a"
    assert "uncommitted" not in told.marks


def test_only_the_staged_files_are_safe_after_a_commit(begin: type[Story]) -> None:
    story = begin().user("Fix it").edit("a.py").edit("b.py")
    story.commit("1a2b3c4", "Fix a", 'git add a.py && git commit -m "Fix a"').shell("git checkout .", "git_other")
    assert narrate(story.episode()).files_edited == ["a.py"]


def test_a_popped_stash_is_work_again(begin: type[Story]) -> None:
    story = begin().user("Fix it").edit("a.py").shell("git stash", "git_other").shell("git stash pop", "git_other")
    assert narrate(story.episode()).files_edited == ["a.py"]


def test_a_new_file_survives_checkout_but_not_rm_or_clean(begin: type[Story]) -> None:
    kept = begin().user("Go").write("notes.md").shell("git checkout .", "git_other")
    assert narrate(kept.episode()).files_edited == ["notes.md"]
    for command in ("rm notes.md", "git clean -fd", "git stash -u"):
        gone = begin().user("Go").write("notes.md").shell(command)
        assert narrate(gone.episode()).files_edited == []


def test_deleting_a_file_that_was_there_is_work(begin: type[Story]) -> None:
    told = narrate(begin().user("Remove it").edit("old.py").shell("git rm old.py", "git_other").episode())
    assert told.files_edited == ["old.py"]
    assert "Deleted old.py" in told.completed


def test_reverted_and_reset_commits_are_not_completed(begin: type[Story]) -> None:
    reverted = (
        begin().user("Go").edit("a.py").commit("1a2b3c4", "Faster a").shell("git revert --no-edit HEAD", "git_other")
    )
    reset = begin().user("Go").edit("a.py").commit("1a2b3c4", "Faster a").shell("git reset --hard HEAD~1", "git_other")
    for story in (reverted, reset):
        told = narrate(story.episode())
        assert not any("1a2b3c4" in text for text in told.completed)
        assert told.files_edited == []
        assert any("Faster a" in note for note in told.notes)
        assert "committed" not in told.marks


def test_a_soft_reset_takes_the_commit_and_leaves_the_files(begin: type[Story]) -> None:
    told = narrate(
        begin().user("Go").edit("a.py").commit("1a2b3c4", "a").shell("git reset --soft HEAD~1", "git_other").episode()
    )
    assert told.files_edited == ["a.py"]
    assert "committed" not in told.marks


def test_an_amended_commit_is_one_commit(begin: type[Story]) -> None:
    story = begin().user("Go").edit("a.py").commit("1a2b3c4", "a").edit("a.py")
    told = narrate(story.commit("9f8e7d6", "a, better", 'git commit --amend -am "a, better"').episode())
    assert [text for text in told.completed if text.startswith("Committed")] == ["Committed 9f8e7d6: a, better"]
    assert "uncommitted" not in told.marks


def test_edits_that_cancel_each_other_out_are_no_change(begin: type[Story]) -> None:
    story = begin().user("Try it").edit("a.py", "- x = 1\n+ x = 2").edit("a.py", "- x = 2\n+ x = 1")
    told = narrate(story.episode())
    assert told.files_edited == []
    assert any("edited back" in note for note in told.notes)


def test_a_moved_file_is_told_by_its_new_name(begin: type[Story]) -> None:
    told = narrate(
        begin().user("Move it").edit("docs/a.md").shell("git mv docs/a.md guides/a.md", "git_other").episode()
    )
    assert told.files_edited == ["guides/a.md"]
    assert "Moved docs/a.md to guides/a.md" in told.completed


@pytest.mark.parametrize(
    ("command", "trial"),
    [
        ("cd /tmp/x && git init -q && git commit -m a", True),
        ("git -C /tmp/x -c user.email=a@b commit -m a", True),
        ("(cd /tmp/x && git commit -m a)", True),
        ("git -C /srv/shop commit -m '/tmp/x'", False),
        ("cd /tmp/x && make; cd ~/shop && git commit -m a", False),
        ("(cd /tmp/r; git init); git commit -m real", False),
        ("bash -c 'cd /tmp/x && git commit -m y'", True),
        ("git -c user.email=a@b -C /tmp/x commit -m a", True),
        ('D="$(mktemp -d)"; cd "$D" && git init && git commit -m a', True),
        ('cd "$REPO" && git commit -m "Use mktemp -d"', False),
        ("cd $TMPDIR/x && git commit -m a", True),
    ],
)
def test_a_commit_in_a_folder_for_trials_is_made_elsewhere(command: str, trial: bool) -> None:
    assert undone.elsewhere(command) == trial


def test_last_words_are_taken_out_of_an_outcome() -> None:
    assert without_last_words("The agent at the end: “Fine”; interrupted by the user") == (
        "Interrupted by the user", "Fine",
    )  # fmt: skip
    assert without_last_words("Committed; the agent at the end: “Done”; the user said “no”; cut off") == (
        "Committed; the user said “no”; cut off", "Done",
    )  # fmt: skip
    assert without_last_words("Committed") == ("Committed", "")
