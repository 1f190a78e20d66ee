"""The baseline: twenty lines that anybody could have written."""

from __future__ import annotations

import pytest

from capture.labels.calls import Call, Seen
from nmem.evaluate.labels import verdicts

ACT, CONVERGE, EXTERNAL, NOVEL, FRICTION = range(5)


def call(kind: str, text: str = "", tool: str = "Bash", *, failed: bool = False) -> Call:
    return Call(kind, tool, "", text, failed)


@pytest.mark.parametrize(
    ("kind", "text", "tool", "told"),
    [
        ("file_edit", "x", "Edit", (True, True, False, False, False)),
        ("command", "cat a | head", "Bash", (False, True, False, False, False)),
        ("command", "ls src && make", "Bash", (True, False, False, False, False)),
        ("web_search", "x", "WebSearch", (False, False, True, True, False)),
        ("task_spawn", "Explore the queue", "Task", (False, False, False, True, False)),
        ("task_spawn", "Implement the queue", "Task", (True, True, False, False, False)),
        ("install", "npm install x", "Bash", (True, True, True, False, False)),
        ("command", "curl localhost:3000", "Bash", (True, True, False, False, False)),
        ("mcp_call", "linear/list_issues", "mcp__linear__list_issues", (True, True, True, False, False)),
        ("mcp_call", "serena/find", "mcp__serena__find", (True, True, False, False, False)),
    ],
)
def test_verdicts(kind: str, text: str, tool: str, told: tuple[bool, ...]) -> None:
    assert verdicts(Seen(call(kind, text, tool), (), "")) == told


def test_a_call_after_a_failure_is_friction_and_a_listing_after_a_change_narrows() -> None:
    failed = call("test", "pytest", failed=True)
    assert verdicts(Seen(failed, (), ""))[FRICTION]
    assert verdicts(Seen(call("todo"), (failed,), ""))[FRICTION]
    assert not verdicts(Seen(call("todo"), (call("todo"), failed), ""))[FRICTION]
    assert verdicts(Seen(call("command", "ls"), (call("file_edit", tool="Edit"),), ""))[CONVERGE]
