"""What is seen of a call before anything is weighed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capture.labels.calls import Call, Seen
from capture.labels.commands import look
from capture.labels.features import features


def call(kind: str, text: str = "", *, tool: str = "Bash", path: str = "", failed: bool = False) -> Call:
    return Call(kind, tool, path, text, failed)


@pytest.mark.parametrize(
    ("command", "heads", "remote"),
    [
        ("git push origin main", ["git push"], True),
        ("cd web && npm run lint:fix 2>&1 | tail -5", ["npm lint:fix"], False),
        ('git commit -m "$(cat <<\'EOF\'\nsay "no" & don\'t\nEOF\n)" && git push', ["git commit", "git push"], True),
        ("curl -s http://localhost:3000/x | jq .", ["curl"], False),
        ("for i in 1 2; do (curl -s http://10.0.0.$i/) & done; wait", ["curl"], True),
        ('echo "$(gh pr view 3 --json title)"', ["gh view"], True),
        ("FOO=1 timeout 60 uv run --with x pytest -q", ["pytest"], False),
        ("# isn't it\ngit -C /x diff --stat", ["git diff"], False),
        ("bash -lc 'cargo add serde'", ["cargo add"], True),
        ("helm lint charts/x", ["helm lint"], False),
        ("go mod tidy", ["go mod"], True),
    ],
)
def test_a_command_is_its_programs_and_where_they_reach(command: str, heads: list[str], remote: bool) -> None:
    seen = look(command)
    assert (list(seen.heads), seen.remote) == (heads, remote)


@pytest.mark.parametrize(
    ("command", "role"),
    [("sed -i s/a/b/ x", "change"), ("sed -n 1,5p x", "read"), ("git branch --merged main", "see"),
     ("git branch -d old", "branch"), ("python3 --version", "see"), ("python3 x.py", "script"), ("bd ready", "see"),
     ("cat a > b", "change"), ("frobnicate --all", "run")],
)  # fmt: skip
def test_a_command_has_a_role(command: str, role: str) -> None:
    assert call("command", command).role == role


def test_tools_of_an_editors_server_are_the_tools_that_they_stand_for() -> None:
    wrapped = call("mcp_call", "acp/Bash command=git push", tool="mcp__acp__Bash")
    assert (wrapped.heads, wrapped.external) == (("git push",), True)
    assert call("mcp_call", "acp/Edit file_path=/a/b.py", tool="mcp__acp__Edit").base == "b.py"


def test_servers_are_told_apart_by_where_they_work() -> None:
    assert not call("mcp_call", "playwright/navigate url=x", tool="mcp__playwright__navigate").external
    assert call("mcp_call", "plugin_docs_context7/query q=x", tool="mcp__plugin_docs_context7__query").external


def test_a_subagent_that_looks_is_not_one_that_does() -> None:
    assert call("task_spawn", "Explore the scheduler", tool="Task").role == "explore"
    assert call("task_spawn", "Implement the audit handler", tool="Agent").role == "delegate"


def test_a_file_to_think_in_is_a_plan() -> None:
    assert call("file_write", "x", tool="Write", path=".claude/plans/otter.md").role == "plan"
    assert call("file_write", "x", tool="Write", path="src/planner.py").role == "write"


def test_features_tell_of_what_came_before() -> None:
    read = call("file_read", tool="Read", path="src/a.py")
    failed = call("test", "pytest -q", failed=True)
    again = features(Seen(call("test", "pytest -q"), (failed, read), "fix it"))
    assert {"again", "again>failed", "retry", "check+unrepaired", "wish:fix", "size:terse"} <= set(again)
    edited = features(Seen(read, (call("file_edit", tool="Edit", path="src/a.py"),), ""))
    assert {"read>edit", "changed", "calm"} <= set(edited)


@given(st.text(max_size=400), st.text(max_size=60), st.text(max_size=80))
def test_any_text_has_features(command: str, path: str, prompt: str) -> None:
    one = call("command", command)
    found = features(Seen(one, (one, call("file_read", tool="Read", path=path)), prompt))
    assert len(found) == len(set(found))
    assert all(isinstance(word, str) and len(word) < 120 for word in found)
