"""What git prints of commits and pushes, in the shapes that clients hand on."""

from __future__ import annotations

import pytest

from capture.extract.git_output import commit, push

COMMIT = """On the way: 3 hooks passed
[feature/x 1a2b3c4] Read the config once
 Date: Thu Oct 9 08:53:20 2025 +0000
 3 files changed, 10 insertions(+), 2 deletions(-)
 create mode 100644 src/a b.py
 rename src/{c.py => d.py} (90%)
"""


def test_commit_with_sizes_and_new_files() -> None:
    assert commit(COMMIT, None, "Read the config once\n\nIt is slow.") == {
        "hash": "1a2b3c4", "branch": "feature/x", "subject": "Read the config once", "files": 3, "insertions": 10,
        "deletions": 2, "new_files": ["src/a b.py"], "message": "Read the config once\n\nIt is slow.",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("line", "name", "branch"),
    [
        ("[main (root-commit) 0a1b2c3] First", "0a1b2c3", "main"),
        ("[detached HEAD 0a1b2c3] Aside", "0a1b2c3", "detached HEAD"),
        ("[main 0a1b2c3d4e] Re: [x] y", "0a1b2c3d4e", "main"),
    ],
)
def test_kinds_of_heads(line: str, name: str, branch: str) -> None:
    found = commit(line, None, "")
    assert (found["hash"], found["branch"]) == (name, branch)


@pytest.mark.parametrize("text", ["", "[WARN main] no", "[1/3] building", "nothing to commit, working tree clean"])
def test_no_commit(text: str) -> None:
    assert commit(text, None, "") == {}


def test_the_last_of_several_commits_stays_and_sizes_are_its_own() -> None:
    found = commit(
        "[a 1111111] one\n 9 files changed, 1 insertion(+)\n[a 2222222] two\n 1 file changed, 3 deletions(-)", None, ""
    )
    assert found == {"hash": "2222222", "branch": "a", "subject": "two", "files": 1, "deletions": 3}


def test_a_quiet_commit_is_told_by_the_client_or_only_by_its_message() -> None:
    told = {"gitOperation": {"commit": {"sha": "8ecff6d", "kind": "amended", "branch": "main"}}}
    assert commit("", told, "Why") == {"hash": "8ecff6d", "branch": "main", "kind": "amended", "message": "Why"}
    assert commit("", {"stdout": ""}, "Why") == {"message": "Why"}
    assert commit("", {"gitOperation": {"commit": None}}, "") == {}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("To github.com:o/r.git\n   1a2b3c4..5d6e7f8  main -> main",
         {"remote": "github.com:o/r.git", "range": "1a2b3c4..5d6e7f8", "branch": "main"}),
        ("To ../r\n * [new branch]      fix/x -> fix/x\nbranch 'fix/x' set up to track 'origin/fix/x'.",
         {"remote": "../r", "branch": "fix/x", "new_branch": True}),
        ("To ../r\n + 1a2b3c4...5d6e7f8 a -> b (forced update)",
         {"remote": "../r", "range": "1a2b3c4...5d6e7f8", "branch": "b", "forced": True}),
        ("To ../r\n ! [rejected]        main -> main (fetch first)\nerror: failed to push some refs to '../r'",
         {"remote": "../r", "branch": "main", "rejected": True}),
        ("Everything up-to-date", {"up_to_date": True}),
        ("", {}),
        ("src/a.py -> src/b.py", {}),
        ("   \n  -> \n", {}),
    ],
)  # fmt: skip
def test_push(text: str, found: dict[str, object]) -> None:
    assert push(text, None) == found


def test_a_quiet_push_is_told_by_the_client() -> None:
    assert push("", {"gitOperation": {"push": {"branch": "main"}}}) == {"branch": "main"}
