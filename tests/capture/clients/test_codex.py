"""Codex: its recorded payloads, its patches, and the headers in which it hides an exit code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from capture.clients import codex
from capture.event import Event

NOW = 2_000_000_000_000
Recorded = Callable[[str], dict[str, Any]]

KEPT = {
    "PostToolUse.Bash": ("tool_result", "shell", None, None, "hello\nerr\n"),
    "PostToolUse.apply_patch": ("tool_result", "edit", True, 0, "Success. Updated the following files:\nA new.txt\n"),
    "PreToolUse.Bash": ("tool_call", "shell", None, None, ""),
    "PreToolUse.apply_patch": ("tool_call", "edit", None, None, ""),
    "SessionEnd": ("session_end", "", None, None, ""),
    "SessionStart": ("session_start", "", None, None, ""),
    "Stop": ("turn_end", "", None, None, "All done from codex mock."),
    "UserPromptSubmit": ("prompt", "", None, None, "please do the thing"),
    "constructed/Interrupt": ("turn_end", "", None, None, ""),
    "constructed/PostCompact": ("post_compact", "", None, None, ""),
    "constructed/PreCompact": ("pre_compact", "", None, None, ""),
    "constructed/SubagentStop": ("subagent_end", "", None, None, "done"),
}
DROPPED = {"constructed/PermissionRequest", "constructed/SubagentStart"}


def _event(payload: dict[str, Any]) -> Event:
    event = codex.parse(payload["hook_event_name"], payload, NOW)
    assert event is not None
    return event


def _tool(name: str, given: object, response: object) -> Event:
    payload = {"session_id": "s", "tool_name": name, "tool_input": given, "tool_response": response}
    return _event({"hook_event_name": "PostToolUse", **payload})


@pytest.mark.parametrize("name", KEPT)
def test_a_recorded_payload_is_what_it_is(recorded: Recorded, name: str) -> None:
    payload = recorded(f"codex/{name}")
    kind, tool, ok, code, said = KEPT[name]
    event = _event(payload)
    assert (event.kind, event.tool, event.ok, event.exit_code) == (kind, tool, ok, code)
    assert (event.output_text if tool else event.text) == said
    assert (event.turn_id, event.model) == (payload.get("turn_id", ""), payload.get("model", ""))


def test_every_recorded_payload_is_stated_and_no_field_is_unknown(shared: Path, recorded: Recorded) -> None:
    folder = shared / "data" / "hook-payloads" / "recorded" / "codex"
    for path in [*folder.glob("*.json"), *folder.glob("constructed/*.json")]:
        name = str(path.relative_to(folder).with_suffix(""))
        payload = recorded(f"codex/{name}")
        if "hook_event_name" not in payload:
            continue  # a `notify` program's argument is no hook payload
        assert codex.drift(payload["hook_event_name"], payload) == (), name
        if name not in KEPT:
            assert name in DROPPED
            assert codex.parse(payload["hook_event_name"], payload, NOW) is None, name


def test_a_patch_is_its_files(recorded: Recorded) -> None:
    assert _event(recorded("codex/PostToolUse.apply_patch")).tool_input == {
        "files": [{"path": "new.txt", "old": "", "new": "hello", "patch": "+hello", "added": 1, "removed": 0,
                   "created": True}]
    }  # fmt: skip


def test_an_interrupted_turn_is_an_end_that_was_interrupted(recorded: Recorded) -> None:
    event = _event(recorded("codex/constructed/Interrupt"))
    assert (event.interrupted, event.reason) == (True, "interrupt")


HEADER = "Chunk ID: bcf9c7\nWall time: 1.5000 seconds\nProcess exited with code {}\nOriginal token count: 11\nOutput:\n"


@pytest.mark.parametrize(
    ("response", "ok", "code", "said", "lasted"),
    [
        (HEADER.format(1) + "cat: nope\n", False, 1, "cat: nope\n", 1500),
        (HEADER.format(0), True, 0, "", 1500),
        ("Exit code: 2\nWall time: 0 seconds\nOutput:\nbad", False, 2, "bad", None),
        ('{"output":"bad","metadata":{"exit_code":2,"duration_seconds":0.5}}', False, 2, "bad", 500),
        ("hello\nExit code: 3\n", None, None, "hello\nExit code: 3\n", None),
        ("Exit code: 3 was seen\nand more", None, None, "Exit code: 3 was seen\nand more", None),
        ("aborted by user after 3.2s", False, None, "aborted by user after 3.2s", None),
        ("", None, None, "", None),
        (None, None, None, "", None),
    ],
)
def test_a_command_says_how_it_ended_or_it_is_not_known(
    response: object, ok: bool | None, code: int | None, said: str, lasted: int | None
) -> None:
    event = _tool("Bash", {"command": "x"}, response)
    assert (event.ok, event.exit_code, event.output_text, event.duration_ms) == (ok, code, said, lasted)


def test_a_command_that_still_runs_has_no_outcome_yet() -> None:
    running = "Chunk ID: a\nWall time: 10.0 seconds\nProcess running with session ID 7\nOutput:\nstarting"
    event = _tool("exec_command", {"cmd": "make"}, running)
    assert (event.ok, event.exit_code, event.tool_input["background"]) == (None, None, True)


def test_a_patch_that_does_not_apply_failed() -> None:
    event = _tool("apply_patch", {"command": "*** Begin Patch\n*** End Patch"}, "apply_patch verification failed: no")
    assert (event.ok, event.tool_input) == (False, {"files": []})


def test_an_mcp_answer_that_says_it_failed() -> None:
    failed = _tool("mcp__notes__add", {}, {"content": [{"type": "text", "text": "no"}], "isError": True})
    assert (failed.ok, failed.output_text) == (False, "no")
    assert _tool("mcp__notes__add", {}, {"content": [{"type": "text", "text": "yes"}]}).ok is True


@pytest.mark.parametrize(
    ("name", "given", "command", "cwd"),
    [
        ("exec_command", '{"cmd":"ls -l","workdir":"/w"}', "ls -l", "/w"),
        ("shell", {"command": ["bash", "-lc", "cd a && make"]}, "cd a && make", ""),
        ("shell", {"command": ["git", "commit", "-m", "it's a fix"]}, "git commit -m 'it'\\''s a fix'", ""),
        ("shell", "not json", "not json", ""),
    ],
)
def test_commands_in_each_of_their_shapes(name: str, given: object, command: str, cwd: str) -> None:
    tool, canonical = codex.canonical(name, given)
    assert (tool, canonical["command"], canonical["cwd"]) == ("shell", command, cwd)


def test_a_plan_is_a_list_of_steps() -> None:
    plan = '{"plan":[{"step":"one","status":"in_progress"},{"step":"two"}]}'
    items = [{"content": "one", "status": "in_progress"}, {"content": "two", "status": "pending"}]
    assert codex.canonical("update_plan", plan) == ("todo", {"items": items})


def test_no_hook_can_be_slower_than_the_client_allows() -> None:
    assert codex.EVENTS["SessionEnd"].timeout <= 3
    assert codex.EVENTS["Interrupt"].timeout <= 3
    assert codex.EVENTS["PreToolUse"].timeout <= 3
    assert "PermissionRequest" not in codex.EVENTS


def test_a_wall_time_of_nothing_was_not_measured() -> None:
    for head, lasted in (("Exit code: 0\nWall time: 0 seconds", None), ("Exit code: 0\nWall time: 0.2 seconds", 200)):
        event = Event("codex", "tool_result", "s", 0)
        event.tool = "shell"
        codex.answer(event, f"{head}\nOutput:\nhi")
        assert event.duration_ms == lasted
