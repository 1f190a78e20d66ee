"""Cursor, Copilot and Droid, which nobody here has run: what their documentation says becomes what it means."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from capture.clients import copilot, cursor, droid
from capture.event import Event

NOW = 2_000_000_000_000
Recorded = Callable[[str], dict[str, Any]]
FOLDERS: dict[str, ModuleType] = {"cursor": cursor, "copilot-cli": copilot, "factory-droid": droid}

# folder/file: kind, tool, ok, exit code, what it says
KEPT = {
    "cursor/afterAgentResponse": ("turn_end", "", None, None, "Done."),
    "cursor/beforeSubmitPrompt": ("prompt", "", None, None, "Fix the bug"),
    "cursor/postToolUse": ("tool_result", "shell", True, 0, "ok"),
    "cursor/postToolUseFailure": ("tool_error", "shell", False, None, "Command timed out after 30s"),
    "cursor/preCompact": ("pre_compact", "", None, None, ""),
    "cursor/sessionEnd": ("session_end", "", None, None, ""),
    "cursor/sessionStart": ("session_start", "", None, None, ""),
    "cursor/stop": ("turn_end", "", None, None, ""),
    "cursor/subagentStop": ("subagent_end", "", None, None, "…"),
    "copilot-cli/PascalCase.PostToolUse": ("tool_result", "edit", True, None, "ok"),
    "copilot-cli/agentStop": ("turn_end", "", None, None, ""),
    "copilot-cli/postToolUse": ("tool_result", "edit", True, None, "ok"),
    "copilot-cli/postToolUseFailure": ("tool_error", "shell", False, None, "exit 1"),
    "copilot-cli/preCompact": ("pre_compact", "", None, None, ""),
    "copilot-cli/sessionEnd": ("session_end", "", None, None, ""),
    "copilot-cli/sessionStart": ("session_start", "", None, None, ""),
    "copilot-cli/userPromptSubmitted": ("prompt", "", None, None, "Fix the bug"),
    "factory-droid/PostToolUse": ("tool_result", "edit", True, None, "ok"),
    "factory-droid/PreCompact": ("pre_compact", "", None, None, ""),
    "factory-droid/SessionEnd": ("session_end", "", None, None, ""),
    "factory-droid/SessionStart": ("session_start", "", None, None, ""),
    "factory-droid/Stop": ("turn_end", "", None, None, ""),
    "factory-droid/SubagentStop": ("subagent_end", "", None, None, "…"),
    "factory-droid/UserPromptSubmit": ("prompt", "", None, None, "Fix the bug"),
}
DROPPED = {
    "cursor/afterAgentThought", "cursor/afterFileEdit", "cursor/afterMCPExecution", "cursor/afterShellExecution",
    "cursor/preToolUse", "copilot-cli/preToolUse", "factory-droid/Notification", "factory-droid/PreToolUse",
}  # fmt: skip


def _native(name: str, payload: dict[str, Any]) -> str:
    native: str = payload.get("hook_event_name") or name.rpartition("/")[2]
    return native


def _parsed(module: ModuleType, native: str, payload: object) -> Event:
    event = module.parse(native, payload, NOW)
    assert isinstance(event, Event)
    return event


@pytest.mark.parametrize("name", KEPT)
def test_a_payload_is_what_the_documentation_says(recorded: Recorded, name: str) -> None:
    folder, file = name.split("/")
    payload = recorded(f"{folder}/constructed/{file}")
    event = _parsed(FOLDERS[folder], _native(name, payload), payload)
    kind, tool, ok, code, said = KEPT[name]
    assert (event.kind, event.tool, event.ok, event.exit_code) == (kind, tool, ok, code)
    assert (event.output_text if tool else event.text) == said
    assert event.session_id in ("c-1", "s-1", "d-1")
    assert event.cwd == "/home/u/proj"


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_payload_is_stated_and_no_field_is_unknown(shared: Path, recorded: Recorded, folder: str) -> None:
    for path in (shared / "data" / "hook-payloads" / "recorded" / folder / "constructed").glob("*.json"):
        name = f"{folder}/{path.stem}"
        payload = recorded(f"{folder}/constructed/{path.stem}")
        assert FOLDERS[folder].drift(_native(name, payload), payload) == (), name
        if name not in KEPT:
            assert name in DROPPED
            assert FOLDERS[folder].parse(_native(name, payload), payload, NOW) is None


def test_nothing_that_may_deny_a_tool_is_registered() -> None:
    for module in FOLDERS.values():
        assert not {"preToolUse", "PreToolUse", "beforeShellExecution", "beforeReadFile", "permissionRequest"} & set(
            module.EVENTS
        )


def test_nobodys_address_is_kept(recorded: Recorded) -> None:
    payload = {**recorded("cursor/constructed/beforeSubmitPrompt"), "user_email": "ada@example.org"}
    event = _parsed(cursor, "beforeSubmitPrompt", payload)
    assert all("ada@example.org" not in repr(getattr(event, name)) for name in Event.__slots__)


def test_cursor_writes_edits_and_deletes() -> None:
    def tool(name: str, given: object, shown: object = "{}") -> Event:
        payload = {"conversation_id": "c", "tool_name": name, "tool_input": given, "tool_output": shown}
        return _parsed(cursor, "postToolUse", payload)

    edit: Any = tool("Write", {"file_path": "/a", "old_string": "x", "new_string": "y"})
    assert (edit.tool, edit.tool_input["files"][0]["new"]) == ("edit", "y")
    write: Any = tool("Write", {"file_path": "/a", "contents": "y"})
    assert (write.tool, write.tool_input["files"][0]["new"]) == ("write", "y")
    gone: Any = tool("Delete", {"path": "/a"})
    assert (gone.tool, gone.tool_input["files"][0]["deleted"]) == ("edit", True)
    assert tool("MCP:add_note", '{"text":"x"}').tool_input == {
        "server": "",
        "tool": "add_note",
        "arguments": {"text": "x"},
    }
    failed = tool("Shell", {"command": "x"}, '{"exitCode":2,"stdout":"","stderr":"boom"}')
    assert (failed.ok, failed.exit_code, failed.output_text) == (False, 2, "boom")
    assert tool("Shell", {"command": "x"}, "not json").output_text == "not json"


def test_cursor_knows_the_size_of_its_context(recorded: Recorded) -> None:
    event = _parsed(cursor, "preCompact", recorded("cursor/constructed/preCompact"))
    assert (event.context_tokens, event.context_window) == (120000, 128000)


def test_a_cursor_turn_that_the_user_stopped() -> None:
    event = _parsed(cursor, "stop", {"conversation_id": "c", "status": "aborted", "loop_count": 0})
    assert (event.interrupted, event.reason) == (True, "aborted")


@pytest.mark.parametrize(
    ("result", "ok", "code"),
    [
        ({"resultType": "success", "textResultForLlm": "fine\n<exited with exit code 0>"}, True, 0),
        ({"resultType": "success", "textResultForLlm": "bad\n<exited with exit code 2>"}, False, 2),
        ({"resultType": "failure", "textResultForLlm": "no"}, False, None),
        ({"resultType": "success", "textResultForLlm": "the docs say exit code 3"}, True, None),
    ],
)
def test_copilot_says_how_a_command_ended(result: object, ok: bool, code: int | None) -> None:
    payload = {"sessionId": "s", "toolName": "bash", "toolArgs": '{"command":"x"}', "toolResult": result}
    event = _parsed(copilot, "postToolUse", payload)
    assert (event.tool_input["command"], event.ok, event.exit_code) == ("x", ok, code)


def test_copilot_in_both_of_its_styles_is_one_session() -> None:
    camel = _parsed(copilot, "userPromptSubmitted", {"sessionId": "s", "timestamp": 1704614400000, "prompt": "go"})
    snake = _parsed(
        copilot, "UserPromptSubmit", {"session_id": "s", "timestamp": "2024-01-07T08:00:00Z", "prompt": "go"}
    )
    for event in (camel, snake):
        assert (event.session_id, event.at, event.text, event.kind) == ("s", 1704614400000, "go", "prompt")


def test_copilots_editor_does_several_things() -> None:
    assert copilot.canonical("str_replace_editor", {"command": "view", "path": "/a"})[0] == "read"
    assert copilot.canonical("str_replace_editor", {"command": "create", "path": "/a", "file_text": "x"})[0] == "write"
    assert copilot.canonical("str_replace_editor", {"command": "str_replace", "path": "/a"})[0] == "edit"
    assert copilot.canonical("update_todo", {"todos": "- [x] one\n- [ ] two"}) == (
        "todo",
        {"items": [{"content": "one", "status": "completed"}, {"content": "two", "status": "pending"}]},
    )


def test_droids_commands_and_subagents() -> None:
    def run(response: object) -> Event:
        payload = {"session_id": "d", "tool_name": "Execute", "tool_input": {"command": "x"}, "tool_response": response}
        return _parsed(droid, "PostToolUse", payload)

    assert run("all good").ok is None
    assert (run("bad\n[Process exited with code 2]").ok, run("bad\n[Process exited with code 2]").exit_code) == (
        False,
        2,
    )
    assert run({"output": "x", "exitCode": 0}).ok is True
    failed = _parsed(droid, "SubagentStop", {"session_id": "d", "task_name": "t", "task_error": "no"})
    assert (failed.ok, failed.reason, failed.agent_type) == (False, "no", "t")
